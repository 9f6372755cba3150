"""Model folders on disk: written whole, verified when read, found by name.

Imports ``models``, ``alignment`` and ``tokenizer``. Another file of the folder is listed in ``checkpoint``.
"""

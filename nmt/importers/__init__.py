"""Checkpoints of others as our model folders: OPUS-MT and Marian (in CTranslate2 too), M2M-100, NLLB.

Imports ``config``, ``models``, ``model_folder`` and ``tokenizer``. Another format is a module that makes a
``Checkpoint``, and a line in ``read.py``.
"""

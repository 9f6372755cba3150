"""Word alignment: from attention, or from the trained link scorer; Pharaoh format and its measures.

``projection`` places marks of a text in its translation (``votes``: what the links say), for tags, documents
and pairs of placeholders.

Imports ``models``, ``layers`` and ``text``. Another source of links goes beside ``scorer``, and ``aligner``
chooses it.
"""

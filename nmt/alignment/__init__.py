"""Word alignment: from attention, or from the trained link scorer; Pharaoh format and its measures.

Imports ``models``, ``layers`` and ``text``. Another source of links goes beside ``scorer``, and ``aligner``
chooses it.
"""

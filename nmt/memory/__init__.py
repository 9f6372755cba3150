"""Translation memories: segments with the translations that people gave them, found again by text.

``normal`` says which texts are the same but for numbers and placeholders, ``grams`` and ``sqlite`` find
units that resemble a text, ``matching`` scores them, ``adjust`` puts the new numbers in, ``recall`` looks up
the sentences of whole texts. ``files`` reads and writes TMX, TSV and XLIFF. No torch.
"""

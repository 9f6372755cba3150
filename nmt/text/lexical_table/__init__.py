"""Lexical translation table: which words of the training corpora are linked to which, and how often.

``SOURCE-TARGET.tsv`` is made by ``scripts/make_lexical_table.py`` from the links of a statistical aligner. A
new pair of languages is two files more.
"""

from nmt.text.lexical_table.table import WordTranslations, translations_of

__all__ = ["WordTranslations", "translations_of"]

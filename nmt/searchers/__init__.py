"""Searchers for translations: sentences and options in, hypotheses with token scores out.

May import ``nmt.search``, the models and the export to CTranslate2. Another way to search is one more module
here and one more name in ``choose``.
"""

from nmt.searchers.interface import RunningSearch, Searcher

__all__ = ["RunningSearch", "Searcher"]

"""What the pipeline asks for hypotheses: a ``Searcher``, whatever searches behind it."""

from nmt.searchers.interface import RunningSearch, Searcher

__all__ = ["RunningSearch", "Searcher"]

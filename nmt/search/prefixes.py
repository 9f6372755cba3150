"""Prefix-constrained search (Wuebker et al. 2016): hypotheses begin with given tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nmt.config import SpecialIds


@dataclass(frozen=True)
class Prefixes:
    """What a caller of search asks for: ``Prefixes([(7, 8), (), (9,)])``."""

    sentences: Sequence[Sequence[int]]
    """For each sentence the tokens that its translation begins with; the model scores them too."""
    never_next: Sequence[Sequence[int]] = ()
    """For each sentence the tokens that may not follow its prefix at once; empty: any token may."""

    @classmethod
    def none(cls, n_sentences: int) -> Prefixes:
        """Sentences that may begin as the model likes."""
        return cls(((),) * n_sentences)

    def check(self, n_sentences: int, special: SpecialIds) -> None:
        """Refuse what cannot be meant.

        Raises:
            ValueError: not one prefix for each sentence, or a prefix that holds PAD, BOS or EOS.
        """
        if len(self.sentences) != n_sentences or len(self.never_next) not in (0, n_sentences):
            raise ValueError(f"{len(self.sentences)} prefixes for {n_sentences} sentences")
        markers = {special.pad, special.bos, special.eos}
        if any(not markers.isdisjoint(prefix) for prefix in self.sentences):
            raise ValueError("a forced prefix may hold neither PAD nor BOS nor EOS")

    def next_to(self, sentence: int, length: int) -> Sequence[int]:
        """What may not come next in a hypothesis of so many tokens."""
        if not self.never_next or length != len(self.sentences[sentence]):
            return ()
        return self.never_next[sentence]

"""Supervised attention learns word links beside the words (Mi et al. 2016; Garg et al. 2019, section 4.2).

    loss = words' loss - weight  sum over t, j of  G_tj log a_tj

G shares each target piece out among the source pieces that it is linked to; pieces without a link are left
alone. a is the attention that ``[alignment]`` of the recipe names: the RNN's (Mi et al., cross-entropy), one
head of one layer of a Transformer (Garg et al.). So links are read from the head that was taught.

Here we differ from Garg et al.: the head sees the words written so far, as in translation; they give it the
whole target sentence in a second pass (section 4.3).

Dimensions: B sentences, S source length, T target length, both with EOS.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nmt.alignment.pharaoh import Link, symmetrize
from nmt.errors import DataError
from nmt.tokenizer import Tokenizer
from training.align.data import LinkedPair, linked_pieces, parse_line, read_lines
from training.data.shards import TokenPairs


class Supervision(NamedTuple):
    """How much links count, and for which attention."""

    weight: float
    """Lambda of Garg et al., who take 0.05."""
    layer: int | None
    heads: tuple[int, ...] | None


def attention_loss(attention_BTS: Tensor, links_BTS: Tensor) -> Tensor:
    """Cross-entropy of attention against links, summed over the target pieces that have any.

    Args:
        attention_BTS: rows sum to 1 over real source positions.
        links_BTS: bool, True where two pieces are linked.
    """
    shares_BTS = links_BTS / links_BTS.sum(dim=2, keepdim=True).clamp_min(1)
    log_attention_BTS = attention_BTS.float().clamp_min(torch.finfo(torch.float32).tiny).log()
    return -(shares_BTS * log_attention_BTS).sum()


class LinkTable:
    """The links of a corpus' training pairs, found by their texts.

    Args:
        path: what ``nmt align-links`` wrote; both directions are symmetrised by grow-diag.
        pairs: the training pairs.
        tokenizer: of both sides.
        languages: of source and target.

    Raises:
        DataError: the file cannot be read, or has none of the first pairs.
    """

    def __init__(
        self, path: Path, pairs: TokenPairs, tokenizer: Tokenizer, languages: tuple[str, str]
    ) -> None:
        self._pairs, self._tokenizer, self._languages = pairs, tokenizer, languages
        lines = (parse_line(line, f"{path}, line {n}") for n, line in enumerate(read_lines(path), start=1))
        self._linked = {(pair.source, pair.target): _symmetrized(pair) for pair in lines}
        self._found: dict[int, Tensor | None] = {}
        if all(self._links(index) is None for index in range(min(len(pairs), 1000))):
            raise DataError(f"{path}: has no pair of this corpus; make it of the corpus' training text")

    def matrix(self, indices: Sequence[int], n_target: int, n_source: int) -> Tensor:
        """Links_BTS of some pairs, bool, padded."""
        links_BTS = torch.zeros(len(indices), n_target, n_source, dtype=torch.bool)
        for row, index in enumerate(indices):
            linked_TS = self._links(index)
            if linked_TS is not None:
                links_BTS[row, : linked_TS.size(0), : linked_TS.size(1)] = linked_TS
        return links_BTS

    def _links(self, index: int) -> Tensor | None:
        """Which pieces of a pair are linked; None where it is not in the file."""
        if index not in self._found:
            texts = (self._pairs.source_text(index), self._pairs.target_text(index))
            source, target = (" ".join(text.split()) for text in texts)
            pair = self._linked.get((source, target))
            example = None if pair is None else linked_pieces(pair, (self._tokenizer,) * 2, self._languages)
            same = example is not None and all(
                np.array_equal(ids, own)
                for ids, own in (
                    (example.source_ids, self._pairs.source(index)),
                    (example.target_ids, self._pairs.target(index)),
                )
            )
            self._found[index] = example.forward_TS if example is not None and same else None
        return self._found[index]


def _symmetrized(pair: LinkedPair) -> LinkedPair:
    forward, backward = ([Link(j, i, 1.0) for j, i in links] for links in (pair.forward, pair.backward))
    links = frozenset((link.source, link.target) for link in symmetrize(forward, backward, "grow_diag"))
    return LinkedPair(pair.source, pair.target, links, links)

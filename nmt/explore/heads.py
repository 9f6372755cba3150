"""Statistics of each head over a corpus.

    confidence   mean of the largest weight of a row, marks of beginning and end aside (Voita et al. 2019)
    entropy      of a row, as a share of the most that its number of columns allows
    positional   the offset, from -3 to +3, at which most rows have their largest weight, and the share of
                 rows that do; Voita et al. call a head positional from 0.9
    previous, same, next    mean weight at the offsets -1, 0 and +1
    mark         mean weight on the mark of the end (source) or the beginning (decoder): where a head rests
    content      how far a row is from what its position alone would say: the mean total variation distance
                 from the head's mean row by offset. 0: position decides all; 1: the words do
    rare         share of rows whose largest weight is on one of the two rarest pieces of the sentence
    same_piece   share of rows with their largest weight on another place of the very same piece

For self-attention the offset is key minus query. In the decoder a query is the token read last, so that
``same`` is the token just read and ``next`` is never seen. For cross-attention it is source minus target
position. Marks as rows are left out; so are the rows of sentences of fewer than three pieces.

None of this is grammar. ``structural`` ranks heads of self-attention of which grammar is possible: confident,
decided by content, resting neither on marks nor on a fixed offset. Whether such a head follows dependencies
is measured only by ``nmt.explore.dependencies``, on sentences that have been parsed.

Dimensions: S source length, T target length, H heads, O offsets.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.explore.maps import KINDS, AttentionKind, attention_maps
from nmt.models.build import Model

OFFSETS = 3
"""Offsets up to so many places count as positional."""
PROFILE = 15
"""Offsets up to so many places have a mean of their own; all beyond share one on each side."""
LEAST_PIECES = 3


class Head(NamedTuple):
    """The name of a head, layers and heads counted from 0."""

    kind: AttentionKind
    layer: int
    head: int


@dataclass(frozen=True)
class HeadStatistics:
    """Statistics of one head: shares and means over rows, see the module."""

    kind: AttentionKind
    layer: int
    head: int
    confidence: float
    entropy: float
    offset: int
    positional: float
    previous: float
    same: float
    next: float
    mark: float
    content: float
    rare: float
    same_piece: float

    @property
    def name(self) -> Head:
        """Which head it is."""
        return Head(self.kind, self.layer, self.head)

    @property
    def structural(self) -> float:
        """Confident, by content, not at a fixed offset, not on a mark: 0 to 1; 0 for cross-attention."""
        if self.kind == "cross":
            return 0.0
        return self.confidence * self.content * (1 - self.positional) * (1 - self.mark)


@dataclass
class _Sums:
    """Sums of one head over rows."""

    n_rows: int = 0
    confidence: float = 0.0
    entropy: float = 0.0
    mark: float = 0.0
    distance: float = 0.0
    rare: int = 0
    same_piece: int = 0
    at: dict[int, float] = field(default_factory=lambda: dict.fromkeys((-1, 0, 1), 0.0))
    peaks: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Sentence:
    """Maps of one sentence, without the rows of marks, and what is needed to read them."""

    weights: dict[AttentionKind, list[Tensor]]
    """By layer, weights_HTS."""
    ids: dict[AttentionKind, tuple[Tensor, Tensor]]
    """Ids of rows (the queries) and of columns."""


def head_statistics(
    model: Model, pairs: Sequence[tuple[Sequence[int], Sequence[int]]], special: SpecialIds
) -> list[HeadStatistics]:
    """Statistics of every head over sentence pairs, each two lists of token ids.

    Sentences of fewer than three pieces on a side are left out; the weights of all others are kept in memory,
    so a few hundred sentences are what to give.
    """
    frequencies = Counter(id_ for pair in pairs for side in pair for id_ in side)
    sentences = [
        _read(model, source, target, special) for source, target in pairs if _is_long(source, target)
    ]
    if not sentences:
        return []
    found: list[HeadStatistics] = []
    for kind in KINDS:
        for layer in range(len(sentences[0].weights[kind])):
            for head in range(sentences[0].weights[kind][layer].size(0)):
                rows = [(sentence.weights[kind][layer][head], *sentence.ids[kind]) for sentence in sentences]
                found.append(_statistics(Head(kind, layer, head), rows, frequencies))
    return found


def _is_long(source: Sequence[int], target: Sequence[int]) -> bool:
    return min(len(source), len(target)) >= LEAST_PIECES


def _read(model: Model, source: Sequence[int], target: Sequence[int], special: SpecialIds) -> _Sentence:
    """Rows of marks go: EOS attends in the encoder, BOS in the decoder, EOS is written last."""
    batch = Batch.from_ids([source], [target], special=special)
    maps = attention_maps(model, batch.to(next(model.parameters()).device))
    source_ids, target_ids = torch.tensor([*source, special.eos]), torch.tensor([special.bos, *target])
    return _Sentence(
        {
            "encoder": [weights[0, :, :-1].float().cpu() for weights in maps.encoder],
            "decoder": [weights[0, :, 1:].float().cpu() for weights in maps.decoder],
            "cross": [weights[0, :, :-1].float().cpu() for weights in maps.cross],
        },
        {
            "encoder": (source_ids[:-1], source_ids),
            "decoder": (target_ids[1:], target_ids),
            "cross": (target_ids[1:], source_ids),
        },
    )


def _statistics(
    name: Head, sentences: Sequence[tuple[Tensor, Tensor, Tensor]], frequencies: Counter[int]
) -> HeadStatistics:
    """Statistics of one head, from the weights_TS of each sentence with the ids of rows and columns."""
    profile_O = _profile(name.kind, (weights_TS for weights_TS, _, _ in sentences))
    sums = _Sums()
    for weights_TS, row_ids, column_ids in sentences:
        _add(sums, name.kind, weights_TS, row_ids, column_ids, profile_O, frequencies)
    n = sums.n_rows
    near = {offset: count for offset, count in sums.peaks.items() if abs(offset) <= OFFSETS}
    offset = max(near, key=lambda key: (near[key], -abs(key)), default=0)
    return HeadStatistics(
        *name,
        confidence=sums.confidence / n,
        entropy=sums.entropy / n,
        offset=offset,
        positional=near.get(offset, 0) / n,
        previous=sums.at[-1] / n,
        same=sums.at[0] / n,
        next=sums.at[1] / n,
        mark=sums.mark / n,
        content=sums.distance / n,
        rare=sums.rare / n,
        same_piece=sums.same_piece / n,
    )


def offsets(kind: AttentionKind, n_rows: int, n_columns: int) -> Tensor:
    """Key minus query position of each cell, (rows, columns); the decoder's first row is its second token."""
    first = 1 if kind == "decoder" else 0
    return torch.arange(n_columns) - torch.arange(first, first + n_rows).unsqueeze(1)


def _mark_column(kind: AttentionKind, n_columns: int) -> int:
    return 0 if kind == "decoder" else n_columns - 1


def _visible(kind: AttentionKind, offsets_TS: Tensor) -> Tensor:
    """Which columns a row may attend to."""
    return offsets_TS <= 0 if kind == "decoder" else torch.ones_like(offsets_TS, dtype=torch.bool)


def _classes(kind: AttentionKind, n_rows: int, n_columns: int) -> Tensor:
    """Class of a cell's position: its offset, far ones together, and the mark by itself."""
    classes_TS = offsets(kind, n_rows, n_columns).clamp(-PROFILE - 1, PROFILE + 1) + PROFILE + 1
    classes_TS[:, _mark_column(kind, n_columns)] = 2 * PROFILE + 3
    return classes_TS


def _profile(kind: AttentionKind, maps: Iterable[Tensor]) -> Tensor:
    """Mean weight of each class of positions, (O,)."""
    sums_O, counts_O = torch.zeros(2 * PROFILE + 4), torch.zeros(2 * PROFILE + 4)
    for weights_TS in maps:
        n_rows, n_columns = weights_TS.shape
        visible_TS = _visible(kind, offsets(kind, n_rows, n_columns))
        classes = _classes(kind, n_rows, n_columns)[visible_TS]
        sums_O.index_add_(0, classes, weights_TS[visible_TS])
        counts_O.index_add_(0, classes, torch.ones(classes.numel()))
    return sums_O / counts_O.clamp(min=1)


def _add(
    sums: _Sums,
    kind: AttentionKind,
    weights_TS: Tensor,
    row_ids: Tensor,
    column_ids: Tensor,
    profile_O: Tensor,
    frequencies: Counter[int],
) -> None:
    n_rows, n_columns = weights_TS.shape
    offsets_TS = offsets(kind, n_rows, n_columns)
    visible_TS = _visible(kind, offsets_TS)
    mark = _mark_column(kind, n_columns)
    real_TS = weights_TS.clone()
    real_TS[:, mark] = -1.0
    largest_T, peak_T = real_TS.max(dim=1)
    expected_TS = torch.where(visible_TS, profile_O[_classes(kind, n_rows, n_columns)], 0.0)
    expected_TS = expected_TS / expected_TS.sum(dim=1, keepdim=True).clamp(min=1e-9)
    entropy_T = -(weights_TS * weights_TS.clamp(min=1e-12).log()).sum(dim=1)
    most_T = visible_TS.sum(dim=1).clamp(min=2).log()
    peaks = offsets_TS.gather(1, peak_T.unsqueeze(1)).squeeze(1)
    chosen_ids = column_ids[peak_T]
    rarest = sorted({int(id_) for id_ in _without(column_ids, mark)}, key=lambda id_: frequencies[id_])[:2]

    sums.n_rows += n_rows
    sums.confidence += float(largest_T.sum())
    sums.entropy += float((entropy_T / most_T).sum())
    sums.mark += float(weights_TS[:, mark].sum())
    sums.distance += float((weights_TS - expected_TS).abs().sum() / 2)
    sums.rare += sum(int(id_) in rarest for id_ in chosen_ids)
    sums.same_piece += int(((chosen_ids == row_ids) & ((peaks != 0) | (kind == "cross"))).sum())
    sums.peaks.update(peaks.tolist())
    for offset in sums.at:
        sums.at[offset] += float(weights_TS[offsets_TS == offset].sum())


def _without(ids: Tensor, place: int) -> list[int]:
    return [id_ for index, id_ in enumerate(ids.tolist()) if index != place]


RANKINGS = (
    "confidence",
    "content",
    "positional",
    "previous",
    "same",
    "next",
    "mark",
    "rare",
    "same_piece",
    "entropy",
    "structural",
)
"""By what heads are ranked, the most first."""


def ranked(statistics: Sequence[HeadStatistics], by: str, n: int = 5) -> list[tuple[Head, float]]:
    """The ``n`` heads that have most of something, with how much."""
    values = [(entry.name, float(getattr(entry, by))) for entry in statistics]
    return sorted((pair for pair in values if not math.isnan(pair[1])), key=lambda pair: -pair[1])[:n]

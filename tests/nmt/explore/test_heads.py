"""Statistics of heads whose weights are made by hand: each says what it was made to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from nmt.explore.heads import Head, HeadStatistics, _statistics, head_statistics, offsets, ranked
from nmt.explore.maps import AttentionKind
from nmt.models.transformer import Transformer
from nmt.tokenizer import Tokenizer

Fill = Callable[[int, int], int]
"""(row, number of columns) -> the column with all the weight."""


def made(kind: AttentionKind, fill: Fill, lengths: tuple[int, ...] = (4, 6, 9)) -> HeadStatistics:
    """A head that puts all weight of a row on one column; the pieces of a sentence are all different."""
    sentences: list[tuple[Tensor, Tensor, Tensor]] = []
    for length in lengths:
        weights_TS = torch.zeros(length, length + 1)
        for row in range(length):
            weights_TS[row, fill(row, length + 1)] = 1.0
        columns = torch.arange(100, 101 + length)
        rows = columns[1:] if kind == "decoder" else columns[:-1]
        sentences.append((weights_TS, rows, columns))
    return _statistics(Head(kind, 0, 0), sentences, Counter(range(100, 120)))


def test_a_head_that_looks_at_the_token_before_is_positional_and_not_content() -> None:
    found = made("encoder", lambda row, _: max(row - 1, 0))
    n_rows = 4 + 6 + 9
    assert found.offset == -1
    assert found.positional == pytest.approx((n_rows - 3) / n_rows), "but for the first word of each sentence"
    assert found.previous == found.positional
    assert found.next == 0
    assert found.entropy == pytest.approx(0, abs=1e-6)
    assert found.confidence == 1
    assert found.content < 0.2


def test_in_the_decoder_the_token_just_read_is_the_same_position() -> None:
    found = made("decoder", lambda row, _: row + 1)
    assert (found.offset, found.positional, found.same, found.mark) == (0, 1.0, 1.0, 0.0)
    assert offsets("decoder", 2, 3).tolist() == [[-1, 0, 1], [-2, -1, 0]]


@pytest.mark.parametrize(("kind", "mark"), [("encoder", -1), ("cross", -1), ("decoder", 0)])
def test_a_head_that_rests_on_the_mark_has_no_confidence(kind: AttentionKind, mark: int) -> None:
    found = made(kind, lambda _, n_columns: mark % n_columns)
    assert (found.mark, found.confidence) == (1.0, 0.0)
    assert found.structural == 0


def test_a_head_that_looks_at_one_word_wherever_it_stands_is_content() -> None:
    places = iter([2, 0, 3, 1, 1, 5, 4, 0, 2, 3, 8, 1, 0, 7, 2, 6, 3, 5, 4] * 2)
    found = made("encoder", lambda _row, _n: next(places))
    assert found.content > 0.5
    assert found.structural > made("encoder", lambda row, _: max(row - 1, 0)).structural


def test_even_attention_has_full_entropy_and_is_decided_by_position() -> None:
    weights = torch.full((5, 6), 1 / 6)
    ids = torch.arange(6)
    found = _statistics(Head("cross", 0, 0), [(weights, ids[:5], ids)], Counter(range(6)))
    assert found.entropy == pytest.approx(1)
    assert found.content == pytest.approx(0, abs=1e-6)
    assert found.confidence == pytest.approx(1 / 6)


def test_rare_pieces_and_other_places_of_the_same_piece_are_told() -> None:
    weights = torch.zeros(4, 5)
    weights[0, 2] = weights[1, 3] = weights[2, 0] = weights[3, 3] = 1.0
    columns = torch.tensor([7, 8, 7, 9, 3])
    often = Counter({7: 50, 8: 1, 9: 2, 3: 99})
    found = _statistics(Head("encoder", 0, 0), [(weights, columns[:4], columns)], often)
    assert found.same_piece == 0.5, "7 looks at 7, twice; 9 at itself does not count"
    assert found.rare == 0.5, "8 and 9 are the rarest; 9 is looked at twice"


def test_every_head_of_a_model_has_statistics_that_are_shares(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    pairs = [
        (tokenizer.encode("The man who lives next door"), tokenizer.encode("L'homme qui habite à côté")),
        (tokenizer.encode("Where is the train station?"), tokenizer.encode("Où est la gare ?")),
        ([5], [6]),
    ]
    found = head_statistics(model, pairs, tokenizer.special)
    assert len({entry.name for entry in found}) == len(found) == 12
    for entry in found:
        for field in ("confidence", "entropy", "positional", "mark", "content", "rare", "structural"):
            assert -1e-6 <= getattr(entry, field) <= 1 + 1e-6, field
        assert entry.previous + entry.same + entry.next <= 1 + 1e-5
    assert all(entry.next == 0 for entry in found if entry.kind == "decoder"), "the future is not seen"
    best = ranked(found, "content", 3)
    assert [value for _, value in best] == sorted((entry.content for entry in found), reverse=True)[:3]


def test_a_corpus_of_short_sentences_has_no_statistics(model: Transformer, tokenizer: Tokenizer) -> None:
    assert head_statistics(model, [([5, 6], [7, 8])], tokenizer.special) == []

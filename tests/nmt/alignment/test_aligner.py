"""From attention to word links: by hand, and against a double whose attention is known."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from nmt.alignment.aligner import (
    Aligner,
    length_batches,
    links_from_matrix,
    pool,
    to_rows,
    whitespace_words,
    words,
)
from nmt.config import AlignmentConfig, SpecialIds
from nmt.errors import ConfigError, NumericalError
from nmt.tokenizer import Piece
from tests.nmt.conftest import SENTENCES, tiny_config, tiny_model

PAIRS = [(SENTENCES[i], SENTENCES[i + 1]) for i in range(0, 12, 2)]


def pieces(*spans):
    return [Piece(4, "x", start, end) for start, end in spans]


class DiagonalAttention:
    """A model that attends to source position t when it predicts target position t (past the end, EOS)."""

    def __init__(self):
        self.batches = []

    def forward_with_attention(self, batch, layer=None, heads=None):
        self.batches.append((batch, layer, heads))
        B, S = batch.source_BS.shape
        T = batch.target_out_BT.size(1)
        attention_BTS = torch.zeros(B, T, S)
        for b in range(B):
            last = int(batch.source_mask_BS[b].sum()) - 1
            for t in range(T):
                attention_BTS[b, t, min(t, last)] = 1.0
        return torch.zeros(B, T, 5), attention_BTS


def aligner(tokenizer, model, **config):
    return Aligner(model, tokenizer, AlignmentConfig(**config), tokenizer.special)


def test_pooling_sums_source_pieces_and_averages_target_pieces():
    # "le chat" -> "the cat": source words 0 (pieces 0) and 1 (pieces 1, 2); target word 0 (pieces 0, 1)
    source, target = "un chat", "abcd"
    attention_TS = torch.tensor([[0.4, 0.1, 0.3, 0.2], [0.0, 0.2, 0.2, 0.6], [0.1, 0.1, 0.1, 0.7]])
    matrix_IJ = pool(
        attention_TS, pieces((0, 2), (2, 4)), pieces((0, 2), (3, 5), (5, 7)), words(target), words(source)
    )
    # mean of rows: [.2, .15, .25]; words [.2, .4]; without EOS, renormalised
    assert_close(matrix_IJ, torch.tensor([[1 / 3, 2 / 3]]))


def test_a_piece_over_two_words_is_divided_by_characters():
    attention_TS = torch.tensor([[0.5, 0.5], [0.5, 0.5]])
    matrix_IJ = pool(attention_TS, pieces((0, 1)), pieces((0, 4)), words("x"), words("l'un"))
    assert_close(matrix_IJ, torch.tensor([[0.5, 0.5]]))
    matrix_IJ = pool(attention_TS, pieces((0, 1)), pieces((0, 7)), words("x"), words("l'homme"))
    assert_close(matrix_IJ, torch.tensor([[2 / 7, 5 / 7]]))


def test_a_bare_word_start_belongs_to_the_word_that_follows():
    attention_TS = torch.tensor([[0.1, 0.6, 0.1, 0.2], [0.25, 0.25, 0.25, 0.25]])
    matrix_IJ = pool(attention_TS, pieces((0, 1)), pieces((0, 1), (2, 2), (2, 3)), words("x"), words("a 中"))
    assert_close(matrix_IJ, torch.tensor([[1 / 8, 7 / 8]]))


def test_a_word_without_pieces_has_no_links():
    attention_TS = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    matrix_IJ = pool(attention_TS, pieces((0, 1)), pieces((0, 1)), words("a b"), words("c"))
    assert to_rows(matrix_IJ) == ((1.0,), (0.0,))
    assert [(link.source, link.target) for link in links_from_matrix(matrix_IJ, threshold=0)] == [(0, 0)]


def test_attention_of_another_shape_is_refused():
    with pytest.raises(ValueError, match="2 target and 1 source pieces"):
        pool(torch.ones(2, 2), pieces((0, 1), (1, 2)), pieces((0, 1)), words("ab"), words("c"))


def test_links_take_the_greatest_entry_of_each_target_word():
    matrix_IJ = torch.tensor([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.1, 0.8, 0.1]])
    found = [(link.target, link.source) for link in links_from_matrix(matrix_IJ, threshold=0)]
    assert found == [(0, 0), (1, 2), (2, 1)]
    assert links_from_matrix(matrix_IJ, threshold=0)[0].score == pytest.approx(0.7)


def test_the_threshold_is_relative_to_uniform_and_at_most_one_half():
    matrix_IJ = torch.tensor([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])
    assert [link.target for link in links_from_matrix(matrix_IJ, threshold=1.5)] == [0]
    assert [link.target for link in links_from_matrix(matrix_IJ, threshold=1.1)] == [0, 1]
    assert len(links_from_matrix(torch.tensor([[1.0]]), threshold=1.5)) == 1
    assert len(links_from_matrix(torch.tensor([[0.6, 0.4]]), threshold=1.5)) == 1


def test_intersection_and_union_use_both_directions_of_the_matrix():
    # source word 1 is attended to most by target word 2, though target word 1 prefers it as well
    matrix_IJ = torch.tensor([[0.8, 0.2, 0.0], [0.3, 0.4, 0.3], [0.0, 0.9, 0.1]])

    def pairs(extraction):
        return {(link.target, link.source) for link in links_from_matrix(matrix_IJ, extraction, threshold=0)}

    assert pairs("intersection") == {(0, 0), (2, 1)}
    assert pairs("union") == {(0, 0), (1, 1), (2, 1), (1, 2)}
    assert pairs("intersection") <= pairs("grow_diag_final_and") <= pairs("union")
    union = links_from_matrix(matrix_IJ, "union", threshold=0)
    assert all(link.score == pytest.approx(float(matrix_IJ[link.target, link.source])) for link in union)


def test_row_t_is_the_attention_of_predicting_token_t(tokenizer):
    # the double attends to source piece t while it predicts target piece t, so a text is aligned with itself
    text = SENTENCES[0]
    alignment = aligner(tokenizer, DiagonalAttention()).align([(text, text)])[0]
    n = len(alignment.source_tokens)
    assert [(link.source, link.target) for link in alignment.links] == [(i, i) for i in range(n)]
    assert_close(torch.tensor(alignment.matrix), torch.eye(n))
    assert [token.text for token in alignment.source_tokens][-2:] == ["park", "."]


def test_words_can_be_those_between_white_space(tokenizer):
    alignment = aligner(tokenizer, DiagonalAttention()).align(
        [("it 's here.", "c' est ici.")], words=whitespace_words
    )[0]
    assert [token.text for token in alignment.source_tokens] == ["it", "'s", "here."]
    assert [token.text for token in alignment.target_tokens] == ["c'", "est", "ici."]
    assert len(alignment.matrix) == len(alignment.matrix[0]) == 3


def test_layer_and_heads_reach_the_model(tokenizer):
    model = DiagonalAttention()
    aligner(tokenizer, model, layer=1, heads=(0,)).align(PAIRS[:1])
    assert model.batches[0][1:] == (1, (0,))


def test_batches_and_order_do_not_change_the_matrix(tokenizer):
    model = tiny_model(tiny_config(tokenizer)).double()  # its large weights make much of rounding
    together = aligner(tokenizer, model).align(PAIRS)
    small = aligner(tokenizer, model).align(PAIRS, max_batch_tokens=60)
    for pair, first, second in zip(PAIRS, together, small, strict=True):
        alone = aligner(tokenizer, model).align([pair])[0]
        assert [token.text for token in first.source_tokens] == [token.text for token in words(pair[0])]
        for other in (alone, second):
            assert_close(torch.tensor(first.matrix), torch.tensor(other.matrix), rtol=1e-4, atol=1e-5)


def test_rows_of_the_matrix_sum_to_one(tokenizer):
    model = tiny_model(tiny_config(tokenizer))
    for alignment in aligner(tokenizer, model).align(PAIRS):
        assert_close(torch.tensor(alignment.matrix).sum(1), torch.ones(len(alignment.target_tokens)))


def test_a_pair_with_a_blank_side_has_no_links(tokenizer):
    model = tiny_model(tiny_config(tokenizer))
    for pair in (("", "un"), ("one", " "), ("", "")):
        alignment = aligner(tokenizer, model).align([pair])[0]
        assert alignment.links == ()
    assert aligner(tokenizer, model).align([]) == []


def test_a_model_without_attention_says_so(tokenizer):
    class NoAttention:
        def forward_with_attention(self, batch, layer=None, heads=None):
            return torch.zeros(1), None

    with pytest.raises(ConfigError, match="no attention"):
        aligner(tokenizer, NoAttention()).align(PAIRS[:1])


def test_nan_in_the_attention_surfaces(tokenizer):
    model = tiny_model(tiny_config(tokenizer))
    next(iter(model.parameters())).fill_(float("nan"))
    with pytest.raises(NumericalError, match="NaN"):
        aligner(tokenizer, model).align(PAIRS[:1])


def test_length_batches_keep_the_budget_and_every_item():
    lengths = [3, 50, 7, 7, 1, 20, 8, 8]
    batches = length_batches(lengths, 24)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= 24
    assert len(batches) < len(lengths)
    assert length_batches([], 24) == []


def test_special_ids_are_those_of_the_tokenizer(tokenizer):
    model = DiagonalAttention()
    Aligner(model, tokenizer, AlignmentConfig(), SpecialIds(pad=0, bos=2, eos=3)).align(PAIRS[:2])
    batch = model.batches[0][0]
    assert batch.target_in_BT[:, 0].tolist() == [2, 2]
    assert (batch.source_BS[~batch.source_mask_BS] == 0).all()

"""The link scorer and what it reads: shares, padding, and which position has read which word."""

from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError
from torch.testing import assert_close

from nmt.alignment.scorer import LinkScorer
from nmt.alignment.scorer_config import LinkRule, ScorerConfig
from nmt.alignment.states import read_states
from nmt.batch import Batch
from tests.nmt.conftest import tiny_config, tiny_model

SOURCES, TARGETS = [[5, 6, 7, 8, 9], [10, 11]], [[20, 21, 22], [23, 24, 25, 26]]


@pytest.fixture(scope="module")
def model(tokenizer):
    return tiny_model(tiny_config(tokenizer))


def scorer():
    torch.manual_seed(3)
    made = LinkScorer(
        ScorerConfig(d_model=16, vocab_size=380, d_link=16, d_ff=32, n_heads=2, n_scores=4, d_neighbours=4)
    )
    torch.nn.init.normal_(made.score.weight)  # zero at first for neighbours and spelling
    for parameter in made.parameters():
        parameter.data.mul_(3)
    made.spelling_V.copy_(torch.arange(380))
    return made.eval().requires_grad_(False)


def shares(model, sources, targets, special, pad_to=(0, 0)):
    batch = Batch.from_ids(sources, targets, special=special, pad_to=pad_to)
    return scorer()(read_states(model, batch))


def test_shares_of_each_direction_sum_to_one_with_null_and_are_zero_at_padding(model, tokenizer):
    forward_BTS, backward_BTS = shares(model, SOURCES, TARGETS, tokenizer.special)
    assert (forward_BTS.shape, backward_BTS.shape) == ((2, 4, 6), (2, 5, 5))
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        T, S = len(target), len(source)
        forward, backward = forward_BTS[row].exp(), backward_BTS[row].exp()
        real = torch.cat([forward[:T, :S], forward[:T, -1:]], dim=1)
        assert_close(real.sum(dim=1), torch.ones(T))
        real = torch.cat([backward[:T, :S], backward[-1:, :S]], dim=0)
        assert_close(real.sum(dim=0), torch.ones(S))


def test_padding_and_neighbours_in_the_batch_do_not_change_shares(model, tokenizer):
    together = shares(model, SOURCES, TARGETS, tokenizer.special, pad_to=(9, 12))
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = shares(model, [source], [target], tokenizer.special)
        T, S = len(target), len(source)
        for of_all, own in zip(together, alone, strict=True):
            assert_close(of_all[row, :T, :S], own[0, :T, :S], atol=1e-2, rtol=1e-4)


def test_the_read_state_of_a_position_has_read_its_own_piece_and_the_predicting_one_has_not(model, tokenizer):
    first, second = (
        read_states(model, Batch.from_ids([[5, 6]], [target], special=tokenizer.special))
        for target in ([20, 21, 22], [20, 30, 22])
    )
    same = (first.predicting_BTD - second.predicting_BTD).abs().amax(dim=2)[0] == 0
    assert same.tolist() == [True, True, False]
    same = (first.read_BTD - second.read_BTD).abs().amax(dim=2)[0] == 0
    assert same.tolist() == [True, False, False]


def test_states_leave_end_of_sentence_out(model, tokenizer):
    states = read_states(model, Batch.from_ids(SOURCES, TARGETS, special=tokenizer.special))
    assert states.memory_BSD.shape == states.source_BSD.shape == (2, 5, 16)
    assert states.read_BTD.shape == states.predicting_BTD.shape == states.target_BTD.shape == (2, 4, 16)
    assert states.source_mask_BS.sum(dim=1).tolist() == [5, 2]
    assert states.target_mask_BT.sum(dim=1).tolist() == [3, 4]
    assert_close(states.target_BTD[1, 3], model.target_embedding.weight_VD[26])


def test_the_shares_are_of_the_whole_target_and_not_of_what_stands_before(model, tokenizer):
    first, second = (shares(model, [[5, 6]], [target], tokenizer.special) for target in ([20, 21], [20, 30]))
    assert (first.forward_BTS[0, 0] - second.forward_BTS[0, 0]).abs().max() > 1e-4


def test_equal_spelling_is_seen_and_no_spelling_is_equal_to_none(model, tokenizer):
    states = read_states(model, Batch.from_ids([[5, 6, 7]], [[20, 6]], special=tokenizer.special))
    made = scorer()
    before = made(states).forward_BTS
    made.spelling_V[20] = made.spelling_V[7]
    assert (made(states).forward_BTS - before).abs().max() > 1e-3
    made.spelling_V[[20, 7]] = 0
    assert_close(made(states).forward_BTS, before)


def test_a_pair_is_scored_by_its_features_and_its_neighbours(model, tokenizer):
    states = read_states(model, Batch.from_ids([[5, 6, 7]], [[20, 6]], special=tokenizer.special))
    made = scorer()
    before = made(states).forward_BTS
    for some in (slice(0, 4), slice(-4, None)):  # bilinear scores; the convolutions' output
        other = scorer()
        other.score.weight[:, some] = 0
        assert (other(states).forward_BTS - before).abs().max() > 1e-3


@pytest.mark.parametrize("sizes", [{"n_heads": 5}, {"n_scores": 7}])
def test_sizes_that_do_not_divide_are_named(sizes):
    with pytest.raises(ValidationError, match="d_link 16 is not a multiple of"):
        ScorerConfig(d_model=16, vocab_size=380, d_link=16, **sizes)


def test_a_rule_links_at_some_share_below_all():
    with pytest.raises(ValidationError):
        LinkRule(threshold=1.0)

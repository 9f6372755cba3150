"""Two decoding states become one, whatever each has read: every architecture goes on as if apart."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.models.build import Model

SPECIAL = SpecialIds()
FIRST, SECOND = [[5, 6, 7, 8, 9, 10, 11], [12, 13]], [[14, 15, 16], [17], [18, 19]]


def advanced(model: Model, source: list[list[int]], n_steps: int, beam_size: int = 2) -> Any:
    """A state that has read BOS and further tokens, rows turned around on the way."""
    state: Any = model.start(Batch.from_ids(source, special=SPECIAL), beam_size)
    n_rows = len(source) * beam_size
    for number in range(n_steps):
        tokens_N = torch.full((n_rows,), 2) if number == 0 else (torch.arange(n_rows) + 7 * number) % 30 + 4
        _, state = model.step(state, tokens_N)
        state = model.reorder(state, torch.arange(n_rows).view(-1, beam_size).flip(1).flatten())
    return state


@pytest.mark.parametrize(("n_first", "n_second"), [(0, 0), (3, 0), (0, 3), (4, 2), (2, 4), (3, 3)])
@torch.inference_mode()
def test_merged_states_go_on_as_if_apart(model: Model, n_first: int, n_second: int) -> None:
    model = model.double()
    first, second = advanced(model, FIRST, n_first), advanced(model, SECOND, n_second)
    merged = model.merge(first, second)
    for number in range(3):
        tokens_N = (torch.arange(10) * 3 + number) % 30 + 4
        step, merged = model.step(merged, tokens_N)
        own_first, first = model.step(first, tokens_N[:4])
        own_second, second = model.step(second, tokens_N[4:])
        expected_NV = torch.cat([own_first.log_probs_NV, own_second.log_probs_NV])
        torch.testing.assert_close(step.log_probs_NV, expected_NV, atol=1e-5, rtol=1e-5)
        if step.attention_NS is not None and own_second.attention_NS is not None:
            width = own_second.attention_NS.size(1)
            torch.testing.assert_close(
                step.attention_NS[4:, :width], own_second.attention_NS, atol=1e-6, rtol=1e-6
            )
            assert float(step.attention_NS[4:, width:].abs().sum()) == 0.0


@torch.inference_mode()
def test_a_state_from_which_sentences_left_merges_again(model: Model) -> None:
    model = model.double()
    both = model.merge(advanced(model, FIRST, 4), advanced(model, SECOND, 1))
    left = model.reorder(both, torch.arange(4, 10))  # those that had read most leave, and the longest source
    again = model.merge(left, advanced(model, [[20, 21]], 0))
    alone = advanced(model, SECOND, 1)
    tokens_N = torch.tensor([5, 6, 7, 8, 9, 10, 2, 2])
    step, _ = model.step(again, tokens_N)
    expected, _ = model.step(alone, tokens_N[:6])
    torch.testing.assert_close(step.log_probs_NV[:6], expected.log_probs_NV, atol=1e-5, rtol=1e-5)

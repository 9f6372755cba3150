"""What a Transformer's decoding keeps, and how two such states become one when sentences join a batch.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T tokens read, H heads, E per head.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from nmt.layers.attention import KeyValue


class TransformerState(NamedTuple):
    """Everything that decoding has read so far."""

    memory: tuple[KeyValue, ...]
    """For each layer, cross-attention keys and values, one for each sentence."""
    memory_mask_B11S: Tensor
    past: tuple[KeyValue | None, ...]
    """For each layer, self-attention keys and values, one for each row; None before the first token."""
    position: int
    """Width of the past: the tokens read by the row that has read most."""
    beam_size: int
    lag_N: Tensor | None = None
    """How many fewer each row has read: its past is padded on the left. None: all have read the same."""

    @property
    def past_mask_N11T(self) -> Tensor | None:
        """True at what each row may attend to in the next step, the token to be read included; None: all."""
        if self.lag_N is None:
            return None
        columns_T = torch.arange(self.position + 1, device=self.lag_N.device)
        return (columns_T >= self.lag_N.unsqueeze(1))[:, None, None, :]


def merged_states(first: TransformerState, second: TransformerState) -> TransformerState:
    """One state of two, the sentences of ``first`` first, whatever each row has read.

    Every row's past ends in the last column; where it is shorter than others it begins later, behind padding
    that the mask leaves out. Columns that are padding for all rows that are left are dropped here.
    """
    assert first.beam_size == second.beam_size, "the sentences of a batch have beams of one size"
    first, second = _trimmed(first), _trimmed(second)
    position = max(first.position, second.position)
    lag_N = torch.cat([_lag(state) + position - state.position for state in (first, second)])
    source_width = max(first.memory_mask_B11S.size(3), second.memory_mask_B11S.size(3))
    masks = [
        functional.pad(mask_B11S, (0, source_width - mask_B11S.size(3)))
        for mask_B11S in (first.memory_mask_B11S, second.memory_mask_B11S)
    ]
    past = zip(_pasts(first), _pasts(second), strict=True)
    return TransformerState(
        memory=tuple(
            _padded(pair, source_width, on_the_left=False)
            for pair in zip(first.memory, second.memory, strict=True)
        ),
        memory_mask_B11S=torch.cat(masks),
        past=tuple(_padded(pair, position, on_the_left=True) if position else None for pair in past),
        position=position,
        beam_size=first.beam_size,
        lag_N=lag_N if bool(lag_N.any()) else None,
    )


def _padded(pair: tuple[KeyValue, KeyValue], width: int, *, on_the_left: bool) -> KeyValue:
    """The keys and values of one layer of both states, all of one width."""

    def pad(tensor_NHTE: Tensor) -> Tensor:
        missing = width - tensor_NHTE.size(2)
        return functional.pad(tensor_NHTE, (0, 0, missing, 0) if on_the_left else (0, 0, 0, missing))

    first, second = pair
    return KeyValue(
        torch.cat([pad(first.key_BHSE), pad(second.key_BHSE)]),
        torch.cat([pad(first.value_BHSE), pad(second.value_BHSE)]),
    )


def _lag(state: TransformerState) -> Tensor:
    if state.lag_N is not None:
        return state.lag_N
    mask_B11S = state.memory_mask_B11S
    return torch.zeros(mask_B11S.size(0) * state.beam_size, dtype=torch.long, device=mask_B11S.device)


def _pasts(state: TransformerState) -> list[KeyValue]:
    """The past of each layer; before the first token that of no columns."""
    B, H, _, E = state.memory[0].key_BHSE.shape
    empty_NHTE = state.memory[0].key_BHSE.new_empty(B * state.beam_size, H, 0, E)
    return [KeyValue(empty_NHTE, empty_NHTE) if layer is None else layer for layer in state.past]


def _trimmed(state: TransformerState) -> TransformerState:
    """Without the columns that are padding in all rows: before the longest past, after the longest source."""
    source_width = int(state.memory_mask_B11S.sum(dim=3).max())
    state = state._replace(
        memory_mask_B11S=state.memory_mask_B11S[..., :source_width],
        memory=tuple(KeyValue(*(t[:, :, :source_width] for t in layer)) for layer in state.memory),
    )
    if state.lag_N is None or not (unused := int(state.lag_N.min())):
        return state
    return state._replace(
        past=tuple(layer and KeyValue(*(t[:, :, unused:] for t in layer)) for layer in state.past),
        position=state.position - unused,
        lag_N=state.lag_N - unused,
    )

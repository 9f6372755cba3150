"""A ``StepDecoder`` over exported graphs, so that our search runs on another runtime.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T tokens read, H heads, E per head, V
vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.export.programs import ENCODE, STEP
from nmt.models.interface import Step

Graph = Callable[[Sequence[Tensor], Sequence[Tensor], Sequence[Tensor]], Sequence[Tensor]]
"""(tokens and mask, memory, past) -> outputs; the encoder is given neither memory nor past."""


class ExportedState(NamedTuple):
    """Inputs of the step graph besides the tokens."""

    mask_BS: Tensor
    memory: tuple[Tensor, ...]
    """key_BHSE and value_BHSE of each layer."""
    past: tuple[Tensor, ...]
    """key_BKHTE and value_BKHTE of each layer."""


class ExportedDecoder:
    """The two graphs of ``nmt.export.graphs`` as search knows a model; it runs on the CPU."""

    def __init__(self, encode: Graph, step: Graph) -> None:
        self._encode = encode
        self._step = step

    def start(self, source: Batch, beam_size: int) -> ExportedState:
        """Encode the source; the past is empty."""
        memory = tuple(self._encode((source.source_BS, source.source_mask_BS), (), ()))
        past = tuple(t.new_zeros(t.size(0), beam_size, t.size(1), 0, t.size(3)) for t in memory)
        return ExportedState(source.source_mask_BS, memory, past)

    def step(self, state: ExportedState, tokens_N: Tensor) -> tuple[Step, ExportedState]:
        """Read one token for each row and predict the next."""
        tokens_BK = tokens_N.view(state.mask_BS.size(0), -1)
        log_probs_BKV, attention_BKS, *past = self._step((tokens_BK, state.mask_BS), state.memory, state.past)
        step = Step(log_probs_BKV.flatten(0, 1), attention_BKS.flatten(0, 1))
        return step, state._replace(past=tuple(past))

    def reorder(self, state: ExportedState, rows_N: Tensor) -> ExportedState:
        """Move rows of the past; the memory moves only when whole sentences leave."""
        beam_size = state.past[0].size(1)
        past = tuple(
            tensor.flatten(0, 1).index_select(0, rows_N).view(-1, *tensor.shape[1:]) for tensor in state.past
        )
        if rows_N.numel() == state.mask_BS.size(0) * beam_size:
            return state._replace(past=past)
        sentences_B = rows_N[::beam_size].div(beam_size, rounding_mode="floor")
        mask_BS, *memory = (t.index_select(0, sentences_B) for t in (state.mask_BS, *state.memory))
        return ExportedState(mask_BS, tuple(memory), past)


def load_torch(folder: Path) -> ExportedDecoder:
    """Decoder that ``export_torch`` wrote."""

    def graph(name: str) -> Graph:
        module = torch.export.load(folder / f"{name}.pt2").module()

        def run(own: Sequence[Tensor], memory: Sequence[Tensor], past: Sequence[Tensor]) -> Sequence[Tensor]:
            outputs: Sequence[Tensor] = module(*own, *([list(memory), list(past)] if memory else []))
            return outputs

        return run

    return ExportedDecoder(graph(ENCODE), graph(STEP))


def load_onnx(folder: Path, *, threads: int = 0) -> ExportedDecoder:
    """Decoder that ``export_onnx`` wrote, run by onnxruntime; ``threads`` 0: as many as it likes.

    Raises:
        ImportError: onnxruntime is not installed.
    """
    import onnxruntime  # noqa: PLC0415 - an optional extra

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads

    def graph(name: str) -> Graph:
        session = onnxruntime.InferenceSession(
            folder / f"{name}.onnx", options, providers=["CPUExecutionProvider"]
        )
        names = [entry.name for entry in session.get_inputs()]

        def run(own: Sequence[Tensor], memory: Sequence[Tensor], past: Sequence[Tensor]) -> Sequence[Tensor]:
            arrays = [tensor.numpy() for tensor in (*own, *memory, *past)]
            return [torch.from_numpy(o) for o in session.run(None, dict(zip(names, arrays, strict=True)))]

        return run

    return ExportedDecoder(graph(ENCODE), graph(STEP))

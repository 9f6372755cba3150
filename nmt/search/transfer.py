"""One transfer from the accelerator for all the numbers of a step, for each transfer waits for the device."""

from __future__ import annotations

import torch
from torch import Tensor


def to_cpu(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The same small tensors, all of one device, on the CPU, shapes and types kept."""
    return tensors if tensors[0].device.type == "cpu" else in_one_piece(tensors)


def in_one_piece(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Pack as float64, which holds float32 numbers and token ids exactly, move, and unpack."""
    packed = torch.cat([tensor.double().flatten() for tensor in tensors]).cpu()
    pieces = packed.split_with_sizes([tensor.numel() for tensor in tensors])
    return tuple(
        piece.view(tensor.shape).to(tensor.dtype) for piece, tensor in zip(pieces, tensors, strict=True)
    )

"""One transfer from the accelerator for all the numbers of a step, for each transfer waits for the device."""

from __future__ import annotations

import torch
from torch import Tensor


def to_cpu(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The same small tensors on the CPU, shapes and types kept, brought over in one piece.

    They travel as float64, which holds float32 numbers and token ids exactly. All lie on one device.
    """
    if tensors[0].device.type == "cpu":
        return tensors
    packed = torch.cat([tensor.double().flatten() for tensor in tensors]).cpu()
    pieces = packed.split_with_sizes([tensor.numel() for tensor in tensors])
    return tuple(
        piece.view(tensor.shape).to(tensor.dtype) for piece, tensor in zip(pieces, tensors, strict=True)
    )

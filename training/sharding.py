"""Weights shared out among processes (FSDP: Zhao et al. 2023; ZeRO stage 3: Rajbhandari et al. 2020).

Each layer's weights are brought together when it computes and dropped again, so a process holds a share of
weights, gradients and moments, and one whole layer. What is written or scored is whole: ``whole`` gathers it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor, distribute_tensor

from nmt.models.transformer import DecoderLayer, EncoderLayer


def shard(module: nn.Module) -> nn.Module:
    """Share out the weights of ``module``, a layer at a time; to be called before the optimizer is built."""
    # it tells of in-place changes to what layers return; there are none
    warnings.filterwarnings("ignore", message="FSDP2-wrapped module .* returned a view tensor")
    for part in list(module.modules()):
        if isinstance(part, DecoderLayer):
            # keys and values of the source are projected before the layer itself is called
            fully_shard(part.cross_attention)
            register_fsdp_forward_method(part.cross_attention, "project")
            register_fsdp_forward_method(part.cross_attention, "forward_with_weights")
        if isinstance(part, EncoderLayer | DecoderLayer):
            fully_shard(part)
    fully_shard(module)
    return module


def whole(tensor: Tensor) -> Tensor:
    """A tensor with all its parts, where they were shared out; every process must ask for it."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def like(tensor: Tensor, parameter: Tensor) -> Tensor:
    """A whole tensor, placed and shared out as ``parameter`` is; every process has the same one."""
    tensor = tensor.to(parameter.device)
    if isinstance(parameter, DTensor):
        return distribute_tensor(tensor, parameter.device_mesh, parameter.placements, src_data_rank=None)
    return tensor


def whole_weights(model: nn.Module) -> dict[str, Tensor]:
    """A model's parameters by name, on the CPU; every process must ask for them."""
    return {name: whole(p.detach()).cpu().contiguous() for name, p in model.named_parameters()}


@torch.no_grad()
def set_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Give every parameter of ``model`` its value."""
    for name, parameter in model.named_parameters():
        parameter.copy_(like(weights[name], parameter))

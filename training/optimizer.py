"""Optimizers: AdamW for every weight, or Muon for the matrices of hidden layers and AdamW for the rest.

AdamW: Loshchilov and Hutter (2019). Muon takes the momentum of a matrix to the nearest orthogonal one
before it is applied (Jordan et al. 2024), here scaled so that one learning rate serves both (Liu et al.
2025, section 2.2). Embeddings, the vocabulary projection, recurrent weights, norms and biases keep AdamW.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from training.muon import Muon
from training.recipe import TrainingConfig

ADAMW_MOMENTS = ("exp_avg", "exp_avg_sq")
MUON_MOMENTS = ("momentum_buffer",)


class MuonAdamW(torch.optim.Optimizer):
    """Both optimizers behind one face: their parameter groups, and one state."""

    def __init__(self, muon: Muon, adamw: torch.optim.AdamW) -> None:
        self.muon, self.adamw = muon, adamw
        super().__init__([*muon.param_groups, *adamw.param_groups], {})
        muon.state = adamw.state = self.state

    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One step of each; there is no ``closure``."""
        assert closure is None
        self.muon.step()
        self.adamw.step()


def build_optimizer(model: nn.Module, options: TrainingConfig) -> torch.optim.Optimizer:
    """The optimizer that the recipe names, over all weights of ``model``."""
    matrices = hidden_matrices(model) if options.optimizer == "muon" else []
    theirs = {id(matrix) for matrix in matrices}
    adamw = torch.optim.AdamW(
        [parameter for parameter in model.parameters() if id(parameter) not in theirs],
        lr=options.learning_rate,
        betas=options.betas,
        eps=options.eps,
        weight_decay=options.weight_decay,
        fused=True,
    )
    if not matrices:
        return adamw
    muon = Muon(
        matrices,
        lr=options.learning_rate,
        weight_decay=options.weight_decay,
        momentum=options.muon_momentum,
    )
    return MuonAdamW(muon, adamw)


def hidden_matrices(model: nn.Module) -> list[nn.Parameter]:
    """Weights of the linear layers: embeddings and the vocabulary's projection are none."""
    return [
        module.weight
        for module in model.modules()
        if isinstance(module, nn.Linear) and isinstance(module.weight, nn.Parameter)
    ]


def moment_names(optimizer: torch.optim.Optimizer, parameter: nn.Parameter) -> tuple[str, ...]:
    """State of the optimizer for ``parameter`` from one step to the next."""
    if isinstance(optimizer, MuonAdamW) and any(
        parameter is matrix for group in optimizer.muon.param_groups for matrix in group["params"]
    ):
        return MUON_MOMENTS
    return ADAMW_MOMENTS

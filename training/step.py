"""One update of a training run: forward, loss, backward, clip, optimizer.

It depends on the batches, the update's number and the seed alone: dropout is seeded from (seed, update).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nmt.batch import Batch
from nmt.models.build import Model
from training.distributed import World
from training.loss import Loss
from training.objective import Decode, Objective
from training.recipe import TrainingConfig
from training.sharding import whole


class TeacherForcedLoss(nn.Module):
    """A model and its loss as one module: what shares out gradients must see one forward pass.

    Args:
        model: what is trained.
        objective: what is minimised.
        bf16: matrix products and activations in bfloat16, the loss in float32.
        compiled: through ``torch.compile``.
    """

    def __init__(self, model: Model, objective: Objective, *, bf16: bool, compiled: bool) -> None:
        super().__init__()
        self.model = model
        self._objective = objective
        self._bf16 = bf16
        self._decode: Decode = torch.compile(model.decode) if compiled else model.decode

    def forward(self, batch: Batch) -> Loss:
        """Summed over the batch's real target tokens."""
        with torch.autocast(batch.source_BS.device.type, torch.bfloat16, enabled=self._bf16):
            return self._objective(self.model, batch, self._decode)


class Sums(NamedTuple):
    """Sums of an update's losses; nothing here has waited for the device."""

    smoothed: Tensor
    """The loss, summed over this process's target tokens."""
    nll: Tensor
    n_tokens: int
    """Real target tokens of the update, in all processes."""


class UpdateReport(NamedTuple):
    """Report of an update."""

    sums: Sums
    gradient_norm: Tensor
    """Before clipping."""


class TrainingStep:
    """Update a model's weights from batches, each token weighing the same.

    Args:
        loss: a ``TeacherForcedLoss``, shared with the world.
        optimizer: over the model's parameters.
        options: seed and clipping.
        world: the processes that share each batch.
    """

    def __init__(
        self, loss: nn.Module, optimizer: torch.optim.Optimizer, options: TrainingConfig, world: World
    ) -> None:
        self._loss = loss
        self._optimizer = optimizer
        self._options = options
        self._world = world

    def __call__(self, batches: Sequence[Batch], update: int) -> UpdateReport:
        """Train on the whole of ``batches``, which are the same in every process."""
        return self.apply(self.gradients(batches, update))

    def gradients(self, batches: Sequence[Batch], update: int) -> Sums:
        """Forward and backward: no weight changes, and who leaves in the middle has lost nothing."""
        torch.manual_seed(self._world.seed(self._options.seed, update))
        n_tokens = sum(
            int(batch.target_mask_BT.sum()) for batch in batches if batch.target_mask_BT is not None
        )
        self._loss.train()
        smoothed: Tensor | float = 0.0
        nll: Tensor | float = 0.0
        for index, batch in enumerate(batches):
            part = self._world.part(batch).to(self._world.device)
            with self._world.synchronised(self._loss, last=index == len(batches) - 1):
                loss: Loss = self._loss(part)
                # gradients are averaged over the processes, of which each has a part of the tokens
                (loss.smoothed * (self._world.size / n_tokens)).backward()  # type: ignore[no-untyped-call]
            smoothed, nll = smoothed + loss.smoothed.detach(), nll + loss.nll.detach()
        assert isinstance(smoothed, Tensor)
        assert isinstance(nll, Tensor)
        return Sums(smoothed, nll, n_tokens)

    def apply(self, sums: Sums) -> UpdateReport:
        """Clip and let the optimizer change the weights."""
        norm = nn.utils.clip_grad_norm_(self._loss.parameters(), self._options.clip_norm or math.inf)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return UpdateReport(sums, whole(norm))

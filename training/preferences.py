"""Direct preference optimisation (DPO, Rafailov et al. 2023, section 4): a reward that needs no model of it.

    L = -log sigmoid( beta [ log P(better)/P0(better) - log P(worse)/P0(worse) ] )

The three steps in small (Ouyang et al. 2022, figure 2):

    demonstrations   a translator learns from references, as always; its weights stay as P0, frozen
    preferences      it samples translations of each sentence; in the place of a person sentence chrF against
                     the reference ranks them; the best and the worst are a pair
    tuning           P, which begins as P0, learns to prefer the better one

Here we differ from the paper: pairs are drawn from P0 anew at each update, so no file of them is kept.

Dimensions: B sentences, P pairs (sentences whose samples differ in score).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from nmt.batch import Batch
from nmt.models.build import Model
from training.candidates import Sampler, candidate_log_probs, sequence_log_probs, sources, without_gradient
from training.loss import Loss


@dataclass(frozen=True)
class Preferences:
    """The loss of a batch's preferences.

    Args:
        sampler: of what is compared.
        reference: P0, in eval mode and without gradients.
        beta: how dear it is to leave P0; 0.1 in the paper.
    """

    sampler: Sampler
    reference: Model
    beta: float = 0.1

    def __call__(self, model: Model, batch: Batch) -> Loss:
        """Mean loss of the pairs, times the batch's target tokens; samples follow torch's seed."""
        assert batch.target_mask_BT is not None
        n_tokens = batch.target_mask_BT.sum(dtype=torch.float32)
        with without_gradient(batch.source_BS.device):
            nll = -sequence_log_probs(model, batch).sum()
        drawn = self.sampler(self.reference, batch)
        pairs = [
            (row, found[0], found[-1]) for row, found in enumerate(drawn) if found[0].score > found[-1].score
        ]
        if not pairs:  # a loss of nothing, through which backward may go
            return Loss(0.0 * sequence_log_probs(model, batch).sum(), nll, n_tokens)
        some = sources(batch, [row for row, _, _ in pairs])
        compared = [(better.tokens, worse.tokens) for _, better, worse in pairs]
        better_P, worse_P = candidate_log_probs(model, some, compared, self.sampler.tokenizer).unbind(1)
        with torch.no_grad():
            before_P2 = candidate_log_probs(self.reference, some, compared, self.sampler.tokenizer)
        better0_P, worse0_P = before_P2.unbind(1)
        losses_P = dpo_loss(better_P - better0_P, worse_P - worse0_P, self.beta)
        return Loss(losses_P.mean() * n_tokens, nll, n_tokens)


def frozen(model: Model) -> Model:
    """A copy in eval mode, without gradients."""
    return copy.deepcopy(model).eval().requires_grad_(requires_grad=False)


def dpo_loss(better_P: Tensor, worse_P: Tensor, beta: float) -> Tensor:
    """Loss of each pair (equation 7), from log P/P0 of its better and its worse translation."""
    return -logsigmoid(beta * (better_P - worse_P))

"""Minimum risk training (Shen et al. 2016): lower the risk that a translation drawn from the model has.

    R = sum over y in S of  Q(y) (1 - score(y)),    Q(y) = P(y)^alpha / sum over y' in S of P(y')^alpha

S is a sample of the model's own translations and the reference itself (section 3, algorithm 1); alpha makes
Q sharper or flatter. The score is of whole sentences and needs no gradient; the model learns from what it
would write itself, not from how references begin.

Dimensions: B sentences, K candidates of a sentence at most.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.models.build import Model
from training.candidates import Sampler, candidate_log_probs, references
from training.loss import Loss


@dataclass(frozen=True)
class MinimumRisk:
    """The expected risk of a batch.

    Args:
        sampler: of the candidates.
        sharpness: alpha of the paper, which takes 0.005.
        with_references: the reference is a candidate, as in the paper; without it (Edunov et al. 2018) a
            model learns from the differences among its own translations alone.
        likelihood: weight of the references' negative log-likelihood for each token beside the risk, the
            weighted combination of Edunov et al. 2018.
    """

    sampler: Sampler
    sharpness: float = 0.005
    with_references: bool = True
    likelihood: float = 0.0

    def __call__(self, model: Model, batch: Batch) -> Loss:
        """Mean risk of the sentences, times the batch's target tokens; samples follow torch's seed."""
        candidates = self.sampler(model, batch, with_references=self.with_references)
        tokens = [[candidate.tokens for candidate in found] for found in candidates]
        places = []
        for found, true in zip(tokens, references(batch), strict=True):
            found += [] if true in found else [true]  # its likelihood is wanted in any case
            places.append(found.index(true))
        log_probs_BK = candidate_log_probs(model, batch, tokens, self.sampler.tokenizer)
        counts_BK, risks_BK = torch.zeros_like(log_probs_BK, dtype=torch.bool), torch.zeros_like(log_probs_BK)
        for row, drawn in enumerate(candidates):
            counts_BK[row, : len(drawn)] = True
            risks_BK[row, : len(drawn)] = risks_BK.new_tensor([1 - candidate.score for candidate in drawn])
        counted_BK = log_probs_BK.masked_fill(~counts_BK, -torch.inf)
        assert batch.target_mask_BT is not None
        n_tokens = batch.target_mask_BT.sum(dtype=torch.float32)
        nll = -log_probs_BK[range(len(places)), places].sum()
        risk = expected_risk(counted_BK, risks_BK, self.sharpness).mean() * n_tokens
        return Loss(risk + self.likelihood * nll, nll.detach(), n_tokens)


def expected_risk(log_probs_BK: Tensor, risks_BK: Tensor, sharpness: float) -> Tensor:
    """Risk of each sentence under Q, (B,).

    Args:
        log_probs_BK: of whole candidates; -inf where there is none.
        risks_BK: what each costs.
        sharpness: alpha.
    """
    return ((sharpness * log_probs_BK).softmax(dim=1) * risks_BK).sum(dim=1)

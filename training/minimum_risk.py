"""Minimum risk training (Shen et al. 2016): lower the risk that a translation drawn from the model has.

    R = sum over y in S of  Q(y) (1 - score(y)),    Q(y) = P(y)^alpha / sum over y' in S of P(y')^alpha

S is a sample of the model's own translations and the reference itself (section 3, algorithm 1); alpha makes
Q sharper or flatter. The score is of whole sentences and needs no gradient; the model learns from what it
would write itself, not from how references begin.

Dimensions: B sentences, K candidates of a sentence at most, N candidates of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.models.build import Model
from training.candidates import Sampler, references, sequence_log_probs, with_targets
from training.loss import Loss


@dataclass(frozen=True)
class MinimumRisk:
    """The expected risk of a batch.

    Args:
        sampler: of the candidates.
        sharpness: alpha of the paper, which takes 0.005.
    """

    sampler: Sampler
    sharpness: float = 0.005

    def __call__(self, model: Model, batch: Batch) -> Loss:
        """Mean risk of the sentences, times the batch's target tokens; samples follow torch's seed."""
        candidates = self.sampler(model, batch, with_references=True)
        flat = [(row, candidate) for row, found in enumerate(candidates) for candidate in found]
        targets = [candidate.tokens for _, candidate in flat]
        forced = with_targets(batch, [row for row, _ in flat], targets, self.sampler.tokenizer)
        log_probs_N = sequence_log_probs(model, forced)
        shape = len(candidates), max(map(len, candidates))
        is_there_BK = torch.tensor([[k < len(found) for k in range(shape[1])] for found in candidates])
        is_there_BK = is_there_BK.to(log_probs_N.device)
        scores_N = log_probs_N.new_tensor([candidate.score for _, candidate in flat])
        log_probs_BK = log_probs_N.new_full(shape, -torch.inf).masked_scatter(is_there_BK, log_probs_N)
        risks_BK = log_probs_N.new_zeros(shape).masked_scatter(is_there_BK, 1 - scores_N)
        assert batch.target_mask_BT is not None
        n_tokens = batch.target_mask_BT.sum(dtype=torch.float32)
        true = references(batch)
        is_reference_N = torch.tensor([candidate.tokens == true[row] for row, candidate in flat])
        nll = -log_probs_N.detach()[is_reference_N.to(log_probs_N.device)].sum()
        return Loss(expected_risk(log_probs_BK, risks_BK, self.sharpness).mean() * n_tokens, nll, n_tokens)


def expected_risk(log_probs_BK: Tensor, risks_BK: Tensor, sharpness: float) -> Tensor:
    """Risk of each sentence under Q, (B,).

    Args:
        log_probs_BK: of whole candidates; -inf where there is none.
        risks_BK: what each costs.
        sharpness: alpha.
    """
    return ((sharpness * log_probs_BK).softmax(dim=1) * risks_BK).sum(dim=1)

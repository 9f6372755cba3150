"""Hard attention (Xu et al. 2015, section 4.1): look at one source position, drawn from the weights.

A draw has no gradient. Its log-probability is raised where the word that followed was more probable than
usual, and lowered where it was less (REINFORCE, Williams 1992; eqs. 11 and 12):

    loss = -log p(y | chosen) - REWARD (log p(y | chosen) - b) log a(chosen) - ENTROPY H(a)

b, the baseline, takes most of the variance away. So does what the paper does with half of its images: half of
the words read the expectation instead of a draw. When decoding, the position of the largest weight is read.

Here we differ: b is the mean over the batch (the paper: a moving average over batches), and a choice is
rewarded with the word that it was made for (the paper: with the whole sentence, whose variance is larger).

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T target length, M memory size.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.layers.additive_attention import AdditiveAttention

REWARD = 1.0
"""Lambda_r of the paper."""
ENTROPY = 0.01
"""Lambda_e of the paper: keeps the weights from settling too soon."""
EXPECTED = 0.5
"""Share of the words in training that read the expectation."""
UNCHOSEN = -1
"""The choice of those."""


class HardAttention(AdditiveAttention):
    """Additive scores, one position read."""

    def choose(self, weights_NS: Tensor) -> Tensor:
        """The position that each row reads, (N,): drawn in training, or ``UNCHOSEN``; else the likeliest."""
        if not self.training:
            return weights_NS.argmax(dim=1)
        drawn_N = torch.multinomial(weights_NS.detach(), 1).squeeze(1)
        is_expected_N = torch.rand(len(drawn_N), device=drawn_N.device) < EXPECTED
        return drawn_N.masked_fill(is_expected_N, UNCHOSEN)


def read_chosen(memory_BSM: Tensor, choice_N: Tensor, expected_NM: Tensor) -> Tensor:
    """context_NM: the memory at each row's position; for one that is ``UNCHOSEN`` the expectation."""
    B, _, M = memory_BSM.shape
    place_BKM = choice_N.clamp(min=0).view(B, -1, 1).expand(-1, -1, M)
    read_NM = memory_BSM.gather(1, place_BKM).flatten(0, 1)
    return torch.where((choice_N == UNCHOSEN).unsqueeze(1), expected_NM, read_NM)


def choice_loss(weights_BTS: Tensor, choice_BT: Tensor, log_probs_BT: Tensor, mask_BT: Tensor) -> Tensor:
    """Term added to the words' own loss: a scalar, summed over the batch.

    Args:
        weights_BTS: attention.
        choice_BT: the positions that were read.
        log_probs_BT: of the true words; no gradient flows into them.
        mask_BT: True at real words.
    """
    log_weights_BTS = weights_BTS.clamp_min(torch.finfo(weights_BTS.dtype).tiny).log()
    entropy_BT = -(weights_BTS * log_weights_BTS).sum(dim=2)
    chosen_BT = log_weights_BTS.gather(2, choice_BT.clamp(min=0).unsqueeze(2)).squeeze(2)
    drawn_BT = mask_BT & (choice_BT != UNCHOSEN)
    baseline = log_probs_BT[mask_BT].mean()
    advantage_BT = ((log_probs_BT - baseline) * drawn_BT).detach()
    return -(REWARD * advantage_BT * chosen_BT + ENTROPY * entropy_BT * mask_BT).sum()

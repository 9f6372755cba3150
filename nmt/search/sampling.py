"""Ancestral sampling with temperature, top-k (Fan et al. 2018) and top-p (Holtzman et al. 2020, section 3.1).

The filters apply in this order: temperature, then the k most probable tokens, then of those, renormalised,
the smallest set whose probability reaches p. Constraints come before all of them.

A sample is a function of the seed, the source sentence and its own number, never of the batch: each
hypothesis draws its uniform numbers from a generator of its own, one for each step, and inverts the
cumulative distribution over the vocabulary in the order of ids. It follows that equal sentences get equal
samples; another seed gives others.

Dimensions: B sentences, K samples of each, N = B*K rows, V vocabulary, T steps.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import GenerationConfig, SamplingConfig, SpecialIds
from nmt.models.interface import StateT, Step, StepDecoder
from nmt.search.constraints import Constraints
from nmt.search.greedy import decode
from nmt.search.hypothesis import Hypothesis
from nmt.search.prefixes import Prefixes
from nmt.search.required import Required

ROUNDING = 1e-6
"""A set of tokens this close to p has reached it: float32 log-probabilities are no more exact."""


def sample(
    decoder: StepDecoder[StateT],
    source: Batch,
    options: GenerationConfig,
    special: SpecialIds,
    prefixes: Prefixes | None = None,
    required: Required | None = None,
) -> list[list[Hypothesis]]:
    """Draw ``n_best`` independent samples for each sentence; equal ones stay, and ``beam_size`` is ignored.

    ``log_prob`` is the model's own, temperature and filters aside. Arguments and errors are otherwise those
    of ``beam_search``; of each sentence's samples the finished come first, then the best score.
    """
    config = options.sampling or SamplingConfig()
    limits = Constraints.for_batch(source, options, special, prefixes, required).max_lengths
    uniforms_BKT = uniform_numbers(source, config.seed, options.n_best, max(limits, default=0) + 1)

    def draw(step: Step, number: int, sentences: Sequence[int]) -> tuple[Tensor, Tensor]:
        log_probs_NV = step.log_probs_NV
        uniforms_N = uniforms_BKT[list(sentences), :, number].flatten().to(log_probs_NV.device)
        tokens_N = invert(filtered_probabilities(log_probs_NV, config), uniforms_N)
        return tokens_N, log_probs_NV.gather(1, tokens_N.unsqueeze(1)).squeeze(1)

    samples = decode(
        decoder, source, options, special, prefixes, required, choose=draw, n_rows=options.n_best
    )
    return [sorted(drawn, key=lambda entry: (not entry.finished, -entry.score)) for drawn in samples]


def uniform_numbers(source: Batch, seed: int, n_samples: int, n_steps: int) -> Tensor:
    """Uniform numbers in [0, 1), (B, n_samples, n_steps) in float64: one for each step of each sample."""
    source_ids = zip(source.source_BS.tolist(), source.source_mask_BS.sum(dim=1).tolist(), strict=True)
    return torch.stack(
        [
            torch.stack(
                [_uniform_stream((seed, number, *ids[:length]), n_steps) for number in range(n_samples)]
            )
            for ids, length in source_ids
        ]
    )


def _uniform_stream(key: tuple[int, ...], length: int) -> Tensor:
    digest = hashlib.blake2b(repr(key).encode(), digest_size=8).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest, "little", signed=True))
    return torch.rand(length, generator=generator, dtype=torch.float64)


def filtered_probabilities(log_probs_NV: Tensor, config: SamplingConfig) -> Tensor:
    """The distribution to draw from, (N, V) in float64: temperature, top-k, top-p, in this order."""
    scaled_NV = log_probs_NV.double()
    if config.temperature != 1:
        scaled_NV = scaled_NV / config.temperature
    if 0 < config.top_k < scaled_NV.size(1):
        kept_NV = torch.zeros_like(scaled_NV, dtype=torch.bool)
        kept_NV.scatter_(1, scaled_NV.topk(config.top_k).indices, True)  # exactly k, also among equals
        scaled_NV = scaled_NV.masked_fill(~kept_NV, -torch.inf)
    probabilities_NV = scaled_NV.softmax(dim=1)
    if config.top_p < 1:
        sorted_NV, order_NV = probabilities_NV.sort(dim=1, descending=True, stable=True)
        before_NV = sorted_NV.cumsum(dim=1) - sorted_NV
        dropped_NV = (before_NV >= config.top_p - ROUNDING).scatter(
            1, order_NV, before_NV >= config.top_p - ROUNDING
        )
        probabilities_NV = probabilities_NV.masked_fill(dropped_NV, 0.0)
    return probabilities_NV


def invert(probabilities_NV: Tensor, uniforms_N: Tensor) -> Tensor:
    """The first token at which the cumulative probability, scaled to end at 1, passes the uniform number.

    A token of probability 0 never comes out. A row without any possible token (NaN) gives token 0, which
    constraints have made impossible.
    """
    cumulative_NV = probabilities_NV.cumsum(dim=1)
    total_N = cumulative_NV[:, -1]
    tokens_N = torch.searchsorted(cumulative_NV, (uniforms_N * total_N).unsqueeze(1), right=True).squeeze(1)
    return tokens_N.where((tokens_N < probabilities_NV.size(1)) & ~total_N.isnan(), 0)

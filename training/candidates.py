"""Candidate translations of a batch: sampled from a model, scored against the references, and how probable.

Dimensions: B sentences, K candidates of a sentence at most, N candidates of all, T target length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import torch
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from torch import Tensor

from nmt.batch import Batch
from nmt.config import GenerationConfig, SamplingConfig
from nmt.models.build import Model
from nmt.models.interface import StepDecoder
from nmt.models.mixture import MixtureModel
from nmt.models.transformer import Transformer
from nmt.search import search
from nmt.tokenizer import Tokenizer
from training.loss import target_log_probs

Measure: TypeAlias = Literal["chrf", "bleu"]


class Candidate(NamedTuple):
    """One translation of one sentence."""

    tokens: tuple[int, ...]
    """Without EOS."""
    score: float
    """Against the reference, 0 to 1; the more, the better."""


@dataclass(frozen=True)
class Sampler:
    """Draws candidates and scores them.

    Args:
        tokenizer: of both sides.
        n_samples: drawn for each sentence; equal ones count once.
        top_p: of the tokens drawn from (Holtzman et al. 2020); 1 is the model's own distribution.
        measure: sentence chrF2, or sentence BLEU with sacreBLEU's smoothing.
    """

    tokenizer: Tokenizer
    n_samples: int
    top_p: float = 1.0
    measure: Measure = "chrf"

    def __call__(self, model: Model, batch: Batch, *, with_references: bool = False) -> list[list[Candidate]]:
        """Candidates of each sentence, the best first, from torch's seed.

        Args:
            model: what samples; it is left in the mode it came in.
            batch: with the references as targets.
            with_references: these are candidates too.
        """
        seed = int(torch.randint(2**31, ()))
        options = GenerationConfig(
            beam_size=self.n_samples,
            n_best=self.n_samples,
            max_length_ratio=1.5,
            max_length_offset=10,
            sampling=SamplingConfig(top_p=self.top_p, seed=seed),
        )
        decoder: StepDecoder[Any] = model
        was_training = model.training
        model.eval()
        try:
            with without_gradient(batch.source_BS.device):
                drawn = search(decoder, batch, options, self.tokenizer.special)
        finally:
            model.train(was_training)
        true = references(batch)
        return [
            self._scored(
                {*(tuple(sample.tokens) for sample in samples), *([own] if with_references else [])}, own
            )
            for samples, own in zip(drawn, true, strict=True)
        ]

    def _scored(self, candidates: set[tuple[int, ...]], reference: tuple[int, ...]) -> list[Candidate]:
        """The best first; equal scores in the order of ids."""
        decode = self.tokenizer.decode
        true = [decode(reference)]
        scored = [
            Candidate(tokens, self._metric.sentence_score(decode(tokens), true).score / 100)
            for tokens in candidates
        ]
        return sorted(scored, key=lambda candidate: (-candidate.score, candidate.tokens))

    @cached_property
    def _metric(self) -> CHRF | BLEU:
        return CHRF() if self.measure == "chrf" else BLEU(effective_order=True)


def references(batch: Batch) -> list[tuple[int, ...]]:
    """The target ids of each sentence, without EOS."""
    assert batch.target_out_BT is not None
    assert batch.target_mask_BT is not None
    lengths = batch.target_mask_BT.sum(dim=1).tolist()
    rows = zip(batch.target_out_BT.tolist(), lengths, strict=True)
    return [tuple(ids[: length - 1]) for ids, length in rows]


@contextmanager
def without_gradient(device: torch.device) -> Iterator[None]:
    """No gradients, and autocast keeps no copy of a weight: one made here would have none later either."""
    kind = device.type
    on, dtype = torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)
    with torch.no_grad(), torch.autocast(kind, dtype, enabled=on, cache_enabled=False):
        yield


def candidate_log_probs(
    model: Model, batch: Batch, candidates: Sequence[Sequence[Sequence[int]]], tokenizer: Tokenizer
) -> Tensor:
    """Log-probability of each candidate, (B, K) in float32; -inf where a sentence has fewer than K.

    Args:
        model: whatever its architecture; a Transformer reads each source once for all its candidates.
        batch: with the sources.
        candidates: of each sentence, ids without EOS.
        tokenizer: of both sides.
    """
    K = max(map(len, candidates))
    is_there_BK = torch.tensor([[k < len(found) for k in range(K)] for found in candidates])
    is_there_BK = is_there_BK.to(batch.source_BS.device)
    if isinstance(model, Transformer) and model.sources == "one":
        every = [target for found in candidates for target in (*found, *[()] * (K - len(found)))]
        forced = _with_targets(batch, every, tokenizer)
        assert forced.target_mask_BT is not None
        mask_NT = forced.target_mask_BT & is_there_BK.view(-1, 1)
        log_probs_BK = sequence_log_probs(model, replace(forced, target_mask_BT=mask_NT)).view(-1, K)
        return log_probs_BK.masked_fill(~is_there_BK, -torch.inf)
    rows = [row for row, found in enumerate(candidates) for _ in found]
    forced = _with_targets(sources(batch, rows), [one for found in candidates for one in found], tokenizer)
    log_probs_N = sequence_log_probs(model, forced)
    return log_probs_N.new_full(is_there_BK.shape, -torch.inf).masked_scatter(is_there_BK, log_probs_N)


def sources(batch: Batch, rows: Sequence[int]) -> Batch:
    """The sources of some sentences, in this order."""
    return Batch(batch.source_BS[list(rows)], batch.source_mask_BS[list(rows)])


def _with_targets(batch: Batch, targets: Sequence[Sequence[int]], tokenizer: Tokenizer) -> Batch:
    """The sources with other targets: one for each, or as many for each, those of a sentence together."""
    given = Batch.from_ids([()] * len(targets), targets, special=tokenizer.special).to(batch.source_BS.device)
    return replace(given, source_BS=batch.source_BS, source_mask_BS=batch.source_mask_BS)


def sequence_log_probs(model: Model, batch: Batch) -> Tensor:
    """Log-probability of each whole target, EOS counted, (N,) in float32, by teacher forcing."""
    assert batch.target_out_BT is not None
    assert batch.target_mask_BT is not None
    mask_NT, true_NT = batch.target_mask_BT, batch.target_out_BT
    if isinstance(model, MixtureModel):
        log_probs_RV = model.log_probs(batch)[mask_NT]
        log_probs_R = log_probs_RV.gather(1, true_NT[mask_NT].unsqueeze(1)).squeeze(1)
    else:
        hidden_RD = model.decode(batch)[0][mask_NT]
        log_probs_R = target_log_probs(
            hidden_RD, model.output.weight_VD, true_NT[mask_NT], model.output.bias_V
        )
    log_probs_NT = torch.zeros(mask_NT.shape, device=log_probs_R.device).masked_scatter(mask_NT, log_probs_R)
    return log_probs_NT.sum(dim=1)

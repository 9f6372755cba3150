"""Validation: perplexity by teacher forcing, and BLEU of what search really writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch

from nmt.batch import Batch
from nmt.config import GenerationConfig
from nmt.models.build import Model
from nmt.models.interface import StepDecoder
from nmt.search import search
from nmt.tokenizer import Tokenizer
from training.batching import validation_batches
from training.data.shards import TokenPairs
from training.evaluation.scoring import metrics
from training.objective import Objective
from training.pretraining import Pretraining

MAX_ROWS = 128


@dataclass(frozen=True)
class Validation:
    """Scores on the development set."""

    loss: float
    """Negative log-likelihood for each target token, in nats."""
    perplexity: float
    bleu: float | None
    """Cased, detokenised sacreBLEU; None in pre-training."""
    signature: str

    @property
    def score(self) -> float:
        """The more, the better: BLEU; in pre-training the words' probability (geometric mean), in percent."""
        return 100.0 / self.perplexity if self.bleu is None else self.bleu

    def told(self) -> str:
        """The score in words."""
        return f"word probability {self.score:.2f} %" if self.bleu is None else f"BLEU {self.bleu:.2f}"


@torch.no_grad()
def validate(
    model: Model, pairs: TokenPairs, tokenizer: Tokenizer, generation: GenerationConfig, batch_tokens: int
) -> Validation:
    """Score ``model``, left in the mode it came in. Hypotheses are of ``generation``'s search."""
    was_training = model.training
    model.eval()
    try:
        mean = mean_nll(model, validation_batches(pairs, tokenizer.special, batch_tokens))
        bleu = metrics()["BLEU"]
        references = [pairs.target_text(index) for index in range(len(pairs))]
        hypotheses = translate_all(model, pairs, tokenizer, generation)
        score = bleu.corpus_score(hypotheses, [references])
    finally:
        model.train(was_training)
    return Validation(mean.item(), mean.exp().item(), score.score, bleu.get_signature().format())


@torch.no_grad()
def validate_pretraining(
    model: Model, pairs: TokenPairs, pretraining: Pretraining, objective: Objective, batch_tokens: int
) -> Validation:
    """How well ``model``, left in the mode it came in, predicts what pre-training asks for."""
    was_training = model.training
    model.eval()
    try:
        batches = enumerate(validation_batches(pairs, pretraining.special, batch_tokens))
        asked = (pretraining(batch, seed) for seed, batch in batches)
        mean = mean_nll(model, asked, replace(objective, smoothing=0.0))
    finally:
        model.train(was_training)
    return Validation(mean.item(), mean.exp().item(), None, "")


@torch.no_grad()
def mean_nll(model: Model, batches: Iterable[Batch], objective: Objective | None = None) -> torch.Tensor:
    """Negative log-likelihood for each target token, EOS counted, in nats: a scalar, by teacher forcing."""
    objective = objective or Objective()
    device = next(model.parameters()).device
    nll = n_tokens = torch.zeros((), device=device)
    for batch in batches:
        loss = objective(model, batch.to(device))
        nll, n_tokens = nll + loss.nll, n_tokens + loss.n_tokens
    return nll / n_tokens


def translate_all(
    model: Model, pairs: TokenPairs, tokenizer: Tokenizer, generation: GenerationConfig
) -> list[str]:
    """The best hypothesis for each source sentence, in order; sentences of like length share a batch."""
    device = next(model.parameters()).device
    decoder: StepDecoder[Any] = model
    order = sorted(range(len(pairs)), key=lambda index: int(pairs.source_lengths[index]))
    hypotheses = [""] * len(pairs)
    for first in range(0, len(order), MAX_ROWS):
        indices = order[first : first + MAX_ROWS]
        source = Batch.from_ids([pairs.source(i).tolist() for i in indices], special=tokenizer.special)
        for index, found in zip(
            indices, search(decoder, source.to(device), generation, tokenizer.special), strict=True
        ):
            hypotheses[index] = tokenizer.decode(found[0].tokens)
    return hypotheses

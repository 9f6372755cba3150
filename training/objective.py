"""What an update minimises: the words' loss of any architecture, and what a variant adds to it.

Dimensions: B sentences, S source length, T target length, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.layers.hard_attention import HardAttention, choice_loss
from nmt.models.build import Model
from nmt.models.mixture import MixtureModel
from nmt.models.rnn import RnnEncoderDecoder
from nmt.models.transformer import Transformer
from nmt.tokenizer import Tokenizer
from training.candidates import Sampler
from training.loss import Loss, label_smoothed_cross_entropy, log_probs_cross_entropy
from training.minimum_risk import MinimumRisk
from training.preferences import Preferences
from training.recipe import Recipe, TrainingConfig
from training.supervision import Supervision, attention_loss

Decode = Callable[[Batch], tuple[Tensor, Tensor | None]]
Tuning = Callable[[Model, Batch], Loss]
"""A loss of whole translations: ``training.preferences``, ``training.minimum_risk``."""


@dataclass(frozen=True)
class Objective:
    """The loss of a batch.

    Args:
        smoothing: label smoothing, in [0, 1).
        r_drop: alpha of R-Drop (Liang et al. 2021); above 0 a batch in training is read twice.
        supervision: of attention by links, where the batch has them.
        masked_words: the encoder predicts words of its own side (``training.pretraining``).
        tuning: what training minimises in the place of the words' loss.
    """

    smoothing: float = 0.0
    r_drop: float = 0.0
    supervision: Supervision | None = None
    masked_words: bool = False
    tuning: Tuning | None = None

    def __call__(self, model: Model, batch: Batch, decode: Decode | None = None) -> Loss:
        """Summed over the batch's real target tokens; ``decode`` is the model's, compiled perhaps."""
        assert batch.target_out_BT is not None
        assert batch.target_mask_BT is not None
        if self.tuning is not None and model.training:
            return self.tuning(model, batch)
        if self.masked_words:
            assert isinstance(model, Transformer), "the recipe lets no other architecture through"
            return self._words(model, model.encode(batch), batch)
        if isinstance(model, MixtureModel):
            log_probs_BTV = model.log_probs(batch)
            return log_probs_cross_entropy(
                log_probs_BTV, batch.target_out_BT, batch.target_mask_BT, self.smoothing
            )
        if isinstance(model, RnnEncoderDecoder) and isinstance(model.attention, HardAttention):
            return self._hard(model, batch)
        if model.training and self.supervision is not None and batch.links_BTS is not None:
            weight, layer, heads = self.supervision
            hidden_BTD, attention_BTS = model.decode_with_attention(batch, layer, heads)
            assert attention_BTS is not None
            extra = weight * attention_loss(attention_BTS, batch.links_BTS)
            return _plus(self._words(model, hidden_BTD, batch), extra)
        read = batch.twice() if self.r_drop > 0 and model.training else batch
        hidden_MTD, _ = (decode or model.decode)(read)
        return self._words(model, hidden_MTD, batch)

    def _words(self, model: Model, hidden_MTD: Tensor, batch: Batch) -> Loss:
        assert batch.target_out_BT is not None
        assert batch.target_mask_BT is not None
        return label_smoothed_cross_entropy(
            hidden_MTD,
            model.output.weight_VD,
            batch.target_out_BT,
            batch.target_mask_BT,
            self.smoothing,
            self.r_drop,
            model.output.bias_V,
        )

    def _hard(self, model: RnnEncoderDecoder, batch: Batch) -> Loss:
        """Words, and in training the choices that were made for them."""
        forced = model.forced_pass(batch)
        words = self._words(model, forced.readout_BTG, batch)
        if not model.training:
            return words
        assert forced.weights_BTS is not None
        assert forced.choice_BT is not None
        assert batch.target_out_BT is not None
        assert batch.target_mask_BT is not None
        with torch.no_grad():
            log_probs_BTV = model.output(forced.readout_BTG).float().log_softmax(dim=-1)
            true_BT = log_probs_BTV.gather(2, batch.target_out_BT.unsqueeze(2)).squeeze(2)
        extra = choice_loss(forced.weights_BTS, forced.choice_BT, true_BT, batch.target_mask_BT)
        return _plus(words, extra)


def build_objective(recipe: Recipe, tuning: Tuning | None = None) -> Objective:
    """The one that the recipe asks for; ``tuning`` is ``build_tuning``'s."""
    options, alignment = recipe.training, recipe.alignment
    supervision = None
    if options.attention_links is not None:
        supervision = Supervision(options.attention_weight, alignment.layer, alignment.heads)
    masked_words = options.objective == "masked_words"
    return Objective(options.label_smoothing, options.r_drop, supervision, masked_words, tuning)


def build_tuning(options: TrainingConfig, tokenizer: Tokenizer, reference: Model | None) -> Tuning | None:
    """What a recipe's training tunes whole translations by, if it does.

    Args:
        options: of the recipe.
        tokenizer: of both sides.
        reference: the model to begin with, frozen; ``dpo`` needs it.
    """
    tuning = options.tuning
    sampler = Sampler(tokenizer, tuning.samples, tuning.top_p, tuning.measure)
    if options.objective == "minimum_risk":
        return MinimumRisk(sampler, tuning.sharpness, tuning.with_references, tuning.likelihood)
    if options.objective == "dpo":
        assert reference is not None
        return Preferences(sampler, reference, tuning.beta)
    return None


def _plus(loss: Loss, extra: Tensor) -> Loss:
    return loss._replace(smoothed=loss.smoothed + extra)

"""Hugging Face ``generate`` on our weights.

The Pegasus classes of transformers are our pre-norm Transformer exactly (sinusoidal positions, scaled and
tied embeddings, a norm on top of each stack), the Marian classes our post-norm one; the tables of positions
are overwritten with ours, which are interleaved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn
from transformers import MarianConfig, MarianMTModel, PegasusConfig, PegasusForConditionalGeneration
from transformers import logging as transformers_logging

from nmt.batch import Batch
from nmt.config import SpecialIds, TransformerConfig
from nmt.models.transformer import Transformer


class HuggingFaceModel:
    """A model of transformers with the weights of ``model``.

    Raises:
        ValueError: it has no class that computes the same.
    """

    def __init__(self, model: Transformer, config: TransformerConfig, special: SpecialIds) -> None:
        if config.tie_embeddings != "all" or config.positions != "sinusoidal":
            raise ValueError("only shared embeddings and sinusoidal positions are mapped")
        transformers_logging.set_verbosity_error()
        pre = config.norm == "pre"
        config_class, model_class = (
            (PegasusConfig, PegasusForConditionalGeneration) if pre else (MarianConfig, MarianMTModel)
        )
        self.special = special
        self.model: Any = model_class(
            config_class(
                vocab_size=config.vocab_size,
                d_model=config.d_model,
                encoder_layers=config.n_encoder_layers,
                decoder_layers=config.n_decoder_layers,
                encoder_ffn_dim=config.d_ff,
                decoder_ffn_dim=config.d_ff,
                encoder_attention_heads=config.n_heads,
                decoder_attention_heads=config.n_heads,
                activation_function=config.activation,
                max_position_embeddings=config.max_positions,
                scale_embedding=True,
                pad_token_id=special.pad,
                bos_token_id=special.bos,
                eos_token_id=special.eos,
                decoder_start_token_id=special.bos,
                forced_eos_token_id=None,
            )
        ).eval()
        with torch.no_grad():
            self._map(model)

    @torch.inference_mode()
    def translate(self, sources: Sequence[Sequence[int]], *, beam_size: int, limit: int) -> list[list[int]]:
        """The best translation of each sentence, tokens without EOS, searched for together.

        Args:
            sources: token ids without EOS.
            beam_size: 1 is greedy.
            limit: most tokens, EOS counted.
        """
        batch = Batch.from_ids(sources, special=self.special).to(self.model.device)
        outputs_BT = self.model.generate(
            input_ids=batch.source_BS,
            attention_mask=batch.source_mask_BS.long(),
            num_beams=beam_size,
            do_sample=False,
            max_new_tokens=limit,
            length_penalty=1.0,
            early_stopping=beam_size > 1,
        )
        marks = {self.special.pad, self.special.eos}
        return [[id_ for id_ in row if id_ not in marks] for row in outputs_BT[:, 1:].tolist()]

    def _map(self, ours: Transformer) -> None:
        theirs = self.model.model
        theirs.shared.weight.copy_(ours.target_embedding.weight_VD)
        self.model.final_logits_bias.zero_()
        self.model.tie_weights()
        for side, layers in ((theirs.encoder, ours.encoder_layers), (theirs.decoder, ours.decoder_layers)):
            side.embed_positions.weight.copy_(ours.positions.encoding_TD)
            for their_layer, our_layer in zip(side.layers, layers, strict=True):
                for target, source in _pairs(their_layer, our_layer):
                    target.load_state_dict(source.state_dict())
        if isinstance(ours.encoder_norm, nn.LayerNorm):
            theirs.encoder.layer_norm.load_state_dict(ours.encoder_norm.state_dict())
            theirs.decoder.layer_norm.load_state_dict(ours.decoder_norm.state_dict())


def _pairs(theirs: Any, ours: Any) -> Iterator[tuple[nn.Module, nn.Module]]:  # noqa: ANN401
    """The parts of a layer that hold weights, theirs and ours."""
    attentions = [(theirs.self_attn, ours.self_attention)]
    if hasattr(ours, "cross_attention"):
        attentions.append((theirs.encoder_attn, ours.cross_attention))
        yield theirs.self_attn_layer_norm, ours.around_self_attention.norm
        yield theirs.encoder_attn_layer_norm, ours.around_cross_attention.norm
    else:
        yield theirs.self_attn_layer_norm, ours.around_attention.norm
    for their_attention, our_attention in attentions:
        yield their_attention.q_proj, our_attention.query
        yield their_attention.k_proj, our_attention.key
        yield their_attention.v_proj, our_attention.value
        yield their_attention.out_proj, our_attention.output
    yield theirs.fc1, ours.feed_forward.up
    yield theirs.fc2, ours.feed_forward.down
    yield theirs.final_layer_norm, ours.around_feed_forward.norm

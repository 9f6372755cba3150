"""Tiny models of every architecture, their weights tripled so that history and source matter."""

from __future__ import annotations

import pytest
import torch

from nmt.batch import Batch
from nmt.config import DecoderOnlyConfig, ModelConfig, RnnConfig, SpecialIds, TransformerConfig
from nmt.models.build import Model, build_model

VOCAB = 40


def transformer(**changes: object) -> TransformerConfig:
    defaults = {"d_model": 16, "d_ff": 32, "n_heads": 2, "n_encoder_layers": 2, "n_decoder_layers": 2}
    return TransformerConfig.model_validate({"vocab_size": VOCAB, **defaults, **changes})


def rnn(**changes: object) -> RnnConfig:
    return RnnConfig.model_validate({"vocab_size": VOCAB, "d_embedding": 12, "d_hidden": 16, **changes})


def decoder_only(**changes: object) -> DecoderOnlyConfig:
    defaults = {"vocab_size": VOCAB, "d_model": 16, "d_ff": 32, "n_heads": 2, "n_layers": 2}
    return DecoderOnlyConfig.model_validate({**defaults, **changes})


CONFIGS: dict[str, ModelConfig] = {
    "transformer": transformer(),
    "transformer-post-norm": transformer(norm="post"),
    "transformer-learned-positions": transformer(positions="learned", tie_embeddings="none"),
    "transformer-no-positions": transformer(positions="none"),
    "transformer-rotary": transformer(positions="rotary"),
    "transformer-alibi": transformer(positions="alibi"),
    "transformer-deep-encoder": transformer(n_encoder_layers=3, n_decoder_layers=1, activation="gelu"),
    "transformer-pruned": transformer(kept_heads={"encoder": [1, 2], "decoder": [2, 1], "cross": [1, 2]}),
    "rnn-additive": rnn(),
    "rnn-dot": rnn(attention="dot"),
    "rnn-scaled-dot": rnn(attention="scaled_dot"),
    "rnn-general": rnn(attention="general", tie_embeddings="decoder"),
    "rnn-linguistic-coverage": rnn(coverage="linguistic"),
    "rnn-neural-coverage": rnn(coverage="neural"),
    "rnn-last-attention": rnn(coverage="last_attention"),
    "rnn-hard": rnn(attention="hard"),
    "rnn-monotonic": rnn(attention="monotonic"),
    "transformer-copying": transformer(pointer="source"),
    "transformer-pointing": transformer(pointer="written"),
    "rnn-copying": rnn(pointer="source"),
    "rnn-pointing": rnn(pointer="written"),
    "decoder-only": decoder_only(),
    "decoder-only-alibi": decoder_only(positions="alibi"),
    "decoder-only-no-positions": decoder_only(positions="none"),
    "transformer-flat-sources": transformer(sources="flat", separator=7),
    "transformer-hierarchical-sources": transformer(sources="hierarchical", separator=7),
    "transformer-document": transformer(sources="document", separator=7),
    "rnn-plain": rnn(attention="none"),
}


def sharpened(config: ModelConfig) -> Model:
    torch.manual_seed(0)
    model = build_model(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name:
                parameter.mul_(3.0)
    return model


@pytest.fixture(params=CONFIGS)
def model(request: pytest.FixtureRequest) -> Model:
    return sharpened(CONFIGS[request.param])


@pytest.fixture
def batch() -> Batch:
    source = [[5, 6, 7, 8, 9], [10, 11], [12, 13, 14]]
    target = [[20, 21, 22], [23, 24, 25, 26, 27], [28]]
    return Batch.from_ids(source, target, special=SpecialIds())

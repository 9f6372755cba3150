"""Many sentences by a step decoder: equal to each sentence alone."""

from __future__ import annotations

import pytest
import torch

from nmt.batch import Batch
from nmt.config import GenerationConfig, SpecialIds, TransformerConfig
from nmt.errors import NumericalError
from nmt.models.build import Model, build_model
from nmt.pipeline.requests import Search
from nmt.search import Required, search
from nmt.searchers.step import StepSearcher

SPECIAL = SpecialIds()
PLACEHOLDERS = (60, 61)
SOURCES = [tuple(4 + (7 * place + index) % 50 for index in range(1 + place % 13)) for place in range(60)]


def model(scale: float = 3.0) -> Model:
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=64, d_model=16, d_ff=32, n_heads=2, n_encoder_layers=1, n_decoder_layers=2
    )
    made = build_model(config).eval().requires_grad_(False)
    for weight in made.parameters():
        if weight.dim() > 1:
            weight.mul_(scale)
    return made


def test_each_is_found_as_alone_with_its_own_options_and_placeholders() -> None:
    decoder = model()
    ways = [
        GenerationConfig(beam_size=beam_size, max_length_ratio=1.0, max_length_offset=5)
        for beam_size in (1, 3)
    ]
    asked = [
        Search(source, ways[place % 2], (60,) if place % 5 == 0 else ())
        for place, source in enumerate(SOURCES)
    ]
    found = StepSearcher(decoder, SPECIAL, PLACEHOLDERS).search(asked, max_batch_tokens=200)
    assert len({hypotheses[0].tokens for hypotheses in found}) > 20
    for one, hypotheses in zip(asked, found, strict=True):
        batch = Batch.from_ids([one.source_ids], special=SPECIAL)
        (alone,) = search(
            decoder, batch, one.options, SPECIAL, required=Required(PLACEHOLDERS, (one.required,))
        )
        assert hypotheses[0].tokens == alone[0].tokens
        assert hypotheses[0].log_prob == pytest.approx(alone[0].log_prob, abs=2e-4)


def test_nan_in_the_weights_is_an_error() -> None:
    with pytest.raises(NumericalError, match="at step 0"):
        StepSearcher(model(scale=float("nan")), SPECIAL).search(
            [Search(source, GenerationConfig()) for source in SOURCES], max_batch_tokens=200
        )

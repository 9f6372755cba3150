"""A tiny Transformer with two layers of two heads on each side, its weights tripled."""

from __future__ import annotations

import pytest

from nmt.models.transformer import Transformer
from nmt.tokenizer import Tokenizer
from tests.nmt.conftest import tiny_config, tiny_model


@pytest.fixture
def model(tokenizer: Tokenizer) -> Transformer:
    made = tiny_model(tiny_config(tokenizer))
    assert isinstance(made, Transformer)
    return made

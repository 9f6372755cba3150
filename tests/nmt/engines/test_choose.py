"""The engine follows from device, CPU and model, and says why."""

from __future__ import annotations

import pytest
import torch

from nmt.config import RnnConfig, TransformerConfig
from nmt.engines.choose import build_decoder, choose
from nmt.engines.packed import PackedTransformer
from nmt.engines.static import StaticTransformer
from nmt.errors import ConfigError
from nmt.models.build import Model, build_model
from tests.nmt.engines.marks import AMX, AVX2, OLD, VNNI

CPU = torch.device("cpu")


def model(d_model: int = 128) -> Model:
    config = TransformerConfig(
        vocab_size=64, d_model=d_model, d_ff=32, n_heads=2, n_encoder_layers=1, n_decoder_layers=1
    )
    return build_model(config).eval().requires_grad_(False)


@pytest.mark.parametrize(
    ("features", "name", "layers", "reason"),
    [
        (AMX, "int8", "bfloat16", "AMX"),
        (VNNI, "int8", "int8", "VNNI"),
        (AVX2, "int8", "int8", "AVX2: all int8"),
        (OLD, "float32", "float32", "neither"),
    ],
)
def test_auto_takes_the_fewest_bits_that_the_cpu_multiplies(features, name, layers, reason) -> None:
    choice = choose(model(), CPU, features=features)
    assert (choice.name, choice.layers) == (name, layers)
    assert reason in choice.why


def test_keys_are_kept_in_int8_where_layers_are_and_the_compiler_can_load_it() -> None:
    kept = {features: choose(model(), CPU, features=features).kept for features in (AMX, VNNI, AVX2, OLD)}
    assert kept == {AMX: "bfloat16", VNNI: "int8", AVX2: "int8x4", OLD: "float32"}
    narrow = model(132)  # heads of 66 have no quarters
    assert choose(narrow, CPU, features=AVX2).kept == "float32"
    assert choose(narrow, CPU, features=VNNI).kept == "int8"


def test_a_cpu_that_multiplies_in_pairs_is_told_from_one_that_has_better() -> None:
    assert AVX2.only_pairs
    assert not VNNI.only_pairs
    assert not OLD.only_pairs


def test_a_small_model_stays_in_float32() -> None:
    assert choose(model(16), CPU, features=AMX).name == "float32"


def test_only_float32_transformers_have_another_engine_than_eager() -> None:
    rnn = build_model(RnnConfig(vocab_size=64, d_embedding=8, d_hidden=8))
    assert choose(rnn, CPU).name == "eager"
    assert "mps" in choose(model(), torch.device("mps")).why
    assert "float64" in choose(model().double(), CPU).why
    with pytest.raises(ConfigError, match=r"engine int8: the model is an RNN.*choose auto or eager"):
        choose(rnn, CPU, "int8")
    with pytest.raises(ConfigError, match=r"engine float32: the model is an RNN"):
        choose(rnn, torch.device("cuda"), "float32")


def test_eager_is_the_model_itself_and_another_engine_leaves_it_alone() -> None:
    eager = model()
    assert build_decoder(eager, choose(eager, CPU, "eager")) is eager
    assert isinstance(build_decoder(eager, choose(eager, CPU, "float32")), PackedTransformer)


@pytest.mark.parametrize("name", ["int8", "bfloat16"])
def test_an_engine_that_the_cpu_lacks_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"engine {name}: this CPU has no instructions for it"):
        choose(model(), CPU, name, OLD)


def test_an_unknown_engine_is_refused_and_the_known_are_named() -> None:
    with pytest.raises(ConfigError, match="engine 'turbo' is unknown; choose one of auto, eager, float32"):
        choose(model(), CPU, "turbo")


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_on_a_gpu_a_step_of_fixed_shapes_is_taken_when_it_is_asked_for(name: str) -> None:
    gpu = torch.device("cuda")
    assert choose(model(), gpu).name == "eager"
    choice = choose(model(), gpu, name)
    assert (choice.name, choice.layers, choice.output) == (name, name, name)
    assert "CUDA graph" in choice.why
    elsewhere = build_decoder(model().to("meta"), choice)  # what matters is that it is not the CPU
    assert isinstance(elsewhere, StaticTransformer)
    assert elsewhere.dtype == getattr(torch, name)
    with pytest.raises(ConfigError, match=r"engine int8 is for CPUs.*choose float32 or bfloat16"):
        choose(model(), gpu, "int8")

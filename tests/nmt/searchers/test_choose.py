"""The engine follows from device and model, and says why."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from nmt.config import (
    DecoderOnlyConfig,
    GenerationConfig,
    ModelConfig,
    ModelFolderConfig,
    RnnConfig,
    TransformerConfig,
)
from nmt.errors import ConfigError
from nmt.model_folder.opened import LoadedModel, OpenedModel
from nmt.models.build import Model, build_model
from nmt.searchers.choose import choose
from nmt.tokenizer import Tokenizer
from tests.nmt.conftest import save_tiny_model, tiny_config, tiny_model

CPU, GPU = torch.device("cpu"), torch.device("cuda")


TRANSFORMER = TransformerConfig(
    vocab_size=380, d_model=16, d_ff=32, n_heads=2, n_encoder_layers=1, n_decoder_layers=1
)
DECODER_ONLY = DecoderOnlyConfig(vocab_size=380, d_model=16, d_ff=32, n_heads=2, n_layers=1)
RNN = RnnConfig(vocab_size=380, d_embedding=8, d_hidden=8)


@pytest.fixture
def model(tokenizer: Tokenizer) -> Callable[..., LoadedModel]:
    """A model in memory."""

    def build(
        config: ModelConfig = TRANSFORMER, change: Callable[[Model], Model] = lambda it: it
    ) -> LoadedModel:
        folder = ModelFolderConfig(name="tiny", model=config, library_version="0.0.0")
        return LoadedModel(folder, change(build_model(config)), tokenizer, GenerationConfig(), Path("x"))

    return build


def test_auto_takes_int8_on_a_cpu_and_float16_on_a_gpu(
    model: Callable[..., LoadedModel], monkeypatch: pytest.MonkeyPatch
):
    assert choose(model(), CPU).name == "int8"
    monkeypatch.setattr("ctranslate2.get_cuda_device_count", lambda: 1)
    monkeypatch.setattr("nmt.searchers.choose.load_cublas", lambda: True)
    monkeypatch.setattr("ctranslate2.get_supported_compute_types", lambda *_: {"float16", "int8_float16"})
    assert choose(model(), GPU).name == "float16"
    monkeypatch.setattr("ctranslate2.get_supported_compute_types", lambda *_: {"float32", "int8_float32"})
    assert choose(model(), GPU).name == "float32"


def test_a_gpu_without_cublas_is_left_to_the_model_itself_and_says_what_to_install(
    model: Callable[..., LoadedModel], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ctranslate2.get_cuda_device_count", lambda: 1)
    monkeypatch.setattr("nmt.searchers.choose.load_cublas", lambda: False)
    choice = choose(model(), GPU)
    assert choice.name == "eager"
    assert "libcublas.so.12" in choice.why
    with pytest.raises(ConfigError, match="pip install nvidia-cublas-cu12; choose auto or eager"):
        choose(model(), GPU, "float16")


def test_auto_takes_eager_where_ctranslate2_cannot_run_the_model(
    model: Callable[..., LoadedModel], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ctranslate2.get_cuda_device_count", lambda: 0)
    for obstacle, (one, device) in {
        "the model is an RNN": (model(RNN), CPU),
        "the model is a decoder alone": (model(DECODER_ONLY), CPU),
        "pointer source": (model(TRANSFORMER.model_copy(update={"pointer": "source"})), CPU),
        "positions rotary": (model(TRANSFORMER.model_copy(update={"positions": "rotary"})), CPU),
        "mps": (model(), torch.device("mps")),
        "float64": (model(change=lambda it: it.double()), CPU),
        "sees no GPU": (model(), GPU),
    }.items():
        choice = choose(one, device)
        assert choice.name == "eager"
        assert obstacle in choice.why
        with pytest.raises(ConfigError, match=rf"engine float32: .*{obstacle}.*; choose auto or eager"):
            choose(one, device, "float32")


def test_a_package_that_is_missing_or_too_old_is_named_with_what_to_do(
    model: Callable[..., LoadedModel], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ctranslate2.__version__", "4.5.1")
    with pytest.raises(ConfigError, match=r"CTranslate2 4\.5\.1 is older than 4\.6: pip install --upgrade"):
        choose(model(), CPU, "int8")
    assert choose(model(), CPU).name == "eager"
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(ConfigError, match=r"CTranslate2 is missing .*: pip install ctranslate2"):
        choose(model(), CPU, "int8")
    assert choose(model(), CPU).name == "eager"


def test_an_engine_that_is_asked_for_is_taken_or_refused(
    model: Callable[..., LoadedModel], monkeypatch: pytest.MonkeyPatch
):
    for name in ("eager", "int8", "float32"):
        assert choose(model(), CPU, name).name == name
    monkeypatch.setattr("ctranslate2.get_supported_compute_types", lambda *_: {"float32", "int8", "int16"})
    with pytest.raises(ConfigError, match="engine bfloat16: CTranslate2 computes float32, int8 on this cpu"):
        choose(model(), CPU, "bfloat16")


def test_an_unknown_engine_is_refused_and_the_known_are_named(model: Callable[..., LoadedModel]):
    with pytest.raises(ConfigError, match="engine 'turbo' is unknown; choose one of auto, eager, int8"):
        choose(model(), CPU, "turbo")


def test_a_variant_on_disk_is_left_to_the_eager_model_by_name(
    tmp_path: Path, tokenizer_file: Path, tokenizer: Tokenizer
):
    config = tiny_config(tokenizer, positions="alibi")
    save_tiny_model(tmp_path / "model", tokenizer_file, config=config, model=tiny_model(config))
    choice = choose(OpenedModel(tmp_path / "model"), "cpu")
    assert choice.name == "eager"
    assert "positions alibi, which the export to CTranslate2 does not know" in choice.why


def test_a_model_on_disk_is_judged_without_reading_its_weights(tmp_path: Path, tokenizer_file: Path):
    save_tiny_model(tmp_path / "model", tokenizer_file)
    opened = OpenedModel(tmp_path / "model")
    assert choose(opened, "cpu").name == "int8"
    assert choose(opened, "mps").name == "eager"
    assert opened.unread_sha256 is not None

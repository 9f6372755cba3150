"""Blending: the weights between two models of one origin, and a refusal of any other two."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nmt.errors import ConfigError
from nmt.model_folder.checkpoint import load_model_folder
from nmt.models.build import Model
from nmt.tokenizer import Tokenizer
from nmt.translator import Translator
from tests.nmt.conftest import save_tiny_model, tiny_config, tiny_model, train_tokenizer
from training.blend import blend


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    path.write_bytes(train_tokenizer())
    return path


def moved(model: Model) -> Model:
    """The same model after some training."""
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        parameter.add_(torch.randn(parameter.shape, generator=generator))
    return model


@pytest.fixture
def pair(tmp_path: Path, tokenizer_file: Path) -> tuple[Path, Path]:
    """An adapted model, and the one it began with."""
    config = tiny_config(Tokenizer.load(tokenizer_file)).model_copy(update={"name": "adapted"})
    save_tiny_model(tmp_path / "adapted", tokenizer_file, config=config, model=moved(tiny_model(config)))
    save_tiny_model(tmp_path / "general", tokenizer_file)
    return tmp_path / "adapted", tmp_path / "general"


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_model_folder(folder).model.state_dict()


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_every_weight_is_where_its_share_says(pair: tuple[Path, Path], tmp_path: Path, share: float) -> None:
    out = blend(pair[0], pair[1:], share, tmp_path / "out")
    adapted, general = (weights(folder) for folder in pair)
    for name, weight in weights(out).items():
        expected = share * adapted[name] + (1 - share) * general[name]
        torch.testing.assert_close(weight, expected)


@pytest.mark.parametrize(("share", "shares"), [(None, (1 / 3, 1 / 3, 1 / 3)), (0.5, (0.5, 0.25, 0.25))])
def test_several_have_a_mean(
    pair: tuple[Path, Path],
    tmp_path: Path,
    tokenizer_file: Path,
    share: float | None,
    shares: tuple[float, float, float],
) -> None:
    config = tiny_config(Tokenizer.load(tokenizer_file))
    model = moved(moved(tiny_model(config)))
    save_tiny_model(tmp_path / "third", tokenizer_file, config=config, model=model)
    out = blend(pair[0], [pair[1], tmp_path / "third"], share, tmp_path / "out")
    parts = [weights(folder) for folder in (*pair, tmp_path / "third")]
    for name, weight in weights(out).items():
        expected = sum(w * part[name] for w, part in zip(shares, parts, strict=True))
        torch.testing.assert_close(weight, expected)


def test_a_blended_model_translates_and_says_what_it_is(pair: tuple[Path, Path], tmp_path: Path) -> None:
    out = blend(pair[0], pair[1:], 0.25, tmp_path / "out")
    loaded = load_model_folder(out)
    assert loaded.config.name == "adapted"
    assert loaded.generation == load_model_folder(pair[0]).generation
    card = (out / "card.md").read_text(encoding="utf-8")
    assert "0.25 of adapted" in card
    assert "0.75 of tiny" in card
    assert (out / "scores.json").read_text(encoding="utf-8").strip() == "{}"
    assert len(Translator.load(out).translate(["a word"])) == 1


def test_how_much_is_dropped_out_is_no_difference(
    pair: tuple[Path, Path], tmp_path: Path, tokenizer_file: Path
) -> None:
    """A model is often adapted with another dropout than it began with."""
    config = tiny_config(Tokenizer.load(tokenizer_file), dropout=0.5, attention_dropout=0.25)
    save_tiny_model(tmp_path / "dropped", tokenizer_file, config=config, model=tiny_model(config))
    out = blend(tmp_path / "dropped", [pair[1]], 0.5, tmp_path / "out")
    assert load_model_folder(out).config.model == config.model


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_no_share(pair: tuple[Path, Path], tmp_path: Path, share: float) -> None:
    with pytest.raises(ConfigError, match=r"--share .*: a share is from 0 to 1"):
        blend(pair[0], pair[1:], share, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("what", "changes"),
    [
        ("architecture", {"model": {"d_ff": 48}}),
        ("source language", {"config": {"source_language": "fr", "target_language": "en"}}),
    ],
)
def test_strangers_are_refused(
    pair: tuple[Path, Path],
    tmp_path: Path,
    tokenizer_file: Path,
    what: str,
    changes: dict[str, dict[str, object]],
) -> None:
    config = tiny_config(Tokenizer.load(tokenizer_file), **changes.get("model", {}))
    config = config.model_copy(update=changes.get("config", {}))
    save_tiny_model(tmp_path / "other", tokenizer_file, config=config, model=tiny_model(config))
    with pytest.raises(
        ConfigError, match=rf"other differ in {what}; blend a model with the one that it was adapted"
    ):
        blend(pair[0], [tmp_path / "other"], 0.5, tmp_path / "out")


def test_other_sub_words_are_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.model"
    other.write_bytes(train_tokenizer(normalization_rule_name="identity"))
    config = tiny_config(Tokenizer.load(other))
    assert config.model == load_model_folder(pair[1]).config.model
    save_tiny_model(tmp_path / "other", other, config=config, model=tiny_model(config))
    with pytest.raises(ConfigError, match="differ in sub-words"):
        blend(pair[0], [tmp_path / "other"], 0.5, tmp_path / "out")

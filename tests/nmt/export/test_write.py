"""The command: what it writes beside the model, and what it says when it cannot."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from nmt.cli import main
from nmt.config import RnnConfig
from nmt.errors import ConfigError
from nmt.export.write import export_model
from nmt.model_folder.checkpoint import load_model_folder
from nmt.tokenizer import Tokenizer
from tests.nmt.conftest import save_tiny_model, tiny_config, tiny_model


@pytest.fixture
def folder(tmp_path: Path, tokenizer_file: Path) -> Path:
    save_tiny_model(tmp_path / "model", tokenizer_file)
    return tmp_path / "model"


def test_the_command_writes_a_folder_that_is_complete(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")
    out = tmp_path / "exported"

    with pytest.raises(SystemExit) as status:
        main(["export", str(folder), "--format", "ctranslate2", "--out", str(out)])

    assert (status.value.code, capsys.readouterr().out) == (0, f"{out}\n")
    assert {path.name for path in out.iterdir()} == {
        "model.bin",
        "config.json",
        "shared_vocabulary.json",
        "tokenizer.model",
        "generation.json",
        "card.md",
        "passerelle.json",
    }
    assert json.loads((out / "passerelle.json").read_text())["name"] == "tiny"


def test_a_folder_that_holds_something_is_left_alone(folder: Path) -> None:
    with pytest.raises(ConfigError, match="exists and is not empty"):
        export_model(folder, "ctranslate2", folder)
    load_model_folder(folder)


def test_a_missing_package_is_named_with_what_installs_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)

    with pytest.raises(ConfigError, match=r"onnxscript; install it with: pip install 'passerelle\[onnx\]'"):
        export_model(folder, "onnx", tmp_path / "exported")


@pytest.mark.parametrize("format_", ["ctranslate2", "onnx", "torch-export"])
def test_an_rnn_is_refused_in_one_sentence(
    format_: str, tmp_path: Path, tokenizer_file: Path, tokenizer: Tokenizer
) -> None:
    for package in {"ctranslate2": ["ctranslate2"], "onnx": ["onnxscript"]}.get(format_, []):
        pytest.importorskip(package, reason=f"{package} is not installed")
    config = tiny_config(tokenizer).model_copy(
        update={"model": RnnConfig(vocab_size=tokenizer.vocab_size, d_embedding=8, d_hidden=8)}
    )
    save_tiny_model(tmp_path / "rnn", tokenizer_file, config=config, model=tiny_model(config))

    with pytest.raises(ConfigError, match=r"model tiny: .* export a Transformer"):
        export_model(tmp_path / "rnn", format_, tmp_path / "exported")


@pytest.mark.parametrize("format_", ["ctranslate2", "onnx", "torch-export"])
def test_what_an_export_does_not_know_is_named(
    format_: str, tmp_path: Path, tokenizer_file: Path, tokenizer: Tokenizer
) -> None:
    for package in {"ctranslate2": ["ctranslate2"], "onnx": ["onnxscript"]}.get(format_, []):
        pytest.importorskip(package, reason=f"{package} is not installed")
    config = tiny_config(tokenizer, positions="rotary")
    save_tiny_model(tmp_path / "rotary", tokenizer_file, config=config, model=tiny_model(config))

    with pytest.raises(ConfigError, match=r"does not know positions rotary; translate with engine eager"):
        export_model(tmp_path / "rotary", format_, tmp_path / "exported")

"""``nmt compile``: what it compiles for a model, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nmt.compilation import ROWS, compile_for
from nmt.config import GenerationConfig, RnnConfig, TransformerConfig
from nmt.engines import packages
from nmt.engines.choose import choose, compilable_steps
from nmt.engines.cpu import CpuFeatures
from nmt.errors import ConfigError, ModelFolderError
from nmt.info import info, step_in_words
from nmt.models.build import build_model
from nmt.tokenizer import Tokenizer
from tests.nmt.conftest import save_tiny_model, tiny_config, tiny_model
from tests.nmt.engines.marks import OLD, VNNI

BOUND = ("any number of rows", "the encoder")
RANKING = "the ranking of a beam"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(packages.CACHE, str(tmp_path / "cache"))


def test_a_step_is_compiled_once_and_shown_by_nmt_info(
    tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What compiling makes is tested with each kind of step."""
    monkeypatch.setattr(CpuFeatures, "here", lambda: OLD)
    for module in ("few", "ranking"):
        monkeypatch.setattr(f"nmt.engines.{module}.compile_packages", make_folder)
    folder = tmp_path / "model"
    save_tiny_model(folder, tokenizer_file)
    assert info(folder)["engine"]["step"] == "not compiled; nmt compile does it once"
    report = compile_for(folder, rows=[2])
    step, ranking = report["steps"]
    assert report == {"model": "tiny", "engine": "float32", "steps": [step, ranking]}
    assert ranking == {**ranking, "for": "the ranking of a beam", "was_there": False}
    assert step == {**step, "for": "2 rows", "was_there": False}
    assert Path(step["folder"]).parent == tmp_path / "cache" / "steps"
    shown = info(folder)["engine"]
    assert shown["step"] == "compiled ahead of time"
    assert shown["why"].endswith("steps of up to 2 rows in one call; the ranking of a beam too")
    again = compile_for(folder, rows=[2, 2])["steps"]
    assert again == [
        {**entry, "was_there": True, "seconds": repeated["seconds"]}
        for entry, repeated in zip((step, ranking), again, strict=True)
    ]


def make_folder(folder: Path, _: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)


def test_nmt_info_says_which_step_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    config = TransformerConfig(
        vocab_size=64, d_model=128, d_ff=256, n_heads=2, n_encoder_layers=1, n_decoder_layers=1
    )
    model = build_model(config).eval()
    monkeypatch.setattr(CpuFeatures, "here", lambda: VNNI)
    choice = choose(model, torch.device("cpu"), "int8")
    assert compilable_steps(model, choice) == dict.fromkeys([*BOUND, RANKING], False)
    assert step_in_words(choice, model) == "not compiled; nmt compile does it once"
    there = replace(choice, bound=Path("somewhere"))
    missing = "that of the encoder and that of the ranking of a beam"
    assert step_in_words(there, model) == f"compiled ahead of time, but not {missing}: nmt compile"
    there = replace(there, encoder=Path("beside"), ranking=Path("and beside"))
    assert step_in_words(there, model) == "compiled ahead of time"
    monkeypatch.setattr(CpuFeatures, "here", lambda: CpuFeatures(True, True, True))
    amx = replace(choose(model, torch.device("cpu"), "int8"), encoder=Path("beside"))
    assert (
        step_in_words(amx, model)
        == "compiled ahead of time, but not that of any number of rows and that of few rows"
        " and that of the ranking of a beam: nmt compile"
    )


def test_an_engine_can_be_named(
    tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And then it is that engine's steps which are compiled."""
    config = tiny_config(Tokenizer.load(tokenizer_file), d_model=128)
    folder = tmp_path / "model"
    save_tiny_model(folder, tokenizer_file, config=config, model=tiny_model(config))
    monkeypatch.setattr(CpuFeatures, "here", lambda: VNNI)
    compiled: list[str] = []
    for name in ("compile_bound", "compile_encoder"):
        monkeypatch.setattr(f"nmt.compilation.{name}", lambda shape, _: compiled.append(shape.weights))
    monkeypatch.setattr("nmt.compilation.compile_ranking", lambda _: None)
    for engine, precision in (("auto", "int8"), ("float32", "float32")):
        report = compile_for(folder, engine)
        assert report["engine"] == precision
        assert [step["for"] for step in report["steps"]] == [*BOUND, RANKING]
        assert set(compiled) == {precision}
        compiled.clear()
    with pytest.raises(ConfigError, match=r"tiny is decoded by eager here \(asked for\)"):
        compile_for(folder, "eager")


def test_by_default_one_sentence_has_steps_of_its_own() -> None:
    assert (1, GenerationConfig().beam_size, 8) == ROWS


@pytest.mark.parametrize("n_rows", [0, 9])
def test_other_numbers_of_rows_are_refused(tmp_path: Path, tokenizer_file: Path, n_rows: int) -> None:
    save_tiny_model(tmp_path / "model", tokenizer_file)
    with pytest.raises(ConfigError, match=rf"nmt compile: {n_rows} rows: .* for 1 to 8; more take the step"):
        compile_for(tmp_path / "model", rows=[5, n_rows])


def test_an_rnn_has_no_step(tmp_path: Path, tokenizer_file: Path) -> None:
    tokenizer = Tokenizer.load(tokenizer_file)
    rnn = RnnConfig(vocab_size=tokenizer.vocab_size, d_embedding=8, d_hidden=8)
    config = tiny_config(tokenizer).model_copy(update={"model": rnn})
    save_tiny_model(tmp_path / "rnn", tokenizer_file, config=config, model=tiny_model(config))
    with pytest.raises(ConfigError, match=r"tiny is decoded by eager here \(the model is an RNN.*go without"):
        compile_for(tmp_path / "rnn")
    assert info(tmp_path / "rnn")["engine"]["step"] == "nothing to compile"


@pytest.mark.parametrize("damage", [b"{", None])
def test_a_configuration_that_cannot_be_read_is_named(
    tmp_path: Path, tokenizer_file: Path, damage: bytes | None
) -> None:
    save_tiny_model(tmp_path / "broken", tokenizer_file)
    config = tmp_path / "broken" / "config.json"
    config.unlink() if damage is None else config.write_bytes(damage)
    with pytest.raises(ModelFolderError, match=r"config\.json|broken"):
        compile_for(tmp_path / "broken")


@pytest.mark.parametrize(("encoder", "left"), [([2, 1], []), ([2, 2], ["the encoder"])])
def test_pruned_layers_have_no_step(
    encoder: list[int], left: list[str], tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their encoder may be compiled nevertheless, if its own layers are equal."""
    monkeypatch.setattr(CpuFeatures, "here", lambda: CpuFeatures(True, True, True))
    compiled: list[str] = []
    monkeypatch.setattr("nmt.compilation.compile_encoder", lambda *_: compiled.append("the encoder"))
    kept = {"encoder": encoder, "decoder": [2, 1], "cross": [2, 2]}
    config = tiny_config(Tokenizer.load(tokenizer_file), d_model=128, kept_heads=kept)
    save_tiny_model(tmp_path / "pruned", tokenizer_file, config=config, model=tiny_model(config))
    if left:
        assert [step["for"] for step in compile_for(tmp_path / "pruned")["steps"]] == left
    else:
        with pytest.raises(ConfigError, match="or the layers of the model differ in width; go without"):
            compile_for(tmp_path / "pruned")
    assert compiled == left

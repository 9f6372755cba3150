"""What users really bring: each fault is one line that names it, with a status, and nothing is lost."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt import cli
from testbed.corpora import PAIRS, write_toy
from tests.training.data.test_prepare import contents

TINY = (
    "training.max_updates=2",
    "training.save_every=1",
    "training.validate_every=2",
    "training.batch_tokens=64",
)
RECURRENT = "model={architecture='rnn',d_embedding=16,d_hidden=16}"

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command; its exit status and the last line that it says."""

    def run(*arguments: str | Path) -> tuple[int, str]:
        with pytest.raises(SystemExit) as exit_:
            cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "Traceback" not in captured.err
        return int(exit_.value.code or 0), captured.err.rstrip("\n").rpartition("\n")[2]

    return run


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_toy(tmp_path / "corpus").parent


def break_utf8(folder: Path) -> str:
    file = folder / "train.fr"
    file.write_bytes(file.read_bytes().replace("é".encode(), b"\xe9", 1).replace(b"chien", b"chi\xe8n", 1))
    return "is not UTF-8; convert the file to UTF-8"


def leave_a_line_out(folder: Path) -> str:
    file = folder / "train.fr"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[1:]))
    return f"train.en has 60 lines but {folder / 'train.fr'} has 59"


def empty_a_side(folder: Path) -> str:
    (folder / "train.en").write_text("\n" * 60)
    return "all 60 lines of the source side are empty"


def remove(folder: Path) -> str:
    (folder / "train.fr").unlink()
    return "train.fr: no such file"


@pytest.mark.parametrize("spoil", [break_utf8, leave_a_line_out, empty_a_side, remove])
def test_a_corpus_that_is_broken_is_told_and_once_mended_prepared(
    run: Run, corpus: Path, tmp_path: Path, spoil: Callable[[Path], str]
):
    shutil.copytree(corpus, tmp_path / "good")
    expected = spoil(corpus)
    status, said = run("prepare", corpus / "small.toml", "--out", tmp_path / "data")
    assert status == 2
    assert expected in said
    assert not any(fr in said for _, fr in PAIRS)
    assert not (tmp_path / "data").exists()
    for file in (tmp_path / "good").iterdir():
        shutil.copy(file, corpus)
    assert run("prepare", corpus / "small.toml", "--out", tmp_path / "data")[0] == 0
    assert run("prepare", tmp_path / "good" / "small.toml", "--out", tmp_path / "other")[0] == 0
    assert contents(tmp_path / "data") == contents(tmp_path / "other")


@pytest.fixture
def trained(run: Run, corpus: Path, tmp_path: Path) -> Path:
    """A run folder of a Transformer, two updates old."""
    folder = tmp_path / "run"
    options = [option for setting in TINY for option in ("--set", setting)]
    status, said = run("train", corpus / "small.toml", "--run", folder, *options)
    assert status == 0, said
    return folder


def test_a_run_folder_of_another_architecture_is_named_and_left_as_it_is(
    run: Run, corpus: Path, trained: Path
):
    before = contents(trained)
    options = [option for setting in (*TINY, RECURRENT) for option in ("--set", setting)]
    status, said = run("train", corpus / "small.toml", "--run", trained, "--resume", *options)
    assert status == 1
    assert f"{trained}: begun with another model (see recipe.json); choose another --run folder" in said
    assert contents(trained) == before


def test_a_model_of_another_architecture_is_no_beginning(
    run: Run, corpus: Path, trained: Path, tmp_path: Path
):
    options = [option for setting in (*TINY, RECURRENT) for option in ("--set", setting)]
    recipe = corpus / "small.toml"
    status, said = run("train", recipe, "--run", tmp_path / "b", "--init-from", trained / "model", *options)
    assert status == 2
    assert "model.architecture is rnn, but --init-from names a transformer" in said
    assert not (tmp_path / "b").exists()


def test_a_model_is_adapted_with_its_own_sub_words_whatever_the_recipe_says(
    run: Run, corpus: Path, trained: Path, tmp_path: Path
):
    settings = (*TINY, "tokenizer.vocab_size=350", "model.d_model=32")
    options = [option for setting in settings for option in ("--set", setting)]
    recipe = corpus / "small.toml"
    status, said = run("train", recipe, "--run", tmp_path / "b", "--init-from", trained / "model", *options)
    assert status == 0, said
    tokenizers = [(folder / "model" / "tokenizer.model").read_bytes() for folder in (trained, tmp_path / "b")]
    assert tokenizers[0] == tokenizers[1]

"""What is no checkpoint, half of one or of another kind is refused in a line, and nothing is left behind."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from nmt.errors import ModelFolderError, UnsupportedLanguageError
from nmt.importers.read import import_checkpoint
from nmt.model_folder.checkpoint import load_model_folder
from tests.nmt.importers.checkpoints import make_marian, make_multilingual


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "checkpoint"
    make_marian(folder)
    return folder


@pytest.fixture
def checkpoint(made: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    copy = tmp_path / "theirs"
    copy.mkdir()
    for file in made.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    return copy


def change_json(name: str, **values: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    return change


def change_weights(change: Callable[[dict[str, torch.Tensor]], None]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        change(weights)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})

    return spoil


def cut(name: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: len(data) // 2])

    return spoil


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


LAYER = "model.encoder.layers.0.fc1.weight"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (change_json("config.json", model_type="t5"), "model_type 't5' cannot be imported"),
        (change_json("config.json", activation_function="gelu_new"), "activation_function 'gelu_new'"),
        (change_json("config.json", normalize_before=True), "normalize_before = True is not supported"),
        (change_json("config.json", decoder_ffn_dim=50), "encoder_ffn_dim and decoder_ffn_dim differ"),
        (change_json("config.json", d_model=30), "d_model 30 is not a multiple of n_heads 4"),
        (change_json("config.json", d_model=36), r"weight model.shared.weight is \[\d+, 32\]"),
        (
            change_json("config.json", vocab_size=9, decoder_vocab_size=9),
            "pieces, but config.json says vocab_size 9",
        ),
        (change_json("config.json", encoder_layers=3), "lacks the weight model.encoder.layers.2"),
        (change_json("config.json", encoder_layers=1), "weights are not part of an architecture"),
        (cut("config.json"), "config.json: not JSON"),
        (cut("model.safetensors"), "not a readable safetensors file"),
        (cut("target.spm"), "not a SentencePiece model"),
        (cut("vocab.json"), "vocab.json: not JSON"),
        (remove("model.safetensors"), "neither model.safetensors nor pytorch_model.bin"),
        (remove("source.spm"), "source.spm: missing"),
        (remove("vocab.json"), "vocab.json: missing"),
        (change_json("vocab.json", extra=3), "the ids are not 0 to"),
        (change_json("tokenizer_config.json", source_lang="ROMANCE"), "name it with --from CODE"),
        (change_weights(lambda weights: weights[LAYER].fill_(float("nan"))), "holds NaN or infinity"),
        (change_weights(lambda weights: weights.pop(LAYER)), f"lacks the weight {LAYER}"),
        (
            change_weights(
                lambda weights: weights.update({"lm_head.weight": weights["model.shared.weight"] * 2})
            ),
            "are one weight, but they differ",
        ),
    ],
)
def test_a_spoilt_checkpoint_is_refused(spoil: Callable[[Path], Any], message: str, checkpoint: Path):
    spoil(checkpoint)
    out = checkpoint.with_name("ours")
    with pytest.raises(ModelFolderError, match=message):
        load_model_folder(import_checkpoint(str(checkpoint), out))
    assert sorted(path.name for path in checkpoint.parent.iterdir()) in (["theirs"], ["ours", "theirs"])


def test_nothing_is_written_for_a_checkpoint_that_fails(checkpoint: Path):
    cut("model.safetensors")(checkpoint)
    with pytest.raises(ModelFolderError):
        import_checkpoint(str(checkpoint), checkpoint.with_name("ours"))
    assert [path.name for path in checkpoint.parent.iterdir()] == ["theirs"]


def test_a_pickle_of_more_than_weights_is_not_opened(checkpoint: Path):
    opened = checkpoint / "opened"

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (opened,)

    remove("model.safetensors")(checkpoint)
    (checkpoint / "pytorch_model.bin").write_bytes(pickle.dumps({"model": Evil()}, protocol=2))
    with pytest.raises(ModelFolderError, match=r"pytorch_model\.bin"):
        import_checkpoint(str(checkpoint), checkpoint.with_name("ours"))
    assert not opened.exists()


def test_a_pickle_of_weights_is_read(checkpoint: Path):
    safe = load_model_folder(import_checkpoint(str(checkpoint), checkpoint.with_name("safe")))
    torch.save(load_file(checkpoint / "model.safetensors"), checkpoint / "pytorch_model.bin")
    remove("model.safetensors")(checkpoint)
    loaded = load_model_folder(import_checkpoint(str(checkpoint), checkpoint.with_name("ours")))
    for name, weight in safe.model.state_dict().items():
        assert torch.equal(weight, loaded.model.state_dict()[name])


def test_an_archive_is_read(checkpoint: Path, tmp_path: Path):
    archive = tmp_path / "opus-2020.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in checkpoint.iterdir():
            packed.write(file, f"inside/{file.name}")
    loaded = load_model_folder(import_checkpoint(str(archive), tmp_path / "ours"))
    assert loaded.config.name == "ours"
    archive.write_bytes(archive.read_bytes()[:2000])
    with pytest.raises(ModelFolderError, match="not a zip archive"):
        import_checkpoint(str(archive), tmp_path / "other")


def test_an_archive_that_would_fill_the_disk_is_refused(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    archive = tmp_path / "bomb.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("weights.npz", bytes(1 << 20))
    monkeypatch.setattr("nmt.importers.read.MOST_BYTES", 1 << 19)
    with pytest.raises(ModelFolderError, match="1048576 bytes unpacked, the most is 524288"):
        import_checkpoint(str(archive), tmp_path / "ours")


@pytest.mark.parametrize("name", ["no/such/folder/here", "nonsense", ""])
def test_no_such_source(name: str, tmp_path: Path):
    with pytest.raises(ModelFolderError):
        import_checkpoint(name, tmp_path / "ours")


def test_an_empty_folder(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelFolderError, match=r"neither config\.json \(Hugging Face\) nor a file \*\.npz"):
        import_checkpoint(str(tmp_path / "empty"), tmp_path / "ours")


def test_a_pair_that_the_model_has_not(tmp_path: Path):
    make_multilingual(tmp_path / "theirs")
    with pytest.raises(ModelFolderError, match="has no language sw; it has de, en, fr, pt"):
        import_checkpoint(str(tmp_path / "theirs"), tmp_path / "ours", write="sw")
    loaded = load_model_folder(
        import_checkpoint(str(tmp_path / "theirs"), tmp_path / "ours", read="de", write="pt")
    )
    assert (loaded.config.source_language, loaded.config.target_language) == ("de", "pt")
    with pytest.raises(UnsupportedLanguageError, match="not 'sw' to 'pt'"):
        loaded.between("sw", None)
    with pytest.raises(UnsupportedLanguageError):
        loaded.between("de", "de")
    assert loaded.between("en-GB", "pt-BR").config.source_language == "en"


def test_a_damaged_vocabulary_is_noticed(checkpoint: Path):
    folder = import_checkpoint(str(checkpoint), checkpoint.with_name("ours"))
    (folder / "vocabulary.json").write_bytes((folder / "vocabulary.json").read_bytes().replace(b"a", b"b", 1))
    with pytest.raises(ModelFolderError, match=r"vocabulary\.json: corrupt"):
        load_model_folder(folder)


def test_float16_stays_float16(checkpoint: Path):
    weights = {name: weight.half() for name, weight in load_file(checkpoint / "model.safetensors").items()}
    save_file(weights, checkpoint / "model.safetensors", metadata={"format": "pt"})
    folder = import_checkpoint(str(checkpoint), checkpoint.with_name("ours"))
    assert {weight.dtype for weight in load_file(folder / "model.safetensors").values()} == {torch.float16}
    assert np.isfinite(load_model_folder(folder).model.output.bias_V.numpy()).all()  # type: ignore[union-attr]

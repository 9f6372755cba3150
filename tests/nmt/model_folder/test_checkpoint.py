"""Model folders: whole or refused."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.testing import assert_close

from nmt.batch import Batch
from nmt.confidence import SENTENCE_FEATURES, WORD_FEATURES, Calibration, LogisticRegression
from nmt.config import GenerationConfig, RnnConfig
from nmt.errors import ModelFolderError, NumericalError
from nmt.model_folder.checkpoint import (
    CALIBRATION,
    FILES,
    MANIFEST,
    WEIGHTS,
    load_model_folder,
    resolve_model,
    save_calibration,
    save_model_folder,
    verify_manifest,
    write_manifest,
)
from nmt.model_folder.files import sha256
from nmt.models.build import build_model
from tests.nmt.conftest import save_tiny_model, tiny_config, tiny_model, train_tokenizer


@pytest.fixture
def folder(tmp_path, tokenizer_file):
    save_tiny_model(tmp_path / "model", tokenizer_file)
    return tmp_path / "model"


def flip_bit(path, position, bit):
    data = bytearray(path.read_bytes())
    data[position] ^= 1 << bit
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
def test_a_loaded_model_gives_the_logits_of_the_saved_one(tmp_path, tokenizer, tokenizer_file, tie):
    config = tiny_config(tokenizer, tie_embeddings=tie)
    model = tiny_model(config)
    save_tiny_model(tmp_path / "model", tokenizer_file, config=config, model=model)
    torch.manual_seed(99)
    loaded = load_model_folder(tmp_path / "model")
    batch = Batch.from_ids([[5, 6, 7], [8]], [[9], [10, 11]], special=tokenizer.special)
    assert torch.equal(loaded.model(batch), model(batch))
    assert loaded.config == config
    assert loaded.generation.beam_size == 3
    assert not loaded.model.training
    assert not any(parameter.requires_grad for parameter in loaded.model.parameters())


@pytest.mark.parametrize("attention", ["additive", "none"])
def test_an_rnn_comes_back_too(tmp_path, tokenizer, tokenizer_file, attention):
    config = tiny_config(tokenizer).model_copy(
        update={
            "model": RnnConfig(
                vocab_size=tokenizer.vocab_size, d_embedding=8, d_hidden=8, attention=attention
            )
        }
    )
    model = build_model(config.model).eval()
    save_tiny_model(tmp_path / "model", tokenizer_file, config=config, model=model)
    batch = Batch.from_ids([[5, 6, 7]], [[9]], special=tokenizer.special)
    assert torch.equal(load_model_folder(tmp_path / "model").model(batch), model(batch))


def test_tied_weights_are_stored_once_and_still_tied_when_loaded(folder, tokenizer):
    loaded = load_model_folder(folder).model
    stored = load_file(folder / WEIGHTS)
    shape = torch.Size([tokenizer.vocab_size, 16])
    assert sum(tensor.shape == shape for tensor in stored.values()) == 1
    pointers = {t.data_ptr() for t in loaded.state_dict().values() if t.shape == shape}
    assert len(pointers) == 1


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_files_are_half_the_size_and_load_as_float32(tmp_path, folder, tokenizer_file, dtype):
    model = save_tiny_model(tmp_path / "half", tokenizer_file, dtype=dtype)
    size, half_size = ((f / WEIGHTS).stat().st_size for f in (folder, tmp_path / "half"))
    assert half_size < 0.65 * size
    loaded = load_model_folder(tmp_path / "half").model
    for name, tensor in loaded.state_dict().items():
        assert tensor.dtype == torch.float32
        assert_close(tensor, model.state_dict()[name], rtol=0.01, atol=1e-3)


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_in_any_file_is_found_and_the_file_named(folder, name):
    size = (folder / name).stat().st_size
    for position, bit in ((0, 0), (size // 2, 3), (size - 1, 7)):
        flip_bit(folder / name, position, bit)
        with pytest.raises(ModelFolderError, match=f"{name}: corrupt"):
            load_model_folder(folder)
        flip_bit(folder / name, position, bit)
    load_model_folder(folder)


def test_any_flipped_bit_of_the_manifest_itself_is_found(folder):
    for position in range(0, (folder / MANIFEST).stat().st_size, 3):
        flip_bit(folder / MANIFEST, position, position % 8)
        with pytest.raises(ModelFolderError):
            verify_manifest(folder)
        flip_bit(folder / MANIFEST, position, position % 8)
    verify_manifest(folder)


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelFolderError, match=f"{name}: "):
        load_model_folder(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_named(folder, name):
    (folder / name).write_bytes((folder / name).read_bytes()[:-1])
    with pytest.raises(ModelFolderError, match=f"{name}: corrupt"):
        load_model_folder(folder)


def test_a_manifest_that_leaves_out_a_file_is_refused(folder):
    lines = (folder / MANIFEST).read_text().splitlines(keepends=True)
    (folder / MANIFEST).write_text("".join(line for line in lines if "card.md" not in line))
    with pytest.raises(ModelFolderError, match=r"does not list card\.md"):
        verify_manifest(folder)


@pytest.mark.parametrize("name", ["../card.md", "/etc/hostname", "a/b"])
def test_a_manifest_may_only_list_files_of_its_folder(folder, name):
    with (folder / MANIFEST).open("a") as file:
        file.write(f"{'0' * 64}  {name}\n")
    with pytest.raises(ModelFolderError, match="damaged"):
        verify_manifest(folder)


def test_unknown_files_are_ignored_at_load_and_kept_when_the_model_is_written_again(folder, tokenizer_file):
    (folder / "notes.txt").write_text("mine")
    load_model_folder(folder)
    save_tiny_model(folder, tokenizer_file, card="# second\n")
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "card.md").read_text() == "# second\n"
    load_model_folder(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_sha256sum_reads_the_manifest(folder):
    subprocess.run(
        ["sha256sum", "--check", "--strict", MANIFEST], cwd=folder, check=True, capture_output=True
    )


class Boobytrap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was executed",))


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(pickle.dumps(Boobytrap())),
        lambda path: torch.save({"weight": torch.zeros(3)}, path),
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        lambda path: path.write_bytes(b""),
    ],
    ids=["pickle", "torch", "truncated", "empty"],
)
def test_weights_that_are_not_safetensors_are_refused_even_with_a_matching_manifest(folder, damage):
    damage(folder / WEIGHTS)
    write_manifest(folder)
    with pytest.raises(ModelFolderError, match=r"model\.safetensors: not a readable safetensors file"):
        load_model_folder(folder)


def test_weights_of_another_shape_are_refused(tmp_path, folder, tokenizer, tokenizer_file):
    config = tiny_config(tokenizer, d_ff=48)
    save_tiny_model(tmp_path / "other", tokenizer_file, config=config, model=tiny_model(config))
    (folder / WEIGHTS).write_bytes((tmp_path / "other" / WEIGHTS).read_bytes())
    write_manifest(folder)
    with pytest.raises(ModelFolderError, match=r"weight \S+ is \[.*48.*\].*config\.json asks for"):
        load_model_folder(folder)


def test_weights_of_another_depth_are_refused_and_a_weight_named(tmp_path, folder, tokenizer, tokenizer_file):
    config = tiny_config(tokenizer, n_decoder_layers=1)
    save_tiny_model(tmp_path / "other", tokenizer_file, config=config, model=tiny_model(config))
    (folder / WEIGHTS).write_bytes((tmp_path / "other" / WEIGHTS).read_bytes())
    write_manifest(folder)
    with pytest.raises(ModelFolderError, match=r"lacks weight decoder_layers\.1\."):
        load_model_folder(folder)


def test_a_tokenizer_of_another_size_is_refused(folder):
    (folder / "tokenizer.model").write_bytes(train_tokenizer(vocab_size=360))
    write_manifest(folder)
    with pytest.raises(ModelFolderError, match=r"tokenizer\.model: 360 pieces.*380"):
        load_model_folder(folder)


def test_a_tokenizer_with_other_special_ids_is_refused(folder):
    (folder / "tokenizer.model").write_bytes(train_tokenizer(pad_id=3, eos_id=0))
    write_manifest(folder)
    with pytest.raises(
        ModelFolderError, match=r"tokenizer\.model: 380 pieces and pad=3 .*of different models"
    ):
        load_model_folder(folder)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("config.json", {"format_version": 2}, "format_version 2; this version of the library reads 1"),
        ("config.json", {"languages": "en"}, "unknown key 'languages'"),
        ("generation.json", {"beamsize": 5}, "unknown key 'beamsize'; did you mean 'beam_size'"),
        ("generation.json", {"beam_size": 0}, "beam_size = 0"),
    ],
)
def test_a_setting_that_cannot_be_read_is_named_with_its_file(folder, name, change, message):
    values = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps({**values, **change}))
    write_manifest(folder)
    with pytest.raises(ModelFolderError, match=f"{name}: .*{message}"):
        load_model_folder(folder)


@pytest.mark.parametrize("text", ["[1]", "{", "\udcff"])
def test_a_configuration_that_is_no_json_object_is_named(folder, text):
    (folder / "config.json").write_text(text, errors="surrogateescape")
    write_manifest(folder)
    with pytest.raises(ModelFolderError, match=r"config\.json: not a JSON object"):
        load_model_folder(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_model_that_is_not_finite_is_not_saved(tmp_path, tokenizer, tokenizer_file, value):
    model = tiny_model(tiny_config(tokenizer))
    next(iter(model.parameters())).view(-1)[3] = value
    with pytest.raises(NumericalError, match="NaN or infinity"):
        save_tiny_model(tmp_path / "model", tokenizer_file, model=model)
    assert not list(tmp_path.iterdir())


def test_weights_too_large_for_float16_are_not_saved(tmp_path, tokenizer, tokenizer_file):
    model = tiny_model(tiny_config(tokenizer))
    next(iter(model.parameters())).view(-1)[3] = 70_000.0
    with pytest.raises(NumericalError, match="float16"):
        save_tiny_model(tmp_path / "model", tokenizer_file, model=model, dtype="float16")


def test_a_failed_write_leaves_the_former_model_and_nothing_else(folder, tmp_path):
    with pytest.raises(ModelFolderError, match=r"no\.model: No such file"):
        save_tiny_model_with_missing_tokenizer(folder, tmp_path / "no.model")
    load_model_folder(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_failure_to_put_the_new_model_in_place_puts_the_former_one_back(
    folder, tmp_path, tokenizer_file, monkeypatch
):
    rename = Path.rename

    def failing(self, target):
        if ".new-" in self.name:
            raise OSError(28, "No space left on device", str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(ModelFolderError, match="No space left on device"):
        save_tiny_model(folder, tokenizer_file, card="# second\n")
    assert (load_model_folder(folder).folder / "card.md").read_text() == "# tiny\n"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def save_tiny_model_with_missing_tokenizer(folder, tokenizer_file):
    loaded = load_model_folder(folder)
    save_model_folder(
        folder,
        config=loaded.config,
        model=loaded.model,
        tokenizer_file=tokenizer_file,
        generation=GenerationConfig(),
        card="",
        scores={},
    )


def test_a_folder_that_is_no_model_folder_is_never_replaced(tmp_path, tokenizer_file):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    with pytest.raises(ModelFolderError, match="not a model folder"):
        save_tiny_model(tmp_path / "thesis", tokenizer_file)
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "years of work"


def test_a_model_is_found_by_path_by_name_and_by_default(tmp_path, monkeypatch, folder):
    shipped = tmp_path / "shipped"
    monkeypatch.setattr("nmt.model_folder.registry.PRETRAINED", shipped)
    with pytest.raises(ModelFolderError, match="no model ships"):
        resolve_model()
    (shipped / "b-model").mkdir(parents=True)
    (shipped / "a-model").mkdir()
    assert resolve_model(folder) == folder
    assert resolve_model(str(folder)) == folder
    assert resolve_model("b-model") == shipped / "b-model"
    assert resolve_model() == shipped / "a-model"
    with pytest.raises(ModelFolderError, match=r"c-model: neither .* \(those are: a-model, b-model\)"):
        resolve_model("c-model")


def test_a_path_that_is_no_folder_is_an_error(tmp_path):
    with pytest.raises(ModelFolderError, match="no such model folder"):
        load_model_folder(tmp_path / "nowhere")


# calibration.json, the one file that may be absent


def calibration_of(folder, **values):
    def regression(features):
        zeros = (0.0,) * len(features)
        ones = (1.0,) * len(features)
        return LogisticRegression(
            features=features, means=zeros, scales=ones, weights=zeros, bias=0.0, good="good"
        )

    return Calibration(
        **{
            "weights_sha256": sha256(folder / WEIGHTS),
            "sentence_model": regression(SENTENCE_FEATURES),
            "word_model": regression(WORD_FEATURES),
            "fitted_on": ("dev",),
            "measured": {},
            **values,
        }
    )


def test_every_file_can_be_read_by_whoever_may_read_a_new_file(tmp_path, tokenizer_file):
    before = os.umask(0o027)
    try:
        save_tiny_model(tmp_path / "model", tokenizer_file)
    finally:
        os.umask(before)
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in (tmp_path / "model").iterdir()}
    assert set(modes.values()) == {"0o640"}, modes


def test_a_calibration_is_added_listed_and_loaded(folder):
    assert load_model_folder(folder).calibration is None
    save_calibration(folder, calibration_of(folder))
    assert load_model_folder(folder).calibration == calibration_of(folder)
    assert CALIBRATION in (folder / MANIFEST).read_text()


@pytest.mark.parametrize("damage", ["flip", "unlist", "remove", "other weights", "unknown key"])
def test_a_damaged_calibration_is_refused_and_named(folder, damage):
    save_calibration(folder, calibration_of(folder))
    path = folder / CALIBRATION
    if damage == "flip":
        flip_bit(path, 40, 1)
    elif damage == "unlist":
        lines = (folder / MANIFEST).read_text().splitlines(keepends=True)
        (folder / MANIFEST).write_text("".join(line for line in lines if CALIBRATION not in line))
    elif damage == "remove":
        path.unlink()
    elif damage == "other weights":
        save_calibration(folder, calibration_of(folder, weights_sha256="0" * 64))
    else:
        path.write_text(json.dumps({**json.loads(path.read_text()), "mystery": 1}))
        write_manifest(folder)
    with pytest.raises(ModelFolderError, match=r"calibration\.json"):
        load_model_folder(folder)


def test_a_new_model_in_the_same_folder_has_no_calibration(folder, tokenizer_file):
    save_calibration(folder, calibration_of(folder))
    save_tiny_model(folder, tokenizer_file)
    assert not (folder / CALIBRATION).exists()
    assert load_model_folder(folder).calibration is None

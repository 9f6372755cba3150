"""An opened model folder: verified at once, its weights read when needed and still what they were."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from nmt.config import GenerationConfig
from nmt.errors import ModelFolderError
from nmt.model_folder import weights
from nmt.model_folder.checkpoint import load_model_folder, save_aligner
from nmt.model_folder.files import sha256
from nmt.model_folder.manifest import ALIGNER, ALIGNER_WEIGHTS, FILES, WEIGHTS, write_manifest
from nmt.model_folder.opened import OpenedModel
from nmt.model_folder.registry import PRETRAINED
from nmt.options import TranslationOptions
from nmt.searchers.cache import checksum
from nmt.translator import Translator
from tests.nmt.alignment.test_folder import tiny_aligner
from tests.nmt.conftest import SENTENCES, save_tiny_model


@pytest.fixture
def folder(tmp_path: Path, tokenizer_file: Path) -> Path:
    save_tiny_model(tmp_path / "model", tokenizer_file)
    save_aligner(tmp_path / "model", tiny_aligner(sha256(tmp_path / "model" / WEIGHTS)))
    return tmp_path / "model"


def test_weights_are_those_of_the_folder_and_no_gradient_or_inference_tensors(folder: Path) -> None:
    opened, loaded = OpenedModel(folder), load_model_folder(folder)

    with torch.inference_mode():
        first, second = opened.model, opened.aligner

    assert second is not None
    assert loaded.aligner is not None
    for ours, theirs in ((first, loaded.model), (second.scorer, loaded.aligner.scorer)):
        assert not ours.training
        for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            assert torch.equal(one, other)
            assert not one.requires_grad
            assert not one.is_inference()


def test_the_checksum_of_the_file_stands_for_the_weights_until_they_are_in_memory(folder: Path) -> None:
    opened = OpenedModel(folder)

    assert opened.unread_sha256 == sha256(folder / WEIGHTS)
    before = checksum(opened)
    opened.model.state_dict()["decoder_norm.weight"].fill_(2)

    assert opened.unread_sha256 is None
    assert checksum(opened) != before
    assert checksum(OpenedModel(folder)) == before
    assert load_model_folder(folder).unread_sha256 is None


def test_threads_that_ask_together_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(weights, "read_model", lambda *a, real=weights.read_model: read.append(1) or real(*a))
    opened = OpenedModel(folder)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: opened.model, range(8)))

    assert len(read) == 1
    assert all(one is found[0] for one in found)


@pytest.mark.parametrize("name", [*FILES, ALIGNER, ALIGNER_WEIGHTS])
def test_what_is_damaged_or_missing_is_an_error_when_the_translator_is_loaded(
    folder: Path, name: str
) -> None:
    path = folder / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ModelFolderError, match=f"{name}: corrupt"):
        Translator.load(folder, device="cpu")
    path.unlink()
    with pytest.raises(ModelFolderError, match=name):
        Translator.load(folder, device="cpu")


def test_a_scorer_without_its_weights_is_refused_when_it_is_opened(folder: Path) -> None:
    (folder / ALIGNER_WEIGHTS).unlink()
    write_manifest(folder)
    with pytest.raises(ModelFolderError, match=rf"{ALIGNER_WEIGHTS}: missing, but {ALIGNER} is there"):
        OpenedModel(folder)


@pytest.mark.parametrize("change", ["other bytes", "removed"])
def test_weights_that_changed_after_they_were_verified_are_refused(folder: Path, change: str) -> None:
    opened = OpenedModel(folder)
    for name in (WEIGHTS, ALIGNER_WEIGHTS):
        if change == "removed":
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(b"\0" + (folder / name).read_bytes()[1:])

    with pytest.raises(ModelFolderError, match=rf"{WEIGHTS}: changed or removed since .*; load it again"):
        _ = opened.model
    with pytest.raises(ModelFolderError, match=rf"{ALIGNER_WEIGHTS}: changed or removed"):
        _ = opened.aligner


def test_weights_of_another_shape_are_refused_when_the_translator_is_loaded(folder: Path) -> None:
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"d_ff": 32', '"d_ff": 48'))
    write_manifest(folder)
    with pytest.raises(ModelFolderError, match=r"weight .* is \[16, 32\], config.json asks for \[16, 48\]"):
        Translator.load(folder, device="cpu")


@pytest.fixture
def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model that ships, in a folder of its own; its export is in the cache."""
    monkeypatch.setenv("PASSERELLE_CACHE", str(tmp_path / "cache"))
    folder = shutil.copytree(PRETRAINED / "general", tmp_path / "general")
    Translator.load(folder, device="cpu")
    return folder


def test_translations_are_the_same_from_weights_read_now_later_and_never(exported: Path) -> None:
    texts = [SENTENCES[0], "See you on 3 May at 10:30!", "Wait for {name}."]
    opened, with_links = OpenedModel(exported), TranslationOptions(alignment="heads")
    now, later = Translator(load_model_folder(exported)), Translator(opened)

    plain = later.translate(texts)

    assert opened.unread_sha256 is not None
    assert plain == now.translate(texts)
    assert later.translate(texts, with_links) == now.translate(texts, with_links)
    assert opened.unread_sha256 is None


def test_after_warming_up_no_file_is_read(exported: Path) -> None:
    translator = Translator.load(exported, device="cpu")
    translator.warm_up()
    shutil.rmtree(exported)
    options = TranslationOptions(alignment="heads", generation=GenerationConfig(coverage_penalty=0.2))
    (found,) = translator.translate(SENTENCES[:1], options)
    assert found.sentences[0].heads
    assert found.links

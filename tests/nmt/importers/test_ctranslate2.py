"""Folders of CTranslate2, made by its own converter from a checkpoint of transformers or of Marian."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from ctranslate2.converters import MarianConverter, TransformersConverter

from nmt.batch import Batch
from nmt.errors import ModelFolderError
from nmt.importers.read import import_checkpoint
from nmt.model_folder.checkpoint import LoadedModel, load_model_folder
from nmt.pipeline.requests import Search
from nmt.searchers.step import StepSearcher
from tests.nmt.importers.checkpoints import make_marian, make_multilingual
from tests.nmt.importers.test_exactness import random_sources
from tests.nmt.importers.test_marian import write_marian

FILES = ["source.spm", "target.spm", "tokenizer_config.json"]


def convert(original: Path, out: Path, quantization: str | None = None) -> None:
    TransformersConverter(str(original), copy_files=FILES).convert(str(out), quantization=quantization)


def imported(folder: Path, **languages: str) -> LoadedModel:
    out = folder.with_name(f"{folder.name}-ours")
    return load_model_folder(import_checkpoint(str(folder), out, **languages))


@torch.inference_mode()
def log_probs_without_pad(loaded: LoadedModel, n: int = 20) -> torch.Tensor:
    """Of random pairs; CTranslate2 has no ``<pad>``, so its share is left out."""
    special = loaded.config.special_ids
    sources = random_sources(loaded, n)
    targets = [[id_ % 115 + 4 for id_ in source[::-1]] for source in sources]
    batch = Batch.from_ids(sources, targets, special=special)
    logits = loaded.model(batch)[..., : special.pad]
    return logits.log_softmax(dim=-1)[batch.target_mask_BT]


@pytest.mark.parametrize(
    "config",
    [{}, {"activation_function": "relu", "scale_embedding": False}, {"activation_function": "gelu"}],
    ids=["swish", "relu", "gelu"],
)
def test_log_probabilities_are_those_of_the_original(config: dict[str, Any], tmp_path: Path):
    make_marian(tmp_path / "theirs", **config)
    convert(tmp_path / "theirs", tmp_path / "converted")
    direct, ours = imported(tmp_path / "theirs"), imported(tmp_path / "converted")
    assert ours.config.model.model_dump(exclude={"vocab_size"}) == direct.config.model.model_dump(
        exclude={"vocab_size"}
    )
    assert (ours.config.source_language, ours.config.target_language) == ("en", "fr")
    assert ours.source_tokenizer.encode("Where is the station?") == direct.source_tokenizer.encode(
        "Where is the station?"
    )
    torch.testing.assert_close(log_probs_without_pad(ours), log_probs_without_pad(direct), atol=1e-4, rtol=0)


@pytest.mark.parametrize("quantization", ["float16", "bfloat16", "int8", "int8_float16", "int16"])
def test_weights_are_within_a_rounding_of_the_original(quantization: str, tmp_path: Path):
    """A quantised weight is off by half a step of its row at most, and the card says so."""
    make_marian(tmp_path / "theirs")
    convert(tmp_path / "theirs", tmp_path / "converted", quantization)
    direct, ours = imported(tmp_path / "theirs"), imported(tmp_path / "converted")
    card = (ours.folder / "card.md").read_text()
    assert ("Inexact" in card) == quantization.startswith("int")
    steps = {"int8": 127.0, "int8_float16": 127.0, "int16": 2.0**10, "float16": 2.0**10, "bfloat16": 2.0**7}
    others = direct.model.state_dict()
    largest = max(other.abs().amax() for other in others.values() if other.dim() > 1)
    n_changed = 0
    for name, weight in ours.model.state_dict().items():
        if weight.dim() < 2 or name.startswith("positions"):
            continue
        other = others[name]
        # int16 has one scale for query, key and value together
        step = (largest if quantization == "int16" else other.abs().amax()) / steps[quantization]
        assert float((weight - other).abs().max()) <= float(step) * 0.51, name
        n_changed += int(not torch.equal(weight, other))
    assert n_changed > 10


def test_what_marian_wrote_and_ctranslate2_converted(tmp_path: Path):
    """Two vocabularies; its converter computes Hugging Face's positions where Marian has its own."""
    write_marian(tmp_path / "theirs", joint=False, **{"transformer-no-projection": False} | MARIAN)
    names = ["source.vocab.yml", "target.vocab.yml"]
    out = tmp_path / "converted"
    converter = MarianConverter(
        str(tmp_path / "theirs" / "model.npz"), [str(tmp_path / "theirs" / name) for name in names]
    )
    converter.convert(str(out))
    for name in ("source.spm", "target.spm"):
        shutil.copy(tmp_path / "theirs" / name, out)
    direct, ours = (imported(folder, read="en", write="fr") for folder in (tmp_path / "theirs", out))
    assert ours.config.special_ids == direct.config.special_ids
    kinds = [getattr(loaded.config.model, "positions", None) for loaded in (ours, direct)]
    assert kinds == ["sinusoidal_halves", "sinusoidal_tensor2tensor"]
    assert ours.tokenizer.pieces == direct.tokenizer.pieces
    assert ours.source_tokenizer.pieces == direct.source_tokenizer.pieces
    same = direct.model.state_dict()
    assert all(torch.equal(weight, same[name]) for name, weight in ours.model.state_dict().items())


MARIAN: dict[str, Any] = {"transformer-guided-alignment-layer": "last", "transformer-postprocess-emb": "d"}


def test_a_translation_is_that_of_ctranslate2_itself(tmp_path: Path):
    import ctranslate2

    make_marian(tmp_path / "theirs")
    convert(tmp_path / "theirs", tmp_path / "converted")
    ours = imported(tmp_path / "converted")
    theirs = ctranslate2.Translator(str(tmp_path / "converted"), device="cpu", compute_type="float32")
    sources = random_sources(ours, 40)
    pieces = [[*(ours.tokenizer.pieces[id_] for id_ in source), "</s>"] for source in sources]
    expected = theirs.translate_batch(pieces, beam_size=1, min_decoding_length=0, max_decoding_length=12)
    options = ours.generation.model_copy(
        update={"beam_size": 1, "max_length_ratio": 1e-6, "max_length_offset": 11, "repair_loops": False}
    )
    searcher = StepSearcher(ours.model, ours.config.special_ids)
    found = searcher.search([Search(tuple(source), options) for source in sources], max_batch_tokens=4096)
    written = [[ours.tokenizer.pieces[id_] for id_ in best.tokens] for best, *_ in found]
    same = sum(one.hypotheses[0][:11] == two[:11] for one, two in zip(expected, written, strict=True))
    assert same >= 38


def test_half_a_file_is_told(tmp_path: Path):
    make_marian(tmp_path / "theirs")
    convert(tmp_path / "theirs", tmp_path / "converted")
    path = tmp_path / "converted" / "model.bin"
    whole = path.read_bytes()
    for content in (whole[:3], whole[:50_000], whole[:-1], whole + b"more"):
        path.write_bytes(content)
        with pytest.raises(ModelFolderError, match=r"model\.bin: no model of CTranslate2, or half of one"):
            import_checkpoint(str(tmp_path / "converted"), tmp_path / "ours")
        assert not (tmp_path / "ours").exists()
    path.write_bytes(b"\x09" + whole[1:])
    with pytest.raises(ModelFolderError, match="version 9 of CTranslate2's format; 4 to 6"):
        import_checkpoint(str(tmp_path / "converted"), tmp_path / "ours")


def test_what_is_missing_or_does_not_fit_is_named(tmp_path: Path):
    make_marian(tmp_path / "theirs")
    convert(tmp_path / "theirs", tmp_path / "converted")
    vocabulary = tmp_path / "converted" / "shared_vocabulary.json"
    text = vocabulary.read_text()
    vocabulary.unlink()
    with pytest.raises(ModelFolderError, match=r"neither shared_vocabulary\.json nor source_vocabulary"):
        import_checkpoint(str(tmp_path / "converted"), tmp_path / "ours")
    vocabulary.write_text(text.replace("]", ', "more"]'))
    with pytest.raises(
        ModelFolderError, match="its embeddings do not fit vocabularies of 165 and 165 pieces"
    ):
        import_checkpoint(str(tmp_path / "converted"), tmp_path / "ours")
    vocabulary.write_text(text)
    (tmp_path / "converted" / "source.spm").unlink()
    with pytest.raises(ModelFolderError, match=r"source\.spm: missing"):
        import_checkpoint(str(tmp_path / "converted"), tmp_path / "ours")


def test_a_model_that_is_not_of_marian_is_refused(tmp_path: Path):
    from nmt.export.ctranslate2 import export_ctranslate2

    make_multilingual(tmp_path / "theirs")
    loaded = load_model_folder(import_checkpoint(str(tmp_path / "theirs"), tmp_path / "ours"))
    (tmp_path / "converted").mkdir()
    export_ctranslate2(loaded, tmp_path / "converted")
    with pytest.raises(
        ModelFolderError, match=r"no model of Marian .* of M2M-100 and NLLB import the original"
    ):
        import_checkpoint(str(tmp_path / "converted"), tmp_path / "again", read="en", write="fr")

"""An imported tokenizer gives the ids that transformers gives, and texts back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import M2M100Tokenizer, MarianTokenizer

from nmt.importers.read import import_checkpoint
from nmt.model_folder.checkpoint import LoadedModel, load_model_folder
from nmt.pipeline.requests import Search
from tests.nmt.conftest import SENTENCES
from tests.nmt.importers.checkpoints import make_marian, make_multilingual

TEXTS = [*SENTENCES, "Héllo ☃ wörld", "x", "3.5 % of €1,000", "  two   spaces ", "ÀÉÎ 東京"]


def imported(folder: Path) -> LoadedModel:
    return load_model_folder(import_checkpoint(str(folder), folder.with_name("ours")))


@pytest.mark.parametrize("separate", [False, True])
def test_marian_ids_and_texts(separate: bool, tmp_path: Path):
    make_marian(tmp_path / "theirs", separate=separate)
    original: Any = MarianTokenizer.from_pretrained(tmp_path / "theirs")
    loaded = imported(tmp_path / "theirs")
    for text in TEXTS:
        expected = original(text).input_ids
        assert [*loaded.source_tokenizer.encode(text), loaded.config.special_ids.eos] == expected
        written = original(text_target=text).input_ids
        assert [*loaded.tokenizer.encode(text), loaded.config.special_ids.eos] == written
        if loaded.config.special_ids.unk not in written:
            assert loaded.tokenizer.decode(written) == original.decode(written, skip_special_tokens=True)


def test_pieces_of_the_source_in_a_translation_are_spelt_out(tmp_path: Path):
    make_marian(tmp_path / "theirs")
    loaded = imported(tmp_path / "theirs")
    original: Any = MarianTokenizer.from_pretrained(tmp_path / "theirs")
    n = len(loaded.tokenizer.pieces) - 1
    for id_ in range(2, n):
        text, pieces = loaded.tokenizer.decode_pieces([id_, id_])
        assert text == original.decode([id_, id_])
        assert "".join(text[piece.start : piece.end] for piece in pieces) == text.replace(" ", "")


def test_a_model_of_several_targets_reads_the_language_first(tmp_path: Path):
    make_marian(tmp_path / "theirs", targets=["fra", "deu", "xyz_nonsense"])
    original: Any = MarianTokenizer.from_pretrained(tmp_path / "theirs")
    loaded = imported(tmp_path / "theirs")
    assert (loaded.config.source_language, loaded.config.target_language) == ("en", "fr")
    assert loaded.config.language_pieces is not None
    assert set(loaded.config.language_pieces.target) == {"fr", "de"}
    german = loaded.between("en", "de")
    assert german.model is loaded.model
    for text in TEXTS[:5]:
        assert [*loaded.source_tokenizer.encode(text), 0] == original(f">>fra<< {text}").input_ids
        assert [*german.source_tokenizer.encode(text), 0] == original(f">>deu<< {text}").input_ids


def test_m2m_100_ids(tmp_path: Path):
    make_multilingual(tmp_path / "theirs")
    original: Any = M2M100Tokenizer(
        str(tmp_path / "theirs" / "vocab.json"), str(tmp_path / "theirs" / "sentencepiece.bpe.model")
    )
    loaded = imported(tmp_path / "theirs")
    assert loaded.source_tokenizer.pieces[loaded.source_tokenizer.prefix[0]] == "__en__"
    assert loaded.tokenizer.pieces[loaded.config.special_ids.bos] == "__fr__"
    for text in TEXTS:
        expected = original(text, add_special_tokens=False).input_ids
        expected = expected[1:] if expected[:1] == [original.get_lang_id("en")] else expected
        assert loaded.source_tokenizer.subwords(text) == expected
    portuguese = loaded.between("de", "pt")
    assert portuguese.source_tokenizer.pieces[portuguese.source_tokenizer.prefix[0]] == "__de__"
    assert portuguese.tokenizer.pieces[portuguese.config.special_ids.bos] == "__pt__"


def test_nllb_pieces_are_in_fairseqs_order(tmp_path: Path):
    make_multilingual(tmp_path / "theirs", nllb=True)
    loaded = imported(tmp_path / "theirs")
    assert loaded.tokenizer.pieces[:4] == ["<s>", "<pad>", "</s>", "<unk>"]
    assert loaded.tokenizer.pieces[-5:] == ["deu_Latn", "eng_Latn", "fra_Latn", "por_Latn", "<mask>"]
    assert loaded.config.special_ids.model_dump(exclude={"bos", "source_pad"}) == {
        "pad": 1,
        "unk": 3,
        "eos": 2,
    }
    text, _ = loaded.tokenizer.decode_pieces(loaded.tokenizer.encode("Where is the train station, please?"))
    assert text == "Where is the train station, please?"


def test_a_search_never_writes_a_language(tmp_path: Path):
    """The piece of the language that begins the decoder is forbidden after it."""
    from nmt.searchers.step import StepSearcher

    make_multilingual(tmp_path / "theirs")
    loaded = imported(tmp_path / "theirs")
    searches = [Search(tuple(loaded.source_tokenizer.encode(text)), loaded.generation) for text in SENTENCES]
    found = StepSearcher(loaded.model, loaded.config.special_ids).search(searches, max_batch_tokens=4096)
    assert all(loaded.config.special_ids.bos not in best.tokens for best, *_ in found)

"""An imported tokenizer gives the ids that transformers gives, and texts back."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from transformers import M2M100Tokenizer, MarianTokenizer, NllbTokenizer

from nmt.config import SpecialIds
from nmt.errors import ModelFolderError
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


MIXED = [
    *SENTENCES[:6],
    "Der Zug fährt heute um 17:45 Uhr ab.",
    "Сегодня идёт дождь, и мы остались дома.",
    "Где находится железнодорожный вокзал?",
    "Πού είναι ο σταθμός του τρένου;",
    "أين تقع محطة القطار من فضلك؟",
    "ذهب الأولاد إلى المدرسة في الصباح.",
    "איפה תחנת הרכבת, בבקשה?",
    "रेलवे स्टेशन कहाँ है?",
    "बच्चे सुबह स्कूल जाते हैं।",
    "火车站在哪里？",
    "两个年轻人在公园里踢足球。",
    "二〇二六年一月、東京へ行きました。",
    "駅はどこですか。",
    "สถานีรถไฟอยู่ที่ไหน",
    "เด็กผู้หญิงกำลังกินไอศกรีม",
    "기차역이 어디에 있습니까?",
    "ከተማው የት ነው?",
]
"""Sentences of several scripts, from which a SentencePiece model of NLLB's kind is learnt."""
ODD = ["x", "3.5 % of €1,000", "ＡＢＣ１２３", "ﬁnal ½", "Ω≈ç√", "☃ and 🎉🎉", "١٢٣", "a\u200bb", "ñ ñ"]


def lines_of_several_scripts() -> list[str]:
    """200: each sentence, pairs of them in one line, and signs that the model has and has not."""
    both = list(itertools.permutations(MIXED, 2))
    joined = [f"{first} {second}" for first, second in both[::5]][:100]
    glued = [f"{first}{second}" for first, second in both[2::5]][: 200 - len(MIXED) - 100 - len(ODD)]
    return [*MIXED, *joined, *glued, *ODD]


def make_nllb_tokenizer(folder: Path) -> list[str]:
    """Give a checkpoint of NLLB's kind a model of several scripts; returns its pieces but for three marks."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(MIXED),
        model_writer=written,
        model_type="bpe",
        vocab_size=420,
        character_coverage=0.995,
        normalization_rule_name="nmt_nfkc",
        pad_id=-1,
        unk_id=0,
        bos_id=1,
        eos_id=2,
        minloglevel=2,
        num_threads=1,
    )
    (folder / "sentencepiece.bpe.model").write_bytes(written.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    return [processor.id_to_piece(id_) for id_ in range(3, processor.get_piece_size())]


CODES = ["deu_Latn", "jpn_Jpan", "eng_Latn", "arb_Arab", "zho_Hans", "zho_Hant", "fra_Latn"]


def test_nllb_ids_of_lines_in_several_scripts(tmp_path: Path):
    """Spaces, scripts without them, right to left, full-width forms and what no piece spells."""
    from nmt.importers.huggingface_tokenizer import multilingual_tokenizer
    from nmt.tokenizer import Tokenizer, Vocabulary

    theirs = make_nllb_tokenizer(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "NllbTokenizer", "additional_special_tokens": CODES})
    )
    original: Any = NllbTokenizer.from_pretrained(tmp_path, extra_special_tokens=CODES)
    files = multilingual_tokenizer(tmp_path, "en", "zh-Hant")
    assert files.language_pieces is not None
    assert files.language_pieces.source == dict(
        zip(["de", "ja", "en", "ar", "zh-Hans", "zh-Hant", "fr"], CODES, strict=True)
    )
    assert files.pieces == ("<s>", "<pad>", "</s>", "<unk>", *theirs, *CODES, "<mask>")
    special = SpecialIds(pad=1, unk=files.unk, bos=files.bos, eos=2)
    vocabulary = Vocabulary(files.pieces, special, frozenset(files.control))
    lines = lines_of_several_scripts()
    assert len(lines) == len(set(lines)) == 200
    n_first, first_of_theirs = len(theirs) + 4, original.convert_tokens_to_ids(CODES)
    for place, code in enumerate(CODES[:3]):
        original.src_lang = code
        ours = Tokenizer.load(files.file, vocabulary, (n_first + place,))
        for line in lines:
            language, *expected, end = original(line).input_ids
            assert (language, end) == (first_of_theirs[place], 2), "the language first, </s> last"
            assert ours.encode(line) == [n_first + place, *expected], line
    assert any(files.unk in ours.subwords(line) for line in lines)
    # The order of the languages is fairseq's, in the real NLLB-200 too: after the pieces, before <mask>.
    assert [id_ - first_of_theirs[0] for id_ in first_of_theirs] == list(range(len(CODES)))


def test_a_model_that_has_the_language_after_the_source_is_refused(tmp_path: Path):
    """``legacy_behaviour``: ``source </s> language`` in the place of ``language source </s>``."""
    make_multilingual(tmp_path / "theirs", nllb=True)
    path = tmp_path / "theirs" / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"legacy_behaviour": True}))
    with pytest.raises(ModelFolderError, match="legacy_behaviour puts the language after the source"):
        imported(tmp_path / "theirs")


def test_punctuation_is_read_as_their_tokenizer_reads_it(tmp_path: Path):
    """It has a normaliser of Moses', which it never calls, so typographic signs stay as they are."""
    make_marian(tmp_path / "theirs")
    original: Any = MarianTokenizer.from_pretrained(tmp_path / "theirs", source_lang="en", target_lang="fr")
    loaded = imported(tmp_path / "theirs")
    changed = 0
    for text in ("“Yes”, he said…", "It’s «here» – now", "a—b ‚c‘ 5 000", "100 % ; oui ?"):
        changed += original.normalize(text) != text
        assert [*loaded.source_tokenizer.encode(text), 0] == original(text).input_ids
    assert changed >= 3, "sacremoses is installed and would change them"


def test_typographic_signs_that_the_vocabulary_lacks_are_read_as_plain_ones(tmp_path: Path):
    from nmt.translator import Translator

    make_marian(tmp_path / "theirs")
    loaded = imported(tmp_path / "theirs")
    assert not loaded.source_tokenizer.knows("“")
    translator = Translator(loaded, engine="eager")
    typographic, plain = (
        translator.plan([text])[0].source_ids for text in ("It’s here – “now”.", 'It\'s here - "now".')
    )
    assert typographic == plain


def test_a_search_never_writes_a_language(tmp_path: Path):
    """The piece of the language that begins the decoder is forbidden after it."""
    from nmt.searchers.step import StepSearcher

    make_multilingual(tmp_path / "theirs")
    loaded = imported(tmp_path / "theirs")
    searches = [Search(tuple(loaded.source_tokenizer.encode(text)), loaded.generation) for text in SENTENCES]
    found = StepSearcher(loaded.model, loaded.config.special_ids).search(searches, max_batch_tokens=4096)
    assert all(loaded.config.special_ids.bos not in best.tokens for best, *_ in found)

"""The tokenizer: round trips, and spans that point at the right characters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.config import SpecialIds
from nmt.errors import InputError, ModelFolderError
from nmt.tokenizer import Tokenizer, refuse_lone_surrogates, seed_sampling
from tests.nmt.conftest import SENTENCES, train_tokenizer

TOKENIZERS = {
    "bpe": Tokenizer(train_tokenizer("bpe")),
    "unigram": Tokenizer(train_tokenizer("unigram", 330)),
    "identity": Tokenizer(train_tokenizer("bpe", normalization_rule_name="identity")),
}

texts = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=40),
    st.text("ab l'é😀½ﬁ…œ\u00a0\u202f\u3000 \t\u0301▁中", max_size=30),
)


@pytest.fixture(params=sorted(TOKENIZERS))
def any_tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return TOKENIZERS[request.param]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_decoding_an_encoded_sentence_gives_the_sentence(any_tokenizer, sentence):
    assert any_tokenizer.decode(any_tokenizer.encode(sentence)) == sentence


def test_characters_never_seen_in_training_survive_as_bytes(any_tokenizer):
    assert any_tokenizer.decode(any_tokenizer.encode("中文 😀 Ж")) == "中文 😀 Ж"
    assert any_tokenizer.special.unk not in any_tokenizer.encode("中文 😀 Ж")


def test_special_ids_are_those_of_the_project_and_are_never_encoded(any_tokenizer):
    assert any_tokenizer.special == SpecialIds(pad=0, unk=1, bos=2, eos=3)
    ids = any_tokenizer.encode("<s> <pad> </s> <unk>")
    assert not set(ids) & {0, 1, 2, 3}


def test_encode_batch_is_encode_of_each(any_tokenizer):
    assert any_tokenizer.encode_batch(["", *SENTENCES]) == [[], *map(any_tokenizer.encode, SENTENCES)]


def test_spans_of_a_french_sentence_by_hand(tokenizer):
    text = "  L'homme  est à côté."
    covered = {text[piece.start : piece.end] for piece in tokenizer.encode_pieces(text)}
    assert all(part == part.strip() for part in covered)
    assert "".join(text[p.start : p.end] for p in tokenizer.encode_pieces(text)) == "L'hommeestàcôté."


def test_bytes_of_one_character_share_its_span(tokenizer):
    text, pieces = tokenizer.decode_pieces(tokenizer.encode("a 😀 b"))
    assert text == "a 😀 b"
    emoji = [piece for piece in pieces if piece.text.startswith("<0x")]
    assert len(emoji) == 4
    assert {(piece.start, piece.end) for piece in emoji} == {(2, 3)}
    source = [piece for piece in tokenizer.encode_pieces("a 😀 b") if piece.text.startswith("<0x")]
    assert {(piece.start, piece.end) for piece in source} == {(2, 3)}


def test_a_bare_word_start_and_special_ids_have_empty_spans(tokenizer):
    for text, pieces in (
        ("中", tokenizer.encode_pieces("中")),
        tokenizer.decode_pieces(tokenizer.encode("中")),
    ):
        assert text == "中"
        assert [(piece.start, piece.end) for piece in pieces] == [(0, 0), (0, 1), (0, 1), (0, 1)]
    text, pieces = tokenizer.decode_pieces([2, *tokenizer.encode("chat"), 3, 0])
    assert text == "chat"
    assert [(pieces[i].start, pieces[i].end) for i in (0, -2, -1)] == [(0, 0), (4, 4), (4, 4)]


def test_pieces_made_of_one_character_by_normalisation_share_its_span(tokenizer):
    pieces = tokenizer.encode_pieces("x ½ y")
    assert all((piece.start, piece.end) == (2, 3) for piece in pieces if 2 <= piece.start < 3 < piece.end + 1)
    assert sum((piece.start, piece.end) == (2, 3) for piece in pieces) >= 3


@pytest.mark.parametrize("name", sorted(TOKENIZERS))
@given(text=texts)
def test_encode_pieces_has_the_ids_of_encode_and_ordered_spans(name, text):
    tokenizer = TOKENIZERS[name]
    pieces = tokenizer.encode_pieces(text)
    assert [piece.id for piece in pieces] == tokenizer.encode(text)
    assert all(0 <= piece.start <= piece.end <= len(text) for piece in pieces)
    assert [p.start for p in pieces] == sorted(p.start for p in pieces)
    assert [p.end for p in pieces] == sorted(p.end for p in pieces)


@pytest.mark.parametrize("name", sorted(TOKENIZERS))
@given(text=texts)
def test_encode_spans_cover_every_character_that_normalisation_keeps(name, text):
    tokenizer = TOKENIZERS[name]
    covered = {i for piece in tokenizer.encode_pieces(text) for i in range(piece.start, piece.end)}
    for i, character in enumerate(text):
        if character.isalnum() and unicodedata.category(character) in ("Ll", "Lu", "Nd"):
            assert i in covered


@pytest.mark.parametrize("name", sorted(TOKENIZERS))
@given(data=st.data())
def test_decoded_spans_tile_the_characters_of_any_ids(name, data):
    tokenizer = TOKENIZERS[name]
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=20))
    text, pieces = tokenizer.decode_pieces(ids)
    assert text == tokenizer.decode(ids)
    assert [piece.id for piece in pieces] == ids
    owners: dict[int, set[tuple[int, int]]] = {}
    for piece in pieces:
        assert text[piece.start : piece.end] == text[piece.start : piece.end].strip()
        for i in range(piece.start, piece.end):
            owners.setdefault(i, set()).add((piece.start, piece.end))
    for i, character in enumerate(text):
        assert character.isspace() or len(owners[i]) == 1
    assert [p.start for p in pieces] == sorted(p.start for p in pieces)


def test_sampling_varies_keeps_the_text_and_follows_its_seed(tokenizer):
    text = SENTENCES[1]
    seed_sampling(1)
    first = [tokenizer.sample(text, alpha=0.3) for _ in range(8)]
    seed_sampling(1)
    again = [tokenizer.sample(text, alpha=0.3) for _ in range(8)]
    assert first == again
    assert len({tuple(ids) for ids in first}) > 3
    assert {tokenizer.decode(ids) for ids in first} == {text}


def test_bpe_sampling_with_alpha_zero_is_encode(tokenizer):
    assert tokenizer.sample(SENTENCES[3], alpha=0.0) == tokenizer.encode(SENTENCES[3])


def test_a_lone_surrogate_is_refused_by_position_and_the_text_is_not_repeated(tokenizer):
    for call in (tokenizer.encode, tokenizer.encode_pieces, refuse_lone_surrogates):
        with pytest.raises(InputError, match=r"character 7 .*U\+D800") as caught:
            call("secret \ud800!")
        assert "secret" not in str(caught.value)
    with pytest.raises(InputError):
        tokenizer.encode_batch(["fine", "\udfff"])


def test_an_id_outside_the_vocabulary_is_an_error(tokenizer):
    for bad in (-1, tokenizer.vocab_size):
        with pytest.raises(ValueError, match=f"id {bad} "):
            tokenizer.decode([5, bad])
        with pytest.raises(ValueError, match=f"id {bad} "):
            tokenizer.decode_pieces([5, bad])


def test_a_missing_or_broken_file_is_named(tmp_path, tokenizer_file):
    with pytest.raises(ModelFolderError, match=r"nowhere\.model: No such file"):
        Tokenizer.load(tmp_path / "nowhere.model")
    broken = tmp_path / "broken.model"
    broken.write_bytes(tokenizer_file.read_bytes()[:100])
    with pytest.raises(ModelFolderError, match=r"broken\.model: not a SentencePiece model"):
        Tokenizer.load(broken)
    broken.write_bytes(b"")
    with pytest.raises(ModelFolderError, match=r"broken\.model"):
        Tokenizer.load(broken)


def test_a_model_without_padding_is_refused():
    with pytest.raises(ModelFolderError, match="no pad piece"):
        Tokenizer(train_tokenizer(pad_id=-1, unk_id=0, bos_id=1, eos_id=2))


def test_a_piece_has_an_id_only_if_the_vocabulary_has_it(tokenizer):
    assert tokenizer.piece_id("</s>") == tokenizer.special.eos
    assert tokenizer.piece_id("<unk>") == tokenizer.special.unk
    assert tokenizer.piece_id("⟦0⟧") is None

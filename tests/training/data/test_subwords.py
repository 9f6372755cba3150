"""Sub-word training: reproducible, complete (any text has an encoding), clear about sizes that cannot be."""

import pytest

from nmt.config import SpecialIds
from nmt.errors import DataError
from nmt.tokenizer import Tokenizer
from testbed.corpora import PAIRS
from training.data.subwords import sample, train_subwords
from training.recipe import TokenizerConfig

SENTENCES = [*(side for pair in PAIRS for side in pair), *["It was in 2024."] * 200]


def train(**config: object) -> bytes:
    options = {"vocab_size": 315, **config}
    return train_subwords(SENTENCES, len(SENTENCES), TokenizerConfig(**options))


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def test_both_kinds_have_the_ids_and_the_size_asked_for(kind: str):
    tokenizer = Tokenizer(train(type=kind))
    assert tokenizer.special == SpecialIds(pad=0, unk=1, bos=2, eos=3)
    assert tokenizer.vocab_size == 315


def test_any_text_comes_back_from_its_ids_and_none_is_unknown(kind: str):
    tokenizer = Tokenizer(train(type=kind))
    for text in ("L'homme voit deux livres.", "完全に未知 ñ 🙂", "x"):
        ids = tokenizer.encode(text)
        assert tokenizer.special.unk not in ids
        assert tokenizer.decode(ids) == text


def test_training_twice_gives_the_same_bytes(kind: str):
    assert train(type=kind) == train(type=kind)


def test_digits_stand_alone_and_a_symbol_of_the_recipe_is_one_piece():
    tokenizer = Tokenizer(train(user_defined_symbols=("<sep>",)))
    pieces = [piece.text for piece in tokenizer.encode_pieces("2024<sep>")]
    assert pieces[-5:] == ["2", "0", "2", "4", "<sep>"]
    whole = Tokenizer(train(split_digits=False)).encode_pieces("2024")
    assert len(whole) < 4


def test_the_normalisation_asked_for_is_the_models_own():
    full_width = "\uff21"
    assert Tokenizer(train()).decode(Tokenizer(train()).encode(full_width)) == "A"
    as_is = Tokenizer(train(normalization="identity"))
    assert as_is.decode(as_is.encode(full_width)) == full_width


def test_a_vocabulary_larger_than_the_text_can_fill_is_told_the_limit(kind: str):
    with pytest.raises(
        DataError, match=r"tokenizer.vocab_size 9000 is more than 360 sentences can fill; the limit is \d+"
    ):
        train(type=kind, vocab_size=9000)


def test_a_vocabulary_smaller_than_its_characters_is_told_to_grow(kind: str):
    letters = ["".join(map(chr, range(0x4E00, 0x4E00 + 100)))] * 3
    with pytest.raises(DataError, match=r"tokenizer.vocab_size 300 is less than .* set it higher"):
        train_subwords(letters, 3, TokenizerConfig(type=kind, vocab_size=300, character_coverage=1.0))


def test_the_choice_of_sentences_is_of_the_size_asked_in_order_and_of_the_seed():
    sentences = [f"{number:04}" for number in range(1000)]
    chosen = list(sample(sentences, 1000, 100, seed=1))
    assert len(chosen) == 100
    assert chosen == sorted(set(chosen))
    assert chosen == list(sample(sentences, 1000, 100, seed=1)) != list(sample(sentences, 1000, 100, seed=2))
    assert 350 < sum(map(int, chosen)) / 100 < 650
    assert list(sample(sentences, 1000, 5000, seed=1)) == sentences

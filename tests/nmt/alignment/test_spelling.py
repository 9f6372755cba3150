"""Numbers for how pieces are spelt."""

from __future__ import annotations

from nmt.alignment.spelling import spelling_tables


def test_equal_letters_have_equal_numbers_whatever_their_case_and_accents(tokenizer):
    spelling_V, stem_V = spelling_tables(tokenizer)
    assert spelling_V.shape == stem_V.shape == (tokenizer.vocab_size,)
    texts = [tokenizer.decode([id_]) for id_ in range(tokenizer.vocab_size)]
    number = {text.strip(): int(spelling_V[id_]) for id_, text in enumerate(texts)}
    assert number["a"] == number["à"] == number["A"] > 0
    assert number["e"] == number["ê"] != number["a"]
    assert number["."] > 0


def test_what_is_not_spelt_or_has_few_letters_has_number_zero(tokenizer):
    spelling_V, stem_V = spelling_tables(tokenizer)
    texts = [tokenizer.decode([id_]).strip() for id_ in range(tokenizer.vocab_size)]
    for id_, text in enumerate(texts):
        assert (int(spelling_V[id_]) == 0) == (text in {"", "\ufffd"}), text
        if len(text) < 4:
            assert int(stem_V[id_]) == 0


def test_equal_beginnings_have_equal_numbers():
    class Words:
        vocab_size = 5

        def decode(self, ids):
            return ["nation", "National", "natte", "été", "Étés"][ids[0]]

    _, stem_V = spelling_tables(Words())
    assert stem_V.tolist() == [1, 1, 2, 0, 3]

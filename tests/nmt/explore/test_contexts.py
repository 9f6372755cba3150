"""A word's vectors in several sentences."""

from __future__ import annotations

import pytest
import torch

from nmt.errors import InputError
from nmt.explore.contexts import word_in_contexts
from nmt.models.transformer import Transformer
from nmt.tokenizer import Tokenizer

SENTENCES = ["The man who lives next door is a doctor.", "My brother's dog does not like the man."]
CORPUS = ["Where is the train station, please?", "It was raining, so we stayed at home.", ""]


def test_the_embedding_is_one_and_the_states_differ(model: Transformer, tokenizer: Tokenizer) -> None:
    found = word_in_contexts(model, tokenizer, tokenizer.special, "man", SENTENCES, CORPUS)
    assert len(found.cosines) == len(found.baseline) == 3, "the embedding and two layers"
    assert found.cosines[0] == ((1, 1), (1, 1)), "static"
    for layer in found.cosines[1:]:
        assert layer[0][0] == layer[1][1] == 1
        assert layer[0][1] == layer[1][0] < 0.999
    assert all(-1 <= entry <= 1 for entry in found.baseline)


def test_neighbours_are_other_words_nearest_first(model: Transformer, tokenizer: Tokenizer) -> None:
    found = word_in_contexts(model, tokenizer, tokenizer.special, "Man", SENTENCES, CORPUS, n_neighbours=4)
    for neighbours in (found.static_neighbours, *found.neighbours):
        cosines = [entry.cosine for entry in neighbours]
        assert len(cosines) == 4
        assert cosines == sorted(cosines, reverse=True)
        assert "man" not in {entry.word.lower() for entry in neighbours}
    for entry in found.neighbours[0]:
        assert entry.word in entry.sentence


def test_a_word_of_several_pieces_is_their_mean(model: Transformer, tokenizer: Tokenizer) -> None:
    sentences = ["A zyxw is here.", "We like a zyxw."]
    assert len(tokenizer.encode("zyxw")) > 1
    found = word_in_contexts(model, tokenizer, tokenizer.special, "zyxw", sentences)
    assert found.cosines[0] == ((1, 1), (1, 1))


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (SENTENCES[:1], "give two or more"),
        ([*SENTENCES, "Nobody here."], "sentence 3 does not hold the word"),
    ],
)
def test_a_sentence_without_the_word_is_named_by_number(
    model: Transformer, tokenizer: Tokenizer, sentences: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message) as raised:
        word_in_contexts(model, tokenizer, tokenizer.special, "man", sentences)
    assert "Nobody" not in str(raised.value)
    torch.testing.assert_close(model.training, False)

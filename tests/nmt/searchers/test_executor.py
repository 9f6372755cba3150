"""Questions of all kinds asked at once: each gets the answer that it gets alone, in its own place."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.alignment.aligner import Alignment
from nmt.config import AlignmentConfig, GenerationConfig
from nmt.model_folder.checkpoint import LoadedModel
from nmt.pipeline.requests import Answer, EveryHead, ForcedPass, Search
from nmt.translator import Translator
from tests.nmt.conftest import SENTENCES, tiny_config, tiny_model

GREEDY = GenerationConfig(beam_size=1)
WIDE = GenerationConfig(beam_size=3)
FIRST_LAYER = AlignmentConfig(layer=0)


@pytest.fixture(scope="module")
def translator(tokenizer) -> Translator:
    config = tiny_config(tokenizer)
    model = tiny_model(config).double()
    return Translator(LoadedModel(config, model, tokenizer, WIDE, Path("x")))


def test_answers_stand_where_their_questions_do(translator, tokenizer):
    pairs = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))[:4]
    pieces = [tuple((side, tokenizer.encode_pieces(side)) for side in pair) for pair in pairs]
    questions = [
        ForcedPass(*pieces[0]),
        Search(tuple(tokenizer.encode(pairs[1][0])), WIDE),
        EveryHead(pieces[2][0][1], pieces[2][1][1]),
        ForcedPass(*pieces[1], FIRST_LAYER),
        Search(tuple(tokenizer.encode(pairs[2][0])), GREEDY),
        ForcedPass(*pieces[3]),
        Search(tuple(tokenizer.encode(pairs[3][0])), WIDE),
    ]

    together = translator.answer(questions)

    alone = [translator.answer([question])[0] for question in questions]
    assert [signature(answer) for answer in together] == [signature(answer) for answer in alone]


def test_an_alignment_is_read_from_the_layer_that_its_question_names(translator, tokenizer):
    sides = [(side, tokenizer.encode_pieces(side)) for side in SENTENCES[:2]]

    own, first = translator.answer([ForcedPass(*sides), ForcedPass(*sides, FIRST_LAYER)])

    assert signature(first) == signature(translator.answer([ForcedPass(*sides, FIRST_LAYER)])[0])
    assert signature(own) != signature(first)


def signature(answer: Answer) -> object:
    """What is compared: all of it, without the rounding that neighbours in a batch cause."""
    match answer:
        case Alignment():
            rows = tuple(tuple(round(share, 4) for share in row) for row in answer.matrix)
            return answer.source_tokens, answer.target_tokens, rows
        case [*hypotheses]:
            return [hypothesis.tokens for hypothesis in hypotheses]
        case _:
            return answer


def test_nothing_is_answered_to_nothing(translator):
    assert translator.answer([]) == []

"""Quality best: the n best of a wide beam, read back by the model of the other direction."""

from __future__ import annotations

from typing import Any

import pytest

from nmt.batching.continuous import ContinuousTranslator
from nmt.batching.events import Finished
from nmt.config import GenerationConfig
from nmt.errors import ModelFolderError
from nmt.options import BEST_BEAM, DEFAULTS, TranslationOptions
from nmt.pipeline.constraints import _read_back
from nmt.pipeline.read_back import WEIGHT, reranked
from nmt.pipeline.requests import ReadBack, run_together
from nmt.pipeline.result import Candidate
from nmt.translator import Translator

TEXTS = [
    "The woman whose bag was stolen has gone to the police.",
    "The committee has not yet decided whether it will publish the report.",
    "Where did they leave the car?",
]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load("general", device="cpu", engine="float32")


def candidate(text: str, rank: float) -> Candidate:
    return Candidate(text, (), rank, rank, finished=True)


def end_of(flow: Any, answer: list[float]) -> Any:
    """What a flow ends with that asks once."""
    asked = next(flow)
    assert isinstance(asked, ReadBack)
    with pytest.raises(StopIteration) as end:
        flow.send(answer)
    return end.value.value


def test_the_rank_of_the_search_and_the_reading_back_are_weighed() -> None:
    found = [candidate("a", -1.0), candidate("b", -1.1), candidate("c", -1.5)]

    def order(*scores: float) -> list[str]:
        return [one.text for one in end_of(reranked("x", found, [one.rank for one in found]), list(scores))]

    assert order(-5.0, -5.0, -5.0) == ["a", "b", "c"]
    assert order(-5.0, -5.0 + 0.11 / WEIGHT, -5.0) == ["b", "a", "c"]
    assert order(-5.0, -5.0 + 0.09 / WEIGHT, -5.0 + 0.6 / WEIGHT) == ["c", "a", "b"]


def test_what_loses_a_number_or_goes_in_circles_is_not_preferred(translator: Translator) -> None:
    text = "There are 12 dogs in the park."
    sentence = translator.preparer.prepare(text, (), [], DEFAULTS)
    good = candidate("Il y a 12 chiens dans le parc.", -1.0)
    also = candidate("On voit 12 chiens dans le parc.", -1.1)
    wrong = candidate("Il y a des chiens dans le parc.", -1.05)
    loops = candidate("Il y a 12 chiens chiens chiens chiens chiens chiens.", -1.06)

    (first, *others), flags = end_of(_read_back(sentence, ((good, wrong, loops, also), ())), [-9.0, -1.0])

    assert first is also
    assert others[0] is good
    assert {one.text for one in others} == {good.text, wrong.text, loops.text}, "none is lost"
    assert flags == ()


def test_ctranslate2_reads_back_as_the_model_itself_does(translator: Translator) -> None:
    asked = [
        ReadBack("Where are they?", ("Où sont-ils ?", "Où est le chat ?", "Ils mangent.")),
        ReadBack("A dog.", ("Un chien.",)),
    ]
    fast = translator.backward.scores(asked)
    eager = Translator.load("general", device="cpu", engine="eager").backward.scores(asked)

    assert [len(one) for one in fast] == [3, 1]
    for own, others in zip(fast, eager, strict=True):
        assert own == pytest.approx(others, rel=0.05, abs=0.1)  # int8 beside float32
    assert fast[0] == sorted(fast[0], reverse=True), "what means the same is read back best"


def test_best_is_the_first_of_a_wide_beam_reranked(translator: Translator) -> None:
    wide = translator.generation.model_copy(update={"beam_size": BEST_BEAM, "n_best": BEST_BEAM})
    plans = translator.plan(TEXTS, TranslationOptions(generation=wide))
    flows = [translator.flow(plan, 0) for plan in plans]
    beams = [one.candidates for one in run_together(flows, translator.answer)]
    expected = []
    for text, beam in zip(TEXTS, beams, strict=True):
        (scores,) = translator.backward.scores([ReadBack(text, tuple(one.text for one in beam))])
        total = [one.rank + WEIGHT * score for one, score in zip(beam, scores, strict=True)]
        expected.append(beam[total.index(max(total))].text)
    two = GenerationConfig.model_validate(translator.generation.model_dump() | {"n_best": 2})

    found = translator.translate(TEXTS, TranslationOptions(quality="best"))
    some = translator.translate(TEXTS, TranslationOptions(quality="best", generation=two))

    assert [one.text for one in found] == [one.text for one in some] == expected
    assert expected != [beam[0].text for beam in beams], "else this shows nothing"
    assert all(one.alternatives == () for one in found)
    assert {len(one.alternatives) for one in some} == {2}


def test_a_running_batch_gives_what_a_call_gives(translator: Translator) -> None:
    best = TranslationOptions(quality="best")
    continuous = ContinuousTranslator(translator)
    continuous.add("best", TEXTS, best)
    ended: list[Finished] = []
    while continuous.is_busy:
        ended += [event for event in continuous.step() if isinstance(event, Finished)]

    (found,) = ended
    assert [one.text for one in found.translations] == [one.text for one in translator.translate(TEXTS, best)]


def test_a_model_named_as_reverse_must_be_one() -> None:
    with pytest.raises(ModelFolderError, match="does not translate from fr to en"):
        Translator.load("general", reverse="general", device="cpu")

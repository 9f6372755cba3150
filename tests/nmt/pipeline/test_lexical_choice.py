"""Words that the model leaves out or guesses: the lexical translation table has a say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from nmt.batching.continuous import ContinuousTranslator
from nmt.batching.events import Finished
from nmt.config import GenerationConfig
from nmt.options import DEFAULTS, TranslationOptions
from nmt.pipeline import lexical_choice
from nmt.pipeline.lexical_check import LexicalCheck
from nmt.pipeline.lexical_choice import (
    COVERAGE_WEIGHT,
    MOST_LOST,
    SURE,
    rank_with_coverage,
    repair_words,
)
from nmt.pipeline.result import Candidate
from nmt.spans import Span
from nmt.text.glossary import Glossary, Term
from nmt.tokenizer import Piece
from nmt.translator import Translator

TO_FRENCH = ("en", "fr")
VACCINE = "The measles vaccine is given to children."
GUESSED = "Le vaccin contre les armes est donné aux enfants."
RIGHT = "Le vaccin contre la rougeole est donné aux enfants."


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load("general", device="cpu", engine="float32")


def candidate(text: str, log_prob: float = -10.0, of_a_word: float = -3.0) -> Candidate:
    """A translation of one piece a word, each of a log-probability."""
    found = list(re.finditer(r"\S+", text))
    pieces = tuple(Piece(0, match.group(), *match.span()) for match in found)
    scores = (of_a_word,) * (len(pieces) + 1)
    return Candidate(text, pieces, log_prob, log_prob / 2, finished=True, token_log_probs=scores)


@pytest.mark.parametrize(
    ("source", "target", "uncovered"),
    [
        (VACCINE, RIGHT, 0),
        (VACCINE, GUESSED, 1),
        ("They authorised the sale.", "Ils ont autorisé la vente.", 0),
        ("She likes mangoes and grapes.", "Elle aime les mangues.", 1),
        ("Measles, rubella and tetanus.", "Des choses.", 3),
        ("Mr Baker met Mrs Potter.", "M. Baker a rencontré Mme Potter.", 0),
        ("", "", 0),
    ],
)
def test_a_word_is_uncovered_if_no_form_of_a_translation_is_there(
    source: str, target: str, uncovered: int
) -> None:
    assert LexicalCheck(source, TO_FRENCH).n_uncovered(target) == uncovered


def test_a_guess_is_a_word_that_nothing_explains_where_another_is_missing() -> None:
    (guess,) = LexicalCheck(VACCINE, TO_FRENCH).guesses(GUESSED)

    assert guess.word == "measles"
    assert GUESSED[guess.target.start : guess.target.end] == "armes"
    assert guess.forms[0][0] == "rougeole"
    assert 0.9 < guess.forms[0][1] <= 1


def test_a_copied_word_is_the_guess_for_itself() -> None:
    target = "Il a la rubella et dort contre un arbre."
    (guess,) = LexicalCheck("He has rubella and sleeps against a tree.", TO_FRENCH).guesses(target)
    assert target[guess.target.start : guess.target.end] == "rubella"


def test_what_is_copied_or_ruled_is_no_guess() -> None:
    at = GUESSED.index("armes")
    assert LexicalCheck(VACCINE, TO_FRENCH).guesses(GUESSED, [Span(at, at + 5)]) == []
    assert LexicalCheck(VACCINE, TO_FRENCH, [Span(4, 11)]).guesses(GUESSED) == []


def test_languages_without_a_table_have_no_guesses() -> None:
    check = LexicalCheck(VACCINE, ("en", "de"))
    assert check.n_uncovered("Nichts.") == 0
    assert check.guesses("Nichts.") == []


def test_what_leaves_a_word_out_ranks_lower(translator: Translator) -> None:
    sentence = translator.preparer.prepare(VACCINE, (), [], DEFAULTS)
    assert rank_with_coverage(sentence, candidate(RIGHT)) == -5.0
    assert rank_with_coverage(sentence, candidate(GUESSED)) == pytest.approx(-5.0 - COVERAGE_WEIGHT)


def repaired(
    translator: Translator, answer: dict[str, Candidate], *, may_lose: bool = True, of_a_word: float = -3.0
) -> tuple[Any, list[str]]:
    """What a guess becomes when these are the continuations, and the prefixes that were asked."""
    sentence = translator.preparer.prepare(VACCINE, (), [], DEFAULTS)
    asked: list[str] = []

    def continue_from(prefixes: Sequence[str]) -> Any:
        asked.extend(prefixes)
        return [answer.get(prefix) for prefix in prefixes]
        yield  # a flow that asks nobody

    flow = repair_words(
        sentence,
        ((candidate(GUESSED, of_a_word=of_a_word),), ()),
        continue_from,
        lambda _one, _other: may_lose,
    )
    with pytest.raises(StopIteration) as end:
        next(flow)
    return end.value.value, asked


def test_the_search_goes_on_after_the_word_of_the_table(translator: Translator) -> None:
    prefix = "Le vaccin contre les rougeole"
    (found, flags), asked = repaired(translator, {prefix: candidate(RIGHT)})

    assert asked == [prefix]
    assert found[0].text == RIGHT
    assert found[0].rank == candidate(GUESSED).rank, "it stays the first of those that are wanted"
    assert flags == ("repaired_word",)


def test_a_repair_that_the_model_finds_much_worse_is_refused(translator: Translator) -> None:
    prefix = "Le vaccin contre les rougeole"
    for lost, text in ((0.9 * MOST_LOST, RIGHT), (1.1 * MOST_LOST, GUESSED)):
        (found, _), _ = repaired(translator, {prefix: candidate(RIGHT, -10.0 - lost)})
        assert found[0].text == text


@pytest.mark.parametrize("of_a_word", [SURE - 0.1, SURE + 0.1])
def test_a_word_that_the_model_is_sure_of_is_no_guess(translator: Translator, of_a_word: float) -> None:
    _, asked = repaired(translator, {}, of_a_word=of_a_word)
    assert bool(asked) == (of_a_word < SURE)


@pytest.mark.parametrize(
    "text",
    [
        GUESSED,
        "Le vaccin contre les rougeole-armes est donné aux enfants.",
        "Le vaccin contre les rougeole rougeole rougeole rougeole rougeole rougeole rougeole rougeole.",
    ],
)
def test_a_repair_must_cover_the_word_and_end_it(translator: Translator, text: str) -> None:
    (found, flags), _ = repaired(translator, {"Le vaccin contre les rougeole": candidate(text, -1.0)})
    assert found[0].text == GUESSED
    assert flags == ()


def test_a_repair_that_loses_a_number_or_a_term_is_refused(translator: Translator) -> None:
    answer = {"Le vaccin contre les rougeole": candidate(RIGHT)}
    (found, _), _ = repaired(translator, answer, may_lose=False)
    assert found[0].text == GUESSED


RARE = [
    "The vaccine protects against measles, mumps and rubella.",
    "The stevedores unloaded the crates before the foghorn sounded.",
    "A heron, a kingfisher and an otter live by the weir.",
    "The cobbler mended my clogs with a thimble and an awl.",
    "He whittled a flute with his penknife while the kettle whistled.",
    "Our plumber replaced the washer and the stopcock.",
]
"""Sentences of words that a small model hardly knows."""
IN_THE_BEAM = [
    "I can't believe people still fall for this kind of scam.",
    "The hurricane is expected to make landfall in Florida early on Wednesday.",
    "Her new novel has been shortlisted for the Booker Prize.",
    "It is precisely what the treasurer embezzled.",
]
"""Sentences whose best hypothesis leaves a word out that another one has."""


def test_words_are_repaired_by_every_way_to_translate(translator: Translator) -> None:
    """A call, each sentence alone, the reference engine and a running batch; without it others are found."""
    together = translator.translate(RARE)
    alone = [translator.translate([text])[0] for text in RARE]
    eager = Translator.load("general", device="cpu", engine="eager").translate(RARE)
    continuous = ContinuousTranslator(translator)
    continuous.add("rare", RARE)
    running: list[str] = []
    while continuous.is_busy:
        for event in continuous.step():
            if isinstance(event, Finished):
                running = [one.text for one in event.translations]

    unscored = translator.translate(RARE, TranslationOptions(confidence=False))

    texts = [one.text for one in together]
    assert [one.text for one in unscored] == texts
    assert [one.flags for one in unscored] == [one.flags for one in together]
    assert [one.text for one in alone] == texts
    assert [one.text for one in eager] == texts
    assert running == texts
    assert any(flag.kind == "repaired_word" for one in together for flag in one.flags)
    assert all(one.confidence is not None for one in together)


def test_a_chosen_hypothesis_has_the_scores_of_its_tokens(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical_choice, "MOST_ROUNDS", 0)
    with_table = translator.translate(IN_THE_BEAM)
    monkeypatch.setattr(lexical_choice, "COVERAGE_WEIGHT", 0.0)
    without = translator.translate(IN_THE_BEAM)

    changed = [one for one, other in zip(with_table, without, strict=True) if one.text != other.text]
    assert changed, "else this shows nothing"
    for one in changed:
        assert one.confidence is not None
        assert one.score < 0


def test_a_glossary_goes_before_the_table(translator: Translator) -> None:
    glossary = Glossary.of([Term("measles", "rougeole infantile", False)])
    (found,) = translator.translate([RARE[0]], TranslationOptions(glossary=glossary))
    assert "rougeole infantile" in found.text


def test_fast_is_greedy_and_nothing_else(translator: Translator) -> None:
    found = translator.translate(RARE, TranslationOptions(quality="fast"))
    assert not any(flag.kind == "repaired_word" for one in found for flag in one.flags)


def test_the_repaired_translation_is_the_first_of_the_n_best(translator: Translator) -> None:
    three = GenerationConfig.model_validate(translator.generation.model_dump() | {"n_best": 3})
    found = translator.translate(RARE, TranslationOptions(generation=three))
    for one, single in zip(found, translator.translate(RARE), strict=True):
        assert len(one.alternatives) == 3
        assert one.alternatives[0].text == one.text == single.text
        assert len({other.text for other in one.alternatives}) == 3

"""Second searches, copies, flags and confidence of one sentence, with searches that answer from a script."""

from __future__ import annotations

import pytest

from nmt.alignment.aligner import Alignment
from nmt.alignment.pharaoh import Link
from nmt.config import GenerationConfig
from nmt.pipeline.quality import REPAIR_NGRAM, Judge, align_copy, copy_of, search_and_repair
from nmt.pipeline.requests import run_together, search_for
from nmt.pipeline.result import Candidate
from nmt.search import Hypothesis
from nmt.text.words import words

SOURCE = "The young man is playing in the park with 3 dogs."
GOOD = "Le jeune homme joue dans le parc avec 3 chiens."
LOOP = "Le parc le parc le parc le parc le parc le parc"
OPTIONS = GenerationConfig(beam_size=2)


def candidate(text: str, *, finished: bool = True) -> Candidate:
    return Candidate(text, (), -1.0, -1.0, finished, (-0.5, -0.5))


def repaired(*answers: Candidate, source: str = SOURCE, options: GenerationConfig = OPTIONS):
    """The result, and the options of each search made."""
    asked: list[GenerationConfig] = []

    def answer(questions):
        asked.extend(question.options for question in questions)
        return [[Hypothesis((len(asked) - 1,), -1.0, -1.0, finished=True)]]

    def ask(options):
        return search_for((4, 5), options)

    flow = search_and_repair(source, options, ask, lambda hypothesis: answers[hypothesis.tokens[0]])
    ((candidates, flags),) = run_together([flow], answer)
    return candidates[0], flags, asked


def test_a_good_translation_is_searched_for_once():
    assert repaired(candidate(GOOD)) == (candidate(GOOD), (), [OPTIONS])


@pytest.mark.parametrize("bad", [candidate(LOOP), candidate("Le parc", finished=False)])
def test_what_loops_or_does_not_end_is_searched_for_again_without_repeats(bad):
    found, flags, asked = repaired(bad, candidate(GOOD))
    assert (found, flags) == (candidate(GOOD), ("repaired_loop",))
    assert [options.no_repeat_ngram_size for options in asked] == [0, REPAIR_NGRAM]


@pytest.mark.parametrize("second", [candidate(LOOP), candidate(GOOD, finished=False), candidate(" ")])
def test_when_the_second_search_fails_too_the_source_stands(second):
    found, flags, _ = repaired(candidate(LOOP), second)
    assert (found.text, found.copied, flags) == (SOURCE, True, ("loop", "untranslated"))


def test_a_source_that_repeats_is_not_searched_for_without_repeats():
    source = "word " * 30
    found, flags, asked = repaired(candidate("mot " * 90), source=source)
    assert (found.text, flags, len(asked)) == (source, ("loop", "untranslated"), 1)


def test_what_merely_does_not_end_stands():
    unfinished = candidate("Le jeune homme", finished=False)
    assert repaired(unfinished, unfinished)[:2] == (unfinished, ())


@pytest.mark.parametrize("nothing", ["", " ", ".", " …"])
def test_a_translation_that_says_nothing_becomes_the_source(nothing):
    found, flags, _ = repaired(candidate(nothing), source="in.")
    assert (found.text, found.copied, flags) == ("in.", True, ("untranslated",))


def test_where_no_words_went_in_none_need_come_out():
    found, flags, _ = repaired(candidate("!"), source="?!")
    assert (found.text, found.copied, flags) == ("!", False, ())


def test_an_empty_translation_becomes_the_source():
    found, flags, asked = repaired(candidate(" "))
    assert (found, flags, len(asked)) == (copy_of(SOURCE), ("untranslated",), 1)


def test_without_repair_a_loop_stands_and_is_flagged():
    options = GenerationConfig(repair_loops=False)
    assert repaired(candidate(LOOP), options=options)[:2] == (candidate(LOOP), ("loop",))
    assert repaired(candidate(""), options=options)[:2] == (candidate(""), ())


JUDGE = Judge("en", "fr")


def flags_of(target: Candidate, alignment: Alignment | None = None, source: str = SOURCE, **known):
    return JUDGE.verdict(source, 12, target, alignment, **known).flags


def test_a_good_translation_raises_nothing():
    tokens = tuple(words(GOOD))
    links = tuple(Link(index, index, 1.0) for index in range(len(tokens)))
    alignment = Alignment(tuple(words(SOURCE)), tokens, links, ())
    assert flags_of(candidate(GOOD), alignment) == ()


@pytest.mark.parametrize(
    ("target", "flag"),
    [
        (candidate(GOOD, finished=False), "truncated"),
        (candidate("Un homme."), "truncated"),
        (candidate(GOOD.replace("3", "5")), "number_mismatch"),
        (candidate(SOURCE.replace("park", "parc")), "untranslated"),
        (candidate("Der junge Mann spielt im schönen Park mit 3 sehr großen Hunden."), "wrong_language"),
    ],
)
def test_each_flag_is_raised_by_what_it_is_for(target, flag):
    assert flag in flags_of(target)


def test_a_source_in_another_language_is_flagged():
    source = "Der junge Mann spielt im schönen Park mit 3 sehr großen Hunden."
    assert flags_of(candidate(GOOD), source=source) == ("wrong_language",)


def test_words_without_links_are_flagged():
    alignment = Alignment(tuple(words(SOURCE)), tuple(words(GOOD)), (Link(0, 0, 1.0),), ())
    assert flags_of(candidate(GOOD), alignment) == ("unaligned",)


def test_a_copied_sentence_has_the_flags_it_came_with_and_no_others():
    assert flags_of(copy_of(SOURCE), flags=("loop", "untranslated")) == ("loop", "untranslated")


def test_each_flag_is_given_once():
    known = ("untranslated", "truncated")
    assert flags_of(candidate(SOURCE, finished=False), flags=known).count("untranslated") == 1


def test_what_is_no_text_for_the_model_passes_through():
    assert JUDGE.pass_through(SOURCE) is None
    assert JUDGE.pass_through("12:30") == ((copy_of("12:30"),), ())
    assert JUDGE.pass_through("你好世界") == ((copy_of("你好世界"),), ("untranslated",))


def test_every_word_of_a_copy_is_linked_to_itself():
    alignment = align_copy("Hi, you!")
    assert [(link.source, link.target) for link in alignment.links] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert alignment.matrix[2] == (0.0, 0.0, 1.0, 0.0)


class Fixed:
    """A confidence model that is always as sure."""

    def sentence(self, evidence):
        assert evidence.token_log_probs
        return 0.7

    def words(self, evidence, words, link_scores):
        return [0.25 + score / 2 for score in link_scores]


def test_confidence_is_the_models_but_a_copys_says_whether_copying_was_right():
    judge = Judge("en", "fr", Fixed())
    assert JUDGE.confidence(SOURCE, 12, candidate(GOOD)) is None
    assert judge.confidence(SOURCE, 12, candidate(GOOD)) == 0.7
    assert judge.confidence("12:30", 3, copy_of("12:30")) == 1.0
    assert judge.confidence(SOURCE, 12, copy_of(SOURCE)) == 0.0


def test_words_have_confidence_where_there_is_alignment():
    judge = Judge("en", "fr", Fixed())
    alignment = Alignment(tuple(words("Hello you")), tuple(words("Bonjour toi")), (Link(0, 1, 0.5),), ())
    assert judge.verdict("Hello you", 2, candidate("Bonjour toi"), None).word_confidence is None
    verdict = judge.verdict("Hello you", 2, candidate("Bonjour toi"), alignment, confidence=0.7)
    assert (verdict.confidence, verdict.word_confidence) == (0.7, (0.25, 0.5))
    copied = judge.verdict("Hi 5", 2, copy_of("Hi 5"), align_copy("Hi 5"), confidence=0.0)
    assert copied.word_confidence == (0.0, 0.0)


def test_equal_searches_of_a_round_are_made_once():
    asked = []

    def answer(questions):
        asked.append(len(questions))
        return [[Hypothesis(question.source_ids, 0.0, 0.0, finished=True)] for question in questions]

    flows = [search_for(ids, OPTIONS) for ids in [(4,), (5,), (4,), (4,)]]
    assert [found[0].tokens for found in run_together(flows, answer)] == [(4,), (5,), (4,), (4,)]
    assert asked == [2]

"""Projection by hand: sentences whose links and right answers are plain to see."""

from __future__ import annotations

import pytest

from nmt.alignment.projection import Mark, Side, project
from nmt.pipeline.result import Translation
from nmt.spans import Span
from tests.nmt.markup.stub import translation_of

CAR = "The red car is in front of the house."
VOITURE = "La voiture rouge est devant la maison."
CAR_LINKS = "2-0 2-1 1-2 3-3 4-4 7-5 8-6 9-7"


def covered(source: str, translation: Translation, *parts: str, parents: tuple[int, ...] = ()) -> list[str]:
    """What becomes of marks over ``parts`` of the source."""
    marks = [
        Mark(source.index(part), source.index(part) + len(part), parents[index] if parents else -1)
        for index, part in enumerate(parts)
    ]
    return [translation.text[span.start : span.end] for span in project(source, marks, translation)]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("red", "rouge"),
        ("car", "voiture"),  # "La" is a weak second link of "car", and "The" has none
        ("red car", "voiture rouge"),
        ("The red car", "La voiture rouge"),
        ("house", "maison"),
        ("house.", "maison."),
        ("in front of", "devant"),
        (CAR, VOITURE),
        (CAR[:-1], VOITURE[:-1]),
    ],
)
def test_an_element_covers_the_words_linked_to_its_words(part: str, expected: str) -> None:
    translation = translation_of(CAR, VOITURE, CAR_LINKS, scores={(2, 0): 0.45})

    assert covered(CAR, translation, part) == [expected]


def test_a_link_far_away_is_dropped() -> None:
    source, target = "a b c d e", "A B C D E"
    translation = translation_of(source, target, "0-0 1-1 2-2 3-3 1-4")

    assert covered(source, translation, "b") == ["B"]


def test_a_word_without_links_within_an_element_is_covered_too() -> None:
    translation = translation_of("do not run", "ne X cours pas", "1-0 2-2 1-3")

    assert covered("do not run", translation, "not run") == ["ne X cours pas"]


def test_siblings_that_change_places_stay_apart() -> None:
    translation = translation_of("big black dog", "chien noir grand", "0-2 1-1 2-0")

    assert covered("big black dog", translation, "big", "black", "dog") == ["grand", "noir", "chien"]


def test_a_child_stays_inside_its_parent() -> None:
    translation = translation_of("a b c d", "A B C D", "0-0 1-1 2-2 1-3 3-3")

    assert covered("a b c d", translation, "b c", "b", parents=(-1, 0)) == ["B C", "B"]
    outside = translation_of("a b c d", "B A C D", "1-0 0-1 2-2 3-3")
    parent, child = covered("a b c d", outside, "c d", "d", parents=(-1, 0))
    assert child in parent


def test_a_whole_sentence_stays_whole_without_links() -> None:
    translation = translation_of("One two three.", "Un deux trois.", with_links=False)

    assert covered("One two three.", translation, "One two three.") == ["Un deux trois."]


def test_without_alignment_the_relative_position_is_kept() -> None:
    translation = translation_of("one two three four", "un deux trois quatre", with_links=False)

    assert covered("one two three four", translation, "three") == ["trois"]


def test_a_word_without_link_takes_what_its_neighbours_left_over() -> None:
    translation = translation_of("one two three", "un X trois", "0-0 2-2")

    assert covered("one two three", translation, "two") == ["X"]


def test_half_a_word_takes_the_word_and_the_other_half_nothing() -> None:
    translation = translation_of("Two men", "Deux hommes", "0-0 1-1")

    assert covered("Two men", translation, "T", "wo") == ["Deux", ""]


def test_part_of_a_word_that_stays_is_marked_exactly() -> None:
    translation = translation_of("He drinks H2O.", "Il boit H2O.", "0-0 1-1 2-2 3-3")

    assert covered("He drinks H2O.", translation, "2") == ["2"]


def test_punctuation_follows_its_like_not_attention() -> None:
    translation = translation_of("Note: a man.", "Remarque : un homme.", "0-0 0-1 2-2 3-3 0-4")

    assert covered("Note: a man.", translation, "Note:") == ["Remarque :"]


def test_a_copied_span_is_where_the_translator_says() -> None:
    translation = translation_of("run ab-c now", "ab-c cours", "0-1", kept=[(Span(4, 8), Span(0, 4))])

    assert covered("run ab-c now", translation, "ab-c", "run") == ["ab-c", "cours"]


@pytest.mark.parametrize(("side", "expected"), [("left", "là ici*,"), ("right", "*là ici,")])
def test_a_point_goes_with_its_neighbour(side: Side, expected: str) -> None:
    translation = translation_of("here there", "là ici,", "0-1 1-0")
    (span,) = project("here there", [Mark(5, 5, side=side)], translation)

    assert span.start == span.end
    assert translation.text[: span.start] + "*" + translation.text[span.end :] == expected


def test_a_break_divides_the_words_before_it_from_those_after_it() -> None:
    source, target = "one two three four", "un deux trois quatre"
    translation = translation_of(source, target, "0-0 1-1 2-2 3-3")
    (span,) = project(source, [Mark(8, 8)], translation)

    assert target[: span.start] == "un deux"


def test_points_in_order_never_overtake_each_other() -> None:
    translation = translation_of("a b c", "C B A", "0-2 1-1 2-0")
    marks = [Mark(0, 0, side="right", in_order=True), Mark(4, 4, side="right", in_order=True)]
    first, second = project("a b c", marks, translation)

    assert first.start <= second.start


def test_what_is_inside_an_element_from_before_does_not_mix_with_the_rest() -> None:
    translation = translation_of("a b c d", "C A D B", "0-1 1-3 2-0 3-2")
    marks = [Mark(0, 3, goes_on="before"), Mark(2, 3, parent=0), Mark(4, 5)]
    before, inside, outside = project("a b c d", marks, translation)

    assert before.start == 0
    assert before.start <= inside.start <= inside.end <= before.end <= outside.start


def test_no_target_words_at_all_is_no_error() -> None:
    translation = translation_of("a b", "", "")

    assert project("a b", [Mark(0, 1), Mark(1, 1)], translation) == [Span(0, 0), Span(0, 0)]


def test_narrow_elements_choose_first() -> None:
    translation = translation_of("a b c d e", "B C A D E", "1-0 2-1 0-2 3-3 4-4")

    assert covered("a b c d e", translation, "b c d e", "a") == ["B C", "A"]


def test_elements_after_each_other_never_share_a_word() -> None:
    source, target = "in the garden", "au jardin"
    translation = translation_of(source, target, "0-0 1-0 2-1")
    first, second = project(source, [Mark(0, 2), Mark(3, 6)], translation)

    assert first == Span(0, 2)
    assert second.start == second.end

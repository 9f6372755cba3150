"""Ranks, fractions and numbers in words that a translation must have."""

from __future__ import annotations

import pytest

from nmt.text.numbers import compare_numbers, compare_spelled_numbers
from nmt.text.ordinals import missing_ranks

EN, FR = ("en", "fr"), ("fr", "en")


@pytest.mark.parametrize(
    ("source", "target", "languages", "missing"),
    [
        ("He finished in 2nd place.", "Il a fini à 2 heures.", EN, ["2nd place"]),
        ("He finished in 2nd place.", "Il a fini à la 2e place.", EN, []),
        ("He finished in 2nd place.", "Il a fini deuxième.", EN, []),
        ("the 21st floor", "le vingt et unième étage", EN, []),
        ("the 21st floor", "les 21 étages", EN, ["21st floor"]),
        ("on May 3rd people came", "le 3 mai, des gens sont venus", EN, []),
        ("the 3rd of May", "le 3 mai", EN, []),
        ("the 19th century", "le XIXe siècle", EN, []),
        ("au 3ème étage", "on the third floor", FR, []),
        ("au 3ème étage", "on the 3rd floor", FR, []),
        ("au 3ème étage", "on 3 floors", FR, ["3ème étage"]),
        ("au 25e étage", "on 25 floors with both", FR, ["25e étage"]),
        ("la 82ème province", "the eighty-second province", FR, []),
        ("the 2nd row", "die 2 Reihe", ("en", "de"), []),
    ],
)
def test_ranks_that_a_translation_lacks(
    source: str, target: str, languages: tuple[str, str], missing: list[str]
) -> None:
    assert list(missing_ranks(source, target, languages)) == missing


def test_a_lost_rank_is_a_wrong_number() -> None:
    assert compare_numbers("He finished in 2nd place.", "Il a fini à 2 heures.").missing == ("2nd place",)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Add 1/2 cup.", "Ajoutez une demi-tasse."),
        ("He drank 3/4 of it.", "Il en a bu les trois quarts."),
        ("About 2/3 voted.", "Environ deux tiers ont voté."),
    ],
)
def test_fractions_may_be_words(source: str, target: str) -> None:
    assert compare_numbers(source, target).ok


@pytest.mark.parametrize(
    ("source", "target", "missing"),
    [
        ("Les enfants ont de sept à neuf ans.", "The children are seven-year-old.", ("neuf ans",)),
        ("Il a neuf ans.", "He is nine.", ()),
        ("C'est un vélo neuf.", "It's a new bicycle.", ()),
    ],
)
def test_neuf_before_what_it_counts_is_a_number(source: str, target: str, missing: tuple[str, ...]) -> None:
    languages = {"source_language": "fr", "target_language": "en"}
    assert compare_spelled_numbers(source, target, **languages).missing == missing

"""What stands in brackets or quotes is found, and told from what a translation dropped or copied."""

from __future__ import annotations

import pytest

from nmt.spans import Span
from nmt.text.asides import compare_asides, find_asides


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("The house (big and red) is old.", ["big and red"]),
        ("The word “small” is here [for now].", ["small", "for now"]),
        ("Le mot « petit » est ici.", ["petit"]),
        ("He said (twice (loudly)) so.", ["loudly"]),
        ('See (the word "big") there.', ['the word "big"']),
        ("Give the IBAN (IBAN), the item(s) and (3).", []),
        ("Ask Ruby (Rivers) about it.", []),
    ],
)
def test_asides_are_found_without_names_and_abbreviations(text: str, inner: list[str]) -> None:
    assert [text[one.inner.start : one.inner.end] for one in find_asides(text)] == inner


SOURCE = "The house (big and red) is old."


@pytest.mark.parametrize(
    ("source", "target", "wrong"),
    [
        (SOURCE, "La maison (grande et rouge) est vieille.", []),
        (SOURCE, "La maison (big et rouge) est vieille.", [("big",)]),
        (SOURCE, "La maison est vieille.", [None]),
        ('The word "small" is here.', "Le mot « small » est ici.", [("small",)]),
        ('The word "small" is here.', "Le mot petit est ici.", []),
        ("The (old) house (big) is here.", "La maison (big) est ici.", [None, None]),
        ("(big and red)", "(big et rouge)", []),
        ("Give Mr Rivers (ABC) the key.", "Donnez la clé à M. Rivers.", []),
    ],
)
def test_what_is_dropped_or_copied_is_told(
    source: str, target: str, wrong: list[tuple[str, ...] | None]
) -> None:
    found = compare_asides(source, target)
    assert [None if one.target is None else one.copied for one in found] == wrong


def test_asides_that_meet_what_is_ignored_are_left_out() -> None:
    assert compare_asides(SOURCE, "La maison est vieille.", [Span(11, 14)]) == []


@pytest.mark.parametrize(
    "inner", ["png", "year == 2015", "user:", "a descendant of elemA", "see a_b", "3dl or gmz2"]
)
def test_code_in_brackets_is_no_aside(inner: str) -> None:
    assert find_asides(f"It is in the list ({inner}) of all.") == []
    assert (
        compare_asides(f"It is in the list ({inner}) of all.", f"C'est dans la liste ({inner}) de tout.")
        == []
    )

"""Centuries are found and written in the other language; numerals are kept."""

from __future__ import annotations

import pytest

from nmt.text.numbers import compare_numbers, compare_spelled_numbers, number_edits, spelled_numbers
from nmt.text.roman import centuries, find_centuries, find_numerals, missing_numerals, numeral_of, value_of


def test_a_numeral_is_read_as_it_is_written() -> None:
    assert [value_of(numeral_of(value)) for value in range(1, 40)] == list(range(1, 40))


@pytest.mark.parametrize(
    ("text", "source", "found"),
    [
        ("in the 19th century", "en", [("19th", "XIXe")]),
        ("a 16th-century castle", "en", [("16th-century", "XVIe siècle")]),
        ("18th- and 19th-century art", "en", [("18th", "XVIIIe"), ("19th-century", "XIXe siècle")]),
        ("The nineteenth century", "en", [("nineteenth century", "XIXe siècle")]),
        ("17th and 1st centuries", "en", [("17th", "XVIIe"), ("1st", "Ier")]),
        ("From the 5th to the 8th century", "en", [("5th", "Ve"), ("8th", "VIIIe")]),
        ("the 19th chapter, a century", "en", []),
        ("Il vivait au XIXe siècle.", "fr", [("XIXe", "19th")]),
        ("Du Ve au 21ème siècle", "fr", [("Ve", "5th"), ("21ème", "21st")]),
        ("le dix-neuvième siècle", "fr", [("dix-neuvième", "19th")]),
        ("le 2e étage", "fr", []),
    ],
)
def test_centuries_are_found_with_their_translation(
    text: str, source: str, found: list[tuple[str, str]]
) -> None:
    target = "fr" if source == "en" else "en"
    written = find_centuries(text, source, target)
    assert [(text[span.start : span.end], other) for span, other in written] == found


def test_other_languages_have_no_centuries() -> None:
    assert find_centuries("in the 19th century", "en", "de") == []
    assert centuries("19th century", "de") == []


@pytest.mark.parametrize(
    ("text", "numerals"),
    [
        ("Louis XIV and Chapter I.", ["XIV", "I"]),
        ("See Part V, not I.", ["V"]),
        ("World War II ended.", []),
        ("A MIX of CIVIL VIs, IV.2, XL, XXe", []),
    ],
)
def test_numerals_are_found(text: str, numerals: list[str]) -> None:
    assert [text[span.start : span.end] for span in find_numerals(text)] == numerals


def test_a_numeral_may_be_in_digits_but_not_another() -> None:
    assert missing_numerals("See Chapter IV.", "Voir le chapitre 4.") == ()
    assert missing_numerals("See Chapter IV.", "Voir le chapitre VI.") == ("IV",)
    assert compare_numbers("See Chapter IV.", "Voir le chapitre.").missing == ("IV",)


def test_the_same_century_is_no_other_number() -> None:
    assert compare_numbers("in the 19th century", "au XIXe siècle").ok
    assert not compare_numbers("in the 19th century", "au XVIIIe siècle").ok
    assert compare_numbers("au XIXe siècle", "19th century", source_language="fr", target_language="en").ok


@pytest.mark.parametrize(
    "written", ["au 19e siècle", "au X19e siècle", "au 19ème siècle", "au XIXème siècle"]
)
def test_centuries_are_written_in_numerals(written: str) -> None:
    edits = number_edits("in the 19th century", written, ("en", "fr"))
    (edit,) = edits
    assert written[: edit.span.start] + edit.text + written[edit.span.end :] == "au XIXe siècle"


@pytest.mark.parametrize(
    ("source", "written", "better", "languages"),
    [
        ("in the 20th century", "un auteur de XXe siècle", "un auteur du XXe siècle", ("en", "fr")),
        ("a 16th-century castle", "un château XVIe siècle", "un château du XVIe siècle", ("en", "fr")),
        ("in the 4th century", "au siècle IVe, alors", "au IVe siècle, alors", ("en", "fr")),
        ("a 16th-century castle", "le XVIe siècle", "le XVIe siècle", ("en", "fr")),
        ("castles of the 16th century", "châteaux XVIe siècle", "châteaux XVIe siècle", ("en", "fr")),
        ("au XIIe siècle", "It dates from 12th century.", "It dates from the 12th century.", ("fr", "en")),
        ("au XIIe siècle", "a lot of 12th century art", "a lot of 12th century art", ("fr", "en")),
        ("rien", "It dates from 12th century.", "It dates from 12th century.", ("fr", "en")),
    ],
)
def test_the_article_of_a_century(source: str, written: str, better: str, languages: tuple[str, str]) -> None:
    for edit in sorted(number_edits(source, written, languages), key=lambda edit: -edit.span.start):
        written = written[: edit.span.start] + edit.text + written[edit.span.end :]
    assert written == better


def test_a_score_is_not_one_number() -> None:
    assert compare_numbers("They won 2-1.", "Ils ont gagné 21.").missing == ("2", "1")
    assert compare_numbers("At 12:30.", "À 12.30.").ok


def test_numbers_in_words_are_found_with_their_translation() -> None:
    text = "Two to fourteen days, forty-five at most, one day."
    found = spelled_numbers(text, "en", "fr")
    assert [(text[span.start : span.end], written) for span, written in found] == [
        ("Two", "deux"),
        ("fourteen", "quatorze"),
        ("forty-five", "45"),
    ]


def test_a_number_that_stays_in_the_other_language_is_missing() -> None:
    check = compare_spelled_numbers(
        "huit à seize", "eight to seize", source_language="fr", target_language="en"
    )
    assert check.missing == ("seize",)

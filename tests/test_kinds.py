"""The table of kinds is that of its record, and a case is judged by what its kind is about."""

from __future__ import annotations

from scripts import kinds


def test_the_table_is_fresh() -> None:
    text = kinds.PAGE.read_text(encoding="utf-8")

    assert kinds.fresh(text) == text, "run python -m scripts.kinds --table"


def test_cases_are_the_same_at_every_call_and_wrong_ones_are_seen() -> None:
    for kind in kinds.FRAMES:
        for language in kinds.MODELS:
            some = list(kinds.cases(kind, language, 8))

            assert some == list(kinds.cases(kind, language, 8))
            for case in some:
                assert not kinds._is_right(case, "\u00ad")
    right = kinds.Case("x", ("1 250,00", "$"))
    assert kinds._is_right(right, "1\u202f250,00 $")
    assert not kinds._is_right(right, "1 250,00")

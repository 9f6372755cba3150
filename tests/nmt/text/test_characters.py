"""What readers do not see is not shown to the model."""

from __future__ import annotations

import unicodedata

import pytest

from nmt.text.characters import composed, unseen
from nmt.text.edits import Rewriting


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("The trans\u00adla\u00adtion", "The translation"),
        ("trans\u200blation\u2060", "translation"),
        ("\ufeffA house", "A house"),
        (unicodedata.normalize("NFD", "Été à Orléans, çà et là"), "Été à Orléans, çà et là"),
        ("a\u0323\u0302", "\u1ead"),
        ("👨\u200d👩", "👨\u200d👩"),
        ("déjà vu", "déjà vu"),
        ("plain", "plain"),
    ],
)
def test_the_model_reads_composed_letters_and_nothing_invisible(text: str, read: str) -> None:
    assert Rewriting.of(text, composed(text)).new == read


def test_unseen_is_what_is_taken_away_or_joined() -> None:
    assert all(map(unseen, "\u00ad\u200b\u2060\ufeff\u0301"))
    assert not any(map(unseen, "aé-\u200d "))

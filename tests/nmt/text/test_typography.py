"""French quotes and spaces."""

from __future__ import annotations

import pytest

from nmt.spans import Span
from nmt.text.edits import Rewriting
from nmt.text.typography import french_typography

NB, NN = "\u00a0", "\u202f"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Il dit "oui".', f"Il dit «{NB}oui{NB}»."),
        ("Il dit “oui” !", f"Il dit «{NB}oui{NB}»{NN}!"),
        ("Il dit « oui » ?", f"Il dit «{NB}oui{NB}»{NN}?"),
        ("Quoi?! Non;oui:", f"Quoi{NN}?! Non{NN};oui{NB}:"),
        ("à 15:30, http://x", "à 15:30, http://x"),
        ("10 000 hommes, 3 000 000 et 20 100", f"10{NN}000 hommes, 3{NN}000{NN}000 et 20{NN}100"),
        ("en 2 20 jours", "en 2 20 jours"),
        ("l'été: \"l'un\"", f"l'été{NB}: «{NB}l'un{NB}»"),
    ],
)
def test_typography_by_examples(text: str, expected: str) -> None:
    written = Rewriting.of(text, french_typography(text)).new
    assert written == expected
    assert Rewriting.of(written, french_typography(written)).new == expected


def test_kept_spans_are_left_alone() -> None:
    assert french_typography("a {b: c} d", [Span(2, 8)]) == []

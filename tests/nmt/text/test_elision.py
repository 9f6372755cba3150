"""de + Oslo, l' + minou."""

from __future__ import annotations

import pytest

from nmt.text.elision import elide


@pytest.mark.parametrize(
    ("before", "word", "result"),
    [
        ("près de ", "Oslo", "près d'Oslo"),
        ("Je vois l'", "minou", "Je vois le minou"),
        ("parce que ", "Émile", "parce qu'Émile"),
        ("Jusqu'", "Paris", "Jusque Paris"),
        ("la ", "école", "l'école"),
        ("de ", "Paris", "de Paris"),
        ("d'", "Oslo", "d'Oslo"),
        ("monde ", "Oslo", "monde Oslo"),
        ("de ", "Hugo", "de Hugo"),
        ("l'", "Hugo", "l'Hugo"),
        ("vole ", "2", "vole 2"),
        ("", "Oslo", "Oslo"),
    ],
)
def test_elision_by_examples(before: str, word: str, result: str) -> None:
    change = elide(before, word)
    kept = before if change is None else before[: len(before) - change[0]] + change[1]
    assert kept + word == result

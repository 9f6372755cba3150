"""A title that a translation lost is written before its name."""

from __future__ import annotations

import pytest

from nmt.text.titles import lost_title
from nmt.translator import Translator


@pytest.mark.parametrize(
    ("source", "written", "target", "expected"),
    [
        ("Dr. Orwin left.", "Orwin est parti.", "fr", "Le Dr Orwin est parti."),
        ("Mr. Orwin left.", "Orwin est parti.", "fr", "M. Orwin est parti."),
        ("I saw Mrs. Orwin.", "J'ai vu Orwin.", "fr", "J'ai vu Mme Orwin."),
        ("The car of Dr. Orwin", "La voiture de Orwin", "fr", "La voiture du Dr Orwin"),
        ("I spoke to Prof. Orwin.", "J'ai parlé à Orwin.", "fr", "J'ai parlé au Pr Orwin."),
        ("Thank you, Dr. Orwin.", "Merci, Orwin.", "fr", "Merci, Dr Orwin."),
        ("Mme Orwin est là.", "Orwin is there.", "en", "Mrs Orwin is there."),
        ("Dr. Orwin left.", "Le docteur Orwin est parti.", "fr", None),
        ("Orwin left.", "Orwin est parti.", "fr", None),
    ],
)
def test_a_lost_title_comes_back(source: str, written: str, target: str, expected: str | None) -> None:
    before = written[: written.index("Orwin")]
    change = lost_title(source, source.index("Orwin"), before, written, target)
    if expected is None:
        assert change is None
        return
    assert change is not None
    n_characters, title = change
    assert before[: len(before) - n_characters] + title + written[len(before) :] == expected


def test_a_doctor_stays_one() -> None:
    translator = Translator.load("general", device="cpu")
    for name in ("Brown", "Waters", "Lindqvist"):
        (translation,) = translator.translate([f"Dr. {name} met Nora Fields."])
        assert f"Dr {name}" in translation.text or f"docteur {name}" in translation.text
        assert "Nora Fields" in translation.text

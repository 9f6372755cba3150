"""A name that both languages have is not translated as the ordinary word that begins like it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nmt.options import TranslationOptions
from nmt.pipeline.constraints import _lost_names
from nmt.pipeline.quality import copy_of
from nmt.translator import Translator


@pytest.fixture(scope="module")
def english() -> Translator:
    return Translator.load("general", device="cpu")


@pytest.mark.parametrize(
    ("written", "lost"),
    [
        ("J'ai rencontré Fenêtre à Lyon.", ["Windhoek"]),
        ("Nous avons volé à la fenêtre à Lyon.", ["Windhoek"]),
        ("J'ai rencontré Windhoek à Lyon.", []),
        ("Je l'ai rencontré dans la ville de Lyon.", []),
    ],
)
def test_names_are_lost_to_ordinary_words_alone(english: Translator, written: str, lost: list[str]) -> None:
    text = "I met Windhoek in Lyon."
    sentence = english.preparer.prepare(text, (), (), TranslationOptions())
    best = replace(copy_of(written), copied=False)

    assert [entry.text for entry in _lost_names(english.preparer, sentence, best)] == lost


def test_a_lost_name_is_put_back(english: Translator) -> None:
    (translation,) = english.translate(["My name is Windhoek."])

    assert "Windhoek" in translation.text

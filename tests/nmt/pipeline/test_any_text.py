"""Texts put together at random, of words and of what is copied: none raises, and all spans are right."""

from __future__ import annotations

import random

import pytest

from nmt.options import TranslationOptions
from nmt.pipeline.result import Translation
from nmt.translator import Translator

SIGNS = r"%s %d {name} {0} {{x}} <1> </1> ** `code` https://a.org/b a@b.org $HOME $x_1$ 2-1 [b] [/b]"
ODD = (
    "12\u00a0500,00\u00a0€ 😀 «petit» … — 50\u00a0% -3\u00a0°C ½ x² 日本 \u200b \u00ad e\u0301 ⟦0⟧ <br/> ⟦1⟧"
)
PLAIN = r"%% &amp; \n | • $1,250.00 XIXe (red) 1st 2e #tag @ann v2.1 A4 ! ? : ; USD Mr. III 12:30 1/2"
COPIED = f"{SIGNS} {ODD} {PLAIN}".split(" ")
SPACED = (
    "9 am",
    "14 h 30",
    "19th century",
    "Dr. Black",
    "Ruby Rivers",
    '"small"',
    "two to four",
    "deux à quatre",
)
WORDS = {
    "general": "the house is red and my dog was not here when you saw us in London please Open never",
    "general_fr_en": "la maison est rouge et mon chien n'était pas ici quand vous voyez Ouvrir à Lyon",
}
OPTIONS = (
    TranslationOptions(alignment="links"),
    TranslationOptions(quality="best"),
    TranslationOptions(confidence=False, split_sentences=False),
)


def texts(words: str, count: int, rng: random.Random) -> list[str]:
    """Up to twelve words and copies each, a quarter of them glued to the next."""
    found = []
    for _ in range(count):
        parts = [
            rng.choice((*COPIED, *SPACED) if rng.random() < 0.4 else words.split())
            + ("" if rng.random() < 0.25 else " ")
            for _ in range(rng.randint(1, 12))
        ]
        found.append("".join(parts) + rng.choice(("", ".")))
    return found


def check(text: str, translation: Translation) -> None:
    for read, written in translation.kept:
        assert 0 <= read.start <= read.end <= len(text)
        assert 0 <= written.start <= written.end <= len(translation.text)
    for tokens, side in ((translation.source_tokens, text), (translation.target_tokens, translation.text)):
        assert all(token.text == side[token.start : token.end] for token in tokens or ())


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("model", list(WORDS))
def test_no_text_is_too_odd(model: str) -> None:
    translator = Translator.load(model, device="cpu")
    rng = random.Random(model)
    for options in OPTIONS:
        given = texts(WORDS[model], 200, rng)
        for text, translation in zip(given, translator.translate(given, options), strict=True):
            check(text, translation)

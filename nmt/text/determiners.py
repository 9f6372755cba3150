"""Forms of the determiner before a word that takes another's place: *la poutre*, *le faisceau*."""

from __future__ import annotations

from nmt.text.languages import rules

VOWELS = frozenset("aeiouyàâäéèêëîïôöùûüœæ")
AMBIGUOUS = frozenset("h")
"""Some words that begin so are like those of a vowel, others not."""


def beginnings(before: str, word: str, language: str) -> list[str]:
    """``before``, with each form of the determiner that it ends with that may stand before ``word``.

    Args:
        before: a text up to the word, with the white space after it; as it is if it ends otherwise.
        word: what follows.
        language: ISO 639-1 code.
    """
    first = word[:1].lower()
    for group in rules(language).determiners:
        for form in sorted({form for forms in group for form in forms}, key=len, reverse=True):
            start = len(before) - len(_spaced(form))
            written = before[max(start, 0) :].lower().replace("’", "'")
            if start < 0 or written != _spaced(form) or (start and before[start - 1].isalnum()):
                continue
            places = (0, 1) if first in AMBIGUOUS else (int(first in VOWELS),)
            others = dict.fromkeys(other for place in places for other in group[place])
            return [before[:start] + _in_case(_spaced(other), before[start]) for other in others]
    return [before]


def _spaced(form: str) -> str:
    return form if form.endswith("'") else f"{form} "


def _in_case(text: str, example: str) -> str:
    return text[:1].upper() + text[1:] if example.isupper() else text

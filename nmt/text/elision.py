"""How the word before one that was put in agrees with it: d'Oslo and le minou, an owl and a kitten."""

from __future__ import annotations

import re
import unicodedata

_ELIDED = re.compile(r"(?<!\w)(jusqu|lorsqu|puisqu|qu|[cdjlmnst])['’]$", re.IGNORECASE)
_FULL = re.compile(r"(?<!\w)(jusque|lorsque|puisque|que|la|[cdjlmnst]e) $", re.IGNORECASE)
_ARTICLE = re.compile(r"(?<!\w)(a|an) $", re.IGNORECASE)
_VOWELS = "aeiou"


def agree(before: str, word: str, language: str) -> tuple[int, str] | None:
    """How the end of ``before`` changes when ``word`` follows it, in a language; None: it does not.

    Returns:
        How many characters at the end of ``before`` give way, and to what.
    """
    if language == "fr":
        return elide(before, word)
    return choose_article(before, word) if language == "en" else None


def elide(before: str, word: str) -> tuple[int, str] | None:
    """How the end of ``before`` changes when ``word`` follows it; None: it does not.

    Before a consonant "l'" becomes "le": the gender is not known. A word in h or y is left as it is.

    Returns:
        How many characters at the end of ``before`` give way, and to what.
    """
    first = unicodedata.normalize("NFD", word[:1]).lower()[:1]
    if first in _VOWELS:
        match = _FULL.search(before)
        return None if match is None else (len(match.group()), f"{match[1][:-1]}'")
    if first.isalpha() and first not in "hy":
        match = _ELIDED.search(before)
        return None if match is None else (len(match.group()), f"{match[1]}e ")
    return None


def choose_article(before: str, word: str) -> tuple[int, str] | None:
    """English "a" or "an", by the letter. A word in h, u, eu, one or of a single letter is left as it is.

    Returns:
        As ``agree``.
    """
    match = _ARTICLE.search(before)
    first = unicodedata.normalize("NFD", word[:1]).lower()[:1]
    unsure = first in "hu" or word[:2].lower() == "eu" or word[:3].lower() == "one" or word[1:2].isupper()
    if match is None or not first.isalpha() or unsure or len(word) == 1:
        return None
    article = match[1][0] + ("n" if first in _VOWELS else "")
    return None if article == match[1] else (len(match.group()), f"{article} ")

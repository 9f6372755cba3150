"""How the word before one that was put in agrees with it: d'Oslo and le minou, an owl and a kitten."""

from __future__ import annotations

import re
import unicodedata

_ELIDED = re.compile(r"(?<!\w)(jusqu|lorsqu|puisqu|qu|[cdjlmnst])['’]$", re.IGNORECASE)
_FULL = re.compile(r"(?<!\w)(jusque|lorsque|puisque|que|la|[cdjlmnst]e) $", re.IGNORECASE)
_UNELIDED = re.compile(
    r"(?<!\w)(?:jusque|lorsque|puisque|que|la|[cdjlmnst]e) (?=[aeiouàâéèêëîïôœ])(?!onz|oui|uh|(?:ou|et|à)\b)",
    re.IGNORECASE,
)
_SINGULAR = re.compile(r"(?<!\w)(le|la|un|une|du|au|ce|cette) $", re.IGNORECASE)
_PLURALS = {
    "le": "les",
    "la": "les",
    "un": "des",
    "une": "des",
    "du": "des",
    "au": "aux",
    "ce": "ces",
    "cette": "ces",
}
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


def count_unelided(text: str, language: str) -> int:
    """Places of a text where a word should be elided: *le envoyer*. They are looked for in French alone."""
    return len(_UNELIDED.findall(text)) if language == "fr" else 0


def agree_in_number(before: str, source: str, words: str) -> tuple[int, str] | None:
    """The plural of a French article at the end of ``before`` when plural ``words`` follow it.

    Words are plural where the last of the English ``source`` and the first of them end in s or x and differ:
    "la %sconditions%s" is "les %sconditions%s" for terms, "le bus" stays.

    Returns:
        As ``agree``.
    """
    match = _SINGULAR.search(before)
    read, written = source.split()[-1:], words.split()[:1]
    if match is None or not read or not written or read[0].lower() == written[0].lower():
        return None
    if not read[0].endswith("s") or read[0].endswith("ss") or not written[0].endswith(("s", "x")):
        return None
    plural = _PLURALS[match[1].lower()]
    return len(match.group()), f"{plural.capitalize() if match[1][0].isupper() else plural} "


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

"""French elision before a word that was put in: de + Oslo is d'Oslo, l' + minou is le minou."""

from __future__ import annotations

import re
import unicodedata

_ELIDED = re.compile(r"(?<!\w)(jusqu|lorsqu|puisqu|qu|[cdjlmnst])['’]$", re.IGNORECASE)
_FULL = re.compile(r"(?<!\w)(jusque|lorsque|puisque|que|la|[cdjlmnst]e) $", re.IGNORECASE)
_VOWELS = "aeiou"


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

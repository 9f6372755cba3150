"""Times of day, written as another language writes them: 5:30 pm is 17 h 30, à 14 h 30 is at 2:30 pm.

French hours are also durations (8 h de travail). Only those after a word for a time of day are times here.
"""

from __future__ import annotations

import re

from nmt.spans import Span

_ENGLISH = re.compile(
    r"(?<![\d.,:/$€£-])(\d{1,2})(?:[:.](\d{2}))?[ \u00a0\u202f]?"
    r"([ap])(?:m|\.[ \u00a0]?m)(?:\.(?!\s*$))?(?!\w)",
    re.IGNORECASE,
)
_FRENCH = re.compile(
    r"(?<!\w)(?:à|dès|vers|jusqu'à|entre|de|et)\s+(\d{1,2})[ \u00a0\u202f]?h(?:eures?)?"
    r"(?:[ \u00a0\u202f]?(\d{2}))?(?!\w)(?!\s+(?:de|d'|par|sur)\b)",
    re.IGNORECASE,
)
_STARTS = re.compile(r"(?:à|dès|vers|jusqu'à|entre)\s", re.IGNORECASE)
_PREPOSITIONS = {"à": "at", "dès": "from", "vers": "around", "jusqu'à": "until"}
"""What stands before a time and belongs to it: the model would not know that it is one."""


def find_times(text: str, source: str, target: str) -> list[tuple[Span, str]]:
    """Where times of day are, and how the other language writes each; only between English and French."""
    if (source, target) == ("en", "fr"):
        return [
            (Span(*match.span()), _in_french(int(match[1]), match[2], match[3].lower()))
            for match in _ENGLISH.finditer(text)
            if int(match[1]) <= 12 and int(match[2] or 0) < 60
        ]
    if (source, target) == ("fr", "en"):
        matches = [
            match for match in _FRENCH.finditer(text) if int(match[1]) <= 24 and int(match[2] or 0) < 60
        ]
        if not any(_STARTS.match(match.group()) for match in matches):
            return []  # "de 8 h" alone is a duration
        is_range = len(matches) > 1
        return [_with_preposition(match, is_range=is_range) for match in matches]
    return []


def _with_preposition(match: re.Match[str], *, is_range: bool) -> tuple[Span, str]:
    """A French time; alone with the word before it: à 14 h is at 2 pm, de 9 h à 14 h is from ... to."""
    written = _in_english(int(match[1]), match[2])
    word = match.group().split()[0]
    preposition = _PREPOSITIONS.get(word.lower())
    if is_range or preposition is None:
        return Span(match.start(1), match.end()), written
    if word[0].isupper():
        preposition = preposition.capitalize()
    return Span(*match.span()), f"{preposition} {written}"


def _in_french(hour: int, minute: str | None, half: str) -> str:
    hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour} h {minute}" if minute not in {None, "00"} else f"{hour} h"


def _in_english(hour: int, minute: str | None) -> str:
    half = "am" if hour % 24 < 12 else "pm"
    shown = (hour - 1) % 12 + 1
    return f"{shown}:{minute} {half}" if minute not in {None, "00"} else f"{shown} {half}"

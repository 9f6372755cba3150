"""Times of day, written as another language writes them: 5:30 pm is 17 h 30, à 14 h 30 is at 2:30 pm.

French hours are also durations (8 h de travail). Only those after a word for a time of day, after a day, or
with a dash between two are times here. Days count in a range (Mon–Fri) and before an hour; a whole timetable,
Mon–Fri 9 am – 5:30 pm, is one span.
"""

from __future__ import annotations

import re

from nmt.spans import Span

_ENGLISH = re.compile(
    r"(?:(?<![\d.,:/$€£-])|(?<=[ap]m-)|(?<=[ap]\.m\.-)|(?<=\b\d-)|(?<=\b\d\d-))"
    r"(\d{1,2})(?:[:.](\d{2}))?[ \u00a0\u202f]?"
    r"([ap])(?:m|\.[ \u00a0]?m)(?:\.(?!\s*$))?(?!\w)",
    re.IGNORECASE,
)
_ENGLISH_FIRST = re.compile(
    r"(?<![\w.,:/$€£-])(\d{1,2})(?::(\d{2}))?(?=[ \u00a0\u202f]?[-–—][ \u00a0\u202f]?$)"
)
"""The first hour of a range that has am or pm at its end alone: 9-5 pm."""
_FRENCH = re.compile(
    r"(?<!\w)(?:à|dès|vers|jusqu'à|entre|de|et)\s+(\d{1,2})[ \u00a0\u202f]?h(?:eures?)?"
    r"(?:[ \u00a0\u202f]?(\d{2}))?(?!\w)(?!\s+(?:de|d'|par|sur)\b)",
    re.IGNORECASE,
)
_DASH = r"[ \u00a0\u202f]?[-–—][ \u00a0\u202f]?"
_HOUR = r"\d{1,2}[ \u00a0\u202f]?h(?:[ \u00a0\u202f]?\d{2})?(?!\w)"
_FRENCH_RANGE = re.compile(rf"(?<![\w.,]){_HOUR}(?:{_DASH}{_HOUR})")
_HOUR_PARTS = re.compile(r"(\d{1,2})[ \u00a0\u202f]?h(?:[ \u00a0\u202f]?(\d{2}))?(?!\w)")
_SHORT_DAYS = {
    "en": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    "fr": ["lun", "mar", "mer", "jeu", "ven", "sam", "dim"],
}
_LONG_DAYS = {
    "en": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    "fr": ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
}
_ALSO_SHORT = {"en": {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}, "fr": {}}
_DAY = {
    code: rf"(?:{'|'.join([*_LONG_DAYS[code], *_ALSO_SHORT[code], *_SHORT_DAYS[code]])})(?!\w)"
    for code in ("en", "fr")
}
_AFTER_DAY = re.compile(rf"(?<!\w){_DAY['fr']}\.?,?\s+(?={_HOUR}(?!\s+(?:de|d'|par|sur)\b))", re.IGNORECASE)
_DAY_RANGE = {
    code: re.compile(
        rf"(?<!\w)({day})\.?(?:({_DASH})({day})(?:\.(?=[\s:,]*\d))?|(?=:?[ \u00a0]\d{{1,2}}\D))",
        re.IGNORECASE,
    )
    for code, day in _DAY.items()
}
_JOINED = re.compile(rf"{_DASH}|[ \u00a0]|,? ?: ?|, ")
_UNTIL_NOON = re.compile(
    r"\d[ \u00a0\u202f]?h(?:eures?)?(?:[ \u00a0\u202f]?\d{2})?\s+(?:à|et)\s+(?:midi|minuit)\b"
)
_STARTS = re.compile(r"(?:à|dès|vers|jusqu'à|entre)\s", re.IGNORECASE)
_PREPOSITIONS = {"à": "at", "dès": "from", "vers": "around", "jusqu'à": "until"}
"""What stands before a time and belongs to it: the model would not know that it is one."""


def find_times(text: str, source: str, target: str) -> list[tuple[Span, str]]:
    """Where times of day are, and how the other language writes each; only between English and French."""
    if not any(map(str.isdigit, text)) and not any(dash in text for dash in "-–—"):
        return []
    times = _hours(text, source, target)
    days = _days(text, source, target, [span.start for span, _ in times])
    return _joined(text, sorted([*times, *days], key=lambda one: one[0].start), target)


def _days(text: str, source: str, target: str, hours: list[int]) -> list[tuple[Span, str]]:
    """Ranges of days, and days right before an hour."""
    if {source, target} != {"en", "fr"}:
        return []
    found = []
    for match in _DAY_RANGE[source].finditer(text):
        end = match.end()
        rest = text[end:].lstrip(": \u00a0")
        if match[3] is None and len(text) - len(rest) not in hours:
            continue
        days = [_day(day, source, target) for day in (match[1], match[3]) if day is not None]
        written = (match[2] or "").join(days)
        if match.start() == 0 and text[0].isupper():
            written = written[0].upper() + written[1:]
        found.append((Span(match.start(), end), written))
    return found


def _day(day: str, source: str, target: str) -> str:
    """Of equal length, short or long, in the other language."""
    for names in (_SHORT_DAYS, _LONG_DAYS):
        known = [name.lower() for name in names[source]]
        if day.lower() in known:
            return names[target][known.index(day.lower())]
    return _SHORT_DAYS[target][_ALSO_SHORT[source][day.lower()]]


def _joined(text: str, found: list[tuple[Span, str]], target: str) -> list[tuple[Span, str]]:
    """Days and hours in a row are one: the model would change their order."""
    joined: list[tuple[Span, str]] = []
    for span, written in found:
        between = None
        if joined and joined[-1][0].end <= span.start:
            between = _JOINED.fullmatch(text, joined[-1][0].end, span.start)
        if between is None:
            joined.append((span, written))
            continue
        mark = between.group()
        if ":" in mark:
            mark = " : " if target == "fr" else ": "
        before, first = joined[-1]
        joined[-1] = Span(before.start, span.end), f"{first}{mark}{written}"
    return joined


def _hours(text: str, source: str, target: str) -> list[tuple[Span, str]]:
    if (source, target) == ("en", "fr"):
        found = []
        for match in _ENGLISH.finditer(text):
            if int(match[1]) > 12 or int(match[2] or 0) >= 60:
                continue
            half = match[3].lower()
            first = _ENGLISH_FIRST.search(text[: match.start()])
            if first is not None and 0 < int(first[1]) <= 12 and int(first[2] or 0) < 60:
                earlier = int(first[1]) % 12 <= int(match[1]) % 12
                other = half if earlier else "ap".replace(half, "")
                found.append((Span(*first.span()), _in_french(int(first[1]), first[2], other)))
            elif text[: match.start()].endswith(tuple(f"{digit}-" for digit in "0123456789")):
                continue
            found.append((Span(*match.span()), _in_french(int(match[1]), match[2], half)))
        return found
    if (source, target) == ("fr", "en"):
        matches = [
            match for match in _FRENCH.finditer(text) if int(match[1]) <= 24 and int(match[2] or 0) < 60
        ]
        if not any(_STARTS.match(match.group()) for match in matches) and not _UNTIL_NOON.search(text):
            matches = []  # "de 8 h" alone is a duration
        is_range = len(matches) > 1
        found = [_with_preposition(match, is_range=is_range) for match in matches]
        found += _ranges(text, [span.end for span, _ in found])
        return [*found, *_after_days(text, [span.end for span, _ in found])]
    return []


def _ranges(text: str, ends: list[int]) -> list[tuple[Span, str]]:
    """French hours with a dash between two."""
    return [
        (Span(*hour.span()), _in_english(int(hour[1]), hour[2]))
        for match in _FRENCH_RANGE.finditer(text)
        for hour in _HOUR_PARTS.finditer(text, *match.span())
        if hour.end() not in ends and int(hour[1]) <= 24 and int(hour[2] or 0) < 60
    ]


def _after_days(text: str, ends: list[int]) -> list[tuple[Span, str]]:
    """French hours right after a day: vendredi 18 h."""
    hours = (_HOUR_PARTS.match(text, day.end()) for day in _AFTER_DAY.finditer(text))
    return [
        (Span(*hour.span()), _in_english(int(hour[1]), hour[2]))
        for hour in hours
        if hour is not None and hour.end() not in ends and int(hour[1]) <= 24 and int(hour[2] or 0) < 60
    ]


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

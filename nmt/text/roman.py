"""Centuries and roman numerals: 19th century is XIXe siècle, Louis XIV and Chapter IV stay.

Numerals count here up to 39 and in capitals; what is longer or has other letters is rather an abbreviation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt.spans import Span

_ORDINALS = {
    "en": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first",
    "fr": "premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième onzième "
    "douzième treizième quatorzième quinzième seizième dix-septième dix-huitième dix-neuvième vingtième "
    "vingt-et-unième",
}
_WORDS = {
    language: {word: value for value, word in enumerate(words.split(), start=1)}
    for language, words in _ORDINALS.items()
}
_WORDS["fr"]["vingt et unième"] = 21
_NUMERAL = r"X{0,3}(?:IX|IV|V?I{0,3})"
_ROMAN = re.compile(_NUMERAL)
_FORMS = {
    "en": rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{'|'.join(reversed(_WORDS['en']))})",
    "fr": rf"(?:(?:\d{{1,2}}|(?-i:(?=[IVX]){_NUMERAL}))\s?(?:er|ème|e|ᵉ|th)|"
    rf"{'|'.join(reversed(_WORDS['fr']))})",
}
_BETWEEN = {
    "en": r"(?:-(?=\s))?\s*(?:,|–|-|\band\b|\bor\b|\bto\b)(?:\s*\bthe\b)?\s*",
    "fr": r"\s*(?:,|–|-|\bet\b|\bou\b|\bau\b|\bà\b)(?:\s*\b(?:le|du|au)\b)?\s*",
}
_NAMED = {"en": r"[\s-]+centur(?:y|ies)\b", "fr": r"\s+siècles?\b"}
_NAME = re.compile("centur|siècle", re.IGNORECASE)
_CENTURY = {
    language: re.compile(
        rf"(?<![\w,.-]){form}(?!\w)(?=(?:{_BETWEEN[language]}{form}(?!\w)){{0,3}}{_NAMED[language]})",
        re.IGNORECASE,
    )
    for language, form in _FORMS.items()
}
_IN_DIGITS = re.compile(
    rf"(?<![\w,.-])X{{0,3}}(\d{{1,2}})(?:er|ème|e|th)"
    rf"(?=(?:{_BETWEEN['fr']}X{{0,3}}\d{{1,2}}(?:er|ème|e|th)){{0,3}}{_NAMED['fr']})"
)
"""The model may begin a numeral before the digits."""
_LONG_ENDING = re.compile(r"(?<=[IVX])ème(?=\s+siècle)")
_NOUN = re.compile(r"[\s-]+century\b", re.IGNORECASE)
_BEGINS = re.compile(r"(?:^|[.,;:!?]\s)\W*(?:the\s+)?$", re.IGNORECASE)
_OF = re.compile(rf"(?<=\b[Dd])e(?=\s+(?:\d{{1,2}}|(?=[IVX]){_NUMERAL})(?:e|er)\s+siècle\b)")
_AFTER_THE_NOUN = re.compile(rf"\bsiècle\s+((?=[IVX]){_NUMERAL}(?:e|er))(?!\w)")
_WITH_HYPHEN = re.compile(rf"{_FORMS['en']}-century\b", re.IGNORECASE)
_AFTER_A_NOUN = re.compile(
    rf"(?<=[^\W\d_])(?<!\b(?:[Ll]e|[Dd]u|[Aa]u|[Cc]e|[Uu]n|[Dd]e|et|ou))\s"
    rf"(?=(?=[IVX]){_NUMERAL}(?:e|er)\s+siècle\b)"
)
_BARE = re.compile(
    r"\b(?:in|of|from|since|by|until|during)(?=\s+\d{1,2}(?:st|nd|rd|th)\s+century(?:\s*[,.;:!?)]|\s*$))",
    re.IGNORECASE,
)
_PARTS = (
    "chapters?|parts?|acts?|volumes?|vol\\.|books?|sections?|articles?|titles?|appendix|scenes?|phases?|"
    "chapitres?|parties?|actes?|tomes?|livres?|titres?|annexes?|scènes?"
)
_KEPT = re.compile(rf"(?<![\w'’.-])((?i:{_PARTS})\s+)?((?=[IVX]){_NUMERAL})(?![\w'’-]|\.\w)")
_WORLD_WAR = re.compile(r"\b(?:World War|Guerre mondiale)\b", re.IGNORECASE)
"""The second one is seldom a numeral in French."""


def value_of(numeral: str) -> int:
    """The value of a roman numeral.

    >>> value_of("XIX"), value_of("IV")
    (19, 4)
    """
    values = [{"I": 1, "V": 5, "X": 10}[letter] for letter in numeral]
    return sum(
        -value if value < following else value
        for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def numeral_of(value: int) -> str:
    """The roman numeral of a value from 1 to 39."""
    ones = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
    return "X" * (value // 10) + ones[value % 10]


def english_ordinal(value: int) -> str:
    """An ordinal in digits.

    >>> [english_ordinal(value) for value in (1, 2, 11, 23)]
    ['1st', '2nd', '11th', '23rd']
    """
    last = 0 if 11 <= value % 100 <= 13 else value % 10
    return f"{value}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"


def centuries(text: str, language: str) -> list[tuple[Span, int]]:
    """The ordinals of centuries in a text, in digits, numerals or words, and their values."""
    if language not in _CENTURY or not _NAME.search(text):
        return []
    found = ((match, _value(match.group(), language)) for match in _CENTURY[language].finditer(text))
    return [(Span(*match.span()), value) for match, value in found if 1 <= value < 40]


def find_centuries(text: str, source: str, target: str) -> list[tuple[Span, str]]:
    """Where centuries are, and how the other language writes each: 19th, XIXe; The 19th century, XIXe siècle.

    The noun belongs to a century that begins a clause or has a hyphen (a 19th-century house): the model would
    drop it there. There are none but between English and French.
    """
    if {source, target} != {"en", "fr"}:
        return []
    found = []
    for span, value in centuries(text, source):
        noun = _NOUN.match(text, span.end)
        if target == "en":
            found.append((span, english_ordinal(value)))
        elif noun is None or not (noun.group().startswith("-") or _BEGINS.search(text, 0, span.start)):
            found.append((span, _french_ordinal(value)))
        else:
            found.append((Span(span.start, noun.end()), f"{_french_ordinal(value)} siècle"))
    return found


def century_edits(source: str, written: str, languages: tuple[str, str]) -> list[tuple[Span, str]]:
    """What is wrong at centuries of a translation: 19e siècle is XIXe siècle, "in 19th century" lacks "the".

    Args:
        source: the sentence.
        written: its translation.
        languages: of both.
    """
    known = {value for _, value in centuries(source, languages[0])}
    if not known:
        return []
    if languages[1] == "en":
        return [(Span(*match.span()), f"{match.group()} the") for match in _BARE.finditer(written)]
    edits = [
        (Span(*match.span()), _french_ordinal(int(match[1])))
        for match in _IN_DIGITS.finditer(written)
        if int(match[1]) in known
    ]
    if _WITH_HYPHEN.search(source):  # a 19th-century house, une maison du XIXe siècle
        edits += [(Span(*space.span()), " du ") for space in _AFTER_A_NOUN.finditer(written)]
    for found in _AFTER_THE_NOUN.finditer(written):  # au siècle IVe, au IVe siècle
        edits += [(Span(found.start(), found.start(1)), ""), (Span(found.end(), found.end()), " siècle")]
    endings = [(Span(*match.span()), "e") for match in _LONG_ENDING.finditer(written)]
    return edits + endings + [(Span(*match.span()), "u") for match in _OF.finditer(written)]


def is_french_century(text: str) -> bool:
    """Whether a text is what ``find_centuries`` writes in French."""
    return re.fullmatch(rf"(?=[IVX]){_NUMERAL}(?:e|er)(?: siècles?)?", text) is not None


def find_numerals(text: str) -> Iterator[Span]:
    """Roman numerals that a translation keeps: of kings and chapters; a single letter after Chapter alone."""
    if not any(letter in text for letter in "IVX") or _WORLD_WAR.search(text):
        return
    for match in _KEPT.finditer(text):
        if match[1] or len(match[2]) > 1:
            yield Span(*match.span(2))


def missing_numerals(source: str, target: str) -> tuple[str, ...]:
    """Roman numerals of a source that its translation has neither as they are nor in digits."""
    numerals = (source[span.start : span.end] for span in find_numerals(source))
    return tuple(
        numeral
        for numeral in dict.fromkeys(numerals)
        if not re.search(rf"(?<!\w)(?:{numeral}|{value_of(numeral)})(?!\d)", target)
    )


def _value(ordinal: str, language: str) -> int:
    word = ordinal.lower()
    if word in _WORDS[language]:
        return _WORDS[language][word]
    if digits := re.match(r"\d+", ordinal):
        return int(digits.group())
    numeral = _ROMAN.match(ordinal)
    return value_of(numeral.group()) if numeral is not None else 0


def _french_ordinal(value: int) -> str:
    return f"{numeral_of(value)}{'er' if value == 1 else 'e'}"

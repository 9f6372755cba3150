"""Names of people, and streets, told by what stands beside them: they are copied, not translated.

Only what is sure is found: after a title (Dr, Mrs, Mme), after a label (Name:), before what somebody says
(JOHN: Hello.), a given name with a surname inside a sentence, and an address that begins with its number.
All else is left to the model.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from nmt.spans import Span
from nmt.text.languages import KNOWN
from nmt.text.languages.rules import CAPITALISED_WORD

_PARTICLE = r"(?:(?:de|du|des|da|di|van|von|der|den|la|le|al|el|bin|ben)\s+|d['’])"
_INITIAL = r"(?:[A-Z]\.[-\s]?)"
_FULL_NAME = rf"{_INITIAL}*{CAPITALISED_WORD}(?:\s+(?:{_INITIAL}\s*)*{_PARTICLE}*{CAPITALISED_WORD})*"
_AFTER_TITLE = {
    code: re.compile(rf"(?<!\w)(?:{language.titles})\s+({_FULL_NAME})") for code, language in KNOWN.items()
}
_AFTER_LABEL = {
    code: re.compile(rf"\s*(?i:{language.labels})\s*:\s*({_FULL_NAME})\s*$")
    for code, language in KNOWN.items()
}
_STREET = {code: re.compile(rf"(?<![\w,.]){language.street}") for code, language in KNOWN.items()}
_GIVEN = re.compile(rf"(?<![\w-]){CAPITALISED_WORD}")
_SURNAME = re.compile(rf"(?:\s+(?:{_INITIAL}\s*)*{_PARTICLE}*{CAPITALISED_WORD}){{1,2}}")
_SPEAKER = re.compile(
    r"\s*(?:[-–—]\s*)?([^\W\d_a-zß-öø-ÿ][^\W\d_]+(?:[ -][^\W\d_a-zß-öø-ÿ][^\W\d_]+)?)\s?:\s+\S"
)
"""Who speaks: JEAN : Bonjour."""
_ORDINAL = re.compile(r"\s[IVX]+$")
"""Of kings and popes, whose names are translated."""
_WORD = re.compile(r"[^\W\d_]{3,}")
NO_SURNAMES = frozenset(
    [
        "Is",
        "Are",
        "Was",
        "Were",
        "Has",
        "Had",
        "Have",
        "Will",
        "Would",
        "Can",
        "Could",
        "Should",
        "May",
        "Might",
        "Must",
        "Did",
        "Does",
        "Do",
        "And",
        "Or",
        "But",
        "The",
        "A",
        "An",
        "In",
        "On",
        "At",
        "To",
        "Of",
        "For",
        "With",
        "From",
        "By",
        "Not",
        "Said",
        "Went",
        "Likes",
        "Wants",
        "Gets",
        "Got",
        "Came",
        "Took",
        "Made",
        "Saw",
        "Knows",
        "Says",
        "Who",
        "I",
        "You",
        "He",
        "She",
        "It",
        "We",
        "They",
        "Est",
        "Et",
        "Ou",
        "A",
        "Le",
        "La",
        "Les",
        "Un",
        "Une",
        "Des",
        "Du",
        "Dans",
        "En",
        "Au",
        "Aux",
        "Sur",
        "Pour",
        "Par",
        "Avec",
        "Va",
        "Dit",
        "Fait",
        "Ne",
        "Qui",
        "Que",
        "Il",
        "Elle",
        "On",
        "Nous",
        "Vous",
        "Ils",
        "Elles",
        "Sont",
        "Ont",
        "Était",
        "Avait",
    ]
)
"""What a headline has after a given name."""
LONGEST_NAME = 4
"""Words: a longer text whose words begin with capitals is a headline."""


def find_names(text: str, language: str) -> list[Span]:
    """What of a sentence is the name of a person or of a street, in order, without overlaps."""
    if language not in KNOWN:
        return []
    found = [Span(*match.span(1)) for match in _AFTER_TITLE[language].finditer(text)]
    label = _AFTER_LABEL[language].match(text)
    if label is not None:
        found.append(Span(*label.span(1)))
    speaker = _SPEAKER.match(text)
    if speaker is not None and speaker[1].split()[0].capitalize() in given_names():
        found.append(Span(*speaker.span(1)))
    found += [Span(*match.span()) for match in _STREET[language].finditer(text)]
    if not _is_headline(text):
        found += _full_names(text)
    names: list[Span] = []
    for span in sorted(found, key=lambda span: (span.start, -span.end)):
        if not names or names[-1].end <= span.start:
            names.append(span)
    return names


def after_speaker(text: str) -> int | None:
    """Where what somebody says begins, after a speaker's name and a colon; None: nobody speaks."""
    speaker = _SPEAKER.match(text)
    return None if speaker is None else speaker.end() - 1


def _full_names(text: str) -> list[Span]:
    """A given name with the surname after it."""
    found = []
    for given in _GIVEN.finditer(text):
        surname = _SURNAME.match(text, given.end())
        if given.group() not in given_names() or surname is None or _ORDINAL.search(surname.group()):
            continue
        if surname.group().split()[0] not in NO_SURNAMES:
            found.append(Span(given.start(), surname.end()))
    return found


def _is_headline(text: str) -> bool:
    """Whether nearly all words of a long text, or all of a sentence with its mark, begin with capitals."""
    words: list[str] = _WORD.findall(text)
    n_capitals = sum(word[0].isupper() for word in words)
    if len(words) > LONGEST_NAME:
        return n_capitals >= 0.75 * len(words)
    every: list[str] = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", text)
    is_marked = text.rstrip()[-1:] in {".", "!", "?"}
    return is_marked and len(every) >= 3 and all(word[0].isupper() for word in every)


@cache
def given_names() -> frozenset[str]:
    """Given names of ``word_lists/given_names.txt``."""
    path = Path(__file__).parent / "word_lists" / "given_names.txt"
    return frozenset(path.read_text(encoding="utf-8").split())

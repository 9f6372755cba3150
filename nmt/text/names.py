"""Names of people, and streets, told by what stands beside them: they are copied, not translated.

Only what is sure is found: after a title (Dr, Mrs, Mme), after a label (Name:), a given name with a surname
inside a sentence, and an address that begins with its number. All else is left to the model.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from nmt.spans import Span

LANGUAGES = ("en", "fr")
"""Whose titles, labels and streets are known."""
_CAPITALISED = r"(?:[^\W\d_a-zß-öø-ÿ][^\W\d_]*(?:['’-](?!s\b)[^\W\d_]+)*)"
_PARTICLE = r"(?:(?:de|du|des|da|di|van|von|der|den|la|le|al|el|bin|ben)\s+|d['’])"
_INITIAL = r"(?:[A-Z]\.[-\s]?)"
_FULL_NAME = rf"{_INITIAL}*{_CAPITALISED}(?:\s+(?:{_INITIAL}\s*)*{_PARTICLE}*{_CAPITALISED})*"
_TITLES = {
    "en": r"Mrs?\.?|Ms\.?|Miss|Dr\.?|Prof\.?|Sir|Lady|Rev\.|Sgt\.?|Capt\.?",
    "fr": r"M\.|MM\.|Mmes?|Mlles?|Dr\.?|Pr\.?|Me|Monsieur|Madame|Mademoiselle|Docteur|Maître",
}
_LABELS = {
    "en": "name|first name|last name|surname|full name|contact|patient|customer|client|author|signed|attn",
    "fr": "nom|prénom|nom complet|contact|patiente?|cliente?|auteure?|signé|à l'attention de",
}
_STREETS = {
    "en": rf"\d+[A-Za-z]?,?\s+(?:{_CAPITALISED}\s+){{1,3}}"
    r"(?:Street|St\.?|Road|Rd\.?|Avenue|Ave\.?|Lane|Drive|Square|Court|Close|Crescent|Boulevard|Way)(?!\w)",
    "fr": r"\d+(?:\s?(?:bis|ter))?,?\s+(?:rue|avenue|boulevard|place|impasse|chemin|allée|quai|route|square)"
    rf"\s+(?:(?:de|du|des|de\s+la)\s+|d['’]|de\s+l['’])?{_CAPITALISED}(?:[\s-]+{_CAPITALISED})*",
}
_AFTER_TITLE = {
    language: re.compile(rf"(?<!\w)(?:{titles})\s+({_FULL_NAME})") for language, titles in _TITLES.items()
}
_AFTER_LABEL = {
    language: re.compile(rf"\s*(?i:{labels})\s*:\s*({_FULL_NAME})\s*$")
    for language, labels in _LABELS.items()
}
_STREET = {language: re.compile(rf"(?<![\w,.]){street}") for language, street in _STREETS.items()}
_GIVEN = re.compile(rf"(?<![\w-]){_CAPITALISED}")
_SURNAME = re.compile(rf"(?:\s+(?:{_INITIAL}\s*)*{_PARTICLE}*{_CAPITALISED}){{1,2}}")
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
    if language not in LANGUAGES:
        return []
    found = [Span(*match.span(1)) for match in _AFTER_TITLE[language].finditer(text)]
    label = _AFTER_LABEL[language].match(text)
    if label is not None:
        found.append(Span(*label.span(1)))
    found += [Span(*match.span()) for match in _STREET[language].finditer(text)]
    if not _is_headline(text):
        found += _full_names(text)
    names: list[Span] = []
    for span in sorted(found, key=lambda span: (span.start, -span.end)):
        if not names or names[-1].end <= span.start:
            names.append(span)
    return names


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

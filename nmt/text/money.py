"""Amounts of money whose sign a model's vocabulary lacks: £5 million is read as 5 million pounds.

The model then knows what the sign says, and how the words around it agree. What it writes gets the sign back
where its language has one: €45.50 is 45,50 € in French, which writes 5 millions d'euros in words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from nmt.spans import Span, overlap
from nmt.text.edits import Edit
from nmt.text.languages.rules import SPACES

SIGNS = "$€£¥"
_READ = {
    "en": {"$": "dollars", "€": "euros", "£": "pounds", "¥": "yen"},
    "fr": {"$": "dollars", "€": "euros", "£": "livres sterling", "¥": "yens"},
}
"""Language and sign -> what the model reads; French "livres" alone are books too."""
_WRITTEN = {
    "en": {"$": "dollars?", "€": "euros?", "£": "pounds?(?: sterling)?", "¥": "yens?"},
    "fr": {"$": "dollars?", "€": "euros?", "£": "livres?(?: sterling)?", "¥": "yens?"},
}
_SCALES = {"en": "thousand|million|billion|trillion", "fr": "mille|millions?|milliards?"}
_SHORT_SCALES = {
    "en": {"k": "thousand", "m": "million", "mn": "million", "bn": "billion", "tn": "trillion"},
    "fr": {"M": "millions", "Md": "milliards", "Mds": "milliards"},
}
_NUMBER = rf"(?:\d{{1,3}}(?:[{SPACES},.]\d{{3}})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
_DASH = rf"[{SPACES}]?[-–][{SPACES}]?"
_AMOUNTS = {
    language: re.compile(
        rf"(?<![\w.,{SIGNS}-])(?:"
        rf"(?P<before>[{SIGNS}])[{SPACES}]?(?P<number>{_NUMBER}(?:{_DASH}[{SIGNS}]?{_NUMBER})?)(?![.,]?\d)"
        rf"(?:[{SPACES}]?(?P<short>{'|'.join(_SHORT_SCALES[language])})(?!\w)|[ -](?P<scale>{scales})(?!\w))?"
        rf"|(?P<number_>{_NUMBER}(?:{_DASH}{_NUMBER})?)"
        rf"(?:[{SPACES}](?P<scale_>{scales}))?[{SPACES}]?(?P<short_>{'|'.join(_SHORT_SCALES[language])})?"
        rf"(?P<after>[{SIGNS}])(?![\w{SIGNS}]))"
    )
    for language, scales in _SCALES.items()
}
_SCALE_BEFORE_NAME = {"en": f"(?:[ -](?:{_SCALES['en']}))?", "fr": ""}
_IN_WORDS = {
    (language, sign): re.compile(
        rf"(?<![\w.,-])(?P<number>{_NUMBER}(?:{_DASH}{_NUMBER})?)"
        rf"(?P<scale>{_SCALE_BEFORE_NAME[language]})[{SPACES}-]{name}(?!\w)",
        re.IGNORECASE,
    )
    for language, names in _WRITTEN.items()
    for sign, name in names.items()
}
_DIGITS = re.compile(r"\d+")


def amounts_in_words(text: str, language: str, knows: Callable[[str], bool]) -> list[Edit]:
    """Write the amounts whose sign a model does not know in words; only of English and French.

    >>> [edit.text for edit in amounts_in_words("£5-10 million or €3", "en", lambda sign: sign == "$")]
    ['5-10 million pounds', '3 euros']
    """
    if language not in _READ or text.isascii():
        return []
    edits = []
    for match in _AMOUNTS[language].finditer(text):
        sign = match["before"] or match["after"]
        if knows(sign):
            continue
        number = re.sub(f"[{SIGNS}]", "", match["number"] or match["number_"])
        short = match["short"] or match["short_"]
        scale = _SHORT_SCALES[language][short] if short else match["scale"] or match["scale_"]
        name = _READ[language][sign]
        if scale and language == "fr" and scale != "mille":
            name = f"d'{name}" if name[0] in "aeiou" else f"de {name}"
        edits.append(Edit(Span(*match.span()), " ".join(filter(None, (number, scale, name)))))
    return edits


def signs_again(
    source: str, written: str, languages: tuple[str, str], signs: Iterable[str], kept: Sequence[Span] = ()
) -> list[Edit]:
    """Put signs that were read in words back into the amounts of a translation, where its source has them.

    Args:
        source: the sentence.
        written: its translation.
        languages: of both.
        signs: what the model read in words.
        kept: spans of ``written`` that stay as they are.
    """
    read, other = languages
    if read not in _READ or other not in _READ:
        return []
    edits = []
    for sign in signs:
        known = {
            digits
            for match in _AMOUNTS[read].finditer(source)
            if sign in {match["before"], match["after"]}
            for digits in _digits(match["number"] or match["number_"])
        }
        for match in _IN_WORDS[other, sign].finditer(written):
            span, number, scale = Span(*match.span()), match["number"], match["scale"].replace("-", " ")
            if known.issuperset(_digits(number)) and not any(overlap(span, one) for one in kept):
                edits.append(Edit(span, f"{number} {sign}" if other == "fr" else f"{sign}{number}{scale}"))
    return sorted(edits, key=lambda edit: edit.span.start)


def _digits(numbers: str) -> list[str]:
    """The digits of a number, or of both of a range."""
    return ["".join(_DIGITS.findall(number)) for number in re.split("[-–]", numbers)]

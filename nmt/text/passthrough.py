"""What is not for the model: text without letters, in a script that its language is not written in, no words.

Such a sentence is copied. A model that is asked all the same invents something, at length.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from nmt.text.languages import rules
from nmt.text.segment import Segment

Reason = Literal["no_letters", "letters_alone", "other_script", "no_word"]
NOTHING_TO_TRANSLATE: tuple[Reason, ...] = ("no_letters", "letters_alone")
"""A copy is right: it deserves no flag."""

LONGEST_WORD = 100
"""More letters, digits and underscores in a row are no word; the longest in dictionaries have 45 letters."""

_NO_WHITE_SPACE = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")
_NO_WORD = re.compile(rf"\w{{{LONGEST_WORD + 1}}}")
_LETTERS_ALONE = re.compile(r"[A-Z](?:(?:,? |,)[A-Z])+[.!?]?")
_ADDRESS = re.compile(r"[/@\\]")


def reason_to_copy(text: str, language: str) -> Reason | None:
    """Why a sentence is not to be translated; None when it is.

    Args:
        text: a sentence, or a part of one as ``isolate_non_words`` gives it.
        language: ISO 639-1 code of the language that it should be in.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    n_letters = sum(map(str.isalpha, text))
    if n_letters == 0:
        return "no_letters"
    if _LETTERS_ALONE.fullmatch(text):
        return "letters_alone"
    script = rules(language).script
    if script is None:
        return None
    if not text.isascii():
        others = sum(not _is_of_script(letter, script) for letter in text if letter.isalpha())
        if 2 * others > n_letters:
            return "other_script"
    return "no_word" if _NO_WHITE_SPACE.fullmatch(text) and _is_no_word(text) else None


def isolate_non_words(segment: Segment, language: str) -> list[Segment]:
    """Cut a sentence before and after each run of characters that is no word; together they are the sentence.

    Addresses and paths are left in their place, and so is all text of languages in unknown scripts, which
    may write without spaces.
    """
    if rules(language).script is None or len(segment.text) <= LONGEST_WORD:
        return [segment]
    parts: list[Segment] = []
    read = 0

    def add(start: int, end: int) -> None:
        text = segment.text[start:end]
        if core := text.strip():
            place = segment.start + start + len(text) - len(text.lstrip())
            parts.append(Segment(core, place, place + len(core)))

    for match in _NO_WHITE_SPACE.finditer(segment.text):
        if _is_no_word(match.group()):
            add(read, match.start())
            add(*match.span())
            read = match.end()
    add(read, len(segment.text))
    return parts


def _is_no_word(run: str) -> bool:
    return _NO_WORD.search(run) is not None and not _ADDRESS.search(run)


def _is_of_script(letter: str, script: str) -> bool:
    return script in unicodedata.name(letter, "")

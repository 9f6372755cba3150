"""Surface form of a sentence, apart from its words: case, list mark, emoji at its ends, final punctuation.

A model that learnt from tidy sentences loses its way in CAPITALS and Headline Case and adds full stops. So
it is taken off before the model and put back after it: ``SurfaceForm.of`` says what the model is to read,
``SurfaceForm.in_case`` what becomes of what it wrote. Its rules were decided by measurement; see
docs/behaviours.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from nmt.spans import Span, overlap
from nmt.text.edits import Edit
from nmt.text.languages import rules
from nmt.text.literals import Literal as Copied
from nmt.text.names import given_names

Case = Literal["as_is", "capitals", "title", "lower"]

MIN_CAPITALS = 4
"""So few letters in capitals may be an abbreviation."""
MIN_TITLE_WORDS = 3
TITLE_SHARE = 0.75
MOST_SMALL_WORDS = 6
"""A text in small letters without final punctuation is read as it is: very expensive, not Very expensive."""
SMALL_WORD = 3
"""Letters of a word that has no capital among words that have: of, the."""
MOST_FRAGMENT_WORDS = 5
"""One that begins with a capital is read in small letters too, unless the model knows its first word so."""

_MARK = re.compile(r"(?:[-*+•–—‣◦▪●■►✓✔✗→]+|\d{1,3}[.)]|[A-Za-z]\)|\([A-Za-z0-9]{1,3}\))\s+(?=\S)")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_APOSTROPHE = re.compile("['’]")
_LONE_I = re.compile(r"(?<![\w'’.-])i(?=$|['’](?:m|ll|ve|d)\b|[\s,;:!?)])")
_REPEATED_END = re.compile(r"(?:!{2,}|\?{2,}|[!?]{2,}|\.{4,})$")
_END = re.compile(r"[\s\u00a0\u202f]*[.!?…]+$")
_PAIRS = {'"': '"', "“": "”", "«": "»", "(": ")", "[": "]", "‘": "’"}
_BOLD = re.compile(r"\*\*[^\s*](?:[^*]*[^\s*])?\*\*")
_NAMES_A_PLACE = frozenset(
    (
        "Street",
        "Road",
        "Avenue",
        "Square",
        "Lane",
        "Park",
        "Bridge",
        "Sea",
        "Ocean",
        "Bay",
        "Valley",
        "Island",
    )
)
"""Last words of names that are made of common ones: Wall Street."""
_LABELS_A_NUMBER = re.compile(r"\s?:[^\w:]*\d")
_ENDS = ".!?…:;,)]»”\"'’"


@dataclass(frozen=True)
class SurfaceForm:
    """What is taken off a sentence and put back on its translation."""

    core: Span
    """What the model reads of the sentence: the list mark before it and emoji at both ends are copied."""
    case: Case
    recased: str
    """The sentence, as long as it was, in the case that the model reads."""
    ending: str
    """Repeated final punctuation of the core, "" if there is none: the model reads its first mark."""
    unfinished: bool
    """The core ends without punctuation: the model reads a full stop there, and its translation gets none."""

    @classmethod
    def of(
        cls,
        text: str,
        copied: Sequence[Copied] = (),
        prefers: Callable[[str], str] = str.lower,
        language: str = "en",
        is_common: Callable[[str], bool] = str.islower,
    ) -> SurfaceForm:
        """The surface form of ``text``, a sentence without white space around it.

        Args:
            text: the sentence.
            copied: its literals; they keep their case, and emoji and symbols at the ends stand outside.
            prefers: for a word in capitals or with one, the form of it to give to the model.
            language: ISO 639-1 code of the sentence's.
            is_common: whether a word is no name, whatever its capitals.
        """
        core = _core(text, copied)
        inside = text[core.start : core.end]
        words = [
            Span(core.start + match.start(), core.start + match.end()) for match in _WORD.finditer(inside)
        ]
        if copied:
            words = [word for word in words if not any(overlap(word, literal.span) for literal in copied)]
        case = _case(text, words, language, is_common)
        is_caption = core.start > 0 and text[core.start - 1] in "[(" and len(words) == 1
        if is_caption and case == "as_is" and text[words[0].start : words[0].end].istitle():
            case = "title"
        unfinished = inside[-1:] not in _ENDS
        begins = not (is_caption or (case == "title" and _is_label(text, words, is_common)))
        if case == "lower":
            begins = len(words) > (MOST_SMALL_WORDS if unfinished else 1)
        recased = _recased(text, core, words, case, prefers, language, begins=begins)
        if unfinished and _is_fragment(text, core, words, case, language, is_common):
            first = text[words[0].start : words[0].end]
            if len(prefers(first)) == len(first):
                recased = text[: core.start] + prefers(first) + text[words[0].end :]
        ending = _REPEATED_END.search(inside)
        if ending is not None and any(literal.span.end == core.end for literal in copied):
            ending = None
        return cls(
            core,
            case,
            recased,
            ending.group() if ending else "",
            unfinished,
        )

    def edits(self, text: str) -> list[Edit]:
        """What is cut off ``text`` (recased) before the model reads it."""
        edits = [Edit(Span(0, self.core.start), "")] if self.core.start else []
        if self.ending:
            mark = "?" if "?" in self.ending else self.ending[0]
            if self.ending[0] == ".":
                mark = "..."
            edits.append(Edit(Span(self.core.end - len(self.ending), self.core.end), mark))
        if self.unfinished:
            edits.append(Edit(Span(self.core.end, self.core.end), "."))
        if self.core.end < len(text):
            edits.append(Edit(Span(self.core.end, len(text)), ""))
        return edits

    def in_case(self, written: str, kept: Sequence[Span], source: str, language: str = "fr") -> str:
        """What the model wrote, of equal length, in the case of the source; ``kept`` spans are left alone.

        Args:
            written: what it is.
            kept: spans of it.
            source: the sentence.
            language: ISO 639-1 code of what was written: some words of English always have a capital.
        """
        if self.case == "capitals":
            return _map_letters(written, str.upper, kept)
        characters = list(written)
        first = next((place for place, character in enumerate(written) if character.isalpha()), None)
        first_read = next((character for character in source if character.isalpha()), "")
        word = _WORD.match(written, first) if first is not None else None
        if (
            self.case == "lower"
            and word is not None
            and not _is_in(word.start(), kept)
            and not first_read.isupper()
            and _APOSTROPHE.split(word.group())[0].lower() not in rules(language).always_capital
            and len(written[word.start()].lower()) == 1
        ):
            characters[word.start()] = written[word.start()].lower()
        if self.case == "title" and word is not None and not _is_in(word.start(), kept):
            upper = written[word.start()].upper()
            characters[word.start()] = upper if len(upper) == 1 else written[word.start()]
        if self.case == "as_is":
            is_first = word is not None and not any(span.start <= word.start() for span in kept)
            if first_read.isupper() and word is not None and is_first:
                upper = written[word.start()].upper()
                characters[word.start()] = upper if len(upper) == 1 else written[word.start()]
            names = [match.group() for match in _WORD.finditer(source) if match.start() > 0]
            _restore_capitals(characters, written, kept, names)
        return "".join(characters)

    def ending_edits(self, written: str, kept: Sequence[Span], language: str = "fr") -> list[Edit]:
        """Final punctuation as in the source, and none where there was none; ``language``: of ``written``."""
        match = _END.search(written)
        if match is not None and any(span.end > match.start() for span in kept):
            return []
        if self.ending:
            start = len(written) if match is None else match.end() - len(match.group().lstrip())
            return [Edit(Span(start, len(written)), self.ending)]
        if self.unfinished and match is not None:
            return [Edit(Span(match.start(), len(written)), "")]
        mark = self.recased[self.core.start : self.core.end][-1:]
        if match is not None and mark in ".!?" and match.group().strip() in set(".!?") - {mark}:
            spaced = language == "fr" and mark != "."
            return [Edit(Span(match.start(), len(written)), f" {mark}" if spaced else mark)]
        return []

    def frame_edits(self, text: str, written: str) -> list[Edit]:
        """Put back what stood before and after the core of ``text``."""
        return [
            Edit(Span(0, 0), text[: self.core.start]),
            Edit(Span(len(written), len(written)), text[self.core.end :]),
        ]


def _core(text: str, copied: Sequence[Copied]) -> Span:
    """``text`` without list mark and without emoji and symbols at its ends; all of it if nothing is left."""
    start, end = 0, len(text)
    outer = [literal.span for literal in copied if literal.kind in {"emoji", "symbol"}]
    changed = True
    while changed:
        changed = False
        if _is_enclosed(text[start:end]):
            start, end, changed = start + 1, end - 1, True
        if _BOLD.fullmatch(text, start, end):
            start, end, changed = start + 2, end - 2, True
        mark = _MARK.match(text, start, end) if start == 0 else None
        if mark is not None:
            start, changed = mark.end(), True
        for span in outer:
            if span.start == start < end and (text[span.end : span.end + 1].isspace() or span.end == end):
                start, changed = min(end, span.end + _n_spaces(text[span.end : end])), True
            elif span.end == end > start and span.start > start and text[span.start - 1].isspace():
                end, changed = len(text[: span.start].rstrip()), True
    return Span(start, end) if start < end else Span(0, len(text))


def _is_enclosed(text: str) -> bool:
    """Whether quotes or brackets stand around all of a sentence, and none like them inside."""
    if len(text) < 3 or _PAIRS.get(text[0]) != text[-1] or text[1].isspace() or text[-2].isspace():
        return False
    inside = text[1:-1]
    return text[0] not in inside and text[-1] not in inside


def _is_in(place: int, spans: Sequence[Span]) -> bool:
    return any(span.start <= place < span.end for span in spans)


def _n_spaces(text: str) -> int:
    return len(text) - len(text.lstrip())


def _case(text: str, words: Sequence[Span], language: str, is_common: Callable[[str], bool]) -> Case:
    written = [text[span.start : span.end] for span in words]
    letters = "".join(written)
    if not letters or not any(map(str.isalpha, letters)):
        return "as_is"
    if letters.isupper() and len(letters) >= MIN_CAPITALS:
        return "capitals"
    if letters.islower():
        return "lower"
    following = [word for word in written[1:] if len(word) > 1]
    if len(written) >= MIN_TITLE_WORDS and written[0][0].isupper():
        n_capitals = sum(word[0].isupper() for word in following)
        longest = rules(language).longest_small_word
        n_common = sum(word[0].islower() and len(word) > longest for word in following)
        if n_capitals >= 2 and n_common == 0 and n_capitals >= TITLE_SHARE * len(following):
            return "title"
    return "title" if _is_label(text, words, is_common) else "as_is"


def _is_label(text: str, words: Sequence[Span], is_common: Callable[[str], bool]) -> bool:
    """Whether a text is a few common words with a capital each: Red Car, but not Mark Twain."""
    written = [text[span.start : span.end] for span in words]
    capitals = [word for word in written if word[0].isupper()]
    return (
        2 <= len(capitals) <= MOST_FRAGMENT_WORDS
        and written[0] == capitals[0]
        and text[-1:] not in _ENDS
        and written[0] not in given_names()
        and written[-1] not in _NAMES_A_PLACE
        and all(word[1:].islower() and is_common(word) for word in capitals)
        and all(len(word) <= SMALL_WORD for word in written if word not in capitals)
    )


def _is_fragment(
    text: str,
    core: Span,
    words: Sequence[Span],
    case: Case,
    language: str,
    is_common: Callable[[str], bool],
) -> bool:
    """Whether a text is a few words in small letters after a first one that begins with a capital.

    Or one common word, or a label and a number: Streets, Price: $45.
    """
    if case != "as_is" or not 1 <= len(words) <= MOST_FRAGMENT_WORDS or words[0].start != core.start:
        return False
    first, *others = (text[word.start : word.end] for word in words)
    is_alone = words[0].end == core.end and is_common(first)
    if not others and not is_alone and not _LABELS_A_NUMBER.match(text, words[0].end, core.end):
        return False
    lone = _APOSTROPHE.split(first)[0].lower()
    may_be_small = lone not in rules(language).always_capital and (language, lone) != ("en", "i")
    return first[0].isupper() and first[1:].islower() and all(map(str.islower, others)) and may_be_small


def _recased(
    text: str,
    core: Span,
    words: Sequence[Span],
    case: Case,
    prefers: Callable[[str], str],
    language: str,
    *,
    begins: bool,
) -> str:
    """The text in the case that the model reads; ``begins``: its first word has a capital."""
    characters = list(text)

    def write(span: Span, word: str) -> None:
        if len(word) == span.end - span.start:
            characters[span.start : span.end] = word

    if case in {"capitals", "title"}:
        for index, span in enumerate(words):
            word = text[span.start : span.end]
            chosen = prefers(word) if begins else word.lower()
            if (index == 0 and begins) or (language == "en" and word.lower().partition("'")[0] == "i"):
                chosen = chosen[:1].upper() + chosen[1:]
            write(span, chosen)
    elif case == "lower":
        if begins and words[0].start == core.start:
            write(words[0], text[words[0].start].upper() + text[words[0].start + 1 : words[0].end])
        for match in _LONE_I.finditer(text) if language == "en" else ():
            if any(span.start == match.start() for span in words):
                characters[match.start()] = "I"
    return "".join(characters)


def _map_letters(text: str, change: Callable[[str], str], kept: Sequence[Span]) -> str:
    """Change each character by itself where the result is one character."""
    characters = [new if len(new := change(character)) == 1 else character for character in text]
    for span in kept:
        characters[span.start : span.end] = text[span.start : span.end]
    return "".join(characters)


def _restore_capitals(
    characters: list[str], written: str, kept: Sequence[Span], names: Sequence[str]
) -> None:
    """A name with a capital in the source has it in the translation, if it is there and never has one."""
    for name in names:
        if len(name) < 3 or not name[0].isupper() or name.isupper() or name in written:
            continue
        for match in re.finditer(rf"(?<!\w){re.escape(name.lower())}(?!\w)", written):
            if not any(span.start < match.end() and match.start() < span.end for span in kept):
                characters[match.start() : match.end()] = name

"""The text of a message taken apart, so that its lines, its numbers and its JSON are what they were.

A text is lines; each line is translated by itself, and the number or bullet before it is kept. A text that is
JSON keeps its form: its strings are translated, its keys are not. Weblate sends strings as JSON of its own,
and wants a list of translations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nmt.documents import ExtractedDocument, read_document
from nmt.documents.extracted import check_count, has_letters
from nmt.errors import InputError
from nmt.extraction import Extract
from nmt.spans import Span
from nmt.text.glossary import MAX_TERM_CHARACTERS, Glossary, Term, is_exact

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

_LINE_BREAK = re.compile(r"(\r\n|\n|\r)")
_MARK = re.compile(r"\s*(?:\d{1,5}[.):|]\s+|[\[(]\d{1,5}[\])][.:]?\s*|#\d{1,5}[.:]?\s+|[-*+•–]\s+)?\s*")
"""Marks before the text of a line: ``12. ``, ``[12]``, ``- ``."""
_SEPARATOR = re.compile(r"\s*(?:([=\-_#~%|])\1+[A-Z0-9_ ]*\1{2,}|```.*)\s*")
"""A line that parts texts, such as ``==WEBLATE_PART==``, or a fence."""
_PLACEHOLDER = re.compile(r"@@PH\d+@@")


@dataclass(frozen=True)
class Lines:
    """The lines of a text that have something to translate; an ``Extracted[str]``.

    Attributes:
        extracts: of each line what is translated.
        between: what stands before the first, between two, and after the last: one more than ``extracts``.
    """

    extracts: tuple[Extract, ...]
    between: tuple[str, ...]

    def restore(self, translations: Sequence[Translation]) -> str:
        """The text with its lines translated."""
        check_count(self.extracts, translations)
        pairs = zip(self.between, (one.text for one in translations), strict=False)
        return "".join(part for pair in pairs for part in pair) + self.between[-1]


@dataclass(frozen=True)
class Json:
    """A text that is JSON; an ``Extracted[str]``."""

    document: ExtractedDocument

    @property
    def extracts(self) -> tuple[Extract, ...]:
        """Its string values."""
        return self.document.extracts

    def restore(self, translations: Sequence[Translation]) -> str:
        """The same JSON with its strings translated."""
        return self.document.restore(translations).decode()


@dataclass(frozen=True)
class WeblateStrings:
    """Strings that Weblate wants to have translated; an ``Extracted[str]``."""

    sources: tuple[str, ...]
    source_language: str | None
    target_language: str
    glossary: Glossary | None

    @property
    def extracts(self) -> tuple[Extract, ...]:
        """The strings that have words; Weblate's placeholders in them are kept."""
        return tuple(
            Extract(text, tuple(Span(*found.span()) for found in _PLACEHOLDER.finditer(text)))
            for text in self.sources
            if has_letters(_PLACEHOLDER.sub("", text))
        )

    def restore(self, translations: Sequence[Translation]) -> str:
        """A JSON list of the translations."""
        check_count(self.extracts, translations)
        found = iter(translations)
        written = [
            next(found).text if has_letters(_PLACEHOLDER.sub("", text)) else text for text in self.sources
        ]
        return json.dumps(written, ensure_ascii=False)


def take_apart(text: str) -> Lines | Json:
    """JSON if it is a list or an object with strings, else lines."""
    if text.lstrip()[:1] in ("{", "[") and isinstance(_loaded(text), dict | list):
        document = read_document("text.json", text.encode())
        if document.extracts:
            return Json(document)
    return lines(text)


def lines(text: str) -> Lines:
    """The lines of ``text``; those without words, and those that part texts, are kept."""
    extracts: list[Extract] = []
    between = [""]
    for part in _LINE_BREAK.split(text):
        mark = _MARK.match(part)
        assert mark is not None
        body = part[mark.end() :].rstrip()
        if not has_letters(body) or _SEPARATOR.fullmatch(part):
            between[-1] += part
            continue
        between[-1] += mark.group()
        extracts.append(Extract(body))
        between.append(part[mark.end() + len(body) :])
    return Lines(tuple(extracts), tuple(between))


def weblate_strings(text: str) -> WeblateStrings | None:
    """The strings of a message of Weblate's; None: it is none.

    Raises:
        InputError: it is, and a string is missing.
    """
    found = _loaded(text) if text.lstrip().startswith("{") else None
    if not isinstance(found, dict) or not isinstance(found.get("strings"), list):
        return None
    target, source = found.get("target_language"), found.get("source_language")
    if not isinstance(target, str):
        return None
    sources: list[str] = []
    for number, one in enumerate(found["strings"]):
        if not isinstance(one, dict) or not isinstance(one.get("source"), str):
            raise InputError(f"messages: string {number} of the JSON has no source; send one for each")
        sources.append(one["source"])
    terms = found.get("glossary")
    return WeblateStrings(
        tuple(sources),
        source if isinstance(source, str) else None,
        target,
        _glossary(terms if isinstance(terms, list) else []),
    )


def _glossary(entries: list[Any]) -> Glossary | None:
    """Entries by source term; the first of two counts."""
    terms: dict[str, Term] = {}
    for entry in entries:
        both = (entry.get("source"), entry.get("target")) if isinstance(entry, dict) else (None, None)
        source, target = (one.strip() if isinstance(one, str) else "" for one in both)
        if source and target and max(len(source), len(target)) <= MAX_TERM_CHARACTERS:
            terms.setdefault(source if is_exact(source) else source.lower(), Term(source, target))
    return Glossary.of(terms.values()) if terms else None


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None

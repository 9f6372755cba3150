"""Markup tokens -> texts to translate, and back: HTML and XML alike.

Block tags end inline content (``nmt.markup.gather``). Outside of it only some attributes are translated; the
rest is copied.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nmt.extraction import Extract
from nmt.markup.gather import Item, Role, gather
from nmt.markup.inline_content import Escape, InlineContent
from nmt.markup.tokens import Attribute, Kind, Token

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

MAX_COPIED_WORD = 200
"""Characters; a copied element with more text than that is no word of its sentence."""


@dataclass(frozen=True)
class Inner:
    """Markup within markup, characters [start, end) of it: a CDATA section's content."""

    start: int
    end: int
    markup: ExtractedMarkup

    @property
    def extracts(self) -> Sequence[Extract]:
        """Its texts, in order."""
        return self.markup.extracts


@dataclass(frozen=True)
class Value:
    """An attribute's value to translate."""

    attribute: Attribute
    extract: Extract

    @property
    def start(self) -> int:
        """Where it begins in the markup."""
        return self.attribute.start

    @property
    def extracts(self) -> Sequence[Extract]:
        """Its one text."""
        return (self.extract,)


class ExtractedMarkup:
    """Markup taken apart, as ``nmt.extraction.Extracted[str]``.

    Args:
        text: the markup.
        tokens: all of it, see ``nmt.markup.tokens``.
        escape: how characters of a translation are written between tags.
        inner: takes apart the content of a CDATA section; None: there is none.
        keeps_runs: a run of white space in a text is kept as it is; else it is one space.
    """

    def __init__(
        self,
        text: str,
        tokens: Sequence[Token],
        escape: Escape,
        inner: Callable[[str], ExtractedMarkup] | None = None,
        *,
        keeps_runs: bool = False,
    ) -> None:
        self._text = text
        self._escape = escape
        self._contents: list[InlineContent | Inner] = []
        self._values: list[Value] = []
        _Walk(text, tokens, inner, self._contents, self._values, keeps_runs=keeps_runs).run()
        self._parts: list[InlineContent | Inner | Value] = sorted(
            [*self._contents, *self._values], key=lambda part: part.start
        )
        self.extracts: Sequence[Extract] = tuple(extract for part in self._parts for extract in part.extracts)

    def restore(self, translations: Sequence[Translation]) -> str:
        """The markup with the translations in it.

        Args:
            translations: one for each of ``extracts``, in their order, made with ``alignment="links"``.

        Raises:
            ValueError: there are more or fewer translations than extracts.
        """
        if len(translations) != len(self.extracts):
            raise ValueError(f"{len(translations)} translations for {len(self.extracts)} extracts")
        own: dict[int, Sequence[Translation]] = {}
        used = 0
        for part in self._parts:
            own[id(part)] = translations[used : used + len(part.extracts)]
            used += len(part.extracts)
        raw = _Raw(self._text, [(value, own[id(value)][0].text) for value in self._values])
        written: list[str] = []
        read = 0
        for part in self._contents:
            written.append(raw(read, part.start))
            if isinstance(part, Inner):
                written.append(part.markup.restore(own[id(part)]).replace("]]>", "]]]]><![CDATA[>"))
            else:
                written.append(part.restore(own[id(part)][0], raw, self._escape))
            read = part.end
        return "".join([*written, raw(read, len(self._text))])


class _Raw:
    """Slices of the markup, with translated attribute values in them."""

    def __init__(self, text: str, values: Sequence[tuple[Value, str]]) -> None:
        self._text = text
        self._attributes = [value.attribute for value, _ in values]
        self._starts = [attribute.start for attribute in self._attributes]
        self._written = [self._value(value.attribute, translated) for value, translated in values]

    def __call__(self, start: int, end: int) -> str:
        pieces: list[str] = []
        for index in range(bisect_left(self._starts, start), bisect_left(self._starts, end)):
            attribute = self._attributes[index]
            pieces += [self._text[start : attribute.start], self._written[index]]
            start = attribute.end
        return "".join([*pieces, self._text[start:end]])

    def _value(self, attribute: Attribute, translated: str) -> str:
        """In the quotes it had, with the white space it had around it."""
        old = self._text[attribute.start : attribute.end]
        quote = old[0] if old[0] in "\"'" else ""
        bare = old[len(quote) : len(old) - len(quote)]
        before = bare[: len(bare) - len(bare.lstrip())]
        after = bare[len(bare.rstrip()) :]
        quote = quote or '"'
        new = translated.replace("&", "&amp;").replace("<", "&lt;")
        new = new.replace(quote, "&quot;" if quote == '"' else "&#39;")
        return f"{quote}{before}{new}{after}{quote}"


class _Walk:
    """Goes through the tokens once and collects inline contents and attribute values."""

    def __init__(
        self,
        text: str,
        tokens: Sequence[Token],
        inner: Callable[[str], ExtractedMarkup] | None,
        contents: list[InlineContent | Inner],
        values: list[Value],
        *,
        keeps_runs: bool,
    ) -> None:
        self._keeps_runs = keeps_runs
        self._text, self._tokens, self._inner = text, tokens, inner
        self._contents, self._values = contents, values
        self._items: list[Item] = []
        self._places: dict[int, int] = {}
        """Token index of each tag in ``_items`` -> its place there."""
        self._translates, self._keeps_space = True, False
        self._outer: list[tuple[int, bool, bool]] = []
        """(token index at which it comes back, translates, keeps space), the innermost last."""

    def run(self) -> None:
        index = 0
        while index < len(self._tokens):
            while self._outer and self._outer[-1][0] <= index:
                self._flush()
                _, self._translates, self._keeps_space = self._outer.pop()
            index = self._token(index, self._tokens[index])
        self._flush()

    def _token(self, index: int, token: Token) -> int:
        """Deal with one token, or with a copied element; returns the index of the next."""
        if token.kind in {Kind.START, Kind.EMPTY}:
            return self._tag(index, token)
        if token.kind in {Kind.END, Kind.OTHER} and token.splits:
            self._flush()
        elif not self._translates:
            pass
        elif token.kind is Kind.CDATA:
            self._flush()
            if self._inner is not None:
                start = token.end - len("]]>") - len(token.text)
                self._contents.append(Inner(start, start + len(token.text), self._inner(token.text)))
        elif token.kind is Kind.END:
            self._close(token)
        else:
            self._items.append(self._item(token))
        return index + 1

    def _item(self, token: Token) -> Item:
        spelling = self._text[token.start : token.end]
        if token.kind is Kind.TEXT:
            return Item(Role.TEXT, token.start, token.end, token.text)
        if token.kind is Kind.REFERENCE:
            return Item(Role.REFERENCE, token.start, token.end, token.text, spelling)
        if token.kind is Kind.VARIABLE:
            return Item(Role.COPY, token.start, token.end, spelling)
        return Item(Role.POINT, token.start, token.end, separates=token.separates)

    def _tag(self, index: int, token: Token) -> int:
        translates = self._translates if token.translates is None else token.translates
        if self._translates:
            self._add_values(token)
        if self._translates and not translates and not self._has_translated(index + 1, token.after):
            return self._copy(index, token)
        changes = translates != self._translates or token.keeps_space
        if token.splits or token.starts_content or changes:
            self._flush()
        if changes and token.kind is Kind.START:
            self._outer.append((token.after, self._translates, self._keeps_space))
            self._translates, self._keeps_space = translates, self._keeps_space or token.keeps_space
        if self._translates and not token.splits:
            if token.kind is Kind.START:
                self._places[index] = len(self._items)
                self._items.append(Item(Role.OPEN, token.start, token.end, is_stray=token.partner is None))
            else:
                self._items.append(self._item(token))
        return index + 1

    def _close(self, token: Token) -> None:
        place = None if token.partner is None else self._places.get(token.partner)
        if place is not None:
            self._items[place].partner = len(self._items)
        is_stray = token.partner is None
        self._items.append(Item(Role.CLOSE, token.start, token.end, partner=place, is_stray=is_stray))

    def _copy(self, index: int, token: Token) -> int:
        """An element that is copied: a word of its sentence, a point in it, or the end of it."""
        end = self._tokens[token.after - 1].end
        if token.splits:
            self._flush()
            return token.after
        shown = self._tokens[index + 1 : token.after] if token.is_shown else ()
        word = " ".join("".join(inner.text for inner in shown).split())
        if word and len(word) <= MAX_COPIED_WORD:
            self._items.append(Item(Role.COPY, token.start, end, word))
        else:
            self._items.append(Item(Role.POINT, token.start, end, separates=token.separates))
        return token.after

    def _has_translated(self, first: int, last: int) -> bool:
        return any(token.translates for token in self._tokens[first:last])

    def _add_values(self, token: Token) -> None:
        for attribute in token.attributes:
            text = " ".join(attribute.text.split())
            if any(map(str.isalpha, text)):
                self._values.append(Value(attribute, Extract(text)))

    def _flush(self) -> None:
        content = gather(self._items, keeps_space=self._keeps_space, keeps_runs=self._keeps_runs)
        if content is not None:
            self._contents.append(content)
        self._items, self._places = [], {}

"""The inline part of Markdown (CommonMark 0.31, section 6) -> items of a paragraph, and back as it was.

markdown-it-py parses; a wrapper around each of its inline rules notes which characters of the source a token
stands for. So ``*`` and ``_``, link targets and titles, code and HTML come back verbatim; what stands between
tokens is the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from nmt.documents.extracted import PlainText, check_count
from nmt.documents.inline import Item, Paragraph, Stack
from nmt.markup.projection import Side

if TYPE_CHECKING:
    from nmt.extraction import Extract
    from nmt.pipeline.result import Translation

Rule = Callable[[StateInline, bool], bool]

UNBREAKABLE = "\ue000"
"""Stands for a space within code, a target or a tag while lines are filled; a private-use character."""

_SPECIAL = re.compile(r"[\\`*_\[\]<>&~|]")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:?")
_HTML = {"em": "em", "strong": "strong", "s": "del"}


def markdown_parser() -> MarkdownIt:
    """CommonMark, tables and strikethrough; inline tokens say in ``meta["span"]`` where they are."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("text_join")
    for rule in list(parser.inline.ruler.__rules__):
        parser.inline.ruler.at(rule.name, _noting(rule.name, rule.fn))
    return parser


def _noting(name: str, rule: Rule) -> Rule:
    def noting(state: StateInline, silent: bool) -> bool:
        start, n_tokens = state.pos, len(state.tokens)
        label_end = state.md.helpers.parseLinkLabel(state, start, True) if name == "link" else -1
        if not rule(state, silent):
            return False
        if silent:
            return True
        new = [token for token in state.tokens[n_tokens:] if "span" not in token.meta]
        if name == "emphasis":
            for offset, token in enumerate(new[len(new) - (state.pos - start) :]):
                token.meta["span"] = (start + offset, start + offset + 1)
        elif name == "strikethrough":
            end = state.pos
            for token in reversed(new):
                token.meta["span"] = (end - len(token.content), end)
                end -= len(token.content)
        elif name == "link":
            for token in new:
                token.meta["span"] = (start, start + 1) if token.nesting == 1 else (label_end, state.pos)
        else:
            for token in new:
                token.meta["span"] = (start, state.pos)
        return True

    return noting


@dataclass(frozen=True)
class MarkdownText:
    """The inline content of a block; an ``Extracted[str]`` whose spaces in code and tags are UNBREAKABLE."""

    source: str
    paragraph: Paragraph
    containers: tuple[tuple[str, str, str], ...]
    """What opens and closes each container in the source, and its HTML name if it has one."""
    verbatim: frozenset[int]
    """Containers (code, automatic links) that are written as in the source, text and all."""
    objects: tuple[str, ...]
    alternatives: tuple[tuple[int, PlainText], ...]
    """Number of an image, the text that describes it."""
    escaped: tuple[tuple[str, str], ...]
    """Characters that the source escapes somewhere, and how it writes them."""
    parser: MarkdownIt

    @property
    def extracts(self) -> tuple[Extract, ...]:
        """The texts of the block, then the descriptions of its images."""
        own = self.paragraph.extracts
        return own + tuple(extract for _, text in self.alternatives for extract in text.extracts)

    def restore(self, translations: Sequence[Translation]) -> str:
        """The translation with all inline Markdown of the source.

        Where the text around makes a ``*`` mean something else, first special characters are escaped, then
        emphasis is written in HTML.
        """
        check_count(self.extracts, translations)
        n_own = len(self.paragraph.extracts)
        items = self.paragraph.restore(translations[:n_own])
        objects = list(self.objects)
        for (number, text), translation in zip(self.alternatives, translations[n_own:], strict=True):
            described = _SPECIAL.sub(r"\\\g<0>", text.restore([translation]))
            objects[number] = "![" + described + objects[number][2 + len(text.text) :]
        wanted = _structure(self.parser, self.source)
        attempts = ((dict(self.escaped), False), (None, False), (None, True))
        for escaped, in_html in attempts:
            result = self._written(items, objects, escaped, in_html=in_html)
            if _structure(self.parser, result.replace(UNBREAKABLE, " ")) == wanted:
                break
        return result

    def _written(
        self,
        items: Sequence[Item],
        objects: Sequence[str],
        escaped: Mapping[str, str] | None,
        *,
        in_html: bool,
    ) -> str:
        result = ""
        opened: Stack = ()

        def move_to(stack: Stack) -> None:
            nonlocal opened, result
            shared = 0
            while shared < min(len(opened), len(stack)) and opened[shared] == stack[shared]:
                shared += 1
            for number in reversed(opened[shared:]):
                _, closing, name = self.containers[number]
                result += f"</{name}>" if in_html and name else _unbreakable(closing)
            for number in stack[shared:]:
                opening, _, name = self.containers[number]
                result += f"<{name}>" if in_html and name else _unbreakable(opening)
            opened = stack

        for item in items:
            move_to(item.stack)
            if item.kind != "text":
                result += _unbreakable(objects[item.number])
            elif not self.verbatim.intersection(item.stack):
                result += _escape(item.text, escaped)
        move_to(())
        return result


def markdown_text(parser: MarkdownIt, source: str, children: Sequence[Token]) -> MarkdownText:
    """The items of a block's inline content.

    Args:
        parser: from ``markdown_parser``.
        source: the content that the parser read.
        children: its inline tokens.
    """
    reader = _Reader(source)
    for token in children:
        if token.type != "text":
            reader.read(token)
    reader.add_text(len(source))
    return MarkdownText(
        source,
        Paragraph(tuple(reader.items)),
        tuple(reader.containers),
        frozenset(reader.verbatim),
        tuple(reader.objects),
        tuple(reader.alternatives),
        tuple(reader.escaped.items()),
        parser,
    )


class _Reader:
    """Inline tokens become items; the text is what no token stands for."""

    def __init__(self, source: str) -> None:
        self.items: list[Item] = []
        self.containers: list[tuple[str, str, str]] = []
        self.verbatim: set[int] = set()
        self.objects: list[str] = []
        self.alternatives: list[tuple[int, PlainText]] = []
        self.escaped: dict[str, str] = {}
        self._source = source
        self._stack: Stack = ()
        self._read = 0

    def read(self, token: Token) -> None:
        start, end = _span(token)
        self.add_text(max(self._read, start))
        written = self._source[start:end]
        self._read = max(self._read, end)
        if token.type == "text_special":
            if _SPECIAL.fullmatch(token.content):
                self.escaped[token.content] = written
            self.items.append(Item("text", self._stack, token.content))
        elif token.type == "softbreak":
            self.items.append(Item("text", self._stack, " "))
        elif token.type == "hardbreak":
            if self.items and self.items[-1].kind == "text":
                self.items[-1] = replace(self.items[-1], text=self.items[-1].text.rstrip())
            self._add_object("\\\n" if written.startswith("\\") else "  \n", "barrier")
        elif token.type == "code_inline" or (token.info == "auto" and token.nesting == 1):
            self.verbatim.add(len(self.containers))
            shown = token.content or written[1:-1]
            self.items.append(Item("text", (*self._stack, len(self.containers)), shown, keep=True))
            self.containers.append((written, "", ""))
        elif token.nesting == 1:
            self._stack = (*self._stack, len(self.containers))
            self.containers.append((written, "", _HTML.get(token.tag, "")))
        elif token.nesting == -1 and token.info != "auto":
            opening, _, name = self.containers[self._stack[-1]]
            self.containers[self._stack[-1]] = (opening, written, name)
            self._stack = self._stack[:-1]
        elif token.nesting == 0:
            self._add_object(written, "object")
            alternative = PlainText(token.content)
            is_plain = written.startswith(f"![{token.content}]")
            if token.type == "image" and is_plain and alternative.extracts:
                self.alternatives.append((len(self.objects) - 1, alternative))

    def add_text(self, end: int) -> None:
        """The text up to ``end``, references to footnotes as objects."""
        for label in _FOOTNOTE.finditer(self._source, self._read, end):
            self._add_plain(label.start())
            self._read = label.end()
            self._add_object(label.group(), "object")
        self._add_plain(end)
        self._read = end

    def _add_plain(self, end: int) -> None:
        if end > self._read:
            self.items.append(Item("text", self._stack, self._source[self._read : end]))

    def _add_object(self, written: str, kind: Literal["object", "barrier"]) -> None:
        self.objects.append(written)
        side: Side = "left" if written.startswith("[^") else "none"
        self.items.append(Item(kind, self._stack, number=len(self.objects) - 1, side=side))


def _span(token: Token) -> tuple[int, int]:
    """Characters of the source that a token stands for.

    The parser makes strong emphasis of two adjacent tokens of a character each, and keeps the inner one.
    """
    start, end = token.meta["span"]
    if token.type == "strong_open":
        start -= 1
    elif token.type == "strong_close":
        end += 1
    return start, end


def _escape(text: str, escaped: Mapping[str, str] | None) -> str:
    """``escaped`` characters as they are written there; None: a backslash before all with a meaning."""
    if escaped is None:
        return _SPECIAL.sub(r"\\\g<0>", text)
    return _SPECIAL.sub(lambda match: escaped.get(match.group(), match.group()), text)


def _unbreakable(written: str) -> str:
    return written.replace(" ", UNBREAKABLE)


def _structure(parser: MarkdownIt, source: str) -> Counter[tuple[str, str]]:
    """How often each kind of inline element is in ``source``, links and pictures with their targets."""
    counts: Counter[tuple[str, str]] = Counter()
    for token in parser.parseInline(source)[0].children or ():
        if token.type.startswith("html_inline"):
            continue  # emphasis may become HTML
        if token.type not in {"text", "softbreak", "text_special"} and token.nesting >= 0:
            counts[token.type, str(token.attrGet("href") or token.attrGet("src") or "")] += 1
    return counts

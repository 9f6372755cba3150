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

from nmt.alignment.projection import Side
from nmt.documents.extracted import PlainText, check_count, has_letters
from nmt.documents.inline import Item, Paragraph, Stack
from nmt.documents.markdown_dialects import add_dialects
from nmt.text.mentions import is_mention

if TYPE_CHECKING:
    from nmt.extraction import Extract
    from nmt.pipeline.result import Translation

Rule = Callable[[StateInline, bool], bool]

UNBREAKABLE = "\ue000"
"""Stands for a space within code, a target or a tag while lines are filled; a private-use character."""
BREAK = "\ue001"
"""Stands for a line's end that means a space to a reader, where the lines are not filled."""

_SPECIAL = re.compile(r"[\\`*_\[\]<>&~|]")
_NEW_LINE = re.compile(r"\s*[\n\ue001]\s*")
"""A line break that the translator made, which would end the block."""
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:?")
_HTML = {"em": "em", "strong": "strong", "s": "del"}
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][\w-]*)[^<>]*?(?P<empty>/?)>$", re.DOTALL)
_COPIED = frozenset(("code", "kbd", "samp", "tt", "var"))
_NO_TRANSLATION = re.compile(
    r"""translate\s*=\s*["']?no\b|class\s*=\s*["'][^"']*\bnotranslate\b""", re.IGNORECASE
)
_SIGNS = frozenset(("a", "wiki", "sup"))
"""Elements that are no part of the sentence when they hold no letter."""


def markdown_parser() -> MarkdownIt:
    """CommonMark, tables and strikethrough; inline tokens say in ``meta["span"]`` where they are."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("text_join")
    for rule in list(parser.inline.ruler.__rules__):
        parser.inline.ruler.at(rule.name, _noting(rule.name, rule.fn))
    add_dialects(parser)
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
    alternatives: tuple[tuple[int, int, PlainText], ...]
    """Number of an object, where in it the text stands that describes an image, and that text."""
    escaped: tuple[tuple[str, str], ...]
    """Characters that the source escapes somewhere, and how it writes them."""
    parser: MarkdownIt

    @property
    def extracts(self) -> tuple[Extract, ...]:
        """The texts of the block, then the descriptions of its images."""
        own = self.paragraph.extracts
        return own + tuple(extract for *_, text in self.alternatives for extract in text.extracts)

    def restore(self, translations: Sequence[Translation]) -> str:
        """The translation with all inline Markdown of the source.

        Where the text around makes a ``*`` mean something else, first special characters are escaped, then
        emphasis is written in HTML.
        """
        check_count(self.extracts, translations)
        n_own = len(self.paragraph.extracts)
        items = self.paragraph.restore(translations[:n_own])
        objects = list(self.objects)
        described = list(zip(self.alternatives, translations[n_own:], strict=True))
        for (number, start, text), translation in reversed(described):
            written = _SPECIAL.sub(r"\\\g<0>", text.restore([translation]))
            end = start + len(text.text)
            objects[number] = objects[number][:start] + written + objects[number][end:]
        wanted = _structure(self.parser, self.source)
        attempts = ((dict(self.escaped), False), (None, False), (None, True))
        for escaped, in_html in attempts:
            result = self._written(items, objects, escaped, in_html=in_html)
            if _structure(self.parser, _readable(result)) == wanted:
                break
        return result

    def unchanged(self) -> str:
        """The source as ``restore`` writes it, to see whether it is filled to a width."""
        return self._written(self.paragraph.items, self.objects, dict(self.escaped), in_html=False)

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
                result += _escape(_NEW_LINE.sub(" ", item.text), escaped)
        move_to(())
        return result


def markdown_text(
    parser: MarkdownIt, source: str, children: Sequence[Token], *, keeps_lines: bool = False
) -> MarkdownText:
    """The items of a block's inline content.

    Args:
        parser: from ``markdown_parser``.
        source: the content that the parser read.
        children: its inline tokens.
        keeps_lines: a line that ends in the source ends in the translation, about where it did; else it is
            a space.
    """
    reader = _Reader(source, keeps_lines=keeps_lines)
    for token in _with_pairs(children):
        if token.type != "text":
            reader.read(token)
    reader.add_text(len(source))
    return MarkdownText(
        source,
        Paragraph(tuple(reader.items)),
        tuple(reader.containers),
        frozenset(reader.verbatim),
        tuple(reader.objects),
        tuple((number, place - reader.starts[number], text) for number, place, text in reader.alternatives),
        tuple(reader.escaped.items()),
        parser,
    )


def _with_pairs(children: Sequence[Token]) -> list[Token]:
    """Tokens with each pair of HTML tags as the containers that they are; code and the like as a copy."""
    tokens = [token.copy() for token in children]
    opened: list[int] = []
    closing = Counter(tag for token in tokens if (tag := _tag_name(token, closing=True)))
    """Closing tags still to come: a tag that none closes need not be looked at."""
    for index, token in enumerate(tokens):
        opens, closes = _tag_name(token), _tag_name(token, closing=True)
        if token.nesting == 1 or closing[opens]:
            opened.append(index)
        elif token.nesting == -1:
            while opened and tokens[opened[-1]].nesting == 0:
                opened.pop()  # a tag that is not closed where it was opened
            if opened:
                opened.pop()
        elif closes:
            closing[closes] -= 1
            while opened and tokens[opened[-1]].nesting == 0 and not closing[_tag_name(tokens[opened[-1]])]:
                if _tag_name(tokens[opened[-1]]) == closes:
                    break
                opened.pop()
            if opened and tokens[opened[-1]].nesting == 0 and _tag_name(tokens[opened[-1]]) == closes:
                _pair(tokens, opened.pop(), index, closes)
    return tokens


def _tag_name(token: Token, *, closing: bool = False) -> str:
    """Of a tag of HTML that begins an element, or ends one; "" for any other token."""
    tag = _TAG.match(token.content) if token.type == "html_inline" else None
    if tag is None or tag["empty"] or (tag["end"] == "/") != closing:
        return ""
    return tag["name"].lower()


def _pair(tokens: Sequence[Token], start: int, end: int, name: str) -> None:
    opening, closing = tokens[start], tokens[end]
    is_copied = name in _COPIED or _NO_TRANSLATION.search(opening.content) is not None
    lines = any(token.type in {"softbreak", "hardbreak"} for token in tokens[start:end])
    if is_copied and not lines:
        opening.type = "copied"
        opening.meta = {"span": (_span(opening)[0], _span(closing)[1])}
        opening.content = "".join(token.content for token in tokens[start + 1 : end])
        return
    opening.type, opening.nesting, opening.tag = "tag_open", 1, name
    closing.type, closing.nesting, closing.tag = "tag_close", -1, name


class _Reader:
    """Inline tokens become items; the text is what no token stands for."""

    def __init__(self, source: str, *, keeps_lines: bool) -> None:
        self.items: list[Item] = []
        self.containers: list[tuple[str, str, str]] = []
        self.verbatim: set[int] = set()
        self.objects: list[str] = []
        self.starts: list[int] = []
        """Of each object, where it is in the source."""
        self.alternatives: list[tuple[int, int, PlainText]] = []
        """Number of an object, where in the source the description is, and the description."""
        self.escaped: dict[str, str] = {}
        self._source = source
        self._keeps_lines = keeps_lines
        self._stack: Stack = ()
        self._opened: list[tuple[int, int, str]] = []
        """Of each open container: place in ``items``, start in the source, name of its element."""
        self._read = 0

    def read(self, token: Token) -> None:
        start, end = _span(token)
        if end <= self._read and start < self._read:
            return  # in an element that is copied whole
        self.add_text(max(self._read, start))
        written = self._source[start:end]
        self._read = max(self._read, end)
        if token.type == "text_special":
            if _SPECIAL.fullmatch(token.content):
                self.escaped[token.content] = written
            self.items.append(Item("text", self._stack, token.content))
        elif token.type in {"softbreak", "hardbreak"}:
            self._end_line(written, is_hard=token.type == "hardbreak")
        elif token.type in {"code_inline", "copied"} or (token.info == "auto" and token.nesting == 1):
            self._copy(written, token.content or written[1:-1])
        elif token.nesting == 1:
            self._opened.append((len(self.items), start, token.tag))
            self._stack = (*self._stack, len(self.containers))
            self.containers.append((written, "", _HTML.get(token.tag, "")))
        elif token.nesting == -1 and token.info != "auto":
            self._close(written, end)
        elif token.nesting == 0:
            self._add_object(written, start, _is_break(token))
            alternative = PlainText(token.content)
            is_plain = written.startswith(f"![{token.content}]")
            if token.type == "image" and is_plain and alternative.extracts:
                self.alternatives.append((len(self.objects) - 1, start + 2, alternative))

    def _copy(self, written: str, shown: str) -> None:
        self.verbatim.add(len(self.containers))
        self.items.append(Item("text", (*self._stack, len(self.containers)), shown, keep=True))
        self.containers.append((written, "", ""))

    def _close(self, written: str, end: int) -> None:
        """A container ends; one without a word in it is an object, or a copy."""
        opening, _, name = self.containers[self._stack[-1]]
        self.containers[self._stack[-1]] = (opening, written, name)
        self._stack = self._stack[:-1]
        place, start, tag = self._opened.pop()
        inside = self.items[place:]
        text = "".join(item.text for item in inside)
        source = self._source[start:end]
        if any(item.kind == "barrier" for item in inside) or BREAK in source:
            return
        if not text.strip() and tag != "mark":
            del self.items[place:]
            numbers = {item.number for item in inside}
            self._add_object(source, start, "object")
            own = len(self.objects) - 1
            self.alternatives = [
                (own if number in numbers else number, at, text) for number, at, text in self.alternatives
            ]
        elif tag in _SIGNS and is_mention(text):
            del self.items[place:]
            self._copy(source, text)
        elif tag in _SIGNS and not has_letters(text):
            is_glued = self._source[start - 1 : start].isalnum() and not self._source[end : end + 1].isalnum()
            if is_glued:  # a footnote's number or an asterisk goes with the word before
                del self.items[place:]
                self._add_object(source, start, "object")
            elif tag != "sup":
                del self.items[place:]
                self._copy(source, text)

    def _end_line(self, written: str, *, is_hard: bool) -> None:
        """A line break, with the white space around it."""
        trailing = "\\" if written.startswith("\\") else ""
        if self.items and self.items[-1].kind == "text" and not self.items[-1].keep:
            text = self.items[-1].text
            self.items[-1] = replace(self.items[-1], text=text.rstrip(" "))
            trailing = text[len(text.rstrip(" ")) :] + trailing
        leading = written[written.index("\n") + 1 :] if self._keeps_lines else ""
        if is_hard:
            self._add_object(f"{trailing}\n{leading}", 0, "barrier")
        elif self._keeps_lines:
            self._add_object(f"{trailing}{BREAK}{leading}", 0, "object")
            self.items[-1] = replace(self.items[-1], separates=True, in_order=True, side="none")
        else:
            self.items.append(Item("text", self._stack, " "))

    def add_text(self, end: int) -> None:
        """The text up to ``end``, references to footnotes as objects."""
        for label in _FOOTNOTE.finditer(self._source, self._read, end):
            self._add_plain(label.start())
            self._read = label.end()
            self._add_object(label.group(), label.start(), "object")
        self._add_plain(end)
        self._read = end

    def _add_plain(self, end: int) -> None:
        if end > self._read:
            self.items.append(Item("text", self._stack, self._source[self._read : end]))

    def _add_object(self, written: str, start: int, kind: Literal["object", "barrier"]) -> None:
        self.objects.append(written)
        self.starts.append(start)
        side: Side = "left" if written.startswith("[^") else "none"
        self.items.append(Item(kind, self._stack, number=len(self.objects) - 1, side=side))


def _is_break(token: Token) -> Literal["object", "barrier"]:
    """``<br>`` parts texts."""
    tag = _TAG.match(token.content) if token.type == "html_inline" else None
    return "barrier" if tag and tag["name"].lower() == "br" else "object"


def _readable(written: str) -> str:
    return written.replace(UNBREAKABLE, " ").replace(BREAK, "\n")


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
            own = token.content if token.type in {"copied", "object"} else ""
            counts[token.type, str(token.attrGet("href") or token.attrGet("src") or own)] += 1
    return counts

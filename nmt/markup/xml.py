"""XML into tokens, by expat, with the outline of the document: which elements part sentences.

Expat is strict, tells the byte where each token begins, and never replaces a general entity here: neither an
external one nor one of the document's own is ever expanded, so there is nothing to blow up.

Source: XML 1.0, 2.10 (``xml:space``), 4.4 (entities); ITS 2.0, 8.1 (``its:translate``). The outline follows
what DeepL documents of its own: an element is part of a sentence if there is text beside it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from html import unescape
from html.entities import html5
from itertools import pairwise
from xml.parsers import expat

from nmt.errors import InputError
from nmt.markup.tokens import Attribute, Kind, Token, copy_mentions
from nmt.text.mentions import CLASSES

_DOCUMENT = re.compile(r"\ufeff?\s*<(?:\?xml\s|!DOCTYPE)")
MAX_DEPTH = 200
"""Elements inside each other."""
_ROOT = "<r>"
"""Put around a fragment while it is parsed."""
_ATTRIBUTE = re.compile(r"""\s(?P<name>[^\s=<>"'/]+)\s*=\s*(?P<value>"[^"]*"|'[^']*')""")
_TRANSLATE = ("translate", "its:translate", "translatable")
"""The last one is Android's."""


def tokenize_xml(
    text: str,
    ignore_tags: Collection[str] = (),
    splitting_tags: Collection[str] = (),
    non_splitting_tags: Collection[str] = (),
    attributes: Collection[str] = (),
    *,
    outline_detection: bool = True,
) -> list[Token]:
    """Tokens of an XML document, or of a fragment: text and elements without a root.

    Args:
        text: the document; what it declares as its encoding does not matter any more.
        ignore_tags: elements to copy.
        splitting_tags: elements that part sentences, whatever is beside them.
        non_splitting_tags: elements that never do.
        attributes: names of the attributes to translate.
        outline_detection: whether other elements may part sentences.

    Raises:
        InputError: it is not well-formed, or nested too deeply; the place is named.
    """
    tokens = _Scanner(text).tokens()
    _pair(tokens)
    inline = _inline(tokens) if outline_detection else [True] * len(tokens)
    for token, is_inline in zip(tokens, inline, strict=True):
        if token.name:
            token.splits = token.name in splitting_tags or not (is_inline or token.name in non_splitting_tags)
        if token.kind in {Kind.START, Kind.EMPTY}:
            _describe(token, text[token.start : token.end], ignore_tags, attributes)
    copy_mentions(tokens)
    return tokens


class _Scanner:
    """Collects where each event of expat begins; a token ends where the next one begins."""

    def __init__(self, text: str) -> None:
        self._text = text
        wrapped = text if _DOCUMENT.match(text) else f"{_ROOT}{text}</{_ROOT[1:]}"
        self._n_before = len(wrapped) - len(text) and len(_ROOT)
        self._bytes = wrapped.encode("utf-8", "replace")  # a lone surrogate is one character still
        self._events: list[tuple[int, Kind, str]] = []
        self._is_inside: str | None = None
        self._parser = self._new_parser()

    def _new_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate(encoding="utf-8")
        parser.UseForeignDTD(True)  # an entity that is not declared is then skipped, not an error
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = lambda name, _: self._add(Kind.START, name)
        parser.EndElementHandler = lambda name: self._add(Kind.END, name)
        parser.CharacterDataHandler = lambda data: self._add(Kind.TEXT, data)
        parser.CommentHandler = parser.DefaultHandler = lambda data: self._add(Kind.OTHER, data)
        parser.ProcessingInstructionHandler = lambda *_: self._add(Kind.OTHER)
        parser.StartDoctypeDeclHandler = lambda *_: self._enter(Kind.OTHER, "doctype")
        parser.StartCdataSectionHandler = lambda: self._enter(Kind.CDATA, "cdata")
        parser.EndDoctypeDeclHandler = parser.EndCdataSectionHandler = self._leave
        return parser

    def _add(self, kind: Kind, data: str = "") -> None:
        if self._is_inside is None:
            self._events.append((self._parser.CurrentByteIndex, kind, data))

    def _enter(self, kind: Kind, what: str) -> None:
        self._add(kind)
        self._is_inside = what

    def _leave(self) -> None:
        self._is_inside = None

    def tokens(self) -> list[Token]:
        try:
            self._parser.Parse(self._bytes, True)
        except expat.ExpatError as error:
            raise self._not_well_formed(error) from None
        ends = self._characters([begin for begin, _, _ in self._events] + [len(self._bytes)])
        tokens: list[Token] = []
        if ends[0] > 0:
            tokens.append(Token(Kind.OTHER, 0, ends[0]))
        for (start, end), (_, kind, data) in zip(pairwise(ends), self._events, strict=True):
            raw = self._text[start:end]
            if kind is Kind.END and tokens and tokens[-1].kind is Kind.START and tokens[-1].end == start:
                opening = tokens[-1]
                if self._text.startswith("/>", opening.end - 2):
                    opening.kind = Kind.EMPTY
                    continue
            if raw:
                tokens.append(_token(kind, start, end, raw, data))
        return tokens

    def _characters(self, offsets: Sequence[int]) -> list[int]:
        """Byte offsets of what was parsed -> character offsets of the text; ascending."""
        found, before = [], 0
        count = -self._n_before
        for offset in offsets:
            count += len(self._bytes[before:offset].decode())
            before = offset
            found.append(min(max(count, 0), len(self._text)))
        return found

    def _not_well_formed(self, error: expat.ExpatError) -> InputError:
        """The error as a person wants it: where, in lines and columns of the text that was sent."""
        reason = expat.ErrorString(error.code)
        (place,) = self._characters([max(0, self._parser.ErrorByteIndex)])
        unclosed = self._unclosed()
        if place >= len(self._text.rstrip()) and unclosed is not None:
            place, reason = unclosed, "the element that begins there has no end tag"
        line = self._text.count("\n", 0, place) + 1
        column = place - (self._text.rfind("\n", 0, place) + 1) + 1
        return InputError(
            f"the XML is not well-formed at line {line}, column {column}: {reason}; "
            "correct it, or have it read as HTML, which may be of any shape"
        )

    def _unclosed(self) -> int | None:
        """Where the innermost element begins that has no end tag."""
        opened = []
        for begin, kind, _ in self._events:
            if kind is Kind.START:
                opened.append(begin)
            elif kind is Kind.END and opened:
                opened.pop()
        begins = self._characters(opened[self._n_before > 0 :])
        return begins[-1] if begins else None


def _token(kind: Kind, start: int, end: int, raw: str, data: str) -> Token:
    if kind is Kind.TEXT:
        is_reference = raw[0] == "&" and raw != "&"
        return Token(Kind.REFERENCE if is_reference else kind, start, end, data if is_reference else raw)
    if kind is Kind.CDATA:
        return Token(kind, start, end, raw[len("<![CDATA[") : -len("]]>")])
    if kind is Kind.OTHER and raw[0] == "&":
        known = html5.get(raw[1:])
        return Token(Kind.REFERENCE if known else Kind.VARIABLE, start, end, known or raw)
    return Token(kind, start, end, name=data if kind in {Kind.START, Kind.END} else "")


def _pair(tokens: Sequence[Token]) -> None:
    opened: list[int] = []
    for index, token in enumerate(tokens):
        token.after = index + 1
        if token.kind is Kind.START:
            opened.append(index)
            if len(opened) > MAX_DEPTH:
                raise InputError(
                    f"the XML has elements nested deeper than {MAX_DEPTH}, at character {token.start + 1}; "
                    "split it"
                )
        elif token.kind is Kind.END and opened:
            start = opened.pop()
            tokens[start].partner, token.partner, tokens[start].after = index, start, index + 1


def _inline(tokens: Sequence[Token]) -> list[bool]:
    """For each tag, whether its element is part of a sentence: text is beside it or beside an outer one."""
    with_text: set[int] = set()
    parents: list[int] = []
    opened = [-1]
    for index, token in enumerate(tokens):
        if token.kind is Kind.END:
            opened.pop()
        parents.append(opened[-1])
        if token.kind is Kind.START:
            opened.append(index)
        elif token.kind in {Kind.REFERENCE, Kind.VARIABLE} or (
            token.kind is Kind.TEXT and token.text.strip()
        ):
            with_text.add(opened[-1])
    inline: list[bool] = []
    for token, parent in zip(tokens, parents, strict=True):
        is_tag = token.kind in {Kind.START, Kind.EMPTY}
        inline.append(is_tag and (parent in with_text or (parent >= 0 and inline[parent])))
        if token.kind is Kind.END and token.partner is not None:
            inline[-1] = inline[token.partner]
    return inline


def _describe(token: Token, raw: str, ignored: Collection[str], attributes: Collection[str]) -> None:
    """Fill in what follows from the name of a start tag and its attributes."""
    values = {match["name"]: match for match in _ATTRIBUTE.finditer(raw)}
    translate = next((values[name]["value"][1:-1] for name in _TRANSLATE if name in values), None)
    token.translates = (
        False if token.name in ignored else {"no": False, "false": False, "yes": True}.get(translate or "")
    )
    token.is_mention = "class" in values and not CLASSES.isdisjoint(values["class"]["value"][1:-1].split())
    token.keeps_space = "xml:space" in values and values["xml:space"]["value"][1:-1] == "preserve"
    token.attributes = tuple(
        Attribute(
            token.start + match.start("value"),
            token.start + match.end("value"),
            unescape(match["value"][1:-1]),
        )
        for name, match in values.items()
        if name in attributes
    )

"""Changes of single elements and attributes of an XML file, all else of it left byte for byte.

lxml reads the file but keeps no places; ``nmt.markup.xml`` keeps them. Their elements are the same, in order.
"""

from __future__ import annotations

import re

from lxml import etree

from nmt.markup.tokens import Kind
from nmt.markup.xml import tokenize_xml
from nmt.spans import Span

_NAMESPACE = re.compile(r"""\sxmlns(?::[\w.\-]+)?=(?:"[^"]*"|'[^']*')""")
_START_TAG = re.compile(r"<[^>]*>")


class Edits:
    """Changes to ``text``, made together by ``result``.

    Args:
        text: the file.
        root: its root element.
    """

    def __init__(self, text: str, root: etree._Element) -> None:
        self._text = text
        tokens = tokenize_xml(text)
        starts = [token for token in tokens if token.kind in {Kind.START, Kind.EMPTY}]
        elements = list(root.iter(etree.Element))
        self._tags = {id(element): token for element, token in zip(elements, starts, strict=True)}
        self._elements = elements  # lxml's proxies must live as long as their ids are used
        self._ends = {
            id(element): tokens[token.after - 1].end for element, token in zip(elements, starts, strict=True)
        }
        self._changes: list[tuple[Span, str]] = []

    def content(self, element: etree._Element) -> str:
        """What is between the tags of an element of the file, as it is written; "" of an empty element."""
        span = self._content(element)
        return self._text[span.start : span.end]

    def set_content(self, element: etree._Element, raw: str) -> None:
        """Write ``raw``, which is XML already, between the tags of an element of the file."""
        token, span = self._tags[id(element)], self._content(element)
        if token.kind is Kind.EMPTY:
            tag = self._text[token.start : token.end - 2].rstrip()
            name = tag[1:].split(maxsplit=1)[0]
            self._changes.append((Span(token.start, token.end), f"{tag}>{raw}</{name}>"))
        else:
            self._changes.append((span, raw))

    def _content(self, element: etree._Element) -> Span:
        token, end = self._tags[id(element)], self._ends[id(element)]
        if token.kind is Kind.EMPTY:
            return Span(token.end, token.end)
        return Span(token.end, self._text.rindex("</", token.end, end))

    def replace(self, element: etree._Element, new: etree._Element) -> None:
        """Write ``new`` in the place of an element of the file."""
        token = self._tags[id(element)]
        self._changes.append((Span(token.start, self._ends[id(element)]), _written(new)))

    def add_after(self, element: etree._Element, new: etree._Element) -> None:
        """Write ``new`` after an element of the file, with the white space that is there."""
        end = self._ends[id(element)]
        space = self._text[end:]
        space = space[: len(space) - len(space.lstrip())]
        self._changes.append((Span(end, end), space + _written(new)))

    def set_attribute(self, element: etree._Element, name: str, value: str) -> None:
        """Give an element of the file another value of an attribute, or the attribute."""
        token = self._tags[id(element)]
        raw = self._text[token.start : token.end]
        found = re.search(rf"""\s{re.escape(name)}\s*=\s*("[^"]*"|'[^']*')""", raw)
        if found:
            start, end = found.span(1)
            self._changes.append((Span(token.start + start, token.start + end), f'"{value}"'))
        else:
            end = token.end - (2 if raw.endswith("/>") else 1)
            end -= len(self._text[token.start : end]) - len(self._text[token.start : end].rstrip())
            self._changes.append((Span(end, end), f' {name}="{value}"'))

    def result(self) -> str:
        """The file with all changes."""
        pieces: list[str] = []
        read = 0
        for span, new in sorted(self._changes, key=lambda change: (change[0].start, change[0].end)):
            pieces += [self._text[read : span.start], new]
            read = span.end
        return "".join([*pieces, self._text[read:]])


def _written(element: etree._Element) -> str:
    """An element without the namespaces that the elements around it declare."""
    text = etree.tostring(element, encoding="unicode", with_tail=False)
    tag = _START_TAG.match(text)
    assert tag, "an element begins with its tag"
    return _NAMESPACE.sub("", tag.group()) + text[tag.end() :]

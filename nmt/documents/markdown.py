"""Markdown (CommonMark 0.31, tables and strikethrough of GitHub's): only the text of its blocks is rewritten.

Code blocks, link definitions, front matter, list marks and indentation are copied. A paragraph of several
lines is translated whole and filled again to the width it had; blocks of HTML go to ``nmt.markup``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, document, has_letters
from nmt.documents.markdown_inline import UNBREAKABLE, markdown_parser, markdown_text
from nmt.extraction import Extracted
from nmt.markup import extract_html

_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n.*?\n\1[ \t]*(?:\n|\Z)", re.DOTALL)
_STARTS_A_BLOCK = re.compile(r"(?:[-+*>#=|]|\d{1,9}[.)]$|```|~~~|<)")


@dataclass(frozen=True)
class _Place:
    """Characters of the file that one block's text takes, and what its further lines begin with."""

    start: int
    end: int
    prefix: str
    width: int
    """Of its longest line; 0: it has one line, and keeps it."""
    in_table: bool


def read_markdown(data: bytes) -> ExtractedDocument:
    """A Markdown file; see ``nmt.documents.read_document``."""
    source = decode(data)
    front_matter = _FRONT_MATTER.match(source.text)
    blocks = list(_blocks(source.text, front_matter.end() if front_matter else 0))

    def write(restored: Sequence[str]) -> bytes:
        pieces: list[str] = []
        read = 0
        for (place, _), text in zip(blocks, restored, strict=True):
            pieces += [source.text[read : place.start], _filled(place, text)]
            read = place.end
        return source.encode("".join([*pieces, source.text[read:]]))

    return document([part for _, part in blocks], write, suffix="md")


def _blocks(text: str, begin: int) -> Iterator[tuple[_Place, Extracted[str]]]:
    """Each block with text, from character ``begin`` on."""
    parser = markdown_parser()
    lines = text[begin:].split("\n")
    starts = [begin]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    starts[-1] = len(text)
    read = begin
    tokens = parser.parse(text[begin:])
    for index, token in enumerate(tokens):
        if token.map is None or not has_letters(token.content):
            continue
        first, last = token.map
        if token.type == "html_block":
            place = _Place(starts[first], starts[min(last, len(lines))], "", 0, in_table=False)
            html = text[place.start : place.end]
            if html.count("\n") == token.content.count("\n"):
                yield place, extract_html(html)
        elif token.type == "inline":
            in_table = tokens[index - 1].type in {"th_open", "td_open"}
            found = _find(text, token, max(read, starts[first]), in_table=in_table)
            if found is not None:
                yield found, markdown_text(parser, token.content, token.children or ())
                read = found.end


def _find(text: str, token: Token, begin: int, *, in_table: bool) -> _Place | None:
    """Where the lines of a block's content are, from character ``begin`` on.

    Each is in the file as it is in ``token.content``, after its indentation and the marks of lists and
    quotes; only a table's cell hides its bars.
    """
    edges: list[tuple[int, int]] = []
    position = begin
    for line in token.content.split("\n"):
        written = line.replace("|", "\\|") if in_table and text.find(line, position) < 0 else line
        start = text.find(written, position)
        if start < 0:
            return None
        position = start + len(written)
        edges.append((start, position))
    prefix = text[edges[0][1] : edges[1][0]].rpartition("\n")[2] if len(edges) > 1 else ""
    width = max(end - start for start, end in edges) if len(edges) > 1 else 0
    return _Place(edges[0][0], edges[-1][1], prefix, width, in_table)


def _filled(place: _Place, text: str) -> str:
    """A block's translation in lines as wide as its source's were; none begins like a block of its own."""
    if place.in_table:
        text = re.sub(r"(?<!\\)\|", r"\|", text)
    lines = text.split("\n")
    if place.width:
        lines = [filled for line in lines for filled in _fill(line, place.width)]
    return ("\n" + place.prefix).join(lines).replace(UNBREAKABLE, " ")


def _fill(line: str, width: int) -> list[str]:
    lines: list[str] = []
    for word in line.split(" "):
        if lines and (len(lines[-1]) + 1 + len(word) <= width or _STARTS_A_BLOCK.match(word) or not word):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines

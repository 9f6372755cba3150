"""Markdown (CommonMark 0.31, tables and strikethrough of GitHub's): only the text of its blocks is rewritten.

Code blocks, link definitions, front matter, list marks and indentation are copied. A paragraph of several
lines is translated whole and filled again to the width it had; blocks of HTML go to ``nmt.markup``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, document, has_letters
from nmt.documents.markdown_blocks import InlineBlock, inline_blocks
from nmt.documents.markdown_headings import with_links_to_headings
from nmt.documents.markdown_inline import BREAK, UNBREAKABLE, markdown_parser, markdown_text
from nmt.extraction import Extracted
from nmt.markup import ExtractedMarkup, extract_html

_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n.*?\n\1[ \t]*(?:\n|\Z)", re.DOTALL)
_STARTS_A_BLOCK = re.compile(r"(?:[-+*>#=|]|\d{1,9}[.)]$|```|~~~|<)")


@dataclass(frozen=True)
class _Place:
    """Characters of the file that one block's text takes, and what its further lines begin with."""

    start: int
    end: int
    prefixes: tuple[str, ...]
    """Of each line but the first, what stands before its content."""
    lines: tuple[str, ...]
    """The content of each line."""
    in_table: bool

    @property
    def width(self) -> int:
        """Of the longest line."""
        return max(map(len, self.lines))


@dataclass(frozen=True)
class _Block:
    """A block with text to translate."""

    place: _Place
    part: Extracted[str]
    is_filled: bool = False
    """Its lines end where the next word would cross its width."""


def read_markdown(data: bytes) -> ExtractedDocument:
    """A Markdown file; see ``nmt.documents.read_document``."""
    source = decode(data)
    front_matter = _FRONT_MATTER.match(source.text)
    begin = front_matter.end() if front_matter else 0
    parser = markdown_parser()
    blocks = list(_blocks(parser, source.text, begin))

    def write(restored: Sequence[str]) -> bytes:
        pieces: list[str] = []
        read = 0
        for block, text in zip(blocks, restored, strict=True):
            pieces += [source.text[read : block.place.start], _written(block, text)]
            read = block.place.end
        result = "".join([*pieces, source.text[read:]])
        return source.encode(with_links_to_headings(parser, source.text, result, begin))

    return document([block.part for block in blocks], write, suffix="md")


def _blocks(parser: MarkdownIt, text: str, begin: int) -> Iterator[_Block]:
    """Each block with text, from character ``begin`` on."""
    for found in inline_blocks(parser, text, begin):
        token = found.token
        if not has_letters(token.content):
            continue
        if token.type == "html_block":
            html = text[found.start : found.end]
            if html.count("\n") == token.content.count("\n"):
                yield _Block(_Place(found.start, found.end, (), (html,), in_table=False), extract_html(html))
            continue
        place = _find(text, found)
        if place is not None:
            yield _block(parser, place, token)


def _block(parser: MarkdownIt, place: _Place, token: Token) -> _Block:
    children = token.children or ()
    if len(place.lines) == 1:
        return _Block(place, markdown_text(parser, token.content, children))
    filled = markdown_text(parser, token.content, children)
    if len(set(place.prefixes)) == 1:
        block = _Block(place, filled, is_filled=True)
        if _written(block, filled.unchanged()) == place.prefixes[0].join(
            line + "\n" * (index < len(place.prefixes)) for index, line in enumerate(place.lines)
        ):
            return block
    return _Block(place, markdown_text(parser, token.content, children, keeps_lines=True))


def _written(block: _Block, text: str) -> str:
    """A block's translation in lines as its source's were; none begins like a block of its own."""
    place = block.place
    if isinstance(block.part, ExtractedMarkup):
        return text
    if place.in_table:
        text = re.sub(r"(?<!\\)\|", r"\|", text)
    if block.is_filled:
        lines = [filled for line in text.split("\n") for filled in _fill(line, place.width)]
        text = f"\n{place.prefixes[0]}".join(lines)
    else:
        text = _with_lines(place, text)
    return text.replace(UNBREAKABLE, " ")


def _with_lines(place: _Place, text: str) -> str:
    """Line ends where ``text`` says, each with what stands before the line in the file."""
    first, *others = re.split(f"(\n|{BREAK})", text)
    result = first
    for index, (end, line) in enumerate(zip(others[::2], others[1::2], strict=True), start=1):
        begins_a_block = _STARTS_A_BLOCK.match(line.lstrip()) and not _STARTS_A_BLOCK.match(
            place.lines[index].lstrip()
        )
        is_empty = not line.strip() or not result.strip()
        if end == BREAK and (is_empty or begins_a_block):
            result += line if is_empty or not line or line[0].isspace() else f" {line}"
        else:
            result += f"\n{place.prefixes[index - 1]}{line}"
    return result


def _find(text: str, found: InlineBlock) -> _Place | None:
    """Where the lines of a block's content are.

    Each is in the file as it is in the token's content, after its indentation and the marks of lists and
    quotes; only a table's cell hides its bars.
    """
    edges = found.lines(text)
    if edges is None:
        return None
    prefixes = tuple(text[end + 1 : start] for (_, end), (start, _) in pairwise(edges))
    return _Place(
        edges[0][0],
        edges[-1][1],
        prefixes,
        tuple(text[start:end] for start, end in edges),
        found.in_table,
    )


def _fill(line: str, width: int) -> list[str]:
    lines: list[str] = []
    for word in line.split(" "):
        if lines and (len(lines[-1]) + 1 + len(word) <= width or _STARTS_A_BLOCK.match(word) or not word):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines

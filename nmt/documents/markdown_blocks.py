"""The blocks of a Markdown file that hold text, and the characters that they stand on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from nmt.documents.markdown_dialects import plain_lines


@dataclass
class InlineBlock:
    """A token with inline content, or a block of HTML, in characters [start, end) of a file."""

    token: Token
    start: int
    end: int
    in_table: bool = False
    is_heading: bool = False

    def lines(self, text: str) -> list[tuple[int, int]] | None:
        """Start and end of each line of the content; None where the file writes it otherwise."""
        edges: list[tuple[int, int]] = []
        position = self.start
        for line in self.token.content.split("\n"):
            hides_bars = self.in_table and text.find(line, position) < 0
            written = line.replace("|", "\\|") if hides_bars else line
            start = text.find(written, position)
            if start < 0:
                return None
            position = start + len(written)
            edges.append((start, position))
        return edges


def inline_blocks(parser: MarkdownIt, text: str, begin: int) -> Iterator[InlineBlock]:
    """All blocks with inline content and blocks of HTML, in order, from character ``begin`` on.

    Args:
        parser: from ``markdown_parser``.
        text: the file.
        begin: after its front matter.
    """
    lines = text[begin:].split("\n")
    starts = [begin]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    starts[-1] = len(text)
    plain = plain_lines(lines)
    read = begin
    tokens = parser.parse("\n".join(line.text for line in plain))
    for index, token in enumerate(tokens):
        if token.map is None or token.type not in {"inline", "html_block"}:
            continue
        first, last = token.map
        end = starts[min(last, len(lines))]
        if token.type == "html_block":
            yield InlineBlock(token, starts[first], end)
            continue
        block = InlineBlock(
            token,
            max(read, starts[first] + plain[first].column),
            end,
            in_table=tokens[index - 1].type in {"th_open", "td_open"},
            is_heading=tokens[index - 1].type == "heading_open" and plain[first].text == lines[first],
        )
        edges = block.lines(text)
        if edges:
            block.end = read = edges[-1][1]
        yield block

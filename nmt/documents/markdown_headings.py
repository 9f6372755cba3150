"""Links to headings: a translated heading has another anchor, and the links to it in the file follow.

GitHub makes the anchor of a heading from its text: small letters, no punctuation, hyphens for spaces, and
``-1`` after the second of equal ones. A heading that names its own anchor, ``## Text {#name}``, keeps it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from urllib.parse import unquote

from markdown_it import MarkdownIt

from nmt.documents.markdown_blocks import InlineBlock, inline_blocks

_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")
_NAMED = re.compile(r"""\{:?[^{}]*#[\w\-.:]+[^{}]*\}""")
_HTML_NAME = re.compile(r"""<[^<>]*\s(?:id|name)\s*=\s*["']?(?P<name>[^"'\s<>]+)""", re.IGNORECASE)
_TARGET = re.compile(r"""(?P<before>\]\(\s*<?|\]:\s*<?|\shref\s*=\s*["']?)#(?P<anchor>[^\s"'<>)]+)""")


def with_links_to_headings(parser: MarkdownIt, source: str, result: str, begin: int) -> str:
    """``result`` with its links to headings as the anchors are there.

    Args:
        parser: from ``markdown_parser``.
        source: the file.
        result: its translation, not yet with these links.
        begin: after the front matter of both.
    """
    if not _TARGET.search(source):
        return result
    before, after = (_anchors(parser, text, begin) for text in (source, result))
    if len(before) != len(after):
        return result  # a translation that is a heading less or more: no anchor is sure
    own_names = {match["name"] for match in _HTML_NAME.finditer(source)}
    moved = {
        old: new
        for old, new in zip(before, after, strict=True)
        if old != new and old and new and old not in own_names
    }
    return _rewritten(parser, result, begin, moved) if moved else result


def anchor(text: str) -> str:
    """The anchor that GitHub gives a heading."""
    return _NOT_IN_ANCHORS.sub("", text.strip().lower()).replace(" ", "-")


def _anchors(parser: MarkdownIt, text: str, begin: int) -> list[str]:
    """Of each heading; "" for one that names its own."""
    found: list[str] = []
    seen: Counter[str] = Counter()
    for block in inline_blocks(parser, text, begin):
        if not block.is_heading:
            continue
        if _NAMED.search(block.token.content):
            found.append("")
            continue
        name = anchor(_shown(block))
        found.append(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def _shown(block: InlineBlock) -> str:
    """What a reader sees of a heading."""
    kinds = {"text", "text_special", "code_inline", "copied"}
    return "".join(token.content for token in block.token.children or () if token.type in kinds)


def _rewritten(parser: MarkdownIt, text: str, begin: int, moved: Mapping[str, str]) -> str:
    """``text`` with its links to the anchors in ``moved``; code is left alone."""
    pieces: list[str] = []
    read = begin
    for start, end in _code(parser, text, begin):
        pieces += [_with_targets(text[read:start], moved), text[start:end]]
        read = max(read, end)
    return "".join([text[:begin], *pieces, _with_targets(text[read:], moved)])


def _with_targets(text: str, moved: Mapping[str, str]) -> str:
    def target(match: re.Match[str]) -> str:
        found = moved.get(unquote(match["anchor"]))
        return match.group() if found is None else f"{match['before']}#{found}"

    return _TARGET.sub(target, text)


def _code(parser: MarkdownIt, text: str, begin: int) -> list[tuple[int, int]]:
    """Characters that are code, in order: blocks, and spans in a sentence."""
    found = [*_code_blocks(parser, text, begin)]
    for block in inline_blocks(parser, text, begin):
        position = block.start
        for token in block.token.children or ():
            if token.type in {"code_inline", "copied"}:
                start, end = token.meta["span"]
                written = block.token.content[start:end]
                at = text.find(written, position, block.end)
                if at >= 0:
                    position = at + len(written)
                    found.append((at, position))
    return sorted(found)


def _code_blocks(parser: MarkdownIt, text: str, begin: int) -> list[tuple[int, int]]:
    lines = text[begin:].split("\n")
    starts = [begin]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    tokens = parser.parse(text[begin:])
    return [
        (starts[token.map[0]], min(starts[min(token.map[1], len(lines))], len(text)))
        for token in tokens
        if token.type in {"fence", "code_block"} and token.map
    ]

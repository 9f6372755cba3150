"""Ends of sentences that are no tags: the syntax of ICU messages, line ends in strings of programs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nmt.markup.tokens import Kind, Token
from nmt.spans import Span
from nmt.text.message_format import MAX_DEPTH, arguments

_LINE_END = re.compile(r"[ \t]*\n\s*")
_NO_TEXT = "\ufffc"


def cut_messages(text: str, tokens: Sequence[Token]) -> list[Token]:
    """Tokens in which the syntax of ``{n, plural, one {...} other {...}}`` parts its branches."""
    shown = _text_alone(text, tokens)
    return _cut(tokens, list(_syntax(shown, 0, len(shown))))


def cut_lines(text: str, tokens: Sequence[Token]) -> list[Token]:
    """Tokens in which each end of a line of text parts sentences."""
    shown = _text_alone(text, tokens)
    return _cut(tokens, [Span(*match.span()) for match in _LINE_END.finditer(shown)])


def _text_alone(text: str, tokens: Sequence[Token]) -> str:
    """``text`` with a stand-in for each character of what is no text."""
    return "".join(
        text[token.start : token.end] if token.kind is Kind.TEXT else _NO_TEXT * (token.end - token.start)
        for token in tokens
    )


def _syntax(text: str, start: int, end: int, depth: int = 0) -> Iterator[Span]:
    for argument in arguments(text, start, end) if depth < MAX_DEPTH else ():
        read = argument.span.start
        for branch in argument.branches:
            yield Span(read, branch.start)
            yield from _syntax(text, branch.start, branch.end, depth + 1)
            read = branch.end
        yield Span(read, argument.span.end)


def _cut(tokens: Sequence[Token], spans: Sequence[Span]) -> list[Token]:
    """Characters in ``spans``, in order, as tokens that part sentences."""
    if not spans:
        return list(tokens)
    cut: list[Token] = []
    places: list[int] = []
    """Where each token is among the new ones; at the end, how many those are."""
    for token in tokens:
        places.append(len(cut))
        cut += _pieces(token, spans) if token.kind is Kind.TEXT else [replace(token)]
    places.append(len(cut))
    for token in cut:
        if token.kind is not Kind.TEXT and token.name:
            token.after = places[token.after]
            token.partner = None if token.partner is None else places[token.partner]
    return cut


def _pieces(token: Token, spans: Sequence[Span]) -> list[Token]:
    pieces: list[Token] = []
    read = token.start

    def take(end: int, *, splits: bool) -> None:
        nonlocal read
        if end > read:
            text = token.text[read - token.start : end - token.start]
            pieces.append(Token(Kind.OTHER if splits else Kind.TEXT, read, end, text, splits=splits))
            read = end

    for span in spans[bisect_right(spans, token.start, key=lambda span: span.end) :]:
        if span.start >= token.end:
            break
        take(max(span.start, token.start), splits=False)
        take(min(span.end, token.end), splits=True)
    take(token.end, splits=False)
    return pieces

"""Words and punctuation marks of a text, with their character spans: the tokens that people see linked.

These are not the model's tokens (sub-words, ``nmt.tokenizer``); alignment pools from those to these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LETTERS = r"\w[\w\u0300-\u036f]*"  # with combining accents, which Python does not count as word characters
_ELISION = r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['\u2019](?=\w)"
_JOINED = r"['\u2019\u2010\u2011-]|(?<=\d)[.,:](?=\d)"
_PAIR = r"[\U0001f1e6-\U0001f1ff]{2}|[0-9]\ufe0f?\u20e3"  # two letters that make a flag; a digit on a key cap
_MODIFIER = r"[\u0300-\u036f\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]|\u200d[^\w\s]"
"""After a mark, part of it: accents, variants of emoji such as skin colours, emoji joined to one."""
_WORD = re.compile(
    rf"""
      \b {_ELISION}                            # l' | homme, qu' | il; but one aujourd'hui, O'Neill, don't
    | {_PAIR}
    | {_LETTERS} (?: (?:{_JOINED}) {_LETTERS} )*   # arc-en-ciel, 3,5
    | (?P<mark> [^\w\s] ) (?: (?P=mark) | {_MODIFIER} )*     # ; and ... as one
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NO_WHITE_SPACE = re.compile(r"\S+")


@dataclass(frozen=True)
class Token:
    """A word or punctuation mark: characters ``start`` to ``end`` of its text."""

    text: str
    start: int
    end: int


def words(text: str) -> list[Token]:
    """Words and punctuation marks, for people. Everything but white space belongs to exactly one.

    An elided French article or pronoun is a word of its own: "l'homme" gives "l'" and "homme".
    """
    return [Token(match.group(), *match.span()) for match in _WORD.finditer(text)]


def whitespace_words(text: str) -> list[Token]:
    """What ``text.split()`` gives, with spans: for text whose tokenisation is given, as in alignment data."""
    return [Token(match.group(), *match.span()) for match in _NO_WHITE_SPACE.finditer(text)]

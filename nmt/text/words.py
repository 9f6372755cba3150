"""Words and punctuation marks of a text, with their character spans: the tokens that people see linked.

These are not the model's tokens (sub-words, ``nmt.tokenizer``); alignment pools from those to these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import regex

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
_OTHER = re.compile(
    "[\u0590-\u1dff\u2e80-\ud7ff\uf900-\ufdff\uff66-\uffdc\U00010000-\U0001efff\U00020000-\U0003ffff]"
)
"""A letter of a script in which ``_WORD`` does not find words."""
_SPACELESS = r"[\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_OTHER_WORD = regex.compile(
    rf"""(?V1)
      {_SPACELESS} \p{{M}}*                     # one unit: such scripts write no spaces
    | [[\p{{L}}\p{{N}}_]--{_SPACELESS}] [[\p{{L}}\p{{N}}\p{{M}}_\u200c\u200dー]--{_SPACELESS}]*
      (?: (?:['\u2019\u2010\u2011-]|(?<=\d)[.,:](?=\d)) [[\p{{L}}\p{{N}}\p{{M}}_]--{_SPACELESS}]+ )*
    | (?P<mark> [^\s\x1c-\x1f\x85] ) (?: (?P=mark) | \p{{M}} )*
    """,
    regex.VERBOSE,
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

    An elided French article or pronoun is a word of its own: "l'homme" gives "l'" and "homme". Scripts that
    write without spaces (Chinese, Japanese, Thai) give their characters.
    """
    if not text.isascii() and _OTHER.search(text):
        return [Token(match.group(), *match.span()) for match in _OTHER_WORD.finditer(text)]
    return [Token(match.group(), *match.span()) for match in _WORD.finditer(text)]


def whitespace_words(text: str) -> list[Token]:
    """What ``text.split()`` gives, with spans: for text whose tokenisation is given, as in alignment data."""
    return [Token(match.group(), *match.span()) for match in _NO_WHITE_SPACE.finditer(text)]

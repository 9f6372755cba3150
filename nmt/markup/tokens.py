"""Markup as a sequence of tokens with exact spans: what HTML and XML have in common once they are parsed.

The tokens of a text follow each other without a gap: ``text[token.start:token.end]``, joined, is the text.
Whatever is not translated is copied from there, byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from nmt.text.mentions import is_mention

MAX_MENTION_TOKENS = 20
"""Tokens of a mention's element: a person's name, an avatar, a few spans."""


class Kind(Enum):
    """Kind of a token."""

    TEXT = auto()
    REFERENCE = auto()
    """``&eacute;``: ``Token.text`` is the character."""
    START = auto()
    END = auto()
    EMPTY = auto()
    """A tag without content: ``<br>``, ``<x/>``."""
    OTHER = auto()
    """A comment, a doctype, a processing instruction."""
    VARIABLE = auto()
    """A reference to an entity that is not known here, ``&product;``: it is copied like a name."""
    CDATA = auto()
    """A whole CDATA section; ``Token.text`` is what is in it."""


@dataclass(frozen=True)
class Attribute:
    """An attribute to translate: its value, with its quotes, is characters [start, end) of the markup."""

    start: int
    end: int
    text: str


@dataclass
class Token:
    """One token. The fields from ``splits`` on are of START and EMPTY, filled in by HTML's or XML's rules."""

    kind: Kind
    start: int
    end: int
    text: str = ""
    """Text that TEXT, REFERENCE and CDATA stand for; of VARIABLE, as it is spelled."""
    name: str = ""
    """Name of a tag."""
    partner: int | None = None
    """Index of the END of this START, or of the START of this END; None where there is none."""
    after: int = 0
    """Index of the first token after the element."""
    splits: bool = False
    """No sentence goes across this tag. Of END too, and of OTHER."""
    is_self_closing: bool = False
    """Written ``<x/>``, which in HTML means nothing; EMPTY where no end tag comes."""
    starts_content: bool = False
    """A sentence may begin here but not go on: a link right after another one."""
    translates: bool | None = None
    """False: the element is copied; True: translated though an outer one is not; None: as the outer one."""
    is_shown: bool = True
    """The text of a copied element is part of the sentence; of a script it is not."""
    keeps_space: bool = False
    """White space in the element is kept as it is."""
    separates: bool = False
    """Words before and after it are different ones even without white space: ``<br>``."""
    is_mention: bool = False
    """Its class says that it is a mention or a hashtag."""
    attributes: tuple[Attribute, ...] = ()


def copy_mentions(tokens: Sequence[Token]) -> None:
    """Elements whose text is a mention, a hashtag or an address are copied, with all that is in them."""
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token.kind is not Kind.START or token.partner is None or token.splits or token.translates:
            continue
        if token.after - index > MAX_MENTION_TOKENS:
            continue
        inside = tokens[index : token.after - 1]
        if not any(one.splits or one.translates for one in inside):
            text = "".join(one.text for one in inside)
            if text.strip() and (token.is_mention or is_mention(text)):
                token.translates = False
                index = token.after

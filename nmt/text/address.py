"""How a text addresses people, told from an English source: one form of address is kept throughout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

LEAST_SENTENCES = 2
"""Of a text that address somebody; a single one is left to the model."""
_MOST_LINES = 50
"""Of a document that are looked at to tell its form of address."""

_YOU = re.compile(r"\b(?:you|yours?|yourself|yourselves)\b", re.IGNORECASE)
_FAMILIAR = re.compile(
    r"\b(?:love you|miss you|mom|mum|mommy|mummy|dad|daddy|honey|darling|sweetheart|sweetie|babe|dude|buddy|"
    r"bro|pal|mate|hey|lol|gonna|wanna|gotta|xoxo|kisses|hugs)\b",
    re.IGNORECASE,
)
_TU = re.compile(r"(?<![\w-])(?:tu|toi)(?!\w)|(?<![\w-])t['’](?=\w)", re.IGNORECASE)
_VOUS = re.compile(r"(?<![\w-])(?:vous|votre|vos)(?!\w)|-vous(?= [?!])", re.IGNORECASE)
"""Not in *rendez-vous*."""


def address_of(
    sentences: Sequence[str], language: str, context: Sequence[str] = ()
) -> Literal["formal", "informal"] | None:
    """The form of address for all sentences of a text; None: it is left to the model.

    *Vous*, unless the text or what stands around it is plainly familiar. French around it that says *tu* or
    *vous*, not both, decides.

    Args:
        sentences: of one text.
        language: ISO 639-1 code of theirs; only English is known.
        context: sentences around the text, in the same language or in French.
    """
    if language != "en" or not any(map(_YOU.search, sentences)):
        return None
    says_tu, says_vous = (any(map(word.search, context)) for word in (_TU, _VOUS))
    if says_tu != says_vous:
        return "informal" if says_tu else "formal"
    around = [*context, *sentences]
    if any(map(_FAMILIAR.search, context)):
        return "informal"
    if sum(_YOU.search(one) is not None for one in around) < LEAST_SENTENCES:
        return None
    return "informal" if any(map(_FAMILIAR.search, sentences)) else "formal"


def address_context(texts: Iterable[str]) -> str:
    """Of the texts of a document those that tell how it addresses people: the context of each of them.

    Nothing where fewer than ``LEAST_SENTENCES`` address anybody.
    """
    telling = [text for text in texts if _YOU.search(text) or _FAMILIAR.search(text)][:_MOST_LINES]
    return "\n".join(telling) if sum(map(bool, map(_YOU.search, telling))) >= LEAST_SENTENCES else ""

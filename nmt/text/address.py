"""How a text addresses people, told from an English source: one form of address is kept throughout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

LEAST_SENTENCES = 2
"""Of a text that address somebody; a single one is left to the model."""

_YOU = re.compile(r"\b(?:you|yours?|yourself|yourselves)\b", re.IGNORECASE)
_FAMILIAR = re.compile(
    r"\b(?:love you|miss you|mom|mum|mommy|mummy|dad|daddy|honey|darling|sweetheart|sweetie|babe|dude|buddy|"
    r"bro|pal|mate|hey|lol|gonna|wanna|gotta|xoxo|kisses|hugs)\b",
    re.IGNORECASE,
)


def address_of(sentences: Sequence[str], language: str) -> Literal["formal", "informal"] | None:
    """The form of address for all sentences of a text; None: it is left to the model.

    *Vous*, unless the text is plainly familiar.

    Args:
        sentences: of one text.
        language: ISO 639-1 code of theirs; only English is known.
    """
    if language != "en" or sum(_YOU.search(one) is not None for one in sentences) < LEAST_SENTENCES:
        return None
    return "informal" if any(map(_FAMILIAR.search, sentences)) else "formal"

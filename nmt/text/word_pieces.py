"""Which sub-words go on with a word: what may not follow a text whose last word is a whole one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from nmt.text.codes import writes_spaces
from nmt.text.placeholders import PLACEHOLDERS


@dataclass(frozen=True)
class WordPieces:
    """A vocabulary, by what its pieces begin and end with.

    Args:
        pieces: as SentencePiece writes them, in the order of their ids.
        language: ISO 639-1 code of the text; one that writes no spaces has no whole words.
    """

    pieces: Sequence[str]
    language: str

    def never_after(self, prefix: Sequence[int]) -> tuple[int, ...]:
        """The ids that would go on with the last word of ``prefix``."""
        if not prefix or not writes_spaces(self.language) or not _in_word(self.pieces[prefix[-1]][-1:]):
            return ()
        return self._inner

    @cached_property
    def _inner(self) -> tuple[int, ...]:
        """Pieces that begin with a letter, a digit, a byte or what is copied, without a space before it."""
        return tuple(
            id_
            for id_, piece in enumerate(self.pieces)
            if _in_word(piece[:1]) or piece.startswith("<0x") or piece in PLACEHOLDERS
        )


NO_WORD_PIECES = WordPieces((), "zh")
"""Any piece may follow any other."""


def _in_word(character: str) -> bool:
    return character.isalnum() or (character != "" and unicodedata.category(character).startswith("M"))

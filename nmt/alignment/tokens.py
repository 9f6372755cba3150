"""The tokens that statistical aligners count: lower-cased, elided and contracted words written out.

"l'heure du départ" counts as "le heure de le départ": frequent types instead of rare ones, and each half of
"du" has links of its own. The Hansards gold alignments spell French this way too. Each token remembers the
word (``nmt.text.words``) that it is a part of, so its links are the word's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nmt.text.words import Token

_FRENCH = {
    "l'": ("le",),
    "d'": ("de",),
    "qu'": ("que",),
    "n'": ("ne",),
    "s'": ("se",),
    "j'": ("je",),
    "m'": ("me",),
    "t'": ("te",),
    "c'": ("ce",),
    "jusqu'": ("jusque",),
    "lorsqu'": ("lorsque",),
    "puisqu'": ("puisque",),
    "quoiqu'": ("quoique",),
    "du": ("de", "le"),
    "des": ("de", "les"),
    "au": ("à", "le"),
    "aux": ("à", "les"),
    "aujourd'hui": ("aujourd'", "hui"),
}
_ENGLISH = re.compile(r"(.+?)(n't|'(?:s|re|ve|ll|d|m))")
_MARKS = str.maketrans({"’": "'", "“": '"', "”": '"', "«": '"', "»": '"'})


@dataclass(frozen=True)
class Counted:
    """A token that is counted, and the index of the word that it is a part of."""

    text: str
    word: int


def counted_tokens(tokens: Sequence[Token], language: str) -> list[Counted]:
    """Words -> counted tokens: one or two for each French or English word, one for those of others."""
    found: list[Counted] = []
    for index, token in enumerate(tokens):
        found += [Counted(part, index) for part in _parts(token.text.lower().translate(_MARKS), language)]
    return found


def _parts(word: str, language: str) -> tuple[str, ...]:
    if language == "fr":
        return _FRENCH.get(word, (word,))
    if language == "en" and (match := _ENGLISH.fullmatch(word)):
        return match[1], match[2]
    return (word,)

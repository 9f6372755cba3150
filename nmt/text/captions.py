"""Captions of subtitles: a line that is all in brackets tells what is heard, [DOOR OPENS].

Merge fields look alike, [FIRST NAME]. They stand inside a line, or their last word names a field.
"""

from __future__ import annotations

import re

_FIELDS = (
    "name names date address email phone number company city country state street title id code link url "
    "amount price time year month day job position role product project team department signature subject "
    "placeholder text value username user password version key token nom prénom adresse ville pays titre "
    "lien montant prix heure année mois jour poste produit projet équipe objet société"
)
FIELDS = frozenset(_FIELDS.split())
"""Last words of merge fields."""
LEAST_LETTERS = 4
"""Fewer are an abbreviation: [API], [OK]."""

_CAPTION = re.compile(r"\[[A-Z][A-Za-z]*(?: [A-Z][A-Za-z]*)*\]")
_LINE_END = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def is_caption(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is a caption in capitals and square brackets, alone on its line.

    >>> is_caption("[DOOR OPENS]", 0, 12), is_caption("[FIRST NAME]", 0, 12), is_caption("a [DOOR]", 2, 8)
    (True, False, False)
    """
    caption = text[start:end]
    if len(caption) < LEAST_LETTERS + 2 or _CAPTION.fullmatch(caption) is None:
        return False
    before, after = text[:start].rstrip(" \t"), text[end:].lstrip(" \t")
    if (before and before[-1] not in _LINE_END) or (after and after[0] not in _LINE_END):
        return False
    words = caption[1:-1].lower().split()
    return words[-1] not in FIELDS and words[0] != "insert"

"""Names that people give, as the database can hold and a terminal can show them."""

from __future__ import annotations

import unicodedata

from nmt.errors import InputError


def check_name(field: str, name: str, longest: int) -> str:
    """The name without white space around it.

    Raises:
        InputError: it is empty, too long, or holds control characters or half a surrogate pair.
    """
    name = name.strip()
    if not 1 <= len(name) <= longest:
        raise InputError(f"{field}: it has {len(name)} characters; there must be 1 to {longest}")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise InputError(f"{field}: it holds a control character or half a surrogate pair; remove it")
    return name

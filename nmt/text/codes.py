"""Language codes (BCP 47) by langcodes: which of those that are known is meant by en-GB, por or zh-TW."""

from __future__ import annotations

from collections.abc import Collection

FAR = 25
"""Distance of Unicode's language matching from which two codes are not taken for each other."""


def nearest(asked: str, known: Collection[str]) -> str | None:
    """The code of ``known`` that is meant; None: none is near enough, or ``asked`` is no code.

    >>> nearest("en-GB", ["fr", "en"]), nearest("por", ["pt-BR"]), nearest("de", ["en"])
    ('en', 'pt-BR', None)
    """
    if asked in known:
        return asked
    import langcodes  # noqa: PLC0415 - takes time, and most codes are known as they are
    from langcodes.tag_parser import LanguageTagError  # noqa: PLC0415

    try:
        found = langcodes.closest_supported_match(asked, list(known), max_distance=FAR)
    except LanguageTagError:
        return None
    return None if found is None else str(found)

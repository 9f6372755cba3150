"""Language codes (BCP 47) by langcodes: which of those that are known is meant by en-GB, por or zh-TW."""

from __future__ import annotations

from collections.abc import Collection

SPACELESS = frozenset({"zh", "yue", "ja", "th", "lo", "km", "my"})
"""Languages that are written without spaces between words and between sentences."""
FAR = 25
"""Distance of Unicode's language matching from which two codes are not taken for each other."""


def base_of(code: str) -> str:
    """The language without script and region: "pt-BR" is "pt"."""
    return code.partition("-")[0].lower()


def nearest(asked: str, known: Collection[str]) -> str | None:
    """The code of ``known`` that is meant; None: none is, or ``asked`` is no code.

    Another language is never meant, however near: Galician is no Spanish.

    >>> nearest("en-GB", ["fr", "en"]), nearest("por", ["pt-BR"]), nearest("gl", ["es"])
    ('en', 'pt-BR', None)
    """
    if asked in known:
        return asked
    import langcodes  # noqa: PLC0415 - takes time, and most codes are known as they are
    from langcodes.tag_parser import LanguageTagError  # noqa: PLC0415

    try:
        meant = langcodes.standardize_tag(asked, macro=True)
        standard = {code: langcodes.standardize_tag(code, macro=True) for code in known}
        same = [code for code, tag in standard.items() if base_of(tag) == base_of(meant)]
        found = langcodes.closest_supported_match(meant, same, max_distance=FAR) if same else None
    except LanguageTagError:
        return None
    return None if found is None else str(found)


def writes_spaces(code: str) -> bool:
    """Whether words and sentences of a language are apart by spaces."""
    return base_of(code) not in SPACELESS

"""DeepL's language codes: EN, FR, and regional variants of them."""

from __future__ import annotations

import re

from nmt.errors import UnsupportedLanguageError
from nmt.text.codes import nearest
from service.routes.languages import name_of
from service.work.directions import Direction, Directions
from service.work.source_language import AUTO

_VARIANTS = {
    "en": {"EN-GB": "English (British)", "EN-US": "English (American)"},
    "fr": {"FR-FR": "French (France)"},
}
_LISTED_BY_VARIANT = ("en",)  # DeepL's list of targets has no plain EN
_CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z]{2,4}){0,2}")


def listed(language: str) -> dict[str, str]:
    """Codes and names of a target language as DeepL lists them."""
    if language in _LISTED_BY_VARIANT:
        return _VARIANTS[language]
    return {language.upper(): name_of(language)}


def fitting(directions: Directions, source: str | None, target: str) -> list[Direction]:
    """The directions from ``source`` (None: any) to ``target``, at least one.

    Args:
        directions: what there is.
        source: a code of DeepL's, of whatever region.
        target: the same, in a variant that there is.

    Raises:
        UnsupportedLanguageError: there is none.
    """
    read = nearest(source, directions.sources) if source else AUTO
    if read is None:
        raise _unsupported("source_lang", source or "", sorted(map(str.upper, directions.sources)))
    codes = [code for one in directions.targets for code in (one.upper(), *_VARIANTS.get(one, ()))]
    written = nearest(target, directions.targets)
    if written is None or (written in _VARIANTS and target.upper() not in codes):
        raise _unsupported("target_lang", target, sorted(codes))
    found = [one for one in directions.writing(written) if read in (AUTO, one.source)]
    if not found:
        pairs = ", ".join(f"{one.source.upper()} to {one.target.upper()}" for one in directions)
        raise UnsupportedLanguageError(
            f"target_lang: not supported from this source_lang; this server has {pairs}"
        )
    return found


def _unsupported(field: str, asked: str, known: list[str]) -> UnsupportedLanguageError:
    """Names what was asked only if it looks like a language code."""
    named = f"{asked.upper()} is" if _CODE.fullmatch(asked) else "this is"
    return UnsupportedLanguageError(f"{field}: {named} not supported; this server has {', '.join(known)}")

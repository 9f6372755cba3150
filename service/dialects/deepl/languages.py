"""DeepL's language codes: EN, FR, and regional variants of them."""

from __future__ import annotations

import re

from nmt.config import ModelFolderConfig
from nmt.errors import UnsupportedLanguageError
from service.routes.languages import NAMES

_VARIANTS = {
    "en": {"EN-GB": "English (British)", "EN-US": "English (American)"},
    "fr": {"FR-FR": "French (France)"},
}
_LISTED_BY_VARIANT = ("en",)  # DeepL's list of targets has no plain EN
_CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z]{2,4})?")


def targets(language: str) -> dict[str, str]:
    """Codes and names of a target language as DeepL lists them."""
    if language in _LISTED_BY_VARIANT:
        return _VARIANTS[language]
    return {language.upper(): NAMES.get(language, language)}


def check_source(asked: str | None, model: ModelFolderConfig, field: str = "source_lang") -> None:
    """Raises ``UnsupportedLanguageError`` unless the model reads this language, of whatever region."""
    if asked and asked.partition("-")[0].lower() != model.source_language:
        raise _unsupported(field, asked, model.source_language.upper())


def check_target(asked: str, model: ModelFolderConfig, field: str = "target_lang") -> None:
    """Raises ``UnsupportedLanguageError`` unless the model writes this language, in this variant."""
    language = model.target_language
    known = {language.upper(), *_VARIANTS.get(language, ())}
    if asked.upper() not in known:
        raise _unsupported(field, asked, ", ".join(sorted(known)))


def _unsupported(field: str, asked: str, known: str) -> UnsupportedLanguageError:
    """Names what was asked only if it looks like a language code."""
    named = f"{asked.upper()} is" if _CODE.fullmatch(asked) else "this is"
    return UnsupportedLanguageError(f"{field}: {named} not supported; this server has {known}")

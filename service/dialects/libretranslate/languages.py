"""LibreTranslate's languages: ISO 639-1 codes, and auto."""

from __future__ import annotations

import re

from nmt.config import ModelFolderConfig
from nmt.errors import UnsupportedLanguageError
from service.source_language import AUTO


def check_languages(source: str, target: str, model: ModelFolderConfig) -> None:
    """Raises ``UnsupportedLanguageError``; names a language only if it looks like a code of one."""
    for field, asked, known in (
        ("source", source, (model.source_language, AUTO)),
        ("target", target, (model.target_language,)),
    ):
        if asked not in known:
            named = asked if re.fullmatch("[A-Za-z]{2}", asked) else "this"
            raise UnsupportedLanguageError(
                f"{field}: {named} is not supported; this server has {' and '.join(known)}"
            )

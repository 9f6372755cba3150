"""Language codes as BCP 47 (langcodes), from the codes that checkpoints use: fra, fra_Latn, pt_BR, zh_cn."""

from __future__ import annotations

import langcodes
from langcodes.tag_parser import LanguageTagError

from nmt.errors import ModelFolderError


def language_code(code: str) -> str | None:
    """The shortest BCP 47 code; None: it names no language (ROMANCE, say).

    >>> language_code("fra"), language_code("eng_Latn"), language_code("cmn_Hans"), language_code("ROMANCE")
    ('fr', 'en', 'zh-Hans', None)
    """
    try:
        tag = langcodes.standardize_tag(code.replace("_", "-"), macro=True)
    except LanguageTagError:
        return None
    return tag if langcodes.tag_is_valid(tag) else None


def chosen(where: str, asked: str | None, found: str | None, option: str) -> str:
    """The language asked for, or else what the checkpoint says.

    Raises:
        ModelFolderError: neither names a language.
    """
    code = language_code(asked or found or "")
    if code is None:
        said = (
            f"{asked!r} is no language code" if asked else f"the checkpoint says {found!r}, no one language"
        )
        raise ModelFolderError(f"{where}: {said}; name it with {option} CODE (BCP 47, de or pt-BR say)")
    return code

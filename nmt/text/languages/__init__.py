"""What is of one language alone, a module each: words, marks and patterns that the other rules ask for.

A new language is a module with a ``Language`` and a line in ``KNOWN``; of others the neutral rules hold.
How two languages say the same (times, centuries, amounts) is in ``nmt.text``. No torch; imports nothing else.
"""

from __future__ import annotations

from functools import cache

from nmt.text.languages.en import ENGLISH
from nmt.text.languages.fr import FRENCH
from nmt.text.languages.rules import Language

__all__ = ["KNOWN", "Language", "rules"]

KNOWN = {language.code: language for language in (ENGLISH, FRENCH)}


@cache
def rules(code: str) -> Language:
    """The rules of a language; of one that is not known those that change nothing.

    Args:
        code: ISO 639-1.
    """
    return KNOWN.get(code) or Language(code)

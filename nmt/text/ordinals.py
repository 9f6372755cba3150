"""Ranks in digits: 2nd place is 2e place or deuxième place, and not 2 heures.

Days of a month are none, for other languages count them: 3rd of May is 3 mai. Centuries are in ``roman``.
"""

from __future__ import annotations

import re

_RANK = {
    "en": re.compile(
        r"(?<![\w.,/-])(\d{1,3})(?:st|nd|rd|th)\s+"
        r"(?!(?:of|and|or|to|at|in|on|for|from|by|with|is|was|were|will|has)\b)"
        r"(?!centur|birthday|anniversar)[a-z]{3,}"
    ),
    "fr": re.compile(
        r"(?<![\w.,/-])(\d{1,3})(?:re|ère|ème|e|nde?)\s+"
        r"(?!(?:et|ou|de|du|à|au|en|sur|pour|par|est)\b)(?!siècle|anniversaire)[a-zà-ÿ]{3,}"
    ),
}
_ENDINGS = {"en": "st|nd|rd|th", "fr": "ers?|res?|ères?|i?èmes?|es?|è|ᵉ|nde?s?"}
_WORDS = {
    "en": (
        "first|initial",
        "second|other",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
    ),
    "fr": ("premi[eè]r|initial", "second|deuxième|autre", "troisième|tiers", "quatrième|quart", "cinquième"),
}
"""From 1 on; what is not here has the ending of all others."""
_MONTH = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_OTHER_WORD = {
    "en": r"(?:tenth|eleventh|twelfth|teenth|tieth|dredth"
    r"|-(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth))s?\b",
    "fr": r"\wièmes?\b",
}


def missing_ranks(source: str, target: str, languages: tuple[str, str]) -> tuple[str, ...]:
    """Ranks of a sentence that its translation has neither in digits nor in words; English and French alone.

    >>> missing_ranks("He came in 2nd place.", "Il est venu à 2 heures.", ("en", "fr"))
    ('2nd place',)
    """
    read, written = languages
    if read not in _RANK or written not in _RANK or read == written:
        return ()
    return tuple(
        match.group()
        for match in _RANK[read].finditer(source)
        if not _MONTH.search(source, max(0, match.start() - 20), match.start())
        and not _has_rank(target.lower(), int(match[1]), written)
    )


def _has_rank(text: str, rank: int, language: str) -> bool:
    words = _WORDS[language]
    word = rf"\b(?:{words[rank - 1]})" if 1 <= rank <= len(words) else _OTHER_WORD[language]
    return re.search(rf"(?<!\d){rank}\s?(?:{_ENDINGS[language]})(?!\w)|{word}", text) is not None

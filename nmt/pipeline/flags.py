"""Flags: possible errors in the translation of a sentence, a word each; a warning, never a proof.

Nothing here needs the model. How often each flag is raised for nothing is measured in docs/reliability.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from nmt.text.known_words import ordinary_words
from nmt.text.language import detect
from nmt.text.languages import rules
from nmt.text.names import given_names
from nmt.text.words import Token

FlagKind = Literal[
    "loop",
    "repaired_loop",
    "repaired_word",
    "unaligned",
    "number_mismatch",
    "untranslated",
    "wrong_language",
    "truncated",
    "literal_lost",
    "term_missed",
    "below_min_confidence",
    "register_unavailable",
    "negation_mismatch",
    "doubled_word",
    "marks_mismatch",
    "unknown_word",
    "lexicon",
]
FLAG_KINDS: tuple[FlagKind, ...] = get_args(FlagKind)

MIN_COPIED_WORDS = 3
COPIED_SHARE = 0.6
"""A translation that shares so much of its source's words is a copy; names do not count."""
MIN_DETECTED_WORDS = 6
LEAST_WORDS, LEAST_KNOWN, ALREADY_SCORE = 4, 2, 0.99
"""Share that a sentence must have to be taken for one in the target language already."""
PLAIN_SHARE = 0.1
LEAST_PLAIN, ORDINARY_SHARE = 2, 0.25
"""More different words of the language than so many, and so much of the text, need no classifier."""
CERTAIN_LANGUAGE = 0.9
"""Probability from which another language than the expected one is believed."""
LONGEST_UNALIGNED = 4
"""Words in a row that may stand without a link to the source."""
MIN_COVERABLE_WORDS = 5
COVERED_SHARE = 0.4
"""Source words from which on this share must be linked to some word of the translation."""

LEAST_CHARACTERS = 30
"""A source of so many is not translated by less than a share of them (``Language.short_share``). In 7,600
pairs of four development sets no French reference is as short; in 7,900 of five one English is."""

FEW = 64
"""Texts whose words are remembered: several checks ask for them in a row."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_DOUBLED = re.compile(
    r"(?<![\w'’-])(?:([^\W\d_]{2,})\s+\1|((?:[^\W\d_]+['’\s]\s*){1,4}[^\W\d_]{3,})(?:,?\s+(?:et|ou|and|or)"
    r"(?:\s+(?:de\s+la|du|des?|les?|la|the|of))?)?,?\s+\2"
    r"|([^\W\d_]{5,}),?\s+(?:et|ou|&)\s+(?:(?:de\s+la|du|des?|les?|la|[nv]os|[nv]otre)\s+|l['’])?\3)"
    r"(?![\w'’-])",
    re.IGNORECASE,
)
_MAY_DOUBLE = frozenset(
    {"nous", "vous", "that", "had", "is", "très", "bye", "non", "oui", "no", "so", "very"}
)
_MAY_FOLLOW_ITSELF = frozenset(
    {"encore", "telle", "maintes", "toujours", "milliers", "millions", "jours", "nuits"}
)
"""On both sides of *et*."""
_BRACKETS = re.compile(r"(?<!\w)\([^()]*[^\W\d_]{2}[^()]*\)")
_QUOTES = re.compile(r"(?<![\w'’])[\"“«„](?=\s?\w)[^\"“”«»]+[\"”»“](?!\w)")
_ANY_QUOTE = re.compile("[\"“”«»„'‘’—–-]")


@dataclass(frozen=True)
class Flag:
    """One warning about one sentence."""

    kind: FlagKind
    """

    loop: the model went round in circles; a second search did not help, so that the source stands.
    repaired_loop: it went round in circles; the translation is that of a second search.
    repaired_word: a word was a guess; one of the lexical translation table stands in its place.
    unaligned: a stretch of the translation, or most of the source, has no link; seen only with alignment.
    number_mismatch: a number of one side is missing on the other.
    untranslated: the source stands, or nearly, as translation, or an ordinary word of it does.
    wrong_language: the source or the translation seems to be in another language.
    truncated: the maximum length came before the end, or far too little is there for so long a source.
    literal_lost: something to be copied, or a part in brackets, is missing.
    term_missed: a glossary entry is not applied.
    below_min_confidence: the source stands, for the translation was not good enough for the caller.
    register_unavailable: the model cannot choose how people are addressed.
    negation_mismatch: one side denies something and nothing on the other does.
    doubled_word: a word or phrase stands twice in a row, or on both sides of a conjunction.
    marks_mismatch: brackets or quotation marks of the source are missing, or have no counterpart.
    unknown_word: a word of the translation is in no corpus of its language, and not copied from the source.
    lexicon: the lexicon of short texts gave the translation, for the model was not sure of its own.
    """
    sentence: int
    """Index in ``Translation.sentences``."""


def is_copy(source: str, target: str) -> bool:
    """Whether words of the source make up most of the translation, names and single words aside.

    A word with a capital letter counts as a name unless it begins the sentence or all are in capitals.
    """
    read, written = _common_words(source), _common_words(target)
    if len(read) < MIN_COPIED_WORDS:
        is_plain = source.isupper() or source.islower()
        return len(read) > 1 and is_plain and source == target and given_names().isdisjoint(_titled(read))
    shared = sum((Counter(read) & Counter(written)).values())
    return shared >= max(MIN_COPIED_WORDS, COPIED_SHARE * len(read))


def _titled(words: Sequence[str]) -> set[str]:
    return {word.capitalize() for word in words}


def copied_words(source: str, target: str, language: str) -> list[str]:
    """Ordinary words of the source's language, names aside, that stand in the translation too.

    A plural is as ordinary as its singular.
    """
    written, ordinary = set(_lower_words(target)), ordinary_words(language)
    return [
        word
        for word in _common_words(source)
        if word in written and (word in ordinary or (word[-1] == "s" and word[:-1] in ordinary))
    ]


def doubled_words(source: str, target: str) -> list[str]:
    """Words and phrases that stand twice in a row in a translation whose source has nothing so doubled."""
    found = [
        match.group()
        for match in _DOUBLED.finditer(target)
        if (match[1] or match[2] or "").lower() not in _MAY_DOUBLE
        and (match[3] or "").lower() not in _MAY_FOLLOW_ITSELF
    ]
    return found if found and not _DOUBLED.search(source) else []


def wrong_marks(source: str, target: str) -> list[str]:
    """Brackets that are missing or have no counterpart, and quotation marks that are gone."""
    if "(" not in source + target and not _QUOTES.search(source):
        return []
    found = []
    if len(_BRACKETS.findall(target)) < len(_BRACKETS.findall(source)):
        found.append("()")
    for opening, closing in ("()", "[]", "{}", "«»"):
        if target.count(opening) != target.count(closing) and source.count(opening) == source.count(closing):
            found.append(f"{opening}{closing}")
    if _QUOTES.search(source) and not _ANY_QUOTE.search(target):
        found.append('""')
    if target.count('"') % 2 > source.count('"') % 2:
        found.append('"')
    return list(dict.fromkeys(found))


def is_too_short(source: str, target: str, language: str = "fr") -> bool:
    """Whether a translation into a language is so short that part of its source must be missing."""
    share = rules(language).short_share
    return len(source) >= LEAST_CHARACTERS and len(target) < share * len(source)


def is_in_other_language(text: str, language: str) -> bool:
    """Whether a text of enough words to tell is in another language than ``language``, beyond doubt."""
    words = _lower_words(text)
    if len(words) < MIN_DETECTED_WORDS:
        return False
    unmistakable = rules(language).unmistakable.intersection(words)
    if len(unmistakable) > 1 and PLAIN_SHARE * len(words) <= sum(word in unmistakable for word in words):
        return False
    plain = unmistakable | ordinary_words(language).intersection(words)
    if len(plain) > LEAST_PLAIN and ORDINARY_SHARE * len(words) <= sum(word in plain for word in words):
        return False
    detected = detect(text)
    return detected.language not in (None, language) and detected.score >= CERTAIN_LANGUAGE


def is_already_in(text: str, language: str, read: str) -> bool:
    """Whether a sentence is certainly in ``language`` and not in the one that the model reads.

    It has four words or more, two that only the one has and none that only the other has, and the classifier
    agrees.
    """
    words = _lower_words(text)
    own = rules(language)
    known = (own.unmistakable | own.telling).intersection(words)
    if len(words) < LEAST_WORDS or len(known) < LEAST_KNOWN:
        return False
    if rules(read).unmistakable.intersection(words) or ordinary_words(read).intersection(words):
        return False
    detected = detect(text, (language, read))
    return detected.language == language and detected.score >= ALREADY_SCORE


def is_unaligned(
    source_words: Sequence[Token], target_words: Sequence[Token], links: Iterable[tuple[int, int]]
) -> bool:
    """Whether too many words in a row of the translation, or most words of the source, have no link.

    Punctuation neither counts nor interrupts.

    Args:
        source_words: of the sentence.
        target_words: of its translation.
        links: pairs of indices (source, target).
    """
    pairs = list(links)
    known = {target for _, target in pairs}
    run = 0
    for index, word in enumerate(target_words):
        if index in known:
            run = 0
        elif _is_word(word):
            run += 1
            if run > LONGEST_UNALIGNED:
                return True
    read = {source for source, _ in pairs}
    covered = [index in read for index, word in enumerate(source_words) if _is_word(word)]
    return len(covered) >= MIN_COVERABLE_WORDS and sum(covered) < COVERED_SHARE * len(covered)


def _is_word(token: Token) -> bool:
    return any(character.isalnum() for character in token.text)


@lru_cache(maxsize=FEW)
def _lower_words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


@lru_cache(maxsize=FEW)
def _common_words(text: str) -> tuple[str, ...]:
    """Words in lower case without what seems a name."""
    words = _WORD.findall(text)
    if text.isupper():
        return tuple(word.lower() for word in words)
    return tuple(word.lower() for index, word in enumerate(words) if index == 0 or not word[0].isupper())

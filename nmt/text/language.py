"""Which language a text is in, with a score; nothing is guessed where the text does not tell.

The naive Bayes classifier of langid over byte n-grams (Lui & Baldwin 2012, "langid.py: An Off-the-shelf
Language Identification Tool"), in the kept library py3langid; its model is a file of the package. Why this
one, and where the thresholds come from: docs/decisions/012-language-detection.md.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from nmt.errors import InputError
from nmt.text.codes import base_of, nearest

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

CERTAIN = 0.5
"""Score among all languages from which one is told."""
CERTAIN_OF_FEW = 0.8
"""Score among the languages a caller named. One of them always comes first, hence more is asked of it."""
MOST_CHARACTERS = 5000
"""As much of a text is read: more does not change the answer."""


@dataclass(frozen=True)
class Detection:
    """A language as ISO 639-1 code and its probability, 0 to 1; no language where the text does not tell."""

    language: str | None
    score: float


UNKNOWN = Detection(None, 0.0)


def detect(text: str, languages: Collection[str] | None = None) -> Detection:
    """The language of ``text``, or none with the score that the best one had and that was too little.

    Args:
        text: of any length; one or two words are rarely enough.
        languages: ISO 639-1 codes the answer is among, all that are known by default. A text in yet another
            language is then taken for one of them: leave it out to find a text in the wrong language.

    Raises:
        InputError: a language that is not known.
    """
    best = next(_ranked(text, languages), UNKNOWN)
    enough = CERTAIN if languages is None else CERTAIN_OF_FEW
    return best if best.score >= enough else Detection(None, best.score)


def candidates(text: str, languages: Collection[str] | None = None) -> list[Detection]:
    """Languages with their probabilities, best first; none at all where nothing in the text tells.

    Among all languages the probabilities sum to at most 1: codes outside ISO 639-1 are left out. Among
    ``languages`` they sum to 1.

    Raises:
        InputError: a language that is not known.
    """
    return list(_ranked(text, languages))


def among(text: str, languages: Collection[str]) -> str | None:
    """The one of ``languages`` that ``text`` is in; None: it is in another, or does not tell.

    Of few languages a shorter text tells which it is in, but not that it is in none of them.

    Args:
        text: as of ``detect``.
        languages: BCP 47 codes; "pt-BR" is found as "pt".
    """
    told = detect(text).language
    if told is None:
        with contextlib.suppress(InputError):  # a language that the detector does not know
            told = detect(text, {base_of(code) for code in languages}).language
    return None if told is None else nearest(told, languages)


def _ranked(text: str, languages: Collection[str] | None) -> Iterator[Detection]:
    identifier = _identifier()
    if languages is not None and not set(languages) <= set(identifier.labels):
        known = ", ".join(sorted(code for code in identifier.labels if len(code) == 2))
        raise InputError(f"a language to detect is not known; known are {known}")
    ranked = identifier.rank(text[:MOST_CHARACTERS])
    if ranked[-1][1] > 0.9 / len(ranked):
        return  # no known n-gram: even the least likely has an even share
    if languages is None:
        yield from (Detection(code, float(share)) for code, share in ranked if len(code) == 2)
        return
    chosen = [(code, share) for code, share in ranked if code in languages]
    total = sum(share for _, share in chosen)
    if total:
        yield from (Detection(code, share / total) for code, share in chosen)


@cache
def _identifier() -> LanguageIdentifier:
    """Loaded at first use, in about half a second; reading from it is safe in threads."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

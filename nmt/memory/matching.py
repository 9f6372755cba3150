"""How like a text a unit is: the share of words that need no edit (Levenshtein distance over words)."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz.distance import Levenshtein

from nmt.memory.adjust import translation_of
from nmt.memory.normal import NormalForm, normal_form
from nmt.memory.unit import NEARLY, MemoryMatch, TranslationUnit


def exact_match(
    text: str, form: NormalForm, units: Iterable[TranslationUnit], languages: tuple[str, str]
) -> MemoryMatch | None:
    """The newest unit that is the text's translation as it stands, its variables adjusted; None: none is.

    Args:
        text: what is looked up.
        form: of the text.
        units: with the text's key, or at least its number; the newest first.
        languages: of source and target.
    """
    best: MemoryMatch | None = None
    for unit in units:
        unit_form = normal_form(unit.source)
        if unit_form.words != form.words:
            continue
        target = translation_of(unit, form, unit_form, languages)
        if target is None:
            continue
        match = MemoryMatch(text, unit.source, target, 1.0, unit.id)
        if unit.source.strip() == text.strip():
            return match
        best = best or match
    return best


def fuzzy_matches(
    text: str,
    form: NormalForm,
    candidates: Iterable[tuple[str, TranslationUnit]],
    threshold: float,
    limit: int,
) -> list[MemoryMatch]:
    """The units that score ``threshold`` or more, the best first, the newest of equals first.

    Args:
        text: what is looked up.
        form: of the text.
        candidates: units, each with its key.
        threshold: the least score.
        limit: how many at most.
    """
    words = form.words
    found: list[tuple[float, TranslationUnit]] = []
    for key, unit in candidates:
        score = Levenshtein.normalized_similarity(words, key.split(" "), score_cutoff=threshold)
        if score >= threshold:
            found.append((min(score, NEARLY), unit))
    found.sort(key=lambda one: (-one[0], -one[1].id))
    return [
        MemoryMatch(text, unit.source, unit.target, round(score, 4), unit.id) for score, unit in found[:limit]
    ]

"""Words that a language writes with a capital wherever they stand, and that are no names of one bearer.

English writes days, months, languages and peoples so; French only a few words. ISO 639-1 code -> words.
"""

from __future__ import annotations

_ENGLISH = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december christmas easter halloween thanksgiving ramadan hanukkah pentecost god
    bible internet
"""
_FRENCH = """
    dieu noël pâques toussaint ascension assomption pentecôte ramadan hanoukka bible coran église état
    parlement internet
"""
_ENGLISH_PEOPLES = """
    english french german spanish italian portuguese dutch swedish danish norwegian finnish polish russian
    ukrainian greek turkish arabic hebrew chinese japanese korean indian american canadian mexican brazilian
    british irish scottish welsh swiss belgian austrian european african asian australian latin
"""

CAPITALISED = {
    language: frozenset(f"{word}{ending}" for word in words.split() for ending in ("", "s"))
    for language, words in (("en", _ENGLISH), ("fr", _FRENCH))
}
"""Words that other languages have words of their own for, so that they are not to be copied."""

_ALSO_COMMON = {"may", "march", "august", "mays", "marches", "god", "gods", "bible", "bibles"}
ALWAYS_CAPITAL = {"en": CAPITALISED["en"] - _ALSO_COMMON | frozenset(_ENGLISH_PEOPLES.split()) | {"i"}}
"""Words that keep their capital though the whole source has none."""

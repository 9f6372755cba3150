"""Which training pairs are refused, and why: each rule a small pure function, each refusal counted.

Text is normalised before it is judged, and very little: Unicode NFC, white space of any kind to one space,
none at the ends. Spelling, quotes and case are the author's.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from types import MappingProxyType

from training.recipe import CleaningConfig

Pair = tuple[str, str]
Rule = Callable[[str, str, CleaningConfig], bool]

RATIO_SMOOTHING = 10
"""Characters added to both sides of a length ratio: "Go." / "Vas-y !" is no misalignment."""


def normalize(text: str) -> str:
    """NFC, and white space (line breaks included) to single spaces; no other change."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def is_empty(source: str, target: str, config: CleaningConfig) -> bool:  # noqa: ARG001
    """A side holds nothing but white space."""
    return not source.strip() or not target.strip()


def has_control_characters(source: str, target: str, config: CleaningConfig) -> bool:  # noqa: ARG001
    """A side holds a control, private-use or unassigned character, or U+FFFD, the mark of an earlier loss."""
    return any(not side.isprintable() and _has_refused_character(side) for side in (source, target)) or (
        "\ufffd" in source or "\ufffd" in target
    )


def is_too_long(source: str, target: str, config: CleaningConfig) -> bool:
    """A side has too many words or characters."""
    return any(
        len(side) > config.max_characters or len(side.split()) > config.max_words for side in (source, target)
    )


def has_unlike_lengths(source: str, target: str, config: CleaningConfig) -> bool:
    """One side is so much longer, in characters, that the two can hardly say the same."""
    shorter, longer = sorted((len(source), len(target)))
    return (longer + RATIO_SMOOTHING) / (shorter + RATIO_SMOOTHING) > config.max_length_ratio


def is_copy(source: str, target: str, config: CleaningConfig) -> bool:
    """Both sides are the same text, whatever its case: nobody translated it."""
    return len(source.split()) >= config.identical_min_words and source.casefold() == target.casefold()


def has_few_letters(source: str, target: str, config: CleaningConfig) -> bool:
    """Digits and symbols prevail on a side: a table row, a formula, markup."""
    return any(_symbol_share(side) > config.max_symbol_share for side in (source, target))


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "empty": is_empty,
        "control_characters": has_control_characters,
        "too_long": is_too_long,
        "length_ratio": has_unlike_lengths,
        "identical": is_copy,
        "few_letters": has_few_letters,
    }
)
"""Reason -> rule, in the order in which they are asked; a pair is counted under the first that refuses it."""

REASONS = (*RULES, "overlap", "duplicate", "too_many_tokens")
"""All reasons of a report; ``too_many_tokens`` is found when the text is encoded."""


def overlap_key(text: str) -> str:
    """What two sentences share that differ in case, punctuation or white space alone; may be empty."""
    kept = (character if character.isalnum() else " " for character in normalize(text).casefold())
    return " ".join("".join(kept).split())


def fingerprint(text: str) -> int:
    """64 bits of BLAKE2b: a set of them remembers millions of sentences in little memory."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def held_out_keys(sentences: Iterable[str]) -> set[int]:
    """Fingerprints of the source sentences of dev and test sets, for ``clean``."""
    return {fingerprint(key) for key in map(overlap_key, sentences) if key}


def clean(
    pairs: Iterable[Pair], config: CleaningConfig, *, held_out: Set[int], seen: set[int], counts: Counter[str]
) -> Iterator[Pair]:
    """Yield the normalised pairs that every rule lets pass.

    Args:
        pairs: raw pairs.
        config: thresholds.
        held_out: ``held_out_keys`` of the sentences that must not be trained on.
        seen: fingerprints of pairs seen so far; grows, so that it serves several corpora.
        counts: grows by one under "read" for each pair, and under its reason for each one refused.
    """
    for raw_source, raw_target in pairs:
        source, target = normalize(raw_source), normalize(raw_target)
        counts["read"] += 1
        reason = next((reason for reason, rule in RULES.items() if rule(source, target, config)), None)
        if reason is None and config.drop_overlap and fingerprint(overlap_key(source)) in held_out:
            reason = "overlap"
        if reason is None and config.drop_duplicates:
            key = fingerprint(f"{source}\n{target}")
            reason = "duplicate" if key in seen else None
            seen.add(key)
        if reason is None:
            yield source, target
        else:
            counts[reason] += 1


def _has_refused_character(text: str) -> bool:
    """Control (Cc), surrogate (Cs), private use (Co) or unassigned (Cn); joiners and marks (Cf) are text."""
    return any(unicodedata.category(character) in {"Cc", "Cs", "Co", "Cn"} for character in text)


def _symbol_share(text: str) -> float:
    characters = "".join(text.split())
    letters = sum(
        character.isalpha() or unicodedata.category(character)[0] == "M" for character in characters
    )
    return 1 - letters / max(1, len(characters))

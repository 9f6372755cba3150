"""Which training pairs are refused, and why: each rule a small pure function, each refusal counted.

Text is normalised before it is judged, and very little: Unicode NFC, white space of any kind to one space,
none at the ends. Spelling, quotes and case are the author's.

Rules whose threshold is None are not asked. ``Cleaner`` judges a pair by itself, so that many can be judged
at once; which pairs are duplicates is known only when all have been seen (``training.data.duplicates``).
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from types import MappingProxyType
from typing import NamedTuple

from nmt.text.language import candidates
from training.data.samples import Samples
from training.recipe import CleaningConfig

Pair = tuple[str, str]
Rule = Callable[[str, str, CleaningConfig], bool]

RATIO_SMOOTHING = 10
"""Characters added to both sides of a length ratio: "Go." / "Vas-y !" is no misalignment."""
VARIANCE_FOR_EACH_CHARACTER = 6.8
"""Variance of the characters that one character becomes (Gale and Church 1993, section 3.2)."""
LEAST_WORDS_TO_TELL = 5
"""The language of shorter text is not asked for: names and calls sound like any."""

_ALPHANUMERIC = re.compile(r"[^\W_]+")


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


def has_many_digits(source: str, target: str, config: CleaningConfig) -> bool:
    """A side is made of figures: a row of statistics, a list of references."""
    return config.max_digit_share is not None and any(
        _digit_share(side) > config.max_digit_share for side in (source, target)
    )


def has_unlikely_length(source: str, target: str, config: CleaningConfig) -> bool:
    """The target is too many standard deviations from the length that the source lets expect.

    The measure by which Gale and Church (1993) align sentences: the difference from the expected length, over
    the square root of its variance, which grows with the length.
    """
    if config.max_length_deviation is None:
        return False
    expected = len(source) * (config.expected_length_ratio or 1.0)
    spread = math.sqrt(VARIANCE_FOR_EACH_CHARACTER * (expected + len(target)) / 2)
    return abs(len(target) - expected) > config.max_length_deviation * spread


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "empty": is_empty,
        "control_characters": has_control_characters,
        "too_long": is_too_long,
        "length_ratio": has_unlike_lengths,
        "identical": is_copy,
        "few_letters": has_few_letters,
        "digits": has_many_digits,
        "unlikely_length": has_unlikely_length,
    }
)
"""Reason -> rule, in the order in which they are asked; a pair is counted under the first that refuses it."""

OF_A_PAIR = (*RULES, "language", "overlap")
"""Reasons that a pair gives by itself."""
REASONS = (*OF_A_PAIR, "duplicate", "too_many_tokens")
"""All reasons of a report; ``too_many_tokens`` is found when the text is encoded."""


def overlap_key(text: str) -> str:
    """Key of sentences that differ in case, punctuation or white space alone; may be empty."""
    return " ".join(_ALPHANUMERIC.findall(normalize(text).casefold()))


def fingerprint(text: str) -> int:
    """64 bits of BLAKE2b: a set of them remembers millions of sentences in little memory."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def held_out_keys(sentences: Iterable[str]) -> set[int]:
    """Fingerprints of the source sentences of dev and test sets, for ``clean``."""
    return {fingerprint(key) for key in map(overlap_key, sentences) if key}


def is_in_another_language(text: str, language: str, certainty: float) -> bool:
    """The text is, as surely as ``certainty``, in a language other than ``language``."""
    if len(text.split()) < LEAST_WORDS_TO_TELL:
        return False
    found = candidates(text)
    return bool(found) and found[0].language != language and found[0].score >= certainty


class Kept(NamedTuple):
    """A normalised pair that passed, and the fingerprint by which its duplicates are known."""

    pair: Pair
    key: int


class Cleaner:
    """Judges pairs one by one, and remembers how many it refused for each reason, with samples.

    Args:
        config: thresholds.
        languages: codes of source and target.
        held_out: ``held_out_keys`` of the sentences that must not be trained on.
    """

    def __init__(self, config: CleaningConfig, languages: tuple[str, str], held_out: Set[int]) -> None:
        self._config = config
        self._languages = languages
        self._held_out = held_out
        self.counts: Counter[str] = Counter()
        self.samples = Samples()

    def clean(self, pairs: Iterable[Pair]) -> Iterator[Kept]:
        """Yield the normalised pairs that every rule lets pass."""
        for raw_source, raw_target in pairs:
            source, target = normalize(raw_source), normalize(raw_target)
            self.counts["read"] += 1
            reason = self._reason(source, target)
            key = fingerprint(f"{source}\n{target}")
            if reason is None:
                yield Kept((source, target), key)
            else:
                self.counts[reason] += 1
                self.samples.add(reason, key, (source, target))

    def _reason(self, source: str, target: str) -> str | None:
        """Why the pair is refused; the first of ``OF_A_PAIR`` that applies."""
        config = self._config
        for reason, rule in RULES.items():
            if rule(source, target, config):
                return reason
        certainty = config.language_certainty
        if certainty is not None and any(
            is_in_another_language(side, language, certainty)
            for side, language in zip((source, target), self._languages, strict=True)
        ):
            return "language"
        if config.drop_overlap and fingerprint(overlap_key(source)) in self._held_out:
            return "overlap"
        return None


def _has_refused_character(text: str) -> bool:
    """Control (Cc), surrogate (Cs), private use (Co) or unassigned (Cn); joiners and marks (Cf) are text."""
    return any(unicodedata.category(character) in {"Cc", "Cs", "Co", "Cn"} for character in text)


def _symbol_share(text: str) -> float:
    characters = "".join(text.split())
    letters = sum(map(str.isalpha, characters))
    if letters < len(characters):
        letters += sum(unicodedata.category(character)[0] == "M" for character in characters)
    return 1 - letters / max(1, len(characters))


def _digit_share(text: str) -> float:
    characters = "".join(text.split())
    return sum(map(str.isdigit, characters)) / max(1, len(characters))

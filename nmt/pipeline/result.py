"""Translations and their parts.

All spans are half open and count characters (Unicode code points), or tokens where the name says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from nmt.alignment.attention_maps import HeadMaps
from nmt.alignment.pharaoh import Link
from nmt.pipeline.flags import Flag, FlagKind
from nmt.pipeline.next_words import NextWord
from nmt.spans import Span
from nmt.text.glossary import AppliedTerm
from nmt.text.segment import Segment
from nmt.text.words import Token
from nmt.tokenizer import Piece


@dataclass(frozen=True)
class Alternative:
    """One of the n best translations of a whole text, or of one sentence."""

    text: str
    score: float
    """As ``Translation.score``. The order is the search's own, which may normalise length differently."""


MemoryUse: TypeAlias = Literal["translation", "repair", "suggestion"]
"""Use of a unit of a translation memory. translation: its target is the translation of the sentence.
repair: it is, but for the words in which the texts differ. suggestion: nothing, it is only told."""


@dataclass(frozen=True)
class Recalled:
    """A unit of a translation memory that was found for a sentence."""

    sentence: int
    """Index in ``Translation.sentences``."""
    source: str
    target: str
    score: float
    """1: an exact match. Less: the share of words that need no edit."""
    unit: int
    use: MemoryUse


@dataclass(frozen=True)
class SentenceTranslation:
    """One sentence of a text, or one part of a sentence that was too long for the model."""

    source: Span
    target: Span
    score: float
    """Mean log-probability for each target sub-word token, EOS counted."""
    truncated: bool
    """The maximum length came before the end of the sentence."""
    source_tokens: Span
    """Token indices in ``Translation.source_tokens``; empty without alignment."""
    target_tokens: Span
    """Token indices in ``Translation.target_tokens``; empty without alignment."""
    attention: tuple[tuple[float, ...], ...] | None
    """``attention[i][j]``: share of the sentence's target token i on its source token j; for "soft"."""
    confidence: float | None = None
    """The probability that it is good, as ``calibration.json`` means it; None: not calibrated."""
    heads: HeadMaps | None = None
    """With alignment "heads" the attention of every head; None too for a sentence that was copied or is long
    (``nmt.alignment.attention_maps.MOST_CELLS``)."""
    alternatives: tuple[Alternative, ...] = ()
    """The n best of the sentence, its translation the first; empty with ``n_best`` 1."""
    next_words: tuple[NextWord, ...] = ()
    """With the option of that name what may follow the prefix, likeliest first; ``text`` is the prefix."""


@dataclass(frozen=True)
class Translation:
    """A translated text; blank text is its own translation, of no sentences and score 0."""

    text: str
    score: float
    """Mean log-probability for each target sub-word token, EOS counted, over all sentences."""
    sentences: tuple[SentenceTranslation, ...]
    source_tokens: tuple[Token, ...] | None
    """Words and punctuation marks of the source; None when no alignment was asked for."""
    target_tokens: tuple[Token, ...] | None
    links: tuple[Link, ...] | None
    """Links between indices of ``source_tokens`` and ``target_tokens``."""
    alternatives: tuple[Alternative, ...]
    """At most n best, all different, the first is this translation. Empty when one was asked for."""
    truncated: bool
    """Some sentence is truncated."""
    repaired: bool
    """Some sentence was too long for the model and was translated in parts."""
    n_source_tokens: int
    """Sub-word tokens read, without EOS."""
    n_target_tokens: int
    """Sub-word tokens written, without EOS; copied sentences have none."""
    flags: tuple[Flag, ...] = ()
    """Possible errors, by sentence."""
    confidence: float | None = None
    """Mean of the sentences' confidence, weighted by their length; None: no sentences, or not calibrated."""
    word_confidence: tuple[float, ...] | None = None
    """The probability that each of ``target_tokens`` is right; None without alignment or calibration."""
    kept: tuple[tuple[Span, Span], ...] = ()
    """Copies (literals, spans to keep, numbers): its span in the source and in ``text``."""
    terms: tuple[AppliedTerm, ...] = ()
    """The glossary entries that ``text`` holds."""
    memory: tuple[Recalled, ...] = ()
    """Matches of the translation memory, by sentence."""


@dataclass(frozen=True)
class Document:
    """A text and the sentences of it to translate."""

    text: str
    segments: tuple[Segment, ...]
    repaired: bool


@dataclass(frozen=True)
class Candidate:
    """A hypothesis of one sentence as text."""

    text: str
    pieces: tuple[Piece, ...]
    log_prob: float
    rank: float
    """Rank in the search, more is better."""
    finished: bool
    token_log_probs: tuple[float, ...] = ()
    """Log-probability of each piece and, when finished, of EOS: the terms of ``log_prob``."""
    copied: bool = False
    """The sentence itself, which the model did not write."""
    kept: tuple[tuple[Span, Span], ...] = ()
    """Copies: spans of the sentence and of ``text``."""
    terms: tuple[AppliedTerm, ...] = ()
    """Glossary entries, with spans of the sentence and of ``text``."""
    source_pieces: tuple[Piece, ...] = ()
    """Pieces that the model read, with spans in the sentence; empty: the sentence as it stands."""
    recalled: bool = False
    """From a translation memory; the model did not write it."""

    @property
    def n_predicted(self) -> int:
        """Tokens that ``log_prob`` sums over: EOS counts if it was reached."""
        return 0 if self.copied or self.recalled else len(self.pieces) + self.finished


@dataclass(frozen=True)
class Verdict:
    """Verdict on the translation of one sentence."""

    flags: tuple[FlagKind, ...] = ()
    confidence: float | None = None
    word_confidence: tuple[float, ...] | None = None
    """Confidence of each target word; None without alignment or calibration."""

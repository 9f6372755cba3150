"""What a translation is, and how the translations of sentences become that of a text.

All spans are half open and count characters (Unicode code points), or tokens where the name says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from nmt.alignment.attention_maps import HeadMaps
from nmt.alignment.pharaoh import Link
from nmt.pipeline.flags import Flag, FlagKind
from nmt.spans import Span
from nmt.text.glossary import AppliedTerm
from nmt.text.segment import Segment, join
from nmt.text.words import Token
from nmt.tokenizer import Piece

if TYPE_CHECKING:
    from nmt.alignment.aligner import Alignment


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


@dataclass(frozen=True)
class Alternative:
    """One of the n best translations of a whole text."""

    text: str
    score: float
    """As ``Translation.score``. The order is the search's own, which may normalise length differently."""


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
    """What may be wrong, by sentence."""
    confidence: float | None = None
    """Mean of the sentences' confidence, weighted by their length; None: no sentences, or not calibrated."""
    word_confidence: tuple[float, ...] | None = None
    """The probability that each of ``target_tokens`` is right; None without alignment or calibration."""
    kept: tuple[tuple[Span, Span], ...] = ()
    """What was copied (literals, spans to keep, numbers): its span in the source and in ``text``."""
    terms: tuple[AppliedTerm, ...] = ()
    """The glossary entries that ``text`` holds."""


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
    """What search ranked it by, more is better."""
    finished: bool
    token_log_probs: tuple[float, ...] = ()
    """Of each piece and, when finished, of EOS: the terms of ``log_prob``."""
    copied: bool = False
    """The sentence itself, which the model did not write."""
    kept: tuple[tuple[Span, Span], ...] = ()
    """What was copied: spans of the sentence and of ``text``."""
    terms: tuple[AppliedTerm, ...] = ()
    """Glossary entries, with spans of the sentence and of ``text``."""
    source_pieces: tuple[Piece, ...] = ()
    """What the model read, with spans in the sentence; empty: the sentence as it stands."""

    @property
    def n_predicted(self) -> int:
        """Tokens that ``log_prob`` sums over: EOS counts if it was reached."""
        return 0 if self.copied else len(self.pieces) + self.finished


@dataclass(frozen=True)
class Verdict:
    """What is to be said about the translation of one sentence."""

    flags: tuple[FlagKind, ...] = ()
    confidence: float | None = None
    word_confidence: tuple[float, ...] | None = None
    """Of each target word; None without alignment or calibration."""


def assemble(
    document: Document,
    candidates: Sequence[Sequence[Candidate]],
    alignments: Sequence[Alignment] | None,
    *,
    n_source_tokens: int,
    n_best: int,
    soft: bool,
    verdicts: Sequence[Verdict] = (),
) -> Translation:
    """Join the translations of a text's sentences.

    Args:
        document: the text.
        candidates: for each of its sentences at least one, best first.
        alignments: of each sentence with its best candidate, or None.
        n_source_tokens: sub-word tokens of all its sentences.
        n_best: how many alternatives to give; 1 gives none.
        soft: give the attention of each sentence.
        verdicts: on each sentence; none: nothing is known of them.
    """
    verdicts = verdicts or [Verdict()] * len(candidates)
    best = [choice[0] for choice in candidates]
    text, spans = join(document.text, document.segments, [candidate.text for candidate in best])
    sentences: list[SentenceTranslation] = []
    source_tokens: list[Token] = []
    target_tokens: list[Token] = []
    links: list[Link] = []
    for index, (segment, candidate, (start, end)) in enumerate(
        zip(document.segments, best, spans, strict=True)
    ):
        first_source, first_target = len(source_tokens), len(target_tokens)
        if alignments is not None:
            alignment = alignments[index]
            source_tokens += _shifted(alignment.source_tokens, segment.start)
            target_tokens += _shifted(alignment.target_tokens, start)
            links += [
                replace(link, source=link.source + first_source, target=link.target + first_target)
                for link in alignment.links
            ]
        sentences.append(
            SentenceTranslation(
                source=Span(segment.start, segment.end),
                target=Span(start, end),
                score=_mean_log_prob([candidate]),
                truncated=not candidate.finished,
                source_tokens=Span(first_source, len(source_tokens)),
                target_tokens=Span(first_target, len(target_tokens)),
                attention=alignments[index].matrix if alignments is not None and soft else None,
                confidence=verdicts[index].confidence,
            )
        )
    return Translation(
        text=text,
        score=_mean_log_prob(best),
        sentences=tuple(sentences),
        source_tokens=None if alignments is None else tuple(source_tokens),
        target_tokens=None if alignments is None else tuple(target_tokens),
        links=None if alignments is None else tuple(links),
        alternatives=_alternatives(document, candidates, n_best) if n_best > 1 else (),
        truncated=any(sentence.truncated for sentence in sentences),
        repaired=document.repaired,
        n_source_tokens=n_source_tokens,
        n_target_tokens=sum(len(candidate.pieces) for candidate in best),
        flags=tuple(Flag(kind, index) for index, verdict in enumerate(verdicts) for kind in verdict.flags),
        confidence=_mean_confidence(document, verdicts),
        word_confidence=_word_confidence(verdicts),
        kept=tuple(
            (_moved(source, segment.start), _moved(target, start))
            for segment, candidate, (start, _) in zip(document.segments, best, spans, strict=True)
            for source, target in candidate.kept
        ),
        terms=tuple(
            replace(term, source=_moved(term.source, segment.start), target=_moved(term.target, start))
            for segment, candidate, (start, _) in zip(document.segments, best, spans, strict=True)
            for term in candidate.terms
        ),
    )


def _moved(span: Span, offset: int) -> Span:
    return Span(span.start + offset, span.end + offset)


def _mean_confidence(document: Document, verdicts: Sequence[Verdict]) -> float | None:
    known = [
        (verdict.confidence, len(segment.text))
        for segment, verdict in zip(document.segments, verdicts, strict=True)
        if verdict.confidence is not None
    ]
    total = sum(length for _, length in known)
    return sum(confidence * length for confidence, length in known) / total if total else None


def _word_confidence(verdicts: Sequence[Verdict]) -> tuple[float, ...] | None:
    by_sentence = [verdict.word_confidence for verdict in verdicts if verdict.word_confidence is not None]
    return tuple(word for sentence in by_sentence for word in sentence) if by_sentence else None


def _mean_log_prob(candidates: Sequence[Candidate]) -> float:
    n_predicted = sum(candidate.n_predicted for candidate in candidates)
    return sum(candidate.log_prob for candidate in candidates) / n_predicted if n_predicted else 0.0


def _shifted(tokens: Sequence[Token], offset: int) -> list[Token]:
    return [Token(token.text, token.start + offset, token.end + offset) for token in tokens]


class _Choice(NamedTuple):
    """A candidate for each of the first sentences of a text, as a list linked from the last."""

    n_unfinished: int
    rank: float
    previous: _Choice | None
    candidate: Candidate | None


def _alternatives(
    document: Document, candidates: Sequence[Sequence[Candidate]], n_best: int
) -> tuple[Alternative, ...]:
    """The n best ways to take one candidate for each sentence, by the sum of ranks, whole ones first.

    Ranks add up, so the best n for the first sentences are all that the best n for one more can begin with.
    """
    choices = [_Choice(0, 0.0, None, None)]
    for sentence in candidates:
        different: dict[str, Candidate] = {}
        for candidate in sentence:
            different.setdefault(candidate.text, candidate)
        choices = sorted(
            (
                _Choice(
                    choice.n_unfinished + (not candidate.finished),
                    choice.rank + candidate.rank,
                    choice,
                    candidate,
                )
                for choice in choices
                for candidate in different.values()
            ),
            key=lambda choice: (choice.n_unfinished, -choice.rank),
        )[:n_best]
    alternatives: list[Alternative] = []
    for choice in choices:
        chosen: list[Candidate] = []
        link: _Choice | None = choice
        while link is not None and link.candidate is not None:
            chosen.append(link.candidate)
            link = link.previous
        chosen.reverse()
        text, _ = join(document.text, document.segments, [candidate.text for candidate in chosen])
        alternatives.append(Alternative(text, _mean_log_prob(chosen)))
    return tuple(alternatives)

"""End of the pipeline: finished sentences of a text become its translation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nmt.alignment.alignment import Alignment
from nmt.alignment.attention_maps import HeadMaps
from nmt.alignment.pharaoh import Link
from nmt.pipeline.flags import Flag
from nmt.pipeline.next_words import NextWord
from nmt.pipeline.plan import Plan
from nmt.pipeline.result import (
    Alternative,
    Candidate,
    Document,
    Recalled,
    SentenceTranslation,
    Translation,
    Verdict,
)
from nmt.spans import Span
from nmt.text.codes import writes_spaces
from nmt.text.segment import join
from nmt.text.words import Token

NOTHING_KNOWN = Verdict()


@dataclass(frozen=True)
class FinishedSentence:
    """Result of a sentence's flow."""

    candidates: tuple[Candidate, ...]
    """At least one, best first."""
    alignment: Alignment | None = None
    """Links of the best candidate; None when none was asked for."""
    verdict: Verdict = NOTHING_KNOWN
    heads: HeadMaps | None = None
    """Maps of the best candidate, with alignment "heads"."""
    memory: Recalled | None = None
    """Match of the translation memory for the sentence."""
    next_words: tuple[NextWord, ...] = ()
    """What may follow its prefix, where that was asked for in the place of a translation."""


def finish(plan: Plan, sentences: Sequence[FinishedSentence]) -> Translation:
    """The translations of a text's sentences become that of the text."""
    document, n_best = plan.document, plan.generation.n_best
    best = [sentence.candidates[0] for sentence in sentences]
    text, spans = join(
        document.text, document.segments, [candidate.text for candidate in best], between=_between(plan)
    )
    starts = [(segment.start, start) for segment, (start, _) in zip(document.segments, spans, strict=True)]
    translated = _sentences(plan, sentences, spans)
    is_aligned = plan.options.alignment != "none"
    source_tokens, target_tokens, links = _aligned(sentences, starts)
    return Translation(
        text=text,
        score=_mean_log_prob(best),
        sentences=tuple(translated),
        source_tokens=source_tokens if is_aligned else None,
        target_tokens=target_tokens if is_aligned else None,
        links=links if is_aligned else None,
        alternatives=_alternatives(plan, sentences, n_best) if n_best > 1 else (),
        truncated=any(sentence.truncated for sentence in translated),
        repaired=document.repaired,
        n_source_tokens=sum(len(ids) for ids in plan.source_ids),
        n_target_tokens=sum(len(candidate.pieces) for candidate in best),
        flags=tuple(
            Flag(kind, index) for index, sentence in enumerate(sentences) for kind in sentence.verdict.flags
        ),
        confidence=_mean_confidence(document, sentences),
        word_confidence=_word_confidence(sentences),
        kept=tuple(
            (_moved(source, read), _moved(target, written))
            for candidate, (read, written) in zip(best, starts, strict=True)
            for source, target in candidate.kept
        ),
        terms=tuple(
            replace(term, source=_moved(term.source, read), target=_moved(term.target, written))
            for candidate, (read, written) in zip(best, starts, strict=True)
            for term in candidate.terms
        ),
        memory=tuple(
            replace(sentence.memory, sentence=index)
            for index, sentence in enumerate(sentences)
            if sentence.memory is not None
        ),
    )


def _sentences(
    plan: Plan, sentences: Sequence[FinishedSentence], spans: Sequence[tuple[int, int]]
) -> list[SentenceTranslation]:
    """Evidence of each sentence, with the words that are its own among those of the text."""
    is_soft = plan.options.alignment in ("soft", "heads")
    found: list[SentenceTranslation] = []
    n_read, n_written = 0, 0
    for segment, sentence, (start, end) in zip(plan.document.segments, sentences, spans, strict=True):
        candidate, alignment = sentence.candidates[0], sentence.alignment
        first = n_read, n_written
        if alignment is not None:
            n_read += len(alignment.source_tokens)
            n_written += len(alignment.target_tokens)
        found.append(
            SentenceTranslation(
                source=Span(segment.start, segment.end),
                target=Span(start, end),
                score=_mean_log_prob([candidate]),
                truncated=not candidate.finished,
                source_tokens=Span(first[0], n_read),
                target_tokens=Span(first[1], n_written),
                attention=alignment.matrix if alignment is not None and is_soft else None,
                confidence=sentence.verdict.confidence,
                heads=sentence.heads,
                alternatives=_alternatives_of(sentence, plan.generation.n_best),
                next_words=sentence.next_words,
            )
        )
    return found


def _alternatives_of(sentence: FinishedSentence, n_best: int) -> tuple[Alternative, ...]:
    if n_best == 1:
        return ()
    return tuple(
        Alternative(candidate.text, _mean_log_prob([candidate]))
        for candidate in _different(sentence)[:n_best]
    )


def _different(sentence: FinishedSentence) -> list[Candidate]:
    """The best candidate of each text, best first."""
    found: dict[str, Candidate] = {}
    for candidate in sentence.candidates:
        found.setdefault(candidate.text, candidate)
    return list(found.values())


def _aligned(
    sentences: Sequence[FinishedSentence], starts: Sequence[tuple[int, int]]
) -> tuple[tuple[Token, ...], tuple[Token, ...], tuple[Link, ...]]:
    """Words of the text, words of its translation, and the links between them."""
    source_tokens: list[Token] = []
    target_tokens: list[Token] = []
    links: list[Link] = []
    for sentence, (read, written) in zip(sentences, starts, strict=True):
        if sentence.alignment is None:
            continue
        links += [
            replace(link, source=link.source + len(source_tokens), target=link.target + len(target_tokens))
            for link in sentence.alignment.links
        ]
        source_tokens += _shifted(sentence.alignment.source_tokens, read)
        target_tokens += _shifted(sentence.alignment.target_tokens, written)
    return tuple(source_tokens), tuple(target_tokens), tuple(links)


def _moved(span: Span, offset: int) -> Span:
    return Span(span.start + offset, span.end + offset)


def _mean_confidence(document: Document, sentences: Sequence[FinishedSentence]) -> float | None:
    known = [
        (sentence.verdict.confidence, len(segment.text))
        for segment, sentence in zip(document.segments, sentences, strict=True)
        if sentence.verdict.confidence is not None
    ]
    total = sum(length for _, length in known)
    return sum(confidence * length for confidence, length in known) / total if total else None


def _word_confidence(sentences: Sequence[FinishedSentence]) -> tuple[float, ...] | None:
    known = [sentence.verdict.word_confidence for sentence in sentences]
    by_sentence = [words for words in known if words is not None]
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


def _between(plan: Plan) -> Callable[[str], str]:
    """Separator of sentences: a space where a language that writes none is translated, or none."""
    if len(plan.sentences) < 2:
        return lambda gap: gap
    first = plan.sentences[0]
    if writes_spaces(first.source_language) == writes_spaces(first.target_language):
        return lambda gap: gap
    if writes_spaces(first.target_language):
        return lambda gap: gap or " "
    return lambda gap: "" if gap == " " else gap


def _alternatives(plan: Plan, sentences: Sequence[FinishedSentence], n_best: int) -> tuple[Alternative, ...]:
    """The n best ways to take one candidate for each sentence, by the sum of ranks, whole ones first.

    Ranks add up, so the best n for the first sentences are all that the best n for one more can begin with.
    """
    choices = [_Choice(0, 0.0, None, None)]
    for sentence in sentences:
        choices = sorted(
            (
                _Choice(
                    choice.n_unfinished + (not candidate.finished),
                    choice.rank + candidate.rank,
                    choice,
                    candidate,
                )
                for choice in choices
                for candidate in _different(sentence)
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
        texts = [candidate.text for candidate in chosen]
        text, _ = join(plan.document.text, plan.document.segments, texts, between=_between(plan))
        alternatives.append(Alternative(text, _mean_log_prob(chosen)))
    return tuple(alternatives)

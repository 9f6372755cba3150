"""Searches for one sentence: as a whole, from a prefix, in parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from nmt.config import GenerationConfig
from nmt.hypothesis import Hypothesis
from nmt.pipeline.beginning import NOTHING, beginning_of
from nmt.pipeline.flags import FlagKind
from nmt.pipeline.known import needs_scores
from nmt.pipeline.lexical_check import check_of, guesses_of
from nmt.pipeline.lexical_choice import is_as_well_formed, rank_with_coverage
from nmt.pipeline.losses import n_wrong
from nmt.pipeline.prepare import ModelInput, PreparedSentence, Preparer, joined, slice_of
from nmt.pipeline.quality import Found, copy_of, search_and_repair
from nmt.pipeline.requests import Continuations, Flow, continue_from, score_tokens, search_for
from nmt.pipeline.restore import restore
from nmt.pipeline.result import Candidate
from nmt.spans import Span
from nmt.text.edits import Edit, Rewriting
from nmt.tokenizer import Piece

MARKS = ",;:.!?…)]}»\"'"
"""Punctuation that stays with what it follows."""
CONTINUED_BEAM = 2
"""Beam size of a search that goes on from a prefix whose last word is in doubt."""

_WORD = re.compile(r"[^\W\d_]+")
_FORMULA = re.compile(r"[\d+*/=<>^~|\\-]")


@dataclass(frozen=True)
class SentenceSearch:
    """One sentence's searches."""

    preparer: Preparer
    options: GenerationConfig
    decode: Callable[[Hypothesis], Candidate]
    n_best: int
    """Candidates that are wanted."""
    with_lexicon: bool
    """Whether others may take the place of the first one, for words that it leaves out."""

    def attempt(
        self, sentence: PreparedSentence, model_input: ModelInput, ids: Sequence[int] | None = None
    ) -> Flow[Found]:
        """One search, repaired if it loops, with the sentence's form and literals restored."""
        source_ids = self.preparer.encode(model_input.text) if ids is None else ids
        required = [placeholder.id for placeholder, _ in model_input.protected]
        beginning = beginning_of(self.preparer, sentence, model_input) if sentence.prefix else NOTHING
        scored = needs_scores(sentence)
        hypotheses: list[Hypothesis] = []

        def ask(options: GenerationConfig) -> Flow[list[Hypothesis]]:
            n_scored = self.n_best if scored else 0
            found = yield from search_for(source_ids, options, required, beginning.ids, n_scored=n_scored)
            hypotheses[:] = found
            return found[: self.n_best]

        candidates, flags = yield from search_and_repair(model_input.text, self.options, ask, self.decode)
        if candidates[0].copied and beginning.text:
            as_found = self.options.model_copy(update={"repair_loops": False})
            candidates, flags = yield from search_and_repair(model_input.text, as_found, ask, self.decode)
        if candidates[0].copied:
            return (copy_of(sentence.text),), flags
        pieces = () if model_input.text == sentence.text else self.preparer.source_pieces(model_input)
        restored = [restore(sentence, model_input, candidate, len(beginning.ids)) for candidate in candidates]
        if sentence.prefix:
            restored = [beginning.put_into(candidate) for candidate in restored]
        elif self.with_lexicon and not flags:
            restored = yield from self._covered(sentence, model_input, source_ids, restored, hypotheses)
        return tuple(replace(candidate, source_pieces=pieces) for candidate in restored), flags

    def _covered(
        self,
        sentence: PreparedSentence,
        model_input: ModelInput,
        source_ids: Sequence[int],
        found: list[Candidate],
        hypotheses: Sequence[Hypothesis],
    ) -> Flow[list[Candidate]]:
        """The candidates; before them one of the others, if it leaves fewer words out and loses nothing.

        Args:
            sentence: of which the model reads ``model_input``, ``source_ids``.
            model_input: the same.
            source_ids: the same.
            found: the first of ``hypotheses``.
            hypotheses: all of the beam.
        """
        first = found[0]
        if not check_of(sentence).n_uncovered(first.text):
            return found
        best, tokens = first, hypotheses[0].tokens
        for hypothesis in hypotheses[len(found) :]:
            candidate = restore(sentence, model_input, self.decode(hypothesis))
            if (
                rank_with_coverage(sentence, candidate) > rank_with_coverage(sentence, best)
                and is_as_well_formed(sentence, candidate, first)
                and n_wrong(sentence, ((candidate,), ())) <= n_wrong(sentence, ((first,), ()))
            ):
                best, tokens = candidate, hypothesis.tokens
        others = found[1:] if best is first else found
        if not best.token_log_probs and (needs_scores(sentence) or guesses_of(sentence, best)):
            log_probs = yield from score_tokens(source_ids, tokens)
            best = replace(best, token_log_probs=tuple(log_probs))
        return [replace(best, rank=first.rank), *others]

    def continued(
        self,
        sentence: PreparedSentence,
        model_input: ModelInput,
        source_ids: Sequence[int],
        prefixes: Sequence[str],
    ) -> Flow[list[Candidate | None]]:
        """The best translation that begins with each of the prefixes; None where there is none."""
        begun = [replace(sentence, prefix=prefix) for prefix in prefixes]
        beginnings = [beginning_of(self.preparer, one, model_input) for one in begun]
        options = self.options.model_copy(update={"beam_size": CONTINUED_BEAM, "n_best": 1})
        required = tuple(placeholder.id for placeholder, _ in model_input.protected)
        ids = tuple(beginning.ids for beginning in beginnings)
        found = yield from continue_from(Continuations(tuple(source_ids), options, ids, required))
        pieces = () if model_input.text == sentence.text else self.preparer.source_pieces(model_input)
        candidates: list[Candidate | None] = []
        for one, beginning, hypothesis in zip(begun, beginnings, found, strict=True):
            if hypothesis is None or not hypothesis.finished:
                candidates.append(None)
                continue
            restored = restore(one, model_input, self.decode(hypothesis), len(beginning.ids))
            candidates.append(replace(beginning.put_into(restored), source_pieces=pieces))
        return candidates

    def in_parts(self, sentence: PreparedSentence, spans: Sequence[Span]) -> Flow[Found]:
        """Translate parts of a sentence each by itself, and put them together."""
        parts: list[tuple[Span, Candidate]] = []
        flags: list[FlagKind] = []
        for span in spans:
            text = sentence.text[slice_of(span)]
            within = [
                replace(entry, span=Span(entry.span.start - span.start, entry.span.end - span.start))
                for entry in sentence.copied
                if span.start <= entry.span.start and entry.span.end <= span.end
            ]
            part = self.preparer.prepare(text, (), [entry.span for entry in within], sentence.options)
            if not has_words(part) or part.model_input is None:
                parts.append((span, copy_of(text)))
                continue
            (best, *_), found = yield from self.attempt(part, part.model_input)
            parts.append((span, best))
            flags += found
        return (_joined_parts(self.preparer, sentence, parts),), tuple(dict.fromkeys(flags))


def has_words(sentence: PreparedSentence) -> bool:
    """Whether anything is left to translate beside what is copied: x² + y² = z² is not."""
    outside = Rewriting.of(sentence.text, [Edit(entry.span, "=") for entry in sentence.copied]).new
    words = _WORD.findall(outside)
    return any(len(word) > 1 for word in words) or bool(words and not _FORMULA.search(outside))


def split_in_groups(sentence: PreparedSentence, n_free: int) -> list[Span]:
    """Parts with as many spans to copy as there are placeholders for; at worst each span by itself."""
    copied = joined(sentence.text, sentence.copied)
    if n_free == 0:
        return split_at_copies(sentence)
    cuts = [0, *(entry.span.start for entry in copied[n_free::n_free]), len(sentence.text)]
    return [span for start, end in pairwise(cuts) for span in _trimmed(sentence.text, start, end)]


def split_at_copies(sentence: PreparedSentence) -> list[Span]:
    """The spans to copy and what is between them, punctuation that touches them by itself."""
    parts: list[Span] = []
    read = 0
    for entry in (*joined(sentence.text, sentence.copied), None):
        end = len(sentence.text) if entry is None else entry.span.start
        between = sentence.text[read:end]
        n_marks = len(between) - len(between.lstrip(MARKS)) if read else 0
        parts += _trimmed(sentence.text, read, read + n_marks)
        parts += _trimmed(sentence.text, read + n_marks, end)
        if entry is not None:
            parts.append(entry.span)
            read = entry.span.end
    return parts


def _trimmed(text: str, start: int, end: int) -> list[Span]:
    """The span without white space at its ends; none if nothing is left."""
    part = text[start:end]
    if not part.strip():
        return []
    return [Span(start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip()))]


def _joined_parts(
    preparer: Preparer, sentence: PreparedSentence, parts: Sequence[tuple[Span, Candidate]]
) -> Candidate:
    """One candidate out of those of the parts, with the white space between them."""
    text = ""
    read = 0
    pieces: list[Piece] = []
    source_pieces: list[Piece] = []
    kept: list[tuple[Span, Span]] = []
    token_log_probs: list[float] = []
    for span, part in parts:
        text += sentence.text[read : span.start]
        start, written = len(text), part.text
        first = sentence.text[span.start]
        if start and first.islower() and not part.copied and written[:1].lower() == first:
            written = first + written[1:]
        text += written
        read = span.end
        if part.copied:
            kept.append((span, Span(start, len(text))))
            continue
        pieces += [_shifted(piece, start) for piece in part.pieces]
        own = part.source_pieces or preparer.source_pieces(
            ModelInput(Rewriting.of(sentence.text[slice_of(span)], ()))
        )
        source_pieces += [_shifted(piece, span.start) for piece in own]
        token_log_probs += part.token_log_probs[: len(part.pieces)]
    text += sentence.text[read:]
    end = next((part for _, part in reversed(parts) if not part.copied), None)
    if end is not None:
        token_log_probs += end.token_log_probs[len(end.pieces) :]
    return Candidate(
        text,
        tuple(pieces),
        sum(token_log_probs or (part.log_prob for _, part in parts if not part.copied)),
        sum(part.rank for _, part in parts),
        finished=all(part.finished for _, part in parts),
        token_log_probs=tuple(token_log_probs),
        copied=not pieces,
        kept=tuple(kept),
        source_pieces=tuple(source_pieces),
    )


def _shifted(piece: Piece, offset: int) -> Piece:
    return replace(piece, start=piece.start + offset, end=piece.end + offset)

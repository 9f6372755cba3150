"""Quality of one sentence: copies, a second search against loops, flags, confidence.

A model that goes round in circles, or on and on, is asked again and may then not repeat any n-gram of
``REPAIR_NGRAM`` tokens (Paulus et al. 2018, section 2.5). When that loops too, or nothing at all was written,
the source stands as its own translation. Every case of these is flagged: nothing is cut or lost in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from nmt.alignment.alignment import Alignment
from nmt.alignment.pharaoh import Link
from nmt.confidence import ConfidenceModel, Evidence, expected_length_ratio
from nmt.config import GenerationConfig
from nmt.hypothesis import Hypothesis
from nmt.pipeline.flags import (
    FlagKind,
    copied_words,
    doubled_words,
    is_already_in,
    is_copy,
    is_in_other_language,
    is_too_short,
    is_unaligned,
    wrong_marks,
)
from nmt.pipeline.requests import Flow
from nmt.pipeline.result import Candidate, Verdict
from nmt.text.asides import OPENING, compare_asides
from nmt.text.edits import Edit, Rewriting
from nmt.text.known_words import unknown_words
from nmt.text.negation import compare_negations
from nmt.text.numbers import compare_numbers, compare_spelled_numbers
from nmt.text.passthrough import NOTHING_TO_TRANSLATE, reason_to_copy
from nmt.text.repetition import repeats_itself
from nmt.text.words import words

REPAIR_NGRAM = 3
NO_REPEATS = {"no_repeat_ngram_size": REPAIR_NGRAM}

Ask: TypeAlias = Callable[[GenerationConfig], Flow[list[Hypothesis]]]
"""Search for one sentence with these options."""
Found: TypeAlias = tuple[tuple[Candidate, ...], tuple[FlagKind, ...]]
"""At least one candidate, best first, and what happened on the way."""


def search_and_repair(
    source: str, options: GenerationConfig, ask: Ask, decode: Callable[[Hypothesis], Candidate]
) -> Flow[Found]:
    """Search for the translation of ``source``, and once again if what was found loops or does not end."""
    first = tuple(map(decode, (yield from ask(options))))
    if not options.repair_loops:
        return first, ("loop",) if repeats_itself(source, first[0].text) else ()
    looped = repeats_itself(source, first[0].text)
    if first[0].finished and not looped:
        return ((copy_of(source),), ("untranslated",)) if _says_nothing(source, first[0]) else (first, ())
    if not repeats_itself("", source):  # a translation of repetitions without any would lose most of them
        second = tuple(map(decode, (yield from ask(options.model_copy(update=NO_REPEATS)))))
        nothing = _says_nothing(source, second[0])
        if second[0].finished and not nothing and not repeats_itself(source, second[0].text):
            return second, ("repaired_loop",)
    if looped or _says_nothing(source, first[0]):
        return (copy_of(source),), ("loop", "untranslated")
    return first, ()


def _says_nothing(source: str, candidate: Candidate) -> bool:
    """Words went in, and punctuation at most came out."""
    return any(map(str.isalnum, source)) and not any(map(str.isalnum, candidate.text))


def copy_of(source: str) -> Candidate:
    """The source as its own translation, of no predicted tokens."""
    return Candidate(source, (), 0.0, 0.0, finished=True, copied=True)


def align_copy(text: str) -> Alignment:
    """Every word of a copied sentence is linked to itself."""
    tokens = tuple(words(text))
    rows = range(len(tokens))
    return Alignment(
        tokens,
        tokens,
        tuple(Link(index, index, 1.0) for index in range(len(tokens))),
        tuple(tuple(float(index == other) for other in rows) for index in rows),
    )


@dataclass(frozen=True)
class Judge:
    """Flags and confidence of sentences in one direction; ``model`` None: not calibrated, no confidence."""

    source_language: str
    target_language: str
    model: ConfidenceModel | None = None

    def pass_through(self, source: str) -> Found | None:
        """A sentence that is not for the model, as its own translation; None: it is to be translated."""
        reason = reason_to_copy(source, self.source_language)
        if reason is not None:
            return (copy_of(source),), () if reason in NOTHING_TO_TRANSLATE else ("untranslated",)
        if is_already_in(source, self.target_language, self.source_language):
            return (copy_of(source),), ("untranslated", "wrong_language")
        return None

    def confidence(self, source: str, n_source_tokens: int, candidate: Candidate) -> float | None:
        """The probability that ``candidate`` is good; of a copied sentence, that it should have been.

        None without calibration, and for a candidate whose tokens were not scored.

        What a person translated, in a translation memory, is taken to be good.
        """
        if self.model is None:
            return None
        if candidate.recalled:
            return 1.0
        if candidate.copied:
            return float(reason_to_copy(source, self.source_language) in NOTHING_TO_TRANSLATE)
        if not candidate.token_log_probs:
            return None
        return self.model.sentence(self._evidence(source, n_source_tokens, candidate))

    def verdict(
        self,
        source: str,
        n_source_tokens: int,
        candidate: Candidate,
        alignment: Alignment | None,
        *,
        flags: Sequence[FlagKind] = (),
        confidence: float | None = None,
    ) -> Verdict:
        """All that is to be said of a finished sentence.

        Args:
            source: the sentence.
            n_source_tokens: sub-word tokens of it.
            candidate: what its translation is.
            alignment: of the two; None when none was asked for.
            flags: what is known already.
            confidence: of ``confidence``, before the source took the place of a bad translation.
        """
        raised = list(flags)
        if candidate.recalled:
            raised += [kind for kind in self._text_flags(source, candidate) if kind == "number_mismatch"]
        elif not candidate.copied:
            raised += self._text_flags(source, candidate)
            if alignment and is_unaligned(
                alignment.source_tokens,
                alignment.target_tokens,
                ((link.source, link.target) for link in alignment.links),
            ):
                raised.append("unaligned")
        word_confidence = None
        if alignment is not None and self.model is not None:
            word_confidence = self._word_confidence(source, n_source_tokens, candidate, alignment, confidence)
        return Verdict(tuple(dict.fromkeys(raised)), confidence, word_confidence)

    def _text_flags(self, source: str, candidate: Candidate) -> list[FlagKind]:
        """Literals copied on purpose are no concern."""
        target, kept = candidate.text, candidate.kept
        numbers = compare_numbers(
            source,
            target,
            ignore_source=[span for span, _ in kept],
            ignore_target=[span for _, span in kept],
            source_language=self.source_language,
            target_language=self.target_language,
        )
        own_source = Rewriting.of(source, [Edit(span, " ") for span, _ in kept]).new
        own_target = Rewriting.of(target, [Edit(span, " ") for _, span in kept]).new
        spelled = compare_spelled_numbers(
            own_source,
            own_target,
            source_language=self.source_language,
            target_language=self.target_language,
        )
        languages = self.source_language, self.target_language
        checks: list[tuple[FlagKind, bool]] = [
            ("truncated", not candidate.finished or is_too_short(source, target, self.target_language)),
            ("number_mismatch", not (numbers.ok and spelled.ok)),
            (
                "literal_lost",
                not OPENING.isdisjoint(source)
                and any(
                    one.target is None for one in compare_asides(source, target, [span for span, _ in kept])
                ),
            ),
            (
                "untranslated",
                is_copy(own_source, own_target)
                or bool(copied_words(own_source, own_target, self.source_language)),
            ),
            (
                "wrong_language",
                is_in_other_language(target, self.target_language)
                or is_in_other_language(source, self.source_language),
            ),
            ("negation_mismatch", any(compare_negations(own_source, own_target, languages))),
            ("doubled_word", bool(doubled_words(source, target))),
            ("marks_mismatch", bool(wrong_marks(source, target))),
            (
                "unknown_word",
                bool(unknown_words(source, target, self.target_language, [span for _, span in kept])),
            ),
        ]
        return [kind for kind, raised in checks if raised]

    def _word_confidence(
        self,
        source: str,
        n_source_tokens: int,
        candidate: Candidate,
        alignment: Alignment,
        confidence: float | None,
    ) -> tuple[float, ...]:
        tokens = alignment.target_tokens
        if self.model is None or candidate.copied or candidate.recalled:
            return (confidence or 0.0,) * len(tokens)
        scores = {link.target: link.score for link in alignment.links}
        evidence = self._evidence(source, n_source_tokens, candidate)
        linked = [scores.get(index, 0.0) for index in range(len(tokens))]
        return tuple(self.model.words(evidence, tokens, linked))

    def _evidence(self, source: str, n_source_tokens: int, candidate: Candidate) -> Evidence:
        return Evidence(
            source,
            candidate.text,
            n_source_tokens,
            candidate.pieces,
            candidate.token_log_probs,
            expected_length_ratio(self.source_language, self.target_language),
        )

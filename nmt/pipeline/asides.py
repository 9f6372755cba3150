"""Words in brackets or quotes that the model drops or leaves as they were: they are translated by themselves.

What was copied is replaced in its place. What was dropped becomes a placeholder of a second search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from nmt.pipeline.flags import copied_words, doubled_words
from nmt.pipeline.prepare import ModelInput, PreparedSentence, Preparer, ProtectedSpan, slice_of
from nmt.pipeline.quality import Found
from nmt.pipeline.requests import Flow
from nmt.pipeline.restore import rewrite
from nmt.pipeline.result import Candidate
from nmt.spans import overlap
from nmt.text.asides import Aside, Compared, compare_asides
from nmt.text.edits import Edit, Rewriting
from nmt.text.lexicon import Entry, look_up
from nmt.text.numbers import compare_numbers

MOST_WORDS = 6
"""A longer aside may well have a word that both languages write alike, cancer say."""

Attempt: TypeAlias = Callable[[PreparedSentence, ModelInput], Flow[Found]]
"""One search for what is read of a sentence."""


def wrong_asides(sentence: PreparedSentence, best: Candidate) -> list[Compared]:
    """Asides that a translation drops or leaves as they were; those with literals are left out."""
    if best.copied:
        return []
    ignored = [*(entry.span for entry in sentence.copied), *(match.span for match in sentence.terms)]
    ignored += [source for source, _ in best.kept]
    targets = [target for _, target in best.kept]
    return [
        one
        for one in compare_asides(sentence.text, best.text, ignored)
        if one.target is None or not any(overlap(one.target.span, span) for span in targets)
    ]


@dataclass(frozen=True)
class AsideSearch:
    """Searches for the asides of a sentence by themselves."""

    preparer: Preparer
    attempt: Attempt
    with_lexicon: bool = False
    """Entries of the lexicon go before the model."""

    def replace_copied(self, sentence: PreparedSentence, found: Found) -> Flow[Found]:
        """Put the translation of each copied aside, or of its copied words, in its place."""
        (best, *others), flags = found
        edits = []
        for one in wrong_asides(sentence, best):
            if one.target is None:
                continue
            inner = sentence.text[slice_of(one.source.inner)]
            written = best.text[slice_of(one.target.inner)]
            is_long = inner.count(" ") >= MOST_WORDS
            if is_long and not copied_words(inner, written, sentence.source_language):
                continue
            whole = yield from self.alone(sentence, inner)
            if whole is None or _n_shared(one.copied, whole) >= len(one.copied):
                whole = yield from self.word_by_word(sentence, one.copied, written)
            if whole != written:
                edits.append(Edit(one.target.inner, whole))
        if not edits:
            return found
        edits.sort(key=lambda edit: edit.span.start)
        return (rewrite(best, Rewriting.of(best.text, edits)), *others), flags

    def put_back(self, sentence: PreparedSentence, dropped: Sequence[Aside]) -> Flow[Found | None]:
        """Search again with a placeholder for each dropped aside; None: there are too few of them."""
        translated = []
        for aside in dropped:
            inner = sentence.text[slice_of(aside.inner)]
            translated.append((aside, (yield from self.alone(sentence, inner)) or inner))
        return (yield from self.with_whole(sentence, translated))

    def with_whole(
        self, sentence: PreparedSentence, translated: Sequence[tuple[Aside, str]]
    ) -> Flow[Found | None]:
        """Search with one placeholder for each whole aside; None: there are too few of them."""
        if sentence.model_input is None:
            return None
        spans = [aside.span for aside, _ in translated]
        entries = [
            entry
            for _, entry in sentence.model_input.protected
            if not any(overlap(entry.span, span) for span in spans)
        ]
        for aside, written in translated:
            before = sentence.text[aside.span.start : aside.inner.start]
            after = sentence.text[aside.inner.end : aside.span.end]
            # as a number, so that it is joined to no neighbour
            inner = sentence.text[slice_of(aside.inner)], written
            text = f"{before}{written}{after}"
            entries.append(ProtectedSpan(aside.span, text, is_number=True, inner=inner))
        model_input = self.preparer.read(sentence, entries)
        if model_input is None:
            return None
        return (yield from self.attempt(sentence, model_input))

    def alone(self, sentence: PreparedSentence, text: str) -> Flow[str | None]:
        """The translation of a part by itself; None if the model gives none, or changes its numbers."""
        part = self.preparer.prepare(text, self.preparer.literals(text), (), sentence.options)
        if part.model_input is None:
            return None
        (best, *_), flags = yield from self.attempt(part, part.model_input)
        numbers = compare_numbers(
            text,
            best.text,
            source_language=sentence.source_language,
            target_language=sentence.target_language,
        )
        known = self.known(sentence, text)
        if known is not None and not known.has(best.text):
            return known.translations[0]
        is_bad = best.copied or flags or not best.finished or not numbers.ok or doubled_words(text, best.text)
        return None if is_bad else best.text

    def known(self, sentence: PreparedSentence, text: str) -> Entry | None:
        """Entry of the lexicon for a part of a sentence."""
        if not self.with_lexicon:
            return None
        return look_up(text, sentence.source_language, sentence.target_language)

    def word_by_word(self, sentence: PreparedSentence, words: Sequence[str], written: str) -> Flow[str]:
        """``written`` with the translation of each of its copied words, where that is one word."""
        for word in words:
            other = yield from self.alone(sentence, word)
            if other is not None and other.isalpha() and other != word:
                written = " ".join(other if part == word else part for part in written.split(" "))
        return written


def _n_shared(words: Sequence[str], text: str) -> int:
    return len(set(words) & set(text.split()))

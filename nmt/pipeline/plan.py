"""Start of the pipeline: texts are cut into sentences that the model can read, prepared and encoded."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from nmt.config import GenerationConfig
from nmt.errors import InputError
from nmt.options import TranslationOptions
from nmt.pipeline.prepare import MASK, PreparedSentence, Preparer, copied_spans, slice_of, within
from nmt.pipeline.result import Document
from nmt.spans import Span
from nmt.text.address import LEAST_SENTENCES, address_of
from nmt.text.edits import Edit, Rewriting
from nmt.text.passthrough import isolate_non_words, reason_to_copy
from nmt.text.segment import SEPARATORS, Segment, split, split_at_gaps, split_lines, split_long
from nmt.tokenizer import Tokenizer, refuse_lone_surrogates

_LETTER = re.compile(r"[A-Za-z0-9]")
"""With one of these a text has a sub-word."""


class PreparedText(NamedTuple):
    """A text as the model reads it."""

    document: Document
    sentences: tuple[PreparedSentence, ...]
    source_ids: tuple[list[int], ...]
    """Token ids of each sentence."""


@dataclass(frozen=True)
class Plan:
    """A text on its way: its sentences, and what was asked for."""

    document: Document
    sentences: tuple[PreparedSentence, ...]
    source_ids: tuple[list[int], ...]
    """Token ids of each sentence."""
    options: TranslationOptions
    generation: GenerationConfig
    """How to search: what ``options`` says, or else the model."""

    def part(self, index: int) -> Plan:
        """One sentence as a text of its own."""
        text = self.document.segments[index].text
        document = Document(text, (Segment(text, 0, len(text)),), repaired=False)
        return replace(self, document=document, source_ids=(self.source_ids[index],))


@dataclass(frozen=True)
class Planner:
    """Texts in one language become sentences of at most ``most_tokens`` sub-words."""

    tokenizer: Tokenizer
    preparer: Preparer
    language: str
    most_tokens: int

    def prepare(
        self,
        texts: Sequence[str],
        keep: Sequence[Sequence[Span]] | None,
        options: TranslationOptions,
    ) -> list[PreparedText]:
        """Each text's sentences and their token ids.

        Args:
            texts: as for ``Translator.translate``.
            keep: the same.
            options: how they are translated.

        Raises:
            InputError: a text is no text, or holds a lone surrogate; spans to keep overlap or leave the text;
                there is not one prefix for each sentence.
        """
        named = _named(texts)
        kept = _checked_spans(named, keep)
        prepared = [
            self._sentences(text, name, spans, options)
            for (text, name), spans in zip(named, kept, strict=True)
        ]
        ids = iter(
            self.tokenizer.encode_batch(
                [
                    sentence.text if sentence.model_input is None else sentence.model_input.text
                    for _, sentences in prepared
                    for sentence in sentences
                ]
            )
        )
        return [
            PreparedText(document, sentences, tuple(islice(ids, len(sentences))))
            for document, sentences in prepared
        ]

    def _sentences(
        self,
        text: str,
        name: str,
        keep: Sequence[Span],
        options: TranslationOptions,
    ) -> tuple[Document, tuple[PreparedSentence, ...]]:
        """A text's sentences, of a length that the model can read, with what is copied in each.

        What has no token at all, a zero-width space say, is no sentence and stays where it is.
        """
        refuse_lone_surrogates(text, name)
        literals = self.preparer.literals(text)
        whole = [span for span in copied_spans(literals, keep) if text[slice_of(span)] not in SEPARATORS]
        recalled = {match.text for match in options.memory if match.is_exact}
        document = self._split(text, whole, is_cut=options.split_sentences, recalled=recalled)
        options = self._in_one_register(options, document)
        sentences = (
            self.preparer.prepare(
                segment.text,
                [replace(literal, span=span) for literal, span in within(literals, segment)],
                [span for _, span in within(keep, segment)],
                options,
            )
            for segment in document.segments
        )
        prefixes = _prefixes_of(len(document.segments), options.prefixes)
        return document, tuple(
            sentence if not prefix else replace(sentence, prefix=prefix)
            for sentence, prefix in zip(sentences, prefixes, strict=True)
        )

    def _in_one_register(self, options: TranslationOptions, document: Document) -> TranslationOptions:
        """``options`` with one form of address for all sentences, if none was asked for."""
        if options.formality != "default" or not self.preparer.registers:
            return options
        if len(document.segments) < LEAST_SENTENCES and not options.context:
            return options
        context = [line for line in options.context.splitlines() if line.strip()]
        context = [segment.text for line in context for segment in split(line, self.language)]
        address = address_of([segment.text for segment in document.segments], self.language, context)
        return options if address is None else options.model_copy(update={"formality": address})

    def _split(self, text: str, copied: Sequence[Span], *, is_cut: bool, recalled: Set[str]) -> Document:
        """Cut between lines, between sentences if ``is_cut``, and in too long ones; never in a copy.

        What a translation memory has as it stands (``recalled``) is not cut either.
        """
        sentences_of = split if is_cut else split_lines
        subwords = self.tokenizer.subwords
        most = self.most_tokens - len(self.tokenizer.prefix)

        def fits(part: str) -> bool:
            return (
                _most_subwords(part) <= most
                or len(subwords(part)) <= most
                or reason_to_copy(part, self.language) is not None
            )

        masked = Rewriting.of(text, [Edit(span, MASK) for span in copied])

        def is_recalled(part: Segment) -> bool:
            span = masked.backward(part.start, part.end)
            return text[slice_of(span)] in recalled and len(subwords(part.text)) <= most

        whole = Segment(text.strip(), len(text) - len(text.lstrip()), len(text.rstrip()))
        if whole.text in recalled and len(subwords(whole.text)) <= most:
            return Document(text, (whole,), repaired=False)
        sentences = [
            part
            for sentence in _cut(masked.new, self.language, sentences_of, is_recalled if recalled else None)
            for part in ([sentence] if recalled and is_recalled(sentence) else split_at_gaps(sentence))
        ]
        parts = [
            part
            for sentence in sentences
            for isolated in (
                [sentence]
                if recalled and is_recalled(sentence)
                else isolate_non_words(sentence, self.language)
            )
            for part in split_long(isolated, fits)
        ]
        spans = [
            masked.backward(part.start, part.end)
            for part in parts
            if _LETTER.search(part.text) or subwords(part.text)
        ]
        segments = tuple(Segment(text[span.start : span.end], span.start, span.end) for span in spans)
        return Document(text, segments, repaired=len(parts) > len(sentences))


def _most_subwords(text: str) -> float:
    """More than a tokenizer makes of a text, without asking it: a character below U+0800 is at most 5 bytes.

    That holds after NFKC too (1/4 as one sign has five), and bytes are the smallest sub-words.
    """
    if text.isascii():
        return len(text) + 1
    return len(text) + 1 + 4 * (len(text.encode()) - len(text)) if max(text) < "\u0800" else math.inf


def _cut(
    text: str,
    language: str,
    sentences_of: Callable[[str, str], list[Segment]],
    is_whole: Callable[[Segment], bool] | None,
) -> list[Segment]:
    """The sentences of ``text``; a line for which ``is_whole`` holds is one."""
    if is_whole is None:
        return sentences_of(text, language)
    found: list[Segment] = []
    for line in split_lines(text, language):
        if is_whole(line):
            found.append(line)
            continue
        found += [
            Segment(part.text, line.start + part.start, line.start + part.end)
            for part in sentences_of(line.text, language)
        ]
    return found


def _prefixes_of(n_sentences: int, prefixes: Sequence[str]) -> Sequence[str]:
    """One for each sentence, without white space around it.

    Raises:
        InputError: there are more or fewer, or one holds a lone surrogate.
    """
    if not prefixes:
        return [""] * n_sentences
    if len(prefixes) != n_sentences:
        raise InputError(
            f"{len(prefixes)} prefixes for a text of {n_sentences} sentences: give one for each, empty where "
            f"there is none, or send the sentence by itself"
        )
    for prefix in prefixes:
        refuse_lone_surrogates(prefix, "prefix: ")
    return [prefix.strip() for prefix in prefixes]


def _named(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Each text with what error messages begin with: nothing if there is only one.

    Raises:
        InputError: ``texts`` is a single string, or something in it is none.
    """
    if isinstance(texts, str):
        raise InputError("expected a list of texts, not one text; put it in brackets")
    for index, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise InputError(f"text {index} is {type(text).__name__}, not a string")
    return [(text, f"text {index}: " if len(texts) > 1 else "") for index, text in enumerate(texts, start=1)]


def _checked_spans(
    named: Sequence[tuple[str, str]], keep: Sequence[Sequence[Span]] | None
) -> list[list[Span]]:
    """The spans to keep of each text, in order.

    Raises:
        InputError: they are not one list for each text, or spans overlap, are empty or leave their text.
    """
    if keep is None:
        return [[] for _ in named]
    if len(keep) != len(named):
        raise InputError(f"{len(keep)} lists of spans to keep for {len(named)} texts; give one for each")
    checked = []
    for (text, name), spans in zip(named, keep, strict=True):
        end = 0
        ordered = sorted(spans, key=lambda span: span.start)
        for span in ordered:
            if not end <= span.start < span.end <= len(text):
                raise InputError(
                    f"{name}the span to keep from {span.start} to {span.end} is empty, overlaps another or "
                    f"leaves the text of {len(text)} characters"
                )
            end = span.end
        checked.append(ordered)
    return checked

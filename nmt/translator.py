"""Text in, text with scores and word alignment out: the whole flow of a translation.

split -> encode -> Batch -> search -> decode -> alignment by a forced pass, when asked -> join

``plan`` is what comes before search, ``flow`` what happens to one sentence and ``finish`` what comes after;
``translate`` runs them in batches, ``nmt.continuous`` as sentences come and go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, cast

import torch

from nmt.alignment import (
    THRESHOLD,
    Aligner,
    Alignment,
    Link,
    Token,
    whitespace_words,
    words,
)
from nmt.checkpoint import LoadedModel, load_model_folder, resolve_model
from nmt.config import AlignmentConfig, GenerationConfig, ModelFolderConfig, TransformerConfig
from nmt.engines.choose import build_decoder, choose
from nmt.engines.packed import PackedTransformer
from nmt.engines.workers import count_workers
from nmt.errors import ConfigError, InputError, UnsupportedLanguageError
from nmt.explore.maps import head_maps
from nmt.faithful import translate_faithfully
from nmt.flow import Answer, EveryHead, Flow, ForcedPass, Question, Search, align_with, look_at, run_together
from nmt.head_maps import HeadMaps
from nmt.many import BATCH_TOKENS, search_forks, search_many
from nmt.models.interface import MergingDecoder, StepDecoder
from nmt.passthrough import isolate_non_words, reason_to_copy
from nmt.pharaoh import Extraction
from nmt.quality import Judge, align_copy, copy_of
from nmt.reserved import PLACEHOLDERS
from nmt.restoration import link_kept, with_all_kept
from nmt.rewriting import Edit, Rewriting
from nmt.search import Hypothesis, Required
from nmt.search.continuous import ContinuousSearch
from nmt.segment import Segment, split, split_at_gaps, split_lines, split_long
from nmt.sentence import MASK, Preparer, Sentence, Wishes, copied_spans, within
from nmt.spans import Span
from nmt.terms import Glossary
from nmt.tokenizer import Piece, refuse_lone_surrogates
from nmt.translation import (
    Alternative,
    Candidate,
    Document,
    SentenceTranslation,
    Translation,
    Verdict,
    assemble,
)

__all__ = [
    "Alignment",
    "AlignmentKind",
    "Alternative",
    "Link",
    "SentenceTranslation",
    "Span",
    "Token",
    "Translation",
    "Translator",
]

AlignmentKind = Literal["none", "links", "soft", "heads"]
Formality = Literal["default", "formal", "informal"]


class Translator:
    """A model ready to translate. No state is kept between calls, but one thread at a time may call.

    Args:
        loaded: a model folder, or the same put together; its model in evaluation mode, on ``device``.
        device: where the model is.
        engine: what decodes, see ``nmt.engines.choose``; what it is, and why, is in ``engine``.
        n_workers: how many batches are searched side by side; None: as ``nmt.engines.workers`` counts.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        device: torch.device | str = "cpu",
        *,
        engine: str = "auto",
        n_workers: int | None = None,
    ) -> None:
        self.config: ModelFolderConfig = loaded.config
        self.generation: GenerationConfig = loaded.generation
        self.tokenizer = loaded.tokenizer
        self.device = torch.device(device)
        ids = (loaded.tokenizer.piece_id(piece) for piece in PLACEHOLDERS)
        self.placeholders: tuple[int, ...] = tuple(id_ for id_ in ids if id_ is not None)
        languages = loaded.config.source_language, loaded.config.target_language
        self.preparer = Preparer(loaded.tokenizer, *languages)
        self.judge = Judge(*languages, loaded.calibration)
        self.engine = choose(loaded.model, self.device, engine)
        self.n_workers = count_workers(self.device) if n_workers is None else n_workers
        self._decoder: StepDecoder[Any] = build_decoder(loaded.model, self.engine)
        self._attentive: StepDecoder[Any] = loaded.model
        self._forks = (
            search_forks(self._decoder, self.config.special_ids, self.n_workers)
            if self.device.type == "cpu" and self.n_workers > 1
            else None
        )
        self._model = loaded.model
        model = loaded.config.model
        self._max_positions = model.max_positions if isinstance(model, TransformerConfig) else None
        self.aligner = Aligner(
            loaded.model,
            loaded.tokenizer,
            loaded.config.alignment,
            loaded.config.special_ids,
            self.device,
            max_tokens=self._max_positions,
            trained=loaded.aligner,
            forced=self._decoder if isinstance(self._decoder, PackedTransformer) else None,
        )

    @classmethod
    def load(
        cls,
        path_or_name: str | Path | None = None,
        *,
        source: str | None = None,
        target: str | None = None,
        device: str = "auto",
        engine: str = "auto",
    ) -> Translator:
        """Load a model folder.

        Args:
            path_or_name: a folder, the name of a model that ships, or None for the first one that translates
                from ``source`` to ``target``.
            source: ISO 639-1 code; None: any.
            target: the same.
            device: "cpu", "cuda", "cuda:1"; "auto" takes CUDA where there is any.
            engine: "eager", "float32", "bfloat16", "int8"; "auto" takes the fastest (``nmt.engines.choose``).

        Raises:
            ModelFolderError: there is no such folder, it translates between other languages, or is corrupt.
            ConfigError: there is no such device or engine.
        """
        chosen = _device(device)
        folder = resolve_model(path_or_name, source=source, target=target)
        return cls(load_model_folder(folder, chosen), chosen, engine=engine)

    @property
    def has_formality(self) -> bool:
        """Whether the model can choose how people are addressed."""
        return bool(self.preparer.registers)

    @torch.inference_mode()
    def translate(
        self,
        texts: Sequence[str],
        *,
        source: str | None = None,
        target: str | None = None,
        alignment: AlignmentKind = "none",
        options: GenerationConfig | None = None,
        min_confidence: float | None = None,
        keep: Sequence[Sequence[Span]] | None = None,
        glossary: Glossary | None = None,
        formality: Formality = "default",
        french_typography: bool = False,
        split_sentences: bool = True,
        attention: AlignmentConfig | None = None,
        max_batch_tokens: int = BATCH_TOKENS,
    ) -> list[Translation]:
        """Translate texts of any length, in their order; white space and blank lines are kept.

        Args:
            texts: each a word, a sentence or many paragraphs. Nothing of them is cut.
            source: ISO 639-1 code, checked against the model's; None trusts the caller.
            target: the same.
            alignment: "links" adds words and the links between them, "soft" the attention matrices too,
                "heads" the attention of every head over sub-words as well.
            options: how to search; None takes the model folder's.
            min_confidence: a sentence of less confidence, 0 to 1, keeps its source text and is flagged.
            keep: for each text the spans of it that are copied, not translated; literals (addresses,
                placeholders, code, emoji: ``nmt.literals``) always are.
            glossary: terms and their translations.
            formality: how French addresses people; a model that cannot choose flags it.
            french_typography: « » for quotes, no-break spaces before ; : ! ? and between digits; for models
                that write French.
            split_sentences: False: a line is one sentence, unless it is too long for the model.
            attention: which layer and heads the alignment is read from; None takes the model folder's.
            max_batch_tokens: padded source tokens x beam size that a worker searches at once; bounds memory,
                never changes the translation.

        Raises:
            UnsupportedLanguageError: the model translates between other languages.
            InputError: a text is no text, or holds a lone surrogate; spans to keep overlap or leave the text;
                French typography was asked of a model that writes another language.
            ConfigError: alignment or a coverage penalty was asked of a model without attention, or
                ``min_confidence`` of one that is not calibrated.
            NumericalError: the model computes NaN.
        """
        plans = self.plan(
            texts,
            source=source,
            target=target,
            alignment=alignment,
            options=options,
            min_confidence=min_confidence,
            keep=keep,
            glossary=glossary,
            formality=formality,
            french_typography=french_typography,
            split_sentences=split_sentences,
            attention=attention,
        )
        flows = [self.flow(plan, index) for plan in plans for index in range(len(plan.source_ids))]
        # what a fork has encoded is there, and links would encode it again
        answer = partial(self.answer, max_batch_tokens=max_batch_tokens, in_forks=alignment == "none")
        finished = iter(run_together(flows, answer))
        return [self.finish(plan, list(islice(finished, len(plan.source_ids)))) for plan in plans]

    def plan(
        self,
        texts: Sequence[str],
        *,
        source: str | None = None,
        target: str | None = None,
        alignment: AlignmentKind = "none",
        options: GenerationConfig | None = None,
        min_confidence: float | None = None,
        keep: Sequence[Sequence[Span]] | None = None,
        glossary: Glossary | None = None,
        formality: Formality = "default",
        french_typography: bool = False,
        split_sentences: bool = True,
        attention: AlignmentConfig | None = None,
    ) -> list[Plan]:
        """What comes before search: each text's sentences and their token ids. Arguments as ``translate``."""
        self._check_languages(source, target)
        self._check_confidence(min_confidence)
        if french_typography and self.config.target_language != "fr":
            raise InputError(
                f"french_typography: the model {self.config.name} writes {self.config.target_language}; "
                "leave it out"
            )
        options = self.generation if options is None else options
        wishes = Wishes(glossary, self.preparer.registers.get(formality, ""), french_typography)
        named = _named(texts)
        kept = _checked_spans(named, keep)
        prepared = [
            self._prepare(text, name, spans, wishes, split if split_sentences else split_lines)
            for (text, name), spans in zip(named, kept, strict=True)
        ]
        ids = iter(
            self.tokenizer.encode_batch(
                [
                    sentence.text if sentence.reading is None else sentence.reading.text
                    for _, sentences in prepared
                    for sentence in sentences
                ]
            )
        )
        return [
            Plan(
                document,
                sentences,
                tuple(islice(ids, len(sentences))),
                alignment,
                options,
                min_confidence,
                register_unavailable=formality != "default" and not wishes.register,
                attention=attention,
            )
            for document, sentences in prepared
        ]

    def flow(self, plan: Plan, index: int) -> Flow[FinishedSentence]:
        """One sentence of a plan, from its token ids to its translation; see ``nmt.flow``."""
        sentence, ids = plan.sentences[index], plan.source_ids[index]
        text = sentence.text
        candidates, flags = self.judge.pass_through(text) or (
            yield from translate_faithfully(
                self.preparer, sentence, ids, self._within_positions(plan.options, len(ids)), self._decode
            )
        )
        confidence = self.judge.confidence(text, len(ids), candidates[0])
        least = plan.min_confidence
        if confidence is not None and least is not None and confidence < least and not candidates[0].copied:
            candidates, flags = (copy_of(text),), (*flags, "below_min_confidence")
        if candidates[0].copied:
            candidates = (with_all_kept(sentence, candidates[0]),)
        alignment = None
        if plan.alignment != "none":
            alignment = yield from self._alignment(text, candidates[0], plan.attention)
        heads = None
        if plan.alignment == "heads" and not candidates[0].copied:
            heads = yield from look_at(self._source_pieces(text, candidates[0]), candidates[0].pieces)
        if plan.register_unavailable:
            flags = (*flags, "register_unavailable")
        verdict = self.judge.verdict(
            text,
            len(ids),
            candidates[0],
            alignment,
            flags=flags,
            confidence=confidence,
            kept=candidates[0].kept,
        )
        return FinishedSentence(candidates, alignment, verdict, heads)

    def _alignment(
        self, text: str, candidate: Candidate, attention: AlignmentConfig | None
    ) -> Flow[Alignment]:
        """Links by a forced pass over what the model read and wrote; what was copied is linked to itself."""
        if candidate.copied:
            return align_copy(text)
        pieces = self._source_pieces(text, candidate)
        alignment = yield from align_with((text, pieces), (candidate.text, candidate.pieces), attention)
        return link_kept(alignment, candidate.kept)

    def _source_pieces(self, text: str, candidate: Candidate) -> Sequence[Piece]:
        """What the model read."""
        return candidate.source_pieces or self.tokenizer.encode_pieces(text)

    def finish(self, plan: Plan, sentences: Sequence[FinishedSentence]) -> Translation:
        """What comes after: the translations of a text's sentences become that of the text."""
        translation = assemble(
            plan.document,
            [sentence.candidates for sentence in sentences],
            None
            if plan.alignment == "none"
            else [sentence.alignment for sentence in sentences if sentence.alignment is not None],
            n_source_tokens=sum(len(ids) for ids in plan.source_ids),
            n_best=plan.options.n_best,
            soft=plan.alignment in ("soft", "heads"),
            verdicts=[sentence.verdict for sentence in sentences],
        )
        if plan.alignment != "heads":
            return translation
        with_heads = (
            replace(whole, heads=sentence.heads)
            for whole, sentence in zip(translation.sentences, sentences, strict=True)
        )
        return replace(translation, sentences=tuple(with_heads))

    @torch.inference_mode()
    def answer(
        self,
        questions: Sequence[Question],
        *,
        max_batch_tokens: int = BATCH_TOKENS,
        in_forks: bool = False,
    ) -> list[Answer]:
        """Answer what flows ask, in batches of similar length; arguments and errors as ``translate``.

        ``in_forks``: batches may be searched in forks of this process (``nmt.engines.forks``).
        """
        answers: dict[int, Answer] = {}
        searches = {place: asked for place, asked in enumerate(questions) if isinstance(asked, Search)}
        for places in _by_options(searches):
            options = searches[places[0]].options
            hypotheses = search_many(
                self._attentive if options.coverage_penalty else self._decoder,
                [searches[place].source_ids for place in places],
                options,
                self.config.special_ids,
                device=self.device,
                required=Required(self.placeholders, tuple(searches[place].required for place in places)),
                max_batch_tokens=max_batch_tokens,
                n_workers=self.n_workers,
                forks=self._forks if in_forks and not options.coverage_penalty else None,
            )
            answers.update(zip(places, hypotheses, strict=True))
        passes = {place: asked for place, asked in enumerate(questions) if isinstance(asked, ForcedPass)}
        for attention in {asked.attention: None for asked in passes.values()}:  # in order of appearance
            own = {place: asked for place, asked in passes.items() if asked.attention == attention}
            aligner = self.aligner if attention is None else self.aligner.reading(attention)
            alignments = aligner.align_encoded(
                [(asked.source, asked.target) for asked in own.values()], max_batch_tokens=max_batch_tokens
            )
            answers.update(zip(own, alignments, strict=True))
        for place, asked in enumerate(questions):
            if isinstance(asked, EveryHead):
                answers[place] = head_maps(
                    self._model, asked.source, asked.target, self.config.special_ids, self.device
                )
        return [answers[place] for place in range(len(questions))]

    @torch.inference_mode()
    def align(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        whitespace: bool = True,
        extraction: Extraction = "default",
        threshold: float = THRESHOLD,
        attention: AlignmentConfig | None = None,
        max_batch_tokens: int = 4096,
    ) -> list[Alignment]:
        """Word links of given sentence pairs, in their order. A pair with a blank side has none.

        Args:
            pairs: source and target sentence, each taken as one, however many sentences it holds.
            whitespace: link what white space separates; False: words and marks, as in ``translate``.
            extraction: how links follow, see ``Aligner.align``.
            threshold: the same.
            attention: which layer and heads to read; None takes the model folder's.
            max_batch_tokens: padded tokens read at once, of the longer side.

        Raises:
            InputError: a side holds a lone surrogate.
            TextTooLongError: a side has more tokens than the model has positions.
            ConfigError: the model has no attention, or not that layer or head.
        """
        for index, sides in enumerate(pairs, start=1):
            for side in sides:
                refuse_lone_surrogates(side, f"sentence pair {index}: ")
        aligner = self.aligner if attention is None else self.aligner.reading(attention)
        return aligner.align(
            pairs,
            words=whitespace_words if whitespace else words,
            extraction=extraction,
            threshold=threshold,
            max_batch_tokens=max_batch_tokens,
        )

    def continuous_search(
        self, on_failure: Callable[[Exception], None] | None = None
    ) -> ContinuousSearch[Any]:
        """A search with this model that sentences join and leave, for ``nmt.continuous``."""
        decoder = cast(MergingDecoder[Any], self._decoder)
        return ContinuousSearch(
            decoder,
            self.config.special_ids,
            self.device,
            self.placeholders,
            on_failure,
            attentive=cast(MergingDecoder[Any], self._attentive),
        )

    def _check_languages(self, source: str | None, target: str | None) -> None:
        known = (self.config.source_language, self.config.target_language)
        asked = (source or known[0], target or known[1])
        if asked != known:
            raise UnsupportedLanguageError(
                f"the model {self.config.name} translates {known[0]} to {known[1]}, not "
                f"{asked[0][:20]!r} to {asked[1][:20]!r}"
            )

    def _check_confidence(self, least: float | None) -> None:
        if least is None:
            return
        if self.judge.model is None:
            raise ConfigError(
                f"min_confidence {least:g}: the model {self.config.name} is not calibrated; run nmt "
                "calibrate on its folder, or leave min_confidence out"
            )
        if not 0 <= least <= 1:
            raise ConfigError(f"min_confidence {least:g}: a probability is from 0 to 1")

    def _prepare(
        self,
        text: str,
        name: str,
        keep: Sequence[Span],
        wishes: Wishes,
        sentences_of: Callable[[str, str], list[Segment]],
    ) -> tuple[Document, tuple[Sentence, ...]]:
        """A text's sentences, of a length that the model can read, with what is copied in each.

        What has no token at all, a zero-width space say, is no sentence and stays where it is.
        """
        refuse_lone_surrogates(text, name)
        literals = self.preparer.literals(text)
        document = self._split(text, copied_spans(literals, keep), sentences_of)
        return document, tuple(
            self.preparer.prepare(
                segment.text,
                [replace(literal, span=span) for literal, span in within(literals, segment)],
                [span for _, span in within(keep, segment)],
                wishes,
            )
            for segment in document.segments
        )

    def _split(
        self, text: str, copied: Sequence[Span], sentences_of: Callable[[str, str], list[Segment]]
    ) -> Document:
        """Cut between sentences, and in too long ones, but never in a span that is copied."""
        limit = self.config.max_source_tokens
        if self._max_positions is not None:
            limit = min(limit, self._max_positions - 1)
        encode, language = self.tokenizer.encode, self.config.source_language

        def fits(part: str) -> bool:
            return len(encode(part)) <= limit or reason_to_copy(part, language) is not None

        masked = Rewriting.of(text, [Edit(span, MASK) for span in copied])
        sentences = [
            part for sentence in sentences_of(masked.new, language) for part in split_at_gaps(sentence)
        ]
        parts = [
            part
            for sentence in sentences
            for isolated in isolate_non_words(sentence, language)
            for part in split_long(isolated, fits)
        ]
        spans = [masked.backward(part.start, part.end) for part in parts if encode(part.text)]
        segments = tuple(Segment(text[span.start : span.end], span.start, span.end) for span in spans)
        return Document(text, segments, repaired=len(parts) > len(sentences))

    def _within_positions(self, options: GenerationConfig, n_tokens: int) -> GenerationConfig:
        """``options``; where they would let a target outgrow the model's positions, those are its limit."""
        if self._max_positions is None:
            return options
        most = self._max_positions - 1
        if options.max_length_ratio * (n_tokens + 1) + options.max_length_offset <= most:
            return options
        # ceil(ratio * length) + offset is the limit of search: any tiny ratio adds 1
        return options.model_copy(update={"max_length_ratio": 1e-6, "max_length_offset": most - 1})

    def _decode(self, hypothesis: Hypothesis) -> Candidate:
        text, pieces = self.tokenizer.decode_pieces(hypothesis.tokens)
        return Candidate(
            text,
            tuple(pieces),
            hypothesis.log_prob,
            hypothesis.score,
            hypothesis.finished,
            hypothesis.token_log_probs,
        )


@dataclass(frozen=True)
class Plan:
    """A text on its way: its sentences, and what was asked for."""

    document: Document
    sentences: tuple[Sentence, ...]
    source_ids: tuple[list[int], ...]
    """Of each sentence."""
    alignment: AlignmentKind
    options: GenerationConfig
    min_confidence: float | None = None
    register_unavailable: bool = False
    """A register was asked for that the model cannot choose."""
    attention: AlignmentConfig | None = None
    """Which layer and heads the alignment is read from."""

    def part(self, index: int) -> Plan:
        """One sentence as a text of its own."""
        text = self.document.segments[index].text
        document = Document(text, (Segment(text, 0, len(text)),), repaired=False)
        return replace(self, document=document, source_ids=(self.source_ids[index],))


@dataclass(frozen=True)
class FinishedSentence:
    """What a flow ends with."""

    candidates: tuple[Candidate, ...]
    """At least one, best first."""
    alignment: Alignment | None
    """Of the best candidate; None when none was asked for."""
    verdict: Verdict
    heads: HeadMaps | None = None
    """Of the best candidate, with alignment "heads"."""


def _by_options(searches: Mapping[int, Search]) -> list[list[int]]:
    """Places of the searches with equal options."""
    groups: dict[str, list[int]] = {}
    for place, asked in searches.items():
        groups.setdefault(asked.options.model_dump_json(), []).append(place)
    return list(groups.values())


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


def _device(name: str) -> torch.device:
    """Raises ``ConfigError`` when there is no such device here."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError):
        raise ConfigError(f"device {name!r} is not available here; use cpu, cuda, cuda:N or auto") from None

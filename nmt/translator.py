"""Text in, text with scores and word alignment out: the whole flow of a translation.

split -> encode -> Batch -> search -> decode -> alignment by a forced pass, when asked -> join

``plan`` is what comes before search (``nmt.pipeline.plan``), ``flow`` what happens to one sentence
(``nmt.pipeline.sentence``), ``answer`` what the model says when it is asked on the way
(``nmt.searchers.executor``) and ``finish`` what comes after (``nmt.pipeline.finish``). ``translate`` runs
them in batches, ``nmt.batching.continuous`` as sentences come and go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt.alignment.alignment import ALIGN_TOKENS, THRESHOLD, Alignment
from nmt.alignment.pharaoh import Extraction, Link
from nmt.config import AlignmentConfig, GenerationConfig, ModelFolderConfig, TransformerConfig
from nmt.device import count_threads, find_device, kind_and_index
from nmt.errors import ConfigError, InputError, ModelFolderError, UnsupportedLanguageError
from nmt.model_folder.opened import AnyModel, OpenedModel
from nmt.model_folder.registry import resolve_model
from nmt.model_folder.vocabulary import pair_among
from nmt.options import DEFAULTS, MOST_NEXT_WORDS, AlignmentKind, TranslationOptions
from nmt.pipeline.finish import FinishedSentence, finish
from nmt.pipeline.next_words import NextWord
from nmt.pipeline.plan import Plan, Planner
from nmt.pipeline.prepare import Preparer
from nmt.pipeline.quality import Judge
from nmt.pipeline.requests import Answer, Flow, Question, run_together
from nmt.pipeline.result import Alternative, SentenceTranslation, Translation
from nmt.pipeline.sentence import SentenceFlow
from nmt.searchers import RunningSearch
from nmt.searchers.batches import BATCH_TOKENS
from nmt.searchers.choose import Choice, choose
from nmt.searchers.ctranslate2 import load_ctranslate2
from nmt.searchers.executor import Answerer
from nmt.spans import Span
from nmt.text.words import Token, whitespace_words, words
from nmt.tokenizer import refuse_lone_surrogates

if TYPE_CHECKING:
    import torch

    from nmt.alignment.aligner import Aligner
    from nmt.searchers.backward import BackwardScorer

__all__ = [
    "Alignment",
    "AlignmentKind",
    "Alternative",
    "Link",
    "NextWord",
    "SentenceTranslation",
    "Span",
    "Token",
    "Translation",
    "TranslationOptions",
    "Translator",
]


class Translator:
    """A model ready to translate. No state is kept between calls, but one thread at a time may call.

    Args:
        loaded: a model folder, or the same put together; its model in evaluation mode, on ``device``. Weights
            on disk are read when engine eager, links or a rare search needs them, or by ``warm_up``.
        device: where the model is.
        engine: what searches, see ``nmt.searchers.choose``; what it is, and why, is in ``engine``.
        n_workers: batches that CTranslate2 runs side by side; None: one for each of torch's threads on a CPU,
            else one.
        reverse: a model folder of the other direction, which quality best reads translations back with; it
            is loaded when that is first asked for.
        searching: a translator of another pair of the same model, whose copy in CTranslate2 is shared.
    """

    def __init__(
        self,
        loaded: AnyModel,
        device: torch.device | str = "cpu",
        *,
        engine: str = "auto",
        n_workers: int | None = None,
        reverse: Path | None = None,
        searching: Translator | None = None,
    ) -> None:
        self.config: ModelFolderConfig = loaded.config
        self.generation: GenerationConfig = loaded.generation
        self.tokenizer = loaded.tokenizer
        self.source_tokenizer = loaded.source_tokenizer
        self.device = str(device)
        self._loaded = loaded
        languages = loaded.config.source_language, loaded.config.target_language
        model = loaded.config.model
        self._max_positions = model.positions_left if isinstance(model, TransformerConfig) else None
        most_tokens = loaded.config.max_source_tokens
        if self._max_positions is not None:
            most_tokens = min(most_tokens, self._max_positions - 1)
        self.preparer = Preparer(loaded.source_tokenizer, *languages, loaded.tokenizer)
        self._planner = Planner(loaded.source_tokenizer, self.preparer, languages[0], most_tokens)
        self.judge = Judge(*languages, loaded.calibration)
        self._has_scorer = loaded.has_scorer
        self.n_workers = n_workers or count_workers(self.device)
        if searching is None:
            self.engine = choose(loaded, self.device, engine)
            self._ctranslate2 = self._load_ctranslate2(loaded, engine)
        else:
            self.engine, self._ctranslate2 = searching.engine, searching._ctranslate2
        self.reverse = reverse
        self.answerer = Answerer(
            loaded,
            lambda: self.aligner,
            self.device,
            self._ctranslate2,
            self.n_workers,
            lambda: self.backward,
        )

    @cached_property
    def aligner(self) -> Aligner:
        """Aligner of words; it has the weights read."""
        from nmt.alignment.aligner import Aligner  # noqa: PLC0415 - imports torch

        return Aligner(
            self._loaded.model,
            self.tokenizer,
            self.config.alignment,
            self.config.special_ids,
            self.device,
            max_tokens=self._max_positions,
            trained=self._loaded.aligner,
            source_tokenizer=self.source_tokenizer,
        )

    @cached_property
    def backward(self) -> BackwardScorer:
        """Scorer that reads translations back, with its weights; of a translator that has a ``reverse``."""
        from nmt.searchers.backward import BackwardScorer  # noqa: PLC0415 - for quality best alone

        if self.reverse is not None and self.reverse.resolve() == self._loaded.folder.resolve():
            own = self.between(self.config.target_language, self.config.source_language)
            return BackwardScorer(own._loaded, own.answerer.searcher)
        other = Translator.load(
            self.reverse,
            source=self.config.target_language,
            target=self.config.source_language,
            device=self.device,
            engine="eager" if self.engine.name == "eager" else "auto",
        )
        return BackwardScorer(other._loaded, other.answerer.searcher)

    def warm_up(self) -> None:
        """Read now what else waits for the first text with links or for a rare search: for a server.

        Raises:
            ModelFolderError: a file was changed since the model was loaded, or is at odds with another.
        """
        self.answerer.warm_up()

    def between(
        self, source: str | None, target: str | None, *, reverse: str | Path | None = None
    ) -> Translator:
        """The same model for another pair of its languages; weights and engine are in memory once.

        Args:
            source: BCP 47 code; None: any.
            target: the same.
            reverse: as for ``load``.

        Raises:
            UnsupportedLanguageError: the model does not translate between them.
        """
        loaded = self._loaded.between(source, target)
        found = _reverse_of(loaded.config, reverse)
        return Translator(loaded, self.device, n_workers=self.n_workers, reverse=found, searching=self)

    def _load_ctranslate2(self, loaded: AnyModel, requested: str) -> Any:  # noqa: ANN401 - it has no types
        """The model as a ``ctranslate2.Translator``; None: the model itself searches."""
        if not self.engine.is_ctranslate2:
            return None
        try:
            return load_ctranslate2(loaded, self.device, self.engine.name, self.n_workers)
        except ConfigError as error:
            if requested != "auto":
                raise
            self.engine = Choice("eager", str(error))
            return None

    @classmethod
    def load(
        cls,
        path_or_name: str | Path | None = None,
        *,
        source: str | None = None,
        target: str | None = None,
        device: str = "auto",
        engine: str = "auto",
        reverse: str | Path | None = None,
    ) -> Translator:
        """Load a model folder.

        All its files are verified. Torch is imported and weights are read only where they are needed, see
        ``warm_up``.

        Args:
            path_or_name: a folder, the name of a model that ships, or None for the first one that translates
                from ``source`` to ``target``.
            source: ISO 639-1 code; None: any.
            target: the same.
            device: "cpu", "cuda", "cuda:1"; "auto" takes CUDA where there is any.
            engine: "auto", "eager", "int8", "float32", "bfloat16", "float16": see ``nmt.searchers.choose``.
            reverse: a model of the other direction, for quality best; None: the first that ships.

        Raises:
            ModelFolderError: there is no such folder, it translates between other languages, or is corrupt.
            ConfigError: there is no such device or engine.
        """
        chosen = find_device(device)
        folder = resolve_model(path_or_name, source=source, target=target)
        loaded = OpenedModel(folder, chosen, source=source, target=target)
        return cls(loaded, chosen, engine=engine, reverse=_reverse_of(loaded.config, reverse))

    @property
    def has_formality(self) -> bool:
        """Whether the model can choose how people are addressed."""
        return bool(self.preparer.registers)

    def translate(
        self,
        texts: Sequence[str],
        options: TranslationOptions = DEFAULTS,
        *,
        keep: Sequence[Sequence[Span]] | None = None,
        max_batch_tokens: int = BATCH_TOKENS,
    ) -> list[Translation]:
        """Translate texts of any length, in their order; white space and blank lines are kept.

        Args:
            texts: each a word, a sentence or many paragraphs. Nothing of them is cut.
            options: how to translate.
            keep: for each text the spans of it that are copied, not translated; literals (addresses,
                placeholders, code, emoji: ``nmt.text.literals``) always are.
            max_batch_tokens: padded source tokens x beam size that a worker searches at once, and, up to
                ``ALIGN_TOKENS``, padded tokens of a forced pass; bounds memory, never changes
                the translation.

        Raises:
            UnsupportedLanguageError: the model translates between other languages.
            InputError: a text is no text, or holds a lone surrogate; spans to keep overlap or leave the text;
                French typography was asked of a model that writes another language.
            ConfigError: alignment or a coverage penalty was asked of a model without attention,
                ``min_confidence`` of one that is not calibrated, or several translations of quality fast.
            NumericalError: the model computes NaN.
        """
        plans = self.plan(texts, options, keep=keep)
        flows = [self.flow(plan, index) for plan in plans for index in range(len(plan.source_ids))]
        answer = partial(self.answer, max_batch_tokens=max_batch_tokens)
        finished = iter(run_together(flows, answer))
        return [self.finish(plan, list(islice(finished, len(plan.source_ids)))) for plan in plans]

    def plan(
        self,
        texts: Sequence[str],
        options: TranslationOptions = DEFAULTS,
        *,
        keep: Sequence[Sequence[Span]] | None = None,
    ) -> list[Plan]:
        """Preparation: each text's sentences and their token ids. Arguments as ``translate``."""
        self._check_languages(options.source, options.target)
        self._check_confidence(options.min_confidence)
        self._check_quality(options)
        options.check_prefixes(len(texts))
        if options.french_typography and self.config.target_language != "fr":
            raise InputError(
                f"french_typography: the model {self.config.name} writes {self.config.target_language}; "
                "leave it out"
            )
        generation = options.search(options.generation or self.generation)
        return [Plan(*text, options, generation) for text in self._planner.prepare(texts, keep, options)]

    def flow(self, plan: Plan, index: int) -> Flow[FinishedSentence]:
        """One sentence of a plan, from its token ids to its translation; see ``nmt.pipeline.requests``."""
        tokenizers = self.source_tokenizer, self.tokenizer
        positions, links = self._max_positions, self._has_scorer
        return SentenceFlow(*tokenizers, self.preparer, self.judge, positions, links).of(plan, index)

    def finish(self, plan: Plan, sentences: Sequence[FinishedSentence]) -> Translation:
        """Assembly: the translations of a text's sentences become that of the text."""
        return finish(plan, sentences)

    def answer(self, questions: Sequence[Question], *, max_batch_tokens: int = BATCH_TOKENS) -> list[Answer]:
        """Answer what flows ask, in batches of similar length; arguments and errors as ``translate``."""
        return self.answerer.answer(questions, max_batch_tokens=max_batch_tokens)

    def next_words(
        self, text: str, prefix: str = "", count: int = 5, options: TranslationOptions = DEFAULTS
    ) -> tuple[NextWord, ...]:
        """The words that may follow the beginning of a sentence's translation, likeliest first.

        Args:
            text: one sentence.
            prefix: how its translation begins; its last word is a whole one.
            count: words, at most ``MOST_NEXT_WORDS``.
            options: as for ``translate``; their prefixes do not count.

        Raises:
            InputError: the text is not one sentence, or ``count`` is out of range; else as ``translate``.
        """
        if not 1 <= count <= MOST_NEXT_WORDS:
            raise InputError(f"count {count} is not from 1 to {MOST_NEXT_WORDS}")
        wish = {"prefixes": (prefix,), "next_words": count, "split_sentences": False}
        [found] = self.translate([text], options.model_copy(update=wish))
        return found.sentences[0].next_words

    def align(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        whitespace: bool = True,
        extraction: Extraction = "default",
        threshold: float = THRESHOLD,
        attention: AlignmentConfig | None = None,
        max_batch_tokens: int = ALIGN_TOKENS,
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
        self,
        on_failure: Callable[[Exception], None] | None = None,
        is_hurried: Callable[[], bool] = lambda: False,
    ) -> RunningSearch:
        """A search with this model that sentences join and leave, for ``nmt.batching.continuous``.

        Args:
            on_failure: told when a batch fails as a whole and its sentences are tried alone.
            is_hurried: whether others wait for each step to end; steps are then kept short.
        """
        return self.answerer.continuous_search(on_failure, is_hurried)

    def _check_languages(self, source: str | None, target: str | None) -> None:
        known = (self.config.source_language, self.config.target_language)
        if (source, target) == (None, None):
            return
        if pair_among([known], source, target) is None:
            asked = source or known[0], target or known[1]
            raise UnsupportedLanguageError(
                f"the model {self.config.name} translates {known[0]} to {known[1]}, not "
                f"{asked[0][:20]!r} to {asked[1][:20]!r}"
            )

    def _check_quality(self, options: TranslationOptions) -> None:
        if options.quality == "best" and self.reverse is None:
            read, written = self.config.source_language, self.config.target_language
            raise ConfigError(
                f"quality best reads translations back with a model from {written} to {read}, and there is "
                f"none here: name one as reverse, or choose balanced"
            )

    def _check_confidence(self, least: float | None) -> None:
        if least is None:
            return
        if self.judge.model is None:
            raise ConfigError(
                f"min_confidence {least:g}: the model {self.config.name} is not calibrated; run nmt "
                "calibrate on its folder, or leave min_confidence out"
            )


def _reverse_of(config: ModelFolderConfig, named: str | Path | None) -> Path | None:
    """The folder of the other direction's model; None: none is named, and none that ships is one."""
    source, target = config.target_language, config.source_language
    try:
        return resolve_model(named, source=source, target=target)
    except ModelFolderError:
        if named is not None:
            raise
        return None


def count_workers(device: torch.device | str) -> int:
    """How many batches to search side by side: one for each of torch's threads on a CPU, else one."""
    kind, _ = kind_and_index(device)
    return count_threads() if kind == "cpu" else 1

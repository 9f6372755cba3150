"""Text in, text with scores and word alignment out: the whole flow of a translation.

split -> encode -> Batch -> search -> decode -> alignment by a forced pass, when asked -> join
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import torch

from nmt.alignment import (
    THRESHOLD,
    Aligner,
    Alignment,
    Link,
    Token,
    length_batches,
    whitespace_words,
    words,
)
from nmt.batch import Batch
from nmt.checkpoint import LoadedModel, load_model_folder, resolve_model
from nmt.config import AlignmentConfig, GenerationConfig, ModelFolderConfig, TransformerConfig
from nmt.errors import ConfigError, InputError, UnsupportedLanguageError
from nmt.models.interface import StepDecoder
from nmt.pharaoh import Extraction
from nmt.search import Hypothesis, search
from nmt.segment import Segment, split, split_long
from nmt.spans import Span
from nmt.tokenizer import refuse_lone_surrogates
from nmt.translation import (
    Alternative,
    Candidate,
    Document,
    SentenceTranslation,
    Translation,
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

AlignmentKind = Literal["none", "links", "soft"]


class Translator:
    """A model ready to translate. No state is kept between calls, but one thread at a time may call.

    Args:
        loaded: a model folder, or the same put together; its model in evaluation mode, on ``device``.
        device: where the model is.
    """

    def __init__(self, loaded: LoadedModel, device: torch.device | str = "cpu") -> None:
        self.config: ModelFolderConfig = loaded.config
        self.generation: GenerationConfig = loaded.generation
        self.tokenizer = loaded.tokenizer
        self.device = torch.device(device)
        self._decoder: StepDecoder[Any] = loaded.model
        model = loaded.config.model
        self._max_positions = model.max_positions if isinstance(model, TransformerConfig) else None
        self._aligner = Aligner(
            loaded.model,
            loaded.tokenizer,
            loaded.config.alignment,
            loaded.config.special_ids,
            self.device,
            max_tokens=self._max_positions,
        )

    @classmethod
    def load(cls, path_or_name: str | Path | None = None, *, device: str = "auto") -> Translator:
        """Load a model folder.

        Args:
            path_or_name: a folder, the name of a model that ships, or None for the first one.
            device: "cpu", "cuda", "cuda:1"; "auto" takes CUDA where there is any.

        Raises:
            ModelFolderError: there is no such folder, or it is corrupt.
            ConfigError: there is no such device.
        """
        chosen = _device(device)
        return cls(load_model_folder(resolve_model(path_or_name), chosen), chosen)

    @torch.inference_mode()
    def translate(
        self,
        texts: Sequence[str],
        *,
        source: str | None = None,
        target: str | None = None,
        alignment: AlignmentKind = "none",
        options: GenerationConfig | None = None,
        max_batch_tokens: int = 4096,
    ) -> list[Translation]:
        """Translate texts of any length, in their order; white space and blank lines are kept.

        Args:
            texts: each a word, a sentence or many paragraphs. Nothing of them is cut.
            source: ISO 639-1 code, checked against the model's; None trusts the caller.
            target: the same.
            alignment: "links" adds words and the links between them, "soft" the attention matrices too.
            options: how to search; None takes the model folder's.
            max_batch_tokens: padded source tokens x beam size searched at once; bounds memory, never changes
                the translation.

        Raises:
            UnsupportedLanguageError: the model translates between other languages.
            InputError: a text is no text, or holds a lone surrogate.
            ConfigError: alignment or a coverage penalty was asked of a model without attention.
            NumericalError: the model computes NaN.
        """
        self._check_languages(source, target)
        options = self.generation if options is None else options
        special = self.config.special_ids

        documents = [self._split(text, name) for text, name in _named(texts)]
        segments = [segment for document in documents for segment in document.segments]
        source_ids = self.tokenizer.encode_batch([segment.text for segment in segments])

        found: list[list[Hypothesis]] = [[] for _ in segments]
        for rows, batch_options in self._batches(source_ids, options, max_batch_tokens):
            batch = Batch.from_ids([source_ids[row] for row in rows], special=special).to(self.device)
            hypotheses = search(self._decoder, batch, batch_options, special)
            for row, sentence_hypotheses in zip(rows, hypotheses, strict=True):
                found[row] = sentence_hypotheses
        candidates = [[self._decode(hypothesis) for hypothesis in sentence] for sentence in found]
        alignments = None if alignment == "none" else self._align(segments, candidates, max_batch_tokens)

        translations: list[Translation] = []
        own = slice(0, 0)
        for document in documents:
            own = slice(own.stop, own.stop + len(document.segments))
            translations.append(
                assemble(
                    document,
                    candidates[own],
                    None if alignments is None else alignments[own],
                    n_source_tokens=sum(len(ids) for ids in source_ids[own]),
                    n_best=options.n_best,
                    soft=alignment == "soft",
                )
            )
        return translations

    @torch.inference_mode()
    def align(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        whitespace: bool = True,
        extraction: Extraction = "argmax",
        threshold: float = THRESHOLD,
        attention: AlignmentConfig | None = None,
        max_batch_tokens: int = 4096,
    ) -> list[Alignment]:
        """Word links of given sentence pairs, in their order. A pair with a blank side has none.

        Args:
            pairs: source and target sentence, each taken as one, however many sentences it holds.
            whitespace: link what white space separates; False: words and marks, as in ``translate``.
            extraction: how links follow from attention, see ``nmt.alignment.links_from_matrix``.
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
        aligner = self._aligner if attention is None else self._aligner.reading(attention)
        return aligner.align(
            pairs,
            words=whitespace_words if whitespace else words,
            extraction=extraction,
            threshold=threshold,
            max_batch_tokens=max_batch_tokens,
        )

    def _check_languages(self, source: str | None, target: str | None) -> None:
        known = (self.config.source_language, self.config.target_language)
        asked = (source or known[0], target or known[1])
        if asked != known:
            raise UnsupportedLanguageError(
                f"the model {self.config.name} translates {known[0]} to {known[1]}, not "
                f"{asked[0][:20]!r} to {asked[1][:20]!r}"
            )

    def _split(self, text: str, name: str) -> Document:
        """Sentences of a length that the model can read.

        What has no token at all, a zero-width space say, is no sentence and stays where it is.
        """
        refuse_lone_surrogates(text, name)
        limit = self.config.max_source_tokens
        if self._max_positions is not None:
            limit = min(limit, self._max_positions - 1)
        encode = self.tokenizer.encode
        sentences = split(text, self.config.source_language)
        parts = [
            part
            for sentence in sentences
            for part in split_long(sentence, lambda part: len(encode(part)) <= limit)
        ]
        segments = tuple(part for part in parts if encode(part.text))
        return Document(text, segments, repaired=len(parts) > len(sentences))

    def _batches(
        self, source_ids: Sequence[Sequence[int]], options: GenerationConfig, max_batch_tokens: int
    ) -> Iterator[tuple[list[int], GenerationConfig]]:
        """Sentences of similar length to search together, and how.

        Where ``options`` would let a target outgrow the model's positions, those are its maximum length.
        """
        lengths = [len(ids) + 1 for ids in source_ids]
        most = sys.maxsize if self._max_positions is None else self._max_positions - 1
        outgrowing = [
            options.max_length_ratio * length + options.max_length_offset > most for length in lengths
        ]
        # ceil(ratio * length) + offset is the limit of search: any tiny ratio adds 1
        capped = options.model_copy(update={"max_length_ratio": 1e-6, "max_length_offset": most - 1})
        for group_options, is_capped in ((options, False), (capped, True)):
            group = [row for row, outgrows in enumerate(outgrowing) if outgrows == is_capped]
            group_lengths = [lengths[row] for row in group]
            for batch in length_batches(group_lengths, max_batch_tokens // options.beam_size):
                yield [group[index] for index in batch], group_options

    def _decode(self, hypothesis: Hypothesis) -> Candidate:
        text, pieces = self.tokenizer.decode_pieces(hypothesis.tokens)
        return Candidate(text, tuple(pieces), hypothesis.log_prob, hypothesis.score, hypothesis.finished)

    def _align(
        self, segments: Sequence[Segment], candidates: Sequence[Sequence[Candidate]], max_batch_tokens: int
    ) -> list[Alignment]:
        """Alignment of each sentence with its best candidate, over words and punctuation marks."""
        return self._aligner.align_encoded(
            [
                (
                    (segment.text, self.tokenizer.encode_pieces(segment.text)),
                    (sentence[0].text, sentence[0].pieces),
                )
                for segment, sentence in zip(segments, candidates, strict=True)
            ],
            max_batch_tokens=max_batch_tokens,
        )


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


def _device(name: str) -> torch.device:
    """Raises ``ConfigError`` when there is no such device here."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError):
        raise ConfigError(f"device {name!r} is not available here; use cpu, cuda, cuda:N or auto") from None

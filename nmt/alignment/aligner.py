"""Word links from a forced pass over a finished translation.

The model reads the whole translation at once. Links come from the folder's link scorer (``nmt.alignment``),
which reads the states of that pass; a model without one, or a caller who names a layer and heads, gets them
from cross-attention. Row t of that is the attention paid while token t of the target was predicted
(``Batch.target_out_BT``), not while it was read one step later.

Attention need not be alignment (Jain and Wallace 2019): ``alignment_error_rate`` tells how good it is, and
docs/alignment.md by how much the scorer is better.

Dimensions: B sentences, S source length with EOS, T target length with EOS, I target words, J source words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from nmt.alignment.alignment import ALIGN_TOKENS, THRESHOLD, Alignment, EncodedText, length_batches
from nmt.alignment.pharaoh import (
    Extraction,
    Link,
    Pair,
    alignment_error_rate,
    parse_pharaoh,
    precision_and_recall,
    symmetrize,
    to_pharaoh,
)
from nmt.alignment.pooling import (
    links_from_matrix,
    piece_shares,
    pool,
    pool_shares,
    to_rows,
)
from nmt.alignment.scorer import TrainedAligner
from nmt.alignment.states import read_states
from nmt.batch import Batch
from nmt.config import AlignmentConfig, SpecialIds
from nmt.errors import ConfigError, NumericalError, TextTooLongError
from nmt.models.interface import SequenceModel
from nmt.models.transformer import Transformer
from nmt.text.words import Token, whitespace_words, words
from nmt.tokenizer import Tokenizer

__all__ = [
    "ALIGN_TOKENS",
    "THRESHOLD",
    "Aligner",
    "Alignment",
    "EncodedText",
    "Link",
    "Pair",
    "Token",
    "alignment_error_rate",
    "length_batches",
    "links_from_matrix",
    "parse_pharaoh",
    "pool",
    "precision_and_recall",
    "symmetrize",
    "to_pharaoh",
    "to_rows",
    "whitespace_words",
    "words",
]

SCORED_TOGETHER = 1024
"""Padded tokens that the scorer reads at once: more only adds padding."""


class Aligner:
    """Word alignment in batches, by a link scorer or by the cross-attention of ``model``.

    Args:
        model: any model that exposes an attention; a Transformer for a scorer.
        tokenizer: of what the model writes.
        config: which layer and heads, without a scorer.
        special: ids of padding, BOS and EOS.
        device: where the model and the scorer are.
        max_tokens: positions that the model has for a sentence, BOS or EOS counted; None: any number.
        trained: the scorer; None: attention.
        source_tokenizer: of what the model reads; None: the same.
    """

    def __init__(
        self,
        model: SequenceModel,
        tokenizer: Tokenizer,
        config: AlignmentConfig,
        special: SpecialIds,
        device: torch.device | str = "cpu",
        *,
        max_tokens: int | None = None,
        trained: TrainedAligner | None = None,
        source_tokenizer: Tokenizer | None = None,
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.config = config
        self.special = special
        self.device = device
        self.max_tokens = max_tokens
        self.trained = trained
        self.source_tokenizer = source_tokenizer or tokenizer

    def reading(self, config: AlignmentConfig) -> Aligner:
        """The same model's cross-attention, of this layer and these heads."""
        return Aligner(
            self.model,
            self.tokenizer,
            config,
            self.special,
            self.device,
            max_tokens=self.max_tokens,
            source_tokenizer=self.source_tokenizer,
        )

    def align(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        words: Callable[[str], list[Token]] = words,
        extraction: Extraction = "default",
        threshold: float = THRESHOLD,
        max_batch_tokens: int = ALIGN_TOKENS,
    ) -> list[Alignment]:
        """Align given sentence pairs, in their order. A pair with a blank side has no links.

        Args:
            pairs: source and target sentence.
            words: text -> tokens to link; ``whitespace_words`` where the tokenisation is given.
            extraction: see ``WordShares.links`` (a scorer) and ``links_from_matrix`` (attention).
            threshold: of attention, see ``links_from_matrix``.
            max_batch_tokens: padded tokens read at once, of the longer side.

        Raises:
            ConfigError: the model exposes no attention, or not the layer or heads asked for.
            TextTooLongError: a side has more tokens than the model has positions.
        """
        read, written = self.source_tokenizer.encode_pieces, self.tokenizer.encode_pieces
        return self.align_encoded(
            [((source, read(source)), (target, written(target))) for source, target in pairs],
            words=words,
            extraction=extraction,
            threshold=threshold,
            max_batch_tokens=max_batch_tokens,
        )

    @torch.inference_mode()
    def align_encoded(
        self,
        pairs: Sequence[tuple[EncodedText, EncodedText]],
        *,
        words: Callable[[str], list[Token]] = words,
        extraction: Extraction = "default",
        threshold: float = THRESHOLD,
        max_batch_tokens: int = ALIGN_TOKENS,
    ) -> list[Alignment]:
        """``align`` for texts with the pieces that were read and written; to encode again may give others."""
        sources = [[piece.id for piece in pieces] for (_, pieces), _ in pairs]
        targets = [[piece.id for piece in pieces] for _, (_, pieces) in pairs]
        texts = [(words(source), words(target)) for (source, _), (target, _) in pairs]
        matrices: list[Tensor] = []
        links: list[list[Link]] = []
        if self.trained is not None:
            shares = self.shares(sources, targets, max_batch_tokens)
            for pieces, (source_words, target_words), (forward_TS, backward_TS) in zip(
                pairs, texts, shares, strict=True
            ):
                (_, source_pieces), (_, target_pieces) = pieces
                pooled = pool_shares(
                    forward_TS,
                    backward_TS,
                    piece_shares(target_pieces, target_words),
                    piece_shares(source_pieces, source_words),
                )
                matrices.append(pooled.matrix(self.trained.config.rule))
                links.append(pooled.links(self.trained.config.rule, extraction))
        else:
            attention = self.attend(sources, targets, max_batch_tokens)
            for pieces, (source_words, target_words), attention_TS in zip(
                pairs, texts, attention, strict=True
            ):
                (_, source_pieces), (_, target_pieces) = pieces
                matrices.append(pool(attention_TS, target_pieces, source_pieces, target_words, source_words))
                links.append(links_from_matrix(matrices[-1], extraction, threshold))
        return [
            Alignment(tuple(source_words), tuple(target_words), tuple(found), to_rows(matrix_IJ))
            for (source_words, target_words), found, matrix_IJ in zip(texts, links, matrices, strict=True)
        ]

    @torch.inference_mode()
    def attend(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        max_batch_tokens: int = ALIGN_TOKENS,
    ) -> list[Tensor]:
        """The forced pass: for each pair of id lists its attention_TS, EOS row and column included.

        Raises:
            ConfigError: the model exposes no attention, or not the layer or heads asked for.
            TextTooLongError: a list is longer than the model's positions.
            NumericalError: the attention is NaN.
        """
        found: dict[int, Tensor] = {}
        for rows, batch in self._batches(sources, targets, max_batch_tokens):
            _, attention_BTS = self.model.forward_with_attention(batch, self.config.layer, self.config.heads)
            if attention_BTS is None:
                raise ConfigError(
                    "this model has no attention, so it cannot align words; use one that has, or no alignment"
                )
            _refuse_nan(attention_BTS)
            for row, attention_TS in zip(rows, attention_BTS.float().cpu(), strict=True):
                found[row] = attention_TS[: len(targets[row]) + 1, : len(sources[row]) + 1]
        return [found[row] for row in range(len(sources))]

    @torch.inference_mode()
    def shares(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        max_batch_tokens: int = ALIGN_TOKENS,
    ) -> list[tuple[Tensor, Tensor]]:
        """The forced pass with the scorer: for each pair of id lists the shares of pieces, without EOS.

        Returns:
            For each pair forward_TS and backward_TS; what is missing to 1 is linked to nothing.

        Raises:
            TextTooLongError: a list is longer than the model's positions.
            NumericalError: a share is NaN.
        """
        assert self.trained is not None
        assert isinstance(self.model, Transformer)
        found: dict[int, tuple[Tensor, Tensor]] = {}
        both = [row for row, sides in enumerate(zip(sources, targets, strict=True)) if all(sides)]
        own_sources, own_targets = [sources[row] for row in both], [targets[row] for row in both]
        most = min(max_batch_tokens, SCORED_TOGETHER)
        for rows, batch in self._batches(own_sources, own_targets, most):
            forward_BTS, backward_BTS = self.trained.scorer(read_states(self.model, batch))
            _refuse_nan(forward_BTS)
            forward_BTS, backward_BTS = forward_BTS.exp().cpu(), backward_BTS.exp().cpu()
            for index, row in enumerate(rows):
                T, S = len(own_targets[row]), len(own_sources[row])
                found[both[row]] = forward_BTS[index, :T, :S], backward_BTS[index, :T, :S]
        for row in set(range(len(sources))) - found.keys():
            blank_TS = torch.zeros(len(targets[row]), len(sources[row]))
            found[row] = blank_TS, blank_TS
        return [found[row] for row in range(len(sources))]

    def _batches(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], max_batch_tokens: int
    ) -> Iterator[tuple[list[int], Batch]]:
        """Indices of pairs of similar length, and those pairs as a batch."""
        lengths = [max(len(source), len(target)) + 1 for source, target in zip(sources, targets, strict=True)]
        if self.max_tokens is not None and max(lengths, default=0) > self.max_tokens:
            index = next(index for index, length in enumerate(lengths) if length > self.max_tokens)
            raise TextTooLongError(
                f"sentence pair {index + 1} has {lengths[index] - 1} tokens on one side; the model aligns "
                f"at most {self.max_tokens - 1}; split it"
            )
        for rows in length_batches(lengths, max_batch_tokens):
            batch = Batch.from_ids(
                [sources[row] for row in rows], [targets[row] for row in rows], special=self.special
            )
            yield rows, batch.to(self.device)


def _refuse_nan(tensor: Tensor) -> None:
    if not torch.isfinite(tensor).all():
        raise NumericalError(
            "the alignment holds NaN: the model's weights or its numerical precision are at fault"
        )

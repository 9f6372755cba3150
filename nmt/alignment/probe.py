"""Which cross-attention links words best, found without links: by words that both sides spell alike.

Numbers, names and cognates that occur once in a sentence and once in its translation are links that nobody
needs to be told. The attention of a head, or the mean of a layer's heads, is as good as the share of them at
which it is highest. Which layer aligns differs from model to model (Garg et al. 2019, section 3).

Dimensions: B sentences, H heads, T target pieces, S source pieces, both with EOS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.alignment.aligner import Aligner
from nmt.alignment.alignment import ALIGN_TOKENS, EncodedText, length_batches
from nmt.alignment.pooling import pool
from nmt.batch import Batch
from nmt.errors import ConfigError, DataError
from nmt.models.transformer import Transformer
from nmt.text.words import Token, words

LEAST = 50
"""Anchors below which the choice would be chance."""


@dataclass(frozen=True)
class AttentionScore:
    """How many anchors an attention finds."""

    layer: int
    head: int | None
    """None: the mean of the layer's heads."""
    n_right: int
    n_anchors: int

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.n_right / self.n_anchors


def anchors(source: Sequence[Token], target: Sequence[Token]) -> list[tuple[int, int]]:
    """Places (target, source) of words spelt alike that occur once on each side; case does not count.

    >>> anchors(words("In 1998 Ruth met Ruth Black."), words("En 1998, Ruth a rencontré Black."))
    [(1, 1), (5, 5)]
    """
    spelt = [[token.text.casefold() for token in side] for side in (source, target)]
    counts = [Counter(side) for side in spelt]
    return [
        (i, spelt[0].index(word))
        for i, word in enumerate(spelt[1])
        if counts[0][word] == counts[1][word] == 1 and any(map(str.isalnum, word))
    ]


@torch.inference_mode()
def probe(aligner: Aligner, pairs: Sequence[tuple[EncodedText, EncodedText]]) -> list[AttentionScore]:
    """Score every decoder layer and every head of it, best first; of equals a layer.

    Args:
        aligner: of the model.
        pairs: sentences and their translations, with the pieces that the model reads and writes.

    Raises:
        ConfigError: the model is no Transformer.
        DataError: the pairs have too few anchors.
    """
    model = aligner.model
    if not isinstance(model, Transformer):
        raise ConfigError("only a Transformer has layers and heads to choose from")
    tokens = [(words(source), words(target)) for (source, _), (target, _) in pairs]
    found = [anchors(*sides) for sides in tokens]
    used = [index for index, links in enumerate(found) if links]
    n_anchors = sum(map(len, found))
    if n_anchors < LEAST:
        raise DataError(
            f"{len(pairs)} sentence pairs have {n_anchors} words that both sides spell alike, at least "
            f"{LEAST} are needed: give more text, with names and numbers"
        )
    right: Counter[tuple[int, int | None]] = Counter()
    sizes = [max(len(source), len(target)) + 1 for (_, source), (_, target) in (pairs[i] for i in used)]
    for rows in length_batches(sizes, ALIGN_TOKENS):
        chosen = [used[row] for row in rows]
        sides = [[[piece.id for piece in pairs[index][side][1]] for index in chosen] for side in (0, 1)]
        batch = Batch.from_ids(*sides, special=aligner.special).to(aligner.device)
        for layer in range(len(model.decoder_layers)):
            _, weights_BHTS = model.decode(batch, weights_of_layer=layer)
            assert weights_BHTS is not None
            for index, weights_HTS in zip(chosen, weights_BHTS.float().cpu(), strict=True):
                (_, read), (_, written) = pairs[index]
                weights_HTS = weights_HTS[:, : len(written) + 1, : len(read) + 1]
                maps: dict[int | None, Tensor] = {None: weights_HTS.mean(dim=0)}
                maps.update(enumerate(weights_HTS))
                for head, weights_TS in maps.items():
                    matrix_IJ = pool(weights_TS, written, read, tokens[index][1], tokens[index][0])
                    best_I = matrix_IJ.argmax(dim=1)
                    right[layer, head] += sum(int(best_I[i]) == j for i, j in found[index])
    scores = [
        AttentionScore(layer, head, right[layer, head], n_anchors)
        for layer, decoder_layer in enumerate(model.decoder_layers)
        for head in (None, *range(decoder_layer.cross_attention.n_heads))  # type: ignore[union-attr, arg-type]
    ]
    return sorted(scores, key=lambda one: (-one.n_right, one.head is not None, -one.layer))

"""One word in several contexts: its embedding is one vector, its encoder states are many (Ethayarajh 2019).

Layer 0 is the embedding without its position, equal wherever the word is written in the same pieces; layer n
is what the n-th encoder layer gives, the last one normalised as the decoder reads it. A word of several
pieces is their mean. Vectors of one layer often point much the same way, so a cosine means little by itself:
each layer has a ``baseline``, the mean cosine of different words of different sentences.

Dimensions: W words, D d_model, L layers with the embedding, O occurrences of the word, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.errors import InputError
from nmt.explore.maps import attention_maps
from nmt.models.build import Model
from nmt.text.words import words
from nmt.tokenizer import WORD_START, Piece, Tokenizer


@dataclass(frozen=True)
class Neighbour:
    """A word near another, in its own context."""

    word: str
    sentence: str
    cosine: float


@dataclass(frozen=True)
class Contexts:
    """States of one word."""

    word: str
    sentences: tuple[str, ...]
    cosines: tuple[tuple[tuple[float, ...], ...], ...]
    """``[layer][occurrence][occurrence]``."""
    baseline: tuple[float, ...]
    """By layer: mean cosine of different words of different sentences."""
    static_neighbours: tuple[Neighbour, ...]
    """Pieces of the vocabulary with the nearest embeddings; they have no sentence."""
    neighbours: tuple[tuple[Neighbour, ...], ...]
    """Nearest words of each occurrence in the sentences and the corpus, by the states of the last layer."""


@dataclass(frozen=True)
class _Words:
    """The words of one sentence."""

    texts: tuple[str, ...]
    states_LWD: Tensor


def word_in_contexts(
    model: Model,
    tokenizer: Tokenizer,
    special: SpecialIds,
    word: str,
    sentences: Sequence[str],
    corpus: Sequence[str] = (),
    *,
    n_neighbours: int = 6,
) -> Contexts:
    """Compare a word's vectors across sentences, each of which holds it.

    Args:
        model: its source side is read.
        tokenizer: the model's own.
        special: ids of padding, BOS and EOS.
        word: compared in lower case; its first place in each sentence counts.
        sentences: two or more.
        corpus: more sentences, for neighbours and the baseline.
        n_neighbours: how many to give.

    Raises:
        InputError: there are fewer than two sentences, or one lacks the word; its number is named.
    """
    if len(sentences) < 2:
        raise InputError(f"{len(sentences)} sentences to compare a word in; give two or more")
    read = [_read(model, tokenizer, special, sentence) for sentence in sentences]
    places: list[int] = []
    for number, found in enumerate(read, start=1):
        lowered = [text.lower() for text in found.texts]
        if word.lower() not in lowered:
            raise InputError(f"sentence {number} does not hold the word to compare; give one that does")
        places.append(lowered.index(word.lower()))
    others = [_read(model, tokenizer, special, sentence) for sentence in corpus if sentence.strip()]
    vectors_LOD = torch.stack(
        [found.states_LWD[:, place] for found, place in zip(read, places, strict=True)], dim=1
    )
    unit_LOD = normalize(vectors_LOD, dim=-1)
    everything = [
        *zip(sentences, read, strict=True),
        *zip([s for s in corpus if s.strip()], others, strict=True),
    ]
    return Contexts(
        word,
        tuple(sentences),
        _numbers(unit_LOD @ unit_LOD.transpose(1, 2)),
        _baseline([found for _, found in everything]),
        _static_neighbours(model, tokenizer, vectors_LOD[0, 0], word, n_neighbours),
        tuple(_neighbours(unit_LOD[-1, index], word, everything, n_neighbours) for index in range(len(read))),
    )


def _read(model: Model, tokenizer: Tokenizer, special: SpecialIds, sentence: str) -> _Words:
    """The vectors of a sentence's words at every layer."""
    pieces, tokens = tokenizer.encode_pieces(sentence), words(sentence)
    batch = Batch.from_ids([[piece.id for piece in pieces]], [[]], special=special)
    device = next(model.parameters()).device
    states = attention_maps(model, batch.to(device)).encoder_states
    states_LSD = torch.cat(states).float().cpu()[:, : len(pieces)]
    kept = [
        (token.text, chosen) for token in tokens if (chosen := _pieces_within(pieces, token.start, token.end))
    ]
    if not kept:
        return _Words((), states_LSD[:, :0])
    means = torch.stack([states_LSD[:, chosen].mean(dim=1) for _, chosen in kept], dim=1)
    return _Words(tuple(text for text, _ in kept), means)


def _pieces_within(pieces: Sequence[Piece], start: int, end: int) -> list[int]:
    return [index for index, piece in enumerate(pieces) if piece.start < end and piece.end > start]


def _baseline(sentences: Sequence[_Words]) -> tuple[float, ...]:
    """Mean cosine of the first words and of the middle ones, between sentences one and the next."""
    usable = [found for found in sentences if len(found.texts) > 2]
    pairs = [
        (one.states_LWD[:, len(one.texts) // 2], other.states_LWD[:, len(other.texts) // 3])
        for one, other in pairwise(usable)
        if one.texts[len(one.texts) // 2].lower() != other.texts[len(other.texts) // 3].lower()
    ]
    if not pairs:
        return ()
    cosines_PL = torch.stack([torch.cosine_similarity(one, other, dim=-1) for one, other in pairs])
    return tuple(round(value, 4) for value in cosines_PL.mean(dim=0).tolist())


def _static_neighbours(
    model: Model, tokenizer: Tokenizer, vector_D: Tensor, word: str, n: int
) -> tuple[Neighbour, ...]:
    """By embedding, among the pieces that begin a word and are no other case of this one."""
    table_VD = normalize(model.source_embedding.weight_VD.detach().float().cpu(), dim=-1)
    cosines_V = table_VD @ normalize(vector_D, dim=0)
    found: list[Neighbour] = []
    for id_ in cosines_V.argsort(descending=True).tolist():
        piece = tokenizer.pieces[id_]
        text = piece.removeprefix(WORD_START)
        if piece.startswith(WORD_START) and text.isalpha() and text.lower() != word.lower():
            found.append(Neighbour(text, "", round(float(cosines_V[id_]), 4)))
        if len(found) == n:
            break
    return tuple(found)


def _neighbours(
    vector_D: Tensor, word: str, sentences: Sequence[tuple[str, _Words]], n: int
) -> tuple[Neighbour, ...]:
    """Other words by their last states; each word once, where it is nearest."""
    best: dict[str, Neighbour] = {}
    for sentence, found in sentences:
        if not found.texts:
            continue
        cosines_W = normalize(found.states_LWD[-1], dim=-1) @ vector_D
        for text, cosine in zip(found.texts, cosines_W.tolist(), strict=True):
            key = text.lower()
            if key != word.lower() and text.isalpha() and (key not in best or best[key].cosine < cosine):
                best[key] = Neighbour(text, sentence, round(cosine, 4))
    return tuple(sorted(best.values(), key=lambda entry: -entry.cosine)[:n])


def _numbers(cosines_LOO: Tensor) -> tuple[tuple[tuple[float, ...], ...], ...]:
    return tuple(
        tuple(tuple(round(value, 4) for value in row) for row in layer) for layer in cosines_LOO.tolist()
    )

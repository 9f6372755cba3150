"""Scripted step decoders: what search and the code above it are tested on, without any model.

A ``ScriptedDecoder`` keeps the whole history of each row in its state and asks a function for the
distribution of the next token, so a test can compute the right answer by enumeration. ``hash_decoder`` makes
that distribution a hash of source sentence and history: one wrong row in a reorder changes everything after
it. ``table_decoder`` takes it from a table written by hand.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, V vocabulary.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.models.interface import Step

SPECIAL = SpecialIds()
Ids = tuple[int, ...]


@dataclass(frozen=True)
class ScriptedState:
    """One entry for each row."""

    sources: tuple[Ids, ...]
    """Source ids without EOS and padding."""
    places: tuple[int, ...]
    """The sentence of each row, in the batch that was started."""
    histories: tuple[Ids, ...]
    """Tokens read, BOS not shown."""
    beam_size: int
    source_width: int
    n_read: int = 0


@dataclass
class ScriptedDecoder:
    """A ``StepDecoder`` over functions of (source ids, history).

    Args:
        next_log_probs: gives V log-probabilities.
        attention: gives the weights over the source and its EOS; None: not exposed.
        bad_value: put in place of one number of the output at ``bad_step`` for the rows of ``bad_sentence``.

    ``reorders`` and ``rows_in_steps`` record what search asked for: they observe, nothing depends on them.
    """

    next_log_probs: Callable[[Ids, Ids], Tensor]
    attention: Callable[[Ids, Ids], Tensor] | None = None
    bad_value: float = math.nan
    bad_step: int = -1
    bad_sentence: int = 0
    reorders: list[list[int]] = field(default_factory=list)
    rows_in_steps: list[int] = field(default_factory=list)

    def start(self, source: Batch, beam_size: int) -> ScriptedState:
        lengths = source.source_mask_BS.sum(dim=1).tolist()
        sources = [
            tuple(ids[: length - 1]) for ids, length in zip(source.source_BS.tolist(), lengths, strict=True)
        ]
        return ScriptedState(
            sources=tuple(ids for ids in sources for _ in range(beam_size)),
            places=tuple(place for place in range(len(sources)) for _ in range(beam_size)),
            histories=((),) * (len(sources) * beam_size),
            beam_size=beam_size,
            source_width=source.source_BS.size(1),
        )

    def step(self, state: ScriptedState, tokens_N: Tensor) -> tuple[Step, ScriptedState]:
        assert tokens_N.shape == (len(state.sources),)
        tokens = tokens_N.tolist()
        if state.n_read == 0:
            assert set(tokens) == {SPECIAL.bos}, "BOS comes first"
            histories = state.histories
        else:
            histories = tuple(
                (*history, token) for history, token in zip(state.histories, tokens, strict=True)
            )
        self.rows_in_steps.append(len(histories))
        rows = list(zip(state.sources, histories, strict=True))
        device = tokens_N.device
        log_probs_NV = torch.stack([self.next_log_probs(*row) for row in rows]).to(device)
        if state.n_read == self.bad_step:
            for row, place in enumerate(state.places):
                if place == self.bad_sentence:
                    log_probs_NV[row, -1] = self.bad_value
        attention_NS = None
        if self.attention is not None:
            attention_NS = torch.zeros(len(rows), state.source_width, device=device)
            for row, (source, history) in enumerate(rows):
                attention_NS[row, : len(source) + 1] = self.attention(source, history).to(device)
        return Step(log_probs_NV, attention_NS), replace(state, histories=histories, n_read=state.n_read + 1)

    def reorder(self, state: ScriptedState, rows_N: Tensor) -> ScriptedState:
        rows = rows_N.tolist()
        self.reorders.append(rows)
        places = tuple(state.places[row] for row in rows)
        groups = [places[start : start + state.beam_size] for start in range(0, len(rows), state.beam_size)]
        assert all(len(group) == state.beam_size and len(set(group)) == 1 for group in groups), (
            "each K consecutive rows must come from one sentence"
        )
        kept = [group[0] for group in groups]
        assert kept == sorted(set(kept)), "sentences must keep their order"
        return replace(
            state,
            sources=tuple(state.sources[row] for row in rows),
            places=places,
            histories=tuple(state.histories[row] for row in rows),
        )


class ForgetfulDecoder(ScriptedDecoder):
    """The planted defect: its reorder drops rows, but moves none."""

    def reorder(self, state: ScriptedState, rows_N: Tensor) -> ScriptedState:
        kept = sorted({state.places[row] for row in rows_N.tolist()})
        unmoved = [row for row, place in enumerate(state.places) if place in kept]
        return super().reorder(state, torch.tensor(unmoved))


def hash_log_probs(
    vocab_size: int, *, seed: int = 0, sharpness: float = 2.0, eos_bias: float = 0.0
) -> Callable[[Ids, Ids], Tensor]:
    """Log-probabilities that are a hash of seed, source and history.

    Args:
        vocab_size: V.
        seed: another seed is another model.
        sharpness: standard deviation of the logits.
        eos_bias: added to the logit of EOS; -inf holds it down for good.
    """

    @lru_cache(maxsize=100_000)
    def next_log_probs(source: Ids, history: Ids) -> Tensor:
        logits_V = sharpness * torch.randn(vocab_size, generator=_generator(seed, "token", source, history))
        logits_V[SPECIAL.eos] += eos_bias
        return logits_V.log_softmax(dim=0)

    return next_log_probs


def hash_attention(seed: int = 0) -> Callable[[Ids, Ids], Tensor]:
    """Attention weights, over the source and its EOS, that are a hash of seed, source and history."""

    def attention(source: Ids, history: Ids) -> Tensor:
        logits_S = 2 * torch.randn(len(source) + 1, generator=_generator(seed, "attention", source, history))
        return logits_S.softmax(dim=0)

    return attention


def _generator(*key: object) -> torch.Generator:
    digest = hashlib.blake2b(repr(key).encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "little", signed=True))


def hash_decoder(
    vocab_size: int = 12,
    *,
    seed: int = 0,
    sharpness: float = 2.0,
    eos_bias: float = 0.0,
    attention: bool = False,
) -> ScriptedDecoder:
    """A decoder whose distribution is ``hash_log_probs``, with ``hash_attention`` if asked for."""
    return ScriptedDecoder(
        hash_log_probs(vocab_size, seed=seed, sharpness=sharpness, eos_bias=eos_bias),
        hash_attention(seed) if attention else None,
    )


def table_decoder(
    vocab_size: int,
    table: Mapping[Ids, Mapping[int, float]],
    attention: Mapping[Ids, Sequence[float]] | None = None,
) -> ScriptedDecoder:
    """A decoder that looks the probabilities of the next token up by history, whatever the source.

    Args:
        vocab_size: V.
        table: for each history the probabilities; a token not named has 0, a history not named allows EOS
        alone. attention: for each history the weights over the source and its EOS.
    """

    def next_log_probs(_source: Ids, history: Ids) -> Tensor:
        probabilities_V = torch.zeros(vocab_size, dtype=torch.float64)
        for token, probability in table.get(history, {SPECIAL.eos: 1.0}).items():
            probabilities_V[token] = probability
        return probabilities_V.log().float()

    if attention is None:
        return ScriptedDecoder(next_log_probs)
    weights = {history: torch.tensor(row) for history, row in attention.items()}
    return ScriptedDecoder(next_log_probs, lambda _source, history: weights[history])

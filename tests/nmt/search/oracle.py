"""Search by enumeration: every hypothesis there is, scored by formulas written out a second time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import torch

from nmt.batch import Batch
from nmt.config import GenerationConfig
from nmt.search import Hypothesis
from tests.doubles import SPECIAL, Ids, ScriptedDecoder

SOURCES: tuple[Ids, ...] = ((5, 6, 7), (8,), (9, 4, 4, 5, 6), (10, 11), (7, 7, 7, 7))


def batch_of(*sources: Sequence[int]) -> Batch:
    return Batch.from_ids(sources, special=SPECIAL)


def normalised(log_prob: float, length: int, options: GenerationConfig) -> float:
    """Eq. 14 without coverage; ``length`` counts EOS."""
    if options.length_normalization == "none":
        return log_prob
    if options.length_normalization == "mean":
        return log_prob / length
    return log_prob * 6**options.length_penalty / (5 + length) ** options.length_penalty


def coverage(
    decoder: ScriptedDecoder, source: Ids, tokens: Ids, beta: float, *, finished: bool = True
) -> float:
    """Eq. 14's penalty."""
    assert decoder.attention is not None
    steps = [decoder.attention(source, tokens[:t]).tolist() for t in range(len(tokens) + finished)]
    return beta * sum(math.log(min(sum(weights), 1.0)) for weights in zip(*steps, strict=True))


def log_prob_of(decoder: ScriptedDecoder, source: Ids, tokens: Ids, *, finished: bool = True) -> float:
    predicted = (*tokens, SPECIAL.eos) if finished else tokens
    return sum(
        float(decoder.next_log_probs(source, predicted[:t])[token]) for t, token in enumerate(predicted)
    )


def all_finished(
    decoder: ScriptedDecoder,
    source: Ids,
    vocabulary: Sequence[int],
    max_length: int,
    options: GenerationConfig,
    allowed: Callable[[Ids], bool] = lambda tokens: True,
) -> list[Hypothesis]:
    """Every hypothesis of at most ``max_length`` tokens that ends in EOS and is ``allowed``, best first."""
    found = []
    for length in range(max_length + 1):
        for tokens in itertools.product(vocabulary, repeat=length):
            log_prob = log_prob_of(decoder, source, tokens)
            if log_prob > -math.inf and allowed(tokens):
                score = normalised(log_prob, length + 1, options)
                if options.coverage_penalty:
                    score += coverage(decoder, source, tokens, options.coverage_penalty)
                found.append(Hypothesis(tokens, log_prob, score, finished=True))
    return sorted(found, key=lambda hypothesis: -hypothesis.score)


def greedy_by_hand(decoder: ScriptedDecoder, source: Ids, max_length: int) -> Hypothesis:
    """Arg-max decoding of one sentence, in a plain loop."""
    tokens: Ids = ()
    log_prob = 0.0
    while True:
        log_probs_V = decoder.next_log_probs(source, tokens).clone()
        log_probs_V[[SPECIAL.pad, SPECIAL.bos]] = -torch.inf
        best = int(log_probs_V.argmax())
        if best == SPECIAL.eos:
            return Hypothesis(tokens, log_prob + float(log_probs_V[best]), 0.0, finished=True)
        if len(tokens) == max_length:
            return Hypothesis(tokens, log_prob, 0.0, finished=False)
        tokens, log_prob = (*tokens, best), log_prob + float(log_probs_V[best])


def assert_same(found: Sequence[Hypothesis], expected: Sequence[Hypothesis]) -> None:
    """Equal tokens and ends, and numbers equal up to float32 rounding."""
    assert [(entry.tokens, entry.finished) for entry in found] == [
        (entry.tokens, entry.finished) for entry in expected
    ]
    for entry, other in zip(found, expected, strict=True):
        assert math.isclose(entry.log_prob, other.log_prob, rel_tol=1e-5, abs_tol=1e-5)
        assert math.isclose(entry.score, other.score, rel_tol=1e-5, abs_tol=1e-5)

"""Search over many sentences at once: cut into batches (``nmt.shares``), and the batches over workers.

Which sentences share a batch changes no result but for rounding.

Dimensions: B sentences, K beam size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from nmt.batch import Batch
from nmt.config import GenerationConfig, SpecialIds
from nmt.engines.forks import Fork, Forks, Json
from nmt.engines.workers import side_by_side
from nmt.models.interface import StateT, StepDecoder
from nmt.search import Hypothesis, Required, max_length, search
from nmt.shares import CALLS, StepCost, cut

BATCH_TOKENS = 16_384
"""Padded source tokens x beam size searched at once, at most."""


def search_many(
    decoder: StepDecoder[StateT],
    sources: Sequence[Sequence[int]],
    options: GenerationConfig,
    special: SpecialIds,
    *,
    device: torch.device,
    required: Required | None = None,
    max_batch_tokens: int = BATCH_TOKENS,
    n_workers: int = 1,
    step_cost: StepCost = CALLS,
    forks: Forks | None = None,
) -> list[list[Hypothesis]]:
    """Search for the translations of many sentences; results in the order given.

    Args:
        decoder: whatever predicts the next token; several threads use it at once where there are workers.
        sources: token ids of each sentence, without EOS.
        options: how to search.
        special: ids of PAD, BOS and EOS.
        device: where the decoder is.
        required: see ``search``.
        max_batch_tokens: padded source tokens x beam size that one worker searches at once.
        n_workers: see ``nmt.engines.workers``.
        step_cost: of this decoder, whatever the beam.
        forks: processes that search with the same decoder, see ``search_forks``; None: threads.

    Raises:
        NumericalError: NaN or +inf from the decoder.
        ConfigError: a coverage penalty, and no attention to compute it from.
    """

    def part(places: Sequence[int]) -> tuple[Sequence[Sequence[int]], Required | None]:
        own = None
        if required is not None:
            own = Required(required.placeholders, tuple(required.sentences[place] for place in places))
        return [sources[place] for place in places], own

    def here(places: Sequence[int]) -> list[list[Hypothesis]]:
        chosen, own = part(places)
        batch = Batch.from_ids(chosen, special=special)
        return search(decoder, batch.to(device), options, special, required=own)

    def in_fork(fork: Fork) -> Callable[[Sequence[int]], list[list[Hypothesis]]]:
        def there(places: Sequence[int]) -> list[list[Hypothesis]]:
            answer = fork.ask(_question(*part(places), options))
            return here(places) if answer is None else [[_read(one) for one in written] for written in answer]

        return there

    lengths = [len(source) + 1 for source in sources]  # with EOS
    longest = partial(max_length, ratio=options.max_length_ratio, offset=options.max_length_offset)
    limits = (longest(len(source)) + 1 for source in sources)
    steps = [min(pair) for pair in zip(lengths, limits, strict=True)]
    cost = replace(step_cost, beam_size=options.beam_size)
    batches = cut(lengths, steps, max_batch_tokens, cost, n_workers)
    running = forks.running() if forks is not None and min(n_workers, len(batches)) > 1 else ()
    works = [here, *(in_fork(fork) for fork in running)] if running else [here] * n_workers
    found: dict[int, list[Hypothesis]] = {}
    for places, hypotheses in zip(batches, side_by_side(works, batches), strict=True):
        found.update(zip(places, hypotheses, strict=True))
    return [found[place] for place in range(len(sources))]


def search_forks(decoder: StepDecoder[Any], special: SpecialIds, n_workers: int) -> Forks:
    """Processes for ``search_many`` with this decoder, which is on the CPU: one less than workers."""

    def answer(question: Json) -> Json:
        required = question["required"]
        found = search(
            decoder,
            Batch.from_ids(question["sources"], special=special),
            GenerationConfig.model_validate(question["options"]),
            special,
            required=None if required is None else Required(*(_tuple(part) for part in required)),
        )
        return [[_written(hypothesis) for hypothesis in hypotheses] for hypotheses in found]

    return Forks(answer, n_workers - 1)


def _question(sources: Sequence[Sequence[int]], required: Required | None, options: GenerationConfig) -> Json:
    """What a fork is asked."""
    return {
        "sources": sources,
        "options": options.model_dump(),
        "required": None if required is None else [required.placeholders, required.sentences],
    }


def _written(hypothesis: Hypothesis) -> Json:
    return [
        hypothesis.tokens,
        hypothesis.log_prob,
        hypothesis.score,
        hypothesis.finished,
        hypothesis.token_log_probs,
    ]


def _read(written: Json) -> Hypothesis:
    tokens, log_prob, score, finished, token_log_probs = written
    return Hypothesis(tuple(tokens), log_prob, score, finished, tuple(token_log_probs))


def _tuple(nested: Json) -> Any:  # noqa: ANN401
    """Lists as tuples, at any depth."""
    return tuple(_tuple(part) for part in nested) if isinstance(nested, list) else nested

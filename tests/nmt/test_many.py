"""Many sentences: cut for workers, equal to each sentence alone."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest
import torch

from nmt.batch import Batch
from nmt.config import GenerationConfig, SpecialIds, TransformerConfig
from nmt.engines.forks import Fork, Forks
from nmt.engines.packed import PackedTransformer
from nmt.errors import NumericalError
from nmt.many import search_forks, search_many
from nmt.models.build import build_model
from nmt.search import Required, search
from nmt.shares import StepCost, cut

CPU = torch.device("cpu")
SPECIAL = SpecialIds()
SOURCES = [[4 + (7 * place + index) % 50 for index in range(1 + place % 13)] for place in range(60)]


def packed(scale: float = 3.0) -> PackedTransformer:
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=64, d_model=16, d_ff=32, n_heads=2, n_encoder_layers=1, n_decoder_layers=2
    )
    model = build_model(config).eval().requires_grad_(False)
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.mul_(scale)
    return PackedTransformer(model, layers="float32", output="float32")


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_many_are_each_alone_with_what_they_require(beam_size, n_workers) -> None:
    decoder = packed()
    options = GenerationConfig(beam_size=beam_size, max_length_ratio=1.0, max_length_offset=5)
    required = Required((60, 61), tuple((60,) if place % 5 == 0 else () for place in range(len(SOURCES))))
    found = search_many(
        decoder,
        SOURCES,
        options,
        SPECIAL,
        device=CPU,
        required=required,
        max_batch_tokens=200,
        n_workers=n_workers,
    )
    assert len({hypotheses[0].tokens for hypotheses in found}) > 20
    for place, source in enumerate(SOURCES):
        batch = Batch.from_ids([source], special=SPECIAL)
        (alone,) = search(
            decoder, batch, options, SPECIAL, required=Required((60, 61), (required.sentences[place],))
        )
        assert found[place][0].tokens == alone[0].tokens
        assert found[place][0].log_prob == pytest.approx(alone[0].log_prob, abs=2e-4)


def test_shares_are_even_by_what_a_step_of_this_decoder_costs(monkeypatch) -> None:
    costs: list[StepCost] = []

    def noted(lengths, steps, max_batch_tokens, cost, n_workers):
        costs.append(cost)
        return cut(lengths, steps, max_batch_tokens, cost, n_workers)

    monkeypatch.setattr("nmt.many.cut", noted)
    options = GenerationConfig(beam_size=3, max_length_ratio=1.0, max_length_offset=5)
    told = {"few_rows": 8, "few_step_rows": 5, "gain_by_threads": 1.7}
    search_many(packed(), SOURCES[:4], options, SPECIAL, device=CPU, step_cost=StepCost(1, **told))
    search_many(packed(), SOURCES[:4], options, SPECIAL, device=CPU)
    assert costs == [StepCost(3, **told), StepCost(3)]


@pytest.fixture
def forks(monkeypatch) -> Iterator[Forks]:
    if sys.platform != "linux":
        pytest.skip("forks are made on Linux only")
    # Other tests may have left an idle thread in this process, which is no reason here.
    monkeypatch.setattr("nmt.engines.forks.can_fork", lambda: True)
    made = search_forks(packed(), SPECIAL, 3)
    yield made
    made.close()


@pytest.mark.parametrize("beam_size", [1, 3])
def test_forks_find_what_this_process_finds_alone(forks, beam_size) -> None:
    options = GenerationConfig(beam_size=beam_size, n_best=beam_size, max_length_ratio=1.0)
    required = Required((60, 61), tuple((60,) if place % 5 == 0 else () for place in range(len(SOURCES))))

    def found(**others):
        return search_many(
            packed(),
            SOURCES,
            options,
            SPECIAL,
            device=CPU,
            required=required,
            max_batch_tokens=100,
            **others,
        )

    mixed, here = found(n_workers=3, forks=forks), found(n_workers=3)
    assert mixed == here  # the batches are the same, and so is every number
    assert [[entry.token_log_probs for entry in entries] for entries in mixed] == [
        [entry.token_log_probs for entry in entries] for entries in here
    ]


def test_forks_take_part_and_what_one_leaves_is_done_here(forks, monkeypatch) -> None:
    answered = []
    ask = Fork.ask

    def noted(fork, job):
        answered.append(ask(fork, job))
        return answered[-1]

    monkeypatch.setattr(Fork, "ask", noted)
    options = GenerationConfig(beam_size=2, max_length_ratio=1.0, max_length_offset=5)

    def found(**others):
        return search_many(packed(), SOURCES, options, SPECIAL, device=CPU, max_batch_tokens=40, **others)

    expected = found(n_workers=3)
    assert found(n_workers=3, forks=forks) == expected
    assert len([answer for answer in answered if answer is not None]) > 1
    for fork in forks.running():
        os.kill(fork.pid, signal.SIGKILL)
    answered.clear()
    assert found(n_workers=3, forks=forks) == expected
    assert answered == [None] * len(answered)


def test_a_failure_in_a_fork_is_that_of_its_batch_here() -> None:
    decoder = packed(scale=float("nan"))
    broken = search_forks(decoder, SPECIAL, 2)
    try:
        with pytest.raises(NumericalError, match="at step 0"):
            search_many(decoder, SOURCES, GenerationConfig(), SPECIAL, device=CPU, n_workers=2, forks=broken)
    finally:
        broken.close()


def test_a_failure_in_a_worker_is_the_callers() -> None:
    decoder = packed(scale=float("nan"))
    with pytest.raises(NumericalError, match="at step 0"):
        search_many(
            decoder,
            SOURCES,
            GenerationConfig(),
            SPECIAL,
            device=CPU,
            max_batch_tokens=200,
            n_workers=2,
        )

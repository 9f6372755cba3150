"""Sampling: the support of each filter, frequencies, and independence of the batch."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from nmt.config import GenerationConfig, SamplingConfig
from nmt.search import greedy_search, sample
from nmt.search.sampling import filtered_probabilities, invert, uniform_numbers
from tests.doubles import SPECIAL, hash_decoder, table_decoder
from tests.nmt.search.oracle import SOURCES, batch_of, log_prob_of

PROBABILITIES = [0.0, 0.05, 0.0, 0.2, 0.4, 0.25, 0.1]


def log_probs(*rows: list[float]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64).log().float()


def support(config: SamplingConfig, probabilities: list[float] = PROBABILITIES) -> set[int]:
    (kept,) = filtered_probabilities(log_probs(probabilities), config)
    assert kept.sum().item() == pytest.approx(sum(kept.tolist()))
    return {token for token, probability in enumerate(kept.tolist()) if probability > 0}


def options_for(n_samples: int = 1, **sampling: float) -> GenerationConfig:
    return GenerationConfig(
        beam_size=max(n_samples, 1),
        n_best=n_samples,
        sampling=SamplingConfig(**sampling),  # type: ignore[arg-type]
    )


def test_top_k_keeps_exactly_the_k_most_probable() -> None:
    assert support(SamplingConfig()) == {1, 3, 4, 5, 6}
    assert support(SamplingConfig(top_k=1)) == {4}
    assert support(SamplingConfig(top_k=3)) == {3, 4, 5}
    assert support(SamplingConfig(top_k=100)) == {1, 3, 4, 5, 6}


def test_top_k_keeps_k_of_equals() -> None:
    assert len(support(SamplingConfig(top_k=2), [0.25, 0.25, 0.25, 0.25])) == 2


def test_top_p_keeps_the_smallest_set_that_reaches_p() -> None:
    assert support(SamplingConfig(top_p=0.01)) == {4}
    assert support(SamplingConfig(top_p=0.4)) == {4}
    assert support(SamplingConfig(top_p=0.41)) == {4, 5}
    assert support(SamplingConfig(top_p=0.65)) == {4, 5}
    assert support(SamplingConfig(top_p=0.86)) == {3, 4, 5, 6}
    assert support(SamplingConfig(top_p=1.0)) == {1, 3, 4, 5, 6}


def test_filters_apply_in_order_temperature_then_k_then_p() -> None:
    # Of the 3 kept by top-k, renormalised, 0.4 + 0.25 of 0.85 is 0.76.
    assert support(SamplingConfig(top_k=3, top_p=0.75)) == {4, 5}
    assert support(SamplingConfig(top_p=0.75)) == {3, 4, 5}
    # At temperature 0.5 the probabilities are squared: 0.16 of 0.275 is 0.58.
    assert support(SamplingConfig(temperature=0.5, top_p=0.55)) == {4}
    assert support(SamplingConfig(top_p=0.55)) == {4, 5}


def test_temperature_is_a_power_of_the_probabilities() -> None:
    (cold,) = filtered_probabilities(log_probs([0.0, 0.25, 0.75]), SamplingConfig(temperature=0.5))
    assert cold.tolist() == pytest.approx([0.0, 0.1, 0.9], abs=1e-6)


def test_inversion_never_yields_an_impossible_token() -> None:
    rows = torch.tensor([[0.0, 0.5, 0.0, 0.5, 0.0]] * 5, dtype=torch.float64)
    uniforms = torch.tensor([0.0, 0.4999, 0.5, 0.9999, 1 - 2**-53], dtype=torch.float64)
    assert invert(rows, uniforms).tolist() == [1, 1, 3, 3, 3]
    impossible = torch.full((1, 5), math.nan, dtype=torch.float64)
    assert invert(impossible, torch.tensor([0.5], dtype=torch.float64)).tolist() == [0]


def test_temperature_towards_zero_is_greedy_search() -> None:
    for seed in range(10):
        decoder = hash_decoder(15, seed=seed, eos_bias=1.0)
        options = options_for(temperature=1e-4, seed=seed)
        found = sample(decoder, batch_of(*SOURCES), options, SPECIAL)
        assert found == greedy_search(decoder, batch_of(*SOURCES), options, SPECIAL)


def test_frequencies_are_those_of_the_model() -> None:
    decoder = table_decoder(7, {(): {4: 0.5, 5: 0.3, 6: 0.2}, (4,): {3: 0.25, 5: 0.75}})
    expected = {(4,): 0.125, (4, 5): 0.375, (5,): 0.3, (6,): 0.2}
    n_seeds, n_samples = 60, 64
    counts = Counter(
        entry.tokens
        for seed in range(n_seeds)
        for entry in sample(decoder, batch_of((4,)), options_for(n_samples, seed=seed), SPECIAL)[0]
    )
    total = n_seeds * n_samples
    assert counts.keys() == expected.keys()
    chi_squared = sum((counts[key] - total * p) ** 2 / (total * p) for key, p in expected.items())
    assert chi_squared < 16.3  # p = 0.001 at 3 degrees of freedom


def test_a_filtered_model_is_sampled_in_its_new_proportions() -> None:
    decoder = table_decoder(8, {(): {4: 0.4, 5: 0.3, 6: 0.2, 7: 0.1}})
    counts = Counter(
        entry.tokens[0]
        for seed in range(40)
        for entry in sample(decoder, batch_of((4,)), options_for(64, seed=seed, top_k=2), SPECIAL)[0]
    )
    total = 40 * 64
    assert counts.keys() == {4, 5}
    assert abs(counts[4] / total - 4 / 7) < 4 * math.sqrt(4 / 7 * 3 / 7 / total)


def test_a_sentence_s_samples_depend_neither_on_its_batch_nor_on_its_place() -> None:
    decoder = hash_decoder(20, eos_bias=1.0)
    options = options_for(3, seed=11, top_p=0.9)
    together = sample(decoder, batch_of(*SOURCES), options, SPECIAL)
    backwards = sample(decoder, batch_of(*reversed(SOURCES)), options, SPECIAL)
    assert together == backwards[::-1]
    for source, found in zip(SOURCES, together, strict=True):
        assert sample(decoder, batch_of(source), options, SPECIAL)[0] == found


def test_different_sentences_draw_different_numbers_and_equal_ones_the_same() -> None:
    # Were it one stream for all, the samples of similar sentences would go together.
    numbers = uniform_numbers(batch_of((4, 5), (4, 6), (4, 5), (4, 5, 6)), seed=1, n_samples=2, n_steps=3)
    assert numbers.shape == (4, 2, 3)
    assert torch.equal(numbers[0], numbers[2])
    assert numbers[[0, 1, 3]].unique().numel() == 3 * 2 * 3


def test_asking_for_more_samples_keeps_the_first_ones() -> None:
    decoder = hash_decoder(20, eos_bias=1.0)
    for few, many in zip(
        sample(decoder, batch_of(*SOURCES), options_for(2, seed=5), SPECIAL),
        sample(decoder, batch_of(*SOURCES), options_for(6, seed=5), SPECIAL),
        strict=True,
    ):
        assert len(many) == 6
        assert not Counter(few) - Counter(many)


def test_seeds_and_samples_differ_and_a_seed_repeats() -> None:
    decoder = hash_decoder(20, sharpness=0.5, eos_bias=-9.0)
    drawn = [sample(decoder, batch_of(*SOURCES), options_for(4, seed=seed), SPECIAL) for seed in (1, 2, 1)]
    assert drawn[0] == drawn[2]
    for first, second in zip(drawn[0], drawn[1], strict=True):
        assert len({entry.tokens for entry in first + second}) == 8


def test_sampling_leaves_torch_s_global_generator_alone() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    sample(hash_decoder(), batch_of((4, 5)), options_for(2), SPECIAL)
    assert torch.equal(torch.rand(3), expected)


def test_log_prob_is_the_model_s_whatever_the_temperature() -> None:
    decoder = hash_decoder(15, eos_bias=1.0)
    found = sample(decoder, batch_of(*SOURCES), options_for(4, temperature=0.7, top_k=5), SPECIAL)
    for source, samples in zip(SOURCES, found, strict=True):
        scores = [(entry.finished, entry.score) for entry in samples]
        assert scores == sorted(scores, reverse=True)
        for entry in samples:
            log_prob = log_prob_of(decoder, source, entry.tokens, finished=entry.finished)
            assert entry.log_prob == pytest.approx(log_prob, abs=1e-4)

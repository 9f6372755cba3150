"""Scores worked by hand, and the bound that early stopping stands on."""

from __future__ import annotations

import math
import random

import pytest
import torch

from nmt.config import GenerationConfig
from nmt.errors import ConfigError
from nmt.scoring import LEAST_COVERAGE, Scoring
from nmt.search import beam_search, greedy_search
from tests.doubles import SPECIAL, table_decoder
from tests.nmt.search.oracle import batch_of


def test_gnmt_length_penalty_has_the_values_of_the_paper_s_formula() -> None:
    assert Scoring("gnmt", 1.0, 0.0).length_penalty(7) == pytest.approx(2.0)  # (5 + 7) / 6
    assert Scoring("gnmt", 0.5, 0.0).length_penalty(19) == pytest.approx(2.0)  # sqrt(24 / 6)
    assert Scoring("gnmt", 0.6, 0.0).length_penalty(1) == 1.0
    assert Scoring("gnmt", 0.0, 0.0).length_penalty(50) == 1.0
    assert Scoring("gnmt", 1.0, 0.0).score(-3.0, 7) == pytest.approx(-1.5)


def test_mean_and_no_normalisation() -> None:
    assert Scoring("mean", 0.6, 0.0).score(-3.0, 4) == -0.75
    assert Scoring("none", 0.6, 0.0).score(-3.0, 4) == -3.0


def test_coverage_penalty_worked_by_hand() -> None:
    # Two steps over three source positions; the last is attended to beyond 1, which counts as 1.
    coverage_NS = torch.tensor([[0.25, 0.125, 0.0], [0.25, 0.125, 1.0]]).sum(dim=0, keepdim=True)
    expected = 0.5 * (math.log(0.5) + math.log(0.25) + 0.0)
    penalties_N = Scoring("none", 0.0, 0.5).coverage_penalties(coverage_NS, like_N=torch.zeros(1))
    assert penalties_N.tolist() == pytest.approx([expected])


def test_padding_needs_no_coverage_and_the_source_s_eos_does() -> None:
    scoring = Scoring("none", 0.0, 1.0)
    coverage_NS = scoring.initial_coverage(batch_of((5, 6, 7), (8,)), 2)
    assert coverage_NS is not None
    assert coverage_NS.tolist() == [[0, 0, 0, 0]] * 2 + [[0, 0, 1, 1]] * 2


def test_a_source_position_never_attended_to_costs_a_finite_amount() -> None:
    penalties_N = Scoring("none", 0.0, 1.0).coverage_penalties(torch.tensor([[0.0, 1.0]]), torch.zeros(1))
    assert penalties_N.tolist() == pytest.approx([math.log(LEAST_COVERAGE)])


def test_search_reports_scores_that_can_be_worked_by_hand() -> None:
    decoder = table_decoder(
        6,
        {(): {4: 0.5, 5: 0.5 - 1e-6}, (4,): {3: 0.25, 5: 0.75}, (4, 5): {3: 1.0}},
        attention={(): (0.5, 0.5), (4,): (0.25, 0.75), (4, 5): (0.0, 1.0), (5,): (0.5, 0.5)},
    )
    options = GenerationConfig(beam_size=1, length_penalty=1.0, coverage_penalty=2.0)
    for searched in (beam_search, greedy_search):
        ((best,),) = searched(decoder, batch_of((4,)), options, SPECIAL)
        assert best.tokens == (4, 5)
        assert best.log_prob == pytest.approx(math.log(0.375))
        assert best.score == pytest.approx(math.log(0.375) / (8 / 6) + 2 * math.log(0.75))


def test_coverage_penalty_prefers_the_translation_that_reads_everything() -> None:
    decoder = table_decoder(
        6,
        {(): {4: 0.6, 5: 0.4}},
        attention={(): (0.4, 0.3, 0.3), (4,): (0.2, 0.0, 0.8), (5,): (0.6, 0.7, 0.7)},
    )
    for beta, best in ((0.0, (4,)), (1.0, (5,))):
        options = GenerationConfig(beam_size=2, coverage_penalty=beta)
        assert beam_search(decoder, batch_of((7, 7)), options, SPECIAL)[0][0].tokens == best


def test_no_continuation_scores_above_the_bound() -> None:
    generator = random.Random(1)
    for _ in range(2000):
        normalization = generator.choice(["gnmt", "mean", "none"])
        scoring = Scoring(normalization, generator.uniform(0, 5), 1.0)  # type: ignore[arg-type]
        n_tokens, max_length = generator.randint(1, 20), generator.randint(20, 40)
        log_prob = -generator.expovariate(0.5)
        bound = scoring.bound(log_prob, max_length)
        for length in range(n_tokens + 1, max_length + 1):
            later = log_prob - generator.choice([0.0, generator.expovariate(1.0)])
            assert scoring.score(later, length, -generator.choice([0.0, 0.3])) <= bound
        assert scoring.score(log_prob, max_length) == bound  # it is reached, so it cannot be lower


def test_coverage_without_attention_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match=r"coverage_penalty 0\.3 needs the decoder's attention"):
        Scoring("none", 0.0, 0.3).add_attention(torch.zeros(1, 2), None)

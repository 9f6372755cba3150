"""Minimum risk training: the risk by hand, and that it falls."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
import torch

from nmt.batch import Batch
from nmt.config import TransformerConfig
from nmt.models.build import Model, build_model
from nmt.tokenizer import Tokenizer
from testbed.corpora import PAIRS
from tests.training.tuned import SHORT, SMALL, beginning, same_weights
from training.candidates import Candidate, Sampler, candidate_log_probs, references
from training.minimum_risk import MinimumRisk, expected_risk
from training.objective import Objective
from training.train import train

TUNED = (*SHORT, "training.objective=minimum_risk", "adapts=true")


@pytest.mark.parametrize(("sharpness", "first"), [(1.0, 2 / 3), (0.5, math.sqrt(2) / (1 + math.sqrt(2)))])
def test_the_risk_is_the_mean_under_the_sharpened_distribution_of_the_sample(sharpness, first):
    """P of the sample 0.5 and 0.25, risks 0.2 and 0.8; a place without a candidate counts for nothing."""
    log_probs_BK = torch.tensor([[0.5, 0.25, 0.0], [1.0, 0.0, 0.0]]).log()
    risks_BK = torch.tensor([[0.2, 0.8, 9.0], [0.3, 9.0, 9.0]])
    found = expected_risk(log_probs_BK, risks_BK, sharpness)
    assert found.tolist() == pytest.approx([first * 0.2 + (1 - first) * 0.8, 0.3])


def test_a_step_makes_a_better_candidate_likelier_and_a_worse_one_less_likely():
    log_probs_BK = torch.tensor([[-3.0, -2.0, -4.0]], requires_grad=True)
    expected_risk(log_probs_BK, torch.tensor([[0.1, 0.5, 0.9]]), 1.0).sum().backward()
    better, _, worse = log_probs_BK.grad[0].tolist()
    assert better < 0 < worse
    assert float(log_probs_BK.grad.sum()) == pytest.approx(0.0, abs=1e-6)


LETTERS = 8


def letters(tokenizer: Tokenizer) -> Batch:
    """Sequences of three to five letters, to be copied."""
    first, generator = tokenizer.pieces.index("<0x41>"), random.Random(1)
    rows = [[first + generator.randrange(LETTERS) for _ in range(generator.randint(3, 5))] for _ in range(40)]
    return Batch.from_ids(rows, rows, special=tokenizer.special)


def learn(model: Model, objective: Objective, batch: Batch, updates: int, rate: float) -> None:
    optimizer = torch.optim.Adam(model.parameters(), rate, betas=(0.9, 0.98))
    for _ in range(updates):
        loss = objective(model, batch)
        (loss.smoothed / loss.n_tokens).backward()
        optimizer.step()
        optimizer.zero_grad()


@pytest.mark.exhaustive
def test_on_a_copy_task_the_risk_of_what_is_sampled_falls(tokenizer):
    batch = letters(tokenizer)
    torch.manual_seed(1)
    vocab_size = tokenizer.pieces.index("<0x41>") + LETTERS
    model = build_model(
        TransformerConfig(vocab_size=vocab_size, **{**SMALL, "d_model": 32, "d_ff": 64})
    ).train()
    one = Sampler(tokenizer, 1)

    def risk_of_samples() -> float:
        torch.manual_seed(99)
        drawn = [found[0] for _ in range(6) for found in one(model, batch)]
        return sum(1 - candidate.score for candidate in drawn) / len(drawn)

    learn(model, Objective(), batch, 45, 0.005)
    before = risk_of_samples()
    learn(model, Objective(tuning=MinimumRisk(Sampler(tokenizer, 8), sharpness=0.02)), batch, 30, 0.001)
    assert 0.2 < before < 0.6, "neither learnt nor hopeless"
    assert risk_of_samples() < 0.85 * before


def test_the_references_are_in_the_sample_and_their_likelihood_is_told(tokenizer):
    torch.manual_seed(1)
    model = build_model(TransformerConfig(vocab_size=tokenizer.vocab_size, **SMALL)).train()
    sides = [[tokenizer.encode(pair[side]) for pair in PAIRS[:3]] for side in (0, 1)]
    batch = Batch.from_ids(*sides, special=tokenizer.special)
    words = Objective()(model, batch)
    loss = MinimumRisk(Sampler(tokenizer, 3))(model, batch)
    assert float(loss.nll) == pytest.approx(float(words.nll), rel=1e-5)
    assert float(loss.n_tokens) == float(words.n_tokens)
    assert 0 < (loss.smoothed / loss.n_tokens).item() < 1


class Given(Sampler):
    """Candidates that the test chose: the first is the reference where it is one of them."""

    def __call__(self, model, batch, *, with_references=False):
        (true,) = references(batch)
        return [[*([Candidate(true, 1.0)] if with_references else []), *DRAWN]]


DRAWN = [Candidate((20, 21, 22), 0.9), Candidate((23, 24), 0.1)]


@pytest.mark.parametrize("with_references", [True, False])
@pytest.mark.parametrize("likelihood", [0.0, 0.01])
def test_the_reference_counts_as_a_candidate_or_by_its_likelihood_as_asked(
    tokenizer, with_references: bool, likelihood: float
):
    torch.manual_seed(1)
    model = build_model(TransformerConfig(vocab_size=tokenizer.vocab_size, **SMALL)).eval()
    batch = Batch.from_ids([[5, 6]], [[7, 8, 9]], special=tokenizer.special)
    every = [(7, 8, 9), *(candidate.tokens for candidate in DRAWN)]
    log_probs_1K = candidate_log_probs(model, batch, [every], tokenizer)
    risks_1K = torch.tensor([[0.0, 0.1, 0.9]])
    first = 0 if with_references else 1
    risk = expected_risk(log_probs_1K[:, first:], risks_1K[:, first:], 0.5).item()
    nll = -log_probs_1K[0, 0].item()
    objective = MinimumRisk(Given(tokenizer, 2), 0.5, with_references, likelihood)
    loss = objective(model, batch)
    assert float(loss.nll) == pytest.approx(nll)
    assert (loss.smoothed / loss.n_tokens).item() == pytest.approx(risk + likelihood * nll / 4)


def test_a_run_is_the_same_again_and_goes_on_to_the_same_weights(recipe_file: Path, tmp_path: Path):
    begun = beginning(recipe_file, tmp_path)
    runs = [tmp_path / name for name in ("one", "again", "in_two")]
    for run in runs[:2]:
        train(str(recipe_file), run, overrides=TUNED, init_from=str(begun))
    train(str(recipe_file), runs[2], overrides=[*TUNED, "training.max_updates=2"], init_from=str(begun))
    train(str(recipe_file), runs[2], resume=True, overrides=["training.max_updates=4"])
    assert same_weights(runs[0], runs[1])
    assert same_weights(runs[0], runs[2])
    other = tmp_path / "other"
    train(str(recipe_file), other, overrides=[*TUNED, "training.seed=2"], init_from=str(begun))
    assert not same_weights(runs[0], other)

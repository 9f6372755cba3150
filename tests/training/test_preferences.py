"""Direct preference optimisation: the loss by hand, where a step leads, and a run."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from nmt.batch import Batch
from nmt.config import TransformerConfig
from nmt.errors import ConfigError, RunFolderError
from nmt.models.build import Model, build_model
from nmt.tokenizer import Tokenizer
from testbed.corpora import PAIRS
from tests.training.tuned import SHORT, SMALL, beginning, last_weights, same_weights
from training.bench import bench_training
from training.candidates import Candidate, Sampler, candidate_log_probs, sources
from training.preferences import Preferences, dpo_loss, frozen
from training.recipe import load_recipe
from training.train import train

TUNED = (*SHORT, "training.objective=dpo", "adapts=true")


def test_the_loss_is_that_of_the_paper():
    """The better has gained 1 over the reference, the worse has lost 1: -log sigmoid(0.1 * 2)."""
    found = dpo_loss(torch.tensor([-10.0 + 11.0, 0.0]), torch.tensor([-9.0 + 8.0, 0.0]), beta=0.1)
    assert found.tolist() == pytest.approx([math.log(1 + math.exp(-0.2)), math.log(2)])


class Given(Sampler):
    """Candidates that the test chose."""

    def __call__(self, model, batch, *, with_references=False):
        good, bad = ((20, 21, 22), (23, 24))
        return [[Candidate(good, 0.9), Candidate((25,), 0.5), Candidate(bad, 0.1)], [Candidate((30,), 0.4)]]


@pytest.mark.parametrize("bf16", [False, True])
def test_a_step_makes_the_better_likelier_the_worse_less_likely_and_leaves_the_reference(
    tokenizer: Tokenizer, bf16: bool
):
    torch.manual_seed(1)
    model = build_model(TransformerConfig(vocab_size=tokenizer.vocab_size, **SMALL)).train()
    reference = frozen(model)
    sides = [[tokenizer.encode(pair[side]) for pair in PAIRS[:2]] for side in (0, 1)]
    batch = Batch.from_ids(*sides, special=tokenizer.special)
    first = sources(batch, [0])

    def log_probs(of: Model) -> list[float]:
        return candidate_log_probs(of, first, [[(20, 21, 22), (23, 24)]], tokenizer)[0].tolist()

    better, worse = log_probs(model)
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        loss = Preferences(Given(tokenizer, 2), reference)(model, batch)
    assert (loss.smoothed / loss.n_tokens).item() == pytest.approx(math.log(2), abs=0.01), (
        "of one pair, not two"
    )
    loss.smoothed.backward()
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in model.parameters())
    torch.optim.SGD(model.parameters(), 1e-3).step()
    now_better, now_worse = log_probs(model)
    assert now_better > better
    assert now_worse < worse
    assert log_probs(reference) == pytest.approx([better, worse])


def test_where_no_sample_is_better_than_another_nothing_is_learnt(tokenizer, monkeypatch):
    model = build_model(TransformerConfig(vocab_size=tokenizer.vocab_size, **SMALL)).train()
    batch = Batch.from_ids([[5]], [[6]], special=tokenizer.special)
    monkeypatch.setattr(Given, "__call__", lambda *_, **__: [[Candidate((30,), 0.4), Candidate((31,), 0.4)]])
    loss = Preferences(Given(tokenizer, 2), frozen(model))(model, batch)
    loss.smoothed.backward()
    assert loss.smoothed.item() == 0
    assert not any(weight.grad.abs().sum() for weight in model.parameters())


def test_a_run_is_the_same_again_and_goes_on_from_the_model_it_began_with(recipe_file: Path, tmp_path: Path):
    begun = beginning(recipe_file, tmp_path)
    runs = [tmp_path / name for name in ("one", "again", "in_two")]
    for run in runs[:2]:
        train(str(recipe_file), run, overrides=TUNED, init_from=str(begun))
    train(str(recipe_file), runs[2], overrides=[*TUNED, "training.max_updates=2"], init_from=str(begun))
    train(str(recipe_file), runs[2], resume=True, overrides=["training.max_updates=4"])
    first = load_file(begun / "model.safetensors")
    kept = load_file(runs[2] / "reference.safetensors")
    assert all(torch.equal(kept[name], first[name]) for name in first)
    assert same_weights(runs[0], runs[1])
    assert same_weights(runs[0], runs[2])
    assert any((weight - first[name]).abs().max() > 1e-4 for name, weight in last_weights(runs[0]).items())
    (runs[2] / "reference.safetensors").unlink()
    with pytest.raises(RunFolderError, match=r"reference.safetensors: the model that the run began with"):
        train(str(recipe_file), runs[2], resume=True, overrides=["training.max_updates=6"])


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["adapts=false"], "dpo tunes a translator: set adapts to true"),
        (["training.r_drop=5"], "tuning has no training.r_drop"),
        (["training.sharded=true"], "samples in one process: set training.sharded to false"),
        (
            ['model={architecture = "rnn", attention = "hard"}'],
            "dpo needs soft attention, this is hard",
        ),
        (["training.tuning.samples=1"], "training.tuning.samples = 1"),
    ],
)
def test_what_tuning_cannot_be_is_told(recipe_file: Path, overrides: list[str], message: str):
    with pytest.raises(ConfigError, match=message):
        load_recipe(str(recipe_file), [*TUNED, *overrides])


def test_a_recipe_that_tunes_is_not_timed():
    with pytest.raises(ConfigError, match="time the recipe that it extends"):
        bench_training("multi30k_dpo", None, 2, [])


@pytest.mark.parametrize("name", ["multi30k_dpo", "multi30k_minimum_risk"])
def test_the_recipes_that_tune_share_the_corpus_of_what_they_tune(name: str):
    assert load_recipe(name).corpus_hash() == load_recipe("multi30k_transformer").corpus_hash()

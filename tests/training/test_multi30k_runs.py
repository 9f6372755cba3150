"""``python -m scripts.multi30k`` does not train again what its record has."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest

from scripts.multi30k import CHANGES, Run, planned, recipe_digest, recorded


def found(tmp_path: Path, runs: list[Run], overrides: list[str], plan: list[Run]) -> set[Run]:
    """What of ``plan`` a record has that was made of ``runs`` with ``overrides``."""
    record = tmp_path / "record.json"
    recipes = [run.recipe(overrides) for run in runs]
    entries = [
        {"recipe_sha256": recipe_digest(recipe), "search": recipe.generation.model_dump()}
        for recipe in recipes
    ]
    record.write_text(json.dumps({"runs": entries}), encoding="utf-8")
    return set(recorded(Namespace(json=record, overrides=["data.dir=/elsewhere"]), plan))


def test_a_run_of_the_same_recipe_is_taken_from_the_record_wherever_its_corpus_lay(tmp_path: Path) -> None:
    first, second = Run(1), Run(2)
    assert found(tmp_path, [first], ["data.dir=/here"], [first, second]) == {first}


def test_a_run_of_another_recipe_is_trained_again(tmp_path: Path) -> None:
    assert found(tmp_path, [Run(1)], ["training.learning_rate=0.001"], [Run(1)]) == set()


def test_a_run_that_was_searched_otherwise_is_scored_again_but_not_trained(tmp_path: Path) -> None:
    other = ["generation.length_penalty=0.3"]
    assert found(tmp_path, [Run(1)], other, [Run(1)]) == set()
    assert recipe_digest(Run(1).recipe([])) == recipe_digest(Run(1).recipe(other))


@pytest.mark.parametrize(
    "changes",
    [
        ["generation.max_length_ratio=1.5"],
        ["training.validation_beam_size=5"],
        ["training.validation_beam_size=5", "generation.length_penalty=0.3"],
    ],
)
def test_what_checkpoints_are_compared_by_is_part_of_the_training(changes: list[str]) -> None:
    digests = {recipe_digest(Run(1).recipe(changes[:n])) for n in range(len(changes) + 1)}
    assert len(digests) == len(changes) + 1


def test_without_a_record_all_is_trained(tmp_path: Path) -> None:
    assert recorded(Namespace(json=tmp_path / "none.json", overrides=[]), [Run(1)]) == {}


def test_each_run_of_the_plan_has_a_recipe_and_a_folder_of_its_own() -> None:
    plan = planned(3, None)
    assert len(plan) == 3 + 1 + len(CHANGES)
    assert len({recipe_digest(run.recipe([])) for run in plan}) == len(plan)
    assert len({run.folder for run in plan}) == len(plan)


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_run_reads_as_many_tokens_as_the_short_one_or_half(change: str) -> None:
    short, changed = (
        Run(1, short=True).recipe([]).training,
        Run(1, short=True, change=change).recipe([]).training,
    )
    share = changed.max_updates * changed.batch_tokens / (short.max_updates * short.batch_tokens)
    assert share == (0.5 if "half the updates" in change else 1.0)

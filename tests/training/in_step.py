"""What each of two processes does for ``test_distributed``.

    torchrun --standalone --nproc-per-node 2 -m tests.training.in_step RECIPE OUT

Every case is trained for a few updates by both processes in step. The first of them leaves the weights in
OUT/CASE.safetensors and the log in OUT/CASE/log.jsonl.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from safetensors.torch import save_file

from tests.training.cases import CASES, COMMON
from training.data.shards import PreparedCorpus
from training.distributed import World, open_world
from training.recipe import load_recipe
from training.run_folder import RunFolder, open_run
from training.sharding import whole_weights
from training.trainer import Trainer


def main() -> None:
    recipe_file, out = sys.argv[1], Path(sys.argv[2])
    with open_world() as world:
        for name, overrides in CASES.items():
            run_case(recipe_file, out, name, overrides, world)


def run_case(recipe_file: str, out: Path, name: str, overrides: tuple[str, ...], world: World) -> None:
    recipe = load_recipe(recipe_file, [*COMMON, *overrides])
    world = dataclasses.replace(world, sharded=recipe.training.sharded)
    if not world.is_first:
        world.wait_for_all()
        train(recipe, RunFolder(out / name, silent=True), out, name, world)
        return
    with open_run(out / name, recipe, resume=False) as folder:
        world.wait_for_all()
        train(recipe, folder, out, name, world)


def train(recipe, folder: RunFolder, out: Path, name: str, world: World) -> None:
    corpus = PreparedCorpus.open(out / "data", recipe)
    trainer = Trainer(recipe, corpus, folder, world)
    trainer.train()
    weights = whole_weights(trainer.model)
    resumed = Trainer(recipe, corpus, folder, world)
    resumed.resume()
    again = whole_weights(resumed.model)
    if world.is_first:
        save_file(weights, out / f"{name}.safetensors")
        save_file(again, out / f"{name}.resumed.safetensors")


if __name__ == "__main__":
    main()

"""What each part of a recipe's corpus contributes: small models, each trained with one part left out.

    python -m scripts.leave_one_out general --set data.dir=FOLDER --work WORK --updates 1500 --json FILE

All models are of one size, see the same number of updates, share one vocabulary (that of the whole mixture)
and one seed; only the pairs differ, undisturbed by noise. Each is measured on every development set by
itself: nats for each target token (lower is better), by teacher forcing. What a part contributes to a set
is the loss without it minus the loss with all. Finished models are kept in WORK, so that a run that was
interrupted goes on; what FILE has of the same recipe is not trained again, so that it goes on elsewhere too.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmt.batch import Batch
from nmt.model_folder.checkpoint import load_model_folder
from nmt.model_folder.files import sha256
from nmt.models.build import Model
from nmt.tokenizer import Tokenizer
from scripts.runs import trained, trained_by
from training.data.corpus import open_corpora
from training.data.prepare import prepare_corpus
from training.data.shards import PreparedCorpus
from training.provenance import provenance
from training.recipe import Recipe, Source, load_recipe
from training.validation import mean_nll

SMALL = (
    "model.d_model=192",
    "model.d_ff=768",
    "model.n_heads=3",
    "model.n_encoder_layers=3",
    "model.n_decoder_layers=1",
    "training.warmup_updates=400",
    "training.learning_rate=0.002",
    "training.cooldown=0.3",
    "training.schedule=constant",
)
NOTHING = "nothing"


def main() -> None:
    """Train the models that are not there yet, measure all, write the JSON and print a Markdown table."""
    arguments = _arguments()
    few = [f"training.{key}={arguments.updates}" for key in ("max_updates", "validate_every", "save_every")]
    whole = load_recipe(arguments.recipe, [*SMALL, *few, *arguments.overrides])
    dev_sets = {source.name: source for source in (*whole.data.dev, *whole.data.tests) if _is_dev(source)}
    tokenizer_file = vocabulary(whole, arguments.work)
    made_by = {"recipe": json.loads(trained_by(whole)), "tokenizer_sha256": sha256(tokenizer_file)}
    losses = measured(arguments.json, made_by)
    for left_out in (NOTHING, *(source.name for source in whole.data.train)):
        if left_out in losses:
            continue
        recipe = _without(whole, left_out)
        tokenizer = None if left_out == NOTHING else tokenizer_file
        loaded = load_model_folder(trained(recipe, arguments.work / left_out, tokenizer))
        losses[left_out] = {
            name: _loss(loaded.model, loaded.tokenizer, _pairs(source, whole))
            for name, source in dev_sets.items()
        }
        print(left_out, {name: round(loss, 3) for name, loss in losses[left_out].items()}, flush=True)
        record = {**made_by, "nats_per_token": losses, **provenance()}
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(_table(losses))


def vocabulary(whole: Recipe, work: Path) -> Path:
    """The sub-words of all models: those of the model that nothing is left out of."""
    prepared = prepare_corpus(_without(whole, NOTHING), work / NOTHING / "data")
    return PreparedCorpus.open(prepared, _without(whole, NOTHING)).tokenizer_file


def measured(record: Path, made_by: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Losses on each set without each part, so far.

    Args:
        record: the JSON that is written; there is perhaps none yet.
        made_by: what the losses depend on.

    Raises:
        SystemExit: the record is of other models.
    """
    if not record.exists():
        return {}
    known = json.loads(record.read_text(encoding="utf-8"))
    for key, value in made_by.items():
        if known[key] != value:
            raise SystemExit(f"{record}: of another {key}; name another --json, or remove it to begin anew")
    losses: dict[str, dict[str, float]] = known["nats_per_token"]
    return losses


def _is_dev(source: Source) -> bool:
    """Development sets alone: some stand among ``tests`` so that training is kept clear of them."""
    return "test" not in source.name or source.name == "newstest2013"


def _without(recipe: Recipe, left_out: str) -> Recipe:
    kept = tuple(source for source in recipe.data.train if source.name != left_out)
    data = recipe.data.model_copy(update={"train": kept, "noise": None})
    return recipe.model_copy(update={"data": data})


def _pairs(source: Source, recipe: Recipe) -> list[tuple[str, str]]:
    (corpus,) = open_corpora((source,), recipe.data)
    return [pair for pair in corpus.pairs() if pair[0].strip() and pair[1].strip()]


def _loss(model: Model, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> float:
    """Nats for each target token, EOS counted."""
    sources, targets = (tokenizer.encode_batch([pair[side] for pair in pairs]) for side in (0, 1))
    order = sorted(range(len(pairs)), key=lambda index: len(targets[index]))
    batches = (
        Batch.from_ids(
            [sources[row] for row in rows], [targets[row] for row in rows], special=tokenizer.special
        )
        for rows in (order[first : first + 64] for first in range(0, len(order), 64))
    )
    return mean_nll(model, batches).item()


def _table(losses: Mapping[str, Mapping[str, float]]) -> str:
    """Rows: the part left out. Cells: how much higher the loss is without it."""
    whole = losses[NOTHING]
    lines = [
        "| left out | " + " | ".join(whole) + " |",
        "|---|" + "--:|" * len(whole),
        "| nothing (nats/token) | " + " | ".join(f"{loss:.3f}" for loss in whole.values()) + " |",
    ]
    for left_out, row in losses.items():
        if left_out != NOTHING:
            lines.append(
                f"| {left_out} | " + " | ".join(f"{row[name] - whole[name]:+.3f}" for name in whole) + " |"
            )
    return "\n".join(lines)


def _arguments() -> Any:  # noqa: ANN401 - an argparse namespace
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe")
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--work", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--updates", type=int, default=1500)
    parser.add_argument("--json", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""Checkpoint averaging (Vaswani et al. 2017, section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

import nmt
from nmt.errors import RunFolderError
from nmt.model_folder.checkpoint import load_model_folder, save_model_folder, tokenizer_files
from training.sharding import set_weights
from training.state import STATE, TrainingState, checkpoints, load_weights


def average_weights(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of several checkpoints' weights (Vaswani et al. 2017, section 6.1), added up in float64."""
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, weight in load_weights(path).items():
            total[name] = total[name].add_(weight) if name in total else weight.double()
    return {name: (weight / len(paths)).float() for name, weight in total.items()}


def average_run(run: Path, last: int, out: Path) -> TrainingState:
    """Write the mean of a run's last checkpoints as a model folder, while the run goes on or afterwards.

    With a constant learning rate the mean does most of what a cool-down would (Hägele et al. 2024).

    Args:
        run: folder of a run that has published a model.
        last: checkpoints to average; fewer where the run has fewer.
        out: the model folder; one that is there is replaced.

    Returns:
        The state of the newest of the checkpoints.

    Raises:
        ModelFolderError: the run has published no model yet, or ``out`` cannot be written.
        RunFolderError: there is no checkpoint.
    """
    found = checkpoints(run / "checkpoints")[-last:]
    if not found:
        raise RunFolderError(f"{run}: no checkpoint to average; train first")
    loaded = load_model_folder(run / "model")
    set_weights(loaded.model, average_weights(found))
    state = TrainingState.model_validate_json((found[-1] / STATE).read_text(encoding="utf-8"))
    save_model_folder(
        out,
        config=loaded.config.model_copy(update={"library_version": nmt.__version__}),
        model=loaded.model,
        **tokenizer_files(loaded.folder),
        generation=loaded.generation,
        card=f"# {loaded.config.name}\n\nMean of {len(found)} checkpoints up to update {state.update}.\n",
        scores={},
    )
    return state

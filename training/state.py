"""Checkpoints of a run: everything that an interrupted run needs to go on as if nothing had happened.

    runs/<name>/checkpoints/update-00001500/
        weights.safetensors     the model's own names, float32
        optimizer.safetensors   moments: ``<weight>.exp_avg``, ``.exp_avg_sq``, or Muon's ``.momentum_buffer``
        state.json              where in the data, in the schedule and in the validation record
        MANIFEST.sha256

A checkpoint is written beside its place, flushed, then renamed: a crash at any moment leaves whole
checkpoints alone. Random draws need no saving: masks are seeded from (seed, update), segmentations from
(seed, epoch, batch).
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from nmt.config import StrictModel
from nmt.errors import DiskFullError, RunFolderError
from nmt.model_folder.files import flush, give_ordinary_mode, sha256
from training.disk import TOLD, is_full
from training.optimizer import moment_names
from training.sharding import like, set_weights, whole, whole_weights

WEIGHTS, OPTIMIZER, STATE, MANIFEST = (
    "weights.safetensors",
    "optimizer.safetensors",
    "state.json",
    "MANIFEST.sha256",
)


class TrainingState(StrictModel):
    """Where a run stands: plain numbers, ``state.json``."""

    update: int = 0
    epoch: int = 0
    next_batch: int = 0
    elapsed_s: float = 0.0
    target_tokens: int = 0
    """Real target tokens trained on so far."""
    best_bleu: float = -1.0
    """On the development set; in pre-training another score, see ``Validation.score``."""
    best_update: int = 0
    validations_without_gain: int = 0
    validation_due: bool = False
    """The run was told to stop before this update's validation was done."""


def save_checkpoint(
    folder: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    state: TrainingState,
    *,
    keep: int,
    writes: bool = True,
) -> Path:
    """Write ``folder/update-N`` and remove all but the newest ``keep``.

    Where weights are shared out, every process calls this, and one of them ``writes``.

    Raises:
        DiskFullError: there is no room; earlier checkpoints are untouched.
        RunFolderError: it cannot be written for another reason; the same holds.
    """
    place = folder / f"update-{state.update:08d}"
    aside = folder / f".{place.name}.new"
    weights, moments = whole_weights(model), _moments(model, optimizer)
    if not writes:
        return place
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        save_file(weights, aside / WEIGHTS)
        save_file(moments, aside / OPTIMIZER)
        for path in (aside / WEIGHTS, aside / OPTIMIZER):
            give_ordinary_mode(path)
        (aside / STATE).write_text(state.model_dump_json(indent=2) + "\n", encoding="utf-8")
        _seal(aside)
        _put_in_place(aside, place)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise cannot_save(place, error) from None
    for old in checkpoints(folder)[:-keep]:
        shutil.rmtree(old)
    return place


def cannot_save(path: Path, error: Exception) -> RunFolderError:
    """Message when ``path`` could not be written."""
    if is_full(error):
        return DiskFullError(f"{path}: {TOLD}; earlier checkpoints stand: make room, then --resume")
    return RunFolderError(f"{path}: cannot be saved: {error}; earlier checkpoints stand")


def checkpoints(folder: Path) -> list[Path]:
    """Complete checkpoints, oldest first."""
    return sorted(path for path in folder.glob("update-*") if re.fullmatch(r"update-\d{8}", path.name))


def newest_intact(folder: Path) -> tuple[Path | None, list[str]]:
    """The newest checkpoint whose files match its manifest, and what is wrong with each newer one."""
    problems: list[str] = []
    for path in reversed(checkpoints(folder)):
        problem = find_damage(path)
        if problem is None:
            return path, problems
        problems.append(problem)
    return None, problems


def find_damage(checkpoint: Path) -> str | None:
    """Damage of a checkpoint: a missing or altered file by name; None when it is intact."""
    try:
        lines = (checkpoint / MANIFEST).read_text(encoding="ascii").splitlines()
        listed = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except (OSError, ValueError) as error:
        return f"{checkpoint / MANIFEST}: {error}"
    for name in (WEIGHTS, OPTIMIZER, STATE):
        try:
            found = sha256(checkpoint / name)
        except OSError as error:
            return f"{checkpoint / name}: {error.strerror or error}"
        if found != listed.get(name):
            return f"{checkpoint / name}: SHA-256 differs from the manifest's"
    return None


def load_checkpoint(checkpoint: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> TrainingState:
    """Put weights and moments back in place and return where the run stood.

    Raises:
        RunFolderError: the checkpoint is of another architecture.
    """
    weights = load_weights(checkpoint)
    parameters = dict(model.named_parameters())
    unlike = [
        name
        for name in sorted({*weights, *parameters})
        if name not in weights or name not in parameters or weights[name].shape != parameters[name].shape
    ]
    if unlike:
        raise RunFolderError(
            f"{checkpoint}: of another architecture than the recipe (first difference: {unlike[0]}); "
            "resume with the recipe that the run began with, or choose another --run folder"
        )
    moments = load_file(checkpoint / OPTIMIZER)
    remembered = {name: moment_names(optimizer, parameter) for name, parameter in parameters.items()}
    others = moments.keys() - {f"{name}.{moment}" for name, names in remembered.items() for moment in names}
    if others:
        raise RunFolderError(
            f"{checkpoint / OPTIMIZER}: of another optimizer than the recipe's (it has {min(others)}); "
            "resume with the training.optimizer that the run began with"
        )
    state = TrainingState.model_validate_json((checkpoint / STATE).read_text(encoding="utf-8"))
    set_weights(model, weights)
    for name, parameter in parameters.items():
        if f"{name}.{remembered[name][0]}" in moments:  # absent before the first update
            optimizer.state[parameter] = {
                "step": torch.tensor(float(state.update), device=parameter.device),
                **{key: like(moments[f"{name}.{key}"], parameter) for key in remembered[name]},
            }
    return state


def load_weights(checkpoint: Path) -> dict[str, Tensor]:
    """The weights of a checkpoint, by parameter name, on the CPU."""
    return load_file(checkpoint / WEIGHTS)


def save_reference(model: nn.Module, file: Path) -> None:
    """Keep the weights that a run began with, for one that goes on.

    Raises:
        DiskFullError, RunFolderError: as ``save_checkpoint``.
    """
    aside = file.with_name(f".{file.name}.new")
    try:
        save_file(whole_weights(model), aside)
        give_ordinary_mode(aside)
        flush(aside)
        aside.rename(file)
    except (OSError, SafetensorError) as error:
        aside.unlink(missing_ok=True)
        raise cannot_save(file, error) from None


def load_reference(file: Path) -> dict[str, Tensor]:
    """What ``save_reference`` wrote.

    Raises:
        RunFolderError: it is missing or damaged.
    """
    try:
        return load_file(file)
    except (OSError, SafetensorError) as error:
        raise RunFolderError(
            f"{file}: the model that the run began with cannot be read ({error}); begin anew in another --run"
        ) from None


def _moments(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    return {
        f"{name}.{moment}": whole(optimizer.state[parameter][moment]).cpu().contiguous()
        for name, parameter in model.named_parameters()
        if parameter in optimizer.state
        for moment in moment_names(optimizer, parameter)
    }


def _put_in_place(aside: Path, place: Path) -> None:
    """Rename; a damaged checkpoint of the same update goes out of the way first."""
    former = place.with_name(f".{place.name}.old")
    shutil.rmtree(former, ignore_errors=True)
    if place.exists():
        place.rename(former)
    aside.rename(place)
    flush(place.parent)
    shutil.rmtree(former, ignore_errors=True)


def _seal(folder: Path) -> None:
    """Flush each file to disk, then write and flush the manifest that makes the checkpoint complete."""
    lines = []
    for name in (WEIGHTS, OPTIMIZER, STATE):
        flush(folder / name)
        lines.append(f"{sha256(folder / name)}  {name}\n")
    (folder / MANIFEST).write_text("".join(lines), encoding="ascii")
    flush(folder / MANIFEST)
    flush(folder)

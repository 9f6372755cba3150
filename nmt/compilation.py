"""``nmt compile``: the steps of the engine that decodes a model, compiled ahead of time for this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from nmt.engines.ahead import compile_step, folder_of
from nmt.engines.alone import MOST_ROWS, compile_whole
from nmt.engines.alone import folder_of as folder_of_whole
from nmt.engines.choose import Choice, choose, step_shape, whole_shape
from nmt.errors import ConfigError
from nmt.models.build import Model, build_without_weights
from nmt.shipped import config_of, resolve_model

BEAM_SIZES = (1, 5)
"""Of greedy search, and by default."""


def compile_for(model: str | Path | None = None, beam_sizes: Sequence[int] = BEAM_SIZES) -> dict[str, Any]:
    """Compile what the engine for ``model`` takes on this machine's CPU, unless it is there.

    Args:
        model: a folder, or the name of one that ships; None: the default one.
        beam_sizes: of single sentences, each of which has a step of its own.

    Returns:
        "model", "engine", and "steps": of each "for", "folder", "seconds" and "was_there".

    Raises:
        ConfigError: the engine for this model on this CPU has nothing to compile, a beam is too wide, or the
            compiler fails.
        ModelFolderError: the model folder is missing or corrupt.
    """
    for beam_size in beam_sizes:
        if not 1 <= beam_size <= MOST_ROWS:
            raise ConfigError(
                f"nmt compile: beam size {beam_size}: a step of one sentence is compiled for beams of 1 to "
                f"{MOST_ROWS}; wider ones take the step of several sentences"
            )
    config = config_of(resolve_model(model))
    built = build_without_weights(config.model)
    choice = choose(built, torch.device("cpu"))
    steps = compile_steps(built, choice, beam_sizes)
    if not steps:
        raise ConfigError(
            f"nmt compile: {config.name} is decoded by {choice.name} here ({choice.why}), and either that "
            "has no step to compile, or the layers of the model differ in width; go without"
        )
    return {"model": config.name, "engine": choice.name, "steps": steps}


def compile_steps(
    model: Model, choice: Choice, beam_sizes: Sequence[int] = BEAM_SIZES
) -> list[dict[str, Any]]:
    """Compile what the engine ``choice`` of ``model`` can take; results and errors as ``compile_for``."""
    shape, whole = step_shape(model, choice), whole_shape(model, choice)
    steps: list[dict[str, Any]] = []
    if shape is not None:
        steps.append(_compiled("several sentences", folder_of(shape), partial(compile_step, shape)))
    if whole is not None:
        steps += [
            _compiled(
                f"one sentence, beam size {beam_size}",
                folder_of_whole(whole, beam_size),
                partial(compile_whole, whole, beam_size),
            )
            for beam_size in dict.fromkeys(beam_sizes)
        ]
    return steps


def _compiled(what: str, folder: Path, compile_into_it: Callable[[], object]) -> dict[str, Any]:
    was_there, started = folder.is_dir(), time.perf_counter()
    compile_into_it()
    seconds = round(time.perf_counter() - started, 1)
    return {"for": what, "folder": str(folder), "seconds": seconds, "was_there": was_there}

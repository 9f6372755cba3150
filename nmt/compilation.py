"""``nmt compile``: the step of the engine that decodes a model, compiled ahead of time for this machine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch

from nmt.engines.ahead import compile_step, is_compiled
from nmt.engines.choose import choose, step_shape
from nmt.errors import ConfigError
from nmt.models.build import build_without_weights
from nmt.shipped import config_of, resolve_model


def compile_for(model: str | Path | None = None) -> dict[str, Any]:
    """Compile what the int8 engine takes for ``model`` on this machine's CPU, unless it is there.

    Returns:
        "model", "folder" of what was compiled, "seconds", and "was_there".

    Raises:
        ConfigError: the engine for this model on this CPU has nothing to compile, or the compiler fails.
        ModelFolderError: the model folder is missing or corrupt.
    """
    config = config_of(resolve_model(model))
    built = build_without_weights(config.model)
    choice = choose(built, torch.device("cpu"))
    if choice.name != "int8":
        raise ConfigError(
            f"nmt compile: {config.name} is decoded by {choice.name} here ({choice.why}), and only int8 "
            "has a step to compile; go without"
        )
    shape = step_shape(built, choice)
    if shape is None:
        raise ConfigError(
            f"nmt compile: layers of {config.name} differ in width, and one step is compiled for all; "
            "go without"
        )
    was_there, started = is_compiled(shape), time.perf_counter()
    folder = compile_step(shape)
    return {
        "model": config.name,
        "folder": str(folder),
        "seconds": round(time.perf_counter() - started, 1),
        "was_there": was_there,
    }

"""``nmt compile``: the step of the engine that decodes a model, compiled ahead of time for this machine."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import torch

from nmt.checkpoint import CONFIG, resolve_model
from nmt.config import ModelFolderConfig, parse
from nmt.engines.ahead import compile_step, is_compiled
from nmt.engines.choose import choose, step_shape
from nmt.errors import ConfigError
from nmt.models.build import build_model


def compile_for(model: str | Path | None = None) -> dict[str, Any]:
    """Compile what the int8 engine takes for ``model`` on this machine's CPU, unless it is there.

    Returns:
        "model", "folder" of what was compiled, "seconds", and "was_there".

    Raises:
        ConfigError: the engine for this model on this CPU has nothing to compile, or the compiler fails.
        ModelFolderError: the model folder is missing or corrupt.
    """
    file = resolve_model(model) / CONFIG
    config = parse(ModelFolderConfig, json.loads(file.read_bytes()), where=str(file))
    with torch.device("meta"):
        built = build_model(config.model)
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

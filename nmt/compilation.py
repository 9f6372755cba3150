"""``nmt compile``: the steps of the engine that decodes a model, compiled ahead of time for this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from nmt.checkpoint import load_model_folder
from nmt.config import GenerationConfig
from nmt.engines.bound import compile_bound
from nmt.engines.bound_encoder import compile_encoder
from nmt.engines.choose import (
    Choice,
    bound_folder,
    choose,
    encoder_folder,
    encoder_shape,
    few_shape,
    ranking_folder,
    whole_shape,
)
from nmt.engines.few import MOST_ROWS, compile_whole, folder_of
from nmt.engines.ranking import compile_ranking
from nmt.errors import ConfigError
from nmt.extensions import Blocks
from nmt.models.build import Model
from nmt.models.transformer import Transformer
from nmt.shipped import resolve_model

ROWS = (1, GenerationConfig().beam_size, MOST_ROWS)
"""One sentence in greedy search, one with the default beam, and whatever else is few."""
ROWS_BESIDE_ANY = (1,)
"""Where there is a step of any number of rows, which for one is the slower (with matrix units)."""


def compile_for(
    model: str | Path | None = None, engine: str = "auto", *, rows: Sequence[int] | None = None
) -> dict[str, Any]:
    """Compile what an engine for ``model`` takes on this machine's CPU, unless it is there.

    Args:
        model: a folder, or the name of one that ships; None: the default one.
        engine: see ``nmt.engines.choose``.
        rows: numbers of rows that get a step of their own; fewer rows are filled up to the next. None: those
            that pay.

    Returns:
        "model", "engine", and "steps": of each "for", "folder", "seconds" and "was_there".

    Raises:
        ConfigError: there is no such engine, or it has nothing to compile for this model on this CPU, there
            are too many rows, or the compiler fails.
        ModelFolderError: the model folder is missing or corrupt.
    """
    for n_rows in rows or ():
        if not 1 <= n_rows <= MOST_ROWS:
            raise ConfigError(
                f"nmt compile: {n_rows} rows: steps of few rows are compiled for 1 to {MOST_ROWS}; more take "
                "the step that is compiled for any number"
            )
    device = torch.device("cpu")
    loaded = load_model_folder(resolve_model(model), device, with_aligner=False)
    name, choice = loaded.config.name, choose(loaded.model, device, engine)
    steps = compile_steps(loaded.model, choice, rows)
    if not steps:
        raise ConfigError(
            f"nmt compile: {name} is decoded by {choice.name} here ({choice.why}), and either that "
            "has no step to compile, or the layers of the model differ in width; go without"
        )
    return {"model": name, "engine": choice.name, "steps": steps}


def compile_steps(model: Model, choice: Choice, rows: Sequence[int] | None = None) -> list[dict[str, Any]]:
    """Compile what the engine ``choice`` of ``model`` can take; results and errors as ``compile_for``."""
    whole, bound = whole_shape(model, choice), bound_folder(model, choice)
    few = few_shape(model, choice)
    if rows and few is None and whole is not None:
        raise ConfigError(
            "nmt compile: on this CPU the step of any number of rows is the fastest for few too; give no rows"
        )
    steps: list[dict[str, Any]] = []
    if bound is not None:
        assert whole is not None
        assert isinstance(model, Transformer)
        steps.append(_compiled("any number of rows", bound, partial(compile_bound, whole, model)))
    if few is not None:
        if rows is None:
            rows = ROWS if bound is None else ROWS_BESIDE_ANY
        steps += [
            _compiled(
                f"{n_rows} row{'s' * (n_rows > 1)}",
                folder_of(few, n_rows),
                partial(compile_whole, few, n_rows),
            )
            for n_rows in dict.fromkeys(rows)
        ]
    encoder = encoder_folder(model, choice)
    if encoder is not None:
        assert isinstance(model, Transformer)
        shape_of_encoder = encoder_shape(model, choice)
        assert shape_of_encoder is not None
        steps.append(_compiled("the encoder", encoder, partial(compile_encoder, shape_of_encoder, model)))
    ranking = ranking_folder(model, choice)
    if ranking is not None:
        assert whole is not None
        steps.append(
            _compiled("the ranking of a beam", ranking, partial(compile_ranking, Blocks.of(whole.vocab_size)))
        )
    return steps


def _compiled(what: str, folder: Path, compile_into_it: Callable[[], object]) -> dict[str, Any]:
    was_there, started = folder.is_dir(), time.perf_counter()
    compile_into_it()
    seconds = round(time.perf_counter() - started, 1)
    return {"for": what, "folder": str(folder), "seconds": seconds, "was_there": was_there}

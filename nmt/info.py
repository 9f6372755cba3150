"""``nmt info``: what a model folder holds, file by file, and what this machine can run it on.

Weights are counted from the header of ``model.safetensors``; none is loaded.
"""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import safetensors
import torch

from nmt import __version__
from nmt.errors import ModelFolderError
from nmt.model_folder.checkpoint import SCORES, WEIGHTS, load_model_folder, resolve_model
from nmt.searchers.choose import choose
from nmt.translator import count_workers

SCALES = {"lowercase-tokenized": " (lower-cased, tokenised)"}
"""Remark on scores that are not of cased, detokenised text."""


def info(model: str | Path | None = None) -> dict[str, dict[str, Any]]:
    """Facts in sections "model", "architecture", "files" (bytes), "scores", "engine" and "machine".

    Without ``model`` the default one is shown, and where none ships, the machine alone.

    Raises:
        ModelFolderError: the model folder is missing or corrupt.
    """
    try:
        folder = resolve_model(model)
    except ModelFolderError as error:
        if model is not None:
            raise
        return {"model": {"default": str(error)}, "machine": _machine()}
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loaded = load_model_folder(folder, device, with_aligner=False)
    config, engine = loaded.config, choose(loaded, device)
    return {
        "model": {
            "name": config.name,
            "folder": str(folder),
            "languages": f"{config.source_language} to {config.target_language}",
            "parameters": count_parameters(folder),
            "max_source_tokens": config.max_source_tokens,
            "format_version": config.format_version,
            "library_version": config.library_version,
            "manifest": "verified",
        },
        "architecture": config.model.model_dump(),
        "files": {path.name: path.stat().st_size for path in sorted(folder.iterdir()) if path.is_file()},
        "scores": json.loads((folder / SCORES).read_bytes()),
        "engine": {
            "name": engine.name,
            "why": engine.why,
            "workers": count_workers(device) if engine.is_ctranslate2 else 1,
        },
        "machine": _machine(),
    }


def shown(facts: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The facts as lines to read, those of a section under its name; scores in short."""
    for section, rows in facts.items():
        yield section
        for name, value in rows.items():
            if name == "evaluations":
                yield from (_row(one["test_set"]["name"], _scores(one["scores"])) for one in value)
            elif name == "baseline":
                yield _row(name, f"{value['name']}, BLEU: {_baseline(value['test_sets'])}")
            elif isinstance(value, dict):
                yield _row(name, ", ".join(f"{key} {one}" for key, one in value.items()))
            else:
                yield _row(name, value)


def _row(name: str, value: object) -> str:
    return f"  {name:<26} {value}"


def _scores(scores: list[dict[str, Any]]) -> str:
    """Cased, detokenised where it is not said."""
    named = (f"{one['metric']} {one['score']:.1f}{SCALES.get(one['scale'], '')}" for one in scores)
    return ", ".join(named)


def _baseline(test_sets: list[dict[str, Any]]) -> str:
    """Cased, detokenised BLEU of what stands beside the model."""
    return ", ".join(
        f"{one['name']} {item['baseline_score']:.1f}"
        for one in test_sets
        for item in one["significance"]
        if (item["metric"], item["scale"]) == ("BLEU", "cased-detokenized")
    )


def count_parameters(folder: Path) -> int:
    """Number of weights in ``model.safetensors``; a weight that the model shares is counted once.

    Raises:
        ModelFolderError: the file is missing or not safetensors.
    """
    try:
        with safetensors.safe_open(folder / WEIGHTS, framework="pt") as weights:
            return sum(math.prod(weights.get_slice(name).get_shape()) for name in weights.keys())  # noqa: SIM118
    except (OSError, safetensors.SafetensorError) as error:
        raise ModelFolderError(f"{folder / WEIGHTS}: {error}") from None


def _machine() -> dict[str, Any]:
    devices = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return {
        "passerelle": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
        "torch_threads": torch.get_num_threads(),
        "accelerators": ", ".join(devices) or "none",
    }

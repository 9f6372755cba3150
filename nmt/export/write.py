"""``nmt export``: a model folder to a folder for another runtime, with all that is needed to use it there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from nmt.errors import ConfigError
from nmt.export.ctranslate2 import export_ctranslate2
from nmt.export.programs import export_onnx, export_torch
from nmt.model_folder.checkpoint import (
    CARD,
    CONFIG,
    GENERATION,
    TOKENIZER,
    LoadedModel,
    load_model_folder,
    resolve_model,
)

PASSERELLE = "passerelle.json"
"""Our ``config.json``, for CTranslate2 has one of its own."""

FORMATS: dict[str, tuple[Callable[[LoadedModel, Path], None], str]] = {
    "ctranslate2": (export_ctranslate2, "passerelle[ctranslate2]"),
    "onnx": (export_onnx, "passerelle[onnx]"),
    "torch-export": (export_torch, "passerelle"),
}
"""Writer of each format, and the packages that it needs."""


def export_model(model: str | Path | None, format_: str, out: Path) -> None:
    """Write a model in another format beside its tokenizer, its card and its settings.

    Args:
        model: as ``resolve_model``.
        format_: a key of ``FORMATS``.
        out: made; must be empty if it is there.

    Raises:
        ModelFolderError: the model cannot be read.
        ConfigError: the format cannot hold such a model, a package is missing, or ``out`` is not empty.
    """
    write, extra = FORMATS[format_]
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"--out {out}: exists and is not empty; name another folder or remove it")
    loaded = load_model_folder(resolve_model(model))
    out.mkdir(parents=True, exist_ok=True)
    try:
        write(loaded, out)
    except ImportError as error:
        raise ConfigError(
            f"--format {format_} needs the package {error.name}; install it with: pip install '{extra}'"
        ) from None
    for name in (TOKENIZER, GENERATION, CARD):
        shutil.copyfile(loaded.folder / name, out / name)
    shutil.copyfile(loaded.folder / CONFIG, out / PASSERELLE)

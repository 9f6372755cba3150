"""A model folder: written whole, verified at every load, never a pickle; ``manifest`` lists its files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

import torch
from safetensors.torch import save_file
from torch import nn

from nmt.alignment.scorer import TrainedAligner
from nmt.confidence import Calibration
from nmt.config import AlignmentConfig, GenerationConfig, ModelFolderConfig
from nmt.errors import ModelFolderError
from nmt.model_folder.files import flush, give_ordinary_mode
from nmt.model_folder.manifest import (
    ALIGNER,
    ALIGNER_WEIGHTS,
    CALIBRATION,
    CARD,
    FILES,
    GENERATION,
    MANIFEST,
    OPTIONAL,
    SCORES,
    WEIGHTS,
    verify_manifest,
    write_manifest,
)
from nmt.model_folder.opened import LoadedModel, OpenedModel
from nmt.model_folder.registry import CONFIG, PRETRAINED, config_of, resolve_model
from nmt.model_folder.vocabulary import (
    SOURCE_TOKENIZER,
    TOKENIZER,
    VOCABULARY,
    StoredVocabulary,
    stored_vocabulary,
)
from nmt.model_folder.weights import weights_to_store

__all__ = [
    "ALIGNER",
    "ALIGNER_WEIGHTS",
    "CALIBRATION",
    "CARD",
    "CONFIG",
    "FILES",
    "GENERATION",
    "MANIFEST",
    "OPTIONAL",
    "PRETRAINED",
    "SCORES",
    "SOURCE_TOKENIZER",
    "TOKENIZER",
    "VOCABULARY",
    "WEIGHTS",
    "LoadedModel",
    "WeightsDtype",
    "load_model_folder",
    "resolve_model",
    "save_aligner",
    "save_alignment",
    "save_calibration",
    "save_model_folder",
    "tokenizer_files",
    "verify_manifest",
    "write_manifest",
]

WeightsDtype = Literal["float32", "bfloat16", "float16"]


class TokenizerFiles(TypedDict):
    """Arguments of ``save_model_folder``."""

    tokenizer_file: Path
    vocabulary: StoredVocabulary | None
    source_tokenizer_file: Path | None


def tokenizer_files(folder: Path) -> TokenizerFiles:
    """The sub-words of a folder, for ``save_model_folder`` to write them into another."""
    source = folder / SOURCE_TOKENIZER
    return {
        "tokenizer_file": folder / TOKENIZER,
        "vocabulary": stored_vocabulary(folder),
        "source_tokenizer_file": source if source.exists() else None,
    }


def save_model_folder(
    folder: Path,
    *,
    config: ModelFolderConfig,
    model: nn.Module,
    tokenizer_file: Path,
    generation: GenerationConfig,
    card: str,
    scores: Mapping[str, Any],
    dtype: WeightsDtype = "float32",
    vocabulary: StoredVocabulary | None = None,
    source_tokenizer_file: Path | None = None,
) -> None:
    """Write a model folder beside ``folder``, flush it to disk, then put it in place.

    An earlier model folder of that name stands until the new one is complete; other files in it are kept,
    but not its calibration and aligner, which were those of other weights.

    Args:
        folder: where to; its parents are made.
        config: ``config.json``.
        model: must be what ``build_model(config.model)`` builds.
        tokenizer_file: copied.
        generation: ``generation.json``.
        card: Markdown text.
        scores: JSON values; empty before an evaluation.
        dtype: of the weights in the file.
        vocabulary: ``vocabulary.json``; None: ids are those of the SentencePiece model.
        source_tokenizer_file: copied; None: the source has the tokenizer of the target.

    Raises:
        ModelFolderError: ``folder`` exists and is no model folder, or cannot be written.
        NumericalError: a weight is NaN or infinite, or would be in ``dtype``.
    """
    folder = folder.resolve()
    _refuse_other(folder)
    weights = weights_to_store(model, getattr(torch, dtype))
    texts = {
        CONFIG: config.model_dump_json(indent=2) + "\n",
        GENERATION: generation.model_dump_json(indent=2) + "\n",
        CARD: card,
        SCORES: json.dumps(dict(scores), indent=2, ensure_ascii=False) + "\n",
        **({} if vocabulary is None else {VOCABULARY: vocabulary.model_dump_json() + "\n"}),
    }
    complete = folder.with_name(f".{folder.name}.new-{os.getpid()}")
    try:
        complete.mkdir(parents=True)
        save_file(weights, complete / WEIGHTS, metadata={"format": "pt"})
        for name, file in {TOKENIZER: tokenizer_file, SOURCE_TOKENIZER: source_tokenizer_file}.items():
            if file is not None:
                shutil.copyfile(file, complete / name)
        for name, text in texts.items():
            (complete / name).write_text(text, encoding="utf-8")
        write_manifest(complete)
        give_ordinary_mode(complete / WEIGHTS)
        _put_in_place(complete, folder)
    except OSError as error:
        raise ModelFolderError(f"{error.filename or folder}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(complete, ignore_errors=True)


def _refuse_other(folder: Path) -> None:
    """Refuse a file, or a folder that holds anything but a model."""
    if (
        folder.exists()
        and not (folder / MANIFEST).exists()
        and (not folder.is_dir() or any(folder.iterdir()))
    ):
        raise ModelFolderError(
            f"{folder}: exists and is not a model folder; choose another place or remove it"
        )


def _put_in_place(complete: Path, folder: Path) -> None:
    """Rename ``complete`` to ``folder``; files of the user's in the former model folder move into it."""
    for path in (*complete.iterdir(), complete):
        flush(path)
    former = folder.with_name(f".{folder.name}.old-{os.getpid()}")
    try:
        if folder.exists():
            folder.rename(former)
        complete.rename(folder)
        flush(folder.parent)
        if former.exists():
            for path in former.iterdir():
                if path.name not in (*FILES, *OPTIONAL, MANIFEST):
                    path.rename(folder / path.name)
            shutil.rmtree(former)
    finally:
        if former.exists() and not folder.exists():
            former.rename(folder)


def load_model_folder(
    folder: Path, device: torch.device | str = "cpu", *, with_aligner: bool = True
) -> LoadedModel:
    """Verify ``folder`` and read all of it; its aligner is left out to train it anew.

    Raises:
        ModelFolderError: a file is missing, corrupt or at odds with another; the message names it.
    """
    return OpenedModel(folder, device, with_aligner=with_aligner).read()


def save_aligner(folder: Path, aligner: TrainedAligner) -> None:
    """Add or replace ``aligner.json`` and ``aligner.safetensors`` (float16) of a model folder.

    A crash between its steps leaves a folder that does not load and says why.

    Raises:
        ModelFolderError: they cannot be written.
        NumericalError: a weight is NaN or infinite.
    """
    weights = weights_to_store(aligner.scorer, torch.float16)
    config = aligner.config.model_dump_json(indent=2) + "\n"
    _add(
        folder,
        {
            ALIGNER_WEIGHTS: lambda aside: save_file(weights, aside, metadata={"format": "pt"}),
            ALIGNER: lambda aside: aside.write_text(config, encoding="utf-8"),
        },
    )


def save_calibration(folder: Path, calibration: Calibration) -> None:
    """Add or replace ``calibration.json`` of a model folder.

    A crash between its two steps leaves a folder that does not load and says why.

    Raises:
        ModelFolderError: it cannot be written.
    """
    text = calibration.model_dump_json(indent=2) + "\n"
    _add(folder, {CALIBRATION: lambda aside: aside.write_text(text, encoding="utf-8")})


def save_alignment(folder: Path, alignment: AlignmentConfig) -> None:
    """Change which attention ``config.json`` of a model folder takes links from; errors as above."""
    config = config_of(folder).model_copy(update={"alignment": alignment})
    text = config.model_dump_json(indent=2) + "\n"
    _add(folder, {CONFIG: lambda aside: aside.write_text(text, encoding="utf-8")})


def _add(folder: Path, files: Mapping[str, Callable[[Path], object]]) -> None:
    """Write files of a model folder, each by its function, beside their places; then put them there."""
    asides = {name: folder / f".{name}.new" for name in files}
    try:
        for name, write in files.items():
            write(asides[name])
        for name, aside in asides.items():
            give_ordinary_mode(aside)
            flush(aside)
            aside.rename(folder / name)
        write_manifest(folder)
        flush(folder / MANIFEST)
    except OSError as error:
        raise ModelFolderError(f"{error.filename or folder}: {error.strerror or error}") from None

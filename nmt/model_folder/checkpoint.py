"""A model folder: written whole, verified at every load, never a pickle.

    config.json        format version, architecture, languages, special ids, library version
    model.safetensors  weights; a tensor that the model shares is stored once
    tokenizer.model    SentencePiece; of the target where the source has another
    source.model       SentencePiece of the source, where it is another
    vocabulary.json    the order of the pieces, where it is not SentencePiece's
    generation.json    default beam size, penalties, limits
    card.md            what it was trained on, with licences, and what it is not good at
    scores.json        scores with their signatures
    calibration.json   from log-probabilities to confidence; a model without it gives none
    aligner.json       how the link scorer is built and when it links; without one, links come from attention
    aligner.safetensors    its weights
    MANIFEST.sha256    ``sha256sum --check MANIFEST.sha256`` reads it too

A flipped bit is an error that names the file, not a wrong translation. Other files in the folder stay as they
are.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import safetensors
import torch
from pydantic import BaseModel
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from nmt.alignment.scorer import LinkScorer, TrainedAligner
from nmt.alignment.scorer_config import AlignerConfig
from nmt.confidence import Calibration
from nmt.config import FORMAT_VERSION, GenerationConfig, ModelFolderConfig, parse
from nmt.errors import ConfigError, ModelFolderError, NumericalError
from nmt.model_folder.files import flush, give_ordinary_mode, sha256
from nmt.model_folder.registry import CONFIG, PRETRAINED, resolve_model
from nmt.model_folder.vocabulary import (
    SOURCE_TOKENIZER,
    TOKENIZER,
    VOCABULARY,
    StoredVocabulary,
    between,
    load_tokenizers,
)
from nmt.models.build import Model, build_model
from nmt.tokenizer import Tokenizer

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
    "save_calibration",
    "save_model_folder",
    "verify_manifest",
    "write_manifest",
]

WEIGHTS, GENERATION = "model.safetensors", "generation.json"
CARD, SCORES, MANIFEST = "card.md", "scores.json", "MANIFEST.sha256"
FILES = (CONFIG, WEIGHTS, TOKENIZER, GENERATION, CARD, SCORES)
CALIBRATION = "calibration.json"
ALIGNER, ALIGNER_WEIGHTS = "aligner.json", "aligner.safetensors"
OF_WEIGHTS = (CALIBRATION, ALIGNER, ALIGNER_WEIGHTS)
"""May be absent; training does not write them: ``nmt calibrate`` and ``nmt align-train`` add them."""
OPTIONAL = (*OF_WEIGHTS, VOCABULARY, SOURCE_TOKENIZER)
"""May be absent; the last two are those of imported models."""

WeightsDtype = Literal["float32", "bfloat16", "float16"]
ConfigT = TypeVar("ConfigT", bound=BaseModel)


@dataclass(frozen=True)
class LoadedModel:
    """What a model folder holds, ready for use: weights in float32, evaluation mode, no gradients."""

    config: ModelFolderConfig
    model: Model
    tokenizer: Tokenizer
    generation: GenerationConfig
    folder: Path
    calibration: Calibration | None = None
    """None: confidence was not calibrated."""
    aligner: TrainedAligner | None = None
    """None: links come from attention."""
    own_source_tokenizer: Tokenizer | None = None
    """None: the source has the tokenizer of the target."""

    def between(self, source: str | None, target: str | None) -> LoadedModel:
        """The model for a pair of its languages; None: as it is. Weights are shared.

        Raises:
            UnsupportedLanguageError: the model does not translate between them.
        """
        config = between(self.config, source, target, self.tokenizer)
        if config is self.config:
            return self
        tokenizer, source_tokenizer = load_tokenizers(self.folder, config)
        return replace(self, config=config, tokenizer=tokenizer, own_source_tokenizer=source_tokenizer)

    @property
    def source_tokenizer(self) -> Tokenizer:
        """Of what the model reads."""
        return self.own_source_tokenizer or self.tokenizer


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
    if (
        folder.exists()
        and not (folder / MANIFEST).exists()
        and (not folder.is_dir() or any(folder.iterdir()))
    ):
        raise ModelFolderError(
            f"{folder}: exists and is not a model folder; choose another place or remove it"
        )
    weights = _weights_to_store(model, getattr(torch, dtype))
    complete = folder.with_name(f".{folder.name}.new-{os.getpid()}")
    former = folder.with_name(f".{folder.name}.old-{os.getpid()}")
    try:
        complete.mkdir(parents=True)
        (complete / CONFIG).write_text(config.model_dump_json(indent=2) + "\n", encoding="utf-8")
        save_file(weights, complete / WEIGHTS, metadata={"format": "pt"})
        shutil.copyfile(tokenizer_file, complete / TOKENIZER)
        if source_tokenizer_file is not None:
            shutil.copyfile(source_tokenizer_file, complete / SOURCE_TOKENIZER)
        if vocabulary is not None:
            (complete / VOCABULARY).write_text(vocabulary.model_dump_json() + "\n", encoding="utf-8")
        (complete / GENERATION).write_text(generation.model_dump_json(indent=2) + "\n", encoding="utf-8")
        (complete / CARD).write_text(card, encoding="utf-8")
        scores_text = json.dumps(dict(scores), indent=2, ensure_ascii=False) + "\n"
        (complete / SCORES).write_text(scores_text, encoding="utf-8")
        write_manifest(complete)
        give_ordinary_mode(complete / WEIGHTS)
        for path in (*complete.iterdir(), complete):
            flush(path)
        if folder.exists():
            folder.rename(former)
        complete.rename(folder)
        flush(folder.parent)
        if former.exists():
            for path in former.iterdir():
                if path.name not in (*FILES, *OPTIONAL, MANIFEST):
                    path.rename(folder / path.name)
            shutil.rmtree(former)
    except OSError as error:
        raise ModelFolderError(f"{error.filename or folder}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(complete, ignore_errors=True)
        if former.exists() and not folder.exists():
            former.rename(folder)


def load_model_folder(
    folder: Path, device: torch.device | str = "cpu", *, with_aligner: bool = True
) -> LoadedModel:
    """Verify ``folder`` and build its model on ``device``; its aligner is left out to train it anew.

    Raises:
        ModelFolderError: a file is missing, corrupt or at odds with another; the message names it.
    """
    verify_manifest(folder)
    config = _read_config(folder / CONFIG, ModelFolderConfig)
    generation = _read_config(folder / GENERATION, GenerationConfig)
    tokenizer, source_tokenizer = load_tokenizers(folder, config)
    model = build_model(config.model)
    _load_weights(model, folder / WEIGHTS)
    model.to(device).eval().requires_grad_(False)
    aligner = _read_aligner(folder, device) if with_aligner else None
    calibration = _read_calibration(folder)
    return LoadedModel(config, model, tokenizer, generation, folder, calibration, aligner, source_tokenizer)


def save_aligner(folder: Path, aligner: TrainedAligner) -> None:
    """Add or replace ``aligner.json`` and ``aligner.safetensors`` (float16) of a model folder.

    A crash between its steps leaves a folder that does not load and says why.

    Raises:
        ModelFolderError: they cannot be written.
        NumericalError: a weight is NaN or infinite.
    """
    weights = _weights_to_store(aligner.scorer, torch.float16)
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


def write_manifest(folder: Path) -> None:
    """List the SHA-256 of each file of the model in ``MANIFEST.sha256``; needed after any change by hand."""
    names = (*FILES, *(name for name in OPTIONAL if (folder / name).exists()))
    lines = [f"{sha256(folder / name)}  {name}\n" for name in names]
    (folder / MANIFEST).write_text("".join(lines), encoding="ascii")


def verify_manifest(folder: Path) -> None:
    """Check that the files of the model are there and are the very bytes that were written.

    Raises:
        ModelFolderError: naming the first file that is missing, unlisted or different.
    """
    if not folder.is_dir():
        raise ModelFolderError(f"{folder}: no such model folder")
    try:
        *lines, rest = (folder / MANIFEST).read_bytes().decode("ascii").split("\n")
    except OSError as error:
        raise ModelFolderError(
            f"{folder / MANIFEST}: {error.strerror or error}; without it this is no complete model folder"
        ) from None
    except UnicodeDecodeError:
        lines, rest = [], "damaged"
    matches = [re.fullmatch(r"([0-9a-f]{64})  ([\w.-]+)", line) for line in lines]
    if rest or not all(matches):
        raise ModelFolderError(f"{folder / MANIFEST}: damaged; copy the model folder again")
    listed = {match[2]: match[1] for match in matches if match}
    present = {name for name in OPTIONAL if (folder / name).exists()}
    for name in sorted({*FILES, *present} - listed.keys()):
        raise ModelFolderError(f"{folder / MANIFEST}: does not list {name}; copy the model folder again")
    for name in sorted(listed):
        path = folder / name
        if not path.is_file():
            raise ModelFolderError(f"{path}: missing; copy the model folder again")
        found = sha256(path)
        if found != listed[name]:
            raise ModelFolderError(
                f"{path}: corrupt: its SHA-256 begins {found[:12]}, {MANIFEST} says {listed[name][:12]}; "
                "copy the model folder again"
            )


def _weights_to_store(model: nn.Module, dtype: torch.dtype) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = {}
    state = model.state_dict()
    for name in _tied_names(model):
        tensor = state[name].cpu()
        stored = tensor.to(dtype) if tensor.is_floating_point() else tensor
        if not torch.isfinite(stored).all():
            raise NumericalError(f"weight {name} holds NaN or infinity as {stored.dtype}; it is not saved")
        weights[name] = stored.contiguous()
    return weights


def _load_weights(model: nn.Module, path: Path, described_by: str = CONFIG) -> None:
    try:
        stored = load_file(path)
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise ModelFolderError(f"{path}: not a readable safetensors file: {error}") from None
    tied = _tied_names(model)
    for name in sorted(tied.keys() ^ stored.keys()):
        problem = "lacks" if name in tied else "holds an unknown"
        raise ModelFolderError(
            f"{path}: {problem} weight {name}; {described_by} and the weights are of different models"
        )
    expected = model.state_dict()
    for name, tensor in stored.items():
        if tensor.shape != expected[name].shape:
            raise ModelFolderError(
                f"{path}: weight {name} is {list(tensor.shape)}, "
                f"{described_by} asks for {list(expected[name].shape)}"
            )
    model.load_state_dict({alias: stored[name] for name, aliases in tied.items() for alias in aliases})


def _read_calibration(folder: Path) -> Calibration | None:
    """``calibration.json``, which must be of these very weights; None when there is none."""
    path = folder / CALIBRATION
    if not path.exists():
        return None
    calibration = _read_config(path, Calibration)
    _check_weights_are_its_own(path, calibration.weights_sha256, "nmt calibrate")
    return calibration


def _read_aligner(folder: Path, device: torch.device | str) -> TrainedAligner | None:
    """The link scorer, which must be of these very weights; None when there is none."""
    path = folder / ALIGNER
    if not path.exists():
        return None
    config = _read_config(path, AlignerConfig)
    _check_weights_are_its_own(path, config.weights_sha256, "nmt align-train")
    scorer = LinkScorer(config.scorer)
    _load_weights(scorer, folder / ALIGNER_WEIGHTS, described_by=ALIGNER)
    scorer.to(device).eval().requires_grad_(False)
    return TrainedAligner(config, scorer)


def _check_weights_are_its_own(path: Path, weights_sha256: str, command: str) -> None:
    """Refuse what was made for other weights than those that lie beside it."""
    found = sha256(path.parent / WEIGHTS)
    if weights_sha256 != found:
        raise ModelFolderError(
            f"{path}: of weights whose SHA-256 begins {weights_sha256[:12]}, {WEIGHTS} has "
            f"{found[:12]}; run {command} on this folder, or remove the file and write the manifest anew"
        )


def _tied_names(model: nn.Module) -> dict[str, list[str]]:
    """Each distinct tensor's first name in the state, with all its names."""
    first: dict[tuple[int, torch.Size], str] = {}
    names: dict[str, list[str]] = {}
    for name, tensor in model.state_dict().items():
        key = (tensor.data_ptr(), tensor.shape)
        names.setdefault(first.setdefault(key, name), []).append(name)
    return names


def _read_config(path: Path, model_type: type[ConfigT]) -> ConfigT:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        version = values.get("format_version", FORMAT_VERSION)
        if version != FORMAT_VERSION:
            raise ModelFolderError(
                f"{path}: format_version {version}; this version of the library reads {FORMAT_VERSION}"
            )
        return parse(model_type, values, where=str(path))
    except (OSError, ValueError, AttributeError) as error:
        raise ModelFolderError(f"{path}: not a JSON object: {error}") from None
    except ConfigError as error:
        raise ModelFolderError(str(error)) from None

"""A model in memory, and a model folder that was verified and whose weights are read when they are needed.

CTranslate2 searches with an export of its own, so a text without links is translated without the weights, and
without torch, which takes longer to import than all else together.
"""

from __future__ import annotations

import copy
import json
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from pydantic import BaseModel

from nmt.alignment.scorer_config import AlignerConfig
from nmt.confidence import Calibration
from nmt.config import FORMAT_VERSION, GenerationConfig, ModelFolderConfig, parse
from nmt.errors import ConfigError, ModelFolderError
from nmt.model_folder.files import sha256
from nmt.model_folder.manifest import (
    ALIGNER,
    ALIGNER_WEIGHTS,
    CALIBRATION,
    GENERATION,
    WEIGHTS,
    verify_manifest,
)
from nmt.model_folder.registry import CONFIG
from nmt.model_folder.vocabulary import between, load_tokenizers
from nmt.tokenizer import Tokenizer

if TYPE_CHECKING:
    import torch

    from nmt.alignment.scorer import TrainedAligner
    from nmt.models.build import Model

ConfigT = TypeVar("ConfigT", bound=BaseModel)


@dataclass(frozen=True)
class LoadedModel:
    """Content of a model folder, in memory: weights in float32, evaluation mode, no gradients."""

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
        """Tokenizer of the source."""
        return self.own_source_tokenizer or self.tokenizer

    @property
    def has_scorer(self) -> bool:
        """Whether links come from a trained link scorer."""
        return self.aligner is not None

    @property
    def unread_sha256(self) -> None:
        """As of ``OpenedModel``: the weights are in memory."""


@dataclass
class _Weights:
    """What was read of a folder so far: one for all pairs of its languages."""

    model: Model | None = None
    aligner: TrainedAligner | None = None
    reading: threading.Lock = field(default_factory=threading.Lock)


class OpenedModel:
    """A verified model folder; its weights are read when they are first asked for, by any thread.

    Args:
        folder: is checked byte for byte.
        device: where the weights go.
        with_aligner: False leaves the link scorer out.
        source: which of its languages a model of several is to read; None: the first.
        target: the same to write.

    Raises:
        ModelFolderError: a file is missing, corrupt or at odds with another; the message names it.
        UnsupportedLanguageError: the model does not translate between these languages.
    """

    def __init__(
        self,
        folder: Path,
        device: torch.device | str = "cpu",
        *,
        with_aligner: bool = True,
        source: str | None = None,
        target: str | None = None,
    ) -> None:
        self._sums = verify_manifest(folder)
        self._device = device
        self.folder = folder
        own = _read_config(folder / CONFIG, ModelFolderConfig)
        self.generation = _read_config(folder / GENERATION, GenerationConfig)
        self.tokenizer, self._source_tokenizer = load_tokenizers(folder, own)
        self.config = between(own, source, target, self.tokenizer)
        if self.config is not own:
            self.tokenizer, self._source_tokenizer = load_tokenizers(folder, self.config)
        self.calibration = self._of_these_weights(CALIBRATION, Calibration, "nmt calibrate")
        self._aligner_config = (
            self._of_these_weights(ALIGNER, AlignerConfig, "nmt align-train") if with_aligner else None
        )
        if self._aligner_config is not None and ALIGNER_WEIGHTS not in self._sums:
            raise ModelFolderError(
                f"{folder / ALIGNER_WEIGHTS}: missing, but {ALIGNER} is there; copy the model folder again"
            )
        self._weights = _Weights()

    def between(self, source: str | None, target: str | None) -> OpenedModel:
        """The model for a pair of its languages; None: as it is. Weights are read once for all of them.

        Raises:
            UnsupportedLanguageError: the model does not translate between them.
        """
        config = between(self.config, source, target, self.tokenizer)
        if config is self.config:
            return self
        other = copy.copy(self)
        other.config = config
        other.tokenizer, other._source_tokenizer = load_tokenizers(self.folder, config)
        return other

    @property
    def source_tokenizer(self) -> Tokenizer:
        """Tokenizer of the source."""
        return self._source_tokenizer or self.tokenizer

    @property
    def unread_sha256(self) -> str | None:
        """SHA-256 of the weights' file; None once they are in memory, where they may be changed."""
        return self._sums[WEIGHTS] if self._weights.model is None else None

    @property
    def model(self) -> Model:
        """The model on its device.

        Raises:
            ModelFolderError: its file was changed after the folder was opened, or is at odds with another.
        """
        from nmt.model_folder.weights import read_model  # noqa: PLC0415 - imports torch

        with self._weights.reading:
            if self._weights.model is None:
                self._check_unchanged(WEIGHTS)
                self._weights.model = read_model(self.folder, self.config, self._device)
            return self._weights.model

    @property
    def has_scorer(self) -> bool:
        """Whether links come from a trained link scorer."""
        return self._aligner_config is not None

    @property
    def aligner(self) -> TrainedAligner | None:
        """The link scorer on the same device; None: links come from attention. Errors as ``model``."""
        if self._aligner_config is None:
            return None
        from nmt.model_folder.weights import read_aligner  # noqa: PLC0415 - imports torch

        with self._weights.reading:
            if self._weights.aligner is None:
                self._check_unchanged(ALIGNER_WEIGHTS)
                self._weights.aligner = read_aligner(self.folder, self._aligner_config, self._device)
            return self._weights.aligner

    def read(self) -> LoadedModel:
        """All of it in memory; errors as ``model``."""
        return LoadedModel(
            self.config,
            self.model,
            self.tokenizer,
            self.generation,
            self.folder,
            self.calibration,
            self.aligner,
            self._source_tokenizer,
        )

    def _of_these_weights(self, name: str, model_type: type[OwnT], command: str) -> OwnT | None:
        """A file that was made for the weights beside it; None where there is none."""
        path = self.folder / name
        if not path.exists():
            return None
        found = _read_config(path, model_type)
        if found.weights_sha256 != self._sums[WEIGHTS]:
            raise ModelFolderError(
                f"{path}: of weights whose SHA-256 begins {found.weights_sha256[:12]}, {WEIGHTS} has "
                f"{self._sums[WEIGHTS][:12]}; run {command} on this folder, or remove the file and write the "
                "manifest anew"
            )
        return found

    def _check_unchanged(self, name: str) -> None:
        path = self.folder / name
        if not path.is_file() or sha256(path) != self._sums[name]:
            raise ModelFolderError(f"{path}: changed or removed since the model was loaded; load it again")


AnyModel: TypeAlias = LoadedModel | OpenedModel
OwnT = TypeVar("OwnT", Calibration, AlignerConfig)


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

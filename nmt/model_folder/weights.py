"""Weights between a module and a safetensors file: names and shapes agree, a shared one is stored once."""

from __future__ import annotations

from pathlib import Path

import safetensors
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from nmt.alignment.scorer import LinkScorer, TrainedAligner
from nmt.alignment.scorer_config import AlignerConfig
from nmt.config import ModelFolderConfig
from nmt.errors import ModelFolderError, NumericalError
from nmt.model_folder.manifest import ALIGNER, ALIGNER_WEIGHTS, WEIGHTS
from nmt.model_folder.registry import CONFIG
from nmt.models.build import Model, build_model


@torch.inference_mode(False)
def read_model(folder: Path, config: ModelFolderConfig, device: torch.device | str) -> Model:
    """The model of a folder in float32, in evaluation mode, without gradients.

    Raises:
        ModelFolderError: its weights are corrupt or at odds with ``config``.
    """
    model = build_model(config.model)
    _load_weights(model, folder / WEIGHTS, described_by=CONFIG)
    return model.to(device).eval().requires_grad_(False)


@torch.inference_mode(False)
def read_aligner(folder: Path, config: AlignerConfig, device: torch.device | str) -> TrainedAligner:
    """The link scorer of a folder, as ``read_model``."""
    scorer = LinkScorer(config.scorer)
    _load_weights(scorer, folder / ALIGNER_WEIGHTS, described_by=ALIGNER)
    return TrainedAligner(config, scorer.to(device).eval().requires_grad_(False))


def weights_to_store(model: nn.Module, dtype: torch.dtype) -> dict[str, Tensor]:
    """Each distinct weight by its first name, on the CPU.

    Raises:
        NumericalError: a weight is NaN or infinite in ``dtype``.
    """
    weights: dict[str, Tensor] = {}
    state = model.state_dict()
    for name in _tied_names(model):
        tensor = state[name].cpu()
        stored = tensor.to(dtype) if tensor.is_floating_point() else tensor
        if not torch.isfinite(stored).all():
            raise NumericalError(f"weight {name} holds NaN or infinity as {stored.dtype}; it is not saved")
        weights[name] = stored.contiguous()
    return weights


def _load_weights(model: nn.Module, path: Path, described_by: str) -> None:
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


def _tied_names(model: nn.Module) -> dict[str, list[str]]:
    """Each distinct tensor's first name in the state, with all its names."""
    first: dict[tuple[int, torch.Size], str] = {}
    names: dict[str, list[str]] = {}
    for name, tensor in model.state_dict().items():
        key = (tensor.data_ptr(), tensor.shape)
        names.setdefault(first.setdefault(key, name), []).append(name)
    return names

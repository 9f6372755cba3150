"""``nmt blend``: the mean of models that began with the same weights (Wortsman et al. 2022, WiSE-FT).

Fine-tuning on a domain forgets what it does not see. The mean of the weights before and after, w of the
adapted model and 1 - w of the one it began with, keeps most of both, and costs no training: w is what the
owner chooses on development sets. Several models adapted from one, say with different seeds or rates, have a
mean too, often better than any (Wortsman et al. 2022, Model soups). It is for weights of one origin: those of
runs that began at random have no meaningful mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

import nmt
from nmt.errors import ConfigError
from nmt.model_folder.checkpoint import (
    LoadedModel,
    load_model_folder,
    resolve_model,
    save_model_folder,
    tokenizer_files,
)
from nmt.model_folder.files import sha256
from training.data.tokenizers import checksum_in


def blend(model: str | Path, others: Sequence[str | Path], share: float | None, out: Path) -> Path:
    """Write the model folder of ``share`` times the weights of ``model`` and, for the rest, the others' mean.

    Everything but the weights is ``model``'s; what was learnt beside its weights (link scorer, calibration)
    is left out, for it was learnt of others.

    Args:
        model: a model folder or the name of one, say the adapted model.
        others: the same, say the one it began with.
        share: of ``model``, 0 to 1; None for as much as each of the others.
        out: the new folder; a model folder that is there is replaced.

    Returns:
        ``out``.

    Raises:
        ConfigError: the share is none, or the models differ in architecture, languages or sub-words.
        ModelFolderError: a folder is missing or corrupt, or ``out`` cannot be written.
    """
    share = 1 / (1 + len(others)) if share is None else share
    if not 0 <= share <= 1:
        raise ConfigError(f"--share {share:g}: a share is from 0 to 1")
    first, *rest = (load_model_folder(resolve_model(name)) for name in (model, *others))
    for other in rest:
        _refuse_strangers(first, other)
    each = (1 - share) / len(rest)
    with torch.no_grad():
        for name, weight in first.model.named_parameters():  # a weight that the model shares comes once
            weight.mul_(share)
            for other in rest:
                weight.add_(other.model.get_parameter(name), alpha=each)
    save_model_folder(
        out,
        config=first.config.model_copy(update={"library_version": nmt.__version__}),
        model=first.model,
        **tokenizer_files(first.folder),
        generation=first.generation,
        card=f"# {first.config.name}, blended\n\n{_part(first, share)}"
        + "".join(f", {_part(other, each)}" for other in rest)
        + ".\n",
        scores={},
    )
    return out


def _refuse_strangers(first: LoadedModel, second: LoadedModel) -> None:
    for what, one, two in (
        ("architecture", *(_architecture(loaded) for loaded in (first, second))),
        ("source language", first.config.source_language, second.config.source_language),
        ("target language", first.config.target_language, second.config.target_language),
        ("sub-words", *(checksum_in(loaded.folder) for loaded in (first, second))),
    ):
        if one != two:
            raise ConfigError(
                f"nmt blend: {first.folder} and {second.folder} differ in {what}; blend a model with the one "
                "that it was adapted from (nmt train --init-from)"
            )


def _architecture(loaded: LoadedModel) -> dict[str, object]:
    """All of the model's configuration but how much is dropped out, which is the training's."""
    fields = loaded.config.model.model_dump()
    return {name: value for name, value in fields.items() if "dropout" not in name}


def _part(loaded: LoadedModel, share: float) -> str:
    weights = sha256(loaded.folder / "model.safetensors")[:12]
    return f"{share:.3g} of {loaded.config.name} (model.safetensors {weights})"

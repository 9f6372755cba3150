"""``nmt blend``: between two models that began with the same weights (Wortsman et al. 2022, WiSE-FT).

Fine-tuning on a domain forgets what it does not see. The mean of the weights before and after, w of the
adapted model and 1 - w of the one it began with, keeps most of both, and costs no training: w is what the
owner chooses on development sets. Two models adapted from one, say with different seeds, have a mean too,
often better than either (Wortsman et al. 2022, Model soups). It is for weights of one origin: those of runs
that began at random have no meaningful mean.
"""

from __future__ import annotations

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


def blend(model: str | Path, other: str | Path, share: float, out: Path) -> Path:
    """Write the model folder of ``share`` times the weights of ``model`` and the rest of ``other``'s.

    Everything but the weights is ``model``'s; what was learnt beside its weights (link scorer, calibration)
    is left out, for it was learnt of others.

    Args:
        model: a model folder or the name of one, say the adapted model.
        other: the same, say the one it began with.
        share: of ``model``, 0 to 1.
        out: the new folder; a model folder that is there is replaced.

    Returns:
        ``out``.

    Raises:
        ConfigError: the share is none, or the models differ in architecture, languages or sub-words.
        ModelFolderError: a folder is missing or corrupt, or ``out`` cannot be written.
    """
    if not 0 <= share <= 1:
        raise ConfigError(f"--share {share:g}: a share is from 0 to 1")
    first, second = (load_model_folder(resolve_model(name)) for name in (model, other))
    _refuse_strangers(first, second)
    others = dict(second.model.named_parameters())
    with torch.no_grad():
        for name, weight in first.model.named_parameters():  # a weight that the model shares comes once
            weight.lerp_(others[name], 1 - share)
    save_model_folder(
        out,
        config=first.config.model_copy(update={"library_version": nmt.__version__}),
        model=first.model,
        **tokenizer_files(first.folder),
        generation=first.generation,
        card=f"# {first.config.name}, blended\n\n{share:g} of {first.config.name} "
        f"({_weights_of(first)}) and {1 - share:g} of {second.config.name} ({_weights_of(second)}).\n",
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


def _weights_of(loaded: LoadedModel) -> str:
    return f"model.safetensors {sha256(loaded.folder / 'model.safetensors')[:12]}"

"""``nmt grow``: a deeper encoder that computes, until it is trained, what the model computed before.

Block expansion (Wu et al. 2024, LLaMA Pro, section 3.2): a new layer is a copy of the one below it whose
sub-layers end in zeros. In a pre-norm layer x + f(norm(x)) it is the identity, and training moves the zeros
first. The new layers stand evenly among the old ones. A deep encoder costs little in translation: it
runs once for a sentence, the decoder for every token (Kasai et al. 2021).
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

import nmt
from nmt.config import TransformerConfig
from nmt.errors import ConfigError
from nmt.model_folder.checkpoint import (
    load_model_folder,
    resolve_model,
    save_model_folder,
    tokenizer_files,
)
from nmt.models.build import Model, build_model
from nmt.models.transformer import Transformer

LAYERS = "encoder_layers"
LAST_MAPS = ("self_attention.output", "feed_forward.down")
"""What each sub-layer of an encoder layer ends in."""


def grow(model: str | Path, encoder_layers: int, out: Path) -> Path:
    """Write the model folder of ``model`` with ``encoder_layers`` layers in its encoder, to be trained on.

    Args:
        model: a model folder or the name of one.
        encoder_layers: how many there are then, more than now.
        out: the new folder; a model folder that is there is replaced.

    Returns:
        ``out``.

    Raises:
        ConfigError: the model is no pre-norm Transformer, heads were taken from it, or it is as deep already.
        ModelFolderError: the folder is missing or corrupt, or ``out`` cannot be written.
    """
    loaded = load_model_folder(resolve_model(model))
    config = loaded.config.model
    if not isinstance(config, TransformerConfig) or not isinstance(loaded.model, Transformer):
        raise ConfigError(f"{loaded.folder}: nmt grow is for Transformers with an encoder, and no pointer")
    if config.norm != "pre" or config.kept_heads is not None:
        raise ConfigError(
            f"{loaded.folder}: nmt grow is for pre-norm Transformers with all their heads; "
            "in another, a new layer changes what the model computes"
        )
    if encoder_layers <= config.n_encoder_layers:
        raise ConfigError(
            f"--encoder-layers {encoder_layers}: the encoder has {config.n_encoder_layers} already; "
            "give a higher number"
        )
    grown = config.model_copy(update={"n_encoder_layers": encoder_layers})
    save_model_folder(
        out,
        config=loaded.config.model_copy(update={"model": grown, "library_version": nmt.__version__}),
        model=expanded(loaded.model, config, grown),
        **tokenizer_files(loaded.folder),
        generation=loaded.generation,
        card=f"# {loaded.config.name}, grown\n\nFrom {config.n_encoder_layers} to {encoder_layers} encoder "
        "layers; to be trained.\n",
        scores={},
    )
    return out


def expanded(model: Transformer, old: TransformerConfig, new: TransformerConfig) -> Model:
    """The model of ``new`` that computes what ``model`` of ``old`` does."""
    order = origins(old.n_encoder_layers, new.n_encoder_layers)
    former = model.state_dict()
    weights: dict[str, Tensor] = {n: w for n, w in former.items() if not n.startswith(f"{LAYERS}.")}
    for index, (origin, is_new) in enumerate(order):
        prefix = f"{LAYERS}.{origin}."
        for name, weight in former.items():
            if name.startswith(prefix):
                part = name.removeprefix(prefix)
                is_zero = is_new and part.rpartition(".")[0] in LAST_MAPS
                weights[f"{LAYERS}.{index}.{part}"] = torch.zeros_like(weight) if is_zero else weight
    grown = build_model(new)
    grown.load_state_dict(weights)
    return grown


def origins(n_old: int, n_new: int) -> list[tuple[int, bool]]:
    """For each layer of the deeper stack, the layer that it comes from and whether it is new."""
    copies = [0] * n_old
    for index in range(n_new - n_old):
        copies[(index * n_old + n_old // 2) // (n_new - n_old) % n_old] += 1
    return [(layer, copy > 0) for layer in range(n_old) for copy in range(1 + copies[layer])]

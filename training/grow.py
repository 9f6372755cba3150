"""``nmt grow``: a larger Transformer that computes, until it is trained, what the model computed before.

Block expansion (Wu et al. 2024, LLaMA Pro, section 3.2): a new layer is a copy of the one below it whose
sub-layers end in zeros. In a pre-norm layer x + f(norm(x)) it is the identity, and training moves the zeros
first. The new layers stand evenly among the old ones. New units of a feed-forward network are drawn as in a
fresh one and have no say yet: their weights of the second map are zeros. A deep encoder costs little in
translation: it runs once for a sentence, the decoder for every token (Kasai et al. 2021).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

import nmt
from nmt.config import ModelFolderConfig, TransformerConfig
from nmt.errors import ConfigError
from nmt.model_folder.checkpoint import (
    load_model_folder,
    resolve_model,
    save_model_folder,
    tokenizer_files,
)
from nmt.models.build import Model, build_model
from nmt.models.transformer import Transformer

LAST_MAPS = ("self_attention.output", "cross_attention.output", "feed_forward.down")
"""What each sub-layer ends in."""
OPTIONS = {"n_encoder_layers": "--encoder-layers", "n_decoder_layers": "--decoder-layers", "d_ff": "--d-ff"}


def grow(
    model: str | Path,
    out: Path,
    *,
    encoder_layers: int | None = None,
    decoder_layers: int | None = None,
    d_ff: int | None = None,
) -> Path:
    """Write the model folder of ``model`` with more layers or wider feed-forward networks, to be trained on.

    Args:
        model: a model folder or the name of one.
        out: the new folder; a model folder that is there is replaced.
        encoder_layers: how many there are then; None for as many as now.
        decoder_layers: the same of the decoder.
        d_ff: units of each feed-forward network; None for as many as now.

    Returns:
        ``out``.

    Raises:
        ConfigError: the model is no pre-norm Transformer, heads were taken from it, or nothing would grow.
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
    grown = _grown(
        config, {"n_encoder_layers": encoder_layers, "n_decoder_layers": decoder_layers, "d_ff": d_ff}
    )
    sizes = (f"{name} {getattr(config, name)} to {getattr(grown, name)}" for name in OPTIONS)
    save_model_folder(
        out,
        config=_with_sizes(loaded.config, config, grown),
        model=expanded(loaded.model, config, grown),
        **tokenizer_files(loaded.folder),
        generation=loaded.generation,
        card=f"# {loaded.config.name}, grown\n\n{', '.join(sizes)}; to be trained.\n",
        scores={},
    )
    return out


def expanded(model: Transformer, old: TransformerConfig, new: TransformerConfig) -> Model:
    """The model of ``new`` that computes what ``model`` of ``old`` does."""
    grown = build_model(new)
    wanted, weights = grown.state_dict(), dict(model.state_dict())
    for stack, n_old, n_new in (
        ("encoder_layers", old.n_encoder_layers, new.n_encoder_layers),
        ("decoder_layers", old.n_decoder_layers, new.n_decoder_layers),
    ):
        layers = [
            {name: weights.pop(name) for name in list(weights) if name.startswith(f"{stack}.{index}.")}
            for index in range(n_old)
        ]
        for index, (origin, is_new) in enumerate(origins(n_old, n_new)):
            for name, weight in layers[origin].items():
                part = name.removeprefix(f"{stack}.{origin}.")
                is_zero = is_new and part.rpartition(".")[0] in LAST_MAPS
                weights[f"{stack}.{index}.{part}"] = torch.zeros_like(weight) if is_zero else weight
    grown.load_state_dict({name: _widened(name, weight, wanted) for name, weight in weights.items()})
    return grown


def origins(n_old: int, n_new: int) -> list[tuple[int, bool]]:
    """For each layer of the deeper stack, the layer that it comes from and whether it is new."""
    copies = [0] * n_old
    for index in range(n_new - n_old):
        copies[(index * n_old + n_old // 2) // (n_new - n_old) % n_old] += 1
    return [(layer, copy > 0) for layer in range(n_old) for copy in range(1 + copies[layer])]


def _grown(config: TransformerConfig, wanted: Mapping[str, int | None]) -> TransformerConfig:
    """The configuration with the sizes that are given, none of which is smaller than now."""
    asked = {name: size for name, size in wanted.items() if size is not None}
    for name, size in asked.items():
        if size < (now := getattr(config, name)):
            raise ConfigError(f"{OPTIONS[name]} {size}: the model has {now} already; give a higher number")
    if all(size == getattr(config, name) for name, size in asked.items()):
        raise ConfigError(f"nothing would grow: give {', '.join(OPTIONS.values())} more than the model has")
    return config.model_copy(update=asked)


def _with_sizes(
    config: ModelFolderConfig, old: TransformerConfig, new: TransformerConfig
) -> ModelFolderConfig:
    """The folder's configuration; the decoder layer that links words is the one that it was."""
    order = origins(old.n_decoder_layers, new.n_decoder_layers)
    place = [index for index, (_, is_new) in enumerate(order) if not is_new]
    alignment = config.alignment
    if alignment.layer is not None:
        alignment = alignment.model_copy(update={"layer": place[alignment.layer]})
    new = new.model_copy(update={"alignment_layer": place[old.alignment_layer]})
    return config.model_copy(
        update={"model": new, "alignment": alignment, "library_version": nmt.__version__}
    )


def _widened(name: str, weight: Tensor, wanted: Mapping[str, Tensor]) -> Tensor:
    """A weight of a feed-forward network with more units; any other as it is."""
    fresh = wanted[name]
    if fresh.shape == weight.shape:
        return weight
    wide = torch.zeros_like(fresh) if name.endswith("down.weight") else fresh.clone()
    wide[tuple(slice(size) for size in weight.shape)] = weight
    return wide

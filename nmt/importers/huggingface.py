"""Hugging Face checkpoints of MarianMT (OPUS-MT), M2M-100 and NLLB: their weights and sizes.

Their Marian is post-norm with sinusoids in halves and a bias of the logits. M2M-100 and NLLB are pre-norm
with tensor2tensor's sinusoids that begin after the index of padding (Fan et al. 2021; NLLB Team 2022).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import load_file
from torch import Tensor

from nmt.config import SpecialIds, TransformerConfig, parse
from nmt.errors import ConfigError, ModelFolderError
from nmt.importers.checkpoint import Checkpoint, Names, sublayers
from nmt.importers.huggingface_tokenizer import marian_tokenizer, multilingual_tokenizer
from nmt.importers.settings import generation_of, licence_of, read_json
from nmt.layers.positional_encoding import sinusoids

KINDS = {"marian": "MarianMT", "m2m_100": "M2M-100 or NLLB"}
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu", "silu": "silu"}
_UNSUPPORTED = ("normalize_before", "normalize_embedding", "add_final_layer_norm", "add_bias_logits")
"""Settings that their Marian classes do not honour: a model that needs one is refused."""
_OURS = {"q_proj": "query", "k_proj": "key", "v_proj": "value", "out_proj": "output"}
_THEIRS = {"self_attention": "self_attn", "cross_attention": "encoder_attn"}


def read_huggingface(folder: Path, source: str | None, target: str | None) -> Checkpoint:
    """Read ``config.json``, the weights and the tokenizer's files.

    Args:
        folder: of the checkpoint.
        source: the language to read, where the files do not say; BCP 47.
        target: the same to write.

    Raises:
        ModelFolderError: a file is missing, unreadable or at odds with another, or the architecture is none
            of these.
    """
    config = read_json(folder / "config.json")
    kind = config.get("model_type")
    if kind not in KINDS:
        raise ModelFolderError(
            f"{folder / 'config.json'}: model_type {kind!r} cannot be imported; these can: {', '.join(KINDS)}"
        )
    is_marian = kind == "marian"
    for key in _UNSUPPORTED if is_marian else ():
        if config.get(key):
            raise ModelFolderError(f"{folder / 'config.json'}: {key} = {config[key]!r} is not supported")
    tokenizer = (
        marian_tokenizer(folder, config, source, target)
        if is_marian
        else multilingual_tokenizer(folder, source, target)
    )
    sizes = _sizes(folder / "config.json", config, n_source=tokenizer.n_source)
    vocabulary = tokenizer.padded(sizes.vocab_size)
    names = Names(_read_weights(folder), str(folder))
    weights, remarks = _weights(names, sizes, config)
    names.finish()
    if "positions.encoding_TD" in weights:
        sizes = sizes.model_copy(update={"positions": "learned", "first_position": 0})
    special = SpecialIds(
        pad=_id(config, "pad_token_id"),
        unk=tokenizer.unk,
        bos=_id(config, "decoder_start_token_id") if is_marian else tokenizer.bos,
        eos=_id(config, "eos_token_id"),
        source_pad=tokenizer.source_pad,
    )
    return Checkpoint(
        KINDS[kind],
        sizes,
        special,
        weights,
        tokenizer.file,
        tokenizer.source_file,
        vocabulary,
        tokenizer.languages,
        tokenizer.language_pieces,
        generation_of(folder, config),
        max_source_tokens=sizes.positions_left - 1,
        licence=licence_of(folder),
        remarks=(*remarks, *tokenizer.remarks),
    )


def _id(config: Mapping[str, Any], key: str) -> int:
    value = config.get(key)
    if not isinstance(value, int):
        raise ModelFolderError(f"config.json: {key} = {value!r} is no token id")
    return value


def _sizes(path: Path, config: Mapping[str, Any], n_source: int | None) -> TransformerConfig:
    """The configuration of our Transformer; ``n_source``: pieces of a source vocabulary of its own."""
    is_marian = config["model_type"] == "marian"
    if config.get("encoder_ffn_dim") != config.get("decoder_ffn_dim"):
        raise ModelFolderError(f"{path}: encoder_ffn_dim and decoder_ffn_dim differ, which is not supported")
    if config.get("encoder_attention_heads") != config.get("decoder_attention_heads"):
        raise ModelFolderError(f"{path}: encoder and decoder have different numbers of attention heads")
    activation = str(config.get("activation_function"))
    if activation not in ACTIVATIONS:
        raise ModelFolderError(
            f"{path}: activation_function {activation!r} is not supported; these are: "
            f"{', '.join(ACTIVATIONS)}"
        )
    vocab_size = config.get("vocab_size")
    values = {
        "vocab_size": config.get("decoder_vocab_size") or vocab_size,
        "source_vocab_size": vocab_size if n_source is not None else None,
        "d_model": config.get("d_model"),
        "d_ff": config.get("encoder_ffn_dim"),
        "n_heads": config.get("encoder_attention_heads"),
        "n_encoder_layers": config.get("encoder_layers"),
        "n_decoder_layers": config.get("decoder_layers"),
        "norm": "post" if is_marian else "pre",
        "activation": ACTIVATIONS[activation],
        "positions": "sinusoidal_halves" if is_marian else "sinusoidal_tensor2tensor",
        "max_positions": config.get("max_position_embeddings"),
        "first_position": 0 if is_marian else _id(config, "pad_token_id") + 1,
        "scale_embeddings": bool(config.get("scale_embedding")),
        "tie_embeddings": _tying(config, n_source),
        "output_bias": is_marian,
        "token_before_bos": None if is_marian else _id(config, "decoder_start_token_id"),
    }
    try:
        return parse(TransformerConfig, values, where=str(path))
    except ConfigError as error:
        raise ModelFolderError(str(error)) from None


def _tying(config: Mapping[str, Any], n_source: int | None) -> str:
    if not config.get("tie_word_embeddings", True):
        return "none"
    return "all" if n_source is None and config.get("share_encoder_decoder_embeddings", True) else "decoder"


def _weights(
    names: Names, sizes: TransformerConfig, config: Mapping[str, Any]
) -> tuple[dict[str, Tensor], list[str]]:
    """By our names; and remarks for the card."""
    D = sizes.d_model
    n_target, n_source = sizes.vocab_size, sizes.source_vocab_size or sizes.vocab_size
    shared, encoder = "model.shared.weight", "model.encoder.embed_tokens.weight"
    decoder, head = "model.decoder.embed_tokens.weight", "lm_head.weight"
    weights: dict[str, Tensor] = {}
    if sizes.tie_embeddings == "all":
        one = names.take_equal([shared, encoder, decoder, head], n_target, D)
        for name in ("source_embedding.embedding", "target_embedding.embedding"):
            weights[f"{name}.weight"] = one
        weights["output.weight_VD"] = one
    else:
        is_shared = config.get("share_encoder_decoder_embeddings", True)
        of_source = names.take_equal([encoder, shared] if is_shared else [encoder], n_source, D)
        tied = [decoder, head] if sizes.tie_embeddings == "decoder" else [decoder]
        of_target = names.take_equal(tied, n_target, D) if decoder in names else of_source
        names.drop(shared)
        weights["source_embedding.embedding.weight"] = of_source
        weights["target_embedding.embedding.weight"] = of_target
        weights["output.weight_VD"] = of_target if tied[1:] else names.take(head, n_target, D)
    if sizes.output_bias:
        weights["output.bias_V"] = names.take("final_logits_bias", 1, n_target).flatten()
    for side, index, ours, norm in sublayers(sizes.n_encoder_layers, sizes.n_decoder_layers):
        theirs, here = f"model.{side}.layers.{index}", f"{side}_layers.{index}"
        _copy_sublayer(names, weights, theirs, here, ours)
        their_norm = f"{_THEIRS[ours]}_layer_norm" if ours in _THEIRS else "final_layer_norm"
        _copy(names, weights, f"{theirs}.{their_norm}", f"{here}.{norm}.norm")
    if sizes.norm == "pre":
        for side in ("encoder", "decoder"):
            _copy(names, weights, f"model.{side}.layer_norm", f"{side}_norm")
    return weights, _take_positions(names, weights, sizes)


def _copy_sublayer(names: Names, weights: dict[str, Tensor], theirs: str, here: str, ours: str) -> None:
    if ours == "feed_forward":
        _copy(names, weights, f"{theirs}.fc1", f"{here}.feed_forward.up")
        _copy(names, weights, f"{theirs}.fc2", f"{here}.feed_forward.down")
        return
    for projection, name in _OURS.items():
        _copy(names, weights, f"{theirs}.{_THEIRS[ours]}.{projection}", f"{here}.{ours}.{name}")


def _copy(names: Names, weights: dict[str, Tensor], theirs: str, here: str) -> None:
    for part in ("weight", "bias"):
        weights[f"{here}.{part}"] = names.take(f"{theirs}.{part}")


def _take_positions(names: Names, weights: dict[str, Tensor], sizes: TransformerConfig) -> list[str]:
    """Stored tables are the sinusoids that we compute; one that is not is taken as learnt."""
    keys = [f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder")]
    keys = [key for key in keys if key in names]
    if not keys:
        return []
    tables = [names.take(key).float() for key in keys]
    for table in tables:
        rows = table[-sizes.max_positions :]
        if rows.shape != (sizes.max_positions, sizes.d_model):
            raise ModelFolderError(f"{keys[0]} is {list(table.shape)}, which fits no table of positions")
        computed = sinusoids(*rows.shape, sizes.positions, sizes.first_position)
        if float((rows - computed).abs().max()) > 1e-2:  # float16 has three digits
            if not all(torch.equal(table, tables[0]) for table in tables):
                raise ModelFolderError("encoder and decoder have different tables of positions")
            weights["positions.encoding_TD"] = rows
            return ["The stored table of positions is no table of sinusoids; it was taken as it is."]
    return []


def _read_weights(folder: Path) -> dict[str, Tensor]:
    """Of safetensors where they are there, else of a pickle that may hold tensors alone."""
    for index, single in (
        ("model.safetensors.index.json", "model.safetensors"),
        ("pytorch_model.bin.index.json", "pytorch_model.bin"),
    ):
        if (folder / single).exists():
            return _read_file(folder / single)
        if (folder / index).exists():
            parts = sorted(set(read_json(folder / index).get("weight_map", {}).values()))
            weights: dict[str, Tensor] = {}
            for part in parts:
                weights.update(_read_file(folder / Path(part).name))
            return weights
    raise ModelFolderError(f"{folder}: neither model.safetensors nor pytorch_model.bin; fetch it again")


def _read_file(path: Path) -> dict[str, Tensor]:
    if path.suffix == ".safetensors":
        try:
            return load_file(path)
        except (safetensors.SafetensorError, OSError, ValueError) as error:
            raise ModelFolderError(
                f"{path}: not a readable safetensors file: {error}; half a download? fetch it again"
            ) from None
    try:
        values = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError) as error:
        raise ModelFolderError(f"{path}: cannot be read: {error}; half a download? fetch it again") from None
    except Exception:
        raise ModelFolderError(f"{path}: a pickle that holds more than weights; it is not opened") from None
    if not isinstance(values, dict) or not all(isinstance(value, Tensor) for value in values.values()):
        raise ModelFolderError(f"{path}: holds no table of weights")
    return values

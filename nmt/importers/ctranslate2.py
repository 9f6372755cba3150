"""Models of Marian (OPUS-MT) that were converted to CTranslate2 (https://opennmt.net/CTranslate2/).

A folder has ``model.bin``, ``shared_vocabulary.json`` or one vocabulary for each side, and the SentencePiece
models, which the converter copies with ``--copy_files source.spm target.spm``. Its decoder begins with zeros
and it has no ``<pad>``, as Marian's own. Query, key and value of an attention are one matrix there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from nmt.config import TransformerConfig, parse
from nmt.errors import ConfigError, ModelFolderError
from nmt.importers.checkpoint import Checkpoint, Names, sublayers
from nmt.importers.ctranslate2_file import Number, Variables, read_variables
from nmt.importers.huggingface_tokenizer import by_id, marian_languages
from nmt.importers.marian import begun_with_zeros
from nmt.importers.settings import read_json
from nmt.layers.embedding import NEVER
from nmt.layers.positional_encoding import sinusoids

MODEL = "model.bin"
ACTIVATIONS = {0: "relu", 2: "silu", 3: "gelu"}
"""By CTranslate2's numbers."""
_IGNORED = ("alignment_heads", "alignment_layer", "embeddings_merge", "num_heads")
"""Settings that do not change a translation, or are read elsewhere."""
_THEIRS = {"feed_forward": "ffn", "self_attention": "self_attention", "cross_attention": "attention"}
_LINEAR: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "feed_forward": (("up",), ("down",)),
    "self_attention": (("query", "key", "value"), ("output",)),
    "cross_attention": (("query",), ("key", "value"), ("output",)),
}
"""What of ours each of their linear maps holds."""
_POSITIONS = ("sinusoidal_halves", "sinusoidal_tensor2tensor")


def read_ctranslate2(folder: Path, source: str | None, target: str | None) -> Checkpoint:
    """Read ``model.bin``, the vocabularies and the tokenizer's files.

    Args:
        folder: that CTranslate2's converter wrote.
        source: the language to read, where ``tokenizer_config.json`` does not say; BCP 47.
        target: the same to write.

    Raises:
        ModelFolderError: a file is missing, unreadable or at odds with another, or the model is none of
            Marian's.
    """
    path = folder / MODEL
    variables = read_variables(path)
    vocabularies = _vocabularies(folder)
    names = Names(variables.weights, str(path))
    sizes = _sizes(path, variables, vocabularies)
    weights = _weights(names, sizes)
    sizes = _with_positions(names, weights, sizes)
    names.finish()
    file = folder / "tokenizer_config.json"
    settings = read_json(file) if file.is_file() else {}
    remarks = () if variables.quantised is None else (_inexact(variables.quantised),)
    return begun_with_zeros(
        "Marian, converted to CTranslate2",
        folder,
        sizes,
        weights,
        vocabularies,
        *marian_languages(folder, settings, vocabularies[0], source, target),
        remarks=remarks,
    )


def _inexact(quantised: str) -> str:
    return (
        f"Inexact: the weights were stored as {quantised} and are multiplied out to float32 here. "
        "Translations are about those of the original, not the same; import the original for those."
    )


def _sizes(
    path: Path, variables: Variables, vocabularies: tuple[tuple[str, ...], tuple[str, ...]]
) -> TransformerConfig:
    """The configuration of our Transformer; one piece more than the target's, ``<pad>``."""
    settings, weights = dict(variables.settings), variables.weights
    if not settings.pop("decoder/start_from_zero_embedding", 0):
        raise ModelFolderError(
            f"{path}: no model of Marian (its decoder does not begin with zeros); of M2M-100 and NLLB import "
            "the original"
        )
    n_source, n_target = map(len, vocabularies)
    embedding = weights.get("decoder/embeddings/weight")
    of_source = weights.get("encoder/embeddings_0/weight")
    if embedding is None or of_source is None or (len(of_source), len(embedding)) != (n_source, n_target):
        raise ModelFolderError(
            f"{path}: its embeddings do not fit vocabularies of {n_source} and {n_target} pieces; the files "
            "are of different models"
        )
    d_model = embedding.shape[1]
    values = {
        "vocab_size": n_target + 1,
        "source_vocab_size": None if vocabularies[0] == vocabularies[1] else n_source,
        "d_model": d_model,
        "d_ff": len(weights.get("encoder/layer_0/ffn/linear_0/weight", ())),
        "n_heads": settings.get("decoder/num_heads"),
        "n_encoder_layers": _n_layers(weights, "encoder"),
        "n_decoder_layers": _n_layers(weights, "decoder"),
        "norm": "pre" if _both(path, settings, "pre_norm") else "post",
        "activation": ACTIVATIONS.get(int(_both(path, settings, "activation"))),
        "positions": _POSITIONS[0],
        "max_positions": len(weights.get("decoder/position_encodings/encodings", ())),
        "scale_embeddings": _is_scaled(path, _both(path, settings, "scale_embeddings"), d_model),
        "tie_embeddings": _tying(weights),
        "output_bias": True,
    }
    for key, value in settings.items():
        if value and key.rsplit("/", 1)[-1] not in _IGNORED:
            raise ModelFolderError(f"{path}: {key} = {value} cannot be imported")
    try:
        return parse(TransformerConfig, values, where=str(path))
    except ConfigError as error:
        raise ModelFolderError(str(error)) from None


def _both(path: Path, settings: dict[str, Number], key: str) -> Number:
    """A setting that both sides have; taken out."""
    encoder, decoder = (settings.pop(f"{side}/{key}", None) for side in ("encoder", "decoder"))
    if encoder is None or encoder != decoder:
        raise ModelFolderError(f"{path}: {key} is {encoder} in the encoder and {decoder} in the decoder")
    return encoder


def _is_scaled(path: Path, value: Number, d_model: int) -> bool:
    """A truth value, or the factor itself."""
    if isinstance(value, int):
        return bool(value)
    if math.isclose(value, math.sqrt(d_model), rel_tol=1e-4):
        return True
    if value == 1.0:
        return False
    raise ModelFolderError(
        f"{path}: scale_embeddings = {value} is neither 1 nor the square root of {d_model}"
    )


def _n_layers(weights: Mapping[str, Tensor], side: str) -> int:
    return len({name.split("/")[1] for name in weights if name.startswith(f"{side}/layer_")})


def _tying(weights: Mapping[str, Tensor]) -> str:
    target = weights["decoder/embeddings/weight"]
    source = weights["encoder/embeddings_0/weight"]
    if not torch.equal(target, weights.get("decoder/projection/weight", target)):
        return "none"
    return "all" if torch.equal(target, source) else "decoder"


def _weights(names: Names, sizes: TransformerConfig) -> dict[str, Tensor]:
    D, n_target = sizes.d_model, sizes.vocab_size - 1
    of_target = names.take("decoder/embeddings/weight", n_target, D)
    of_source = names.take("encoder/embeddings_0/weight", sizes.source_vocab_size or n_target, D)
    head = names.take("decoder/projection/weight", n_target, D)
    bias = "decoder/projection/bias"  # absent where it would be zeros
    bias_V = names.take(bias, n_target) if bias in names else of_target.new_zeros(n_target)
    weights = {
        "target_embedding.embedding.weight": _with_pad(of_target),
        "source_embedding.embedding.weight": of_source if sizes.source_vocab_size else _with_pad(of_source),
        "output.weight_VD": _with_pad(head),
        "output.bias_V": torch.cat((bias_V, bias_V.new_full((1,), NEVER))),
    }
    for side, index, ours, norm in sublayers(sizes.n_encoder_layers, sizes.n_decoder_layers):
        here, theirs = f"{side}_layers.{index}", f"{side}/layer_{index}/{_THEIRS[ours]}"
        for name, linears in zip(("linear_0", "linear_1", "linear_2"), _LINEAR[ours], strict=False):
            _split(names, weights, f"{theirs}/{name}", [f"{here}.{ours}.{part}" for part in linears])
        _copy_norm(names, weights, f"{theirs}/layer_norm", f"{here}.{norm}.norm")
    if sizes.norm == "pre":
        for side in ("encoder", "decoder"):
            _copy_norm(names, weights, f"{side}/layer_norm", f"{side}_norm")
    return weights


def _with_pad(weight_VD: Tensor) -> Tensor:
    return torch.cat((weight_VD, weight_VD.new_zeros(1, weight_VD.shape[1])))


def _split(names: Names, weights: dict[str, Tensor], theirs: str, ours: list[str]) -> None:
    """One linear map of theirs as several of ours, one after the other in its rows."""
    for part in ("weight", "bias"):
        for name, rows in zip(ours, names.take(f"{theirs}/{part}").chunk(len(ours)), strict=True):
            weights[f"{name}.{part}"] = rows.contiguous()


def _copy_norm(names: Names, weights: dict[str, Tensor], theirs: str, ours: str) -> None:
    for name, part in (("gamma", "weight"), ("beta", "bias")):
        weights[f"{ours}.{part}"] = names.take(f"{theirs}/{name}")


def _with_positions(names: Names, weights: dict[str, Tensor], sizes: TransformerConfig) -> TransformerConfig:
    """Their table of positions by its formula, or as a learnt one where it has none."""
    table = names.take_equal([f"{side}/position_encodings/encodings" for side in ("decoder", "encoder")])
    for kind in _POSITIONS:
        if (
            float((table.float() - sinusoids(len(table), table.shape[1], kind)).abs().max()) < 1e-2
        ):  # float16: three digits
            return sizes.model_copy(update={"positions": kind})
    weights["positions.encoding_TD"] = table
    return sizes.model_copy(update={"positions": "learned"})


def _vocabularies(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The pieces of source and target."""
    shared = _pieces(folder, "shared_vocabulary")
    sides = (_pieces(folder, "source_vocabulary"), _pieces(folder, "target_vocabulary"))
    source, target = (shared, shared) if shared is not None else sides
    if source is None or target is None:
        raise ModelFolderError(
            f"{folder}: neither shared_vocabulary.json nor source_vocabulary.json and target_vocabulary.json"
            "; fetch the folder again"
        )
    return source, target


def _pieces(folder: Path, name: str) -> tuple[str, ...] | None:
    """A vocabulary as JSON, or as older converters wrote it, a piece a line; None: there is none."""
    path = next((path for end in ("json", "txt") if (path := folder / f"{name}.{end}").is_file()), None)
    if path is None:
        return None
    try:
        text = path.read_text("utf-8")
        pieces = json.loads(text) if path.suffix == ".json" else text.rstrip("\n").split("\n")
    except (OSError, ValueError) as error:
        raise ModelFolderError(
            f"{path}: not a vocabulary: {error}; half a download? fetch it again"
        ) from None
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise ModelFolderError(f"{path}: not a list of pieces")
    return by_id(path, {piece: id_ for id_, piece in enumerate(pieces)})

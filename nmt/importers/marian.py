"""Marian's own checkpoints (https://marian-nmt.github.io), as OPUS-MT's archives hold them.

A file ``*.npz`` has the weights and, as ``special:model.yml``, the options; ``decoder.yml`` names the
vocabularies. Marian's sinusoids are tensor2tensor's and its linear maps are stored transposed. Its decoder
begins with a vector of zeros: here with a piece ``<pad>``, whose embedding is zeros and which is not written.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from torch import Tensor

from nmt.config import GenerationConfig, LanguagePieces, SpecialIds, TransformerConfig, parse
from nmt.errors import ConfigError, ModelFolderError
from nmt.importers.checkpoint import Checkpoint, Names, sublayers
from nmt.importers.huggingface_tokenizer import by_id, marian_languages
from nmt.importers.settings import MOST_PER_SOURCE_TOKEN, licence_of, of_punctuation
from nmt.layers.embedding import NEVER
from nmt.model_folder.vocabulary import StoredVocabulary

OPTIONS = "special:model.yml"
ACTIVATIONS = {"relu": "relu", "swish": "silu"}
"""Marian's GELU is another function than the exact one."""
MAX_POSITIONS = 1024
PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
_EXPECTED: Mapping[str, tuple[Any, ...]] = {
    "type": ("transformer",),
    "transformer-decoder-autoreg": ("self-attention", None),
    "transformer-train-position-embeddings": (False, None),
    "transformer-no-projection": (False, None),
    "transformer-tied-layers": ([], None),
    "transformer-ffn-depth": (2, None),
    "transformer-aan-depth": (2, None),
    "lemma-dim-emb": (0, None),
    "embedding-normalization": (False, None),
}
"""Options and the values that can be imported; None: absent."""
_NORMS = {("", "dan"): "post", ("", "an"): "post", ("n", "da"): "pre", ("n", "a"): "pre"}
"""By ``transformer-preprocess`` and ``transformer-postprocess``."""
_PROJECTIONS = {"q": "query", "k": "key", "v": "value", "o": "output"}
_THEIRS = {"self_attention": "self", "cross_attention": "context"}


def read_marian(folder: Path, source: str | None, target: str | None) -> Checkpoint:
    """Read the archive's files.

    Args:
        folder: of the archive.
        source: the language to read, BCP 47; the archive does not say.
        target: the same to write.

    Raises:
        ModelFolderError: a file is missing, unreadable or at odds with another, or an option is not
            supported.
    """
    path = _weights_file(folder)
    arrays = _arrays(path)
    options = _options(path, arrays)
    source_pieces, pieces = _vocabularies(folder)
    sizes = _sizes(path, options, arrays, len(pieces), len(source_pieces))
    names = Names(
        {name: torch.from_numpy(array) for name, array in arrays.items() if not name.startswith("special:")},
        str(path),
    )
    weights = _weights(names, sizes)
    names.drop("decoder_c_mt")
    names.finish()
    return begun_with_zeros(
        "Marian",
        folder,
        sizes,
        weights,
        (source_pieces, pieces),
        *marian_languages(folder, {}, source_pieces, source, target),
        remarks=("Of Marian's positions, which have no end, the first 1,024 are kept.",),
    )


def begun_with_zeros(
    kind: str,
    folder: Path,
    sizes: TransformerConfig,
    weights: Mapping[str, Tensor],
    vocabularies: tuple[tuple[str, ...], tuple[str, ...]],
    languages: tuple[str, str],
    named: LanguagePieces | None,
    *,
    remarks: tuple[str, ...],
) -> Checkpoint:
    """A checkpoint whose decoder begins with zeros: with ``<pad>``, which is added to its vocabulary.

    Args:
        kind: for the card.
        folder: has ``source.spm`` and ``target.spm``.
        sizes: with ``<pad>`` counted.
        weights: with rows for ``<pad>``, which is the last.
        vocabularies: pieces of source and target, without ``<pad>``.
        languages: to begin with.
        named: of a model of several languages.
        remarks: for the card.

    Raises:
        ModelFolderError: a file or a piece is missing, or a piece has two ids.
    """
    source_pieces, pieces = vocabularies
    is_joint = sizes.source_vocab_size is None
    return Checkpoint(
        kind,
        sizes,
        _special_ids(folder, source_pieces, pieces, is_joint=is_joint),
        weights,
        _present(folder / "target.spm"),
        _present(folder / "source.spm"),
        StoredVocabulary(
            target=(*pieces, PAD),
            source=None if is_joint else source_pieces,
            control=() if named is None else tuple(named.target.values()),
        ),
        languages,
        named,
        GenerationConfig(beam_size=4, length_normalization="mean", max_length_ratio=MOST_PER_SOURCE_TOKEN),
        max_source_tokens=min(256, sizes.positions_left - 1),
        licence=licence_of(folder),
        remarks=(
            *remarks,
            "The decoder begins with the piece <pad>, whose embedding is zeros.",
            *of_punctuation(folder),
        ),
    )


def _special_ids(
    folder: Path, source_pieces: tuple[str, ...], pieces: tuple[str, ...], *, is_joint: bool
) -> SpecialIds:
    """Ids of a model whose ``<pad>``, which it begins with, follows its own pieces."""
    end, unknown = pieces.index(END), pieces.index(UNKNOWN)
    of_source = source_pieces.index(END), source_pieces.index(UNKNOWN)
    if not is_joint and of_source != (end, unknown):
        raise ModelFolderError(f"{folder}: {END} or {UNKNOWN} has other ids in the two vocabularies")
    return SpecialIds(
        pad=len(pieces), unk=unknown, bos=len(pieces), eos=end, source_pad=None if is_joint else of_source[0]
    )


def _weights_file(folder: Path) -> Path:
    """The file that ``decoder.yml`` names, or the only one."""
    files = sorted(folder.glob("*.npz"))
    decoder = folder / "decoder.yml"
    if decoder.exists():
        named = [Path(str(name)).name for name in _yaml(decoder).get("models", ())]
        files = [file for file in files if file.name in named] or files
    if len(files) != 1:
        names = ", ".join(file.name for file in files)
        raise ModelFolderError(f"{folder}: {len(files)} checkpoints ({names}); keep the one to import")
    return files[0]


def _arrays(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ModelFolderError(f"{path}: not a checkpoint of Marian: {error}; half a download?") from None


def _options(path: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Any]:
    if OPTIONS not in arrays:
        raise ModelFolderError(f"{path}: has no {OPTIONS}, so its architecture is not known")
    text = arrays[OPTIONS].tobytes().rstrip(b"\0").decode("utf-8", errors="replace")
    try:
        options = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ModelFolderError(f"{path}: {OPTIONS} is not YAML: {error}") from None
    if not isinstance(options, dict):
        raise ModelFolderError(f"{path}: {OPTIONS} is no table of options")
    for key, allowed in _EXPECTED.items():
        if options.get(key) not in allowed:
            raise ModelFolderError(
                f"{path}: {key} = {options.get(key)!r} cannot be imported, only {allowed[0]!r}"
            )
    if any("factor" in str(name) for name in options.get("vocabs", ())):
        raise ModelFolderError(f"{path}: factored vocabularies cannot be imported")
    return options


def _sizes(
    path: Path,
    options: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray[Any, Any]],
    n_target: int,
    n_source: int,
) -> TransformerConfig:
    """The configuration of our Transformer; one piece more than the target's, ``<pad>``."""
    places = str(options.get("transformer-preprocess")), str(options.get("transformer-postprocess"))
    activation = str(options.get("transformer-ffn-activation", "swish"))
    if places not in _NORMS or activation not in ACTIVATIONS:
        raise ModelFolderError(
            f"{path}: transformer-preprocess {places[0]!r} with transformer-postprocess {places[1]!r} and "
            f"activation {activation!r} cannot be imported"
        )
    if _NORMS[places] == "pre" and "n" not in str(options.get("transformer-postprocess-top", "")):
        raise ModelFolderError(f"{path}: pre-norm without transformer-postprocess-top: n cannot be imported")
    is_joint = "Wemb" in arrays and "encoder_Wemb" not in arrays
    is_tied = is_joint or bool(options.get("tied-embeddings"))
    values = {
        "vocab_size": n_target + 1,
        "source_vocab_size": None if is_joint else n_source,
        "d_model": options.get("dim-emb"),
        "d_ff": options.get("transformer-dim-ffn"),
        "n_heads": options.get("transformer-heads"),
        "n_encoder_layers": options.get("enc-depth"),
        "n_decoder_layers": options.get("dec-depth"),
        "norm": _NORMS[places],
        "activation": ACTIVATIONS[activation],
        "positions": "sinusoidal_tensor2tensor",
        "max_positions": MAX_POSITIONS,
        "tie_embeddings": "all"
        if is_joint and "decoder_ff_logit_out_W" not in arrays
        else "decoder"
        if is_tied and "decoder_ff_logit_out_W" not in arrays
        else "none",
        "output_bias": True,
    }
    try:
        return parse(TransformerConfig, values, where=str(path))
    except ConfigError as error:
        raise ModelFolderError(str(error)) from None


def _weights(names: Names, sizes: TransformerConfig) -> dict[str, Tensor]:
    D, n_target = sizes.d_model, sizes.vocab_size - 1
    weights: dict[str, Tensor] = {}
    joint = "Wemb" in names
    of_target = names.take("Wemb" if joint else "decoder_Wemb", n_target, D)
    of_source = of_target if joint else names.take("encoder_Wemb", sizes.source_vocab_size or n_target, D)
    padded = torch.cat((of_target, of_target.new_zeros(1, D)))
    weights["target_embedding.embedding.weight"] = padded
    weights["source_embedding.embedding.weight"] = padded if joint else of_source
    weights["output.weight_VD"] = padded
    if sizes.tie_embeddings == "none":
        head = names.take("decoder_ff_logit_out_W", D, n_target).T
        weights["output.weight_VD"] = torch.cat((head, head.new_zeros(1, D)))
    bias = names.take("decoder_ff_logit_out_b", 1, n_target).flatten()
    weights["output.bias_V"] = torch.cat((bias, bias.new_full((1,), NEVER)))
    suffix = "_pre" if sizes.norm == "pre" else ""
    for side, index, ours, norm in sublayers(sizes.n_encoder_layers, sizes.n_decoder_layers):
        theirs, here = f"{side}_l{index + 1}", f"{side}_layers.{index}"
        if ours == "feed_forward":
            for number, part in (("1", "up"), ("2", "down")):
                weights[f"{here}.feed_forward.{part}.weight"] = names.take(f"{theirs}_ffn_W{number}").T
                weights[f"{here}.feed_forward.{part}.bias"] = names.take(f"{theirs}_ffn_b{number}").flatten()
            prefix = f"{theirs}_ffn_ffn"
        else:
            for letter, part in _PROJECTIONS.items():
                attention = f"{theirs}_{_THEIRS[ours]}"
                weights[f"{here}.{ours}.{part}.weight"] = names.take(f"{attention}_W{letter}").T
                weights[f"{here}.{ours}.{part}.bias"] = names.take(f"{attention}_b{letter}").flatten()
            prefix = f"{theirs}_{_THEIRS[ours]}_Wo"
        _copy_norm(names, weights, prefix, suffix, f"{here}.{norm}.norm")
    if sizes.norm == "pre":
        for side in ("encoder", "decoder"):
            _copy_norm(names, weights, f"{side}_top", "", f"{side}_norm")
    return weights


def _copy_norm(names: Names, weights: dict[str, Tensor], prefix: str, suffix: str, here: str) -> None:
    for theirs, part in (("scale", "weight"), ("bias", "bias")):
        weights[f"{here}.{part}"] = names.take(f"{prefix}_ln_{theirs}{suffix}").flatten()


def _vocabularies(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The pieces of source and target, which may be one file."""
    decoder = folder / "decoder.yml"
    named = [Path(str(name)).name for name in _yaml(decoder).get("vocabs", ())] if decoder.exists() else []
    files = [folder / name for name in named if (folder / name).is_file()]
    if not files:
        files = sorted(folder.glob("*vocab*.yml"))
    if not 1 <= len(files) <= 2:
        raise ModelFolderError(
            f"{folder}: {len(files)} files of vocabularies (*vocab*.yml); decoder.yml names them"
        )
    read = {file: by_id(file, _pieces_of(file)) for file in dict.fromkeys(files)}
    return read[files[0]], read[files[-1]]


def _pieces_of(path: Path) -> dict[str, int]:
    """A vocabulary as text: YAML would read ``no`` and ``1`` as other than strings."""
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    values = _yaml(path, loader)
    if not all(re.fullmatch(r"\d+", str(id_)) for id_ in values.values()):
        raise ModelFolderError(f"{path}: not a table of pieces and ids")
    return {str(piece): int(id_) for piece, id_ in values.items()}


def _yaml(path: Path, loader: Any = yaml.SafeLoader) -> dict[str, Any]:  # noqa: ANN401 - PyYAML's own classes
    try:
        values = yaml.load(path.read_text("utf-8"), Loader=loader)  # noqa: S506 - loaders of plain values
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise ModelFolderError(f"{path}: not YAML that can be read: {error}") from None
    if not isinstance(values, dict):
        raise ModelFolderError(f"{path}: not a table")
    return values


def _present(path: Path) -> Path:
    if not path.is_file():
        raise ModelFolderError(
            f"{path}: missing; models of other sub-words than SentencePiece (BPE) cannot be imported"
        )
    return path

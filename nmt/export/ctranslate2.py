"""Our Transformer as a CTranslate2 model, by that project's public model-spec API.

The mapping is exact: CTranslate2 knows pre- and post-norm, ReLU, exact GELU and SiLU, scaled embeddings, a
bias of the logits and a table of positional encodings, in which ours are written out. Query, key and value
projections lie in one matrix there. A tensor that is used twice is stored once.

Source: https://opennmt.net/CTranslate2/, ``ctranslate2.specs.TransformerSpec``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nmt.export.exportable import exportable
from nmt.layers.attention import MultiHeadAttention
from nmt.layers.feed_forward import FeedForward
from nmt.layers.positional_encoding import TabledEncoding
from nmt.model_folder.opened import AnyModel


def export_ctranslate2(loaded: AnyModel, out: Path, quantization: str = "float32") -> None:
    """Write ``model.bin``, ``config.json`` and the vocabulary into ``out``.

    Args:
        loaded: a Transformer.
        out: an empty folder.
        quantization: how weights are stored; CTranslate2 converts them to its ``compute_type`` when it loads.

    Raises:
        ConfigError: the model is no Transformer, or has what the export does not know.
        ImportError: CTranslate2 is not installed.
    """
    from ctranslate2.specs import TransformerSpec, common_spec  # noqa: PLC0415 - an optional extra

    config, model = exportable(loaded, "CTranslate2")
    assert isinstance(model.positions, TabledEncoding)
    activation = common_spec.Activation
    spec = TransformerSpec.from_config(
        (config.n_encoder_layers, config.n_decoder_layers),
        config.n_heads,
        pre_norm=config.norm == "pre",
        activation={"relu": activation.RELU, "gelu": activation.GELU, "silu": activation.SWISH}[
            config.activation
        ],
        alignment_layer=model.alignment_layer,
        alignment_heads=config.n_heads,  # their mean, as ``Transformer.forward_with_attention``
    )
    _set_embeddings(spec.encoder.embeddings[0], model.source_embedding.weight_VD)
    _set_embeddings(spec.decoder.embeddings, model.target_embedding.weight_VD)
    spec.decoder.projection.weight = _array(model.output.weight_VD)
    if model.output.bias_V is not None:
        spec.decoder.projection.bias = _array(model.output.bias_V)
    for side, layers in ((spec.encoder, model.encoder_layers), (spec.decoder, model.decoder_layers)):
        side.scale_embeddings = config.scale_embeddings
        side.position_encodings.encodings = _array(model.positions.encoding_TD)
        for theirs, ours in zip(side.layer, layers, strict=True):
            _set_layer(theirs, ours, config.n_heads)
    if config.norm == "pre":
        _set_norm(spec.encoder.layer_norm, model.encoder_norm)
        _set_norm(spec.decoder.layer_norm, model.decoder_norm)
    pieces = loaded.tokenizer.pieces
    special = loaded.config.special_ids
    spec.register_source_vocabulary(loaded.source_tokenizer.pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.unk_token = pieces[special.unk]
    first = special.bos if config.token_before_bos is None else config.token_before_bos
    spec.config.bos_token = spec.config.decoder_start_token = pieces[first]
    spec.config.eos_token = pieces[special.eos]
    spec.config.add_source_eos = True
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(out))


def _set_layer(theirs: Any, ours: Any, n_heads: int) -> None:  # noqa: ANN401 - of two kinds each
    """An encoder or a decoder layer; a sub-layer's norm stands with it, before or after as the model says."""
    _set_attention(theirs.self_attention, ours.self_attention, n_heads, own_memory=True)
    if hasattr(ours, "cross_attention"):
        _set_norm(theirs.self_attention.layer_norm, ours.around_self_attention.norm)
        _set_attention(theirs.attention, ours.cross_attention, n_heads, own_memory=False)
        _set_norm(theirs.attention.layer_norm, ours.around_cross_attention.norm)
    else:
        _set_norm(theirs.self_attention.layer_norm, ours.around_attention.norm)
    _set_feed_forward(theirs.ffn, ours.feed_forward)
    _set_norm(theirs.ffn.layer_norm, ours.around_feed_forward.norm)


def _set_attention(
    spec: Any,  # noqa: ANN401
    attention: MultiHeadAttention,
    n_heads: int,
    *,
    own_memory: bool,
) -> None:
    """Self-attention: [query; key; value], output. Cross-attention: query, [key; value], output.

    CTranslate2 has as many heads everywhere: those that were pruned come back as zeros, which add nothing.
    """
    d_inner = attention.query.out_features
    missing = d_inner // attention.n_heads * (n_heads - attention.n_heads)
    query, memory = [attention.query], [attention.key, attention.value]
    groups = [[*query, *memory]] if own_memory else [query, memory]
    for linear_spec, linears in zip(spec.linear, groups, strict=False):  # the last is the output
        linear_spec.weight = np.concatenate(
            [np.pad(_array(linear.weight), ((0, missing), (0, 0))) for linear in linears]
        )
        linear_spec.bias = np.concatenate([np.pad(_array(linear.bias), (0, missing)) for linear in linears])
    spec.linear[-1].weight = np.pad(_array(attention.output.weight), ((0, 0), (0, missing)))
    spec.linear[-1].bias = _array(attention.output.bias)


def _set_feed_forward(spec: Any, feed_forward: FeedForward) -> None:  # noqa: ANN401
    for linear_spec, linear in ((spec.linear_0, feed_forward.up), (spec.linear_1, feed_forward.down)):
        linear_spec.weight, linear_spec.bias = _array(linear.weight), _array(linear.bias)


def _set_norm(spec: Any, norm: nn.Module) -> None:  # noqa: ANN401
    assert isinstance(norm, nn.LayerNorm)
    spec.gamma, spec.beta = _array(norm.weight), _array(norm.bias)


def _set_embeddings(spec: Any, weight_VD: Tensor) -> None:  # noqa: ANN401
    """``scale_embeddings`` of the spec multiplies by sqrt(D), as ``ScaledEmbedding`` does."""
    spec.weight = _array(weight_VD)


def _array(tensor: Tensor) -> NDArray[np.float32]:
    """A copy: CTranslate2 quantises in place."""
    array: NDArray[np.float32] = tensor.detach().to("cpu", torch.float32).numpy().copy()
    return array

"""From a model configuration to a module: the only place where the two meet."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from nmt.config import DecoderOnlyConfig, ModelConfig, Positions, RnnConfig, TransformerConfig
from nmt.layers.alibi import AlibiPositions
from nmt.layers.attention import MultiHeadAttention, RelativePositions
from nmt.layers.coverage import build_coverage
from nmt.layers.document_context import DocumentContext
from nmt.layers.embedding import OutputProjection, ScaledEmbedding
from nmt.layers.feed_forward import FeedForward
from nmt.layers.hierarchical_attention import HierarchicalAttention
from nmt.layers.multiplicative_attention import build_recurrent_attention
from nmt.layers.positional_encoding import (
    LearnedPositionalEncoding,
    NoPositionalEncoding,
    PositionalEncoding,
    SinusoidalPositionalEncoding,
)
from nmt.layers.rotary import RotaryPositions
from nmt.models.copying import CopyingModel
from nmt.models.decoder_only import CausalLayer, DecoderOnly
from nmt.models.mixture import MixtureModel
from nmt.models.pointing import PointingModel
from nmt.models.rnn import Encoder, Readout, RnnEncoderDecoder
from nmt.models.transformer import DecoderLayer, EncoderLayer, Residual, Transformer

Model = Transformer | RnnEncoderDecoder | DecoderOnly | MixtureModel


def build_model(config: ModelConfig) -> Model:
    """A freshly initialised model; torch's default generator decides the weights."""
    if isinstance(config, DecoderOnlyConfig):
        return build_decoder_only(config)
    translator: Transformer | RnnEncoderDecoder
    if isinstance(config, TransformerConfig):
        translator, d_hidden = build_transformer(config), config.d_model
    else:
        translator, d_hidden = build_rnn(config), config.d_embedding
    if config.pointer == "source":
        return CopyingModel(translator, d_hidden)
    return PointingModel(translator, d_hidden) if config.pointer == "written" else translator


def build_transformer(config: TransformerConfig) -> Transformer:
    """Vaswani et al. 2017; linear maps Xavier-uniform, biases zero, embeddings normal (1/sqrt(d_model))."""

    def attention(n_heads: int, relative: RelativePositions | None = None) -> MultiHeadAttention:
        return MultiHeadAttention(
            config.d_model, n_heads, config.attention_dropout, config.d_model // config.n_heads, relative
        )

    def crossing(n_heads: int) -> MultiHeadAttention:
        if config.sources == "hierarchical":
            return HierarchicalAttention(config.d_model, n_heads, config.attention_dropout)
        return attention(n_heads)

    def feed_forward() -> FeedForward:
        return FeedForward(
            config.d_model, config.d_ff, activation=config.activation, dropout=config.activation_dropout
        )

    def residuals(n: int) -> list[Residual]:
        return [Residual(config.d_model, config.dropout, config.norm) for _ in range(n)]

    def embedding(vocab_size: int) -> ScaledEmbedding:
        return ScaledEmbedding(vocab_size, config.d_model, is_scaled=config.scale_embeddings)

    in_encoder, in_decoder = (
        _relative_positions(config.positions, is_encoder=is_encoder) for is_encoder in (True, False)
    )
    target = embedding(config.vocab_size)
    shared = config.tie_embeddings == "all"
    model = Transformer(
        target if shared else embedding(config.source_vocab_size or config.vocab_size),
        target,
        _positional_encoding(config),
        [
            EncoderLayer(attention(n, in_encoder), feed_forward(), residuals(2))
            for n in config.heads_of("encoder")
        ],
        [
            DecoderLayer(attention(n_self, in_decoder), crossing(n_cross), feed_forward(), residuals(3))
            for n_self, n_cross in zip(config.heads_of("decoder"), config.heads_of("cross"), strict=True)
        ],
        OutputProjection(
            config.vocab_size,
            config.d_model,
            None if config.tie_embeddings == "none" else target,
            has_bias=config.output_bias,
        ),
        d_model=config.d_model,
        dropout=config.dropout,
        norm=config.norm,
        alignment_layer=config.alignment_layer,
        token_before_bos=config.token_before_bos,
        sources=config.sources,
        separator=config.separator,
        context=_document_context(config, feed_forward) if config.sources == "document" else None,
    )
    _initialise(model)
    return model


def _document_context(config: TransformerConfig, feed_forward: Callable[[], FeedForward]) -> DocumentContext:
    attention = HierarchicalAttention(config.d_model, config.n_heads, config.attention_dropout)
    return DocumentContext(attention, feed_forward(), config.d_model)


def build_decoder_only(config: DecoderOnlyConfig) -> DecoderOnly:
    """Radford et al. 2018, initialised as the Transformer is."""
    relative = _relative_positions(config.positions, is_encoder=False)
    embedding = ScaledEmbedding(config.vocab_size, config.d_model)
    model = DecoderOnly(
        embedding,
        [
            CausalLayer(
                MultiHeadAttention(
                    config.d_model, config.n_heads, config.attention_dropout, relative=relative
                ),
                FeedForward(
                    config.d_model,
                    config.d_ff,
                    activation=config.activation,
                    dropout=config.activation_dropout,
                ),
                [Residual(config.d_model, config.dropout, "pre") for _ in range(2)],
            )
            for _ in range(config.n_layers)
        ],
        OutputProjection(config.vocab_size, config.d_model, embedding),
        d_model=config.d_model,
        dropout=config.dropout,
        alignment_layer=config.alignment_layer,
    )
    _initialise(model)
    return model


def _initialise(model: nn.Module) -> None:
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


def _relative_positions(positions: Positions, *, is_encoder: bool) -> RelativePositions | None:
    if positions == "rotary":
        return RotaryPositions()
    return AlibiPositions(is_encoder) if positions == "alibi" else None


def _positional_encoding(config: TransformerConfig) -> PositionalEncoding:
    if config.positions in ("none", "rotary", "alibi"):
        return NoPositionalEncoding()
    if config.positions == "learned":
        return LearnedPositionalEncoding(config.d_model, config.max_positions)
    return SinusoidalPositionalEncoding(
        config.d_model, config.max_positions, config.positions, config.first_position
    )


def build_rnn(config: RnnConfig) -> RnnEncoderDecoder:
    """Bahdanau et al. 2015, or with ``attention = "none"`` the same without; torch's own initialisation."""
    target = ScaledEmbedding(config.vocab_size, config.d_embedding)
    shared = config.tie_embeddings == "all"
    d_annotation = config.d_hidden if config.attention in ("dot", "scaled_dot") else 2 * config.d_hidden
    attention, d_context = None, 0
    if config.attention != "none":
        attention = build_recurrent_attention(
            config.attention, config.d_hidden, d_annotation, config.d_hidden
        )
        d_context = d_annotation
    return RnnEncoderDecoder(
        target if shared else ScaledEmbedding(config.vocab_size, config.d_embedding),
        target,
        Encoder(config.d_embedding, config.d_hidden, d_annotation, config.dropout),
        attention,
        Readout(config.d_hidden, config.d_embedding, d_context, config.dropout),
        OutputProjection(
            config.vocab_size, config.d_embedding, None if config.tie_embeddings == "none" else target
        ),
        d_context=d_context,
        dropout=config.dropout,
        coverage=None
        if config.coverage == "none"
        else build_coverage(config.coverage, config.d_hidden, d_annotation, config.d_hidden),
    )

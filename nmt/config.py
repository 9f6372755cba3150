"""Configuration: frozen, strict pydantic models, read from TOML or JSON, overridden with ``key=value``.

An unknown key is an error that names the nearest valid one. Nothing here imports torch: the command line
reads configuration before it knows whether it will need a model.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from nmt.errors import ConfigError

FORMAT_VERSION = 1

EngineName = Literal["auto", "eager", "int8", "float32", "bfloat16", "float16"]
"""Engines, see ``nmt.searchers.choose``."""


class StrictModel(BaseModel):
    """A frozen pydantic model that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class SpecialIds(StrictModel):
    """Token ids with a meaning of their own; the defaults are those of our SentencePiece models."""

    pad: int = 0
    unk: int = 1
    bos: int = 2
    eos: int = 3
    source_pad: int | None = None
    """Padding of a source that has a vocabulary of its own; None: ``pad``."""


Positions = Literal[
    "sinusoidal", "sinusoidal_halves", "sinusoidal_tensor2tensor", "learned", "none", "rotary", "alibi"
]
"""How a model knows the order of tokens."""


Pointer = Literal["none", "source", "written"]
"""At what a model may point instead of writing a word: ``nmt.models.copying``, ``nmt.models.pointing``."""


Sources = Literal["one", "flat", "hierarchical", "document"]
"""Content of a source: one text; several, read by one softmax or two (``nmt.layers.hierarchical_attention``);
or the sentences before and the one to translate (``nmt.layers.document_context``)."""


class KeptHeads(StrictModel):
    """How many heads each attention has after pruning (Michel et al. 2019; Voita et al. 2019)."""

    encoder: tuple[Annotated[int, Field(ge=1)], ...]
    """Heads of each encoder layer's self-attention."""
    decoder: tuple[Annotated[int, Field(ge=1)], ...]
    """Heads of each decoder layer's self-attention."""
    cross: tuple[Annotated[int, Field(ge=1)], ...]
    """Heads of each decoder layer's cross-attention."""


class TransformerConfig(StrictModel):
    """The encoder-decoder Transformer (Vaswani et al. 2017)."""

    architecture: Literal["transformer"] = "transformer"
    vocab_size: int = Field(gt=4)
    d_model: int = Field(256, gt=0)
    d_ff: int = Field(1024, gt=0)
    n_heads: int = Field(4, gt=0)
    n_encoder_layers: int = Field(4, gt=0)
    n_decoder_layers: int = Field(4, gt=0)
    dropout: float = Field(0.1, ge=0, lt=1)
    attention_dropout: float = Field(0.0, ge=0, lt=1)
    activation_dropout: float = Field(0.0, ge=0, lt=1)
    norm: Literal["pre", "post"] = "pre"
    activation: Literal["relu", "gelu", "silu"] = "relu"
    """GELU is the exact one; SiLU (Swish) is Marian's."""
    positions: Positions = "sinusoidal"
    """The sinusoidal ones: ``nmt.layers.positional_encoding.sinusoids``; rotary and alibi: the modules so
    called. none: only the decoder's mask tells it an order."""
    max_positions: int = Field(1024, gt=0)
    first_position: int = Field(0, ge=0)
    """Position of the first token: fairseq's models begin after the index of padding."""
    scale_embeddings: bool = True
    """Embeddings times sqrt(d_model)."""
    source_vocab_size: int | None = Field(None, gt=4)
    """None: source and target have one vocabulary."""
    tie_embeddings: Literal["none", "decoder", "all"] = "all"
    """``decoder`` ties target embedding and output projection; ``all`` shares the source embedding too."""
    output_bias: bool = False
    """Whether logits have a bias."""
    token_before_bos: int | None = Field(None, ge=0)
    """Token before BOS for the decoder: EOS in M2M-100 and NLLB, where BOS is the piece of a language."""
    alignment_layer: int = -1
    """Decoder layer whose cross-attention is shown to search and alignment (negative: from the top)."""
    kept_heads: KeptHeads | None = None
    """None: ``n_heads`` everywhere. A head keeps its size, d_model / n_heads."""
    pointer: Pointer = "none"
    sources: Sources = "one"
    separator: int = Field(4, ge=4)
    """The piece that ends each source but the last; by default the first of ``user_defined_symbols``."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model {self.d_model} is not a multiple of n_heads {self.n_heads}")
        if self.positions == "rotary" and self.d_model // self.n_heads % 2:
            raise ValueError(
                f"positions rotary turns pairs of numbers, and d_model {self.d_model} / n_heads "
                f"{self.n_heads} is odd"
            )
        if self.positions == "alibi" and self.n_heads % 2:
            raise ValueError(
                f"positions alibi has as many heads look back as ahead: n_heads {self.n_heads} is odd"
            )
        if self.positions == "alibi" and self.kept_heads is not None:
            raise ValueError(
                "positions alibi gives each head a slope of its own: kept_heads must be left out"
            )
        if self.sources != "one" and self.kept_heads is not None:
            raise ValueError(f"sources {self.sources} has all its heads: kept_heads must be left out")
        if self.source_vocab_size is not None and self.tie_embeddings == "all":
            raise ValueError("tie_embeddings all shares one vocabulary: source_vocab_size must be left out")
        if not -self.n_decoder_layers <= self.alignment_layer < self.n_decoder_layers:
            raise ValueError(
                f"alignment_layer {self.alignment_layer}: there are {self.n_decoder_layers} decoder layers"
            )
        for name, n_layers in (
            ("encoder", self.n_encoder_layers),
            ("decoder", self.n_decoder_layers),
            ("cross", self.n_decoder_layers),
        ):
            counts = self.heads_of(name)
            if len(counts) != n_layers or max(counts) > self.n_heads:
                raise ValueError(
                    f"kept_heads.{name} {counts}: one number for each of {n_layers} layers, "
                    f"at most {self.n_heads}"
                )
        return self

    @property
    def beyond_exports(self) -> str | None:
        """Setting that other runtimes are not given, as ``key value``; None: nothing does."""
        if self.sources != "one":
            return f"sources {self.sources}"
        if self.pointer != "none":
            return f"pointer {self.pointer}"
        return f"positions {self.positions}" if self.positions in ("none", "rotary", "alibi") else None

    @property
    def positions_left(self) -> int:
        """Positions for BOS and what follows."""
        return self.max_positions - (self.token_before_bos is not None)

    def heads_of(self, attention: str) -> tuple[int, ...]:
        """The number of heads of each layer's ``encoder``, ``decoder`` or ``cross`` attention."""
        if self.kept_heads is not None:
            counts: tuple[int, ...] = getattr(self.kept_heads, attention)
            return counts
        n_layers = self.n_encoder_layers if attention == "encoder" else self.n_decoder_layers
        return (self.n_heads,) * n_layers


class RnnConfig(StrictModel):
    """The RNN encoder-decoder, with attention (Bahdanau et al. 2015) or without (Sutskever et al. 2014)."""

    architecture: Literal["rnn"] = "rnn"
    vocab_size: int = Field(gt=4)
    d_embedding: int = Field(256, gt=0)
    d_hidden: int = Field(512, gt=0)
    attention: Literal["additive", "dot", "scaled_dot", "general", "hard", "monotonic", "none"] = "additive"
    """hard and monotonic score as additive does (``nmt.layers.hard_attention``, ``monotonic_attention``)."""
    coverage: Literal["none", "linguistic", "neural", "last_attention"] = "none"
    """Memory of additive attention of its own past (Tu et al. 2016; ``nmt.layers.last_attention``)."""
    dropout: float = Field(0.2, ge=0, lt=1)
    tie_embeddings: Literal["none", "decoder", "all"] = "all"
    pointer: Pointer = "none"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.pointer == "source" and self.attention in ("none", "hard"):
            raise ValueError(
                f"pointer source copies along soft attention, this is {self.attention}: choose another"
            )
        if self.coverage != "none" and self.attention != "additive":
            raise ValueError(f"coverage {self.coverage} needs attention additive, this is {self.attention}")
        return self


class DecoderOnlyConfig(StrictModel):
    """Source, separator and target in one sequence (``nmt.models.decoder_only``)."""

    architecture: Literal["decoder_only"] = "decoder_only"
    vocab_size: int = Field(gt=4)
    d_model: int = Field(256, gt=0)
    d_ff: int = Field(1024, gt=0)
    n_heads: int = Field(4, gt=0)
    n_layers: int = Field(6, gt=0)
    dropout: float = Field(0.1, ge=0, lt=1)
    attention_dropout: float = Field(0.0, ge=0, lt=1)
    activation_dropout: float = Field(0.0, ge=0, lt=1)
    activation: Literal["relu", "gelu", "silu"] = "relu"
    positions: Literal["rotary", "alibi", "none"] = "rotary"
    alignment_layer: int = -1
    """Layer whose attention to the source is shown to search and alignment (negative: from the top)."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model {self.d_model} is not a multiple of n_heads {self.n_heads}")
        if self.positions == "rotary" and self.d_model // self.n_heads % 2:
            raise ValueError(
                f"positions rotary turns pairs of numbers, and d_model {self.d_model} / n_heads "
                f"{self.n_heads} is odd"
            )
        if not -self.n_layers <= self.alignment_layer < self.n_layers:
            raise ValueError(f"alignment_layer {self.alignment_layer}: there are {self.n_layers} layers")
        return self


ModelConfig = Annotated[
    TransformerConfig | RnnConfig | DecoderOnlyConfig, Field(discriminator="architecture")
]


class SamplingConfig(StrictModel):
    """Ancestral sampling instead of search."""

    temperature: float = Field(1.0, gt=0, le=10)
    top_k: int = Field(0, ge=0)
    """Keep the k most probable tokens; 0 keeps all."""
    top_p: float = Field(1.0, gt=0, le=1)
    """Keep the smallest set of tokens whose probability reaches p (Holtzman et al. 2020)."""
    seed: int = 0


class GenerationConfig(StrictModel):
    """How a translation is searched for; ``generation.json`` of a model folder."""

    beam_size: int = Field(5, ge=1, le=64)
    n_best: int = Field(1, ge=1, le=64)
    length_normalization: Literal["gnmt", "mean", "none"] = "gnmt"
    """GNMT: log P / ((5+|y|)/6)^alpha (Wu et al. 2016, eq. 14); mean: log P / |y|. |y| counts EOS."""
    length_penalty: float = Field(0.6, ge=0, le=5)
    """Alpha of the GNMT length penalty."""
    coverage_penalty: float = Field(0.0, ge=0, le=5)
    """Beta of the GNMT coverage penalty (Wu et al. 2016, eq. 14); 0 needs no attention."""
    max_length_ratio: float = Field(2.0, gt=0, le=10)
    """A target may have at most ratio x source tokens + offset tokens, EOS not counted."""
    max_length_offset: int = Field(20, ge=1, le=1000)
    no_repeat_ngram_size: int = Field(0, ge=0)
    repair_loops: bool = True
    """End loops and search again (``nmt.pipeline.quality``); False shows what the model wrote."""
    sampling: SamplingConfig | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.n_best > self.beam_size:
            raise ValueError(f"n_best {self.n_best} is larger than beam_size {self.beam_size}")
        return self


class AlignmentConfig(StrictModel):
    """Where word links come from: cross-attention of the forced pass."""

    layer: int | None = None
    """Decoder layer; None takes the model's ``alignment_layer``."""
    heads: tuple[int, ...] | None = None
    """Heads of that layer to average; None averages all."""


class LanguagePieces(StrictModel):
    """How a model of several languages is told which: a piece of the vocabulary for each language code."""

    source: dict[str, str]
    """Piece before a source sentence in that language; empty: nothing."""
    target: dict[str, str]
    """The piece of a language to write."""
    target_is_bos: bool
    """Whether the decoder begins with it (M2M-100, NLLB); else it stands before the source (OPUS-MT)."""


class ModelFolderConfig(StrictModel):
    """``config.json`` of a model folder."""

    format_version: Literal[1] = 1
    name: str
    source_language: str = "en"
    target_language: str = "fr"
    language_pieces: LanguagePieces | None = None
    """None: the model translates from ``source_language`` to ``target_language`` alone."""
    model: ModelConfig
    special_ids: SpecialIds = SpecialIds()
    alignment: AlignmentConfig = AlignmentConfig()
    max_source_tokens: int = Field(256, gt=0)
    """A sentence of more tokens is not translated as one: it is split or refused, never cut."""
    library_version: str


ModelT = TypeVar("ModelT", bound=BaseModel)


def parse(model_type: type[ModelT], values: Mapping[str, Any], *, where: str) -> ModelT:
    """Validate ``values``; ``where`` (a file name, say) begins every error message.

    Raises:
        ConfigError: naming each wrong key, its value, and for an unknown key the nearest valid one.
    """
    try:
        return model_type.model_validate(dict(values))
    except ValidationError as error:
        raise ConfigError(f"{where}: " + "; ".join(_explain(model_type, error))) from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ConfigError: the file is missing, not UTF-8 or not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


def apply_overrides(values: dict[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """Return ``values`` with each ``dotted.key=value`` set; a value is TOML where it parses, else text.

    Raises:
        ConfigError: an override holds no ``=``, or its key leads through something that is no table.
    """
    result: dict[str, Any] = json.loads(json.dumps(values))
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set {override}: expected key=value, for example --set training.seed=2")
        *parents, last = key.strip().split(".")
        table = result
        for parent in parents:
            table = table.setdefault(parent, {})
            if not isinstance(table, dict):
                raise ConfigError(f"--set {override}: {parent} is a value, not a table")
        table[last] = _toml_value(text.strip())
    return result


def _toml_value(text: str) -> Any:  # noqa: ANN401 - whatever TOML holds
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _explain(model_type: type[BaseModel], error: ValidationError) -> Iterable[str]:
    """One phrase for each problem; values are shown cut to 80 characters."""
    for problem in error.errors(include_url=False):
        path = ".".join(str(part) for part in problem["loc"]) or "(all)"
        if problem["type"] == "extra_forbidden":
            known = _known_keys(model_type, problem["loc"][:-1])
            key = str(problem["loc"][-1])
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"did you mean '{near[0]}'?" if near else f"known keys: {', '.join(sorted(known))}"
            yield f"unknown key '{path}'; {hint}"
        elif problem["type"] == "missing":
            yield f"missing key '{path}'"
        else:
            message = problem["msg"].removeprefix("Value error, ")
            if isinstance(problem["input"], Mapping):  # of several keys together: the message names them
                yield f"{path}: {message}" if problem["loc"] else message
                continue
            value = repr(problem["input"])
            shown = value if len(value) <= 80 else value[:77] + "..."
            yield f"{path} = {shown}: {message}"


def _known_keys(model_type: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """Keys valid at ``location``, following nested models; union tags in the path are matched by type."""
    candidates: list[type[BaseModel]] = [model_type]
    for part in location:
        following: list[type[BaseModel]] = []
        for candidate in candidates:
            if part in candidate.model_fields:
                following += _models_in(candidate.model_fields[str(part)].annotation)
        candidates = following or candidates
    return sorted({key for candidate in candidates for key in candidate.model_fields})


def _models_in(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    arguments = getattr(annotation, "__args__", ())
    return [model for argument in arguments for model in _models_in(argument)]

"""Which engine decodes, and why: chosen once, at load, from the device, the CPU and the model.

    eager     the model as it is written: any device, any architecture, exposes attention
    float32   laid out for a CPU (``nmt.engines.packed``); the model's own numbers but for rounding
    bfloat16  the same with products of bfloat16 numbers, summed in float32
    int8      the same with int8 weights; layers stay in bfloat16 where the CPU has matrix units for it, as
              they are then as fast and more exact

On a GPU "float32" and "bfloat16" are a step of fixed shapes replayed as a CUDA graph (``engines.static``).

"auto" takes int8 where the CPU has instructions for it, else float32; on a GPU eager, until the others have
been measured on one. How far each is from eager is measured by ``benchmarks/engines.py``. Where ``nmt
compile`` has been run, a step of any number of rows is one call (``nmt.engines.bound``), and so is the
encoder (``nmt.engines.bound_encoder``), for float32, for int8, for bfloat16 where it has matrix units. On
matrix units such a step of one row is another (``nmt.engines.few``), for int8 and bfloat16; where there is no
step of any number, steps of few rows are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args

import torch

from nmt.engines.allocation import keep_freed_memory
from nmt.engines.bound import MOST_ROWS, BoundSteps, load_steps
from nmt.engines.bound import folder_of as folder_of_bound
from nmt.engines.bound_encoder import EncoderShape, load_encoder
from nmt.engines.bound_encoder import folder_of as folder_of_encoder
from nmt.engines.bound_maps import can_bind, for_many
from nmt.engines.cpu import CpuFeatures, Int8Inputs
from nmt.engines.encoder_call import EncoderCall
from nmt.engines.few import compiled_rows, load_whole
from nmt.engines.keeping import QUARTERS, KeptIn
from nmt.engines.kernels import Precision, dtype_of
from nmt.engines.loops import loop_weights
from nmt.engines.packed import PackedTransformer, step_weights
from nmt.engines.projection import VocabularyShortlist
from nmt.engines.ranking import folder_of as folder_of_ranking
from nmt.engines.ranking import load_ranking
from nmt.engines.single_calls import SingleCalls
from nmt.engines.static import StaticTransformer
from nmt.engines.whole import WholeShape
from nmt.errors import ConfigError
from nmt.extensions import Blocks, best_of_blocks
from nmt.models.build import Model
from nmt.models.interface import MergingDecoder
from nmt.models.transformer import DecoderLayer, Transformer

EngineName = Literal["auto", "eager", "float32", "bfloat16", "int8", "ctranslate2"]
BY_THE_MODEL: frozenset[EngineName] = frozenset({"eager", "ctranslate2"})
"""Engines whose step decoder is the model itself."""
NO_TRANSFORMER = "the model is an RNN, and the other engines are for Transformers"
ON_A_GPU = "the model is on a GPU, where the step as a CUDA graph has to be asked for: float32 or bfloat16"
STEP_ROWS, STEP_ROWS_ON_UNITS = 4, 14
"""A step that is one call takes as long as this many rows of it, before the first, with Python between two.

The second is on matrix units, which multiply sixteen rows as one, and where only few rows are one call.
"""
GAINS_BY_THREADS = ((12 << 20, 1.1), (100 << 20, 1.45), (math.inf, 1.9))
"""Up to so many bytes of weights a step is so many times faster with all cores than with one, Python counted.

What caches do not hold two workers would read twice. Found with two cores; not on matrix units.
"""
SMALL_MODEL = 128
"""d_model under which products take less time than the calls around them, whatever the precision."""


@dataclass(frozen=True)
class Choice:
    """An engine by name, and the reason for it in words."""

    name: EngineName
    why: str
    layers: Precision = "float32"
    output: Precision = "float32"
    kept: KeptIn = "float32"
    """In what keys and values are kept for steps that are one call."""
    inputs: Int8Inputs = "int8"
    """Of products with int8 weights that are compiled."""
    few: WholeShape | None = None
    """Of the compiled steps of few rows; None where none is taken."""
    bound: Path | None = None
    """Where the step of any number of rows stands; None where none is taken."""
    encoder: Path | None = None
    """Where the compiled encoder stands; None where none is taken."""
    ranking: Path | None = None
    """Where what finds the best extensions of a beam stands; None where none is taken."""
    few_rows: int = 0
    """The most rows of a step that is one call."""
    few_step_rows: int = 0
    """Such a step takes as long as this many rows of it, before the first."""
    gain_by_threads: float = GAINS_BY_THREADS[0][1]
    """So many times faster is a batch of sentences that has all cores."""

    @property
    def on_units(self) -> bool:
        """Whether products of steps are on matrix units."""
        return self.output != "float32" and self.inputs == "int8"


def choose(
    model: Model,
    device: torch.device,
    requested: str = "auto",
    features: CpuFeatures | None = None,
    *,
    compiled: bool = True,
) -> Choice:
    """The engine for ``model`` on ``device``.

    Args:
        model: with its weights.
        device: where it is.
        requested: "auto", or an engine by name.
        features: None: this machine's.
        compiled: take a step compiled ahead of time where there is one; False: never.

    Raises:
        ConfigError: there is no such engine, or it cannot run this model here.
    """
    if not isinstance(model, Transformer):
        return _choose(0, NO_TRANSFORMER, device, requested, features)
    dtype = model.output.weight_VD.dtype
    obstacle = None if dtype == torch.float32 else f"the model's weights are {dtype}, not float32"
    choice = _choose(model.output.weight_VD.size(1), obstacle, device, requested, features)
    if choice.kept == "int8x4" and not _has_quarters(model):
        choice = replace(choice, kept="float32")
    if not compiled:
        return choice
    few = few_shape(model, choice, features)
    rows = [] if few is None else compiled_rows(few)
    if rows:
        choice = replace(choice, few=few, few_rows=max(rows), few_step_rows=STEP_ROWS_ON_UNITS)
    folder = bound_folder(model, choice, features)
    if folder is not None and folder.is_dir():
        before_first = STEP_ROWS_ON_UNITS if choice.on_units else STEP_ROWS
        choice = replace(
            choice,
            bound=folder,
            few_rows=MOST_ROWS,
            few_step_rows=before_first,
            gain_by_threads=_gain_by_threads(model, choice),
        )
    if choice.few_rows:
        how_many = "any number of" if choice.bound else f"up to {choice.few_rows}"
        choice = replace(choice, why=f"{choice.why}; steps of {how_many} rows in one call")
    folder = encoder_folder(model, choice, features)
    if folder is not None and folder.is_dir():
        which = " of a few sentences" if choice.layers == "bfloat16" else ""
        choice = replace(choice, why=f"{choice.why}; the encoder{which} too", encoder=folder)
    folder = ranking_folder(model, choice)
    if folder is not None and folder.is_dir():
        choice = replace(choice, why=f"{choice.why}; the ranking of a beam too", ranking=folder)
    return choice


def _gain_by_threads(model: Transformer, choice: Choice) -> float:
    """Of a step, by the weights that it reads."""
    if choice.on_units:
        return choice.gain_by_threads
    n_bytes = step_weights(model) * (1 if choice.output == "int8" else 4)
    return next(gain for most_bytes, gain in GAINS_BY_THREADS if n_bytes <= most_bytes)


def compilable_steps(model: Model, choice: Choice) -> dict[str, bool]:
    """The steps that ``nmt compile`` can compile for what ``choice`` decodes, and whether they are there."""
    kinds = {
        "any number of rows": (bound_folder(model, choice), choice.bound),
        "few rows": (few_shape(model, choice), choice.few),
        "the encoder": (encoder_folder(model, choice), choice.encoder),
        "the ranking of a beam": (ranking_folder(model, choice), choice.ranking),
    }
    return {kind: taken is not None for kind, (possible, taken) in kinds.items() if possible is not None}


def _has_quarters(model: Transformer) -> bool:
    """Whether the heads of the decoder can be kept in int8x4."""
    layers = [layer for layer in model.decoder_layers if isinstance(layer, DecoderLayer)]
    attended = [part for layer in layers for part in (layer.self_attention, layer.cross_attention)]
    return all(part.query.out_features // part.n_heads % QUARTERS == 0 for part in attended)


def _is_packed(model: Model, choice: Choice) -> TypeGuard[Transformer]:
    """Whether an engine of a CPU decodes it, of which steps can be compiled."""
    if choice.name in BY_THE_MODEL or not isinstance(model, Transformer):
        return False
    return not model.output.weight_VD.is_cuda


def whole_shape(model: Model, choice: Choice) -> WholeShape | None:
    """Of a step that is one call; None where there can be none."""
    if not _is_packed(model, choice):
        return None
    return WholeShape.of_model(model, choice.kept, choice.output, choice.inputs)


def few_shape(model: Model, choice: Choice, features: CpuFeatures | None = None) -> WholeShape | None:
    """What ``nmt compile`` would compile for few rows; None: nothing can be, or nothing that pays.

    Without matrix units the step of any number of rows is the faster for one too.
    """
    shape = whole_shape(model, choice)
    features = CpuFeatures.here() if features is None else features
    if shape is None or not can_bind(shape, features):
        return shape
    on_units = features.matrix_units and shape.weights != "float32"
    return shape if on_units else None


def bound_folder(model: Model, choice: Choice, features: CpuFeatures | None = None) -> Path | None:
    """Where the step of any number of rows of a model decoded by ``choice`` stands, or would; as the others.

    It belongs to the model's weights.
    """
    shape = whole_shape(model, choice)
    if shape is None or not isinstance(model, Transformer):
        return None
    features = CpuFeatures.here() if features is None else features
    return folder_of_bound(shape, model) if can_bind(shape, features) else None


def encoder_shape(model: Model, choice: Choice) -> EncoderShape | None:
    """Of the compiled encoder; None where there can be none."""
    if not _is_packed(model, choice):
        return None
    return EncoderShape.of_model(model, choice.layers, choice.kept, choice.inputs)


def encoder_folder(model: Model, choice: Choice, features: CpuFeatures | None = None) -> Path | None:
    """Where the compiled encoder of a model decoded by ``choice`` stands, or would; as the others.

    It belongs to the model's weights.
    """
    shape = encoder_shape(model, choice)
    if shape is None or not isinstance(model, Transformer):
        return None
    features = CpuFeatures.here() if features is None else features
    # of many tokens, products by fbgemm are faster than loops
    by_calls = shape.has_loops_of_gcc and for_many(shape) is None
    return folder_of_encoder(shape, model) if can_bind(shape, features) and not by_calls else None


def ranking_folder(model: Model, choice: Choice) -> Path | None:
    """Where what finds the best extensions of a beam stands, or would, for steps that are one call."""
    shape = whole_shape(model, choice)
    return None if shape is None else folder_of_ranking(Blocks.of(shape.vocab_size))


def _choose(
    d_model: int, obstacle: str | None, device: torch.device, requested: str, features: CpuFeatures | None
) -> Choice:
    if requested not in get_args(EngineName):
        raise ConfigError(f"engine {requested!r} is unknown; choose one of {', '.join(get_args(EngineName))}")
    if requested == "eager":
        return Choice("eager", "asked for")
    if requested == "ctranslate2":
        return Choice("ctranslate2", "asked for; what it cannot search, the model does")
    if device.type == "cuda" and obstacle is None:
        return _choose_on_a_gpu(requested)
    if device.type != "cpu" and obstacle is None:
        obstacle = f"the model is on {device.type}, and the other engines are for CPUs and GPUs of CUDA"
    if obstacle is not None:
        if requested != "auto":
            raise ConfigError(f"engine {requested}: {obstacle}; choose auto or eager")
        return Choice("eager", obstacle)
    features = CpuFeatures.here() if features is None else features
    if requested == "auto":
        return _fastest(d_model, features)
    has = {"int8": features.avx2, "bfloat16": features.bfloat16}
    if not has.get(requested, True):
        raise ConfigError(f"engine {requested}: this CPU has no instructions for it; choose auto or float32")
    return _precise(requested, "asked for", features)


def _choose_on_a_gpu(requested: str) -> Choice:
    if requested == "auto":
        return Choice("eager", ON_A_GPU)
    if requested == "int8":
        raise ConfigError("engine int8 is for CPUs, and the model is on a GPU; choose float32 or bfloat16")
    precision: Precision = "bfloat16" if requested == "bfloat16" else "float32"
    return Choice(precision, "asked for; a step of fixed shapes as a CUDA graph", precision, precision)


def build_decoder(
    model: Model, choice: Choice, shortlist: VocabularyShortlist | None = None
) -> MergingDecoder[Any]:
    """The decoder that ``choice`` names; ``shortlist`` is for engines of a CPU other than eager."""
    if choice.name in BY_THE_MODEL:
        return model
    assert isinstance(model, Transformer)
    if model.output.weight_VD.device.type != "cpu":
        return StaticTransformer(model, dtype_of(choice.layers))
    keep_freed_memory()
    few, whole = choice.few, whole_shape(model, choice)
    bound = BoundSteps() if choice.bound is None or whole is None else load_steps(choice.bound, whole)
    fixed = bound.fixed if few is None else load_whole(few)
    if few is not None and bound.any_rows is not None:  # only for one row are these the faster
        fixed = {n_rows: run for n_rows, run in fixed.items() if n_rows == 1}
    of_encoder = encoder_shape(model, choice)
    encoders = (
        None if choice.encoder is None or of_encoder is None else load_encoder(choice.encoder, of_encoder)
    )
    rank = None if choice.ranking is None else load_ranking(choice.ranking)
    weights = [] if few is None else torch.utils._pytree.tree_leaves(loop_weights(model, few.weights))
    calls = None
    if fixed or bound.any_rows is not None:
        beside = 1 if whole is None else whole.rows_beside
        calls = SingleCalls(
            choice.kept, fixed, weights, bound.any_rows, beside, bound.many_rows, bound.of_beam
        )
    return PackedTransformer(
        model,
        layers=choice.layers,
        output=choice.output,
        shortlist=shortlist,
        single_calls=calls,
        encoder_call=None if encoders is None or of_encoder is None else EncoderCall(of_encoder, *encoders),
        rank=best_of_blocks if rank is None else rank,
    )


def _fastest(d_model: int, features: CpuFeatures) -> Choice:
    if d_model < SMALL_MODEL:
        return Choice("float32", f"d_model {d_model} is too small for fewer bits to pay")
    if not features.avx2:
        return Choice("float32", "this CPU has neither AVX2 nor VNNI nor AMX")
    units = "AMX" if features.matrix_units else "VNNI" if features.int8 else "AVX2"
    return _precise("int8", f"this CPU has {units}", features)


def _precise(name: str, why: str, features: CpuFeatures) -> Choice:
    if name == "int8":
        if features.matrix_units:
            detail = "layers in bfloat16, projection to the vocabulary in int8"
            return Choice("int8", f"{why}: {detail}", "bfloat16", "int8", "bfloat16")
        kept: KeptIn = "int8x4" if features.only_pairs else "int8"
        return Choice("int8", f"{why}: all int8", "int8", "int8", kept, features.int8_inputs)
    if name == "bfloat16":
        return Choice("bfloat16", why, "bfloat16", "bfloat16", "bfloat16")
    return Choice("float32", why)

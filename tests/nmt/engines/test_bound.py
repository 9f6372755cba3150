"""The step of any number of rows, weights inside: near the model, compiled or not, found by weights."""

from __future__ import annotations

import re
import subprocess
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.compilation import compile_steps
from nmt.config import GenerationConfig, SpecialIds
from nmt.engines import bound, packages
from nmt.engines.bound import FEW_ROWS, BoundStep, BoundSteps, compile_bound, folder_of, load_steps
from nmt.engines.bound_maps import (
    FAR_BYTES,
    MANY_ROWS,
    PREFETCHES,
    BoundMap,
    LoopedInt8,
    PairedInt8,
    UnsignedInt8,
    can_bind,
    for_many,
    map_of,
    program_of,
)
from nmt.engines.cache import ROOM
from nmt.engines.choose import (
    STEP_ROWS,
    STEP_ROWS_ON_UNITS,
    bound_folder,
    build_decoder,
    choose,
    encoder_folder,
    few_shape,
    whole_shape,
)
from nmt.engines.cpu import CpuFeatures, Int8Inputs
from nmt.engines.forks import can_fork
from nmt.engines.kernels import INT8_MOST, MOST_OF_TWO, Precision
from nmt.engines.loops import LoopStep, loop_weights
from nmt.engines.packages import Run
from nmt.engines.packed import PackedTransformer
from nmt.engines.shapes import ROWS_BESIDE
from nmt.engines.single_calls import SingleCalls, example_arguments
from nmt.engines.whole import WholeShape, attend
from nmt.errors import ConfigError
from nmt.extensions import block_maxima
from nmt.models.interface import MergingDecoder, StepDecoder
from nmt.models.transformer import Transformer
from tests.nmt.engines.in_threads import check_in_threads
from tests.nmt.engines.marks import (
    AMX,
    AVX2,
    HERE,
    LAYERS_HERE,
    OLD,
    VNNI,
    needs_avx2,
    needs_bfloat16,
    needs_compiler,
    needs_fbgemm,
    needs_int8_units,
    slow_beside_better,
)
from tests.nmt.engines.random_models import (
    KINDS,
)
from tests.nmt.engines.steps import (
    LENGTHS,
    arguments_of,
    check_beam,
    kept_in,
    random_model,
    rms,
    shape_of,
    uncompiled,
    written_and_told,
)

from .test_kernels import pairs_at_their_most

SPECIAL = SpecialIds()
SOURCES = [[5, 6, 7, 8, 9, 10, 11], [12, 13], [14, 15, 16, 17], [18]]
CPU = torch.device("cpu")
RANKING = "the ranking of a beam"
FUNCTIONS = ("compile_bound", "compile_whole", "compile_encoder", "compile_ranking")
"""Of ``nmt.compilation``, in order."""
OF_UNITS = [
    pytest.param("bfloat16", "int8", "int8", marks=needs_bfloat16, id="AMX, int8"),
    pytest.param("bfloat16", "bfloat16", "int8", marks=needs_bfloat16, id="AMX, bfloat16"),
    pytest.param("int8", "int8", "uint8", marks=needs_int8_units, id="VNNI"),
    pytest.param("int8", "int8", "int16", marks=needs_fbgemm, id="AVX2"),
    pytest.param("int8", "int8", "pairs", marks=needs_fbgemm, id="AVX2, many rows"),
    pytest.param("float32", "float32", "int8", id="float32"),
]
"""Layers, weights of the step and inputs of int8 products, as engines have them on CPUs with these units."""
ROUNDING = 3e-5
"""In float32, of log-probabilities."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(packages.CACHE, str(tmp_path))


def packed(
    model: Transformer,
    any_rows: Run | None,
    output: Precision = "int8",
    layers: Precision = "bfloat16",
    inputs: Int8Inputs = "int8",
) -> PackedTransformer:
    beside = ROWS_BESIDE if inputs == "int16" else 1
    calls = None if any_rows is None else SingleCalls(kept_in(layers, inputs), {}, (), any_rows, beside)
    return PackedTransformer(model, layers=layers, output=output, single_calls=calls)


def most_error(precision: Precision, of_calls: float) -> float:
    """Of log-probabilities (root mean square), where calls of a library have ``of_calls``."""
    if precision == "float32":
        return ROUNDING
    return (4 if precision == "int8" else 1.3) * of_calls


@pytest.mark.parametrize(("layers", "precision", "inputs"), OF_UNITS)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@torch.inference_mode()
def test_it_is_near_the_model(
    kind: dict[str, object], layers: Precision, precision: Precision, inputs: Int8Inputs
) -> None:
    """As near as the step that is not one call; activations in int8 have 255 values a row, and show it."""
    model = random_model(**kind)
    decoders = {
        "model": model,
        "ours": packed(
            model,
            uncompiled(model, shape_of(model, precision, layers, inputs)),
            precision,
            layers,
            inputs,
        ),
        "calls": packed(model, None, precision, layers),
    }
    found = {name: forced(decoder) for name, decoder in decoders.items()}
    ours, calls = (rms(found[name] - found["model"]) for name in ("ours", "calls"))
    assert ours < most_error(precision, calls)
    of_weights = 2 if HERE.only_pairs else 1  # two beside each other are small enough together there
    most = {"bfloat16": 0.05, "int8": 0.12 * of_weights}.get(layers, 0.12)
    assert calls < most * float(found["model"].std())


@pytest.mark.parametrize(("layers", "precision", "inputs"), OF_UNITS)
def test_its_maps_are_near_the_linear_maps(
    layers: Precision, precision: Precision, inputs: Int8Inputs
) -> None:
    torch.manual_seed(1)
    linear = torch.nn.Linear(96, 40).requires_grad_(False)
    linear.weight *= torch.logspace(-2, 2, 40)[:, None]  # a scale for each output
    x_ND = torch.randn(8, 96) * torch.logspace(-2, 2, 8)[:, None]  # and for each row
    for bias_F in (linear.bias, None):
        right_NF = torch.nn.functional.linear(x_ND, linear.weight, bias_F)
        own = map_of(shape_of(random_model(), precision, layers, inputs))(linear.weight, bias_F)
        assert getattr(torch, precision) in {weight.dtype for weight in own.buffers()}
        kinds: dict[str, type[BoundMap]]
        kinds = {"uint8": UnsignedInt8, "int16": LoopedInt8, "pairs": PairedInt8, "int8": type(own)}
        assert type(own) is kinds[inputs]
        error_NF = own(x_ND) - right_NF
        if precision == "float32":
            torch.testing.assert_close(own(x_ND), right_NF)
        most = 0.1 if inputs in ("int16", "pairs") else 0.05  # weights are up to twice as coarse there
        assert float((error_NF.square().mean(1) / right_NF.square().mean(1)).max()) < most**2
        assert float((error_NF.square().mean(0) / right_NF.square().mean(0)).max()) < most**2


@needs_fbgemm
@pytest.mark.parametrize("n_inputs", [64, 1024])
@torch.inference_mode()
def test_calls_for_many_rows_have_the_sums_of_loops_for_few(n_inputs: int) -> None:
    """To the last bit, weights and inputs at their most, of a row of zeros too."""
    torch.manual_seed(3)
    rounded_FD = pairs_at_their_most(24, n_inputs)
    weight_FD = torch.where(rounded_FD.abs() == 64, rounded_FD.sign() * MOST_OF_TWO / 2, rounded_FD.float())
    x_ND = torch.randint(-INT8_MOST, INT8_MOST + 1, (12, n_inputs)).float()
    x_ND[0], x_ND[1:4] = 0, INT8_MOST
    x_ND[2] *= -1
    x_ND[4:, 0] = INT8_MOST
    bias_F = torch.randint(-9, 9, (24,)).float()
    sums_NF = x_ND @ rounded_FD.float().t() + bias_F
    for kind in (LoopedInt8, PairedInt8):
        own = kind(weight_FD, bias_F)
        assert bool((own.scale_F == 1).all())
        assert torch.equal(own(x_ND), sums_NF)


def test_the_projection_of_any_number_of_rows_is_a_call_and_that_of_certain_numbers_loops() -> None:
    model = random_model(d_model=128)
    shape = shape_of(model, layers="int8", inputs="int16")
    weights = safetensors.torch.save(BoundStep.of(shape, model).state_dict())

    def kinds(shape: WholeShape, weights: bytes, n_rows: int | None) -> list[type[BoundMap]]:
        """Of the last map, and of all others."""
        parts = BoundStep.saved(shape, weights, n_rows).children()
        *others, last = (type(part) for part in parts if isinstance(part, BoundMap))
        assert len(set(others)) == 1
        return [last, others[0]]

    assert kinds(shape, weights, None) == [PairedInt8, LoopedInt8]
    assert kinds(shape, weights, 5) == [LoopedInt8, LoopedInt8]
    assert kinds(replace(shape, inputs="pairs"), weights, None) == [PairedInt8, PairedInt8]
    odd = random_model(d_model=128, d_ff=50)
    narrow = shape_of(odd, layers="int8", inputs="int16")
    weights = safetensors.torch.save(BoundStep.of(narrow, odd).state_dict())
    assert kinds(narrow, weights, None) == [LoopedInt8, LoopedInt8], "oneDNN's are wrong"


def forced(decoder: StepDecoder[Any]) -> Tensor:
    """Log-probabilities of four steps of given tokens; beams change places, and sentences leave."""
    state = decoder.start(Batch.from_ids(SOURCES, special=SPECIAL), 2)
    tokens_N = torch.full((8,), SPECIAL.bos)
    log_probs = []
    for number, order in enumerate([[0, 0, 2, 2, 4, 4, 6, 6], [*range(8)], [0, 1, 4, 5], [1, 0, 3, 2]]):
        step, state = decoder.step(state, tokens_N)
        log_probs.append(step.log_probs_NV.clone())
        state = decoder.reorder(state, torch.tensor(order))
        tokens_N = torch.arange(40, 40 + len(order)) + number
    return torch.cat(log_probs)


def forced_alone(decoder: StepDecoder[Any]) -> Tensor:
    """Of one sentence."""
    state = decoder.start(Batch.from_ids(SOURCES[:1], special=SPECIAL), 1)
    log_probs = []
    for token in (SPECIAL.bos, 40, 41):
        step, state = decoder.step(state, torch.tensor([token]))
        log_probs.append(step.log_probs_NV.clone())
    return torch.cat(log_probs)


def left_alone(decoder: StepDecoder[Any]) -> Tensor:
    """Of the last of three sentences, once the others have left."""
    state = decoder.start(Batch.from_ids(SOURCES[:3], special=SPECIAL), 1)
    _, state = decoder.step(state, torch.full((3,), SPECIAL.bos))
    state = decoder.reorder(state, torch.tensor([2]))
    log_probs = []
    for token in (40, 41):
        step, state = decoder.step(state, torch.tensor([token]))
        log_probs.append(step.log_probs_NV.clone())
    return torch.cat(log_probs)


@pytest.mark.parametrize("width", [8, 10, 32])
def test_what_is_found_in_the_source_is_that_of_torch(width: int) -> None:
    """Of heads of any width; some places are hidden."""
    torch.manual_seed(1)
    query_NHE, key_NHEL = torch.randn(3, 2, width), torch.randn(3, 2, width, 16)
    value_NHLE, mask_N1L = torch.randn(3, 2, 16, width), torch.zeros(3, 1, 16)
    mask_N1L[1, :, 9:] = -torch.inf
    found_NHE = attend(query_NHE, (key_NHEL,), (value_NHLE,), mask_N1L)
    expected_NH1E = torch.nn.functional.scaled_dot_product_attention(
        query_NHE.unsqueeze(2), key_NHEL.transpose(2, 3), value_NHLE, attn_mask=mask_N1L.unsqueeze(2)
    )
    torch.testing.assert_close(found_NHE, expected_NH1E.squeeze(2))


@torch.inference_mode()
def test_no_row_depends_on_those_beside_it() -> None:
    """Nor on who has had its place."""
    model = random_model()
    ours = packed(model, uncompiled(model, shape_of(model, "float32", "float32")), "float32", "float32")
    state = ours.start(Batch.from_ids(SOURCES[:3], special=SPECIAL), 1)
    _, state = ours.step(state, torch.tensor([SPECIAL.bos] * 3))
    past = state.groups[0].past
    expected = past.in_order(1)[0][1:].clone()
    for layer in past.layers:
        for parts in layer:
            for part in parts:
                part[0] = torch.nan
    step, state = ours.step(state, torch.tensor([40, 41, 42]))
    assert bool(step.logits_NV[0].isnan().all())
    assert bool(step.logits_NV[1:].isfinite().all())
    torch.testing.assert_close(past.in_order(1)[0][1:, :, :1], expected)
    state = ours.reorder(state, torch.tensor([1, 2]))
    state = ours.merge(state, ours.start(Batch.from_ids(SOURCES[3:], special=SPECIAL), 1))
    assert state.groups[0].past.places_N.tolist() == [1, 2, 0]
    step, _ = ours.step(state, torch.tensor([43, 44, SPECIAL.bos]))
    assert bool(step.logits_NV.isfinite().all())


@pytest.mark.parametrize(("layers", "precision", "inputs"), OF_UNITS)
@torch.inference_mode()
def test_others_may_join_sentences_and_leave_them(
    layers: Precision, precision: Precision, inputs: Int8Inputs
) -> None:
    """They are in one call, whatever each has read."""
    model, calls = random_model(), list[int]()
    any_rows = uncompiled(model, shape_of(model, precision, layers, inputs), calls)
    found = {
        "model": joined_and_left(model),
        "ours": joined_and_left(packed(model, any_rows, precision, layers, inputs)),
        "calls": joined_and_left(packed(model, None, precision, layers)),
    }
    assert calls == ([8, 4, 8, 4] if inputs == "int16" else [6, 4, 6, 2])
    ours, others = (rms(found[name] - found["model"]) for name in ("ours", "calls"))
    assert ours < most_error(precision, others)


@pytest.mark.parametrize("beam_size", [1, 3])
@torch.inference_mode()
def test_whenever_a_sentence_has_started_it_reads_its_own(beam_size: int) -> None:
    """Sources and targets of several registers; the first leaves while others are behind it."""
    model, calls = random_model(max_positions=96), list[int]()
    ours = packed(
        model, uncompiled(model, shape_of(model, "float32", "float32"), calls), "float32", "float32"
    )
    torch.manual_seed(3)
    sources = [torch.randint(5, 199, (length,)).tolist() for length in (3, 40, 17, 70)]
    tokens = torch.randint(5, 199, (len(sources), 80, beam_size))
    orders = torch.randint(beam_size, (len(sources), 80, beam_size))
    starts, ends = (0, 2, 30, 31), (50, 60, 40, 80)

    def apart(number: int) -> list[Tensor]:
        state = model.start(Batch.from_ids([sources[number]], special=SPECIAL), beam_size)
        found = []
        for time in range(ends[number] - starts[number]):
            step, state = model.step(state, tokens[number, time])
            found.append(step.log_probs_NV)
            state = model.reorder(state, orders[number, time])
        return found

    together: list[list[Tensor]] = [[] for _ in sources]
    state, running = None, list[int]()
    for now in range(max(ends)):
        for number in (number for number, start in enumerate(starts) if start == now):
            own = ours.start(Batch.from_ids([sources[number]], special=SPECIAL), beam_size)
            state = own if state is None else ours.merge(state, own)
            running.append(number)
        assert state is not None
        times = [now - starts[number] for number in running]
        read = [tokens[number, time] for number, time in zip(running, times, strict=True)]
        step, state = ours.step(state, torch.cat(read))
        staying: list[Tensor] = []
        for place, (number, time) in enumerate(zip(running, times, strict=True)):
            rows = slice(place * beam_size, (place + 1) * beam_size)
            together[number].append(step.log_probs_NV[rows].clone())
            if now + 1 < ends[number]:
                staying.append(place * beam_size + orders[number, time])
        running = [number for number in running if now + 1 < ends[number]]
        if running:
            state = ours.reorder(state, torch.cat(staying))
    assert len(calls) == max(ends), "each step is one call"
    for number, found in enumerate(together):
        right = torch.cat(apart(number))
        # after 50 tokens; the model itself is as far from what it computes in float64
        torch.testing.assert_close(torch.cat(found), right, atol=100 * ROUNDING, rtol=1e-5)


def joined_and_left(decoder: MergingDecoder[Any]) -> Tensor:
    state = decoder.start(Batch.from_ids(SOURCES[:3], special=SPECIAL), 2)
    first, state = decoder.step(state, torch.full((6,), SPECIAL.bos))
    log_probs = [first.log_probs_NV.clone()]
    state = decoder.reorder(state, torch.tensor([1, 0, 4, 5]))  # a sentence leaves, nothing moves
    second, state = decoder.step(state, torch.tensor([40, 41, 42, 43]))
    log_probs.append(second.log_probs_NV.clone())
    state = decoder.merge(state, decoder.start(Batch.from_ids(SOURCES[3:], special=SPECIAL), 2))
    third, state = decoder.step(state, torch.tensor([44, 45, 46, 47, SPECIAL.bos, SPECIAL.bos]))
    log_probs.append(third.log_probs_NV.clone())
    state = decoder.reorder(state, torch.tensor([3, 2]))
    fourth, state = decoder.step(state, torch.tensor([48, 49]))
    return torch.cat([*log_probs, fourth.log_probs_NV])


@needs_bfloat16
@torch.inference_mode()
def test_it_tells_the_largest_logit_of_each_block() -> None:
    model = random_model(vocab_size=208)
    ours = packed(model, uncompiled(model, shape_of(model)))
    for beam_size in (1, 3):
        state = ours.start(Batch.from_ids(SOURCES[:1], special=SPECIAL), beam_size)
        step, _ = ours.step(state, torch.full((beam_size,), SPECIAL.bos))
        assert step.maxima_Nn is not None
        assert step.maxima_Nn.shape == (beam_size, 16)
        assert torch.equal(step.maxima_Nn, block_maxima(step.logits_NV))
        assert step.log_totals_N is not None
        torch.testing.assert_close(step.log_totals_N, step.logits_NV.logsumexp(dim=1))


def recording(model: Transformer, names: list[tuple[str, int]]) -> Callable[[str], Run]:
    """Functions that compute the same, and tell their name and how many rows they had."""
    run = uncompiled(model, shape_of(model, "float32", "float32"))

    def of(name: str) -> Run:
        def call(tensors: list[Tensor]) -> Sequence[Tensor]:
            names.append((name, len(tensors[0])))
            return run(tensors)

        return call

    return of


@torch.inference_mode()
def test_steps_of_certain_numbers_of_rows_and_of_many_are_taken() -> None:
    """Fewer are filled up to them; more take that of any number, filled up to what it takes, or of many."""
    model, names = random_model(), list[tuple[str, int]]()
    of = recording(model, names)
    fixed = {1: of("one"), 4: of("four"), 5: of("five")}
    steps = SingleCalls("float32", fixed, (), of("any"), 4, of("many"))
    decoder = PackedTransformer(model, layers="float32", output="float32", single_calls=steps)
    batch = Batch.from_ids(SOURCES[:1], special=SPECIAL)
    for n_rows in (1, 2, 4, 5, 6, 8, 9, MANY_ROWS - 1, MANY_ROWS, MANY_ROWS + 1):
        tokens_N = torch.arange(n_rows) % 7 + 40
        step, _ = decoder.step(decoder.start(batch, n_rows), tokens_N)
        assert len(step.logits_NV) == n_rows
        expected, _ = model.step(model.start(batch, n_rows), tokens_N)
        torch.testing.assert_close(step.log_probs_NV, expected.log_probs_NV, atol=ROUNDING, rtol=1e-5)
    few = [("one", 1), ("four", 4), ("four", 4), ("five", 5), ("any", 8), ("any", 8), ("any", 12)]
    assert names == [*few, ("any", MANY_ROWS), ("many", MANY_ROWS), ("many", MANY_ROWS + 1)]


@torch.inference_mode()
def test_beside_a_step_of_any_number_one_row_alone_has_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where steps of few rows are compiled too, that of any number is faster for five (matrix units)."""
    model, names = random_model(), list[tuple[str, int]]()
    of = recording(model, names)
    shape = shape_of(model, "float32", "float32")
    choice = replace(choose(model, CPU, "float32"), bound=Path("here"), few=shape)
    monkeypatch.setattr("nmt.engines.choose.load_steps", lambda *_: BoundSteps(of("any")))
    monkeypatch.setattr("nmt.engines.choose.load_whole", lambda _: {1: of("one"), 5: of("five")})
    decoder = build_decoder(model, choice)
    assert isinstance(decoder, PackedTransformer)
    assert decoder._single_calls is not None
    assert {n: size for n, (size, _) in decoder._single_calls._fixed.items()} == {1: 1}


@pytest.mark.parametrize("n_source", [3, 40])
@torch.inference_mode()
def test_what_is_read_stays_where_it_is_while_a_translation_is_little_longer(n_source: int) -> None:
    """One that is much longer finds room as it goes on; where all of it is moved anyway, there is little."""
    model = random_model()
    batch = Batch.from_ids([[5] * (n_source - 1)], special=SPECIAL)
    step = uncompiled(model, shape_of(model, "float32", "float32"))
    decoder = packed(model, step, "float32", "float32")
    state = decoder.start(batch, 1)
    (group,) = state.groups
    (((before, *_), _), *_) = group.past.layers
    for _ in range(n_source * 5 // 4):
        _, state = decoder.step(state, torch.tensor([7]))
    (((after, *_), _), *_) = group.past.layers
    assert after.data_ptr() == before.data_ptr()
    assert after.size(2) == (64 if n_source == 40 else ROOM)
    for _ in range(ROOM + 1):
        _, state = decoder.step(state, torch.tensor([7]))
    assert group.past.layers[0][0][0].size(2) > after.size(2)
    (moving,) = packed(model, None, "float32", "float32").start(batch, 1).groups
    assert moving.past.layers[0][0][0].size(2) == ROOM


def test_int8_is_compiled_for_one_thread_too_and_some_with_a_flag() -> None:
    """Weights are there twice then, of a byte each.

    Without flags float32 would write each sum to memory, products of few rows read each weight from there,
    and those of many weights wait for them before they multiply.
    """
    model = random_model()

    def of(weights: Precision, inputs: Int8Inputs = "int8", n_bytes: int = 100) -> tuple[str, str]:
        function = torch.nn.Identity()
        function.register_buffer("weight", torch.zeros(n_bytes, dtype=torch.int8))
        shape = shape_of(model, weights, inputs=inputs)
        return program_of(function, (), (), shape)[-2:]

    assert of("int8") == of("int8", n_bytes=FAR_BYTES) == ("both", "")
    assert of("int8", "uint8") == of("int8", "uint8", FAR_BYTES - 1) == ("both", "-mtune=haswell")
    assert of("int8", "uint8", FAR_BYTES) == ("both", f"-mtune=haswell {PREFETCHES}")
    of_loops = "both", "-ftree-loop-vectorize -mmove-max=256"
    assert of("int8", "int16") == of("int8", "pairs") == of("int8", "pairs", FAR_BYTES) == of_loops
    for inputs in ("int16", "pairs"):  # that of any number of rows has calls too
        called = program_of(torch.nn.Identity(), (), (), shape_of(model, inputs=inputs))
        assert "max_autotune_gemm" not in called.options, "the compiler's own product is ten times slower"
    beside = [shape_of(model, weights, inputs="int16").rows_beside for weights in ("int8", "float32")]
    assert beside == [ROWS_BESIDE, 1]
    assert of("bfloat16") == of("bfloat16", n_bytes=FAR_BYTES) == ("all", "")
    in_float32 = "-fstack-reuse=named_vars -mtune=haswell"
    assert of("float32") == of("float32", "uint8") == ("all", in_float32)
    assert of("float32", n_bytes=FAR_BYTES) == ("all", f"{in_float32} {PREFETCHES}")


def test_it_is_found_by_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = random_model()
    shape = shape_of(model)
    before = folder_of(shape, model)
    assert before.is_relative_to(tmp_path)
    assert folder_of(shape, random_model()) == before
    other = random_model()
    other.decoder_layers[1].feed_forward.up.bias[0] += 1e-3  # type: ignore[union-attr]
    assert folder_of(shape, other) != before
    assert folder_of(shape_of(model, "bfloat16"), model) != before
    encoded = random_model()
    encoded.encoder_norm.weight[0] += 1  # type: ignore[operator]
    assert folder_of(shape, encoded) == before, "a step reads nothing of the encoder"
    monkeypatch.setattr(bound.inspect, "getsource", lambda _: "other code")
    assert folder_of(shape, model) != before


@pytest.mark.parametrize(
    ("engine", "features", "before_first"),
    [
        ("int8", AMX, STEP_ROWS_ON_UNITS),
        ("bfloat16", AMX, STEP_ROWS_ON_UNITS),
        ("float32", AMX, STEP_ROWS),
        ("int8", VNNI, STEP_ROWS),
        ("int8", AVX2, STEP_ROWS),
        ("float32", AVX2, STEP_ROWS),
    ],
)
def test_to_matrix_units_a_step_of_few_rows_costs_what_one_of_more_does(
    engine: str, features: CpuFeatures, before_first: int
) -> None:
    model = random_model(d_model=128)
    folder = bound_folder(model, choose(model, CPU, engine, features), features)
    assert folder is not None
    assert choose(model, CPU, engine, features).few_step_rows == 0
    folder.mkdir(parents=True)
    choice = choose(model, CPU, engine, features)
    assert (choice.bound, choice.few_step_rows) == (folder, before_first)


@pytest.mark.parametrize(
    ("engine", "features", "vocab_size", "gain"),
    [
        ("int8", VNNI, 40_000, 1.1),
        ("int8", VNNI, 120_000, 1.45),
        ("float32", VNNI, 40_000, 1.45),
        ("float32", VNNI, 250_000, 1.9),
        ("int8", AMX, 120_000, 1.1),
    ],
)
def test_threads_gain_more_the_more_weights_a_step_reads(
    engine: str, features: CpuFeatures, vocab_size: int, gain: float
) -> None:
    model = random_model(d_model=128, vocab_size=vocab_size)
    folder = bound_folder(model, choose(model, CPU, engine, features), features)
    assert folder is not None
    folder.mkdir(parents=True)
    assert choose(model, CPU, engine, features).gain_by_threads == gain


def test_fewer_bits_need_units_for_them_and_float32_wide_registers() -> None:
    model = random_model(d_model=128)
    for engine in ("int8", "bfloat16"):
        choice = choose(model, CPU, engine, AMX)
        assert choice.layers == "bfloat16"
        assert bound_folder(model, choice, AMX) is not None
    folder = bound_folder(model, choose(model, CPU, "int8", VNNI), VNNI)
    assert folder not in (None, bound_folder(model, choose(model, CPU, "int8", AMX), AMX))
    odd = random_model(d_model=128, d_ff=50)  # four inputs are multiplied at once
    assert bound_folder(odd, choose(odd, CPU, "int8", VNNI), VNNI) is None
    paired = choose(odd, CPU, "int8", AVX2)  # a loop takes any number
    assert bound_folder(odd, paired, AVX2) is not None
    shape = whole_shape(odd, paired)
    assert shape is not None
    assert for_many(shape) is None, "oneDNN's are wrong"
    even = whole_shape(model, paired)
    assert even is not None
    assert for_many(even) == replace(even, inputs="pairs")
    assert for_many(replace(even, inputs="uint8")) is None
    assert encoder_folder(model, paired, AVX2) is not None
    assert encoder_folder(odd, paired, AVX2) is None, "of many tokens fbgemm's products are faster"
    assert few_shape(odd, paired, AVX2) is None, "few rows take it too"
    half = CpuFeatures(int8=True, bfloat16=True, matrix_units=False, pairs=True)
    assert bound_folder(model, choose(model, CPU, "bfloat16", half), half) is None, "AVX-512 alone"
    assert bound_folder(model, choose(model, CPU, "eager", AMX), AMX) is None
    for features, has in ((AMX, True), (VNNI, True), (AVX2, True), (OLD, False)):
        choice = choose(model, CPU, "float32", features)
        assert (bound_folder(model, choice, features) is not None) == has
        assert (few_shape(model, choice, features) is None) == has, "few rows take it too"
        assert can_bind(shape_of(odd, "float32", "float32"), features) == has


def check_compiled(
    run: Run, model: Transformer, shape: WholeShape, fixed: Mapping[int, Run] | None = None
) -> None:
    """It is as near to the step in float32 as what is not compiled, which rounds between operations too."""
    sizes = (1, 1), (2, 1), (1, 5), (3, 1), (17, 1), (8, 5), (33, 2)
    if fixed:  # which have the other sizes
        sizes = (1, 1), (1, 5), (4, 1), (2, 4), (8, 5), (36, 2)
    torch.manual_seed(2)
    exact = LoopStep(replace(shape, weights="float32"))
    weights = loop_weights(model, "float32")
    structure = torch.utils._pytree.tree_structure(example_arguments(shape, 2))
    called = uncompiled(model, shape)
    errors: list[list[float]] = [[], [], []]
    for n_sentences, beam_size in sizes:
        own = (fixed or {}).get(n_sentences * beam_size, run)
        for n_target, n_source in LENGTHS:
            n_free = 2 if own is run else 0  # a row that is alone has a place that is
            arguments = arguments_of(shape, n_sentences, beam_size, n_target, n_source, n_free)

            def exactly(given: list[Tensor]) -> Sequence[Tensor]:
                results: Sequence[Tensor] = exact(
                    *torch.utils._pytree.tree_unflatten(given, structure), weights
                )
                return results

            found, others, expected = (written_and_told(step, arguments) for step in (own, called, exactly))
            for _, logits_NV, _, maxima_Nn, largest_N, tokens_N in (found, others):
                allowed_NV = logits_NV + arguments[-2]
                assert torch.equal(maxima_Nn, block_maxima(allowed_NV))
                assert torch.equal(largest_N, allowed_NV.amax(dim=1))
                assert torch.equal(tokens_N, allowed_NV.argmax(dim=1))
            results = zip(found[:3], others[:3], expected[:3], strict=True)
            for number, (ours, other, right) in enumerate(results):
                assert bool(torch.isfinite(right).all())
                error, size = rms(ours.float() - right.float()), rms(right.float())
                assert error < (1e-5 if shape.weights == "float32" else 0.5) * size, (
                    "narrow layers round much"
                )
                errors[number].append(error / max(rms(other.float() - right.float()), 1e-6 * size))
    for ratios in errors:
        assert sorted(ratios)[len(ratios) // 2] < (2 if shape.weights == "float32" else 1.3)


@pytest.mark.parametrize(("layers", "precision", "inputs"), OF_UNITS)
@torch.inference_mode()
def test_it_chooses_the_most_probable_token_that_is_allowed(
    layers: Precision, precision: Precision, inputs: Int8Inputs
) -> None:
    """And goes on from there as if it had been told to; tokens may be a column of a table, as in a beam."""
    model = random_model(vocab_size=208)
    any_rows = uncompiled(model, shape_of(model, precision, layers, inputs))
    decoder = packed(model, any_rows, layers=layers, inputs=inputs)
    batch = Batch.from_ids(SOURCES, special=SPECIAL)
    telling, free, bound_to = (decoder.start(batch, 1) for _ in range(3))
    tokens_N = torch.full((4, 3), SPECIAL.bos)[:, -1]
    for staying in ([0, 1, 3], [0, 2], [1], [0]):
        step, telling = decoder.step(telling, tokens_N)
        best = step.logits_NV[0].topk(2).indices.tolist()
        for state, forbidden in ((free, ()), (bound_to, (SPECIAL.pad, best[0]))):
            taken = decoder.step_without(state, tokens_N, forbidden)
            assert taken is not None
            chosen, _ = taken
            assert chosen.best is not None
            assert chosen.best.tokens_N[0] == best[1 if forbidden else 0]
            allowed_NV = step.logits_NV.clone()
            allowed_NV[:, list(forbidden)] = -torch.inf
            assert torch.equal(chosen.logits_NV, step.logits_NV)
            assert torch.equal(chosen.best.tokens_N, allowed_NV.argmax(dim=1))
            assert torch.equal(chosen.best.logits_N, allowed_NV.amax(dim=1))
            assert chosen.maxima_Nn is not None
            assert torch.equal(chosen.maxima_Nn, block_maxima(allowed_NV))
            assert chosen.log_totals_N is not None
            assert step.log_totals_N is not None
            assert torch.equal(chosen.log_totals_N, step.log_totals_N)
        rows_N = torch.tensor(staying)
        telling, free, bound_to = (decoder.reorder(state, rows_N) for state in (telling, free, bound_to))
        tokens_N = chosen.best.tokens_N[rows_N]


@torch.inference_mode()
def test_without_one_call_search_chooses() -> None:
    model = random_model()
    batch, bos_N = Batch.from_ids(SOURCES, special=SPECIAL), torch.full((4,), SPECIAL.bos)
    calls = packed(model, None, layers="float32", output="float32")
    state = calls.start(batch, 1)
    assert calls.step_without(state, bos_N, ()) is None
    assert state.groups[0].past.n_tokens == 0, "nothing has been read"


@needs_compiler
@needs_int8_units
@pytest.mark.usefixtures("threads")
@torch.inference_mode()
def test_what_is_compiled_computes_the_same_and_is_chosen() -> None:
    model = random_model(d_model=128, n_heads=2, vocab_size=216)
    here = choose(model, CPU)
    assert (here.name, here.bound) == ("int8", None)
    shape = shape_of(model, layers=LAYERS_HERE)
    assert bound_folder(model, here) == folder_of(shape, model)
    folder = compile_bound(shape, model)
    made = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert compile_bound(shape, model) == folder
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == made
    run, many, fixed, of_beam = load_steps(folder, shape)
    assert many is None
    assert (of_beam is None) == (LAYERS_HERE == "bfloat16")
    assert fixed == {}
    assert run is not None
    for n_threads in (1, 2):
        torch.set_num_threads(n_threads)
        check_compiled(run, model, shape)
        if of_beam is not None:
            check_beam(of_beam, uncompiled(model, shape), shape)
    jobs = [arguments_of(shape, 3 + number, 1, 3 + 7 * number, 5 + number) for number in range(4)]
    check_in_threads(run, jobs)

    choice = choose(model, CPU)
    assert choice.bound == folder
    assert choice.few_rows >= 4096
    assert choice.why.endswith("steps of any number of rows in one call")
    assert choose(model, CPU, compiled=False) == here
    assert choose(random_model(d_model=128, n_heads=2), CPU).bound is None
    compiled, called = (
        build_decoder(model, choice),
        packed(model, uncompiled(model, shape), layers=LAYERS_HERE),
    )
    for passes in (forced, forced_alone, left_alone):
        right = passes(model)
        assert rms(passes(compiled) - right) < 1.3 * rms(passes(called) - right)
    assert can_fork(), "what compiles and loads leaves threads behind"

    (folder / "step.pt2").write_bytes(b"cut short")
    with pytest.raises(
        ConfigError, match=rf"{folder}.*cannot be loaded.*remove the folder, then nmt compile"
    ):
        build_decoder(model, choice)


def fetch_ahead(folder: Path, aside: Path) -> list[bool]:
    """Whether products fetch something ahead: of each loop over most rows at once."""
    with zipfile.ZipFile(folder / "step.pt2") as package:
        (library,) = [package.extract(name, aside) for name in package.namelist() if name.endswith(".so")]
    listed = ["objdump", "--disassemble", "--no-show-raw-insn", library]  # comes with g++
    code = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines()
    parts = [line.partition(":") for line in code if re.match(r"\s+[0-9a-f]+:", line)]
    places = {int(place, 16): number for number, (place, _, _) in enumerate(parts)}
    loops = [
        parts[start:end]
        for end, (_, _, what) in enumerate(parts)
        if (jump := re.match(r"\s*j\w+\s+([0-9a-f]+) ", what))
        and (start := places.get(int(jump[1], 16), end)) < end < start + 80  # short ones, and so innermost
    ]
    texts = ["".join(what for _, _, what in loop) for loop in loops]
    most = max(text.count("vfmadd") for text in texts)
    return ["prefetch" in text for text in texts if text.count("vfmadd") == most]


@needs_compiler
@needs_avx2
@torch.inference_mode()
def test_in_float32_what_is_compiled_computes_the_same(tmp_path: Path) -> None:
    """And where weights are many its products ask for them before they multiply by them."""
    model = random_model(d_model=50, n_heads=2, vocab_size=FAR_BYTES // (4 * 50))
    shape = shape_of(model, "float32", "float32")
    folder = compile_bound(shape, model)
    assert all(fetch_ahead(folder, tmp_path))
    run = load_steps(folder, shape).any_rows
    assert run is not None
    check_compiled(run, model, shape)
    choice = choose(model, CPU, "float32")
    assert choice.bound == folder_of(shape, model)
    torch.testing.assert_close(forced(build_decoder(model, choice)), forced(model), atol=1e-4, rtol=1e-4)


@needs_compiler
@needs_avx2
@slow_beside_better
@pytest.mark.usefixtures("threads")
@torch.inference_mode()
def test_in_pairs_what_is_compiled_computes_the_same_and_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some numbers of rows have functions of their own; of others there are multiples of four, or many."""
    monkeypatch.setattr(CpuFeatures, "here", lambda: AVX2)
    model = random_model(d_model=128, n_heads=2, vocab_size=216, n_decoder_layers=1)
    shape = shape_of(model, layers="int8", inputs="int16")
    folder = compile_bound(shape, model)
    run, many, fixed, of_beam = load_steps(folder, shape)
    assert run is not None
    assert many is not None
    assert of_beam is not None
    assert list(fixed) == list(FEW_ROWS) == [1, ROWS_BESIDE, GenerationConfig().beam_size]
    for n_threads in (1, 2):
        torch.set_num_threads(n_threads)
        check_compiled(run, model, shape, fixed)
        check_compiled(many, model, replace(shape, inputs="pairs"))
        check_beam(of_beam, uncompiled(model, shape), shape)
    choice = choose(model, CPU)
    assert (choice.bound, choice.encoder) == (folder, None)
    ours, called = (
        build_decoder(model, choice),
        packed(model, uncompiled(model, shape), layers="int8", inputs="int16"),
    )
    for passes in (forced, joined_and_left, forced_alone, left_alone):
        right = passes(model)
        assert rms(passes(ours) - right) < 1.3 * rms(passes(called) - right)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "precision", "layers"),
    [
        pytest.param("post-norm", "int8", LAYERS_HERE, marks=needs_int8_units),
        pytest.param("GELU", LAYERS_HERE, LAYERS_HERE, marks=needs_int8_units),
        pytest.param("post-norm", "float32", "float32", marks=needs_avx2),
    ],
)
@torch.inference_mode()
def test_every_kind_of_model_compiles(kind: str, precision: Precision, layers: Precision) -> None:
    model = random_model(d_model=20, d_ff=52, **KINDS[kind])
    shape = shape_of(model, precision, layers)
    run = load_steps(compile_bound(shape, model), shape).any_rows
    assert run is not None
    check_compiled(run, model, shape)


@needs_compiler
def test_nmt_compile_compiles_it_and_with_matrix_units_the_step_of_one_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Which ones are compiled; what compiling does is tested above."""
    compiled: list[str] = []
    for name in FUNCTIONS:
        monkeypatch.setattr(f"nmt.compilation.{name}", lambda *_, name=name: compiled.append(name))
    model = random_model(d_model=128)
    monkeypatch.setattr(CpuFeatures, "here", lambda: VNNI)
    steps = compile_steps(model, choose(model, CPU, "int8"))
    assert [step["for"] for step in steps] == ["any number of rows", "the encoder", RANKING]
    with pytest.raises(ConfigError, match="the step of any number of rows is the fastest for few too"):
        compile_steps(model, choose(model, CPU, "int8"), rows=[1])
    monkeypatch.setattr(CpuFeatures, "here", lambda: AMX)
    steps = compile_steps(model, choose(model, CPU, "int8", AMX))
    others = ["the encoder", RANKING]
    assert [step["for"] for step in steps] == ["any number of rows", "1 row", *others]
    assert compiled[3:] == list(FUNCTIONS)
    steps = compile_steps(model, choose(model, CPU, "int8", AMX), rows=[5, 5])
    assert [step["for"] for step in steps] == ["any number of rows", "5 rows", *others]

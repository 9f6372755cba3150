"""The encoder as one call, weights inside: near the model, compiled or not, found by weights."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.compilation import compile_steps
from nmt.config import SpecialIds
from nmt.engines import bound_encoder, packages
from nmt.engines.arithmetic import rounded_up
from nmt.engines.bound_encoder import (
    BoundEncoder,
    EncoderShape,
    compile_encoder,
    folder_of,
    load_encoder,
)
from nmt.engines.bound_maps import MANY_ROWS
from nmt.engines.choose import build_decoder, choose, compilable_steps, encoder_folder
from nmt.engines.cpu import CpuFeatures, Int8Inputs
from nmt.engines.encoder_call import MOST_TOKENS, MOST_TOKENS_IF_WIDE, NARROW, PART_TOKENS, EncoderCall
from nmt.engines.forks import can_fork
from nmt.engines.keeping import KeptIn, has_scales
from nmt.engines.kernels import Precision
from nmt.engines.packages import Run
from nmt.engines.packed import PackedTransformer
from nmt.engines.shapes import ROWS_BESIDE
from nmt.errors import ConfigError
from nmt.models.transformer import EncoderLayer, Transformer
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
)
from tests.nmt.engines.random_models import KINDS, random_transformer

IN_AVX2: tuple[Int8Inputs, ...] = ("int16", "pairs")
SPECIAL = SpecialIds()
SOURCES = [[5, 6, 7, 8, 9, 10, 11], [12, 13], [14, 15, 16, 17], [18]]
CPU = torch.device("cpu")
OF_UNITS = [
    pytest.param("bfloat16", "int8", marks=needs_bfloat16, id="AMX"),
    pytest.param("int8", "uint8", marks=needs_int8_units, id="VNNI"),
    pytest.param("int8", "int16", marks=needs_fbgemm, id="AVX2"),
    pytest.param("int8", "pairs", marks=needs_fbgemm, id="AVX2, many tokens"),
    pytest.param("float32", "int8", id="float32"),
]
"""Layers and inputs of int8 products as engines have them on CPUs with these units."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(packages.CACHE, str(tmp_path))


def random_model(**changes: object) -> Transformer:
    widths = {"vocab_size": 199, "d_model": 64, "d_ff": 48, "n_encoder_layers": 2, "n_decoder_layers": 2}
    return random_transformer(**{**widths, **changes})


def shape_of(
    model: Transformer, layers: Precision = "bfloat16", inputs: Int8Inputs | None = None
) -> EncoderShape:
    kept_in: KeptIn = "int8x4" if inputs in IN_AVX2 else layers
    inputs = inputs or ("uint8" if layers == "int8" else "int8")
    shape = EncoderShape.of_model(model, layers, kept_in, inputs)
    assert shape is not None
    return shape


def uncompiled(
    model: Transformer,
    calls: list[int] | None = None,
    layers: Precision = "bfloat16",
    inputs: Int8Inputs | None = None,
) -> Run:
    """The function that is compiled, as torch runs it one operation after another."""
    shape = shape_of(model, layers, inputs)
    encoder = BoundEncoder.of(shape, model)

    def call(tensors: list[Tensor]) -> Sequence[Tensor]:
        if calls is not None:
            calls.append(len(tensors[0]))
        n_each = 2 if has_scales(shape.kept) else 1
        parts = [tuple(tensors[first : first + n_each]) for first in range(6, len(tensors), n_each)]
        memory = list(zip(parts[::2], parts[1::2], strict=True))
        results: Sequence[Tensor] = encoder(*tensors[:6], memory)
        return results

    return call


def packed(
    model: Transformer,
    run: Run | None,
    layers: Precision = "bfloat16",
    inputs: Int8Inputs | None = None,
    many: Run | None = None,
) -> PackedTransformer:
    """Without ``run`` it is many calls, whose weights are rounded as the CPU with these ``inputs`` needs."""
    call = None if run is None else EncoderCall(shape_of(model, layers, inputs), run, many)
    features = AVX2 if inputs in IN_AVX2 else CpuFeatures.here()
    with patch.object(CpuFeatures, "here", return_value=features):
        return PackedTransformer(model, layers=layers, output=layers, encoder_call=call)


def kept(decoder: PackedTransformer, sources: Sequence[Sequence[int]]) -> Tensor:
    """Keys and values of all tokens, in float32."""
    batch = Batch.from_ids(sources, special=SPECIAL)
    (group,) = decoder.start(batch, 1).groups
    places = [
        part.transpose(1, 2)[batch.source_mask_BS] for layer in group.memory.in_order()[0] for part in layer
    ]
    return torch.stack(places).float()


def exact(model: Transformer, sources: Sequence[Sequence[int]]) -> Tensor:
    decoder = PackedTransformer(model, layers="float32", output="float32")
    return kept(decoder, sources)


def rms(numbers: Tensor) -> float:
    return float(numbers.square().mean().sqrt())


def check_near(
    run: Run,
    model: Transformer,
    sources: Sequence[Sequence[int]],
    layers: Precision = "bfloat16",
    inputs: Int8Inputs | None = None,
) -> None:
    """As near to the encoder in float32 as the one that is not one call; either has its luck in rounding."""
    right = exact(model, sources)
    ours, calls = (
        rms(kept(packed(model, one, layers, inputs), sources) - right) / rms(right) for one in (run, None)
    )
    assert ours < (1e-5 if layers == "float32" else 2.5 * calls), "sums are in another order"
    assert max(ours, calls) < (0.06 if layers == "bfloat16" else 0.12)


@pytest.mark.parametrize(("layers", "inputs"), OF_UNITS)
@pytest.mark.parametrize("sources", [SOURCES, SOURCES[:1], [SOURCES[0], SOURCES[0]], SOURCES[3:]])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@torch.inference_mode()
def test_it_is_near_the_model(
    kind: dict[str, object], sources: Sequence[Sequence[int]], layers: Precision, inputs: Int8Inputs
) -> None:
    model, calls = random_model(**kind), list[int]()
    check_near(uncompiled(model, calls, layers, inputs), model, sources, layers, inputs)
    n_tokens = sum(len(source) + 1 for source in sources)
    beside = ROWS_BESIDE if inputs == "int16" else 1
    assert calls == [rounded_up(n_tokens, beside)], "tokens and EOS, no padding but to whole loops"


@needs_fbgemm
@torch.inference_mode()
def test_many_tokens_have_a_function_of_their_own_and_few_are_filled_up() -> None:
    """Where there is one; what fills up is nowhere in what is found."""
    model, few, many = random_model(), list[int](), list[int]()
    runs = uncompiled(model, few, "int8", "int16"), uncompiled(model, many, "int8", "pairs")
    decoder = packed(model, runs[0], "int8", "int16", runs[1])
    for n_tokens in (1, ROWS_BESIDE, MANY_ROWS - 1, MANY_ROWS, MANY_ROWS + 1):
        sources = [[*range(5, 4 + n_tokens)]]
        calls = packed(model, None, "int8", "int16")
        right, found = exact(model, sources), kept(decoder, sources)
        assert rms(found - right) < 2 * rms(kept(calls, sources) - right)
        batch = Batch.from_ids(sources, sources, special=SPECIAL)
        memory_BSD, _ = decoder.states(batch)
        assert memory_BSD.shape == calls.states(batch)[0].shape
    assert few == [ROWS_BESIDE, ROWS_BESIDE, MANY_ROWS]
    assert many == [MANY_ROWS, MANY_ROWS + 1]
    sources = [[7] * (PART_TOKENS + 1), [8] * 5]  # in two parts, where all are filled up
    without = packed(model, runs[0], "int8", "int16")
    batch = Batch.from_ids(sources, sources, special=SPECIAL)
    kept(without, sources)
    memory_BSD, _ = without.states(batch)
    right_BSD, _ = PackedTransformer(model, layers="float32", output="float32").states(batch)
    assert few[3:] == [rounded_up(PART_TOKENS + 2, ROWS_BESIDE), 2 * ROWS_BESIDE]
    mask_BS = batch.source_mask_BS
    assert rms((memory_BSD - right_BSD)[mask_BS]) < 0.1 * rms(right_BSD[mask_BS])


@needs_bfloat16
@torch.inference_mode()
def test_its_activation_is_the_models() -> None:
    """Of small numbers, where GELU and ReLU are far apart."""
    model = random_model(**KINDS["GELU"])
    for layer in model.encoder_layers:
        assert isinstance(layer, EncoderLayer)
        layer.feed_forward.up.weight.mul_(0.1)
        layer.feed_forward.up.bias.mul_(0.1)
        layer.feed_forward.down.weight.mul_(10)
    check_near(uncompiled(model), model, SOURCES)


@needs_bfloat16
@torch.inference_mode()
def test_a_sentence_does_not_depend_on_those_beside_it() -> None:
    model = random_model()
    decoder = packed(model, uncompiled(model))
    beside = kept(decoder, SOURCES)
    alone = torch.cat([kept(decoder, [source]) for source in SOURCES], dim=1)
    torch.testing.assert_close(beside, alone, atol=0.05, rtol=0.02)


@needs_bfloat16
@torch.inference_mode()
def test_links_find_what_it_encoded() -> None:
    model, calls = random_model(), list[int]()
    decoder = packed(model, uncompiled(model, calls))
    decoder.start(Batch.from_ids(SOURCES, special=SPECIAL), 2)
    batch = Batch.from_ids(SOURCES, SOURCES, special=SPECIAL)
    memory_BSD, _ = decoder.states(batch)
    assert len(calls) == 1
    expected_BSD = packed(model, None).states(batch)[0]
    mask_BS = batch.source_mask_BS
    error = (memory_BSD - expected_BSD)[mask_BS].float()
    assert rms(error) < 0.1 * rms(expected_BSD[mask_BS].float())


@needs_bfloat16
@pytest.mark.parametrize(("d_model", "most"), [(NARROW, MOST_TOKENS), (NARROW + 16, MOST_TOKENS_IF_WIDE)])
@torch.inference_mode()
def test_many_tokens_take_the_calls(d_model: int, most: int) -> None:
    model, calls = random_model(d_model=d_model), list[int]()
    decoder = packed(model, uncompiled(model, calls))
    for n_tokens in (most, most + 1):
        decoder.start(Batch.from_ids([[5] * (n_tokens - 1)], special=SPECIAL), 1)
    assert calls == [most]


@pytest.mark.parametrize(("layers", "inputs"), OF_UNITS[1:])
@torch.inference_mode()
def test_but_in_bfloat16_many_tokens_take_it_too(layers: Precision, inputs: Int8Inputs) -> None:
    model, calls = random_model(), list[int]()
    decoder = packed(model, uncompiled(model, calls, layers, inputs), layers, inputs)
    decoder.start(Batch.from_ids([[5] * MOST_TOKENS], special=SPECIAL), 1)
    assert calls == [rounded_up(MOST_TOKENS + 1, ROWS_BESIDE if inputs == "int16" else 1)]


@needs_int8_units
@torch.inference_mode()
def test_in_int8_many_sentences_are_encoded_in_parts() -> None:
    model, calls = random_model(), list[int]()
    random.seed(4)
    lengths = [90, 70, 70, 60, 40, 2, 1]  # with EOS: 91 + 71 + 71 are less than a part, the fourth fills it
    sources = [random.choices(range(5, 199), k=length) for length in lengths]
    in_parts, at_once = (packed(model, run, "int8") for run in (uncompiled(model, calls, "int8"), None))
    batch = Batch.from_ids(sources, special=SPECIAL)
    found = kept(in_parts, sources)
    assert calls == [91 + 71 + 71 + 61, 41 + 3 + 2]
    assert calls[0] >= PART_TOKENS > calls[0] - 61
    one_by_one = torch.cat([kept(in_parts, [source]) for source in sources], dim=1)
    torch.testing.assert_close(found, one_by_one, atol=1e-4, rtol=1e-4)
    expected = kept(at_once, sources)
    assert rms(found - expected) < 0.1 * rms(expected)
    (group,) = in_parts.start(batch, 1).groups
    layers, mask_B11S = group.memory.in_order()
    assert mask_B11S is not None
    assert mask_B11S.shape == (len(sources), 1, 1, 91)
    for key_BHSE, value_BHSE in layers:
        assert bool(key_BHSE.isfinite().all())
        assert bool(value_BHSE.isfinite().all())
    known_BSD, _ = in_parts.states(Batch.from_ids(sources, sources, special=SPECIAL))
    assert len(calls) == 2 + len(sources) + 2, "what was found is kept in one piece"
    assert known_BSD.shape[:2] == batch.source_BS.shape


def test_it_is_found_by_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = random_model()
    before = folder_of(shape_of(model), model)
    assert before.is_relative_to(tmp_path)
    same, *others = (random_model() for _ in range(4))
    assert folder_of(shape_of(same), same) == before
    layer = others[0].encoder_layers[1]
    assert isinstance(layer, EncoderLayer)
    layer.feed_forward.up.bias[0] += 1e-3
    others[1].encoder_norm.weight[0] += 1  # type: ignore[operator]
    others[2].decoder_layers[1].cross_attention.value.bias[0] += 1  # type: ignore[union-attr]
    assert len({before, *(folder_of(shape_of(other), other) for other in others)}) == 4
    decoded = random_model()
    decoded.decoder_norm.weight[0] += 1  # type: ignore[operator]
    decoded.decoder_layers[1].cross_attention.query.bias[0] += 1  # type: ignore[union-attr]
    assert folder_of(shape_of(decoded), decoded) == before, "it reads nothing else of the decoder"
    monkeypatch.setattr(bound_encoder.inspect, "getsource", lambda _: "other code")
    assert folder_of(shape_of(model), model) != before


def test_fewer_bits_need_units_for_them_and_float32_wide_registers() -> None:
    model = random_model(d_model=128)
    for engine in ("int8", "bfloat16"):
        assert encoder_folder(model, choose(model, CPU, engine, AMX), AMX) is not None
        assert encoder_folder(model, choose(model, CPU, engine, AMX), VNNI) is None
    folder = encoder_folder(model, choose(model, CPU, "int8", VNNI), VNNI)
    assert folder not in (None, encoder_folder(model, choose(model, CPU, "int8", AMX), AMX))
    assert encoder_folder(model, choose(model, CPU, "int8", AVX2), AVX2) not in (None, folder)
    assert encoder_folder(model, choose(model, CPU, "eager", AMX), AMX) is None
    for features, has in ((AMX, True), (VNNI, True), (AVX2, True), (OLD, False)):
        choice = choose(model, CPU, "float32", features)
        assert (encoder_folder(model, choice, features) is not None) == has


def test_layers_of_unequal_width_have_none() -> None:
    model = random_model(d_model=128, n_heads=2)
    layer = model.encoder_layers[0]
    assert isinstance(layer, EncoderLayer)
    layer.feed_forward.up = torch.nn.Linear(128, 32)
    assert EncoderShape.of_model(model, "bfloat16", "bfloat16") is None
    assert encoder_folder(model, choose(model, CPU, "int8", AMX), AMX) is None


def check_compiled(
    run: Run, model: Transformer, layers: Precision = LAYERS_HERE, inputs: Int8Inputs | None = None
) -> None:
    """As near to the encoder in float32 as what is not compiled, which rounds between operations too."""
    random.seed(3)
    ratios, called_one_by_one = [], uncompiled(model, layers=layers, inputs=inputs)
    for sizes in ((1,), (2, 2), (7,), (1, 30, 4), (200,), tuple(range(2, 22)), (31,) * 12):
        sources = [random.choices(range(5, 199), k=size) for size in sizes]
        right = exact(model, sources)
        ours, called = (
            rms(kept(packed(model, one, layers, inputs), sources) - right) for one in (run, called_one_by_one)
        )
        assert ours < (1e-5 if layers == "float32" else 0.25) * rms(right)
        ratios.append(ours / max(called, 1e-6 * rms(right)))
    assert sorted(ratios)[len(ratios) // 2] < (2 if layers == "float32" else 1.3)


@needs_compiler
@needs_int8_units
@pytest.mark.usefixtures("threads")
@torch.inference_mode()
def test_what_is_compiled_computes_the_same_and_is_chosen() -> None:
    model = random_model(d_model=128, n_heads=2)
    here = choose(model, CPU)
    assert (here.name, here.encoder) == ("int8", None)
    assert compilable_steps(model, here)["the encoder"] is False
    shape = shape_of(model, LAYERS_HERE)
    folder = compile_encoder(shape, model)
    made = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert compile_encoder(shape, model) == folder
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == made
    found = load_encoder(folder, shape)
    assert found is not None
    run, many = found
    assert many is None
    for n_threads in (1, 2):
        torch.set_num_threads(n_threads)
        check_compiled(run, model)

    choice = choose(model, CPU)
    assert choice.encoder == folder
    assert choice.why.endswith(
        "the encoder of a few sentences too" if HERE.matrix_units else "the encoder too"
    )
    assert compilable_steps(model, choice)["the encoder"] is True
    assert choose(model, CPU, compiled=False) == here
    assert choose(random_model(d_model=128, n_heads=2, d_ff=64), CPU).encoder is None
    assert can_fork(), "what compiles and loads leaves threads behind"
    decoder = build_decoder(model, choice)
    assert isinstance(decoder, PackedTransformer)
    expected = kept(packed(model, run, LAYERS_HERE), SOURCES)
    torch.testing.assert_close(kept(decoder, SOURCES), expected, atol=0, rtol=0)

    (folder / "encoder.pt2").write_bytes(b"cut short")
    with pytest.raises(ConfigError, match=rf"{folder}.*cannot be loaded.*remove the folder"):
        build_decoder(model, choice)


@needs_compiler
@needs_avx2
@torch.inference_mode()
def test_in_float32_what_is_compiled_computes_the_same() -> None:
    model = random_model(d_model=50, n_heads=2)
    shape = shape_of(model, "float32")
    folder = compile_encoder(shape, model)
    found = load_encoder(folder, shape)
    assert found is not None
    check_compiled(found[0], model, "float32")
    choice = choose(model, CPU, "float32")
    assert choice.encoder == folder
    assert choice.why.endswith("the encoder too")


@needs_compiler
@needs_int8_units
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["post-norm", "GELU"])
@torch.inference_mode()
def test_every_kind_of_model_compiles(kind: str) -> None:
    model = random_model(d_model=20, d_ff=52, **KINDS[kind])
    shape = shape_of(model, LAYERS_HERE)
    found = load_encoder(compile_encoder(shape, model), shape)
    assert found is not None
    check_compiled(found[0], model)


@needs_compiler
@needs_avx2
@pytest.mark.slow
@pytest.mark.usefixtures("threads")
@torch.inference_mode()
def test_in_pairs_what_is_compiled_computes_the_same_and_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CpuFeatures, "here", lambda: AVX2)
    model = random_model(d_model=128, n_heads=2, n_encoder_layers=1)
    shape = shape_of(model, "int8", "int16")
    folder = compile_encoder(shape, model)
    found = load_encoder(folder, shape)
    assert found is not None
    run, many = found
    assert many is not None
    for n_threads in (1, 2):
        torch.set_num_threads(n_threads)
        check_compiled(run, model, "int8", "int16")
        check_compiled(many, model, "int8", "pairs")
    choice = choose(model, CPU)
    assert choice.encoder == folder
    assert choice.why.endswith("the encoder too")
    decoder = build_decoder(model, choice)
    assert isinstance(decoder, PackedTransformer)
    expected = kept(packed(model, run, "int8", "int16", many), SOURCES)
    torch.testing.assert_close(kept(decoder, SOURCES), expected, atol=0, rtol=0)


@needs_compiler
def test_nmt_compile_compiles_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """That it does; what compiling does is tested above."""
    compiled: list[str] = []
    for name in ("compile_bound", "compile_whole", "compile_encoder", "compile_ranking"):
        monkeypatch.setattr(f"nmt.compilation.{name}", lambda *_, name=name: compiled.append(name))
    model = random_model(d_model=128)
    monkeypatch.setattr(CpuFeatures, "here", lambda: AMX)
    steps = compile_steps(model, choose(model, CPU, "int8", AMX))
    assert steps[-2]["for"] == "the encoder"
    assert compiled[-2] == "compile_encoder"
    monkeypatch.setattr(CpuFeatures, "here", lambda: VNNI)
    steps = compile_steps(model, choose(model, CPU, "int8", VNNI))
    assert steps[-2]["for"] == "the encoder"
    avx2 = replace(VNNI, int8=False)
    monkeypatch.setattr(CpuFeatures, "here", lambda: avx2)
    steps = compile_steps(model, choose(model, CPU, "int8", avx2))
    assert "the encoder" in [step["for"] for step in steps]

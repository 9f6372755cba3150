"""The step of one sentence's beam, which finds its best extensions too: as the two calls, and when taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import GenerationConfig
from nmt.engines import packages
from nmt.engines.bound import (
    FEW_ROWS,
    ONE_ROW,
    BeamStep,
    BoundStep,
    compile_bound,
    fixed_rows,
    has_beam_step,
    load_steps,
)
from nmt.engines.bound_maps import FAR_BYTES, UnsignedInt8
from nmt.engines.cpu import CpuFeatures, Int8Inputs
from nmt.engines.kernels import Precision
from nmt.engines.packages import Run
from nmt.engines.packed import PackedTransformer
from nmt.engines.single_calls import BEAM_SIZE, SingleCalls, example_arguments
from nmt.engines.whole import WholeShape
from nmt.extensions import Extensions, best_of_blocks
from nmt.models.interface import Living
from nmt.models.transformer import Transformer
from nmt.search import Required, search
from nmt.search.topk import best_extensions
from tests.nmt.engines.marks import (
    AVX2,
    LAYERS_HERE,
    needs_avx2,
    needs_compiler,
    needs_int8_units,
    slow_beside_better,
)

from .test_bound import (
    OF_UNITS,
    SPECIAL,
    arguments_of,
    kept_in,
    random_model,
    rms,
    shape_of,
    uncompiled,
    written_and_told,
)

SOURCE = [5, 6, 7, 8, 9, 10, 11]
OPTIONS = GenerationConfig(max_length_ratio=1.0, max_length_offset=12, repair_loops=False)
LENGTHS = (1, 1), (2, 2), (40, 130), (257, 31)
"""Of target and source."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(packages.CACHE, str(tmp_path))


def uncompiled_beam(model: Transformer, shape: WholeShape, calls: list[int] | None = None) -> Run:
    """The function that is compiled, as torch runs it one operation after another."""
    structure = torch.utils._pytree.tree_structure((*example_arguments(shape, BEAM_SIZE, 1), 0, 0))
    step = BeamStep.of(shape, model)

    def call(tensors: list[Tensor]) -> Sequence[Tensor]:
        if calls is not None:
            calls.append(len(tensors[0]))
        results: Sequence[Tensor] = step(*torch.utils._pytree.tree_unflatten(tensors, structure))
        return results

    return call


def beam_arguments(shape: WholeShape, n_target: int, n_source: int) -> tuple[list[Tensor], Tensor]:
    """Those of a step and sums_K, of which the last but one is of a dead row."""
    arguments = arguments_of(shape, 1, BEAM_SIZE, n_target, n_source, n_free=0)
    sums_K = -torch.rand(BEAM_SIZE)
    sums_K[-2] = -torch.inf
    return arguments, sums_K


def check_beam(of_beam: Run, any_rows: Run, shape: WholeShape, eos: int = 2) -> None:
    """It tells what the step of any rows and the search behind it do, and writes the same."""
    for n_target, n_source in LENGTHS:
        arguments, sums_K = beam_arguments(shape, n_target, n_source)
        more = [sums_K, torch.tensor([eos])]
        written, logits_KV, log_totals_K, *found = written_and_told(
            lambda given, more=more: of_beam([*given, *more]), arguments
        )
        own = written_and_told(any_rows, arguments)
        for ours, theirs in zip((written, logits_KV, log_totals_K), own, strict=False):
            assert rms(ours - theirs) < 0.03 * rms(theirs), "but for a number that is rounded up or down"
        right = best_extensions(logits_KV, sums_K - log_totals_K, 1, eos, None, arguments[-2])
        for ours, theirs in zip(found, right, strict=True):
            assert ours.shape == theirs.shape
            assert ours.dtype == theirs.dtype
            torch.testing.assert_close(ours, theirs)
        extensions = Extensions(*found)
        assert bool((extensions.sums_BC.diff() <= 0).all()), "best first"
        assert BEAM_SIZE - 2 not in extensions.rows_BC, "nothing goes on from a dead row"


@pytest.mark.parametrize(("layers", "precision", "inputs"), OF_UNITS)
@torch.inference_mode()
def test_it_is_the_step_of_any_rows_and_the_search_for_the_best(
    layers: Precision, precision: Precision, inputs: Int8Inputs
) -> None:
    torch.manual_seed(4)
    model = random_model(vocab_size=208)
    shape = shape_of(model, precision, layers, inputs)
    check_beam(uncompiled_beam(model, shape), uncompiled(model, shape), shape)


def of_one_call(
    model: Transformer, calls: list[int], *, with_beam: bool, ranked: list[int] | None = None
) -> PackedTransformer:
    """The engine, whose steps are counted in ``calls`` where they are a beam's, and in ``ranked`` else."""

    def rank(scores_BKZXG: Tensor, *others: Any) -> Extensions:
        if ranked is not None:
            ranked.append(len(scores_BKZXG))
        return best_of_blocks(scores_BKZXG, *others)

    shape = shape_of(model, "float32", "float32")
    single_calls = SingleCalls(
        kept_in("float32", "int8"),
        {},
        any_rows=uncompiled(model, shape),
        of_beam=uncompiled_beam(model, shape, calls) if with_beam else None,
    )
    return PackedTransformer(model, layers="float32", output="float32", single_calls=single_calls, rank=rank)


@pytest.mark.parametrize(
    ("changes", "n_sentences", "by_it", "by_others", "required"),
    [
        ({"beam_size": BEAM_SIZE}, 1, True, False, None),
        ({"beam_size": BEAM_SIZE, "n_best": 3, "length_normalization": "gnmt"}, 1, True, False, None),
        ({"beam_size": BEAM_SIZE - 1}, 1, False, True, None),
        ({"beam_size": BEAM_SIZE}, 2, True, False, None),
        ({"beam_size": 1}, BEAM_SIZE, False, False, None),
        ({"beam_size": BEAM_SIZE, "no_repeat_ngram_size": 2}, 1, True, True, None),
        ({"beam_size": BEAM_SIZE}, 1, False, True, Required((40, 41), ((40,),))),
        ({"beam_size": BEAM_SIZE}, 1, True, False, Required((40, 41), ((),))),
    ],
    ids=["alone", "n-best", "narrower", "two", "greedy", "a rule", "a placeholder", "none of them"],
)
@torch.inference_mode()
def test_search_with_it_finds_the_same(
    changes: dict[str, Any], n_sentences: int, by_it: bool, by_others: bool, required: Required | None
) -> None:
    """And takes it where one sentence is alone, and no rule asks for what it has written."""
    model, calls, ranked = random_model(vocab_size=208), list[int](), list[int]()
    batch = Batch.from_ids([SOURCE, [9, 8, 7, 12, 13, 15], [5], [7], [9]][:n_sentences], special=SPECIAL)
    options = OPTIONS.model_copy(update=changes)
    ours, theirs = (
        search(
            of_one_call(model, calls, with_beam=is_one, ranked=ranked if is_one else None),
            batch,
            options,
            SPECIAL,
            required=required,
        )
        for is_one in (True, False)
    )
    for mine, others in zip(ours, theirs, strict=True):
        assert [hypothesis.tokens for hypothesis in mine] == [hypothesis.tokens for hypothesis in others]
        for one, other in zip(mine, others, strict=True):
            assert one.log_prob == pytest.approx(other.log_prob, abs=1e-4)
            assert one.finished == other.finished
    assert set(calls) <= {BEAM_SIZE}
    assert (len(calls) > 0) == by_it
    assert (1 in ranked) == by_others, "steps of one sentence whose extensions are found elsewhere"


@torch.inference_mode()
def test_it_is_taken_by_who_is_alone_in_past_and_memory() -> None:
    """Not by two, nor where no beam is told of."""
    model, calls = random_model(vocab_size=208), list[int]()
    decoder, living = of_one_call(model, calls, with_beam=True), Living(torch.zeros(BEAM_SIZE), SPECIAL.eos)
    bos_K = torch.full((BEAM_SIZE,), SPECIAL.bos)

    def extensions_of(state: Any, living: Living | None) -> Extensions | None:
        taken = decoder.step_without(state, bos_K, (SPECIAL.pad,), living)
        assert taken is not None
        return taken[0].extensions

    def alone() -> Any:
        return decoder.start(Batch.from_ids([SOURCE], special=SPECIAL), BEAM_SIZE)

    assert extensions_of(alone(), living) is not None
    assert extensions_of(alone(), None) is None
    assert calls == [BEAM_SIZE]
    two = decoder.merge(alone(), alone())
    twice = Living(torch.zeros(2 * BEAM_SIZE), SPECIAL.eos)
    taken = decoder.step_without(two, bos_K.repeat(2), (), twice)
    assert taken is not None
    assert taken[0].extensions is None
    staying = decoder.reorder(two, torch.arange(BEAM_SIZE, 2 * BEAM_SIZE))
    assert extensions_of(staying, living) is not None, "the last of two"
    several = decoder.start(Batch.from_ids([SOURCE] * BEAM_SIZE, special=SPECIAL), 1)
    assert extensions_of(several, living) is None, "as many rows, but of several sentences"


def test_a_single_row_has_a_step_of_its_own_where_weights_are_few() -> None:
    """In int8; with AVX2 alone always."""
    model = random_model()
    shape = shape_of(model, layers="int8")
    maps = [part for part in BoundStep.of(shape, model).children() if isinstance(part, UnsignedInt8)]
    assert shape.n_weights == sum(part.weight_FD.numel() for part in maps)
    assert fixed_rows(shape) == ONE_ROW == (1,)
    many = replace(shape, vocab_size=FAR_BYTES // shape.d_model)
    assert fixed_rows(many) == ()
    assert fixed_rows(replace(many, inputs="int16")) == FEW_ROWS
    assert fixed_rows(replace(shape, inputs="int8")) == (), "with matrix units others have it"
    assert fixed_rows(shape_of(model, "float32", "float32")) == ()


def test_it_is_compiled_for_int8() -> None:
    model = random_model()
    assert has_beam_step(shape_of(model, layers="int8"))
    assert not has_beam_step(shape_of(model, "float32", "float32"))


@needs_compiler
@needs_int8_units
@torch.inference_mode()
def test_compiled_it_computes_the_same() -> None:
    torch.manual_seed(4)
    model = random_model(d_model=128, n_heads=2, vocab_size=208)
    shape = shape_of(model, layers=LAYERS_HERE)
    steps = load_steps(compile_bound(shape, model), shape)
    assert steps.of_beam is not None
    check_beam(steps.of_beam, uncompiled(model, shape), shape)


@needs_compiler
@needs_avx2
@slow_beside_better
@torch.inference_mode()
def test_compiled_with_avx2_alone_it_computes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CpuFeatures, "here", lambda: AVX2)
    torch.manual_seed(4)
    model = random_model(d_model=128, n_heads=2, vocab_size=208, n_decoder_layers=1)
    shape = shape_of(model, layers="int8", inputs="int16")
    steps = load_steps(compile_bound(shape, model), shape)
    assert steps.of_beam is not None
    check_beam(steps.of_beam, uncompiled(model, shape), shape)

"""The step of one sentence's beam, which finds its best extensions too: as the two calls, and when taken."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import GenerationConfig
from nmt.engines.bound import has_beam_step
from nmt.engines.cpu import Int8Inputs
from nmt.engines.kernels import Precision
from nmt.engines.packed import PackedTransformer
from nmt.engines.single_calls import BEAM_SIZE, SingleCalls
from nmt.extensions import Extensions, best_of_blocks
from nmt.models.interface import Living
from nmt.models.transformer import Transformer
from nmt.search import Required, search
from tests.nmt.engines.steps import check_beam, kept_in, random_model, shape_of, uncompiled, uncompiled_beam

from .test_bound import OF_UNITS, SPECIAL

SOURCE = [5, 6, 7, 8, 9, 10, 11]
OPTIONS = GenerationConfig(max_length_ratio=1.0, max_length_offset=12, repair_loops=False)


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


def test_it_is_compiled_for_int8_without_matrix_units() -> None:
    model = random_model()
    assert has_beam_step(shape_of(model, layers="int8"))
    assert has_beam_step(shape_of(model, layers="int8", inputs="int16"))
    assert not has_beam_step(shape_of(model, inputs="int8")), "with matrix units"
    assert not has_beam_step(shape_of(model, "float32", "float32"))

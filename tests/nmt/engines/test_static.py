"""The step of fixed shapes is the model, whatever bucket it is in and whoever was there before."""

from __future__ import annotations

import gc
from collections.abc import Sequence

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from nmt.batch import Batch
from nmt.config import GenerationConfig
from nmt.engines.static import StaticState, StaticTransformer
from nmt.engines.static_memory import MOST_FREE, Bucket
from nmt.search import search
from nmt.search.continuous import ContinuousSearch, Sentence
from tests.nmt.engines.test_packed import (
    SHAPES,
    SOURCES,
    SPECIAL,
    VOCAB,
    assert_same,
    step_side_by_side,
    tiny,
)

DTYPES = [(torch.float32, 1e-5), (torch.bfloat16, 0.25)]
DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU: CUDA graphs")
    ),
]


def sources(*ids: Sequence[int], device: str = "cpu") -> Batch:
    return Batch.from_ids(ids or SOURCES, special=SPECIAL).to(device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(("dtype", "tolerance"), DTYPES, ids=["float32", "bfloat16"])
@torch.inference_mode()
def test_it_steps_and_reorders_as_the_model_does(
    shape: dict[str, object], dtype: torch.dtype, tolerance: float, device: str
) -> None:
    model = tiny(**shape).to(device)
    engine = StaticTransformer(model, dtype)
    # rows are exchanged and doubled; sentences leave one after another, twice into a smaller bucket
    orders = [
        [1, 0, 3, 3, 4, 5, 7, 6, 9, 8],
        [2, 3, 4, 5, 6, 7, 8, 9],
        [1, 0, 2, 2, 5, 4, 6, 7],
        [1, 0, 4, 4, 6, 7],
        [1, 1, 3, 2],
        [3, 2],
        [1, 0],
        [0, 1],
    ]
    state = step_side_by_side(model, engine, sources(device=device), orders, tolerance)
    assert state.place.bucket.n_sentences == 1


@pytest.mark.parametrize("device", DEVICES)
@torch.inference_mode()
def test_it_moves_when_more_is_read_than_its_bucket_holds(device: str) -> None:
    model = tiny().to(device)
    engine = StaticTransformer(model, torch.float32)
    expected_state, state = model.start(sources(device=device), 1), engine.start(sources(device=device), 1)
    for number in range(70):
        tokens_N = (torch.arange(5, device=device) * 11 + number) % (VOCAB - 4) + 4
        expected, expected_state = model.step(expected_state, tokens_N)
        step, state = engine.step(state, tokens_N)
        torch.testing.assert_close(step.log_probs_NV, expected.log_probs_NV, atol=1e-4, rtol=1e-4)
    assert state.place.bucket == Bucket(8, 1, 16, 128)


@pytest.mark.parametrize("device", DEVICES)
@torch.inference_mode()
def test_merged_states_go_on_as_if_apart(device: str) -> None:
    engine = StaticTransformer(tiny().to(device), torch.float32)

    def read(source: list[list[int]], n_steps: int) -> StaticState:
        state = engine.start(sources(*source, device=device), 2)
        rows_N = torch.arange(2 * len(source), device=device)
        for number in range(n_steps):
            _, state = engine.step(state, (rows_N * 3 + number) % 100 + 4)
            state = engine.reorder(state, rows_N.view(-1, 2).flip(1).flatten())
        return state

    def order(*rows: int) -> torch.Tensor:
        return torch.tensor(rows, device=device)

    # one has read more than the smallest bucket holds, one is longer than the smallest bucket's source
    long = [list(range(4, 24))]
    merged = engine.merge(engine.merge(read(SOURCES[:2], 40), read(SOURCES[2:3], 0)), read(long, 2))
    assert merged.place.bucket == Bucket(4, 2, 32, 64)
    merged = engine.reorder(merged, order(3, 2, 6, 7))  # the first and the third are gone
    first = engine.reorder(read(SOURCES[:2], 40), order(3, 2))
    last = read(long, 2)
    for number in range(3):
        tokens_N = torch.arange(4, device=device) * 5 + number + 4
        step, merged = engine.step(merged, tokens_N)
        own_first, first = engine.step(first, tokens_N[:2])
        own_last, last = engine.step(last, tokens_N[2:])
        expected_NV = torch.cat([own_first.log_probs_NV, own_last.log_probs_NV])
        torch.testing.assert_close(step.log_probs_NV, expected_NV, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("beam_size", [1, 4])
@torch.inference_mode()
def test_it_finds_what_the_model_finds_alone_together_and_continuously(beam_size: int, device: str) -> None:
    model = tiny().to(device)
    engine = StaticTransformer(model, torch.float32)
    options = GenerationConfig(beam_size=beam_size, n_best=beam_size)
    expected = search(model, sources(device=device), options, SPECIAL)
    together = search(engine, sources(device=device), options, SPECIAL)
    alone = [search(engine, sources(ids, device=device), options, SPECIAL)[0] for ids in SOURCES]
    running = ContinuousSearch(engine, SPECIAL, device)
    continuous = {}
    for key, ids in enumerate(SOURCES):
        running.add([Sentence(key, tuple(ids), options)])
        continuous.update({outcome.key: outcome.hypotheses for outcome in running.step()})
    while running.running:
        continuous.update({outcome.key: outcome.hypotheses for outcome in running.step()})
    for key, theirs in enumerate(expected):
        for mine in (together[key], alone[key], continuous[key]):
            assert_same(mine, theirs)


@torch.inference_mode()
def test_a_step_can_be_recorded_once_and_replayed_at_every_position() -> None:
    """What a CUDA graph demands: no number of the step may come from Python, no tensor may be another one."""
    engine = StaticTransformer(tiny(), torch.float32)
    recorded, called = engine.start(sources(), 2), engine.start(sources(), 2)
    place = recorded.place
    replay = make_fx(place.run)()
    place.positions_N.zero_()  # recording ran it once
    place.past_NTW.zero_()
    place.run = replay
    for number in range(20):
        tokens_N = (torch.arange(10) * 13 + number) % (VOCAB - 4) + 4
        step, recorded = engine.step(recorded, tokens_N)
        expected, called = engine.step(called, tokens_N)
        assert torch.equal(step.log_probs_NV, expected.log_probs_NV)
        rows_N = torch.tensor([1, 0, 2, 2, 5, 4, 6, 7, 9, 9])
        recorded, called = engine.reorder(recorded, rows_N), engine.reorder(called, rows_N)
    assert recorded.place is place


@torch.inference_mode()
def test_what_was_left_in_a_place_reaches_nobody() -> None:
    engine = StaticTransformer(tiny(), torch.float32)
    state = engine.start(sources(), 1)
    expected, state = engine.step(state, torch.full((5,), SPECIAL.bos))
    expected_NV, place = expected.log_probs_NV.clone(), state.place
    for tensor in (place.past_NTW, place.memory_BSW, place.mask_B11S, place.logits_NV):
        tensor.fill_(torch.nan)
    place.positions_N.fill_(31)
    del state, expected
    gc.collect()
    state = engine.start(sources(), 1)
    assert state.place is place
    step, state = engine.step(state, torch.full((5,), SPECIAL.bos))
    assert torch.equal(step.log_probs_NV, expected_NV)


@torch.inference_mode()
def test_a_sentence_that_is_not_a_number_harms_none_beside_it() -> None:
    engine = StaticTransformer(tiny(), torch.float32)
    state, alone = engine.start(sources(), 1), engine.start(sources(SOURCES[4]), 1)
    state.place.memory_BSW[1] = torch.nan
    for leaving in (None, [0, 1, 4], [2]):
        step, state = engine.step(state, torch.full((len(state.n_read),), 9))
        expected, alone = engine.step(alone, torch.full((1,), 9))
        torch.testing.assert_close(step.log_probs_NV[-1], expected.log_probs_NV[0], atol=1e-5, rtol=1e-5)
        assert int(step.logits_NV.isnan().any(dim=1).sum()) == (len(state.n_read) > 1)
        if leaving is not None:
            state = engine.reorder(state, torch.tensor(leaving))


@torch.inference_mode()
def test_places_are_used_again_and_few_are_kept() -> None:
    engine = StaticTransformer(tiny(), torch.float32)
    seen = set()
    gc.freeze()  # what other tests have left need not be looked through each time
    try:
        for number in range(3 * MOST_FREE):
            state = engine.start(sources(*[[5]] * (1 << number % 3)), 1 + number % 20)
            seen.add(state.place)
            del state
            gc.collect()
    finally:
        gc.unfreeze()
    assert len(engine._places._free) <= MOST_FREE
    one, other = engine.start(sources(), 1), engine.start(sources(), 1)
    assert one.place is not other.place


@torch.inference_mode()
def test_more_tokens_than_positions_are_refused() -> None:
    engine = StaticTransformer(tiny(max_positions=40), torch.float32)
    state = engine.start(sources(), 1)
    for _ in range(40):
        _, state = engine.step(state, torch.full((5,), 9))
    with pytest.raises(ValueError, match=r"position 40 is past the model's 40 positions \(max_positions\)"):
        engine.step(state, torch.full((5,), 9))

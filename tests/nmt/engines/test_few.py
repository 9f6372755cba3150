"""The step of few rows: it is the model's, compiled or not, and hands over to that of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import GenerationConfig, SpecialIds
from nmt.engines import few, packages
from nmt.engines.choose import build_decoder, choose, whole_shape
from nmt.engines.cpu import CpuFeatures
from nmt.engines.few import compile_whole, compiled_rows, folder_of, load_whole
from nmt.engines.forks import can_fork
from nmt.engines.kernels import Precision
from nmt.engines.loops import LoopStep, Weights, lay_out_in, linear, loop_weights
from nmt.engines.packages import Run
from nmt.engines.packed import PackedTransformer
from nmt.engines.single_calls import SingleCalls, example_arguments, open_sizes
from nmt.engines.whole import StepWeights, WholeShape
from nmt.models.transformer import Transformer
from nmt.search import search
from tests.nmt.engines.in_threads import check_in_threads
from tests.nmt.engines.marks import AVX2, OLD, needs_compiler
from tests.nmt.engines.random_models import (
    KINDS,
    random_memory,
    random_past,
    random_transformer,
    random_words,
)

SPECIAL = SpecialIds()
SOURCES = [[5, 6, 7, 8, 9, 10, 11], [12, 13], [14, 15, 16, 17], [18]]
CPU = torch.device("cpu")


def random_model(**changes: object) -> Transformer:
    """199 pieces and d_ff 52 fill no group of outputs."""
    return random_transformer(**{"vocab_size": 199, "d_ff": 52, "n_decoder_layers": 2, **changes})


def shape_of(model: Transformer, weights: Precision = "float32", kept: Precision = "float32") -> WholeShape:
    shape = WholeShape.of_model(model, kept, weights)
    assert shape is not None
    return shape


def uncompiled(shape: WholeShape, n_rows: int, calls: list[int] | None = None) -> Run:
    """The function that is compiled, as torch runs it one operation after another."""
    example = (*example_arguments(shape, n_rows), StepWeights.zeros(shape, lay_out_in(shape.weights)))
    structure = torch.utils._pytree.tree_structure(example)

    def call(tensors: list[Tensor]) -> Sequence[Tensor]:
        if calls is not None:
            calls.append(len(tensors[0]))
        if n_rows == 1:
            read = tensors[1 : 1 + 4 * shape.n_layers]
            assert {len(part) for part in read} == {1}, "it knows of one place"
        results: Sequence[Tensor] = LoopStep(shape)(*torch.utils._pytree.tree_unflatten(tensors, structure))
        return results

    return call


def packed(model: Transformer, calls: list[int] | None = None, rows: Sequence[int] = ()) -> PackedTransformer:
    """In float32, with steps of few rows, uncompiled; ``calls``: rows of each taken."""
    shape = shape_of(model)
    runs = {n_rows: uncompiled(shape, n_rows, calls) for n_rows in rows}
    calls_of_few = SingleCalls("float32", runs, weights_of(model, shape)) if runs else None
    return PackedTransformer(model, layers="float32", output="float32", single_calls=calls_of_few)


def weights_of(model: Transformer, shape: WholeShape) -> list[Tensor]:
    """In the order that a step takes them."""
    return torch.utils._pytree.tree_leaves(loop_weights(model, shape.weights))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(packages.CACHE, str(tmp_path))


@pytest.mark.parametrize("precision", get_args(Precision))
@pytest.mark.parametrize("n_rows", [1, 2, 3, 5])
@pytest.mark.parametrize("n_inputs", [20, 21, 22, 24])
@torch.inference_mode()
def test_a_linear_map_is_that_of_its_weights(precision: Precision, n_rows: int, n_inputs: int) -> None:
    torch.manual_seed(1)
    weight_FD, bias_F = torch.randn(37, n_inputs), torch.randn(37)
    x_ND = torch.randn(n_rows, n_inputs)
    weights = Weights.of(weight_FD, bias_F, precision)
    expected_FD = {"float32": weight_FD, "bfloat16": weight_FD.bfloat16().float()}.get(precision)
    if expected_FD is None:
        scale_F1 = weight_FD.abs().amax(dim=1, keepdim=True) / 127
        expected_FD = (weight_FD / scale_F1).round() * scale_F1
    expected_NF = x_ND @ expected_FD.t() + bias_F
    torch.testing.assert_close(linear(x_ND, weights, 37), expected_NF, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("beam_size", [1, 3])
@torch.inference_mode()
def test_the_whole_step_is_that_of_the_model(kind: dict[str, object], beam_size: int) -> None:
    model = random_model(**kind)
    calls: list[int] = []
    ours, theirs = packed(model, calls, [beam_size]), model
    batch = Batch.from_ids(SOURCES[:1], special=SPECIAL)
    state, expected_state = ours.start(batch, beam_size), theirs.start(batch, beam_size)
    tokens_N = torch.full((beam_size,), SPECIAL.bos)
    orders = [[0, 0, 0], [0, 1, 2], [2, 0, 0], [1, 1, 2]] if beam_size == 3 else [[0]] * 4
    for number, order in enumerate(orders):
        step, state = ours.step(state, tokens_N)
        expected, expected_state = theirs.step(expected_state, tokens_N)
        torch.testing.assert_close(step.log_probs_NV, expected.log_probs_NV, atol=1e-4, rtol=1e-4)
        assert step.log_totals_N is not None
        torch.testing.assert_close(step.log_totals_N, step.logits_NV.logsumexp(dim=1))
        rows_N = torch.tensor(order)
        state, expected_state = ours.reorder(state, rows_N), theirs.reorder(expected_state, rows_N)
        tokens_N = torch.arange(40, 40 + beam_size) + number
    assert calls == [beam_size] * 4


@torch.inference_mode()
def test_others_may_join_a_sentence_and_leave_it() -> None:
    model = random_model()
    calls: list[int] = []
    logits = {}
    for name, decoder in (("ours", packed(model, calls, [2])), ("theirs", packed(model))):
        bos_2 = torch.full((2,), SPECIAL.bos)
        state = decoder.start(Batch.from_ids(SOURCES[:1], special=SPECIAL), 2)
        _, state = decoder.step(state, bos_2)
        _, state = decoder.step(state, torch.tensor([40, 41]))
        state = decoder.merge(state, decoder.start(Batch.from_ids(SOURCES[1:2], special=SPECIAL), 2))
        both, state = decoder.step(state, torch.tensor([42, 43, *bos_2]))
        first_logits_NV = both.logits_NV.clone()
        state = decoder.reorder(state, torch.tensor([1, 0]))
        left, state = decoder.step(state, torch.tensor([44, 45]))
        logits[name] = torch.cat([first_logits_NV, left.logits_NV])
    torch.testing.assert_close(logits["ours"], logits["theirs"], atol=1e-4, rtol=1e-4)
    assert calls == [2, 2, 2]  # two tokens alone, then alone again


@pytest.mark.parametrize(("beam_size", "expected"), [(1, [8, 3, 3, 1]), (2, [8, 8, 8, 3])])
@torch.inference_mode()
def test_sentences_leave_a_batch_of_few_rows(beam_size: int, expected: list[int]) -> None:
    model = random_model()
    calls: list[int] = []
    logits = {}
    for name, decoder in (("ours", packed(model, calls, [1, 3, 8])), ("theirs", packed(model))):
        state = decoder.start(Batch.from_ids(SOURCES, special=SPECIAL), beam_size)
        steps = []
        for sentences in ([0, 1, 2, 3], [0, 1, 3], [1, 3], [1]):
            tokens_N = torch.arange(40, 40 + beam_size * len(sentences)) if steps else bos(4 * beam_size)
            step, state = decoder.step(state, tokens_N)
            steps.append(step.logits_NV.clone())
            staying = {4: [0, 1, 3], 3: [1, 2], 2: [0], 1: [0]}[len(sentences)]
            rows = [place * beam_size + row for place in staying for row in range(beam_size)]
            state = decoder.reorder(state, torch.tensor(rows))
        logits[name] = torch.cat(steps)
    torch.testing.assert_close(logits["ours"], logits["theirs"], atol=1e-4, rtol=1e-4)
    assert calls == expected


@torch.inference_mode()
def test_no_position_is_read_that_the_model_does_not_have() -> None:
    """What is compiled would read on behind the table."""
    decoder = packed(random_model(max_positions=8), [], [1])
    state = decoder.start(Batch.from_ids(SOURCES[1:2], special=SPECIAL), 1)
    for _ in range(8):
        _, state = decoder.step(state, bos(1))
    with pytest.raises(ValueError, match="position 8 is past the model's 8 positions"):
        decoder.step_without(state, bos(1), ())


@torch.inference_mode()
def test_rows_that_fill_up_write_what_the_first_row_does() -> None:
    """They write into its place, though another sentence has stood first."""
    model = random_model()
    logits = {}
    for name, decoder in (("ours", packed(model, [], [8])), ("theirs", packed(model))):
        state = decoder.start(Batch.from_ids(SOURCES, special=SPECIAL), 1)
        _, state = decoder.step(state, bos(4))
        _, state = decoder.step(state, torch.tensor([40, 41, 42, 43]))
        state = decoder.reorder(state, torch.tensor([1, 2, 3]))
        for tokens in ([44, 45, 46], [47, 48, 49]):
            step, state = decoder.step(state, torch.tensor(tokens))
        logits[name] = step.logits_NV
    torch.testing.assert_close(logits["ours"], logits["theirs"], atol=1e-4, rtol=1e-4)


def bos(n_rows: int) -> Tensor:
    return torch.full((n_rows,), SPECIAL.bos)


@torch.inference_mode()
def test_more_rows_and_sentences_of_different_lengths_are_left_to_the_others() -> None:
    calls: list[int] = []
    ours = packed(random_model(), calls, [1, 3])
    search(ours, Batch.from_ids(SOURCES[:1], special=SPECIAL), GenerationConfig(beam_size=4), SPECIAL)
    assert calls == []
    state = ours.start(Batch.from_ids(SOURCES[:1], special=SPECIAL), 1)
    _, state = ours.step(state, bos(1))
    state = ours.merge(state, ours.start(Batch.from_ids(SOURCES[1:2], special=SPECIAL), 1))
    _, state = ours.step(state, torch.tensor([40, SPECIAL.bos]))
    assert calls == [1]


class FirstHalf:
    """A shortlist of the first 100 pieces."""

    def for_sources(self, sources: Sequence[Sequence[int]]) -> Tensor:
        return torch.arange(100)

    def forbidden(self, sources: Sequence[Sequence[int]], ids_U: Tensor) -> Tensor:
        return torch.zeros(len(sources), ids_U.numel(), dtype=torch.bool)


@torch.inference_mode()
def test_with_a_shortlist_steps_are_left_to_the_others() -> None:
    """Also where others join, which have lists of their own."""
    model = random_model()
    shape = shape_of(model)
    run = uncompiled(shape, 1)
    for calls in (
        SingleCalls("float32", {1: run}, weights_of(model, shape)),
        SingleCalls("float32", {}, (), run),
    ):
        decoder = PackedTransformer(
            model, layers="float32", output="float32", shortlist=FirstHalf(), single_calls=calls
        )
        batch = Batch.from_ids(SOURCES[:1], special=SPECIAL)
        step, state = decoder.step(decoder.start(batch, 1), bos(1))
        assert (step.logits_NV[0] > -torch.inf).nonzero().flatten().tolist() == list(range(100))
        state = decoder.merge(state, decoder.start(batch, 1))
        step, _ = decoder.step(state, torch.tensor([40, SPECIAL.bos]))
        assert (step.logits_NV > -torch.inf).sum(dim=1).tolist() == [100, 100]


def test_a_step_is_found_by_its_shape_and_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shape = shape_of(random_model())
    others = [
        shape_of(random_model(**kind))
        for kind in ({"d_ff": 64}, {"norm": "post"}, {"n_decoder_layers": 1}, {"vocab_size": 256})
    ]
    others += [shape_of(random_model(), "int8"), shape_of(random_model(), kept="bfloat16")]
    assert len({folder_of(one, rows) for one in (shape, *others) for rows in (1, 5)}) == 14
    before = folder_of(shape, 1)
    assert before.is_relative_to(tmp_path)
    monkeypatch.setattr(few.inspect, "getsource", lambda _: "other code")
    assert folder_of(shape, 1) != before


@pytest.mark.parametrize(("n_rows", "n_sentences"), [(1, 2), (2, 2), (3, 2), (5, 2), (8, 2), (5, 1)])
def test_no_size_that_is_left_open_is_one_in_the_example(n_rows: int, n_sentences: int) -> None:
    """Which would be taken to be no other."""
    shape = shape_of(random_model())
    sizes = open_sizes(shape, n_rows, n_rows, one_sentence=n_sentences == 1)
    opened = torch.utils._pytree.tree_leaves(sizes, is_leaf=lambda part: isinstance(part, dict))
    example = torch.utils._pytree.tree_leaves(example_arguments(shape, n_rows, n_sentences))
    assert sum(map(len, opened)) > 10
    for part, dims in zip(example, opened, strict=True):
        assert all(part.size(dim) > 1 for dim in dims)


def test_layers_of_different_widths_have_no_step() -> None:
    pruned = random_model(kept_heads={"encoder": [2], "decoder": [2, 1], "cross": [2, 2]})
    assert WholeShape.of_model(pruned, torch.float32) is None
    choice = choose(pruned, CPU, "float32")
    assert whole_shape(pruned, choice) is None


def test_eager_and_an_rnn_have_none() -> None:
    model = random_model()
    assert whole_shape(model, choose(model, CPU, "eager")) is None


def arguments_of(
    model: Transformer, shape: WholeShape, n_rows: int, n_sentences: int, n_target: int, n_source: int
) -> list[Tensor]:
    """Numbers at random, the last sentence's source padded, and nothing yet where new ones will be."""
    memory, mask_P11L = random_memory(shape, n_sentences, n_source)
    beam_size = n_rows // n_sentences
    behind_B = torch.randint(n_target, (n_sentences,))
    behind_B[0] = 0
    past = random_past(shape, behind_B, n_target, beam_size)
    row_N = torch.arange(n_rows)
    row_N[n_sentences * beam_size :] = 0  # what fills up is the first row again
    readers_NC = torch.randint(beam_size, (n_rows, n_target + 3))
    sentence_N = row_N // beam_size
    behind_N = behind_B[sentence_N]
    readers_NC[torch.arange(n_rows), n_target - 1 - behind_N] = torch.arange(n_rows) % beam_size
    tokens_N, words = random_words(shape, n_rows)
    places = sentence_N, readers_NC[row_N], sentence_N, behind_N, torch.arange(n_target)
    return [tokens_N[row_N], *past, *memory, mask_P11L, *places, *words, *weights_of(model, shape)]


def check_compiled(model: Transformer, shape: WholeShape, n_rows: int) -> None:
    """What is compiled gives the numbers of what is not, for targets and sources of any number and length."""
    runs = load_whole(shape)
    torch.manual_seed(2)
    for n_target, n_source in ((1, 1), (1, 9), (2, 1), (2, 2), (40, 130), (257, 31)):
        for n_sentences in {1, min(2, n_rows), n_rows}:
            arguments = arguments_of(model, shape, n_rows, n_sentences, n_target, n_source)
            pasts, told = [], []
            for run in (runs[n_rows], uncompiled(shape, n_rows)):
                given = [argument.clone() for argument in arguments]
                told.append(run(list(given)))
                pasts.append(torch.stack(given[1 : 1 + 2 * shape.n_layers])[:, :, :, :n_target])
            assert bool(pasts[1].isfinite().all())
            to_next = 2.0**-7 if shape.kept == "bfloat16" else 0.0  # what is rounded may go either way
            torch.testing.assert_close(pasts[0], pasts[1], atol=2e-3, rtol=2e-3 + to_next)
            for one, other in zip(*told, strict=True):
                assert bool((other < torch.inf).all())
                torch.testing.assert_close(one, other, atol=2e-3, rtol=2e-3)


@needs_compiler
@torch.inference_mode()
def test_what_is_compiled_computes_the_same_and_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_model()
    here = choose(model, CPU, "float32")
    shape = whole_shape(model, here)
    assert shape == shape_of(model)
    assert here.few is None
    assert compiled_rows(shape) == []
    folder = compile_whole(shape, 2)
    made = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert compile_whole(shape, 2) == folder
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == made
    assert compiled_rows(shape) == [2]
    assert compiled_rows(replace(shape, n_layers=1)) == []
    assert can_fork(), "what compiles and loads leaves threads behind"
    check_compiled(model, shape, 2)
    jobs = [arguments_of(model, shape, 2, 1, 3 + 7 * number, 5 + number) for number in range(4)]
    check_in_threads(load_whole(shape)[2], jobs)

    assert choose(model, CPU, "float32", AVX2).few is None, "where few rows take the step of any number"
    assert choose(model, CPU, "bfloat16", replace(OLD, bfloat16=True)).few is None, "that is of float32"
    monkeypatch.setattr(CpuFeatures, "here", lambda: OLD)
    choice = choose(model, CPU, "float32")
    assert choice.few == shape
    assert "steps of up to 2 rows in one call" in choice.why
    assert choose(model, CPU, "float32", compiled=False) == here
    found, expected = build_decoder(model, choice), build_decoder(model, here)
    for source in SOURCES:
        for options in (GenerationConfig(beam_size=2, n_best=2), GenerationConfig(beam_size=1)):
            batch = Batch.from_ids([source], special=SPECIAL), options, SPECIAL
            (mine,), (theirs,) = search(found, *batch), search(expected, *batch)
            assert [one.tokens for one in mine] == [one.tokens for one in theirs]
            assert [one.log_prob for one in mine] == pytest.approx([one.log_prob for one in theirs], abs=1e-3)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "precision", "n_rows"),
    [
        ("pre-norm", "int8", 1),
        ("post-norm", "bfloat16", 5),
        ("GELU", "int8", 8),
        ("post-norm", "float32", 1),
    ],
)
@torch.inference_mode()
def test_every_kind_of_model_compiles(kind: str, precision: Precision, n_rows: int) -> None:
    model = random_model(**KINDS[kind])
    shape = shape_of(model, precision, "float32" if precision == "float32" else "bfloat16")
    compile_whole(shape, n_rows)
    check_compiled(model, shape, n_rows)

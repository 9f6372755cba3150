"""The compiled step: the functions between attentions are the model's, and compiling changes none of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.compilation import compile_for
from nmt.config import GenerationConfig, SpecialIds
from nmt.engines import ahead, packages
from nmt.engines.ahead import (
    STRETCHES,
    CompiledStretches,
    compile_step,
    example_arguments,
    folder_of,
    load_step,
)
from nmt.engines.between import Shape, Stretch
from nmt.engines.choose import build_decoder, choose
from nmt.engines.cpu import CpuFeatures
from nmt.engines.forks import can_fork
from nmt.engines.packages import Run
from nmt.engines.packed import PackedTransformer
from nmt.errors import ConfigError
from nmt.info import info
from nmt.models.transformer import Transformer
from nmt.search import search
from nmt.tokenizer import Tokenizer
from tests.nmt.conftest import save_tiny_model, tiny_config, tiny_model
from tests.nmt.engines.marks import AMX, needs_bfloat16, needs_compiler
from tests.nmt.engines.random_models import KINDS, random_transformer

SPECIAL = SpecialIds()
WIDTHS = {"d_model": 16, "d_ff": 48, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 3}
SOURCES = [[5, 6, 7, 8, 9, 10, 11], [12, 13], [14, 15, 16, 17], [18]]

pytestmark = pytest.mark.skipif(not CpuFeatures.here().int8, reason="this CPU has no int8 instructions")


def random_model(**changes: object) -> Transformer:
    return random_transformer(**{"vocab_size": 192, **WIDTHS, **changes})


def shape_of(model: Transformer, attention: torch.dtype = torch.float32) -> Shape:
    shape = Shape.of(model, attention)
    assert shape is not None
    return shape


def uncompiled_step(shape: Shape) -> dict[str, Run]:
    """The functions that are compiled, as torch runs them one operation after another."""

    def run(stretch: Stretch, example: tuple[Any, ...]) -> Run:
        structure = torch.utils._pytree.tree_structure(example)

        def call(tensors: list[Tensor]) -> Sequence[Tensor]:
            found = stretch(*torch.utils._pytree.tree_unflatten(tensors, structure))
            return [found] if isinstance(found, Tensor) else found

        return call

    example = example_arguments(shape)
    return {name: run(stretch(shape), example[name]) for name, stretch in STRETCHES.items()}


def uncompiled(model: Transformer) -> PackedTransformer:
    stretches = CompiledStretches(model, uncompiled_step(shape_of(model)))
    return PackedTransformer(model, layers="int8", output="float32", stretches=stretches)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(packages.CACHE, str(tmp_path))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@torch.inference_mode()
def test_stretches_are_the_models_layers_in_int8(kind: dict[str, object]) -> None:
    model = random_model(**kind)
    ours, theirs = uncompiled(model), PackedTransformer(model, layers="int8", output="float32")
    batch = Batch.from_ids(SOURCES, special=SPECIAL)
    state, expected_state = ours.start(batch, 2), theirs.start(batch, 2)
    tokens_N = torch.full((8,), SPECIAL.bos)
    for order in ([1, 0, 2, 3, 5, 4, 6, 7], [0, 0, 3, 2, 4, 5, 6, 6], [2, 3, 4, 5]):
        step, state = ours.step(state, tokens_N)
        expected, expected_state = theirs.step(expected_state, tokens_N)
        torch.testing.assert_close(step.logits_NV, expected.logits_NV, atol=1e-3, rtol=1e-3)
        rows_N = torch.tensor(order)
        state, expected_state = ours.reorder(state, rows_N), theirs.reorder(expected_state, rows_N)
        tokens_N = torch.arange(40, 40 + len(order))


@torch.inference_mode()
def test_a_row_is_the_same_alone_and_among_others() -> None:
    ours = uncompiled(random_model())

    def log_probs(sources: list[list[int]]) -> Tensor:
        state = ours.start(Batch.from_ids(sources, special=SPECIAL), 1)
        step, _ = ours.step(state, torch.full((len(sources),), SPECIAL.bos))
        return step.logits_NV

    alone, together = log_probs(SOURCES[:1]), log_probs(SOURCES)
    torch.testing.assert_close(together[:1], alone, atol=1e-4, rtol=1e-4)


@torch.inference_mode()
def test_sentences_that_join_change_no_one() -> None:
    ours = uncompiled(random_model())
    bos_2 = torch.full((2,), SPECIAL.bos)
    first = ours.start(Batch.from_ids(SOURCES[:1], special=SPECIAL), 2)
    _, first = ours.step(first, bos_2)
    expected, _ = ours.step(first, torch.tensor([40, 41]))

    again = ours.start(Batch.from_ids(SOURCES[:1], special=SPECIAL), 2)
    _, again = ours.step(again, bos_2)
    merged = ours.merge(again, ours.start(Batch.from_ids(SOURCES[1:2], special=SPECIAL), 2))
    step, _ = ours.step(merged, torch.tensor([40, 41, SPECIAL.bos, SPECIAL.bos]))
    torch.testing.assert_close(step.logits_NV[:2], expected.logits_NV, atol=1e-4, rtol=1e-4)


def test_layers_of_different_widths_have_no_step() -> None:
    pruned = random_model(kept_heads={"encoder": [2], "decoder": [2, 1, 2], "cross": [2, 2, 2]})
    assert Shape.of(pruned, torch.float32) is None


def test_a_step_is_found_by_its_widths_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shape = shape_of(random_model())
    assert folder_of(shape) == folder_of(shape_of(random_model(n_decoder_layers=1, vocab_size=256)))
    others = [
        shape_of(random_model(**kind)) for kind in ({"d_ff": 64}, {"norm": "post"}, {"activation": "gelu"})
    ]
    others.append(shape_of(random_model(), torch.bfloat16))
    assert len({folder_of(shape), *map(folder_of, others)}) == 5
    before = folder_of(shape)
    with monkeypatch.context() as other_cpu:
        other_cpu.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
        assert folder_of(shape) != before
    with monkeypatch.context() as other_code:
        other_code.setattr(ahead.inspect, "getsource", lambda _: "other code")
        assert folder_of(shape) != before
    monkeypatch.setattr(torch, "__version__", "0.0.0")
    assert folder_of(shape) != before
    assert before.is_relative_to(tmp_path)


def test_without_a_compiled_step_int8_is_as_it_was() -> None:
    model = random_model(d_model=128, n_heads=2)
    choice = choose(model, torch.device("cpu"), features=AMX)
    assert (choice.name, choice.step) == ("int8", None)
    assert load_step(shape_of(model, torch.bfloat16)) is None


@needs_compiler
@needs_bfloat16
@torch.inference_mode()
def test_what_is_compiled_computes_the_same_and_is_chosen(
    tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CpuFeatures, "here", lambda: AMX)
    model = random_model(d_model=128)
    here = choose(model, torch.device("cpu"))
    assert here.name == "int8"
    shape = shape_of(model, torch.bfloat16)
    folder = compile_step(shape)
    assert folder == folder_of(shape)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]  # nothing is left beside it
    made = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert compile_step(shape) == folder
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == made

    runs, plain = load_step(shape), uncompiled_step(shape)
    assert runs is not None
    assert can_fork(), "what compiles and loads leaves threads behind"
    ours, expected = CompiledStretches(model, runs), CompiledStretches(model, plain)
    generator = torch.Generator().manual_seed(1)
    for n_rows in (2, 5, 40):
        x_ND = torch.randn(n_rows, shape.d_model, generator=generator)
        context_NW = torch.randn(n_rows, shape.d_inner, generator=generator).to(
            getattr(torch, shape.attention)
        )
        close = {"atol": 0.02, "rtol": 0.02}  # one number of bfloat16 to the next, or one of int8
        torch.testing.assert_close(ours.enter(x_ND), expected.enter(x_ND), **close)
        for index in range(3):
            for function in ("between", "feed"):
                found = getattr(ours, function)(index, context_NW, x_ND)
                wanted = getattr(expected, function)(index, context_NW, x_ND)
                for one, other in zip(found, wanted, strict=True):
                    torch.testing.assert_close(one, other, **close)

    choice = choose(model, torch.device("cpu"))
    assert choice.step == shape
    assert "compiled ahead of time" in choice.why
    assert choose(model, torch.device("cpu"), "float32").step is None
    assert choose(model, torch.device("cpu"), compiled=False) == here
    batch, options = Batch.from_ids(SOURCES, special=SPECIAL), GenerationConfig(beam_size=2)
    found = search(build_decoder(model, choice), batch, options, SPECIAL)
    stepwise = PackedTransformer(model, layers=choice.layers, output=choice.output, stretches=expected)
    assert [best.tokens for best, *_ in found] == [
        best.tokens for best, *_ in search(stepwise, batch, options, SPECIAL)
    ]
    one_row = Batch.from_ids(SOURCES[:1], special=SPECIAL), GenerationConfig(beam_size=1), SPECIAL
    assert (
        search(build_decoder(model, choice), *one_row)[0][0].tokens == search(stepwise, *one_row)[0][0].tokens
    )

    code = (
        "import sys; from nmt.engines.ahead import load_step; from nmt.engines.between import Shape\n"
        f"assert load_step({shape!r}) and 'torch._inductor' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # importing the compiler takes seconds

    other = tiny_config(Tokenizer.load(tokenizer_file), d_model=128, d_ff=WIDTHS["d_ff"])
    save_tiny_model(tmp_path / "other", tokenizer_file, config=other, model=tiny_model(other))
    for other_step in ("bound_folder", "encoder_folder", "ranking_folder"):
        for module in ("compilation", "engines.choose"):
            monkeypatch.setattr(f"nmt.{module}.{other_step}", lambda *_: None)
    (step,) = compile_for(tmp_path / "other", rows=())["steps"]
    assert step == {**step, "for": "many rows", "folder": str(folder), "was_there": True}
    shown = info(tmp_path / "other")["engine"]["step"]
    assert shown == "compiled ahead of time, but not that of few rows: nmt compile"

    (folder / "feed.pt2").write_bytes(b"cut short")
    with pytest.raises(
        ConfigError, match=rf"{folder}.*cannot be loaded.*remove the folder, then nmt compile"
    ):
        build_decoder(model, choice)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["post-norm", "GELU"])
@pytest.mark.parametrize("attention", [torch.float32, torch.bfloat16])
@torch.inference_mode()
def test_every_kind_of_model_compiles(kind: str, attention: torch.dtype) -> None:
    model = random_model(**KINDS[kind])
    shape = shape_of(model, attention)
    compile_step(shape)
    runs = load_step(shape)
    assert runs is not None
    ours, expected = CompiledStretches(model, runs), CompiledStretches(model, uncompiled_step(shape))
    x_ND = torch.randn(6, shape.d_model)
    context_NW = torch.randn(6, shape.d_inner).to(attention)
    torch.testing.assert_close(ours.enter(x_ND), expected.enter(x_ND), atol=0.02, rtol=0.02)
    for index in range(3):
        for one, other in zip(
            ours.feed(index, context_NW, x_ND), expected.feed(index, context_NW, x_ND), strict=True
        ):
            torch.testing.assert_close(one, other, atol=0.02, rtol=0.02)


def test_without_a_compiler_the_error_says_so_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ConfigError, match=r"no C\+\+ compiler is found; install g\+\+, or go without"):
        compile_step(shape_of(random_model()))
    assert list((tmp_path / "steps").iterdir()) == []


def test_a_compiler_that_fails_is_quoted_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiler = tmp_path / "g++"
    version = '[ "$1" = --version ] && echo "g++ (GCC) 12.2.0" && exit 0'
    compiler.write_text(f'#!/bin/sh\n{version}\necho "no room for x.o" >&2\nexit 1\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    with pytest.raises(ConfigError, match=r"compiling fails \(.*no room for x.o.*\); go without"):
        compile_step(shape_of(random_model(d_model=32)))
    assert list((tmp_path / "steps").iterdir()) == []

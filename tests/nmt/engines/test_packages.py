"""What is compiled for all threads and for one: which is made, which is taken, and what g++ is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._inductor.exc import InvalidCxxCompiler

from nmt.engines import packages
from nmt.engines.packages import CONTRACTION, MARCH, Program, compile_packages, folder_for, load_packages
from nmt.errors import ConfigError
from tests.nmt.engines.marks import needs_compiler

X_N = torch.arange(50_000.0)
"""Enough for a loop of several threads."""


class Doubled(nn.Module):
    """A function like any other."""

    def forward(self, x_N: Tensor) -> Tensor:
        return 2 * x_N


def for_either() -> dict[str, Program]:
    return {"both": programs()["both"]}


def programs() -> dict[str, Program]:
    sizes = ({0: torch.export.Dim("N", min=1, max=1 << 20)},)
    return {
        threads: Program(Doubled().eval(), (torch.zeros(3),), sizes, {}, threads)  # type: ignore[arg-type]
        for threads in ("all", "one", "both")
    }


def test_what_is_for_either_is_made_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, bool]] = []
    monkeypatch.setattr(
        packages, "_compile", lambda _, threads, path: made.append((path.name, "cpp.threads" in threads))
    )
    packages._compile_all(programs, tmp_path, alone=False)
    assert made == [("all.pt2", False), ("one.pt2", True), ("both.pt2", False)]
    made.clear()
    packages._compile_all(programs, tmp_path, alone=True)
    assert made == [("both_alone.pt2", True)]


@needs_compiler
@pytest.mark.usefixtures("threads")
@torch.inference_mode()
def test_what_is_compiled_runs_with_any_number_of_threads(tmp_path: Path) -> None:
    folder = tmp_path / "steps" / "one"
    compile_packages(folder, for_either)
    assert {path.name for path in folder.iterdir()} == {"both.pt2", "both_alone.pt2"}
    runs = load_packages(folder, ["both"])
    assert runs is not None
    for n_threads in (1, 2):
        torch.set_num_threads(n_threads)
        (found_N,) = runs["both"]([X_N.clone()])
        assert torch.equal(found_N, 2 * X_N)
    made = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    compile_packages(folder, for_either)
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == made
    code = (
        "import sys; from pathlib import Path; from nmt.engines.packages import load_packages\n"
        f"assert load_packages(Path({str(folder)!r}), ['both']) and 'torch._inductor' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # importing the compiler takes seconds


def test_what_is_compiled_belongs_to_this_cpu_and_this_torch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(packages.CACHE, str(tmp_path))
    before = folder_for("a shape", 1)
    assert before.is_relative_to(tmp_path)
    assert folder_for("a shape", 1) == before
    assert folder_for("a shape", 2) != before
    with monkeypatch.context() as other_cpu:
        other_cpu.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
        assert folder_for("a shape", 1) != before
    monkeypatch.setattr(torch, "__version__", "0.0.0")
    assert folder_for("a shape", 1) != before


def test_where_no_compiler_is_nothing_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ConfigError, match=r"no C\+\+ compiler is found; install g\+\+, or go without"):
        compile_packages(tmp_path / "steps" / "one", for_either)
    assert list((tmp_path / "steps").iterdir()) == []


def test_a_compiler_that_fails_is_quoted_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiler = tmp_path / "g++"
    version = '[ "$1" = --version ] && echo "g++ (GCC) 12.2.0" && exit 0'
    compiler.write_text(f'#!/bin/sh\n{version}\necho "no room for x.o" >&2\nexit 1\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    # the compiler keeps what it has compiled once
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "of the compiler"))
    with pytest.raises(ConfigError, match=r"compiling fails \(.*no room for x.o.*\); go without"):
        compile_packages(tmp_path / "steps" / "one", for_either)
    assert list((tmp_path / "steps").iterdir()) == []


@pytest.mark.usefixtures("threads")
def test_one_thread_takes_what_is_compiled_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def load(path: str, *_: object) -> SimpleNamespace:
        return SimpleNamespace(boxed_run=lambda tensors: taken.append(Path(path).name) or tensors)

    monkeypatch.setattr(torch._C._aoti, "AOTIModelPackageLoader", load)
    for name in ("either.pt2", "either_alone.pt2", "all.pt2"):
        (tmp_path / name).touch()
    runs = load_packages(tmp_path, ["either", "all"])
    assert runs is not None
    for n_threads in (2, 1):
        torch.set_num_threads(n_threads)
        runs["either"]([])
        runs["all"]([])
    assert taken == ["either.pt2", "all.pt2", "either_alone.pt2", "all.pt2"]


@pytest.mark.parametrize("is_gcc", [True, False])
def test_flags_are_for_gcc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_gcc: bool) -> None:
    """And those alone that its version has."""
    told: list[dict[str, Any]] = []
    compiler = tmp_path / "g++"
    compiler.write_text('#!/bin/sh\ncase "$1" in -fsome-flag | -mother=1) exit 0;; esac\nexit 1\n')
    compiler.chmod(0o755)

    def record(*_: object, inductor_configs: dict[str, Any], **__: object) -> None:
        told.append(inductor_configs)

    monkeypatch.setattr("torch._inductor.aoti_compile_and_package", record)
    monkeypatch.setattr("torch._inductor.cpp_builder.is_gcc", lambda: is_gcc)
    monkeypatch.setattr("torch._inductor.cpp_builder.get_cpp_compiler", lambda: str(compiler))
    program = programs()["both"]._replace(options={CONTRACTION: "fast"})
    for flags in ("", "-fsome-flag -mof-a-later-version -mother=1"):
        packages._compile(program._replace(flags=flags), {"cpp.threads": 1}, tmp_path / "f.pt2")
    assert [configs.get(MARCH) for configs in told] == [
        None,
        "native -fsome-flag -mother=1" if is_gcc else None,
    ]
    assert all(configs[CONTRACTION] == "fast" for configs in told)
    assert all(configs["cpp.threads"] == 1 for configs in told)


def test_without_a_compiler_an_error_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing() -> bool:
        raise InvalidCxxCompiler

    monkeypatch.setattr("torch._inductor.cpp_builder.is_gcc", missing)
    program = programs()["all"]._replace(options={CONTRACTION: "fast"}, flags="-fsome-flag")
    with pytest.raises(ConfigError, match="no C\\+\\+ compiler is found; install g\\+\\+, or go without"):
        packages._compile(program, {}, tmp_path / "f.pt2")

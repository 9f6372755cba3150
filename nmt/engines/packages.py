"""Functions compiled ahead of time for this machine (``torch.export`` and AOTInductor), in the user's cache.

Compiling takes a minute and needs a C++ compiler; what it makes needs none and loads within a tenth of a
second. A folder of packages stands under a name that follows from all that it was made from, the version of
torch and the instructions of the CPU, so a model, a machine or a release that it does not fit does not find
it.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Literal, NamedTuple

import platformdirs
import torch
from torch import Tensor, nn

from nmt.errors import ConfigError

CACHE = "PASSERELLE_CACHE"
CONTRACTION = "cpp.enable_floating_point_contract_flag"
"""The option that becomes g++'s -ffp-contract: "fast" makes a product and its addition one instruction."""
MARCH = "cpp.march"
"""The option that becomes g++'s -march, behind all others, -fno-tree-loop-vectorize among them."""
ALL_THREADS, ONE_THREAD = {"cpp.dynamic_threads": True}, {"cpp.threads": 1}
ALONE = "_alone"
"""Behind the name of a package for one thread, which waits for itself at each barrier of OpenMP."""

Run = Callable[[list[Tensor]], Sequence[Tensor]]
"""A package: its tensors in order -> its results."""

Threads = Literal["all", "one", "both"]


class Program(NamedTuple):
    """A function to be compiled."""

    function: nn.Module
    """Without weights of its own."""
    example: tuple[Any, ...]
    """Arguments of the right shapes, none twice, for one tensor would be compiled as one."""
    sizes: tuple[Any, ...]
    """The sizes of each argument that are left open, as ``torch.export.export`` takes them."""
    options: Mapping[str, Any]
    """Of the compiler (``torch._inductor.config``), but for threads."""
    threads: Threads = "both"
    """How many it may have: as many as torch has when it is called, or one; "both" is compiled for either."""
    flags: str = ""
    """For g++, as far as it has them, behind those that the compiler gives it."""


def folder_for(*made_from: object) -> Path:
    """Where packages made from this stand on this machine, or would; PASSERELLE_CACHE names another cache."""
    cache = os.environ.get(CACHE)
    root = Path(cache) if cache else platformdirs.user_cache_path("passerelle")
    here = (*made_from, torch.__version__, sorted(dict(torch.cpu.get_capabilities()).items()))
    return root / "steps" / hashlib.sha256(repr(here).encode()).hexdigest()[:24]


def compile_packages(folder: Path, programs: Callable[[], Mapping[str, Program]]) -> None:
    """Compile all into ``folder``; one that is there already stays as it is.

    Args:
        folder: from ``folder_for``.
        programs: makes them, by name; called in other processes.

    Raises:
        ConfigError: there is no C++ compiler, or it fails.
    """
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".new-"))
    try:
        # in processes of their own: the compiler leaves threads behind, and this one may want to fork
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(max_workers=2, mp_context=spawn) as others:
            kinds = [others.submit(_compile_all, programs, aside, alone=alone) for alone in (False, True)]
            for kind in kinds:
                kind.result()
        try:
            aside.rename(folder)
        except OSError:
            if not folder.is_dir():  # another process was as quick
                raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _compile_all(programs: Callable[[], Mapping[str, Program]], folder: Path, *, alone: bool) -> None:
    for name, program in programs().items():
        if not alone:
            threads = ONE_THREAD if program.threads == "one" else ALL_THREADS
            _compile(program, threads, folder / f"{name}.pt2")
        elif program.threads == "both":
            _compile(program, ONE_THREAD, folder / f"{name}{ALONE}.pt2")


def _compile(program: Program, threads: Mapping[str, Any], path: Path) -> None:
    from torch._inductor import aoti_compile_and_package  # noqa: PLC0415 - seconds, and for this alone
    from torch._inductor.cpp_builder import get_cpp_compiler, is_gcc  # noqa: PLC0415
    from torch._inductor.exc import InductorError, InvalidCxxCompiler  # noqa: PLC0415

    options = {**program.options, **threads}

    try:
        if program.flags and is_gcc():  # there is no option for flags; this one is handed on as it is
            options[MARCH] = " ".join(["native", *_known(program.flags, get_cpp_compiler())])
        # where gradients might be asked for, weights are not laid out beforehand
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # torch's, of its own functions
            exported = torch.export.export(program.function, program.example, dynamic_shapes=program.sizes)
            _without_assertions(exported)
            aoti_compile_and_package(exported, package_path=str(path), inductor_configs=options)
    except (InductorError, InvalidCxxCompiler) as error:
        cause = error.inner_exception if isinstance(error, InductorError) else error
        if isinstance(cause, InvalidCxxCompiler):
            raise ConfigError("nmt compile: no C++ compiler is found; install g++, or go without") from None
        *_, last = str(cause).strip().splitlines()
        raise ConfigError(
            f"nmt compile: compiling fails ({last}); go without, or mend the compiler"
        ) from error


def _known(flags: str, compiler: str) -> list[str]:
    """Those of ``flags`` that this version of g++ has."""

    def is_known(flag: str) -> bool:
        of_nothing = [compiler, flag, "-E", "-x", "c++", os.devnull]
        return subprocess.run(of_nothing, capture_output=True, check=False).returncode == 0  # noqa: S603 - torch's

    return [flag for flag in flags.split() if is_known(flag)]


def _without_assertions(exported: torch.export.ExportedProgram) -> None:
    """Take out what repeats the types of tensors: the compiler would not see the products behind it."""
    graph = exported.graph_module.graph
    for node in list(graph.nodes):
        if node.target is torch.ops.aten._assert_tensor_metadata.default:
            graph.erase_node(node)
    exported.graph_module.recompile()


def load_packages(folder: Path, names: Sequence[str]) -> dict[str, Run] | None:
    """The packages by name; None where this machine has no such folder.

    Raises:
        ConfigError: what is there cannot be loaded.
    """
    if not folder.is_dir():
        return None
    try:
        return {name: _load(folder, name) for name in names}
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        raise ConfigError(
            f"{folder}: the compiled step cannot be loaded ({reason}); remove the folder, then nmt compile"
        ) from None


def _load(folder: Path, name: str) -> Run:
    load = torch._C._aoti.AOTIModelPackageLoader  # what wraps it imports the compiler, which takes seconds

    def run_of(path: Path) -> Run:
        run: Run = load(str(path), "model", True, 1, -1).boxed_run
        return run

    for_all = run_of(folder / f"{name}.pt2")
    path = folder / f"{name}{ALONE}.pt2"
    if not path.exists():
        return for_all
    for_one = run_of(path)

    def run(tensors: list[Tensor]) -> Sequence[Tensor]:
        return for_one(tensors) if torch.get_num_threads() == 1 else for_all(tensors)

    return run

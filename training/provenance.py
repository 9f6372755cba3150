"""How a number was made: command, commit, versions and machine, to travel with every record.

No host name, user name or home folder is recorded: records are meant to be published.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from nmt import __version__

PACKAGES = ("numpy", "sacrebleu", "sacremoses", "sentencepiece", "matplotlib")


def provenance(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Describe this run; ``arguments`` None takes the command line as it was given."""
    return {
        "command": this_command() if arguments is None else command_line(arguments),
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": commit(),
        "versions": versions(),
        "machine": machine(),
    }


def this_command() -> str:
    """The command line as it was given, ``python -m MODULE`` where that is how."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is None:
        return command_line(sys.argv)
    return command_line(["python", "-m", spec.name.removesuffix(".__main__"), *sys.argv[1:]])


def command_line(arguments: Sequence[str]) -> str:
    """The command, quoted for a shell; paths outside the working directory keep their last two parts only."""
    program, *rest = arguments or ("",)
    return shlex.join([Path(program).name, *(_public(argument) for argument in rest)])


def public_path(path: Path) -> str:
    """``path`` relative to the working directory, or its last two parts when it lies elsewhere."""
    absolute = path.absolute()
    if absolute.is_relative_to(Path.cwd()):
        return absolute.relative_to(Path.cwd()).as_posix()
    return Path(*absolute.parts[-2:]).as_posix()


def commit() -> str:
    """The checkout's commit, "-dirty" when tracked files differ from it; "unknown" outside a checkout."""
    folder = Path(__file__).resolve().parent
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],  # noqa: S607
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return described.stdout.strip()


def versions() -> dict[str, str]:
    """Python's version and those of the packages that numbers depend on."""
    found = {"python": platform.python_version(), "passerelle": __version__, "torch": torch.__version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def machine() -> dict[str, Any]:
    """Processor, cores, threads that torch uses, memory, system, accelerator and how busy it was."""
    facts: dict[str, Any] = {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "torch_threads": torch.get_num_threads(),
        "memory_gib": _memory_gib(),
        "system": f"{platform.system()} {platform.machine()}",
        "accelerator": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }
    if hasattr(os, "getloadavg"):
        facts["load_average_1_min"] = round(os.getloadavg()[0], 2)
    return facts


def _public(argument: str) -> str:
    option, equals, value = argument.partition("=")
    if equals and Path(value).is_absolute():
        return f"{option}={public_path(Path(value))}"
    return public_path(Path(argument)) if Path(argument).is_absolute() else argument


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, OSError, ValueError):
        return None

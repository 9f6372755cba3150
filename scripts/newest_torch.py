"""Import the library and translate a line on the newest torch: ``python scripts/newest_torch.py``.

pyproject.toml names the newest release of torch that tests ran with. This takes the newest that pip finds,
with the other dependencies as pinned, in an environment of its own that is removed at the end. TORCH_INDEX
names another index for torch, such as PyTorch's own for CPU builds: those of PyPI bring CUDA along.

Exit status: 1 it does not translate; 0 it does, or nothing could be installed, which is told.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRANSLATE = """
import sys, warnings
import torch
from nmt.translator import Translator
print("newest-torch: torch", torch.__version__, flush=True)
translator = Translator.load(device="cpu", engine="eager")
(found,) = translator.translate(["A young woman is reading a book in the park."])
print("newest-torch:", found.text)
sys.exit("femme" not in found.text)
"""


def main() -> int:
    """Install, translate, tell."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # gigabytes are removed
    with tempfile.TemporaryDirectory(prefix="newest-torch-") as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text(without_torch((ROOT / "constraints.txt").read_text("utf-8")), "utf-8")
        index = os.environ.get("TORCH_INDEX")
        pip = [python, "-m", "pip", "install", "--quiet", "--quiet", "--constraint", str(constraints)]
        for command in (
            [*pip, *(["--index-url", index] if index else []), "torch"],
            [*pip, *dependencies((ROOT / "pyproject.toml").read_text("utf-8"))],
        ):
            if subprocess.run(command, check=False).returncode:
                print("newest-torch: it could not be installed, so nothing is known", file=sys.stderr)
                return 0
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PASSERELLE_CACHE": folder}
        done = subprocess.run([python, "-c", TRANSLATE], cwd=folder, env=environment, check=False)
    return int(done.returncode != 0)


def dependencies(pyproject: str) -> list[str]:
    """What the library needs beside torch, as in pyproject.toml."""
    needed: list[str] = tomllib.loads(pyproject)["project"]["dependencies"]
    return [name for name in needed if not re.match(r"torch\b", name)]


def without_torch(constraints: str) -> str:
    """The pins but torch's, and those of packages that torch itself chooses."""
    own = re.compile(r"(?:torch|triton|sympy|networkx|filelock|fsspec|mpmath|setuptools)==")
    return "".join(line for line in constraints.splitlines(keepends=True) if not own.match(line))


if __name__ == "__main__":
    sys.exit(main())

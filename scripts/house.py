"""Sizes of the code base, as a Markdown table: ``python -m scripts.house [TREE]``; TREE: another checkout.

Times are processor seconds, the least of three fresh processes.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("nmt", "training", "service")
LINE = "A young woman is reading a book in the park."
ROUNDS = 3
TRACE = f"""
import sys
from nmt.translator import Translator
translator = Translator.load()
translator.translate([{LINE!r}])
files = set()
sys.setprofile(lambda frame, *_: files.add(frame.f_code.co_filename))
translator.translate([{LINE!r}])
sys.setprofile(None)
print(sum("/nmt/" in name for name in files))
"""


def run(tree: Path, *arguments: str) -> tuple[float, str]:
    """Processor seconds and output of Python in ``tree``; "–" where it fails."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return spent_s, done.stdout.strip() if done.returncode == 0 else "–"


def seconds(tree: Path, *arguments: str) -> str:
    """Processor time of a command, with its caches filled."""
    run(tree, *arguments)
    return f"{min(run(tree, *arguments)[0] for _ in range(ROUNDS)):.2f} s"


def functions(tree: Path) -> Iterator[tuple[int, int, str, bool]]:
    """Lines, parameters, place and whether it is of the pipeline, of each function; migrations aside."""
    for package in PACKAGES:
        for path in (tree / package).rglob("*.py"):
            if "migrations" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                    n_given = sum(one.arg not in ("self", "cls") for one in given)
                    place = f"{path.relative_to(tree)} {node.name}"
                    inside = "pipeline" in path.parts or path.name == "translator.py"
                    yield (node.end_lineno or 0) - node.lineno + 1, n_given, place, inside


def rows(tree: Path) -> Iterator[tuple[str, str]]:
    """Each measure and its value."""
    yield "entries of nmt/", str(sum(one.name not in ("__pycache__",) for one in (tree / "nmt").iterdir()))
    for package in PACKAGES:
        for room in [tree / package, *sorted(one for one in (tree / package).iterdir() if one.is_dir())]:
            files = sorted(room.glob("*.py") if room.name == package else room.rglob("*.py"))
            n_lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
            if files:
                yield f"{room.relative_to(tree)}/: modules, lines", f"{len(files)}, {n_lines:,}"
    found = list(functions(tree))
    yield "longest function", "{} ({})".format(*max((one[0], one[2]) for one in found))
    yield (
        "most parameters in the pipeline",
        "{} ({})".format(*max((one[1], one[2]) for one in found if one[3])),
    )
    yield "most parameters", "{} ({})".format(*max((one[1], one[2]) for one in found))
    pages = [*(tree / "docs").glob("*.md"), *(tree / "docs" / "decisions").glob("*.md")]
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in pages)
    yield "pages of docs, words", f"{len(pages)}, {words:,}"
    yield "README, bytes", f"{(tree / 'README.md').stat().st_size:,}"
    yield "files that a sentence enters", run(tree, "-c", TRACE)[1]
    yield "importing nmt.translator", seconds(tree, "-c", "import nmt.translator")
    yield "nmt translate, one line", seconds(tree, "-m", "nmt", "translate", LINE)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path, nargs="?", default=Path(__file__).resolve().parent.parent)
    for name, value in [("measure", "value"), ("---", "---"), *rows(parser.parse_args().tree.resolve())]:
        print(f"| {name} | {value} |", flush=True)


if __name__ == "__main__":
    main()

"""The README: its marked commands run, its tables are fresh, its links lead somewhere, no command is missing.

A fenced block after ``<!-- tested -->`` is run as it stands; after ``<!-- tested with the model that ships
-->``, where there is such a model. A ``text`` block that follows is what it must print.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from nmt import cli
from nmt.model_folder.checkpoint import PRETRAINED

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/settings.md",
    "docs/operate.md",
    "docs/lectures.md",
    "docs/architecture.md",
]
BLOCK = re.compile(
    r"<!-- (?P<mark>tested[^>]*?) -->\n```(?P<language>\w+)\n(?P<code>.*?)```\n"
    r"(?:\n```text\n(?P<shown>.*?)```\n)?",
    re.DOTALL,
)
SHIPS = any(path.is_dir() for path in PRETRAINED.glob("*"))


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("readme_tables", ROOT / "scripts" / "readme_tables.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_marked_commands() -> None:
    assert len(BLOCK.findall(README)) == README.count("<!-- tested") >= 4


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "block", list(BLOCK.finditer(README)), ids=lambda block: block["code"].split("\n")[0][:50]
)
def test_marked_command_runs_and_prints_what_is_shown(block: re.Match[str], tmp_path: Path) -> None:
    if "model that ships" in block["mark"] and not SHIPS:
        pytest.skip("no model ships in nmt/pretrained")
    program = [sys.executable, "-c"] if block["language"] == "python" else ["bash", "-euo", "pipefail", "-c"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    result = subprocess.run(
        [*program, block["code"]],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()
    if block["shown"]:
        assert result.stdout == block["shown"]


def test_every_command_is_in_the_readme() -> None:
    for command in cli.app.registered_commands:
        assert command.callback
        name = command.name or command.callback.__name__
        assert re.search(rf"\bnmt {name}\b", README), name


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_named_exists(document: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(
        r"^make ([\w-]+)|`make ([\w-]+)", (ROOT / document).read_text(encoding="utf-8"), re.MULTILINE
    )

    assert len(named) >= 3
    for target in (first or second for first, second in named):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")

    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert ((ROOT / document).parent / target).exists(), f"{document} links to {target}"


def test_tables_are_fresh() -> None:
    tables = script()

    assert tables.with_tables(README) == README, "README.md is stale: run make tables"
    shown = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert tables.settings() == shown, "docs/settings.md is stale: run make tables"


def test_table_shows_the_numbers_of_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = [
        {"metric": "BLEU", "scale": "cased-detokenized", "score": 51.26, "signature": "sig"},
        {"metric": "chrF2", "scale": "cased-detokenized", "score": 70.0, "signature": "sig"},
        {"metric": "TER", "scale": "cased-detokenized", "score": 33.3, "signature": "sig"},
        {"metric": "BLEU", "scale": "lowercase-tokenized", "score": 58.01, "signature": "other"},
    ]
    training = {"updates": 8000, "elapsed_s": 9000.0, "tokens_per_second": 5123.4}
    record = {
        "models": [{"name": "m", "parameters": 8_940_000, "training": training}],
        "test_sets": [
            {
                "name": "t",
                "results": [{"model": "m", "scores": scores, "speed": {"sentences_per_second": 40.4}}],
            }
        ],
        "machine": {"processor": "P", "cores": 2},
    }
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "report.json").write_text(json.dumps(record), encoding="utf-8")
    tables = script()
    monkeypatch.setattr(tables, "ROOT", tmp_path)

    text = tables.with_tables("<!-- table docs/report.json -->\nstale\n<!-- end of table -->\n")

    assert (
        "| m | 8.9 M | 8,000 updates, 2.5 h, 5,123 target tokens/s | 40 | 51.3 / 70.0 / 33.3 (58.0) |" in text
    )
    assert "stale" not in text
    assert tables.with_tables(text) == text

"""The snippets of docs/dialects.md, docs/assistants.md and the README's client section run as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.service.conftest import LiveServer

ROOT = Path(__file__).parents[3]


def snippets() -> list[Any]:
    found = []
    for name, needed in (("docs/dialects.md", ""), ("docs/assistants.md", ""), ("README.md", "import deepl")):
        text = (ROOT / name).read_text(encoding="utf-8")
        blocks = re.findall(r"^```(bash|python)\n(.*?)^```", text, re.M | re.S)
        found += [
            pytest.param(*block, id=f"{name}-{i}") for i, block in enumerate(blocks) if needed in block[1]
        ]
    return found


def test_the_readme_shows_both_clients() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert "import deepl" in readme
    assert "libretranslatepy" in readme


@pytest.mark.parametrize(("language", "code"), snippets())
def test_a_snippet_runs(live: LiveServer, language: str, code: str) -> None:
    code = code.replace("http://127.0.0.1:8000", live.url)
    command = [sys.executable, "-W", "error", "-c", code]
    if language == "bash":
        if shutil.which("curl") is None:
            pytest.skip("curl is not installed")
        command = ["bash", "-euc", code.replace("curl -s", "curl --silent --show-error --fail")]
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}

    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout

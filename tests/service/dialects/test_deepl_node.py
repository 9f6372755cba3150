"""DeepL's own client for Node.js: texts, documents, glossaries, usage, languages, in one process.

It runs where ``node`` is and the package ``deepl-node`` is in ``node_modules`` or on ``NODE_PATH``
(``npm install deepl-node``); tried with version 1.28.0.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.dialects.conftest import WillingTranslator
from tests.service.two_ways import ShoutingTranslator, both_ways

SCRIPT = Path(__file__).with_name("deepl_node.cjs")


@pytest.fixture(scope="module")
def said() -> Iterator[dict[str, Any]]:
    """What each call gave."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    found = subprocess.run(
        [node, "-e", "require('deepl-node')"], cwd=SCRIPT.parent, capture_output=True, check=False
    )
    if found.returncode:
        pytest.skip("deepl-node is not installed: npm install deepl-node, or set NODE_PATH")
    english = WillingTranslator()
    english.has_formality = True
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    with both_ways(english, ShoutingTranslator()) as live:
        ended = subprocess.run(
            [node, str(SCRIPT), live.url],
            env=environment,
            capture_output=True,
            check=False,
            text=True,
            timeout=240,
        )
        assert ended.returncode == 0, ended.stderr
        yield json.loads(ended.stdout)


def test_texts_are_translated(said: dict[str, Any]) -> None:
    assert said["text"] == ["owt eno", "en", 7]
    assert said["texts"] == ["owt eno", "eerht"]
    assert said["html"] == "<p>owt eno</p>"
    assert "target_lang: DE is not supported" in said["unknownTarget"]


def test_glossaries_are_made_read_used_and_deleted(said: dict[str, Any]) -> None:
    assert said["glossary"] == ["numbers", True, "en", "fr", 2]
    assert said["entries"] == {"one": "un", "two": "deux"}
    assert said["listed"] is True
    assert said["withGlossary"] == "owt eno"
    assert sorted(said["pairs"]) == ["en-fr", "fr-en"]
    assert said["deleted"].startswith("GlossaryNotFoundError")
    assert sorted(said["dictionaries"]) == [["en", "fr", 2], ["fr", "en", 1]]
    assert said["renamed"] == "others"


def test_documents_are_translated(said: dict[str, Any]) -> None:
    assert said["document"] == ["owt eno\n", "done", 7]
    assert "file extension" in said["documentRefused"]


def test_usage_languages_and_memories_are_told(said: dict[str, Any]) -> None:
    assert said["usage"] == [True, False]
    assert sorted(said["sources"]) == ["en", "fr"]
    assert sorted(said["targets"]) == [["en-GB", False], ["en-US", False], ["fr", True]]
    assert said["memories"] == []
    assert "rephrases nothing" in said["rephrase"]

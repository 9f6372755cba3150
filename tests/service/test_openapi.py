"""The API as described: an example for each shape that is sent; the commands of the documentation run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from service import schemas
from service.examples import EXAMPLES
from tests.service.conftest import LiveServer, running
from tests.service.test_wishes import WishedTranslator

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("api.md", "documents.md", "memory.md", "quality.md")


@pytest.fixture(scope="module")
def live() -> Iterator[LiveServer]:
    with running(WishedTranslator()) as server:
        yield server


@pytest.fixture
def description(live: LiveServer) -> dict[str, Any]:
    with live.client() as client:
        described: dict[str, Any] = client.get("/openapi.json").json()
        return described


def operations(description: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def without_example(description: dict[str, Any], content: dict[str, Any]) -> list[str]:
    """The media types of text that have no example, of their own or of their shape."""
    missing = []
    for media_type, body in content.items():
        schema = body.get("schema", {})
        name = schema.get("$ref", "").rpartition("/")[2]
        shape = description["components"]["schemas"].get(name, schema)
        is_text = media_type.startswith("text/") or media_type.endswith("json")
        if is_text and not ({"example", "examples"} & (body.keys() | shape.keys())):
            missing.append(media_type)
    return missing


def test_every_body_and_every_answer_has_an_example(description: dict[str, Any]) -> None:
    for name, operation in operations(description):
        assert without_example(description, operation.get("requestBody", {}).get("content", {})) == [], name
        for status, answer in operation["responses"].items():
            assert without_example(description, answer.get("content", {})) == [], (name, status)


def test_every_parameter_is_described(description: dict[str, Any]) -> None:
    for name, operation in operations(description):
        for parameter in operation.get("parameters", []):
            assert parameter["description"], (name, parameter["name"])


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_has_the_shape_it_is_an_example_of(name: str) -> None:
    shape: type[BaseModel] = getattr(schemas, name)
    example = EXAMPLES[name]

    read = shape.model_validate(example)

    assert read.model_dump(mode="json", exclude_none=name == "Problem") == example, "no field is left out"


def test_the_example_of_a_translation_hangs_together() -> None:
    (translation,) = EXAMPLES["TranslateAnswer"]["translations"]

    text = translation["text"]
    for token in translation["target_tokens"]:
        assert text[token["start"] : token["end"]] == token["text"]
    assert translation["sentences"][0]["target"] == {"start": 0, "end": len(text)}


def commands() -> list[Any]:
    found = []
    for page in PAGES:
        text = (DOCS / page).read_text(encoding="utf-8")
        blocks = re.findall(r"^```(bash|python)\n(.*?)^```", text, re.M | re.S)
        assert blocks, page
        found += [pytest.param(*block, id=f"{page}-{block[0]}-{i}") for i, block in enumerate(blocks)]
    return found


@pytest.mark.parametrize(("language", "code"), commands())
def test_a_command_of_the_documentation_runs(
    live: LiveServer, tmp_path: Path, language: str, code: str
) -> None:
    code = code.replace("http://127.0.0.1:8000", live.url)
    if language == "bash":
        if shutil.which("curl") is None:
            pytest.skip("curl is not installed")
        command = ["bash", "-euc", code.replace("curl -s", "curl --silent --show-error --fail")]
    else:
        command = [sys.executable, "-W", "error", "-c", code]
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}

    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stderr


def test_the_documentation_has_commands_of_both_kinds() -> None:
    kinds = [parameter.values[0] for parameter in commands()]

    assert min(kinds.count("bash"), kinds.count("python")) >= 4

"""``nmt mcp`` with the real client and the models that ship: over pipes, over HTTP, and without either."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult

from nmt.errors import ConfigError, InputError, ModelFolderError
from nmt.mcp.glossaries import Glossaries
from nmt.mcp.pairs import Pairs
from nmt.mcp.server import make_server, refuse_others
from nmt.mcp.tools import MOST_CHARACTERS, MOST_TEXTS
from nmt.model_folder.registry import shipped_models

pytestmark = pytest.mark.skipif(len(shipped_models()) < 2, reason="no models of both directions ship")

ROOT = Path(__file__).parents[3]
CANARY = "xylophonequartz"
TOOLS = {"translate", "detect", "align", "list_glossaries", "apply_glossary"}


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def terms(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("terms")
    (folder / "paths.tsv").write_text("bridge\tpasserelle\nAcme Cloud\n", encoding="utf-8")
    (folder / "back.fr-en.tsv").write_text("passerelle\tfootbridge\n", encoding="utf-8")
    return [folder / "paths.tsv", folder / "back.fr-en.tsv"]


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    return Pairs()


@pytest.fixture
def call(pairs: Pairs, terms: list[Path]) -> Callable[..., CallToolResult]:
    """Calls a tool of a server in this process."""

    def called(tool: str, **arguments: Any) -> CallToolResult:
        async def run() -> CallToolResult:
            async with Client(make_server(pairs, Glossaries(terms, pairs))) as client:
                return await client.call_tool(tool, arguments)

        return anyio.run(run)

    return called


async def use(client: Client) -> None:
    """What an assistant does with every tool."""

    async def ask(tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        assert answer.structured_content is not None
        return answer.structured_content

    assert client.server_info.name == "passerelle"
    assert "en to fr, fr to en" in (client.instructions or "")
    listed = (await client.list_tools()).tools
    assert {tool.name for tool in listed} == TOOLS
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed)
    there = await ask("translate", text="A dog runs on the beach.")
    assert (there["source"], there["target"]) == ("en", "fr")
    assert "chien" in there["translations"][0]["text"]
    assert 0 < there["translations"][0]["confidence"] <= 1
    back = await ask("translate", text=["Le chien court sur la plage.", "Il est tard."])
    assert (back["source"], len(back["translations"])) == ("fr", 2)
    assert (await ask("detect", text="Le petit chat dort tranquillement."))["language"] == "fr"
    listed_terms = await ask("list_glossaries")
    assert [(one["name"], one["n_entries"]) for one in listed_terms["glossaries"]] == [
        ("paths", 2),
        ("back.fr-en", 1),
    ]
    applied = await ask("apply_glossary", text="They cross the bridge.", glossary="paths")
    assert "passerelle" in applied["text"]
    assert applied["applied"] == [{"source": "bridge", "target": "passerelle"}]


def test_an_assistant_uses_every_tool_over_standard_input_and_output(terms: list[Path]) -> None:
    arguments = ["-m", "nmt", "mcp", *(part for file in terms for part in ("--glossary", str(file)))]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment())

    async def run() -> None:
        async with Client(stdio_client(server)) as client:
            await use(client)

    anyio.run(run)


@pytest.mark.exhaustive
def test_an_assistant_uses_every_tool_over_http(terms: list[Path]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [
        *(part for file in terms for part in ("--glossary", str(file))),
        "--http",
        "--port",
        str(port),
    ]
    command = [sys.executable, "-m", "nmt", "mcp", *arguments]
    process = subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stderr
        told = process.stderr.readline()
        assert f"MCP is at http://127.0.0.1:{port}/mcp" in told
        url = f"http://127.0.0.1:{port}/mcp"

        async def run() -> None:
            async with Client(url) as client:
                await use(client)

        anyio.run(_once_it_listens(port, run))
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        headers = {"host": "evil.example", "accept": "application/json, text/event-stream"}
        answer = httpx.post(url, json=request, headers=headers, trust_env=False)
        assert answer.status_code in (403, 421), "a page could rebind its name"
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _once_it_listens(port: int, run: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    async def waited() -> None:
        with anyio.fail_after(60):
            while True:
                try:
                    stream = await anyio.connect_tcp("127.0.0.1", port)
                except OSError:
                    await anyio.sleep(0.1)
                else:
                    await stream.aclose()
                    break
        await run()

    return waited


def test_words_are_linked(call: Callable[..., CallToolResult]) -> None:
    found = call("align", source_text="A red car.", target_text="Une voiture rouge.").structured_content

    assert found
    assert found["source_words"] == ["A", "red", "car", "."]
    links = {(link["source"], link["target"]) for link in found["links"]}
    assert {("red", "rouge"), ("car", "voiture")} <= links


def test_terms_may_be_given_and_a_glossary_decides_the_direction(call: Callable[..., CallToolResult]) -> None:
    given = call("apply_glossary", text="They cross the bridge.", terms={"bridge": "pont-levis"})
    back = call("apply_glossary", text="La passerelle.", glossary="back.fr-en")
    entries = call("list_glossaries", name="paths")

    assert given.structured_content
    assert "pont-levis" in given.structured_content["text"]
    assert back.structured_content
    assert back.structured_content["target_language"] == "en"
    assert "footbridge" in back.structured_content["text"].lower()
    assert entries.structured_content
    assert entries.structured_content["glossaries"][0]["entries"] == [
        {"source": "bridge", "target": "passerelle"},
        {"source": "Acme Cloud", "target": "Acme Cloud"},
    ]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("translate", {"text": CANARY, "target": "de"}, "there are models from en to fr and fr to en only"),
        ("translate", {"text": []}, "the list is empty"),
        ("translate", {"text": ["a"] * (MOST_TEXTS + 1)}, "101 texts; the limit is 100"),
        ("translate", {"text": "a" * (MOST_CHARACTERS + 1)}, "50001 characters; the limit is 50000"),
        ("detect", {"text": "a" * (MOST_CHARACTERS + 1)}, "the limit is 50000"),
        ("align", {"source_text": "a", "target_text": "b", "source": "xx"}, "there are models from"),
        ("apply_glossary", {"text": "a"}, "give one of the two"),
        ("apply_glossary", {"text": "a", "glossary": CANARY}, "there are paths, back.fr-en"),
        ("apply_glossary", {"text": "a", "glossary": "paths", "target": "en"}, "it is for en to fr"),
        ("apply_glossary", {"text": "a", "terms": {" ": "b"}}, "term"),
        ("list_glossaries", {"name": CANARY}, "there are paths, back.fr-en"),
    ],
)
def test_bad_input_is_told_and_not_repeated(
    call: Callable[..., CallToolResult], tool: str, arguments: dict[str, Any], said: str
) -> None:
    answer = call(tool, **arguments)

    assert answer.is_error
    assert said in answer.content[0].text  # type: ignore[union-attr]
    assert CANARY not in answer.content[0].text  # type: ignore[union-attr]


def test_a_failure_is_told_without_the_text(
    call: Callable[..., CallToolResult], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError(CANARY)

    monkeypatch.setattr(Pairs, "translator", broken)
    answer = call("translate", text=CANARY)

    assert answer.is_error
    assert "RuntimeError" in answer.content[0].text  # type: ignore[union-attr]
    assert CANARY not in answer.content[0].text + caplog.text  # type: ignore[union-attr]


def test_glossaries_that_fit_nowhere_are_refused_at_the_start(pairs: Pairs, tmp_path: Path) -> None:
    for name in ("a/t.tsv", "b/t.tsv", "t.de-fr.tsv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a\tb\n", encoding="utf-8")

    with pytest.raises(ConfigError, match="two of the name t"):
        Glossaries([tmp_path / "a/t.tsv", tmp_path / "b/t.tsv"], pairs)
    with pytest.raises(ConfigError, match="no model from de to fr"):
        Glossaries([tmp_path / "t.de-fr.tsv"], pairs)
    with pytest.raises(InputError, match="No such file"):
        Glossaries([tmp_path / "none.tsv"], pairs)


def test_models_that_are_not_there_or_twice_are_refused_at_the_start() -> None:
    with pytest.raises(ModelFolderError, match="nowhere"):
        Pairs(["nowhere"])
    with pytest.raises(ConfigError, match="two models translate en to fr"):
        Pairs(["general", "general"])


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_nobody_else_can_connect(host: str) -> None:
    with pytest.raises(ConfigError, match="asks for no key"):
        refuse_others(host, 1)


def test_a_port_in_use_is_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigError, match="in use"):
            refuse_others("127.0.0.1", taken.getsockname()[1])


def test_without_the_extra_one_line_says_what_to_install() -> None:
    code = (
        "import sys, nmt.cli\n"
        "class Without:\n"
        "    def find_spec(name, path, target=None):\n"
        "        if name == 'mcp': raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Without)\n"
        "nmt.cli.main(['mcp'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert done.stderr == "nmt: mcp is not installed: run pip install 'passerelle[mcp]'\n"

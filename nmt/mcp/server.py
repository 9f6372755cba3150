"""The tools over the protocol, and how they are served: standard input and output, or HTTP."""

from __future__ import annotations

import functools
import inspect
import ipaddress
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from nmt import __version__
from nmt.errors import ConfigError, PasserelleError
from nmt.mcp.glossaries import Glossaries
from nmt.mcp.pairs import Pairs
from nmt.mcp.tools import Tools

ResultT = TypeVar("ResultT")

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)


def make_server(pairs: Pairs, glossaries: Glossaries) -> MCPServer[Any]:
    """A server with the tools. Logs and errors never hold a text."""
    between = ", ".join(f"{source} to {target}" for source, target in pairs.all)
    server: MCPServer[Any] = MCPServer(
        "passerelle",
        title="Passerelle",
        version=__version__,
        instructions=f"Neural machine translation on this machine, offline. Languages: {between}.",
        log_level="WARNING",
    )
    tools = Tools(pairs, glossaries)
    for tool in (tools.translate, tools.detect, tools.align, tools.list_glossaries, tools.apply_glossary):
        server.add_tool(_guarded(tool), description=tool.__doc__, annotations=READS)
    return server


def _guarded(tool: Callable[..., ResultT]) -> Callable[..., Any]:
    """The tool in a thread of its own; what goes wrong is told without a text, as a trace might hold one."""

    def call(arguments: dict[str, Any]) -> ResultT:
        try:
            return tool(**arguments)
        except PasserelleError as error:
            raise ToolError(str(error)) from None
        except Exception as error:
            raise ToolError(f"the tool failed ({type(error).__name__}); try another text") from None

    async def run(**arguments: Any) -> ResultT:  # noqa: ANN401 - as the tool takes them
        return await anyio.to_thread.run_sync(call, arguments)

    return _as(tool, run)


def _as(tool: Callable[..., Any], run: Callable[..., Any]) -> Callable[..., Any]:
    """``run`` under the name and signature of ``tool``, from which the schema of its arguments is made."""
    functools.update_wrapper(run, tool)
    run.__signature__ = inspect.signature(tool, eval_str=True)  # type: ignore[attr-defined]
    return run


def serve(
    models: Sequence[str],
    glossaries: Sequence[Path],
    *,
    http: bool,
    host: str,
    port: int,
    device: str,
    engine: str,
) -> None:
    """Serve the tools until the client, or a signal, ends it.

    Args:
        models: as of ``Pairs``.
        glossaries: files, as of ``Glossaries``.
        http: by streamable HTTP at ``/mcp``; else by standard input and output.
        host: where to listen, with ``http``: this machine alone, as no key is asked for.
        port: the same.
        device: where models run.
        engine: what searches.

    Raises:
        ConfigError: ``host`` can be reached from elsewhere, or the port is taken.
    """
    if http:
        refuse_others(host, port)
    pairs = Pairs(models, device=device, engine=engine)
    server = make_server(pairs, Glossaries(glossaries, pairs))
    if not http:
        server.run("stdio")
        return
    named = f"[{host}]" if ":" in host else host
    print(f"nmt: MCP is at http://{named}:{port}/mcp (Ctrl-C ends it)", file=sys.stderr, flush=True)
    server.run("streamable-http", host=host, port=port)


def refuse_others(host: str, port: int) -> None:
    """Raises ``ConfigError`` where others than this machine could connect, or nothing can listen."""
    try:
        is_here = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if not is_here:
        raise ConfigError(
            f"--host {host}: nmt mcp asks for no key, so it listens on this machine alone: 127.0.0.1, ::1 or "
            "localhost"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except OSError as error:
        raise ConfigError(f"--port {port}: {error.strerror}; choose another") from None

"""Where the server listens: whether it can, asked before models load, and the address for a person."""

from __future__ import annotations

import errno
import os
import socket
import sys
from typing import TextIO

import uvicorn

from nmt.errors import ConfigError

EVERYWHERE = {"", "0.0.0.0", "::"}  # noqa: S104 - named, not listened on


def refuse_taken(host: str, port: int) -> None:
    """Raises ``ConfigError`` where nothing can listen on ``host`` and ``port``; 0 is any free port."""
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise ConfigError(f"--host {host}: {error.strerror}; name an address of this machine") from None
    for family, kind, protocol, _, address in found:
        try:
            with socket.socket(family, kind, protocol) as trial:
                if os.name == "posix":  # as asyncio does
                    trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                trial.bind(address)
        except OSError as error:
            raise ConfigError(_why(host, port, error)) from None


def _why(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is in use; stop what listens there, or choose another: --port {port + 1}"
        )
    if error.errno == errno.EACCES:
        return (
            f"port {port} needs rights that this user has not; choose one from 1024 on, such as --port 8000"
        )
    return f"cannot listen on {host}, port {port}: {error.strerror}; set --host to an address of this machine"


class Server(uvicorn.Server):
    """Uvicorn that tells a person where it listens, if one looks on."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and print the address on the first of standard error and output that is a terminal."""
        await super().startup(sockets)
        terminal = next((stream for stream in (sys.stderr, sys.stdout) if stream.isatty()), None)
        if self.started and terminal is not None:
            port = self.servers[0].sockets[0].getsockname()[1]
            tell(self.config.host, port, terminal)


def tell(host: str, port: int, stream: TextIO) -> None:
    """Print in one line where the page is."""
    name = "127.0.0.1" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    print(f"Passerelle is at http://{name}:{port} (Ctrl-C ends it)", file=stream, flush=True)

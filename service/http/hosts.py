"""Which names a server answers to: pages of other sites must not read what a server without keys answers.

DNS rebinding: a page of ``evil.example``, whose name is made to point at 127.0.0.1, is for the browser of the
same origin as the server there, and reads its answers. The request still says ``Host: evil.example``.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.problems import ProblemError, Shape, problem_of, shaped

SETTING = "PASSERELLE_ALLOWED_HOSTS"
ANY = "*"
PROBES = "/health/"
"""Addresses that tell one word of the server, and that probes ask for by whatever name."""

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]{1,253})\.?(:[0-9]{1,5})?")


class HostMiddleware:
    """Answers 421 to a request for another host.

    Args:
        app: is called when the host is one of this server.
        allowed: names and addresses beside those of this machine; ``*.example.org`` is any name below it,
            ``*`` any.
        shapes: of errors, see ``problems.install``.
    """

    def __init__(self, app: ASGIApp, *, allowed: Collection[str], shapes: Mapping[str, Shape]) -> None:
        self._app = app
        self._allowed = frozenset(map(_plain, allowed))
        self._shapes = shapes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] == "http" and not scope["path"].startswith(PROBES):
            asked = host_of(Request(scope).headers.getlist("host"))
            server = scope.get("server")
            if not self._is_own(asked, server[0] if server else None):
                problem = await problem_of(_refusal(asked), Request(scope))
                await shaped(problem, scope["path"], self._shapes)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_own(self, asked: str | None, listening: str | None) -> bool:
        if ANY in self._allowed:
            return True
        if asked is None:
            return False
        if asked == "localhost" or asked in self._allowed or asked == listening:
            return True
        try:
            return ipaddress.ip_address(asked).is_loopback
        except ValueError:
            return any(name.startswith("*.") and asked.endswith(name[1:]) for name in self._allowed)


def host_of(headers: Collection[str]) -> str | None:
    """The name or address that a request is for, without its port; None: there is none, or several.

    >>> host_of(["LocalHost:8000"]), host_of(["[::1]:80"]), host_of(["a", "b"]), host_of(["a@localhost"])
    ('localhost', '::1', None, None)
    """
    if len(headers) != 1:
        return None
    found = _HOST.fullmatch(next(iter(headers)))
    return None if found is None else _plain(found["name"])


def _plain(name: str) -> str:
    return name.strip().lower().removeprefix("[").removesuffix("]").removesuffix(".")


def _refusal(asked: str | None) -> ProblemError:
    """Names the host only if it looks like one."""
    named = "this host" if asked is None else asked
    return ProblemError(
        421,
        "unknown-host",
        f"This server does not answer as {named}: ask for localhost or its address, or have its operator "
        f"add the name to {SETTING}.",
    )

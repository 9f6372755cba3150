"""HTTP/1.1 as uvicorn and h11 speak it, with two additions.

A connection has a deadline for the head of each request: uvicorn itself waits for ever for a client that
sends nothing, or one byte a minute. And what h11 refuses is answered with a problem, like every other error.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from service.problems import MEDIA_TYPE, problem_response


class DeadlineProtocol(H11Protocol):
    """``H11Protocol`` with a deadline for heads; ``header_timeout_s`` is set by ``with_deadline``."""

    header_timeout_s: float = 10.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(*args, **kwargs)
        self._head_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first head."""
        super().connection_made(transport)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Stop the clock when a head is complete; start it with the first byte of the next."""
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        if self._head_deadline is not None:
            self._head_deadline.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's own words
        """Answer what h11 refused: it is no HTTP/1.1, or its head is over 64 KiB."""
        response = problem_response(
            400,
            "bad-http",
            "This is not a valid HTTP/1.1 request, or its headers are too large; send smaller, valid ones.",
        )
        headers = [(b"content-type", MEDIA_TYPE.encode()), (b"connection", b"close")]
        headers.append((b"content-length", str(len(response.body)).encode()))
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=bytes(response.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _watch_head(self) -> None:
        waiting = self.conn.their_state is h11.IDLE and not self.transport.is_closing()
        if not waiting and self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None
        elif waiting and self._head_deadline is None:
            self._head_deadline = self.loop.call_later(self.header_timeout_s, self._close_late)

    def _close_late(self) -> None:
        self._head_deadline = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


def with_deadline(header_timeout_s: float) -> type[DeadlineProtocol]:
    """The protocol class that uvicorn makes one of for each connection."""
    return type("DeadlineProtocol", (DeadlineProtocol,), {"header_timeout_s": header_timeout_s})

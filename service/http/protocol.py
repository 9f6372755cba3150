"""HTTP/1.1 as uvicorn and h11 speak it, with bounds that uvicorn itself does not have.

- A head has a deadline and a largest size, also one that arrives in one piece.
- What is left of a body that nobody reads any more has the same deadline.
- An answer of which nothing can be sent for a while is given up: the client does not read it.
- A request that was on its way when the server was told to stop is answered before its connection is closed.

What h11 refuses is answered with a problem, like every other error.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from service.http.problems import MEDIA_TYPE, problem_response

MOST_HEAD_BYTES = 16 * 1024
LAST_REQUEST_S = 0.2
"""How long an idle connection stays open after the server was told to stop."""


class HeadLimitConnection(h11.Connection):
    """Refuses a head over ``MOST_HEAD_BYTES``; h11 itself lets one pass that it receives whole."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, MOST_HEAD_BYTES)
        self.is_head_too_large = False

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """As in h11."""
        try:
            event = super().next_event()
            if isinstance(event, h11.Request) and head_bytes(event) > MOST_HEAD_BYTES:
                raise h11.RemoteProtocolError("the head is too large", error_status_hint=431)
        except h11.RemoteProtocolError as error:
            self.is_head_too_large = error.error_status_hint == 431
            raise
        return event


def head_bytes(request: h11.Request) -> int:
    """About the bytes of a request's first line and headers on the wire."""
    headers = sum(len(name) + len(value) + 4 for name, value in request.headers)
    return len(request.method) + len(request.target) + 12 + headers


class DeadlineProtocol(H11Protocol):
    """``H11Protocol`` with the bounds above; ``with_deadlines`` sets their seconds."""

    header_timeout_s: float = 10.0
    write_timeout_s: float = 30.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(*args, **kwargs)
        self.conn: HeadLimitConnection = HeadLimitConnection()
        self._reading: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._is_last = False
        """No request follows the present one, or the next."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first head."""
        super().connection_made(transport)
        self._watch_reading()

    def data_received(self, data: bytes) -> None:
        """Stop the clock when a head is complete; start it with the first byte of the next."""
        super().data_received(data)
        if self._is_last and self.cycle is not None:
            self.cycle.keep_alive = False
        self._watch_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        self._reading = _stopped(self._reading)
        self._writing = _stopped(self._writing)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the clock for the client to read."""
        super().pause_writing()
        self._watch_writing()

    def resume_writing(self) -> None:
        """Stop it: something was read."""
        self._writing = _stopped(self._writing)
        super().resume_writing()

    def on_response_complete(self) -> None:
        """The rest of an answer has the same time to be read."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:  # a kept connection has keep_alive_s until its next head
            self._watch_reading()
        self._watch_writing()

    def shutdown(self) -> None:
        """Let requests that are on their way arrive, then close an idle connection; a busy one ends later."""
        self._is_last = True
        if self.cycle is None or self.cycle.response_complete:
            self.loop.call_later(LAST_REQUEST_S, self._close_idle)
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's own words
        """Answer what h11 refused: it is no HTTP/1.1, or its head is too large."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()  # an answer is out already
            return
        if self.conn.is_head_too_large:
            status, kind = 431, "headers-too-large"
            detail = (
                f"The headers of this request are larger than {MOST_HEAD_BYTES} bytes; send smaller ones."
            )
        else:
            status, kind = 400, "bad-http"
            detail = "This is not a valid HTTP/1.1 request; send a valid one."
        response = problem_response(status, kind, detail)
        headers = [(b"content-type", MEDIA_TYPE.encode()), (b"connection", b"close")]
        headers.append((b"content-length", str(len(response.body)).encode()))
        for event in (
            h11.Response(status_code=status, headers=headers, reason=response.problem.title.encode()),
            h11.Data(data=bytes(response.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
        self._watch_writing()

    @property
    def _waits_for_client(self) -> bool:
        """For a head, or for the rest of a body whose request is answered already."""
        unread = self.conn.their_state is h11.SEND_BODY and self.conn.our_state is h11.DONE
        return (self.conn.their_state is h11.IDLE or unread) and not self.transport.is_closing()

    def _watch_reading(self) -> None:
        if not self._waits_for_client:
            self._reading = _stopped(self._reading)
        elif self._reading is None:
            self._reading = self.loop.call_later(self.header_timeout_s, self._close_late)

    def _close_late(self) -> None:
        self._reading = None
        if self._waits_for_client:
            self.transport.close()
            self._watch_writing()

    def _watch_writing(self) -> None:
        if self._writing is None and self.transport.get_write_buffer_size():
            self._writing = self.loop.call_later(self.write_timeout_s, self._give_up_writing)

    def _give_up_writing(self) -> None:
        self._writing = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def _close_idle(self) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            self.conn.send(h11.ConnectionClosed())
            self.transport.close()


def _stopped(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Cancel it; there is none from then on."""
    if timer is not None:
        timer.cancel()
    return None


def with_deadlines(header_timeout_s: float, write_timeout_s: float) -> type[DeadlineProtocol]:
    """The protocol class that uvicorn makes one of for each connection."""
    seconds = {"header_timeout_s": header_timeout_s, "write_timeout_s": write_timeout_s}
    return type("DeadlineProtocol", (DeadlineProtocol,), seconds)

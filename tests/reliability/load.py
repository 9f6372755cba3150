"""Clients that cost next to nothing, many at once: requests over loopback, bounded in count and time."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

ANSWERS_WITHIN_S = 120


@dataclass(frozen=True)
class Answer:
    """What came back for a request.

    Attributes:
        status: 0 if the connection ended without an answer.
        seconds: from the first byte sent to the last received.
    """

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    seconds: float = 0.0

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """The first translation."""
        text: str = self.json["translations"][0]["text"]
        return text

    @property
    def steps(self) -> int:
        """The engine's steps that the first translation took, from arrival to end; see ``stub_engine``."""
        return round(-1000 * self.json["translations"][0]["score"])


NONE = Answer(0)


class Client:
    """One connection, opened again when the server has closed it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def translate(self, text: str | Sequence[str], headers: str = "") -> Answer:
        """``POST /translate``; ``headers`` are lines with their CRLF."""
        body = json.dumps({"text": text}).encode()
        head = f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}"
        return await self.ask(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def get(self, path: str) -> Answer:
        return await self.ask(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

    async def ask(self, request: bytes) -> Answer:
        """Send bytes, wait for the answer; ``NONE`` if there comes none."""
        started = time.perf_counter()
        try:
            async with asyncio.timeout(ANSWERS_WITHIN_S):
                if self._streams is None or self._streams[0].at_eof():
                    self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 24)
                reader, writer = self._streams
                writer.write(request)
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                first, *lines = head.split("\r\n")
                headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            self.close()
            return NONE
        except BaseException:  # who stops waiting hangs up
            if self._streams is not None:
                self._streams[1].transport.abort()
            raise
        if headers.get("connection") == "close":
            self.close()
        return Answer(int(first.split()[1]), headers, body, time.perf_counter() - started)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


async def closed_loop(
    port: int, texts: Iterable[str | Sequence[str]], n_clients: int
) -> list[tuple[str | Sequence[str], Answer]]:
    """``n_clients`` each send their next text as soon as they have an answer."""
    waiting = iter(texts)
    answers: list[tuple[str | Sequence[str], Answer]] = []

    async def client() -> None:
        own = Client(port)
        for text in waiting:
            answers.append((text, await own.translate(text)))
        own.close()

    await asyncio.gather(*(client() for _ in range(n_clients)))
    return answers


async def open_loop(
    port: int, text: Callable[[int], str], per_second: float, seconds: float, n_clients: int
) -> list[Answer]:
    """Requests at fixed times, however long others take, as long as one of the connections is free."""
    n, answers = itertools.count(), list[Answer]()
    started = time.perf_counter()

    async def client() -> None:
        own = Client(port)
        while (number := next(n)) < per_second * seconds:
            await asyncio.sleep(max(0.0, started + number / per_second - time.perf_counter()))
            answers.append(await own.translate(text(number)))
        own.close()

    await asyncio.gather(*(client() for _ in range(n_clients)))
    return answers


async def probe(port: int, until: Awaitable[Any], least: int = 1, every_s: float = 0.1) -> list[Answer]:
    """Translations, each on a connection of its own, until something else is done; ``least`` at least."""
    other, answers = asyncio.ensure_future(until), list[Answer]()
    while not other.done() or len(answers) < least:
        own = Client(port)
        answers.append(await own.translate("a b c"))
        own.close()
        await asyncio.sleep(every_s)
    await other
    return answers


def percentile(values: Sequence[float], share: float) -> float:
    """The value that ``share`` of them do not exceed (nearest rank)."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]

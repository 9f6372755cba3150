"""L4 and L5 of docs/reliability.md: clients that hold connections and give or take next to nothing."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.reliability.conftest import Record
from tests.reliability.load import probe
from tests.reliability.server import Server, eventually, serving

POST = (
    b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n"
)
LONG = b'{"text":["' + b'","'.join([b"word " * 300] * 30) + b'"],"alignment":"soft"}'
SLOW_WAYS = {
    "head": (b"POST /translate HTTP/1.1\r\nHost: localhost\r\n", b"X-More: a\r\n"),
    "body": (POST + b'{"text": "', b"a"),
    "read": (POST.replace(b"1000", b"%d" % len(LONG)) + LONG, b""),
    "idle": (b"", b""),
}


@contextlib.asynccontextmanager
async def held(port: int, way: str, n_clients: int, every_s: float) -> AsyncIterator[None]:
    """Connections that begin and then trickle; whoever is thrown out comes back."""

    async def client() -> None:
        first, more = SLOW_WAYS[way]
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
                try:
                    writer.write(first)
                    while not reader.at_eof():
                        await asyncio.sleep(every_s)
                        writer.write(more)
                        await writer.drain()
                finally:
                    writer.close()
            await asyncio.sleep(every_s)

    tasks = [asyncio.create_task(client()) for _ in range(n_clients)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def share_answered(
    port: int, way: str, n_clients: int, seconds: float, least: int = 1
) -> tuple[int, int]:
    """Of probes meanwhile, how many were answered, and how many there were."""
    async with held(port, way, n_clients, every_s=0.25):
        found = await probe(port, asyncio.sleep(seconds), least)
    return sum(answer.status == 200 for answer in found), len(found)


@pytest.mark.parametrize("way", ["head", "body", "read"])
def test_l4_slow_clients_keep_nobody_else_waiting(stub: Server, way: str) -> None:
    answered, n_probes = asyncio.run(share_answered(stub.port, way, 20, 1.0))
    assert answered == n_probes


def test_l5_idle_sockets_keep_nobody_else_waiting(stub: Server) -> None:
    answered, n_probes = asyncio.run(share_answered(stub.port, "idle", 100, 1.0))
    assert answered == n_probes


def test_slow_clients_are_gone_at_last(stub: Server) -> None:
    """Nothing of the tests above holds a descriptor of the server."""
    eventually(lambda: len(list(Path(f"/proc/{stub.process.pid}/fd").iterdir())) < 60)


@pytest.mark.slow
def test_l5_500_idle_sockets(record: Record) -> None:
    with serving() as server:
        answered, n_probes = asyncio.run(share_answered(server.port, "idle", 500, 120, 1000))
        eventually(lambda: len(list(Path(f"/proc/{server.process.pid}/fd").iterdir())) < 60)
    assert answered / n_probes >= 0.999
    record(
        "L5",
        "500 idle sockets: a prober keeps >= 99.9 %",
        lost=n_probes - answered,
        engine="STUB",
        sockets=500,
        seconds=120,
        probes=n_probes,
        probes_answered=answered,
    )


@pytest.mark.slow
def test_l4_200_clients_of_slowhttptest(record: Record) -> None:
    program = shutil.which("slowhttptest")
    assert program, "slowhttptest is not installed: run apt-get install slowhttptest"
    rehearsal_s = float(os.environ.get("PASSERELLE_TEST_SECONDS", "0"))
    seconds = rehearsal_s or 120
    common = ["-c", "200", "-r", "100", "-l", f"{seconds:.0f}", "-i", "2", "-p", "10"]
    ways = {
        "slow headers": ["-H", "-x", "24", "-t", "GET"],
        "slow body": ["-B", "-s", "8192", "-x", "10", "-t", "POST", "-f", "application/json"],
        "slow read": ["-X", "-w", "10", "-y", "20", "-n", "5", "-z", "32", "-k", "3"],
    }
    probes: dict[str, int] = {}
    answered: dict[str, int] = {}
    attacks: dict[str, int] = {}
    with serving() as server:

        async def attack(way: str, *options: str) -> None:
            """Those whom the server has thrown out do not come back by themselves: the next 200 do."""
            path = {"slow read": "/static/app.js", "slow body": "/translate", "slow headers": "/"}[way]
            until = time.monotonic() + seconds
            attacks[way] = 0
            while time.monotonic() < until:
                attacks[way] += 1
                attacker = await asyncio.create_subprocess_exec(
                    program, *common, *options, "-u", server.url + path,
                    cwd=server.data, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
                )  # fmt: skip
                await attacker.wait()

        async def probed(way: str, *options: str) -> None:
            found = await probe(server.port, attack(way, *options), every_s=0.05)
            probes[way], answered[way] = len(found), sum(answer.status == 200 for answer in found)

        for way, options in ways.items():
            asyncio.run(probed(way, *options))
        eventually(lambda: len(list(Path(f"/proc/{server.process.pid}/fd").iterdir())) < 60)
    for way in ways:
        assert answered[way] / probes[way] >= 0.999, way
    if rehearsal_s:
        return
    record(
        "L4",
        "200 slow-header, slow-body, slow-read clients: a prober keeps >= 99.9 %",
        lost=sum(probes.values()) - sum(answered.values()),
        engine="STUB",
        tool="slowhttptest",
        clients=200,
        seconds_a_way=seconds,
        times_that_200_came=attacks,
        probes=probes,
        probes_answered=answered,
    )

"""A deployment on this machine: PostgreSQL, two replicas, and HAProxy with deploy/haproxy.cfg as it stands.

Each cluster has a loopback address of its own (127/8 is all loopback), so that ports are free. A replica is a
process group, as a container is: killing it kills its engine too.
"""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from service.database.database import Database
from service.database.records import KeyLimits
from service.settings import Settings
from testbed.postgres import binaries, running_postgres
from testbed.stub import backwards

ROOT = Path(__file__).resolve().parent.parent
PROXY = ROOT / "deploy" / "haproxy.cfg"
STUB = (sys.executable, "-m", "testbed.replica")
START_S = 120.0


def missing() -> str | None:
    """Why no cluster can be started here; None if it can."""
    if shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin") is None:
        return "HAProxy is not installed: apt-get install haproxy"
    if binaries() is None:
        return "PostgreSQL is not installed: apt-get install postgresql"
    return None


@dataclass
class Replica:
    """A server that can be killed, stopped and started again at the same address."""

    name: str
    host: str
    port: int
    command: Sequence[str]
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; it is not ready yet."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.command, self.host, str(self.port)],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """Kill server and engine, as when a container or its machine dies."""
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def terminate(self) -> tuple[int, float]:
        """SIGTERM to the server; its exit status, and the seconds that it took to end."""
        assert self.process is not None
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60), time.monotonic() - started


@dataclass
class Cluster:
    """Two replicas behind a proxy."""

    host: str
    port: int
    key: str
    replicas: tuple[Replica, Replica]
    database: Database
    key_id: str
    _admin: Path

    def state(self) -> dict[str, dict[str, str]]:
        """What the proxy knows of each replica, by its name."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._admin))
            connection.sendall(b"show stat\n")
            shown = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        rows = csv.DictReader(io.StringIO(shown.removeprefix("# ")))
        return {row["svname"]: row for row in rows if row["pxname"] == "replicas"}

    def wait_until_up(self) -> None:
        """Until the proxy sends requests to both."""
        deadline = time.monotonic() + START_S
        while not all(self.state()[replica.name]["status"] == "UP" for replica in self.replicas):
            for replica in self.replicas:
                assert replica.process is not None
                assert replica.process.poll() is None, replica.log.read_text()[-2000:]
            assert time.monotonic() < deadline, {n: row["status"] for n, row in self.state().items()}
            time.sleep(0.05)

    def charged(self) -> int:
        """Characters that the load's key has been charged this month."""
        return sum(day.characters for day in self.database.usage.this_month(self.key_id))


@contextlib.contextmanager
def running_cluster(command: Sequence[str] = STUB, **environment: str) -> Iterator[Cluster]:
    """A cluster until the block ends.

    Args:
        command: starts a replica; its host and port are added.
        environment: of the replicas, besides the settings that a cluster needs.
    """
    found = binaries()
    assert found is not None
    pid = os.getpid()
    host = f"127.{64 + (pid >> 16) % 64}.{(pid >> 8) % 256}.{1 + pid % 254}"
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(running_postgres(found))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cluster-")))
        database = Database(Settings(database_url=url, data_dir=folder))
        stack.callback(database.close)
        database.upgrade()
        key, shown = database.keys.create("load", KeyLimits())
        settings = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PASSERELLE_DATABASE_URL": url,
            "PASSERELLE_DATA_DIR": str(folder),
            "PASSERELLE_KEYS": "required",
            **environment,
        }
        replicas = tuple(
            Replica(name, host, port, command, settings, folder / f"{name}.log")
            for name, port in (("one", 8001), ("two", 8002))
        )
        for replica in replicas:
            replica.start()
            stack.callback(replica.kill)
        admin = folder / "admin"
        also = folder / "also.cfg"  # what an operator would see on a page of statistics
        also.write_text(f"global\n    stats socket {admin} level admin\n")
        with (folder / "proxy.log").open("wb") as log:
            proxy = subprocess.Popen(
                ["haproxy", "-db", "-f", str(PROXY), "-f", str(also)],
                env={
                    "PATH": f"{os.environ['PATH']}:/usr/sbin",
                    "BIND": f"{host}:8000",
                    **{
                        f"REPLICA_{number}": f"{host}:{replica.port}"
                        for number, replica in enumerate(replicas, start=1)
                    },
                },
                stdout=log,
                stderr=log,
            )
        stack.callback(proxy.wait)
        stack.callback(proxy.kill)
        deadline = time.monotonic() + 20
        while not admin.exists():
            assert proxy.poll() is None, (folder / "proxy.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        cluster = Cluster(host, 8000, shown, (replicas[0], replicas[1]), database, key.id, admin)
        cluster.wait_until_up()
        yield cluster


@dataclass
class Load:
    """Clients that each send one request after another, until told to stop; every answer is checked.

    A request is accepted once it is sent whole. It is answered when its own translation comes back, refused
    when the answer is 429 or 503 and says when to come again; all else is lost.
    """

    cluster: Cluster
    n_clients: int = 16
    translated: Callable[[str], str] | None = backwards
    """What the answer to a text must be; None: anything that is not empty."""
    counts: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    characters: int = 0
    """Of texts that were answered."""
    stopping: bool = False

    async def run(self) -> None:
        """Until ``stopping``; then each client gets its last answer."""
        await asyncio.gather(*(self._client(number) for number in range(self.n_clients)))

    async def _client(self, number: int) -> None:
        connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        index = 0
        while not self.stopping:
            index += 1
            text = f"request {index} of client {number} is one of very many"
            started = time.monotonic()
            try:
                if connection is None:
                    connection = await asyncio.open_connection(self.cluster.host, self.cluster.port)
                async with asyncio.timeout(60):
                    status, headers, body = await self._post(*connection, text)
            except (OSError, EOFError, TimeoutError) as error:
                self._lose(type(error).__name__)
                connection = None
                continue
            self.seconds.append(time.monotonic() - started)
            self._judge(text, status, headers, body)
            if "connection: close" in headers:
                connection[1].close()
                connection = None
            if status in (429, 503):
                await asyncio.sleep(1)
        if connection is not None:
            connection[1].close()

    async def _post(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str
    ) -> tuple[int, str, bytes]:
        body = json.dumps({"text": text}).encode()
        head = (
            f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {self.cluster.key}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        headers = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", headers)
        assert length is not None
        return int(headers.split(" ", 2)[1]), headers, await reader.readexactly(int(length[1]))

    def _judge(self, text: str, status: int, headers: str, body: bytes) -> None:
        if status == 200:
            (translation,) = json.loads(body)["translations"]
            right = self.translated(text) if self.translated else translation["text"] or None
            if translation["text"] != right:
                self._lose("wrong translation")
                return
            self.counts["answered"] += 1
            self.characters += len(text)
        elif status in (429, 503) and "retry-after:" in headers:
            self.counts["refused"] += 1
        else:
            self._lose(f"status {status}")

    def _lose(self, why: str) -> None:
        self.counts["lost"] += 1
        self.lost.append(why)

    def record(self) -> dict[str, Any]:
        """Counts, and seconds of the median and of the slowest request."""
        ordered = sorted(self.seconds)
        return {
            "requests": sum(self.counts.values()),
            "answered": self.counts["answered"],
            "refused_with_retry_after": self.counts["refused"],
            "lost": self.counts["lost"],
            "lost_because": dict(Counter(self.lost)),
            "median_s": round(ordered[len(ordered) // 2], 3) if ordered else None,
            "slowest_s": round(ordered[-1], 3) if ordered else None,
        }


def settle(cluster: Cluster, load: Load) -> None:
    """Until both replicas are up and clients have had some answers: one replica dies, not both at once.

    That the proxy calls a replica up just after its death says nothing: it notices when it next asks.
    """
    cluster.wait_until_up()
    until = sum(load.counts.values()) + 4 * load.n_clients
    while sum(load.counts.values()) < until:
        time.sleep(0.05)
    cluster.wait_until_up()


async def under_load(load: Load, fault: Callable[[], Any]) -> Any:
    """Run ``fault`` in a thread while the load runs; the load goes on for a moment on either side."""
    running = asyncio.create_task(load.run())
    try:
        await answered(load, 2 * load.n_clients)
        result = await asyncio.to_thread(fault)
        await answered(load, 2 * load.n_clients)
    finally:
        load.stopping = True
        await running
    return result


async def answered(load: Load, n_more: int) -> None:
    """Until so many more requests have been answered, or lost."""
    until = sum(load.counts.values()) + n_more
    deadline = time.monotonic() + START_S
    while sum(load.counts.values()) < until:
        assert time.monotonic() < deadline, load.record()
        await asyncio.sleep(0.01)

"""A real server: ``nmt serve`` as a process, around an engine, with its log in a file."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[2]
GATE = "gate"
STARTS_WITHIN_S = 120
"""Bounds of seconds are generous everywhere: what is promised are counts and ratios."""


@dataclass(frozen=True)
class Server:
    """A running server. ``data`` is its data folder, ``log`` the file of its standard error."""

    process: subprocess.Popen[bytes]
    port: int
    data: Path
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=60, trust_env=False, verify=False, **options)

    def get(self, path: str, **options: Any) -> httpx.Response:
        with self.client() as client:
            return client.get(path, **options)

    def post(self, body: Any, **options: Any) -> httpx.Response:
        with self.client() as client:
            return client.post("/translate", json=body, **options)

    @contextlib.contextmanager
    def gate_shut(self) -> Iterator[None]:
        """STUB does not go on with texts that have the word "gated"."""
        (self.data / GATE).touch()
        try:
            yield
        finally:
            (self.data / GATE).unlink()

    def is_ready(self) -> bool:
        return self.get("/health/ready").status_code == 200

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        found = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", self.get("/metrics").text, re.MULTILINE)
        return sum(map(float, found))

    def lines(self, event: str) -> list[dict[str, Any]]:
        """The log's lines of one kind."""
        text = self.log.read_text(encoding="utf-8")
        return [
            line
            for row in text.splitlines()
            if row.startswith("{") and (line := json.loads(row))["event"] == event
        ]

    def engines(self) -> list[int]:
        """Ids of the server's living children."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        found = {int(child) for path in (children, *threads) for child in path.read_text().split()}
        return sorted(pid for pid in found if not is_dead(pid))

    def resident_bytes(self) -> int:
        """Memory of the server and its engine."""
        return sum(resident_bytes(pid) for pid in (self.process.pid, *self.engines()))

    def stop(self, within_s: float = 60) -> int:
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(within_s)


@contextlib.contextmanager
def serving(
    engine: str = "stub",
    *models: Path | str,
    folder: Path = ROOT,
    descriptors: int | None = None,
    log: Path | None = None,
    **settings: Any,
) -> Iterator[Server]:
    """Start a server and wait until it listens; at the end nothing of it may be left.

    Args:
        engine: see ``tests.reliability.serve``.
        models: folders or names; STUB's are "en_fr", taken where none is named, and "fr_en".
        folder: its working directory.
        descriptors: most files that it may have open.
        log: where its standard error goes instead of a file in its data folder.
        settings: of the service, and variables of the engines: ``max_texts=7``, ``test_step_s=0.1``.
    """
    with tempfile.TemporaryDirectory(prefix="passerelle-") as name:
        data = Path(name)
        process, log = launch(
            engine, models, data, folder=folder, descriptors=descriptors, log=log, **settings
        )
        try:
            yield Server(process, port_of(process, log, data), data, log)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
            try:
                process.wait(60)
            finally:
                left = in_session(process.pid)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        assert not left, f"processes are left behind: {left}"


def launch(
    engine: str,
    models: Sequence[Path | str],
    data: Path,
    *,
    folder: Path = ROOT,
    descriptors: int | None = None,
    log: Path | None = None,
    **settings: Any,
) -> tuple[subprocess.Popen[bytes], Path]:
    """The process, which may not listen yet, and the file of its standard error."""
    log = log or data / "log"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PASSERELLE_")}
    environment |= {"PASSERELLE_DATA_DIR": str(data), "PASSERELLE_KEYS": "off", "PYTHONPATH": str(ROOT)}
    environment |= {"OMP_NUM_THREADS": "1", "PASSERELLE_TEST_GATE": str(data / GATE)}
    if descriptors is not None:
        environment["PASSERELLE_TEST_DESCRIPTORS"] = str(descriptors)
    environment |= {f"PASSERELLE_{name.upper()}": str(value) for name, value in settings.items()}
    with log.open("ab") as stream:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.reliability.serve",
                engine,
                *map(str, models or (["en_fr"] if engine == "stub" else [])),
            ],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    return process, log


def port_of(process: subprocess.Popen[bytes], log: Path, data: Path) -> int:
    """Wait until the server listens. Where its log cannot be read, the kernel is asked for its socket."""
    deadline = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < deadline:
        if log.is_file():
            text = log.read_text(encoding="utf-8", errors="replace")
            if found := re.search(r"running on http://127\.0\.0\.1:(\d+)", text):
                return int(found[1])
        elif found_port := listening_port(process.pid):
            return found_port
        assert process.poll() is None, (
            f"the server did not start: {log.read_text() if log.is_file() else data}"
        )
        time.sleep(0.02)
    raise AssertionError("the server did not start in time")


def listening_port(pid: int) -> int | None:
    """The TCP port that a process listens on."""
    inodes = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if found := re.fullmatch(r"socket:\[(\d+)\]", str(path.readlink())):
                inodes.add(found[1])
    for row in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        columns = row.split()
        if columns[3] == "0A" and columns[9] in inodes:
            return int(columns[1].partition(":")[2], 16)
    return None


def in_session(session: int) -> list[int]:
    """Living processes of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(path.name))
    return found


def is_dead(pid: int) -> bool:
    """Whether a process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def resident_bytes(pid: int) -> int:
    """Memory of one process, without what it shares with files."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"RssAnon:\s+(\d+) kB", status)
    assert found
    return 1024 * int(found[1])


def eventually(condition: Callable[[], bool], within_s: float = 60) -> float:
    """Wait until ``condition`` holds; the seconds it took."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() < started + within_s, "it did not come true in time"
        time.sleep(0.01)
    return time.monotonic() - started

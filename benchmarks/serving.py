"""How fast the service is under load, beside the same model offline and one text at a time.

    python -m benchmarks.serving --texts FILE --out benchmarks/results/serving.json

Each round measures, one after another on the same machine with the same number of compute threads:

- offline: one ``Translator.translate`` call for all texts;
- service: ``nmt serve``, 64 clients that each send one text and wait for its translation;
- one at a time: a server that translates one text after another, with as many clients;
- the time of a short text alone, and while 8 clients send large texts without a pause.

Rounds are interleaved, so that a machine that slows down slows all of them. The load is over loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

SHORT = "Where is the train station, please?"
LARGE_CHARACTERS = 4000
SHORT_REQUESTS = 40


async def post(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> dict[str, Any]:
    """One request on a connection that is kept; a client that costs next to nothing beside the model."""
    body = json.dumps({"text": text}).encode()
    writer.write(
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % len(body) + body
    )
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1])
    length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])  # type: ignore[index]
    answer = json.loads(await reader.readexactly(length))
    if status != 200:
        raise RuntimeError(f"{status}: {answer.get('detail')}")
    return answer


async def with_clients(port: int, n_clients: int, texts: list[str]) -> float:
    """Seconds until ``n_clients`` have had all texts translated, each sending its next one at once."""
    waiting = iter(texts)

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
        for text in waiting:
            await post(reader, writer, text)
        writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(n_clients)))
    return time.perf_counter() - started


async def times_of_short_text(port: int, n_requests: int, pause_s: float = 0.1) -> list[float]:
    """Seconds of each of some requests that come one by one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    seconds = []
    for _ in range(n_requests):
        started = time.perf_counter()
        await post(reader, writer, SHORT)
        seconds.append(time.perf_counter() - started)
        await asyncio.sleep(pause_s)
    writer.close()
    return seconds


async def under_background_load(
    port: int, large: str, n_clients: int, measure: Callable[[], Awaitable[list[float]]]
) -> list[float]:
    """``measure`` while others always have a large request with the service."""

    async def background() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
        while True:
            await post(reader, writer, large)

    tasks = [asyncio.create_task(background()) for _ in range(n_clients)]
    await asyncio.sleep(1)
    try:
        return await measure()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def one_at_a_time(model: str) -> None:
    """A server as one writes it first: a lock around the model. Prints its port."""
    from nmt.translator import Translator  # noqa: PLC0415

    translator = Translator.load(model, device="cpu")
    translator.warm_up()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            text = json.loads(self.rfile.read(int(self.headers["content-length"])))["text"]
            with lock:
                (translation,) = translator.translate([text])
            body = json.dumps({"text": translation.text}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket.listen(256)
    print(f"running on http://127.0.0.1:{server.server_port}", file=sys.stderr, flush=True)
    server.serve_forever()


def offline(model: str) -> None:
    """Translate what standard input names, as often as it is asked; prints seconds."""
    from nmt.translator import Translator  # noqa: PLC0415

    translator = Translator.load(model, device="cpu")
    translator.warm_up()
    print("ready", flush=True)
    for line in sys.stdin:
        texts = json.loads(line)
        started = time.perf_counter()
        translator.translate(texts)
        print(time.perf_counter() - started, flush=True)


@contextlib.contextmanager
def process(arguments: list[str], threads: int, **pipes: int) -> Iterator[subprocess.Popen[str]]:
    """A process of ours, ended with the block."""
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "PASSERELLE_DATABASE_URL": "sqlite://",
        "PASSERELLE_DEVICE": "cpu",
        "PASSERELLE_ENGINE_THREADS": str(threads),
        "PASSERELLE_LOG_LEVEL": "info",
    }
    started = subprocess.Popen(arguments, env=environment, text=True, **pipes)
    try:
        yield started
    finally:
        started.terminate()
        started.wait(60)


def port_of(server: subprocess.Popen[str]) -> int:
    """Wait until a server says where it is; read on what it logs, lest it block."""
    assert server.stderr is not None
    for line in server.stderr:
        if found := re.search(r"running on http://127\.0\.0\.1:(\d+)", line):
            threading.Thread(target=lambda: [None for _ in server.stderr or ()], daemon=True).start()
            return int(found[1])
    raise RuntimeError("the server did not start")


def p95(seconds: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(seconds, n=20)[-1]


def measure(options: argparse.Namespace, texts: list[str]) -> list[dict[str, float]]:
    """All rounds."""
    few = texts[: max(options.clients, len(texts) // 6)]
    large = ""
    while len(large) < LARGE_CHARACTERS:
        large += texts[len(large) % len(texts)] + " "
    model = ["--model", options.model]
    script = [sys.executable, __file__]
    serve = "from service.main import serve; import sys; serve(port=0, model=sys.argv[1])"
    rounds: list[dict[str, float]] = []
    with (
        process(
            [*script, "--offline", *model], options.threads, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as batch,
        process(
            [sys.executable, "-c", serve, options.model], options.threads, stderr=subprocess.PIPE
        ) as served,
        process([*script, "--one-at-a-time", *model], options.threads, stderr=subprocess.PIPE) as single,
    ):
        assert batch.stdin is not None
        assert batch.stdout is not None
        batch.stdout.readline()
        service_port, single_port = port_of(served), port_of(single)

        def offline_seconds(given: list[str]) -> float:
            batch.stdin.write(json.dumps(given) + "\n")  # type: ignore[union-attr]
            batch.stdin.flush()  # type: ignore[union-attr]
            return float(batch.stdout.readline())  # type: ignore[union-attr]

        offline_seconds(few)  # warm up
        asyncio.run(with_clients(service_port, options.clients, few))
        asyncio.run(with_clients(single_port, 4, few[:16]))
        for _ in range(options.rounds):
            alone = asyncio.run(times_of_short_text(service_port, SHORT_REQUESTS))
            loaded = asyncio.run(
                under_background_load(
                    service_port,
                    large,
                    options.background,
                    lambda: times_of_short_text(service_port, SHORT_REQUESTS, 0.5),
                )
            )
            entry = {
                "offline_texts_per_s": len(texts) / offline_seconds(texts),
                "service_texts_per_s": len(texts)
                / asyncio.run(with_clients(service_port, options.clients, texts)),
                "one_at_a_time_texts_per_s": len(few)
                / asyncio.run(with_clients(single_port, options.clients, few)),
                "short_p95_alone_s": p95(alone),
                "short_p95_loaded_s": p95(loaded),
                "short_median_alone_s": statistics.median(alone),
                "short_median_loaded_s": statistics.median(loaded),
            }
            rounds.append(entry)
            print({name: round(value, 3) for name, value in entry.items()}, flush=True)
    return rounds


def ratios(entry: dict[str, float]) -> dict[str, float]:
    """What the targets are about."""
    return {
        "service_to_offline": entry["service_texts_per_s"] / entry["offline_texts_per_s"],
        "service_to_one_at_a_time": entry["service_texts_per_s"] / entry["one_at_a_time_texts_per_s"],
        "short_p95_loaded_to_alone": entry["short_p95_loaded_s"] / entry["short_p95_alone_s"],
    }


def machine() -> dict[str, Any]:
    """What it ran on."""
    cpu = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    return {"cpu": cpu, "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=Path, help="a sentence a line")
    parser.add_argument("--model", default="general", help="a model folder, or the name of one that ships")
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    parser.add_argument("--requests", type=int, default=1024, help="texts of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--background", type=int, default=8, help="clients that send large texts")
    parser.add_argument("--threads", type=int, default=1, help="that compute, in each server and offline")
    parser.add_argument("--offline", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--one-at-a-time", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.offline:
        return offline(options.model)
    if options.one_at_a_time:
        return one_at_a_time(options.model)
    lines = [line.strip() for line in options.texts.read_text(encoding="utf-8").splitlines()]
    # one call translates a text once, however often it comes: only different ones compare
    texts = [line for line in dict.fromkeys(lines) if line][: options.requests]
    rounds = measure(options, texts)
    # imports torch, which the clients measured above have no use for
    from training.provenance import this_command  # noqa: PLC0415

    medians = {name: statistics.median(entry[name] for entry in rounds) for name in rounds[0]}
    by_round = [ratios(entry) for entry in rounds]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    dirty = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=False)
    report = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip() + ("-dirty" if dirty.stdout.strip() else ""),
        "command": this_command(),
        "machine": machine(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("passerelle", "torch", "uvicorn", "fastapi")},
        },
        "n_texts": len(texts),
        "n_characters": sum(map(len, texts)),
        "clients": options.clients,
        "background_clients": options.background,
        "background_characters": LARGE_CHARACTERS,
        "threads": options.threads,
        "medians": medians,
        "ratios": {name: statistics.median(entry[name] for entry in by_round) for name in by_round[0]},
        "targets": {
            "service_to_offline": ">= 0.9",
            "service_to_one_at_a_time": ">= 5",
            "short_p95_loaded_to_alone": "<= 3",
        },
        "rounds": rounds,
    }
    print(json.dumps(report["ratios"], indent=2))
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return None


if __name__ == "__main__":
    main()

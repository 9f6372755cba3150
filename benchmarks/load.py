"""What a deployment that runs somewhere answers under load: counts of statuses, rates and times, as JSON.

    python -m benchmarks.load https://HOST --key-file KEY --texts FILE --clients 64 --seconds 60

Each client sends one request after another, each with the next line of the file, and waits as long as a 429
or 503 asks for. Needs ``httpx``. How fast a machine is at best, beside the same model offline, tells
``serving.py``.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from benchmarks.serving import p95

LONGEST_PAUSE_S = 10.0


async def client(
    connection: httpx.AsyncClient,
    texts: Iterator[str],
    until: float,
    seconds: list[float],
    counts: Counter[str],
) -> None:
    """One of them, until the time is over."""
    while not counts or time.monotonic() < until:
        started = time.monotonic()
        try:
            answer = await connection.post("/translate", json={"text": next(texts)})
        except httpx.HTTPError as error:
            counts[type(error).__name__] += 1
            await asyncio.sleep(1)
            continue
        counts[str(answer.status_code)] += 1
        if answer.status_code == 200:
            seconds.append(time.monotonic() - started)
        elif "retry-after" in answer.headers:
            await asyncio.sleep(min(float(answer.headers["retry-after"]), LONGEST_PAUSE_S))


async def load(url: str, key: str, texts: list[str], n_clients: int, seconds: float) -> dict[str, Any]:
    """Run the load; what it found."""
    times: list[float] = []
    counts: Counter[str] = Counter()
    endless = itertools.cycle(texts)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    limits = httpx.Limits(max_connections=n_clients)
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=180, limits=limits) as connection:
        started = time.monotonic()
        await asyncio.gather(
            *(client(connection, endless, started + seconds, times, counts) for _ in range(n_clients))
        )
        lasted = time.monotonic() - started
    return {
        "clients": n_clients,
        "seconds": round(lasted, 1),
        "statuses": dict(sorted(counts.items())),
        "translations_per_s": round(len(times) / lasted, 1),
        "median_s": round(statistics.median(times), 3) if times else None,
        "p95_s": round(p95(times), 3) if len(times) > 1 else None,
        "slowest_s": round(max(times), 3) if times else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url")
    parser.add_argument("--key-file", type=Path, help="a key, as nmt keys create printed it")
    parser.add_argument("--texts", type=Path, required=True, help="a sentence a line")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    texts = [line for line in options.texts.read_text(encoding="utf-8").splitlines() if line.strip()]
    key = options.key_file.read_text().strip() if options.key_file else ""
    print(json.dumps(asyncio.run(load(options.url, key, texts, options.clients, options.seconds)), indent=2))


if __name__ == "__main__":
    main()

"""Kill, stop and upgrade replicas under load: ``python -m scripts.replicas`` makes a record of it.

Two replicas on one PostgreSQL behind HAProxy with deploy/haproxy.cfg, clients that send one request after
another and check every answer; written to docs/reliability/replicas.json. Needs Debian's packages ``haproxy``
and ``postgresql``; takes about five minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from testbed.cluster import Cluster, Load, running_cluster, settle, under_load
from training.provenance import provenance

RECORD = Path(__file__).resolve().parent.parent / "docs" / "reliability" / "replicas.json"
ACCEPTED = (
    "A request is accepted once the proxy has it whole. Answered: its own translation came back; refused: "
    "429 or 503 with Retry-After; anything else, a broken connection too, is lost."
)


def main() -> None:
    """Measure and write the record."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="of each fault")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--out", type=Path, default=RECORD)
    options = parser.parse_args()
    with running_cluster() as cluster:
        faults = {
            "kill -9 of a replica and its engine": kills,
            "SIGTERM to a replica": terminations,
            "upgrade: one replica after the other is replaced": upgrades,
        }
        record = {
            "accepted": ACCEPTED,
            "engine": "stub, 20 ms a word",
            "clients": options.clients,
            "postgresql": version("postgresql"),
            "haproxy": version("haproxy"),
            "faults": {
                name: measure(cluster, fault, options.rounds, options.clients)
                for name, fault in faults.items()
            },
            **provenance(),
        }
    options.out.write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record["faults"], indent=2))


def measure(
    cluster: Cluster,
    fault: Callable[[Cluster, int, Callable[[], None]], dict[str, Any]],
    rounds: int,
    n_clients: int,
) -> dict[str, Any]:
    """One fault, again and again, under one load."""
    load = Load(cluster, n_clients)
    charged, before = cluster.charged(), cluster.state()
    found = asyncio.run(under_load(load, lambda: fault(cluster, rounds, lambda: settle(cluster, load))))
    after = cluster.state()
    return {
        "times": rounds,
        **found,
        **load.record(),
        "sent_again_by_the_proxy": sum(
            int(after[name]["wretr"]) - int(before[name]["wretr"]) for name in after
        ),
        "characters_answered": load.characters,
        "characters_charged": cluster.charged() - charged,
    }


def kills(cluster: Cluster, rounds: int, settled: Callable[[], None]) -> dict[str, Any]:
    """The replicas in turn; the one is back at work before the other is killed."""
    for index in range(rounds):
        replica = cluster.replicas[index % 2]
        replica.kill()
        replica.start()
        settled()
    return {}


def terminations(cluster: Cluster, rounds: int, settled: Callable[[], None]) -> dict[str, Any]:
    """The same with SIGTERM: exit statuses, and the longest time that one took to go."""
    ended = [replaced(cluster, index % 2, settled) for index in range(rounds)]
    return _endings(ended)


def upgrades(cluster: Cluster, rounds: int, settled: Callable[[], None]) -> dict[str, Any]:
    """Both replicas, one after the other, as a new version is rolled out."""
    return _endings([replaced(cluster, index, settled) for _ in range(rounds) for index in (0, 1)])


def replaced(cluster: Cluster, index: int, settled: Callable[[], None]) -> tuple[int, float]:
    """End one replica in order and start it again; as ``Replica.terminate``."""
    replica = cluster.replicas[index]
    ended = replica.terminate()
    replica.start()
    settled()
    return ended


def _endings(ended: list[tuple[int, float]]) -> dict[str, Any]:
    return {
        "exit_statuses": sorted({status for status, _ in ended}),
        "slowest_end_s": round(max(seconds for _, seconds in ended), 2),
    }


def version(package: str) -> str:
    """Of a Debian package."""
    done = subprocess.run(
        ["dpkg-query", "--show", "--showformat", "${Version}", package],
        capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    return done.stdout or "unknown"


if __name__ == "__main__":
    main()

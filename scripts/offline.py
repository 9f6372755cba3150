"""A Ray run that is killed and resumed: ``python -m scripts.offline --texts FILE``.

Two Ray nodes of one worker each on this machine. The same shards are translated twice with
``nmt translate-corpus``: once without a break; and once with a worker killed with -9, then the run itself
killed with -9, and the same command given again. Every shard must be there once, and be the same byte for
byte. Needs the extra ``ray``; written to docs/reliability/ray.json.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import ray
from pyarrow import parquet

from training.provenance import provenance

RECORD = Path(__file__).resolve().parent.parent / "docs" / "reliability" / "ray.json"
RAY = Path(sys.executable).parent / "ray"
PORT = ":6399"
ADDRESS = f"127.0.0.1{PORT}"
START_S = 300
TOKEN = secrets.token_hex(32)  # nobody else on this machine gives the cluster work


def main() -> None:
    """Measure and write the record."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--texts", type=Path, required=True, help="a sentence a line")
    parser.add_argument("--model")
    parser.add_argument("--shards", type=int, default=12)
    parser.add_argument("--rows", type=int, default=100, help="of a shard")
    parser.add_argument("--out", type=Path, default=RECORD)
    options = parser.parse_args()
    lines = list(dict.fromkeys(options.texts.read_text(encoding="utf-8").splitlines()))
    with tempfile.TemporaryDirectory() as name, two_nodes():
        folder = Path(name)
        shards = write_shards(folder / "in", lines, options.shards, options.rows)
        plain = command(folder / "in", folder / "plain", options.model)
        started = time.monotonic()
        subprocess.run(plain, check=True, env=environment())
        wall_s = time.monotonic() - started
        events = killed_and_resumed(
            command(folder / "in", folder / "killed", options.model), folder / "killed"
        )
        manifests = [json.loads((folder / run / "MANIFEST.json").read_text()) for run in ("plain", "killed")]
        sums = [{entry["shard"]: entry["sha256"] for entry in manifest["shards"]} for manifest in manifests]
        assert sorted(sums[0]) == sorted(shards), "every shard once"
        files = sorted(path.name for path in (folder / "killed").iterdir() if path.name in shards)
        assert files == sorted(shards)
    first = manifests[0]
    record = {
        "shards": len(shards),
        "rows": first["rows"],
        "model": first["job"]["model"],
        "workers": "two Ray nodes of one core each, on one machine",
        "uninterrupted_wall_s": round(wall_s, 1),
        "cpu_core_seconds_per_1000_sentences": round(1000 * first["cpu_s"] / first["rows"], 2),
        **events,
        "shards_equal_byte_for_byte": sum(sums[0][shard] == sums[1].get(shard) for shard in shards),
        "ray": ray.__version__,
        **provenance(),
    }
    options.out.write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2))


def environment() -> dict[str, str]:
    """Of a run: it joins the cluster."""
    return {**os.environ, "RAY_ADDRESS": ADDRESS, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}


def command(source: Path, target: Path, model: str | None) -> list[str]:
    """The run."""
    nmt = [
        sys.executable,
        "-m",
        "nmt",
        "translate-corpus",
        str(source),
        str(target),
        "--device",
        "cpu",
    ]
    return nmt if model is None else [*nmt, "--model", model]


@contextlib.contextmanager
def two_nodes() -> Iterator[None]:
    """A cluster of two nodes, each a set of processes of its own."""
    with tempfile.TemporaryDirectory(prefix="ray-") as scratch:
        common = ["--num-cpus=1", "--object-store-memory=100000000", "--disable-usage-stats", "--block"]
        head = [
            "--head",
            f"--port={PORT[1:]}",
            "--include-dashboard=false",
            f"--temp-dir={scratch}",
        ]
        with contextlib.ExitStack() as stack:
            for own in (head, [f"--address={ADDRESS}"]):
                node = subprocess.Popen(
                    [RAY, "start", *own, *common],
                    env={**environment(), "RAY_ADDRESS": ""},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                stack.callback(node.wait, 60)
                stack.callback(node.terminate)
                wait_for_nodes(1 + ("--head" not in own), node)
            yield


def wait_for_nodes(n: int, node: subprocess.Popen[bytes]) -> None:
    """Until the cluster has so many nodes."""
    asked = "import ray; ray.init(logging_level='error'); print(sum(node['Alive'] for node in ray.nodes()))"
    deadline = time.monotonic() + START_S
    while True:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", asked],
            env=environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.stdout.strip() == str(n):
            return
        assert node.poll() is None, "the node ended"
        assert time.monotonic() < deadline, done.stderr[-1000:]
        time.sleep(1)


def write_shards(folder: Path, lines: list[str], n_shards: int, n_rows: int) -> list[str]:
    """Every other shard is Parquet; names of all."""
    assert len(lines) >= n_shards * n_rows, (
        f"{n_shards * n_rows} different lines are needed, not {len(lines)}"
    )
    folder.mkdir()
    names = []
    for index in range(n_shards):
        own = lines[index * n_rows : (index + 1) * n_rows]
        names.append(f"{index:04}.{'parquet' if index % 2 else 'txt'}")
        if index % 2:
            parquet.write_table(pa.table({"id": range(n_rows), "text": own}), folder / names[-1])
        else:
            (folder / names[-1]).write_text("".join(f"{line}\n" for line in own), encoding="utf-8")
    return names


def killed_and_resumed(run: list[str], target: Path) -> dict[str, Any]:
    """Kill a worker, then the run, then go on; what was done when."""
    process = subprocess.Popen(run, env=environment())
    wait_for(target, 1, process)
    worker = workers()[0]
    os.kill(worker, signal.SIGKILL)
    at_worker = done(target)
    wait_for(target, at_worker + 2, process)
    process.kill()
    process.wait()
    at_run = done(target)
    deadline = time.monotonic() + 60
    while workers():  # Ray ends the workers of a run that is gone
        assert time.monotonic() < deadline, "workers outlived their run"
        time.sleep(0.2)
    at_end = done(target)
    again = subprocess.run(run, check=True, env=environment(), stderr=subprocess.PIPE, text=True)
    assert not (target / "_aside").exists()
    return {
        "done_when_a_worker_was_killed": at_worker,
        "done_when_the_run_was_killed": at_run,
        "done_when_it_was_resumed": at_end,
        "translated_after_that": again.stderr.count(" shards: "),
    }


def done(target: Path) -> int:
    """Shards that have an entry."""
    return len(list((target / "_done").glob("*.json"))) if (target / "_done").exists() else 0


def wait_for(target: Path, n: int, process: subprocess.Popen[bytes]) -> None:
    """Until ``n`` shards are done."""
    deadline = time.monotonic() + START_S
    while done(target) < n:
        assert process.poll() is None, "the run ended"
        assert time.monotonic() < deadline
        time.sleep(0.05)


def workers() -> list[int]:
    """Processes that translate on this cluster's nodes."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                title = (folder / "cmdline").read_bytes()
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
                node = Path("/proc", parent, "cmdline").read_bytes()
                if title.startswith(b"ray::") and b"_Worker" in title and PORT.encode() in node:
                    found.append(int(folder.name))
    return found


if __name__ == "__main__":
    main()

"""Nothing is lost in training, T1 to T8: faults on purpose, counted.

    python -m scripts.training_faults [--only T1 ...] [--out docs/reliability/training.json]
    python -m scripts.training_faults --tenth --out FILE       # to try it out

A tiny Transformer is trained on 60 pairs, in float32 with dropout, by processes that are forked from this one
and then killed, stopped, starved of disk or fed NaN. "Equal" is equality of the SHA-256 of weights and of the
optimizer's moments with those of a run that nothing happened to.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

import training.trainer
from nmt import cli
from nmt.model_folder.checkpoint import load_model_folder
from testbed.corpora import write_toy
from testbed.faults import dying_at, kill
from training.batching import BatchStream
from training.data.prepare import prepare_corpus
from training.distributed import World
from training.provenance import provenance
from training.recipe import load_recipe
from training.state import checkpoints, find_damage, newest_intact
from training.step import TrainingStep
from training.train import train
from training.trainer import Trainer

RECORD = Path("docs/reliability/training.json")
INTERVAL = 4
BASE = (
    "training.precision=fp32", "training.batch_tokens=200", "model.dropout=0.2",
    f"training.save_every={INTERVAL}",
    "training.validate_every=8", "training.log_every=1", "training.keep_checkpoints=3",
)  # fmt: skip
Child = Callable[[], None]


class Bench:
    """A recipe, a prepared corpus, and places for runs."""

    def __init__(self, folder: Path, *, tenth: bool = False) -> None:
        self.folder = folder
        self.tenth = tenth
        self.recipe = str(write_toy(folder / "corpus"))
        self.data = prepare_corpus(load_recipe(self.recipe, BASE), folder / "data")
        self.random = random.Random(1)

    def count(self, full: int) -> int:
        """So many, or a tenth of them."""
        return max(1, full // 10) if self.tenth else full

    def train(self, run: Path, updates: int, *overrides: str) -> None:
        """Begin or go on."""
        options = [*BASE, f"training.max_updates={updates}", *overrides]
        train(self.recipe, run, True, options, data=self.data)

    def straight(self, updates: int) -> str:
        """Digest of a run that nothing happens to."""
        run = self.folder / f"straight-{updates}"
        if not run.exists():
            assert forked(lambda: self.train(run, updates)) == 0
        return digest(run)

    def fresh(self, name: str) -> Path:
        """A run's folder that is not there yet."""
        run = self.folder / name
        shutil.rmtree(run, ignore_errors=True)
        return run


def start(child: Child, output: Path = Path(os.devnull)) -> int:
    """Fork; the child does its work and exits with the status the command line would give."""
    process = os.fork()
    if process:
        return process
    with output.open("a") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    status = 70
    try:
        child()
        status = 0
    except SystemExit as error:
        status = int(error.code or 0)
    except BaseException as error:  # the child ends here, whatever it was
        print(repr(error), file=sys.stderr)
    os._exit(status)


def forked(child: Child, output: Path = Path(os.devnull)) -> int:
    """Exit status of a forked child; minus the signal's number if one ended it."""
    return ended(start(child, output))


def ended(process: int) -> int:
    """Wait for a child."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def digest(run: Path) -> str:
    """SHA-256 over weights and moments of the newest checkpoint."""
    path, problems = newest_intact(run / "checkpoints")
    assert path is not None
    assert not problems
    both = (path / name for name in ("weights.safetensors", "optimizer.safetensors"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in both)).hexdigest()


def signalled(child: Child, number: int, updates: int, delay_s: float) -> tuple[int, float]:
    """Send a signal ``delay_s`` after a child's ``updates``-th update; its status, and how long it took."""
    reading, writing = os.pipe()

    def reporting() -> None:
        original = TrainingStep.apply

        def apply(self: TrainingStep, sums: Any) -> Any:  # noqa: ANN401 - as it is
            report = original(self, sums)
            os.write(writing, b".")
            return report

        TrainingStep.apply = apply  # type: ignore[method-assign]
        child()

    process = start(reporting)
    os.close(writing)
    for _ in range(updates):
        if not os.read(reading, 1):
            break
    time.sleep(delay_s)
    began_s = time.monotonic()
    os.kill(process, number)
    status = ended(process)
    os.close(reading)
    return status, time.monotonic() - began_s


def t1(bench: Bench) -> dict[str, Any]:
    """50 SIGKILLs, 15 of them inside a save."""
    updates, kills, inside = bench.count(200), bench.count(50), bench.count(15)
    run, done, in_save = bench.fresh("t1"), 0, 0
    kinds = [True] * inside + [False] * (kills - inside)
    bench.random.shuffle(kinds)
    for in_a_save in kinds:
        if in_a_save:
            point = bench.random.randint(1, 14)

            def child(point: int = point) -> None:
                with dying_at(point, kill):
                    bench.train(run, updates)

            status = forked(child)
            in_save += status == -signal.SIGKILL
        else:
            after, delay_s = bench.random.randint(1, 2 * INTERVAL), bench.random.uniform(0, 0.03)
            status, _ = signalled(lambda: bench.train(run, updates), signal.SIGKILL, after, delay_s)
        done += status == -signal.SIGKILL
    reached = checkpoints(run / "checkpoints")[-1].name
    assert forked(lambda: bench.train(run, updates)) == 0
    equal = digest(run) == bench.straight(updates)
    return {
        "kills": done, "inside_a_save": in_save, "updates": updates,
        "last_checkpoint_before_the_end": reached,
        "equal": equal, "kept": equal and done == kills and in_save == inside,
    }  # fmt: skip


def t2(bench: Bench) -> dict[str, Any]:
    """A SIGKILL at each operation of the protocols that save and publish."""
    updates, points, lost, equal, models = 12, 0, 0, 0, 0
    step = 10 if bench.tenth else 1
    while True:
        run = bench.fresh("t2")

        def child(point: int = 1 + step * points, run: Path = run) -> None:
            with dying_at(point, kill):
                bench.train(run, updates)

        log: list[int] = []
        if forked(child) == 0:
            break
        points += 1
        path, _ = newest_intact(run / "checkpoints") if (run / "checkpoints").exists() else (None, [])
        if (run / "log.jsonl").exists():
            log = [json.loads(line)["update"] for line in (run / "log.jsonl").read_text().splitlines()]
        lost = max(lost, max(log, default=0) - (int(path.name[-8:]) if path else 0))
        assert forked(lambda run=run: bench.train(run, updates)) == 0  # type: ignore[misc]
        equal += digest(run) == bench.straight(updates)
        load_model_folder(run / "model")
        models += 1
    return {
        "points": points, "equal": equal, "models_that_load": models, "most_updates_lost": lost,
        "interval": INTERVAL, "kept": step * points > 30 and equal == models == points and lost <= INTERVAL,
    }  # fmt: skip


def t3(bench: Bench) -> dict[str, Any]:
    """A disk that fills up, at 12 different places of what is written."""
    updates, place = 24, bench.fresh("t3")
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)], check=False)
    if mounted.returncode:
        return {"kept": False, "why": "a small file system cannot be mounted here: run as root"}
    codes, verified, equal, room = [], 0, 0, range(2_000, 200_000, 17_000)
    if bench.tenth:
        room = range(20_000, 60_000, 20_000)
    try:
        for left in room:
            run, filler = place / "run", place / "filler"
            shutil.rmtree(run, ignore_errors=True)
            filler.unlink(missing_ok=True)
            assert forked(lambda run=run: bench.train(run, 2 * INTERVAL)) == 0  # type: ignore[misc]
            with filler.open("wb") as file:
                file.write(bytes(max(0, shutil.disk_usage(place).free - left)))
            before = checkpoints(run / "checkpoints")[-2:]

            def child(run: Path = run) -> None:
                options = [f"--set={option}" for option in (*BASE, f"training.max_updates={updates}")]
                arguments = ["train", bench.recipe, "--run", str(run), "--resume", "--data", str(bench.data)]
                cli.main([*arguments, *options])

            codes.append(forked(child))
            verified += len(before) == 2 and all(find_damage(path) is None for path in newest_two(run))
            filler.unlink()
            assert forked(lambda run=run: bench.train(run, updates)) == 0  # type: ignore[misc]
            equal += digest(run) == bench.straight(updates)
    finally:
        subprocess.run(["umount", str(place)], check=True)
    return {
        "disks": len(room), "exit_codes": sorted(set(codes)), "two_checkpoints_verify": verified,
        "equal": equal,
        "kept": set(codes) == {3} and verified == equal == len(room),
    }  # fmt: skip


def newest_two(run: Path) -> list[Path]:
    """The checkpoints to fall back to."""
    return checkpoints(run / "checkpoints")[-2:]


def t4(bench: Bench) -> dict[str, Any]:
    """20 flipped bits and 20 truncations of each file of a checkpoint."""
    updates, run = 12, bench.fresh("t4")
    assert forked(lambda: bench.train(run, updates)) == 0
    newest, before = checkpoints(run / "checkpoints")[-1], checkpoints(run / "checkpoints")[-2]
    detected = fallen_back = tried = equal = 0
    for file in sorted(newest.iterdir()):
        content = file.read_bytes()
        for kind in ("flip", "truncate"):
            for _ in range(bench.count(20)):
                broken = bytearray(content)
                position = bench.random.randrange(len(content))
                if kind == "flip":
                    broken[position] ^= 1 << bench.random.randrange(8)
                else:
                    del broken[position:]
                file.write_bytes(broken)
                tried += 1
                detected += find_damage(newest) is not None
                fallen_back += newest_intact(run / "checkpoints")[0] == before
        resumed = bench.fresh("t4-resumed")
        shutil.copytree(run, resumed)
        assert forked(lambda resumed=resumed: bench.train(resumed, updates)) == 0  # type: ignore[misc]
        equal += digest(resumed) == bench.straight(updates)
        file.write_bytes(content)
    files = len(list(newest.iterdir()))
    return {
        "files": files, "damages": tried, "detected": detected, "fell_back": fallen_back,
        "resumed_equal": equal,
        "kept": detected == fallen_back == tried and equal == files,
    }  # fmt: skip


def t5(bench: Bench) -> dict[str, Any]:
    """20 SIGTERMs at random moments."""
    updates, count, run = bench.count(150), bench.count(20), bench.fresh("t5")
    slowest_s, clean, verified = 0.0, 0, 0
    for _ in range(count):
        after, delay_s = bench.random.randint(1, 6), bench.random.uniform(0, 0.05)
        status, took_s = signalled(lambda: bench.train(run, updates), signal.SIGTERM, after, delay_s)
        slowest_s, clean = max(slowest_s, took_s), clean + (status == 0)
        verified += find_damage(checkpoints(run / "checkpoints")[-1]) is None
    assert forked(lambda: bench.train(run, updates)) == 0
    equal = digest(run) == bench.straight(updates)
    return {
        "signals": count, "exit_0": clean, "verified": verified, "slowest_s": round(slowest_s, 2),
        "equal": equal,
        "kept": clean == verified == count and equal and slowest_s <= 10,
    }  # fmt: skip


def t6(bench: Bench) -> dict[str, Any]:
    """One epoch by one process, then two, then one."""
    recipe = load_recipe(bench.recipe, BASE)
    run, seen = bench.fresh("t6"), bench.fresh("t6-seen")
    seen.mkdir()
    trainer_epoch = len(_stream(bench)._batches)
    third = trainer_epoch // 3
    for size, updates in ((1, third), (2, 2 * third), (1, trainer_epoch)):
        under_torchrun(bench, run, size, updates, {"SEEN": str(seen)})
    rows = [line for file in seen.iterdir() for line in file.read_text().splitlines()]
    stream = _stream(bench)
    expected = [row for _ in range(trainer_epoch) for row in _rows(stream.next())]
    return {
        "pairs": len(expected), "updates": trainer_epoch, "seen": len(rows),
        "kept": sorted(rows) == sorted(expected) and recipe.training.accumulate == 1,
    }  # fmt: skip


def t7(bench: Bench) -> dict[str, Any]:
    """Under torchrun, two workers of which one is killed, at five different updates."""
    updates, equal, kills = 16, 0, (2, 5, 8, 11, 15)[: bench.count(50)]
    straight = bench.fresh("t7-straight")
    under_torchrun(bench, straight, 2, updates, {})
    for update in kills:
        run = bench.fresh("t7")
        under_torchrun(bench, run, 2, updates, {"KILL_AT": str(update)})
        equal += digest(run) == digest(straight)
    return {"kills": len(kills), "equal": equal, "kept": equal == len(kills)}


def t8(bench: Bench) -> dict[str, Any]:
    """NaN in the weights before each of 16 updates; and a second trainer in the same folder."""
    updates, statuses, finite = 16, [], 0
    places = range(1, updates + 1, 8 if bench.tenth else 1)
    for poisoned in places:
        run = bench.fresh("t8")

        def child(run: Path = run, poisoned: int = poisoned) -> None:
            original = Trainer._update

            def update(self: Trainer) -> None:
                if self.state.update + 1 == poisoned:
                    with torch.no_grad():
                        next(self.model.parameters()).view(-1)[7] = float("nan")
                original(self)

            Trainer._update = update  # type: ignore[method-assign]
            arguments = ["train", bench.recipe, "--run", str(run), "--data", str(bench.data)]
            options = (*BASE, f"training.max_updates={updates}", "training.log_every=5")
            cli.main([*arguments, *(f"--set={option}" for option in options)])

        statuses.append(forked(child))
        files = [*run.glob("checkpoints/update-*/*.safetensors"), *run.glob("model/*.safetensors")]
        finite += all(tensor.isfinite().all() for file in files for tensor in load_file(file).values())
    run = bench.fresh("t8-two")
    first = start(lambda: bench.train(run, 10**6))
    while not (run / "log.jsonl").exists() or not (run / "log.jsonl").read_text():
        time.sleep(0.05)
    second = forked(lambda: cli.main(["train", bench.recipe, "--run", str(run), "--resume"]))
    os.kill(first, signal.SIGTERM)
    return {
        "runs": len(places), "exit_1": statuses.count(1), "finite": finite, "second_trainer_exits": second,
        "first_goes_on_and_ends": ended(first),
        "kept": statuses.count(1) == finite == len(places) and second == 1,
    }  # fmt: skip


def under_torchrun(bench: Bench, run: Path, size: int, updates: int, environment: dict[str, str]) -> None:
    """Train with so many processes; one that dies is started again, up to three times."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--max-restarts", "3"]
    options = [*BASE, f"training.max_updates={updates}"]
    subprocess.run(
        [*command, "--nproc-per-node", str(size), "-m", "scripts.training_faults", "--worker",
         json.dumps([bench.recipe, str(run), str(bench.data), options])],
        check=True, env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def worker(arguments: str) -> None:
    """One process under torchrun: it notes which rows it has seen, or dies once."""
    recipe, run, data, options = json.loads(arguments)
    if "SEEN" in os.environ:
        part = World.part

        def noting(self: World, batch: Any) -> Any:  # noqa: ANN401 - as it is
            mine = part(self, batch)
            with (Path(os.environ["SEEN"]) / str(self.rank)).open("a") as file:
                file.writelines(f"{row}\n" for row in _rows(mine))
            return mine

        World.part = noting  # type: ignore[method-assign]
    if (
        "KILL_AT" in os.environ
        and os.environ["RANK"] == "1"
        and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
    ):
        apply, updates = TrainingStep.apply, iter(range(1, 10**6))

        def dying(self: TrainingStep, sums: Any) -> Any:  # noqa: ANN401 - as it is
            if next(updates) == int(os.environ["KILL_AT"]):
                kill()
            return apply(self, sums)

        TrainingStep.apply = dying  # type: ignore[method-assign]
    train(recipe, Path(run), True, options, data=Path(data))


def _stream(bench: Bench) -> BatchStream:
    from nmt.tokenizer import Tokenizer  # noqa: PLC0415
    from training.data.shards import PreparedCorpus  # noqa: PLC0415

    corpus, recipe = PreparedCorpus.open(bench.data), load_recipe(bench.recipe, BASE)
    return BatchStream(
        corpus.split("train"),
        Tokenizer.load(corpus.tokenizer_file),
        batch_tokens=recipe.training.batch_tokens,
        seed=recipe.training.seed,
        subword_sampling=0.0,
    )


def _rows(batch: Any) -> list[str]:  # noqa: ANN401 - a Batch with its target
    pairs = zip(batch.source_BS, batch.source_mask_BS, batch.target_out_BT, batch.target_mask_BT, strict=True)
    return [
        json.dumps([source[real].tolist(), target[counted].tolist()])
        for source, real, target, counted in pairs
        if counted.any()
    ]


TESTS: dict[str, Callable[[Bench], dict[str, Any]]] = {
    "T1": t1, "T2": t2, "T3": t3, "T4": t4, "T5": t5, "T6": t6, "T7": t7, "T8": t8,
}  # fmt: skip


def main() -> int:
    """Run the tests and write the record after each; exit status 1 when a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", choices=TESTS, action="append")
    parser.add_argument("--out", type=Path, default=RECORD)
    parser.add_argument("--tenth", action="store_true", help="a tenth of the counts")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        worker(arguments.worker)
        return 0
    torch.set_num_threads(1)
    training.trainer.operations_per_second = lambda *_: 1.0  # speed is no matter here
    record = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(Path(__file__).resolve().parent.parent):
        bench = Bench(Path(folder), tenth=arguments.tenth)
        for name in arguments.only or TESTS:
            began_s = time.monotonic()
            result = TESTS[name](bench)
            what = " ".join((TESTS[name].__doc__ or "").split())
            record[name] = {"what": what, **result, "seconds": round(time.monotonic() - began_s, 1)}
            print(name, json.dumps(record[name]), file=sys.stderr, flush=True)
            record = {name: record[name] for name in TESTS if name in record}
            arguments.out.parent.mkdir(parents=True, exist_ok=True)
            arguments.out.write_text(
                json.dumps({**record, **provenance()}, indent=2) + "\n", encoding="utf-8"
            )
    return 0 if all(result["kept"] for result in record.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

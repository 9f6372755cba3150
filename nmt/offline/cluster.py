"""``nmt translate-corpus IN OUT``: shards of a folder, translated by the workers of a Ray cluster.

Ray Data (Moritz et al. 2018, "Ray"; https://docs.ray.io/en/latest/data/data.html) places one long-lived
worker with a model of its own on each slot, gives every worker the next shard, and asks again where a worker
or its machine dies. Results go through the shared file system alone (``nmt.offline.ledger``), so a run that
is killed as a whole goes on where it was: the same command again.

Without ``RAY_ADDRESS`` a cluster of this machine alone is started, and ended with the run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ray
import ray.data

from nmt import __version__
from nmt.config import GenerationConfig, parse
from nmt.errors import DataError, PasserelleError
from nmt.model_folder.checkpoint import MANIFEST, resolve_model
from nmt.model_folder.files import sha256
from nmt.offline.formats import translate_file
from nmt.offline.ledger import Entry, Ledger
from nmt.options import TranslationOptions
from nmt.translator import Translator

OBJECT_STORE_BYTES = 100_000_000  # only names and counts pass through it


def translate_folder(
    source: Path,
    target: Path,
    *,
    model: str | None = None,
    device: str = "auto",
    column: str = "text",
    beam: int | None = None,
    workers: int | None = None,
) -> Path:
    """Translate every shard of ``source`` into ``target``, going on where an earlier run stopped.

    Args:
        source: folder of NAME.txt or NAME.parquet, on a file system that all machines see under this path.
        target: another such folder.
        model: folder, name, or None; the same on every machine.
        device: of each worker: "cpu" (one core each), or "cuda" (one GPU each); "auto" takes GPUs where the
            cluster has any.
        column: of the texts in Parquet.
        beam: beam size; None takes the model folder's.
        workers: how many; None: as many as the cluster has cores, or GPUs.

    Returns:
        The manifest: every shard with rows and SHA-256.

    Raises:
        ConfigError: ``target`` belongs to another job, or a shard has no such column.
        DataError: a shard cannot be read; the others are done.
        ModelFolderError: there is no such model.
    """
    folder = resolve_model(model)
    job = {
        "model": folder.name,
        "model_sha256": sha256(folder / MANIFEST),
        "beam": beam,
        "column": column,
        "passerelle": __version__,
    }
    ledger = Ledger(source.absolute(), target.absolute())
    failures: list[str] = []
    with ledger.begin(job) as names:
        if names:
            for done, result in enumerate(
                _results(ledger, names, model, device, column, beam, workers), start=1
            ):
                shown = result["shard"] if result["error"] is None else f"{result['shard']}: not done"
                _report(f"{done} of {len(names)} shards: {shown}")
                if result["error"] is not None:
                    failures.append(result["error"])
        if failures:
            raise DataError(
                f"{len(failures)} of {len(names)} shards could not be translated, the first: {failures[0]}"
            )
        return ledger.finish(job)


def _results(
    ledger: Ledger,
    names: list[str],
    model: str | None,
    device: str,
    column: str,
    beam: int | None,
    workers: int | None,
) -> Iterator[dict[str, Any]]:
    """Result of each shard, as they end."""
    local = (
        {}
        if os.environ.get("RAY_ADDRESS")
        else {"num_cpus": workers, "object_store_memory": OBJECT_STORE_BYTES}
    )
    started = not ray.is_initialized()
    if started:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="error", **local)
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        resources = ray.cluster_resources()
        if device == "auto":
            device = "cuda" if resources.get("GPU") else "cpu"
        gpus = 1 if device.startswith("cuda") else 0
        slots = int(resources.get("GPU" if gpus else "CPU", 1))
        dataset = ray.data.from_items(
            [{"shard": name} for name in names], override_num_blocks=len(names)
        ).map_batches(
            _Worker,
            fn_constructor_args=(ledger.source, ledger.target, model, device, column, beam),
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(size=min(workers or slots, len(names))),
            num_cpus=1,
            num_gpus=gpus,
        )
        yield from dataset.iter_rows()
    finally:
        if started:
            ray.shutdown()


class _Worker:
    """A translator on one core or GPU; Ray makes it, keeps it, and calls it with one shard at a time."""

    def __init__(
        self, source: Path, target: Path, model: str | None, device: str, column: str, beam: int | None
    ) -> None:
        self._ledger = Ledger(source, target)
        self._column = column
        self._translator = Translator.load(model, device=device)
        values = self._translator.generation.model_dump()
        values["beam_size"] = values["beam_size"] if beam is None else beam
        self._options = parse(GenerationConfig, values, where="options")

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        results = [self._translate(str(name)) for name in batch["shard"]]
        return {"shard": [name for name, _ in results], "error": [error for _, error in results]}

    def _translate(self, name: str) -> tuple[str, str | None]:
        """A shard's name, and what is wrong with it; what cannot be read stops none of the others."""
        try:
            translate_shard(self._ledger, name, self._column, self._translator, self._options)
        except PasserelleError as error:
            return name, str(error)
        return name, None


def translate_shard(
    ledger: Ledger, name: str, column: str, translator: Translator, options: GenerationConfig
) -> Entry:
    """Translate one shard, and enter it as done; does nothing if it is."""
    if (entry := ledger.entry(name)) is not None:
        return entry
    cpu, wall = time.process_time(), time.monotonic()
    written = ledger.aside(name)
    rows = translate_file(
        ledger.source / name,
        written,
        column,
        lambda texts: translator.translate(texts, TranslationOptions(confidence=False, generation=options)),
    )
    return ledger.commit(
        name, written, rows=rows, cpu_s=time.process_time() - cpu, wall_s=time.monotonic() - wall
    )


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

"""The first step of preparation: what cleaning leaves of each corpus, as parts of some thousand pairs.

A part holds the texts and the fingerprints of the pairs that passed; its record counts and shows those that
did not. Which of those that passed are duplicates is found when all corpora are through.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from training.data.atomic_folder import AtomicFolder, file_of, write_part, write_whole
from training.data.clean import Cleaner, Pair
from training.data.duplicates import Keys, first_occurrences
from training.data.samples import Samples, smallest
from training.data.workers import Workers
from training.recipe import CleaningConfig, DataConfig, Source

PAIRS_IN_PART = 10_000
SIDES = ("source", "target")
SAY_EVERY_S = 10.0
AGAIN = "duplicate"

Item = TypeVar("Item")


@dataclass(frozen=True)
class CleanJob:
    """One part to clean."""

    stem: Path
    pairs: list[Pair]
    config: CleaningConfig
    languages: tuple[str, str]
    held_out: Path
    """File of fingerprints, named after its contents."""


class CleanedCorpus:
    """Pairs left of one corpus; which of its pairs are the first of their kind is told later.

    ``first`` and ``times`` are arrays over the pairs that passed: not seen before; how often to be written.
    """

    def __init__(self, folder: AtomicFolder, n_parts: int) -> None:
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self.samples = Samples()
        sizes = []
        for number in range(n_parts):
            record = folder.record(number)
            self.counts.update(record["counts"])
            self.samples.merge(Samples(record["samples"]))
            sizes.append(record["pairs"])
        self.ends = np.cumsum([0, *sizes])
        self.first: npt.NDArray[np.bool_] = np.ones(len(self), dtype=np.bool_)
        self.times: npt.NDArray[np.uint8] = np.ones(len(self), dtype=np.uint8)

    def __len__(self) -> int:
        return int(self.ends[-1])

    def parts(self) -> range:
        """Numbers of the parts."""
        return range(len(self.ends) - 1)

    def slice(self, part: int) -> slice:
        """Where the pairs of a part are among all."""
        return slice(int(self.ends[part]), int(self.ends[part + 1]))

    def fingerprints(self) -> Iterator[Keys]:
        """The fingerprints, part by part."""
        for part in self.parts():
            yield np.fromfile(file_of(self.folder.stem(part), "keys"), dtype="<u8")

    def digest(self) -> str:
        """Checksum of the fingerprints of the pairs that are to be written, and of how often."""
        checksum = hashlib.sha256(self.times.tobytes())
        for keys in self.fingerprints():
            checksum.update(keys.tobytes())
        return checksum.hexdigest()

    def pairs(self) -> Iterator[Pair]:
        """Every pair that is to be written, as often as it is."""
        for part in self.parts():
            for pair, times in zip(
                read_part(self.folder.stem(part)), self.times[self.slice(part)], strict=True
            ):
                for _ in range(times):
                    yield pair

    def forget(self, first: npt.NDArray[np.bool_]) -> None:
        """Take notice of which pairs are the first of their kind; count and show the others."""
        self.first = first
        again = len(first) - int(first.sum())
        if again:
            self.counts[AGAIN] = again
        for part, keys in zip(self.parts(), self.fingerprints(), strict=True):
            (positions,) = np.nonzero(~first[self.slice(part)])
            few = [int(positions[index]) for index in smallest(keys[positions].tolist())]
            if few and self.samples.wants(AGAIN, int(keys[few[0]])):
                pairs = list(read_part(self.folder.stem(part)))
                for position in few:
                    self.samples.add(AGAIN, int(keys[position]), pairs[position])


def clean_corpus(
    read: Callable[[], Iterable[Pair]],
    folder: AtomicFolder,
    data: DataConfig,
    held_out: Path,
    workers: Workers,
    name: str,
) -> CleanedCorpus:
    """Clean the pairs that ``read`` gives into ``folder``, except for the parts that are there.

    Raises:
        DataError: the corpus is broken.
        DiskFullError: there is no room.
    """
    n_parts = folder.n_parts()
    if n_parts is not None:
        return CleanedCorpus(folder, n_parts)
    n_parts = 0

    def jobs() -> Iterator[CleanJob]:
        nonlocal n_parts
        languages = (data.source_language, data.target_language)
        for number, part in enumerate(batches(read(), PAIRS_IN_PART)):
            n_parts = number + 1
            if not folder.has(number):
                yield CleanJob(folder.stem(number), part, data.cleaning, languages, held_out)

    said_s = time.monotonic()
    for n_done, _ in enumerate(workers.map(clean_part, jobs()), start=1):
        if time.monotonic() - said_s > SAY_EVERY_S:
            said_s = time.monotonic()
            print(f"cleaning {name}: {n_done * PAIRS_IN_PART:,} pairs", file=sys.stderr, flush=True)
    folder.finish(n_parts)
    return CleanedCorpus(folder, n_parts)


def clean_part(job: CleanJob) -> None:
    """Clean one part and write it: runs in a process of its own."""
    cleaner = Cleaner(job.config, job.languages, _held_out(job.held_out))
    kept = list(cleaner.clean(job.pairs))
    files = {name: as_lines(one.pair[side] for one in kept) for side, name in enumerate(SIDES)}
    files["keys"] = np.array([one.key for one in kept], dtype="<u8").tobytes()
    record = {"pairs": len(kept), "counts": cleaner.counts, "samples": cleaner.samples.record()}
    write_part(job.stem, files, record)


def drop_duplicates(corpora: Sequence[CleanedCorpus]) -> None:
    """Tell each corpus which of its pairs stand in none before it, nor before in itself."""
    first = first_occurrences(
        lambda: (keys for corpus in corpora for keys in corpus.fingerprints()), sum(map(len, corpora))
    )
    start = 0
    for corpus in corpora:
        corpus.forget(first[start : start + len(corpus)])
        start += len(corpus)


def write_held_out(folder: Path, keys: set[int]) -> Path:
    """Keep the fingerprints of what must not be trained on in a file that is named after them."""
    content = np.array(sorted(keys), dtype="<u8").tobytes()
    path = folder / f"held-out.{hashlib.sha256(content).hexdigest()[:16]}"
    write_whole(path, content)
    return path


def cleaning_key(
    description: dict[str, Any], source: Source, data: DataConfig, held_out: Path
) -> dict[str, Any]:
    """Key of the parts of a corpus."""
    return {
        "version": 1,
        "pairs_in_part": PAIRS_IN_PART,
        "corpus": description,
        "fields": source.model_dump(include={"source_field", "target_field", "header"}),
        "cleaning": data.cleaning.model_dump(exclude={"max_tokens", "drop_duplicates"}),
        "languages": [data.source_language, data.target_language],
        "held_out": held_out.name,
    }


def read_part(stem: Path) -> Iterator[Pair]:
    """The pairs of a part."""
    sides = (file_of(stem, name).read_bytes().decode().split("\n")[:-1] for name in SIDES)
    yield from zip(*sides, strict=True)


def as_lines(texts: Iterable[str]) -> bytes:
    """A line for each text."""
    return "".join(f"{text}\n" for text in texts).encode()


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of ``size`` items, the last of what is left."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


@cache
def _held_out(path: Path) -> frozenset[int]:
    """Read once by each process."""
    return frozenset(np.fromfile(path, dtype="<u8").tolist())

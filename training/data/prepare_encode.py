"""The last step of preparation: the pairs that were chosen, disturbed if the recipe says so, as token ids.

Every part that cleaning left becomes one encoded part; put end to end they are the shards. Noise may join a
pair with the two that follow it, so the first pairs of the next part are read too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from training.data.atomic_folder import AtomicFolder, write_part
from training.data.clean import Pair, fingerprint
from training.data.prepare_clean import SIDES, CleanedCorpus, as_lines, batches, read_part
from training.data.samples import Samples
from training.data.shards import token_dtype
from training.data.tokenizers import Tokenizers
from training.data.workers import Workers
from training.noise.augment import MAX_JOINED, Noiser
from training.recipe import DataConfig, NoiseConfig

PAIRS_AT_ONCE = 4096
"""Pairs encoded together."""
TOO_LONG = "too_many_tokens"

Chosen = tuple[int, Pair, int]
"""Number of a pair among those of its corpus that are no duplicates, the pair, how often it is written."""


@dataclass(frozen=True)
class Place:
    """A cleaned part: where it lies, what is written of it, and what of the corpus comes before."""

    stem: Path
    first: npt.NDArray[np.bool_]
    times: npt.NDArray[np.uint8]
    n_before: int

    def chosen(self) -> Iterator[Chosen]:
        """The pairs that are written."""
        number = self.n_before
        for pair, first, times in zip(read_part(self.stem), self.first, self.times, strict=True):
            if times:
                yield number, pair, int(times)
            number += int(first)


@dataclass(frozen=True)
class EncodeJob:
    """One part to encode."""

    stem: Path
    place: Place
    following: tuple[Place, ...]
    tokenizers: Path
    """A folder with sub-words that do not change under this path while we run."""
    max_tokens: int
    noise: NoiseConfig | None
    seed: int
    name: str


class EncodedCorpus:
    """The encoded parts of one corpus, and what was counted and disturbed in them."""

    def __init__(self, cleaned: CleanedCorpus, data: DataConfig, name: str) -> None:
        self.cleaned = cleaned
        self.counts = Counter(cleaned.counts)
        self.samples = cleaned.samples
        self.noiser = Noiser(data.noise, data.seed, name) if data.noise else None
        self.n_words = [0, 0]
        self.stems: list[Path] = []

    @property
    def n_pairs(self) -> int:
        """Pairs that the parts so far were made from."""
        return self.counts["written"] + self.counts[TOO_LONG]

    def add(self, folder: AtomicFolder, number: int) -> None:
        """Take notice of the next part."""
        record = folder.record(number)
        self.stems.append(folder.stem(number))
        self.counts.update(record["counts"])
        self.samples.merge(Samples(record["samples"]))
        self.n_words = [known + more for known, more in zip(self.n_words, record["words"], strict=True)]
        if self.noiser is not None:
            self.noiser.merge(record["noise"]["counts"], record["noise"]["samples"])


def encode_corpus(
    cleaned: CleanedCorpus,
    folder: AtomicFolder,
    data: DataConfig,
    tokenizers: Path,
    name: str,
    workers: Workers,
) -> Iterator[EncodedCorpus]:
    """Encode ``cleaned`` into ``folder``; yields the corpus after each part, as far as it is done."""
    corpus = EncodedCorpus(cleaned, data, name)
    places = _places(cleaned)

    def jobs() -> Iterator[EncodeJob]:
        for part, place in enumerate(places):
            if not folder.has(part):
                yield EncodeJob(
                    folder.stem(part),
                    place,
                    _enough(places[part + 1 :]) if data.noise else (),
                    tokenizers,
                    data.cleaning.max_tokens,
                    data.noise,
                    data.seed,
                    name,
                )

    for stem in workers.map(encode_part, jobs()):
        while folder.stem(len(corpus.stems)) <= stem:
            corpus.add(folder, len(corpus.stems))
        yield corpus
    for part in range(len(corpus.stems), len(places)):
        corpus.add(folder, part)
    yield corpus


def encode_part(job: EncodeJob) -> Path:
    """Encode one part and write it: runs in a process of its own."""
    tokenizers = _tokenizers(job.tokenizers)
    dtype = token_dtype(tokenizers.vocab_size)
    noiser = Noiser(job.noise, job.seed, job.name) if job.noise else None
    files = {f"{side}{end}": b"" for side in SIDES for end in ("", ".tokens", ".offsets", ".lines")}
    chunks: Mapping[str, list[bytes]] = {name: [] for name in files}
    counts: Counter[str] = Counter()
    samples = Samples()
    n_words = [0, 0]
    for batch in batches(_pairs(job, noiser), PAIRS_AT_ONCE):
        encoded = [
            tokenizer.encode_batch([pair[side] for pair in batch])
            for side, tokenizer in enumerate(tokenizers.sides)
        ]
        lengths = [max(map(len, both)) for both in zip(*encoded, strict=True)]
        fit = [index for index, length in enumerate(lengths) if length <= job.max_tokens]
        for index in set(range(len(batch))) - set(fit):
            samples.add(TOO_LONG, fingerprint("\n".join(batch[index])), batch[index])
        counts.update({"written": len(fit), TOO_LONG: len(batch) - len(fit)})
        for side, name in enumerate(SIDES):
            texts, ids = [batch[index][side] for index in fit], [encoded[side][index] for index in fit]
            n_words[side] += sum(len(text.split()) for text in texts)
            flat = [id_ for sentence in ids for id_ in sentence]
            chunks[name].append(as_lines(texts))
            chunks[f"{name}.tokens"].append(np.array(flat, dtype=dtype).tobytes())
            chunks[f"{name}.offsets"].append(_sizes(map(len, ids)))
            chunks[f"{name}.lines"].append(_sizes(len(text.encode()) + 1 for text in texts))
    record: dict[str, Any] = {"counts": counts, "samples": samples.record(), "words": n_words}
    if noiser is not None:
        record["noise"] = {"counts": noiser.counts, "samples": noiser.samples}
    write_part(job.stem, {name: b"".join(content) for name, content in chunks.items()}, record)
    return job.stem


def encoding_key(
    cleaned: CleanedCorpus, data: DataConfig, tokenizer_sha256: str, name: str
) -> dict[str, Any]:
    """Key of the encoded parts of a corpus."""
    return {
        "version": 1,
        "chosen": cleaned.digest(),
        "tokenizer": tokenizer_sha256,
        "max_tokens": data.cleaning.max_tokens,
        "noise": data.noise.model_dump() if data.noise else None,
        "seed": data.seed,
        "name": name,
    }


def _pairs(job: EncodeJob, noiser: Noiser | None) -> Iterator[Pair]:
    """The part's pairs, each as often as it is written, each copy with noise of its own."""
    if noiser is None:
        for _, pair, times in job.place.chosen():
            yield from repeat(pair, times)
        return
    ahead = (entry for place in job.following for entry in place.chosen())
    yield from noiser.stream(job.place.chosen(), list(islice(ahead, MAX_JOINED - 1)))


def _places(cleaned: CleanedCorpus) -> list[Place]:
    places = []
    n_before = 0
    for part in cleaned.parts():
        here = cleaned.slice(part)
        first = cleaned.first[here]
        places.append(Place(cleaned.folder.stem(part), first, cleaned.times[here], n_before))
        n_before += int(first.sum())
    return places


def _enough(places: Sequence[Place]) -> tuple[Place, ...]:
    """As many of the places as it takes to join the last pair of the one before them."""
    n_chosen = 0
    for index, place in enumerate(places):
        n_chosen += int((place.times > 0).sum())
        if n_chosen >= MAX_JOINED - 1:
            return tuple(places[: index + 1])
    return tuple(places)


def _sizes(sizes: Iterable[int]) -> bytes:
    return np.fromiter(sizes, dtype="<i8").tobytes()


@cache
def _tokenizers(folder: Path) -> Tokenizers:
    """Read once by each process."""
    return Tokenizers.load(folder)

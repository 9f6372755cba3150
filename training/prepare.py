"""``nmt prepare``: corpora -> cleaned, tokenised shards and a report.

    1. read the dev and test sets; remember their source sentences
    2. read each training corpus; normalise, clean, keep what passes in temporary files
    3. choose among what passed: ``cap`` and ``weight`` of each source
    4. learn the sub-word vocabulary from that choice
    5. encode it, batch by batch and with noise if the recipe asks for it, into shards; then the dev set
    6. write the report and the manifest, and give the folder its name

Memory holds one batch, a fingerprint of each distinct training pair, and the dev and test sets. The same
recipe and corpora give the same bytes; a folder that is up to date is left alone.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice, repeat
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from nmt.errors import DataError
from nmt.tokenizer import Tokenizer
from training.clean import REASONS, Pair, clean, held_out_keys
from training.corpus import Corpus, open_corpora
from training.noise import Noiser
from training.prepare_report import describe_source, describe_split, describe_tokenizer
from training.progress import progress
from training.recipe import DataConfig, Recipe, load_recipe
from training.shards import (
    TESTS,
    TOKENIZER,
    PreparedCorpus,
    SideWriter,
    differences,
    read_manifest,
    token_dtype,
    write_manifest,
    write_report,
)
from training.subwords import train_subwords

PAIRS_AT_ONCE = 4096
"""Pairs encoded together."""


def prepare(recipe: str, out: Path | None, overrides: list[str]) -> Path:
    """The command: prepare the corpus of a recipe (a file or a name) in ``out`` or ``runs/NAME/data``."""
    loaded = load_recipe(recipe, overrides)
    return prepare_corpus(loaded, out or Path("runs") / loaded.name / "data")


def prepare_corpus(recipe: Recipe, folder: Path, tokenizer_file: Path | None = None) -> Path:
    """Write the prepared corpus of ``recipe`` to ``folder``, unless it is there already.

    Args:
        recipe: what to prepare.
        folder: where to.
        tokenizer_file: the SentencePiece model whose hash is ``recipe.tokenizer.given``; None learns one.

    Raises:
        DataError: a corpus is missing or broken, or ``folder`` holds something else.
    """
    corpora = {key: open_corpora(getattr(recipe.data, key), recipe.data) for key in ("train", "dev", "tests")}
    sources = {key: [corpus.describe() for corpus in corpora[key]] for key in corpora}
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        _require_up_to_date(folder, recipe, sources)
        _say(f"{folder}: already prepared")
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        report, vocab_size = _prepare_in(work, recipe, corpora, tokenizer_file)
        write_report(work, {"recipe": recipe.name, "recipe_hash": recipe.corpus_hash(), **report})
        write_manifest(work, recipe, sources, vocab_size)
        work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    _say(f"{folder}: {report['train']['pairs']:,} training pairs, {report['dev']['pairs']:,} for development")
    return folder


def _prepare_in(
    work: Path, recipe: Recipe, corpora: Mapping[str, list[Corpus]], tokenizer_file: Path | None
) -> tuple[dict[str, Any], int]:
    """Write all but report and manifest into ``work``; return the report and the vocabulary's size."""
    data = recipe.data
    languages = (data.source_language, data.target_language)
    dev_read = [_one_line(pair) for corpus in corpora["dev"] for pair in corpus.pairs()]
    dev = [pair for pair in dev_read if pair[0].strip() and pair[1].strip()]
    if not dev:
        raise DataError("no development pair: each needs text on both sides; see data.dev of the recipe")
    tests = {corpus.source.name: list(map(_one_line, corpus.pairs())) for corpus in corpora["tests"]}
    held_out = held_out_keys(source for source, _ in chain(dev, *tests.values()))

    seen: set[int] = set()
    kept = []
    for index, corpus in enumerate(corpora["train"]):
        _say(f"cleaning {corpus.source.name}")
        kept.append(_clean_corpus(corpus, work / f"cleaned.{index}", data, held_out, seen))
    n_pairs = _require_pairs(sum(int(part.repeats.sum()) for part in kept), kept)

    if tokenizer_file is None:
        _say(
            f"learning {recipe.tokenizer.vocab_size:,} {recipe.tokenizer.type} pieces from {n_pairs:,} pairs"
        )
        sentences = chain.from_iterable(chain.from_iterable(part.pairs() for part in kept))
        model = train_subwords(sentences, 2 * n_pairs, recipe.tokenizer)
    else:
        model = tokenizer_file.read_bytes()
    (work / TOKENIZER).write_bytes(model)
    tokenizer = Tokenizer(model)

    with (
        progress("encoding pairs", n_pairs) as advance,
        _PairWriter(work, "train", languages, tokenizer) as writer,
    ):
        for part in kept:
            for batch in _batches(part.disturbed()):
                written = writer.write(batch, max_tokens=data.cleaning.max_tokens)
                part.counts.update(written=written, too_many_tokens=len(batch) - written)
                advance(len(batch))
    _require_pairs(sum(part.counts["written"] for part in kept), kept)
    with _PairWriter(work, "dev", languages, tokenizer) as writer:
        writer.write(dev)
    _write_tests(work / TESTS, tests, languages)
    for part in kept:
        shutil.rmtree(part.folder)

    train_report = describe_split(work, "train", languages, model)
    train_report["sources"] = [describe_source(part.corpus, part.counts, part.noiser) for part in kept]
    dev_report = describe_split(work, "dev", languages, model)
    dev_report["dropped"] = {"empty": len(dev_read) - len(dev)}
    dev_report["sources"] = [corpus.describe() for corpus in corpora["dev"]]
    report = {
        "train": train_report,
        "dev": dev_report,
        "tests": [
            {**corpus.describe(), "pairs": len(tests[corpus.source.name])} for corpus in corpora["tests"]
        ],
        "not_found": _not_found(data, corpora),
        "tokenizer": describe_tokenizer(model, recipe.tokenizer),
    }
    return report, tokenizer.vocab_size


@dataclass(frozen=True)
class _Cleaned:
    """What cleaning left of one corpus, in files, and how often each pair of it is to be written."""

    corpus: Corpus
    folder: Path
    counts: Counter[str]
    repeats: npt.NDArray[np.uint8]
    noiser: Noiser | None

    def pairs(self) -> Iterator[Pair]:
        """The pairs chosen, each as often as ``repeats`` says."""
        for _, pair, times in self._chosen():
            yield from repeat(pair, times)

    def disturbed(self) -> Iterator[Pair]:
        """As many pairs, each with its own noise."""
        return self.noiser.stream(self._chosen()) if self.noiser else self.pairs()

    def _chosen(self) -> Iterator[tuple[int, Pair, int]]:
        """Index among what cleaning left, pair, and how often it is to be written."""
        with ExitStack() as stack:
            files = [
                stack.enter_context((self.folder / side).open(encoding="utf-8", newline="\n"))
                for side in ("source", "target")
            ]
            for index, (source, target, times) in enumerate(zip(*files, self.repeats, strict=True)):
                if times:
                    yield index, (source[:-1], target[:-1]), int(times)


def _clean_corpus(
    corpus: Corpus, folder: Path, data: DataConfig, held_out: set[int], seen: set[int]
) -> _Cleaned:
    folder.mkdir()
    counts: Counter[str] = Counter()
    kept = 0
    with (folder / "source").open("wb") as sources, (folder / "target").open("wb") as targets:
        for source, target in clean(
            corpus.pairs(), data.cleaning, held_out=held_out, seen=seen, counts=counts
        ):
            sources.write(source.encode() + b"\n")
            targets.write(target.encode() + b"\n")
            kept += 1
    generator = random.Random(f"{data.seed} {corpus.source.name}")
    repeats = choose(kept, corpus.source.cap, corpus.source.weight, generator)
    noiser = Noiser(data.noise, data.seed, corpus.source.name) if data.noise else None
    return _Cleaned(corpus, folder, counts, repeats, noiser)


def choose(n_pairs: int, cap: int | None, weight: float, generator: random.Random) -> npt.NDArray[np.uint8]:
    """How often each of ``n_pairs`` pairs is written: at most ``cap`` of them, each ``weight`` times.

    Of a fractional weight the whole part holds for every pair, the rest for as large a random share of them.
    """
    repeats = np.zeros(n_pairs, dtype=np.uint8)
    chosen = np.array(generator.sample(range(n_pairs), min(cap or n_pairs, n_pairs)), dtype=np.int64)
    repeats[chosen] = int(weight)
    repeats[chosen[: round((weight - int(weight)) * len(chosen))]] += 1
    return repeats


class _PairWriter:
    """Encodes pairs and writes both sides of a split; a context manager."""

    def __init__(self, folder: Path, split: str, languages: tuple[str, str], tokenizer: Tokenizer) -> None:
        dtype = token_dtype(tokenizer.vocab_size)
        self._tokenizer = tokenizer
        self._stack = ExitStack()
        self._sides = [
            self._stack.enter_context(SideWriter(folder, f"{split}.{language}", dtype))
            for language in languages
        ]

    def write(self, pairs: Sequence[Pair], *, max_tokens: int | None = None) -> int:
        """Write the pairs of which no side has over ``max_tokens`` tokens; return how many."""
        encoded = [self._tokenizer.encode_batch([pair[side] for pair in pairs]) for side in (0, 1)]
        lengths = [max(map(len, both)) for both in zip(*encoded, strict=True)]
        fit = [index for index, length in enumerate(lengths) if max_tokens is None or length <= max_tokens]
        for side, writer in enumerate(self._sides):
            writer.write([pairs[index][side] for index in fit], [encoded[side][index] for index in fit])
        return len(fit)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)


def _require_up_to_date(folder: Path, recipe: Recipe, sources: Mapping[str, Any]) -> None:
    """Refuse to touch a folder that is not what this recipe and these corpora would give."""
    PreparedCorpus.open(folder, recipe)
    changes = differences(read_manifest(folder)["sources"], sources)
    if changes:
        raise DataError(
            f"{folder}: prepared from other corpora ({'; '.join(changes)}); "
            "delete the folder to prepare it anew, or choose another with --out"
        )


def _require_pairs(n_pairs: int, kept: Sequence[_Cleaned]) -> int:
    if n_pairs:
        return n_pairs
    counts: Counter[str] = sum((part.counts for part in kept), Counter())
    refused = ", ".join(f"{reason} {counts[reason]}" for reason in REASONS if counts[reason])
    raise DataError(
        f"no training pair is left of {counts['read']} read (refused: {refused or 'none'}); see data.cleaning"
    )


def _one_line(pair: Pair) -> Pair:
    """Dev and test sentences stay as they are, but a line break inside becomes a space."""
    source, target = (" ".join(side.splitlines()) if "\n" in side or "\r" in side else side for side in pair)
    return source, target


def _write_tests(folder: Path, tests: Mapping[str, Sequence[Pair]], languages: tuple[str, str]) -> None:
    folder.mkdir()
    for name, pairs in tests.items():
        for side, language in enumerate(languages):
            text = "".join(f"{pair[side]}\n" for pair in pairs)
            (folder / f"{name}.{language}").write_text(text, encoding="utf-8", newline="\n")


def _not_found(data: DataConfig, corpora: Mapping[str, list[Corpus]]) -> list[str]:
    """Names of optional sources that were left out; an overlap with them went unseen."""
    there = {corpus.source.name for found in corpora.values() for corpus in found}
    return [source.name for source in (*data.train, *data.dev, *data.tests) if source.name not in there]


def _batches(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    iterator = iter(pairs)
    while batch := list(islice(iterator, PAIRS_AT_ONCE)):
        yield batch


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)

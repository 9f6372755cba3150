"""``nmt prepare``: corpora -> cleaned, tokenised shards and a report.

    1. read the dev and test sets; remember their source sentences
    2. read each training corpus; normalise and clean it in parts, by several processes
    3. find duplicates; choose among what is left: ``cap`` and ``weight`` of each source
    4. learn the sub-word vocabulary from a sample of that choice
    5. encode it in parts, with noise if the recipe asks for it; put the parts end to end as shards
    6. write the report and the manifest, and give the folder its name

Memory holds some parts for each process, ten bytes for each pair (forty of a corpus with a cap), the sample
of step 4, and the dev and test sets. What is done lies in ``.NAME.partial`` beside the folder: after any end,
kill -9 too, the same command goes on from there. The same recipe and corpora give the same bytes, whoever did
the work and however often it was interrupted; a folder that is up to date is left alone.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nmt.commands.progress import progress
from nmt.errors import DataError
from nmt.model_folder.lock import locked
from training.data.atomic_folder import AtomicFolder, no_room, write_whole
from training.data.clean import REASONS, Pair, held_out_keys
from training.data.corpus import Corpus, open_corpora
from training.data.prepare_clean import (
    CleanedCorpus,
    as_lines,
    clean_corpus,
    cleaning_key,
    drop_duplicates,
    write_held_out,
)
from training.data.prepare_encode import EncodedCorpus, encode_corpus, encoding_key
from training.data.prepare_page import write_page
from training.data.prepare_report import describe_source, describe_split, describe_tokenizer
from training.data.shards import (
    TESTS,
    TOKENIZER,
    PreparedCorpus,
    SideWriter,
    differences,
    join_parts,
    read_manifest,
    token_dtype,
    write_manifest,
    write_report,
)
from training.data.subwords import train_subwords
from training.data.tokenizers import Tokenizers, checksum, subword_files
from training.data.workers import Workers, available_cores
from training.disk import full_disk_told
from training.recipe import DataConfig, Recipe, load_recipe

FINISHED = "finished"
"""The folder to be, within the one that holds what is done."""


def prepare(recipe: str, out: Path | None, overrides: list[str], processes: int | None = None) -> Path:
    """The command: prepare the corpus of a recipe (a file or a name) in ``out`` or ``runs/NAME/data``."""
    loaded = load_recipe(recipe, overrides)
    return prepare_corpus(loaded, out or Path("runs") / loaded.name / "data", processes=processes)


def prepare_corpus(
    recipe: Recipe, folder: Path, tokenizer_file: Path | None = None, *, processes: int | None = None
) -> Path:
    """Write the prepared corpus of ``recipe`` to ``folder``, unless it is there already.

    Args:
        recipe: what to prepare.
        folder: where to.
        tokenizer_file: the SentencePiece model whose hash is ``recipe.tokenizer.given``; None learns one.
        processes: how many work at once, by default as many as there are cores; changes nothing else.

    Raises:
        DataError: a corpus is missing or broken, or ``folder`` holds something else.
        DiskFullError: there is no room; what is done is kept.
    """
    corpora = {key: open_corpora(getattr(recipe.data, key), recipe.data) for key in ("train", "dev", "tests")}
    sources = {key: [corpus.describe() for corpus in corpora[key]] for key in corpora}
    work = folder.with_name(f".{folder.name}.partial")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        _require_up_to_date(folder, recipe, sources)
        _say(f"{folder}: already prepared")
        shutil.rmtree(work, ignore_errors=True)
        return folder
    with full_disk_told(work, no_room), _locked(work), Workers(processes or available_cores()) as workers:
        preparation = _Preparation(work, recipe, corpora, workers)
        report, vocab_size = preparation.run(tokenizer_file)
        finished = preparation.finished
        write_report(finished, {"recipe": recipe.name, "recipe_hash": recipe.corpus_hash(), **report})
        write_page(finished)
        write_manifest(finished, recipe, sources, vocab_size)
        finished.rename(folder)
    shutil.rmtree(work, ignore_errors=True)
    _say(f"{folder}: {report['train']['pairs']:,} training pairs, {report['dev']['pairs']:,} for development")
    return folder


@dataclass(frozen=True)
class _Preparation:
    """One preparation and the folder in which its steps leave what is done."""

    work: Path
    recipe: Recipe
    corpora: Mapping[str, list[Corpus]]
    workers: Workers

    @property
    def finished(self) -> Path:
        """Folder of the prepared corpus to be."""
        return self.work / FINISHED

    @property
    def _languages(self) -> tuple[str, str]:
        return self.recipe.data.source_language, self.recipe.data.target_language

    def run(self, tokenizer_file: Path | None) -> tuple[dict[str, Any], int]:
        """Write all but report and manifest; return the report and the vocabulary's size."""
        dev_read = [_one_line(pair) for corpus in self.corpora["dev"] for pair in corpus.pairs()]
        dev = [pair for pair in dev_read if pair[0].strip() and pair[1].strip()]
        if not dev:
            raise DataError("no development pair: each needs text on both sides; see data.dev of the recipe")
        tests = {corpus.source.name: list(map(_one_line, corpus.pairs())) for corpus in self.corpora["tests"]}

        cleaned = self._clean(held_out_keys(source for source, _ in chain(dev, *tests.values())))
        n_pairs = sum(int(corpus.times.sum()) for corpus in cleaned)
        _require_pairs(n_pairs, [corpus.counts for corpus in cleaned])
        files = (
            {TOKENIZER: self._learn_subwords(cleaned, n_pairs)}
            if tokenizer_file is None
            else subword_files(tokenizer_file, self._languages)
        )
        tokenizers, encoded = self._encode(cleaned, files, n_pairs)
        _require_pairs(
            sum(corpus.counts["written"] for corpus in encoded), [corpus.counts for corpus in encoded]
        )

        shutil.rmtree(self.finished, ignore_errors=True)
        self.finished.mkdir()
        for name, content in files.items():
            (self.finished / name).write_bytes(content)
        stems = [stem for corpus in encoded for stem in corpus.stems]
        join_parts(stems, self.finished, "train", self._languages)
        self._write_dev(dev, tokenizers)
        self._write_tests(tests)
        report = self._report(encoded, tokenizers, tests, len(dev_read) - len(dev))
        report["tokenizer"] = describe_tokenizer(tokenizers, checksum(files), self.recipe.tokenizer)
        return report, tokenizers.vocab_size

    def _clean(self, held_out: set[int]) -> list[CleanedCorpus]:
        """Steps 2 and 3."""
        data = self.recipe.data
        held_out_file = write_held_out(self.work, held_out)
        cleaned = []
        for index, corpus in enumerate(self.corpora["train"]):
            _say(f"cleaning {corpus.source.name}")
            key = cleaning_key(corpus.describe(), corpus.source, data, held_out_file)
            folder = AtomicFolder(self.work / f"cleaned.{index}", key)
            cleaned.append(
                clean_corpus(corpus.pairs, folder, data, held_out_file, self.workers, corpus.source.name)
            )
        if data.cleaning.drop_duplicates:
            drop_duplicates(cleaned)
        for corpus, part in zip(self.corpora["train"], cleaned, strict=True):
            generator = random.Random(f"{data.seed} {corpus.source.name}")
            weight = corpus.source.weight * data.share
            times = choose(int(part.first.sum()), corpus.source.cap, weight, generator)
            part.times = np.zeros(len(part), dtype=np.uint8)
            part.times[part.first] = times
        return cleaned

    def _learn_subwords(self, cleaned: Sequence[CleanedCorpus], n_pairs: int) -> bytes:
        """Step 4, if it was not done before from the same pairs."""
        config = self.recipe.tokenizer
        made_from = json.dumps([config.model_dump(mode="json"), [corpus.digest() for corpus in cleaned]])
        file = self.work / f"subwords.{hashlib.sha256(made_from.encode()).hexdigest()[:16]}"
        if not file.is_file():
            _say(f"learning {config.vocab_size:,} {config.type} pieces from {n_pairs:,} pairs")
            sentences = chain.from_iterable(chain.from_iterable(corpus.pairs() for corpus in cleaned))
            write_whole(file, train_subwords(sentences, 2 * n_pairs, config))
        return file.read_bytes()

    def _encode(
        self, cleaned: Sequence[CleanedCorpus], files: Mapping[str, bytes], n_pairs: int
    ) -> tuple[Tokenizers, list[EncodedCorpus]]:
        """Step 5, up to the parts."""
        data = self.recipe.data
        identity = checksum(files)
        pair = "" if len(files) == 1 else ".".join(("", *self._languages))
        folder = self.work / f"tokenizers.{identity[:16]}{pair}"
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            write_whole(folder / name, content)
        encoded = []
        with progress("encoding pairs", n_pairs) as advance:
            for index, (corpus, part) in enumerate(zip(self.corpora["train"], cleaned, strict=True)):
                name = corpus.source.name
                atomic = AtomicFolder(
                    self.work / f"encoded.{index}", encoding_key(part, data, identity + pair, name)
                )
                n_done = 0
                for so_far in encode_corpus(part, atomic, data, folder, name, self.workers):
                    if so_far.n_pairs > n_done:
                        advance(so_far.n_pairs - n_done)
                    n_done = so_far.n_pairs
                encoded.append(so_far)
        return Tokenizers.load(folder), encoded

    def _write_dev(self, dev: Sequence[Pair], tokenizers: Tokenizers) -> None:
        for side, language in enumerate(self._languages):
            texts, tokenizer = [pair[side] for pair in dev], tokenizers.sides[side]
            with SideWriter(self.finished, f"dev.{language}", token_dtype(tokenizers.vocab_size)) as writer:
                writer.write(texts, tokenizer.encode_batch(texts))

    def _write_tests(self, tests: Mapping[str, Sequence[Pair]]) -> None:
        folder = self.finished / TESTS
        folder.mkdir()
        for name, pairs in tests.items():
            for side, language in enumerate(self._languages):
                (folder / f"{name}.{language}").write_bytes(as_lines(pair[side] for pair in pairs))

    def _report(
        self,
        encoded: Sequence[EncodedCorpus],
        tokenizers: Tokenizers,
        tests: Mapping[str, Sequence[Pair]],
        n_empty_dev: int,
    ) -> dict[str, Any]:
        languages = self._languages
        n_words = {
            language: sum(corpus.n_words[side] for corpus in encoded)
            for side, language in enumerate(languages)
        }
        train = describe_split(self.finished, "train", languages, tokenizers, n_words)
        train["sources"] = [
            describe_source(corpus, part) for corpus, part in zip(self.corpora["train"], encoded, strict=True)
        ]
        dev = describe_split(self.finished, "dev", languages, tokenizers)
        dev["dropped"] = {"empty": n_empty_dev}
        dev["sources"] = [corpus.describe() for corpus in self.corpora["dev"]]
        return {
            "train": train,
            "dev": dev,
            "tests": [
                {**corpus.describe(), "pairs": len(tests[corpus.source.name])}
                for corpus in self.corpora["tests"]
            ],
            "not_found": _not_found(self.recipe.data, self.corpora),
        }


def choose(n_pairs: int, cap: int | None, weight: float, generator: random.Random) -> npt.NDArray[np.uint8]:
    """How often each of ``n_pairs`` pairs is written: at most ``cap`` of them, each ``weight`` times.

    Of a fractional weight the whole part holds for every pair, the rest for as large a random share of them.
    """
    whole, rest = int(weight), weight - int(weight)
    if n_pairs <= (cap or n_pairs) and not rest:
        return np.full(n_pairs, whole, dtype=np.uint8)
    repeats = np.zeros(n_pairs, dtype=np.uint8)
    chosen = np.array(generator.sample(range(n_pairs), min(cap or n_pairs, n_pairs)), dtype=np.int64)
    repeats[chosen] = whole
    repeats[chosen[: round(rest * len(chosen))]] += 1
    return repeats


@contextmanager
def _locked(work: Path) -> Iterator[None]:
    """One preparation at a time in a folder."""
    work.mkdir(parents=True, exist_ok=True)
    busy = DataError(f"{work}: another 'nmt prepare' is at work here; wait for it or stop it")
    with locked(work / "lock", busy):
        yield


def _require_up_to_date(folder: Path, recipe: Recipe, sources: Mapping[str, Any]) -> None:
    """Refuse to touch a folder that is not what this recipe and these corpora would give."""
    PreparedCorpus.open(folder, recipe)
    changes = differences(read_manifest(folder)["sources"], sources)
    if changes:
        raise DataError(
            f"{folder}: prepared from other corpora ({'; '.join(changes)}); "
            "delete the folder to prepare it anew, or choose another with --out"
        )


def _require_pairs(n_pairs: int, counts: Sequence[Counter[str]]) -> None:
    if not n_pairs:
        total: Counter[str] = sum(counts, Counter())
        refused = ", ".join(f"{reason} {total[reason]}" for reason in REASONS if total[reason]) or "none"
        raise DataError(
            f"no training pair is left of {total['read']} read (refused: {refused}); see data.cleaning"
        )


def _one_line(pair: Pair) -> Pair:
    """Dev and test sentences stay as they are, but a line break inside becomes a space."""
    source, target = (" ".join(side.splitlines()) if "\n" in side or "\r" in side else side for side in pair)
    return source, target


def _not_found(data: DataConfig, corpora: Mapping[str, list[Corpus]]) -> list[str]:
    """Names of optional sources that were left out; an overlap with them went unseen."""
    there = {corpus.source.name for found in corpora.values() for corpus in found}
    return [source.name for source in (*data.train, *data.dev, *data.tests) if source.name not in there]


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)

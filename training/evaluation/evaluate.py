"""``nmt evaluate``: translate test sets with one model, score them, time it.

The record that comes out holds all that is needed to make its numbers again: sacrebleu signatures, checksums
of the test sets and of the model, search options, command, commit, versions and machine.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from nmt.commands.progress import progress
from nmt.config import GenerationConfig, parse
from nmt.info import count_parameters
from nmt.model_folder.checkpoint import MANIFEST, resolve_model
from nmt.model_folder.files import sha256
from nmt.options import TranslationOptions
from nmt.translator import Translator
from training.evaluation.scoring import Score, score, score_lowercase_tokenized
from training.evaluation.testset import TestSet, load_all
from training.provenance import provenance, public_path

SENTENCES_AT_ONCE = 512
"""Sentences handed to the translator together: enough for its sorting to pay, few enough to show progress."""
WARM_UP_SENTENCES = 8


@dataclass(frozen=True)
class DecodingSpeed:
    """Wall-clock time of translating a test set: search, tokenizer and sentence splitting included."""

    seconds: float
    sentences_per_second: float
    tokens_per_second: float
    """Target sub-word tokens written."""


@dataclass(frozen=True)
class Evaluation:
    """Results of one model on one test set."""

    test_set: TestSet
    hypotheses: tuple[str, ...]
    scores: tuple[Score, ...]
    speed: DecodingSpeed
    truncated: int
    """Translations that were stopped at the maximum length."""
    repaired: int
    """Translations of sentences that were too long for the model and were translated in parts."""

    def record(self) -> dict[str, Any]:
        """JSON values, without the text."""
        return {
            "test_set": self.test_set.describe(),
            "scores": [dataclasses.asdict(item) for item in self.scores],
            "speed": dataclasses.asdict(self.speed),
            "truncated": self.truncated,
            "repaired": self.repaired,
        }


def evaluate(
    model: str,
    sources: Sequence[Path],
    references: Sequence[Path],
    *,
    lowercase_tokenized: bool = False,
    beam: int | None = None,
    hypotheses: Path | None = None,
    as_json: bool = False,
    device: str = "auto",
) -> None:
    """The command: evaluate ``model`` on each pair of files and print a table, or the record as JSON.

    Raises:
        DataError: a test set is missing or broken.
        ModelFolderError: the model folder is missing or corrupt.
    """
    test_sets = load_all(sources, references)
    translator = Translator.load(model, device=device)
    options = search_options(translator, beam)
    evaluations = [
        evaluate_on(translator, test_set, options, lowercase_tokenized=lowercase_tokenized)
        for test_set in test_sets
    ]
    if hypotheses is not None:
        hypotheses.mkdir(parents=True, exist_ok=True)
        for evaluation in evaluations:
            write_lines(
                hypotheses / f"{evaluation.test_set.name}.{translator.config.target_language}",
                evaluation.hypotheses,
            )
    if as_json:
        record = {
            "model": describe_model(translator, resolve_model(model)),
            "generation": options.model_dump(),
            "evaluations": [evaluation.record() for evaluation in evaluations],
            **provenance(),
        }
        print(json.dumps(record, ensure_ascii=False, indent=2))
    else:
        _print_tables(translator.config.name, options, evaluations)


def evaluate_on(
    translator: Translator,
    test_set: TestSet,
    options: GenerationConfig,
    *,
    lowercase_tokenized: bool = False,
    name: str | None = None,
) -> Evaluation:
    """Translate ``test_set`` and score it; the clock runs after a few sentences of warm-up.

    Args:
        translator: the model.
        test_set: what to translate.
        options: how to search.
        lowercase_tokenized: also score on the literature's scale, as a score of its own.
        name: of the model, for the progress bar.
    """
    translator.translate(
        test_set.sources[:WARM_UP_SENTENCES], TranslationOptions(confidence=False, generation=options)
    )
    lines: list[str] = []
    tokens = truncated = repaired = 0
    begin_s = time.perf_counter()
    with progress(f"{name or translator.config.name} on {test_set.name}", len(test_set)) as advance:
        for start in range(0, len(test_set), SENTENCES_AT_ONCE):
            chunk = test_set.sources[start : start + SENTENCES_AT_ONCE]
            for translation in translator.translate(
                chunk, TranslationOptions(confidence=False, generation=options)
            ):
                lines.append(translation.text.replace("\n", " "))
                tokens += translation.n_target_tokens
                truncated += translation.truncated
                repaired += translation.repaired
            advance(len(chunk))
    seconds = time.perf_counter() - begin_s
    scores = score(lines, test_set.references)
    if lowercase_tokenized:
        language = translator.config.target_language
        scores.append(score_lowercase_tokenized(lines, test_set.references, language))
    speed = DecodingSpeed(round(seconds, 3), round(len(test_set) / seconds, 2), round(tokens / seconds, 1))
    return Evaluation(test_set, tuple(lines), tuple(scores), speed, truncated, repaired)


def search_options(translator: Translator, beam: int | None) -> GenerationConfig:
    """The model's own search options, with another beam size when asked."""
    values = {**translator.generation.model_dump(), "n_best": 1}
    if beam is not None:
        values["beam_size"] = beam
    return parse(GenerationConfig, values, where="options")


def describe_model(translator: Translator, folder: Path) -> dict[str, Any]:
    """Record of the model; its manifest's checksum stands for every byte of it."""
    config = translator.config
    return {
        "name": config.name,
        "folder": public_path(folder),
        "architecture": config.model.architecture,
        "parameters": count_parameters(folder),
        "manifest_sha256": sha256(folder / MANIFEST),
    }


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Write a text file, one line each."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _print_tables(name: str, options: GenerationConfig, evaluations: Sequence[Evaluation]) -> None:
    console = Console()
    for evaluation in evaluations:
        test_set = evaluation.test_set
        table = Table(
            title=f"{name} on {test_set.name} ({len(test_set)} sentences), beam {options.beam_size}",
            caption=f"reference SHA-256 {test_set.reference_sha256}",
        )
        table.add_column("metric")
        table.add_column("scale")
        table.add_column("score", justify="right")
        table.add_column("signature", overflow="fold")
        for item in evaluation.scores:
            table.add_row(item.metric, item.scale, f"{item.score:.2f}", item.signature)
        console.print(table)
        speed = evaluation.speed
        console.print(
            f"{speed.sentences_per_second:.1f} sentences/s, {speed.tokens_per_second:.0f} tokens/s; "
            f"{evaluation.truncated} truncated, {evaluation.repaired} translated in parts"
        )

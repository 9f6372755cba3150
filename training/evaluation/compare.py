"""``nmt compare``: several models on the same test sets, with significance, and a report folder to publish.

REPORT/index.html          one page, nothing outside it: tables, plots, examples
REPORT/report.json         every number of the page, with command, commit, versions and machine
REPORT/plots/*.png|json    each plot and the data that it was drawn from
REPORT/hypotheses/SET/     what each model wrote, one line for each source line
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.config import GenerationConfig
from nmt.errors import ConfigError
from nmt.model_folder.checkpoint import resolve_model
from nmt.options import TranslationOptions
from nmt.translator import Translation, Translator
from training.evaluation.evaluate import Evaluation, describe_model, evaluate_on, search_options
from training.evaluation.length_buckets import LengthBucket, bleu_by_source_length
from training.evaluation.report import Example, Report, write_report
from training.evaluation.scoring import lowercase_tokenizer, tokenized_bleu
from training.evaluation.significance import PairedResult, cased_bootstrap, paired_bootstrap
from training.evaluation.testset import TestSet, load_all
from training.provenance import provenance
from training.run_log import LOG, RunLog

POOLED = "all test sets together"
EXAMPLE_QUANTILES = (0.25, 0.6, 0.9)
"""Heat maps are of the first sentences of the first test set at these quantiles of source length."""
LONGEST_EXAMPLE_WORDS = 25


@dataclass(frozen=True)
class System:
    """A model under comparison and what it did on each test set."""

    name: str
    folder: Path
    model: dict[str, Any]
    generation: GenerationConfig
    language: str
    evaluations: tuple[Evaluation, ...]
    examples: tuple[Example, ...]


def compare(
    models: Sequence[str],
    sources: Sequence[Path],
    references: Sequence[Path],
    report: Path,
    *,
    runs: Sequence[Path] = (),
    lowercase_tokenized: bool = False,
    beam: int | None = None,
    samples: int = 1000,
    seed: int = 12345,
    device: str = "auto",
) -> None:
    """The command: evaluate ``models``, test their differences and write the report folder.

    Args:
        models: two or more model folders or names; the first is the baseline.
        sources: a file for each test set.
        references: as many.
        report: folder to write to; made when missing, its files are replaced.
        runs: run folders whose curves to plot; a model folder that lies in its run folder brings its own.
        lowercase_tokenized: also score and test on the Multi30k literature's scale.
        beam: for all models; None keeps each model's own.
        samples: bootstrap samples.
        seed: of the bootstrap.
        device: where to translate.

    Raises:
        ConfigError: fewer than two models, or two of one name.
        DataError: a test set or a log is missing or broken.
        ModelFolderError: a model folder is missing or corrupt.
    """
    if len(models) < 2:
        raise ConfigError(f"{len(models)} model to compare: name two or more, the baseline first")
    test_sets = load_all(sources, references)
    folders = [resolve_model(model) for model in models]
    logs = _run_logs(folders, runs)
    translators = [Translator.load(folder, device=device) for folder in folders]
    names = _distinct_names(translators)
    systems = [
        _run_system(translator, folder, test_sets, beam=beam, lowercase_tokenized=lowercase_tokenized)
        for translator, folder in zip(translators, folders, strict=True)
    ]
    write_report(
        Report(
            title=f"{' · '.join(names)} on {', '.join(test_set.name for test_set in test_sets)}",
            bootstrap={"method": "paired bootstrap (Koehn 2004)", "samples": samples, "seed": seed},
            models=[_model_record(system, logs) for system in systems],
            evaluations={system.name: system.evaluations for system in systems},
            significance=_significance(systems, lowercase_tokenized, samples, seed),
            length_buckets=_length_buckets(systems, samples, seed),
            examples={system.name: system.examples for system in systems},
            logs=list(logs.values()),
            provenance=provenance(),
        ),
        report,
    )
    print(f"report: {report / 'index.html'}", file=sys.stderr)


def _distinct_names(translators: Sequence[Translator]) -> list[str]:
    names = [translator.config.name for translator in translators]
    if len(set(names)) < len(names):
        raise ConfigError(
            f"models named {', '.join(names)}: a report needs distinct names; rename the recipes"
        )
    return names


def _run_system(
    translator: Translator,
    folder: Path,
    test_sets: Sequence[TestSet],
    *,
    beam: int | None,
    lowercase_tokenized: bool,
) -> System:
    options = search_options(translator, beam)
    evaluations = [
        evaluate_on(translator, test_set, options, lowercase_tokenized=lowercase_tokenized)
        for test_set in test_sets
    ]
    return System(
        name=translator.config.name,
        folder=folder,
        model=describe_model(translator, folder),
        generation=options,
        language=translator.config.target_language,
        evaluations=tuple(evaluations),
        examples=tuple(_examples(translator, test_sets[0], options)),
    )


def _significance(
    systems: Sequence[System], lowercase_tokenized: bool, samples: int, seed: int
) -> dict[str, list[PairedResult]]:
    """Every pair of systems on each test set, by its name."""
    return {
        evaluation.test_set.name: _significance_on(systems, index, lowercase_tokenized, samples, seed)
        for index, evaluation in enumerate(systems[0].evaluations)
    }


def _significance_on(
    systems: Sequence[System], index: int, lowercase_tokenized: bool, samples: int, seed: int
) -> list[PairedResult]:
    """Every pair of systems on test set ``index``; each scale by itself."""
    hypotheses = {system.name: system.evaluations[index].hypotheses for system in systems}
    references = systems[0].evaluations[index].test_set.references
    results = cased_bootstrap(hypotheses, references, samples=samples, seed=seed)
    if lowercase_tokenized:
        treat = lowercase_tokenizer(systems[0].language)
        results += paired_bootstrap(
            {name: [treat(line) for line in lines] for name, lines in hypotheses.items()},
            [treat(line) for line in references],
            {"BLEU": tokenized_bleu()},
            scale="lowercase-tokenized",
            samples=samples,
            seed=seed,
        )
    return results


def _length_buckets(
    systems: Sequence[System], samples: int, seed: int
) -> dict[str, dict[str, list[LengthBucket]]]:
    """Test set -> model -> buckets; several test sets are also pooled, for their few long sentences' sake."""
    result: dict[str, dict[str, list[LengthBucket]]] = {}
    for system in systems:
        corpora = {
            evaluation.test_set.name: (
                evaluation.test_set.sources,
                evaluation.test_set.references,
                evaluation.hypotheses,
            )
            for evaluation in system.evaluations
        }
        if len(corpora) > 1:
            parts = list(corpora.values())
            corpora[POOLED] = (
                tuple(line for part in parts for line in part[0]),
                tuple(line for part in parts for line in part[1]),
                tuple(line for part in parts for line in part[2]),
            )
        for name, corpus in corpora.items():
            buckets = bleu_by_source_length(*corpus, samples=samples, seed=seed)
            result.setdefault(name, {})[system.name] = buckets
    return result


def _examples(translator: Translator, test_set: TestSet, options: GenerationConfig) -> list[Example]:
    """Attention over a few sentences, or nothing from a model that has none."""
    rows = _example_rows(test_set)
    sources = [test_set.sources[row] for row in rows]
    as_written = options.model_copy(update={"repair_loops": False})  # a copied source has links of its own
    try:
        translations = translator.translate(
            sources, TranslationOptions(alignment="soft", generation=as_written)
        )
    except ConfigError:  # the model exposes no attention
        return []
    return [
        example
        for row, source, translation in zip(rows, sources, translations, strict=True)
        if (example := _example(row, source, translation)) is not None
    ]


def _example_rows(test_set: TestSet) -> list[int]:
    """Rows of the first sentences at a few quantiles of source length, each once."""
    lengths = [len(source.split()) for source in test_set.sources]
    candidates = sorted(length for length in lengths if 0 < length <= LONGEST_EXAMPLE_WORDS)
    wanted = [
        candidates[int(quantile * (len(candidates) - 1))] for quantile in EXAMPLE_QUANTILES if candidates
    ]
    return sorted({lengths.index(length) for length in wanted})


def _example(row: int, source: str, translation: Translation) -> Example | None:
    if len(translation.sentences) != 1 or not translation.source_tokens or not translation.target_tokens:
        return None
    attention = translation.sentences[0].attention
    if attention is None:
        return None
    return Example(
        line=row + 1,
        source=source,
        translation=translation.text,
        source_tokens=tuple(token.text for token in translation.source_tokens),
        target_tokens=tuple(token.text for token in translation.target_tokens),
        attention=tuple(tuple(round(float(weight), 4) for weight in weights) for weights in attention),
    )


def _run_logs(folders: Sequence[Path], runs: Sequence[Path]) -> dict[Path, RunLog]:
    """Logs by run folder: those asked for, and those of run folders that the model folders lie in."""
    beside = [folder.resolve().parent for folder in folders if (folder.resolve().parent / LOG).is_file()]
    return {run: RunLog.read(run) for run in dict.fromkeys([*(run.resolve() for run in runs), *beside])}


def _model_record(system: System, logs: Mapping[Path, RunLog]) -> dict[str, Any]:
    log = logs.get(system.folder.resolve().parent)
    return {
        **system.model,
        "generation": system.generation.model_dump(),
        "training": None if log is None else log.summary(),
    }

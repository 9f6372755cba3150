"""The report folder: one HTML page, PNG plots, hypotheses, and the JSON behind every number.

The page is self-contained (plots are inlined) and plain: no script, no outside resource.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from training.evaluation.evaluate import Evaluation, write_lines
from training.evaluation.length_buckets import LengthBucket
from training.evaluation.plots import attention_heat_map, bleu_by_length, save_png, training_curves
from training.evaluation.scoring import Score
from training.evaluation.significance import PairedResult
from training.page import templates
from training.run_log import RunLog

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Example:
    """One translated sentence and its cross-attention over words."""

    line: int
    source: str
    translation: str
    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    attention: tuple[tuple[float, ...], ...]
    """[target token][source token], rows summing to 1."""


@dataclass(frozen=True)
class Report:
    """All that a report says; the mappings go by test set or model name, as their fields tell."""

    title: str
    bootstrap: dict[str, Any]
    models: list[dict[str, Any]]
    evaluations: Mapping[str, Sequence[Evaluation]]
    """Model -> one for each test set."""
    significance: Mapping[str, Sequence[PairedResult]]
    """Test set -> every pair of models, by each metric."""
    length_buckets: Mapping[str, Mapping[str, Sequence[LengthBucket]]]
    """Test set -> model -> buckets."""
    examples: Mapping[str, Sequence[Example]]
    """Model -> sentences with attention."""
    logs: Sequence[RunLog]
    provenance: dict[str, Any]

    def record(self) -> dict[str, Any]:
        """``report.json``."""
        first = next(iter(self.evaluations.values()))
        return {
            "title": self.title,
            **self.provenance,
            "bootstrap": self.bootstrap,
            "models": self.models,
            "test_sets": [
                {
                    **evaluation.test_set.describe(),
                    "results": [
                        {"model": name, **evaluations[index].record()}
                        for name, evaluations in self.evaluations.items()
                    ],
                    "significance": [
                        result.record() for result in self.significance[evaluation.test_set.name]
                    ],
                }
                for index, evaluation in enumerate(first)
            ],
            "length_buckets": _values(self.length_buckets),
        }


@dataclass(frozen=True)
class Plot:
    """A figure, where it goes, what it shows for those who cannot see it, and the data behind it."""

    name: str
    figure: Figure
    caption: str
    alt: str
    data: Any


def write_report(report: Report, folder: Path) -> None:
    """Write the report folder; see ``training.evaluation.compare`` for what lies where."""
    plots_folder = folder / "plots"
    plots_folder.mkdir(parents=True, exist_ok=True)
    record = report.record()
    shown = []
    for plot in _plots(report):
        png = plots_folder / f"{plot.name}.png"
        save_png(plot.figure, png)
        _write_json(plots_folder / f"{plot.name}.json", {"caption": plot.caption, "data": plot.data})
        inlined = base64.b64encode(png.read_bytes()).decode("ascii")
        shown.append({"name": plot.name, "caption": plot.caption, "alt": plot.alt, "png": inlined})
    record["plots"] = [f"plots/{plot['name']}.png" for plot in shown]
    _write_json(folder / "report.json", record)
    for model, evaluations in report.evaluations.items():
        for evaluation in evaluations:
            lines_folder = folder / "hypotheses" / evaluation.test_set.name
            lines_folder.mkdir(parents=True, exist_ok=True)
            write_lines(lines_folder / f"{slug(model)}.txt", evaluation.hypotheses)
    (folder / "index.html").write_text(_page(report, record, shown), encoding="utf-8")


def slug(name: str) -> str:
    """A name as part of a file name: letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-") or "unnamed"


def _plots(report: Report) -> Iterator[Plot]:
    if report.logs:
        yield Plot(
            "training_curves",
            training_curves(report.logs),
            "Training loss, validation perplexity and validation BLEU over updates.",
            f"Three line charts over updates for {', '.join(log.name for log in report.logs)}.",
            [dataclasses.asdict(log) for log in report.logs],
        )
    for test_set, series in report.length_buckets.items():
        yield Plot(
            f"bleu_by_length_{slug(test_set)}",
            bleu_by_length(test_set, series),
            f"BLEU by source length on {test_set}, with 95 % bootstrap intervals.",
            f"Line chart of BLEU by source length for {', '.join(series)}; its numbers are tabled below.",
            _values(series),
        )
    for model, examples in report.examples.items():
        for example in examples:
            yield Plot(
                f"attention_{slug(model)}_line_{example.line}",
                attention_heat_map(model, example.source_tokens, example.target_tokens, example.attention),
                f"Cross-attention of {model}, line {example.line}: a row for each word that it wrote.",
                f"Heat map. Source: {example.source} Translation: {example.translation}",
                dataclasses.asdict(example),
            )


def _page(report: Report, record: Mapping[str, Any], plots: Sequence[Mapping[str, str]]) -> str:
    environment = templates()
    environment.filters["seconds"] = _duration
    scales = sorted({score.scale for rows in report.evaluations.values() for score in rows[0].scores})
    return environment.get_template("report.html").render(
        report=report,
        record=record,
        plots=plots,
        signatures=_signatures(report),
        has_literature_scale="lowercase-tokenized" in scales,
        significant=SIGNIFICANT,
        score_of=_score_of,
        slug=slug,
    )


def _signatures(report: Report) -> list[Score]:
    """One score of each metric and scale, for its signature."""
    first = next(iter(report.evaluations.values()))[0]
    return list(first.scores)


def _score_of(evaluation: Evaluation, metric: str, scale: str) -> Score:
    return next(item for item in evaluation.scores if (item.metric, item.scale) == (metric, scale))


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"


def _values(series: Mapping[str, Any]) -> dict[str, Any]:
    """Dataclasses inside mappings and sequences -> JSON values."""
    return {
        name: _values(value) if isinstance(value, Mapping) else [dataclasses.asdict(item) for item in value]
        for name, value in series.items()
    }


def _write_json(path: Path, value: Any) -> None:  # noqa: ANN401 - whatever JSON holds
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

"""Make the tables of README.md, docs/training.md and docs/settings.md; ``--check`` says which are stale.

In the first two a table stands between ``<!-- table RECORD -->`` and ``<!-- end of table -->``, where RECORD
is the ``report.json`` of an ``nmt compare``, or ``shipped``: the scores of the models that ship.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from service.settings import PREFIX, Settings

ROOT = Path(__file__).resolve().parent.parent
README, TRAINING, SETTINGS = Path("README.md"), Path("docs/training.md"), Path("docs/settings.md")
PUBLISHED = {
    "[OPUS-MT tc-big-en-fr](https://huggingface.co/Helsinki-NLP/opus-mt-tc-big-en-fr)": {
        "flores/devtest": "52.2",
        "news/newstest2014": "41.9",
    }
}
"""Models that others have published, with the BLEU of their cards."""
MARKED = re.compile(r"(<!-- table (?P<record>\S+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def main() -> int:
    """Write the files, or with ``--check`` report the stale ones; exit status 1 when there are any."""
    fresh = {page: with_tables((ROOT / page).read_text(encoding="utf-8")) for page in (README, TRAINING)}
    fresh[SETTINGS] = settings()
    stale = [path for path, text in fresh.items() if not _is(ROOT / path, text)]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path} is stale: run make tables", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        (ROOT / path).write_text(fresh[path], encoding="utf-8")
        print(f"wrote {path}")
    return 0


def with_tables(text: str) -> str:
    """A page with each marked table made anew."""
    return MARKED.sub(lambda match: f"{match[1]}{table(match['record'])}{match[3]}", text)


def table(record_path: str) -> str:
    """A row for each model; without a record, a sentence that says so."""
    if record_path == "shipped":
        return shipped()
    path = ROOT / record_path
    if not path.exists():
        return f"Not measured yet: there is no `{record_path}`.\n"
    record = json.loads(path.read_text(encoding="utf-8"))
    names = [test_set["name"] for test_set in record["test_sets"]]
    lines = [
        f"| model | parameters | training | sentences/s | {' | '.join(names)} |",
        "|---|--:|--:|--:|" + "--:|" * len(names),
    ]
    for model in record["models"]:
        results = [
            next(one for one in test_set["results"] if one["model"] == model["name"])
            for test_set in record["test_sets"]
        ]
        cells = [
            model["name"],
            f"{model['parameters'] / 1e6:.1f} M",
            _training(model["training"]),
            f"{results[0]['speed']['sentences_per_second']:.0f}",
            *map(_scores, results),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    scores = record["test_sets"][0]["results"][0]["scores"]
    signature = next(item["signature"] for item in scores if item["metric"] == "BLEU")
    machine = record["machine"]
    lines += [
        "",
        "BLEU / chrF2 / TER, cased and detokenised; in parentheses BLEU on the scale of the literature, "
        "lower-cased and tokenised. "
        f"Signature `{signature}`; {machine['processor']}, {machine['cores']} cores; "
        f"[the whole report]({Path(record_path).relative_to('docs').with_name('index.html').as_posix()}), "
        f"[its record]({Path(record_path).relative_to('docs').as_posix()}).",
        "",
    ]
    return "\n".join(lines)


def shipped() -> str:
    """A row for each model that ships, a column for each test set; from its ``scores.json``."""
    rows: dict[str, dict[str, str]] = {}
    signatures = set()
    for path in sorted((ROOT / "nmt" / "pretrained").glob("*/scores.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        rows[path.parent.name] = {
            evaluation["test_set"]["name"]: " / ".join(
                _score(evaluation, metric, "cased-detokenized") for metric in ("BLEU", "chrF2")
            )
            for evaluation in record["evaluations"]
        }
        signatures |= {
            item["signature"]
            for evaluation in record["evaluations"]
            for item in evaluation["scores"]
            if (item["metric"], item["scale"]) == ("BLEU", "cased-detokenized")
        }
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    lines = [f"| model | {' | '.join(columns)} |", "|---|" + "--:|" * len(columns)]
    for model, row in rows.items():
        cells = " | ".join(row.get(name, "–") for name in columns)
        lines.append(f"| [{model}](nmt/pretrained/{model}/card.md) | {cells} |")
    for link, published in PUBLISHED.items():
        cells = " | ".join(published.get(name, "–") for name in columns)
        lines.append(f"| {link}, as published | {cells} |")
    return "\n".join([*lines, "", f"BLEU / chrF2; signature `{'`, `'.join(sorted(signatures))}`.", ""])


def settings() -> str:
    """docs/settings.md: every environment variable of the service."""
    lines = [
        "# Settings of the service",
        "",
        "Environment variables; address and port are options of `nmt serve`.",
        "Made by `make tables` from `service/settings.py`. Secrets may be in files, such as",
        "`passerelle_database_url`, in the folder that `PASSERELLE_SECRETS_DIR` names.",
        "",
        "| variable | default | meaning |",
        "|---|---|---|",
    ]
    for name, field in Settings.model_fields.items():
        default = str(field.default if field.default not in (None, ()) else "")
        shown = f"`{default}`" if default else ""
        lines.append(f"| `{PREFIX}{name.upper()}` | {shown} | {field.description} |")
    return "\n".join(lines) + "\n"


def _training(summary: dict[str, Any] | None) -> str:
    if summary is None:
        return "–"
    speed = summary["tokens_per_second"]
    return f"{summary['updates']:,} updates, {summary['elapsed_s'] / 3600:.1f} h" + (
        "" if speed is None else f", {speed:,.0f} target tokens/s"
    )


def _scores(result: dict[str, Any]) -> str:
    cased = (_score(result, metric, "cased-detokenized") for metric in ("BLEU", "chrF2", "TER"))
    return f"{' / '.join(cased)} ({_score(result, 'BLEU', 'lowercase-tokenized')})"


def _score(result: dict[str, Any], metric: str, scale: str) -> str:
    for item in result["scores"]:
        if (item["metric"], item["scale"]) == (metric, scale):
            return f"{item['score']:.1f}"
    return "–"


def _is(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())

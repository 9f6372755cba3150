"""Make the table of dependencies in CONTRIBUTING.md: what each is for, and its licence.

python -m scripts.dependency_table [--check]

Licences are those that the installed packages state; a package that is not installed keeps its row.
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = Path("CONTRIBUTING.md")
MARKED = re.compile(r"(<!-- dependencies -->\n)(.*?)(<!-- end of dependencies -->)", re.DOTALL)
USE = {
    "alembic": "migrations of the database",
    "conllu": "treebanks, for what heads do",
    "ctranslate2": "decoding",
    "datasets": "corpora from the Hugging Face hub",
    "defusedxml": "XML from outside",
    "fastapi": "routes and the OpenAPI description",
    "h11": "HTTP/1.1",
    "huggingface_hub": "models from the Hugging Face hub",
    "jinja2": "pages that training writes",
    "langcodes": "language codes and their names",
    "limits": "rates of keys",
    "lxml": "office documents, epub, xliff, strings in XML",
    "markdown-it-py": "Markdown",
    "matplotlib": "plots and heat maps",
    "mcp": "tools for assistants",
    "numpy": "arrays",
    "nvidia-cublas-cu12": "products of matrices on a GPU, for CTranslate2",
    "onnx": "export",
    "onnxruntime": "export, checked",
    "onnxscript": "export",
    "opentelemetry-api": "traces",
    "opentelemetry-exporter-otlp-proto-http": "traces",
    "opentelemetry-sdk": "traces",
    "platformdirs": "the user's folders",
    "polib": "gettext catalogues",
    "prometheus-client": "metrics",
    "psycopg": "PostgreSQL",
    "py3langid": "language of a text",
    "pyarrow": "Parquet",
    "pydantic": "options, requests, messages",
    "pydantic-settings": "settings of the service",
    "python-multipart": "uploads",
    "pyyaml": "YAML documents",
    "rapidfuzz": "edit distances of translation memories",
    "ray": "corpora on a cluster",
    "regex": "scripts and properties of characters",
    "rich": "progress on a terminal",
    "sacrebleu": "BLEU, chrF, TER",
    "sacremoses": "the scale of the Multi30k literature",
    "safetensors": "weights on disk",
    "sentencepiece": "sub-words",
    "sentencex": "sentence splitting",
    "sqlalchemy": "the database",
    "srt": "subtitles",
    "structlog": "logs",
    "tensorboard": "curves of training",
    "text2num": "numbers in words",
    "torch": "models and training",
    "turbohtml": "HTML",
    "typer": "the command line",
    "uvicorn": "the server",
    "webvtt-py": "subtitles",
}
"""Package that users install -> what for."""
NOT_SHIPPED = ("dev", "reliability")


def main() -> int:
    """Write the table, or with ``--check`` say whether it is stale; exit status 1 when it is."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    new = fresh(text)
    if "--check" in sys.argv[1:]:
        return int(new != text)
    (ROOT / PAGE).write_text(new, encoding="utf-8")
    return 0


def fresh(text: str) -> str:
    """The page with its table made anew."""
    return MARKED.sub(lambda match: f"{match[1]}{table(match[2])}{match[3]}", text)


def table(former: str) -> str:
    """A row for each package."""
    known = dict(re.findall(r"^\| ([\w-]+) \| [^|]+ \| ([^|]+) \|", former, re.MULTILINE))
    lines = ["| package | for | licence | extra |", "|---|---|---|---|"]
    for name, extras in sorted(packages().items()):
        licence = licence_of(name) or known.get(name, "?")
        lines.append(f"| {name} | {USE.get(name, '?')} | {licence} | {', '.join(extras)} |")
    return "\n".join(lines) + "\n"


def packages() -> dict[str, list[str]]:
    """Package -> the extras that bring it; none: it always comes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, list[str]] = {_name(one): [] for one in project["dependencies"]}
    for extra, ones in project["optional-dependencies"].items():
        for name in map(_name, ones):
            if extra not in NOT_SHIPPED and name != project["name"]:
                found.setdefault(name, []).append(extra)
    return found


def licence_of(name: str) -> str:
    """As the installed package states it, short; "" if it is not installed."""
    try:
        stated = metadata(name)
    except PackageNotFoundError:
        return ""
    classified = [
        line.rsplit(" :: ", 1)[-1] for line in stated.get_all("Classifier") or [] if "License ::" in line
    ]
    return str(
        stated["License-Expression"] or ", ".join(classified) or (stated["License"] or "?").split("\n")[0]
    )


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=!~ ]", requirement, maxsplit=1)[0]


if __name__ == "__main__":
    raise SystemExit(main())

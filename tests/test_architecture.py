"""The direction of imports, read from the source with ``ast``: what each part may know of the others.

Imports under ``if TYPE_CHECKING`` are of types alone and are left out, but where circles are sought. A module
that no row of the tables covers fails the test: whoever adds a part says here what it may know.
"""

from __future__ import annotations

import ast
import functools
import graphlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("nmt", "training", "service")
UNSHIPPED = ("benchmarks", "scripts", "testbed")

BASE = ("nmt", "nmt.errors", "nmt.config", "nmt.spans")

# What the service may import of the library.
SERVICE = (
    *BASE,
    "nmt.batching",
    "nmt.documents",
    "nmt.extraction",
    "nmt.markup",
    "nmt.memory",
    "nmt.model_folder.registry",
    "nmt.options",
    "nmt.pipeline.check",
    "nmt.pipeline.consistency",
    "nmt.pipeline.result",
    "nmt.text",
    "nmt.translator",
)

# Room -> the rooms that it may import, itself aside: folders, and the modules that stand in none. The longest
# matching row counts; a room stands for all that is in it.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "nmt": (),
    "nmt.allocator": (),
    "nmt.errors": (),
    "nmt.spans": (),
    "nmt.config": ("nmt.errors",),
    "nmt.device": BASE,
    "nmt.hypothesis": BASE,
    "nmt.scoring": BASE,
    "nmt.tokenizer": BASE,
    "nmt.batch": BASE,
    "nmt.text": BASE,
    "nmt.memory": (*BASE, "nmt.documents", "nmt.text"),
    "nmt.memory.unit": BASE,
    "nmt.options": (*BASE, "nmt.memory.unit", "nmt.text"),
    "nmt.confidence": (*BASE, "nmt.text", "nmt.tokenizer"),
    "nmt.layers": BASE,
    "nmt.models": (*BASE, "nmt.batch", "nmt.layers"),
    "nmt.models.interface": (*BASE, "nmt.batch"),
    "nmt.search": (*BASE, "nmt.batch", "nmt.hypothesis", "nmt.models.interface", "nmt.scoring"),
    "nmt.alignment": (*BASE, "nmt.batch", "nmt.layers", "nmt.models", "nmt.text", "nmt.tokenizer"),
    "nmt.explore": (
        *BASE,
        "nmt.alignment",
        "nmt.batch",
        "nmt.layers",
        "nmt.models",
        "nmt.text",
        "nmt.tokenizer",
    ),
    "nmt.model_folder": (*BASE, "nmt.alignment", "nmt.confidence", "nmt.models", "nmt.text", "nmt.tokenizer"),
    "nmt.importers": (*BASE, "nmt.layers", "nmt.model_folder", "nmt.models", "nmt.tokenizer"),
    "nmt.pipeline": (
        *BASE,
        "nmt.alignment",
        "nmt.confidence",
        "nmt.hypothesis",
        "nmt.memory.unit",
        "nmt.options",
        "nmt.text",
        "nmt.tokenizer",
    ),
    "nmt.export": (*BASE, "nmt.batch", "nmt.layers", "nmt.model_folder", "nmt.models"),
    "nmt.searchers": (
        *BASE,
        "nmt.alignment",
        "nmt.batch",
        "nmt.device",
        "nmt.explore",
        "nmt.export",
        "nmt.hypothesis",
        "nmt.model_folder",
        "nmt.models",
        "nmt.pipeline",
        "nmt.scoring",
        "nmt.search",
        "nmt.text",
    ),
    "nmt.translator": (
        *BASE,
        "nmt.alignment",
        "nmt.device",
        "nmt.model_folder",
        "nmt.options",
        "nmt.pipeline",
        "nmt.searchers",
        "nmt.text",
        "nmt.tokenizer",
    ),
    "nmt.alignment_choice": (*BASE, "nmt.alignment", "nmt.model_folder", "nmt.translator"),
    "nmt.info": (*BASE, "nmt.model_folder", "nmt.searchers", "nmt.translator"),
    "nmt.batching": (
        *BASE,
        "nmt.hypothesis",
        "nmt.options",
        "nmt.pipeline",
        "nmt.searchers",
        "nmt.translator",
    ),
    "nmt.offline": (*BASE, "nmt.model_folder", "nmt.options", "nmt.pipeline", "nmt.translator"),
    "nmt.extraction": ("nmt.spans",),
    "nmt.alignment.projection": (*BASE, "nmt.alignment", "nmt.text"),
    "nmt.alignment.votes": (*BASE, "nmt.alignment", "nmt.text"),
    "nmt.markup": (*BASE, "nmt.alignment.projection", "nmt.extraction", "nmt.options", "nmt.text"),
    "nmt.documents": (
        *BASE,
        "nmt.alignment.projection",
        "nmt.extraction",
        "nmt.markup",
        "nmt.model_folder.files",
        "nmt.options",
        "nmt.text",
    ),
    "nmt.mcp": (*BASE, "nmt.model_folder.registry", "nmt.options", "nmt.text", "nmt.translator"),
    "nmt.commands": (*BASE, "nmt.memory", "nmt.model_folder.registry", "nmt.options", "nmt.text"),
    "nmt.cli": (*BASE, "nmt.alignment.pharaoh", "nmt.commands"),
    "nmt.__main__": ("nmt.cli",),
    "training": ("nmt.*",),
    "training.noise": ("nmt.*", "training.recipe"),
    "training.data": ("nmt.*", "training.disk", "training.noise", "training.page", "training.recipe"),
    "training.evaluation": ("nmt.*", "training.page", "training.provenance", "training.run_log"),
    "training.explore": ("nmt.*", "training.evaluation", "training.page", "training.provenance"),
    "training.robustness": ("nmt.*", "training.evaluation", "training.noise", "training.provenance"),
    "training.align": ("nmt.*", "training.provenance", "training.speed"),
    "service": SERVICE,
    "service.settings": SERVICE,
    "service.schemas": SERVICE,
    "service.database": (*SERVICE, "service.settings"),
    "service.http": (*SERVICE, "service.database", "service.schemas", "service.settings"),
    "service.work": (*SERVICE, "nmt.allocator", "service.http", "service.settings"),
    "service.state": (*SERVICE, "service.database", "service.http", "service.settings", "service.work"),
    "service.calls": (
        *SERVICE,
        "service.database",
        "service.http",
        "service.schemas",
        "service.settings",
        "service.state",
        "service.work",
    ),
    "service.routes": (
        *SERVICE,
        "service.calls",
        "service.database",
        "service.heatmap",
        "service.http",
        "service.schemas",
        "service.state",
        "service.work",
    ),
    "service.dialects": (
        *SERVICE,
        "service.calls",
        "service.database",
        "service.http",
        "service.routes",
        "service.schemas",
        "service.state",
        "service.work",
    ),
    "service.app": (*SERVICE, "service"),
    "service.main": (*SERVICE, "service"),
    "service.heatmap": (*SERVICE, "service.schemas"),
    "service.key_commands": (*SERVICE, "service.database", "service.settings"),
}

# Package from outside -> the only parts that may import it.
ONLY_IN: dict[str, tuple[str, ...]] = {
    "fastapi": ("service",),
    "starlette": ("service",),
    "uvicorn": ("service",),
    "prometheus_client": ("service",),
    "opentelemetry": ("service.http.tracing",),
    "structlog": ("service",),
    "sqlalchemy": ("service.database",),
    "alembic": ("service.database",),
    "psycopg": ("service.database",),
    "limits": ("service.database.rates",),
    "sacrebleu": ("training",),
    "sacremoses": ("training",),
    "datasets": ("training",),
    "tensorboard": ("training",),
    "jinja2": ("training",),
    "ctranslate2": ("nmt.export", "nmt.searchers"),
    "mcp": ("nmt.mcp",),
    "anyio": ("nmt.mcp",),
    "onnx": ("nmt.export",),
    "onnxruntime": ("nmt.export",),
    "onnxscript": ("nmt.export",),
    "matplotlib": ("training", "service"),
    "typer": ("nmt.cli", "nmt.commands"),
    "safetensors": ("nmt", "training"),
    "sentencepiece": ("nmt.tokenizer", "training"),
    "platformdirs": ("nmt.commands.memory", "nmt.searchers.cache", "service.database"),
    "sentencex": ("nmt.text.segment",),
    "text_to_num": ("nmt.text.numbers",),
    "turbohtml": ("nmt.markup",),
    "py3langid": ("nmt.text.language",),
    "conllu": ("nmt.explore",),
    "lxml": ("nmt.documents",),
    "rapidfuzz": ("nmt.memory.matching",),
    "markdown_it": ("nmt.documents",),
    "polib": ("nmt.documents",),
    "yaml": ("nmt.documents", "nmt.importers"),
    "srt": ("nmt.documents",),
    "webvtt": ("nmt.documents",),
}
WITHOUT_TORCH = (
    "nmt.allocator",
    "nmt.cli",
    "nmt.commands",
    "nmt.config",
    "nmt.documents",
    "nmt.errors",
    "nmt.extraction",
    "nmt.hypothesis",
    "nmt.markup",
    "nmt.memory",
    "nmt.model_folder.manifest",
    "nmt.model_folder.registry",
    "nmt.options",
    "nmt.scoring",
    "nmt.spans",
    "nmt.text",
    "nmt.alignment.alignment",
    "nmt.alignment.pharaoh",
    "nmt.alignment.projection",
    "nmt.alignment.votes",
    "nmt.pipeline",
    "service",
)
NEVER = ("pickle", "cloudpickle", "dill", "shelve")
GPL = ("translate",)
"""translate-toolkit, which tests use."""


@functools.cache
def modules() -> dict[str, Path]:
    """All that is installed."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    parts = [path.relative_to(ROOT).with_suffix("").parts for path in paths]
    names = [".".join(part[:-1] if part[-1] == "__init__" else part) for part in parts]
    return dict(zip(names, paths, strict=True))


def imports(source: str, module: str = "", *, is_package: bool = False, types: bool = False) -> set[str]:
    """Modules that ``source`` imports when it runs: "a.b" for ``import a.b``, and for ``from a import b`` too
    where a/b is one of our modules. ``types``: those under ``if TYPE_CHECKING`` as well."""
    found: set[str] = set()
    own = modules()
    pending: list[ast.AST] = [ast.parse(source)]
    while pending:
        node = pending.pop()
        if not types and isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            pending += node.orelse
            continue
        pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                parents = module.split(".")[
                    : None if is_package and node.level == 1 else -node.level + is_package
                ]
                origin = ".".join([*parents, *([origin] if origin else [])])
            for alias in node.names:
                full = f"{origin}.{alias.name}"
                found.add(full if full in own else origin)
    return found


def is_within(module: str, part: str) -> bool:
    return module == part or module.startswith(part + ".")


def row_of(module: str) -> str:
    rows = [part for part in MAY_IMPORT if is_within(module, part) and (part != "nmt" or module == "nmt")]
    assert rows, f"{module}: no row of MAY_IMPORT says what it may import; add one"
    return max(rows, key=len)


def allows(room: str, imported: str) -> bool:
    """Whether leave to import ``room`` covers ``imported``; "nmt.*" is all of nmt, "nmt" its top alone."""
    if room.endswith(".*"):
        return is_within(imported, room[:-2])
    return imported == "nmt" if room == "nmt" else is_within(imported, room)


def forbidden(module: str, imported: set[str]) -> list[str]:
    """The imports of ``module`` that break a table, as sentences."""
    row = row_of(module)
    broken = []
    for name in sorted(imported):
        top = name.partition(".")[0]
        if top in PACKAGES:
            itself = is_within(name, row)
            if not itself and not any(allows(room, name) for room in MAY_IMPORT[row]):
                broken.append(f"{module} imports {name}, which {row} may not know")
        elif top in ONLY_IN and not any(is_within(module, part) for part in ONLY_IN[top]):
            broken.append(f"{module} imports {name}, which belongs in {' and '.join(ONLY_IN[top])} only")
        elif top == "torch" and any(is_within(module, part) for part in WITHOUT_TORCH):
            broken.append(f"{module} imports {name}, and must not wait for torch")
        elif top in NEVER:
            broken.append(f"{module} imports {name}: no pickles")
        elif top in GPL:
            broken.append(f"{module} imports {name}, whose licence is the GPL")
    return broken


@pytest.mark.parametrize(("module", "path"), [pytest.param(*item, id=item[0]) for item in modules().items()])
def test_module_imports_only_what_it_may_know(module: str, path: Path) -> None:
    found = imports(path.read_text(encoding="utf-8"), module, is_package=path.name == "__init__.py")

    assert forbidden(module, found) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("nmt.search.beam", "from nmt.models.transformer import Transformer"),
        ("nmt.search.beam", "from nmt.tokenizer import Tokenizer"),
        ("nmt.layers.attention", "import nmt.models.interface"),
        ("nmt.models.interface", "from nmt.models import transformer"),
        ("nmt.translator", "def f():\n    from training.trainer import train"),
        ("nmt.translator", "import service.app"),
        ("nmt.cli", "import torch"),
        ("nmt.config", "from torch import nn"),
        ("nmt.translator", "import fastapi"),
        ("nmt.translator", "from sacrebleu.metrics import BLEU"),
        ("training.trainer", "from service.app import create_app"),
        ("training.state", "import pickle"),
        ("nmt.documents.xliff", "from translate.storage import xliff"),
        ("service.app", "import torch"),
        ("service.app", "from nmt.model_folder.checkpoint import load_model_folder"),
        ("service.app", "from nmt.model_folder import checkpoint"),
    ],
)
def test_a_forbidden_import_is_seen(module: str, source: str) -> None:
    assert len(forbidden(module, imports(source, module))) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("nmt.cli", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch"),
        ("nmt.search.beam", "from nmt.models.interface import StepDecoder"),
        ("nmt.models.transformer", "from nmt.models.interface import Step"),
        ("training.trainer", "import torch\nfrom nmt.batch import Batch"),
        ("service.app", "from nmt import __version__\nfrom nmt.translator import Translator\nimport fastapi"),
    ],
)
def test_an_allowed_import_passes(module: str, source: str) -> None:
    assert forbidden(module, imports(source, module)) == []


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, first and last the same; none: there is no circle."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(reversed(error.args[1]))
    return []


def test_no_module_comes_back_to_itself_not_even_for_a_type() -> None:
    paths = modules()
    graph = {
        module: imports(
            path.read_text(encoding="utf-8"), module, is_package=path.name == "__init__.py", types=True
        )
        & (paths.keys() - {module})
        for module, path in paths.items()
    }

    assert circle(graph) == []


def test_a_circle_of_types_is_seen() -> None:
    sources = {
        "nmt.batch": "from nmt.pipeline.requests import Flow",
        "nmt.pipeline.requests": (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from nmt.batch import Batch"
        ),
    }

    with_types = {module: imports(source, module, types=True) for module, source in sources.items()}
    at_run_time = {module: imports(source, module) for module, source in sources.items()}

    assert len(circle(with_types)) == 3
    assert circle(at_run_time) == []


def needs_tests(source: str) -> bool:
    """Whether a module imports from ``tests``, or names a module of it for ``python -m``."""
    constants = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    named = {value for value in constants if isinstance(value, str) and re.fullmatch(r"tests\.[\w.]+", value)}
    return bool(named) or any(is_within(name, "tests") for name in imports(source))


@pytest.mark.parametrize("part", [*PACKAGES, *UNSHIPPED])
def test_nothing_outside_of_tests_imports_tests(part: str) -> None:
    paths = list((ROOT / part).rglob("*.py"))

    found = [path for path in paths if needs_tests(path.read_text(encoding="utf-8"))]

    assert paths
    assert [str(path.relative_to(ROOT)) for path in found] == []


@pytest.mark.parametrize(
    "source",
    [
        "from tests.pathologies import pathologies",
        "def f():\n    import tests.doubles",
        "from tests import doubles",
        "COMMAND = (sys.executable, '-m', 'tests.reliability.serve')",
    ],
)
def test_an_import_of_tests_is_seen(source: str) -> None:
    assert needs_tests(source)


@pytest.mark.parametrize("part", PACKAGES)
def test_what_is_installed_imports_nothing_that_is_not(part: str) -> None:
    for path in (ROOT / part).rglob("*.py"):
        tops = {name.partition(".")[0] for name in imports(path.read_text(encoding="utf-8"))}
        assert tops.isdisjoint(UNSHIPPED), path


def test_only_the_command_line_imports_by_name() -> None:
    by_name = {
        module
        for module, path in modules().items()
        if "importlib" in imports(path.read_text(encoding="utf-8"))
    }

    assert {module for module in by_name if is_within(module, "nmt")} == {"nmt.commands.loading"}

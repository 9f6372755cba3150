"""docs/operate.md and docs/engines.md: numbers are those of the records, and what they tell to type works."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy.engine import make_url

from service.database.database import Database
from service.database.records import KeyLimits
from testbed.postgres import binaries
from tests.service.database.conftest import empty, open_database

ROOT = Path(__file__).resolve().parent.parent.parent
OPERATE = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")


def script() -> ModuleType:
    path = ROOT / "scripts" / "operate_tables.py"
    spec = importlib.util.spec_from_file_location("operate_tables", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tried(name: str) -> tuple[str, str]:
    """The block's commands that back up, and those that restore."""
    found = re.search(rf"<!-- tried {name} -->\n```sh\n(.*?)```", OPERATE, re.DOTALL)
    assert found is not None
    backup, _, restore = found[1].partition("# restore")
    return backup, "#" + restore


def run(commands: str, folder: Path, **environment: str) -> None:
    path = f"{binaries()}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder, env={**os.environ, "PATH": path, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("document", ["operate.md", "engines.md"])
def test_numbers_of_documents_are_those_of_the_records(document: str) -> None:
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")

    assert script().fresh(text) == text, f"docs/{document} is stale: run make tables"
    for target in re.findall(r"\]\(([^)#]+)", text):
        if not target.startswith("http"):
            assert (ROOT / "docs" / target).exists(), f"{document} links to {target}"


def test_a_backup_of_sqlite_taken_while_it_is_used_restores_keys(tmp_path: Path) -> None:
    data = tmp_path / "data"
    backup, restore = tried("sqlite")
    helper = backup.splitlines()[0]
    used = open_database("", data)
    used.prepare()
    _, kept = used.keys.create("before", KeyLimits())
    run(
        backup, tmp_path, PASSERELLE_DATA_DIR=str(data)
    )  # what is written is still in its log: nobody closed it
    _, lost = used.keys.create("after", KeyLimits())
    used.close()

    run(f"{helper}\n{restore}", tmp_path, PASSERELLE_DATA_DIR=str(data))

    restored = open_database("", data)
    restored.prepare()
    assert restored.keys.find(kept) is not None
    assert restored.keys.find(lost) is None
    restored.close()
    assert (data / "passerelle.sqlite3").stat().st_mode & 0o077 == 0


def test_a_backup_of_postgresql_restores_keys(postgres: str, tmp_path: Path) -> None:
    backup, restore = tried("postgresql")
    database: Database = open_database(postgres, tmp_path)
    database.upgrade()
    _, kept = database.keys.create("before", KeyLimits())
    url = make_url(postgres)
    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    run(backup, tmp_path, DATABASE=address)
    _, lost = database.keys.create("after", KeyLimits())
    database.engine.dispose()

    run(restore, tmp_path, DATABASE=address)

    assert database.keys.find(kept) is not None
    assert database.keys.find(lost) is None
    empty(database)
    database.close()

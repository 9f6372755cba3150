"""The lock of the image is complete, by hash, and of tested versions; its trial is that of the README."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent.parent
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
PINNED = re.compile(r"^(\S+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def locked(path: Path) -> dict[str, str]:
    """Versions by name."""
    return {canonicalize_name(name): version for name, version, _ in PINNED.findall(path.read_text())}


def constrained() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_line_of_a_lock_is_a_version_with_hashes_and_names_no_index(path: Path) -> None:
    rest = PINNED.sub("", path.read_text())

    assert [line for line in rest.splitlines() if line and not line.startswith("#")] == []
    assert locked(path)


def test_locked_versions_are_those_that_were_tested() -> None:
    constraints = constrained()
    versions = locked(ROOT / "requirements" / "common.txt") | locked(ROOT / "requirements" / "torch-cpu.txt")

    assert versions.pop("torch").removesuffix("+cpu") == constraints["torch"]
    wrong = {name: version for name, version in versions.items() if constraints.get(name) != version}
    assert not wrong, f"{wrong}: run scripts/lock_image.sh"
    assert locked(ROOT / "requirements" / "torch-cuda.txt")["torch"] == constraints["torch"]


def test_everything_that_the_service_needs_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = {
        canonicalize_name(Requirement(line).name)
        for line in (
            *project["dependencies"],
            *(line for name in ("serve", "documents", "memory", "postgres") for line in extras[name]),
        )
    }

    missing = needed - {"passerelle", "torch"} - set(locked(ROOT / "requirements" / "common.txt"))

    assert not missing, f"{missing}: run scripts/lock_image.sh"


def test_the_image_runs_as_nobody_special_and_its_health_check_translates_nothing() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]

    assert "\nUSER 10001:10001\n" in last
    (check,) = re.findall(r"HEALTHCHECK .*\n\s*CMD (.*)", last)
    assert re.findall(r"8000(/[\w/]*)", check) == ["/health/live"]
    assert "--require-hashes" in DOCKERFILE


def test_what_the_build_copies_is_not_ignored() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)

    for source in " ".join(copied).replace("wheel[s]", "wheels").split():
        assert source in allowed, source
        assert source == "wheels" or (ROOT / source).exists()


def test_the_image_is_tried_with_the_translation_that_the_readme_shows() -> None:
    spec = importlib.util.spec_from_file_location("smoke", ROOT / "scripts" / "smoke.py")
    assert spec
    assert spec.loader
    smoke = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(smoke)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert f'nmt translate "{smoke.SENTENCE}"' in readme
    assert f"\n{smoke.TRANSLATION}\n" in readme

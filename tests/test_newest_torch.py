"""``make newest-torch`` takes everything as it is pinned, but for torch."""

from __future__ import annotations

from pathlib import Path

from scripts.newest_torch import dependencies, without_torch

ROOT = Path(__file__).parent.parent


def test_all_but_torch_is_needed_as_the_library_says() -> None:
    needed = dependencies((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert any(one.startswith("ctranslate2") for one in needed)
    assert not any(one.startswith("torch") for one in needed)


def test_torch_is_not_pinned_and_what_torch_does_not_choose_is() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")

    left = without_torch(pins).splitlines()

    assert "torch==" in pins
    assert not any(line.startswith("torch==") for line in left)
    assert any(line.startswith("ctranslate2==") for line in left)

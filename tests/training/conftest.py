"""What tests of training share."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.corpora import PAIRS, RECIPE, write_text


@pytest.fixture(scope="module")
def recipe_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_text(folder, "train", PAIRS[:64])
    write_text(folder, "dev", PAIRS[64:72])
    write_text(folder, "test", PAIRS[72:])
    (folder / "tiny.toml").write_text(RECIPE, encoding="utf-8")
    return folder / "tiny.toml"

"""What tests of training share."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.model_folder.checkpoint import TOKENIZER
from nmt.tokenizer import Tokenizer
from testbed.corpora import PAIRS, RECIPE, write_text
from training.data.prepare import prepare_corpus
from training.recipe import load_recipe


@pytest.fixture(scope="module")
def recipe_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_text(folder, "train", PAIRS[:64])
    write_text(folder, "dev", PAIRS[64:72])
    write_text(folder, "test", PAIRS[72:])
    (folder / "tiny.toml").write_text(RECIPE, encoding="utf-8")
    return folder / "tiny.toml"


@pytest.fixture(scope="module")
def tokenizer(recipe_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """320 pieces of the corpus' two languages."""
    data = prepare_corpus(load_recipe(str(recipe_file)), tmp_path_factory.mktemp("pieces"))
    return Tokenizer.load(data / TOKENIZER)

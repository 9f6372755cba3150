"""The recipes for eight GPUs say what the paper says, and run: one update of a tiny model on a few pairs."""

from pathlib import Path

import pytest

from nmt.config import TransformerConfig
from testbed.corpora import PAIRS, write_text
from training.recipe import Recipe, load_recipe
from training.schedule import build_schedule
from training.train import train

TINY = (
    "model={architecture='transformer',d_model=16,d_ff=32,n_heads=2,n_encoder_layers=1,n_decoder_layers=1}",
    "tokenizer.vocab_size=320",
    "training.max_updates=1",
    "training.batch_tokens=64",
    "training.validate_every=1",
    "training.save_every=1",
)


def test_base_and_big_have_the_paper_s_sizes_and_share_a_corpus():
    base, big = load_recipe("wmt14_base"), load_recipe("wmt14_big")
    assert isinstance(base.model, TransformerConfig)
    assert isinstance(big.model, TransformerConfig)
    assert (base.model.d_model, base.model.d_ff, base.model.n_heads) == (512, 2048, 8)
    assert (big.model.d_model, big.model.d_ff, big.model.n_heads) == (1024, 4096, 16)
    assert {base.model.norm, big.model.norm} == {"post"}
    assert (base.training.max_updates, big.training.max_updates) == (100_000, 300_000)
    assert base.corpus_hash() == big.corpus_hash()


@pytest.mark.parametrize(("name", "d_model"), [("wmt14_base", 512), ("wmt14_big", 1024)])
def test_the_learning_rate_is_the_paper_s_equation_3(name: str, d_model: int):
    training = load_recipe(name).training
    schedule = build_schedule(
        training.schedule, training.learning_rate, training.warmup_updates, training.max_updates, d_model
    )
    for update in (1, 2000, 4000, 100_000):
        assert schedule(update) == pytest.approx(d_model**-0.5 * min(update**-0.5, update * 4000**-1.5))


@pytest.mark.parametrize("name", ["wmt14_base", "wmt14_big", "europarl_base"])
def test_one_update_of_a_tiny_model_on_local_copies(name: str, tmp_path: Path):
    for stem in ("wmt14/train", "europarl/train"):
        write_text((tmp_path / stem).parent, "train", PAIRS[:60])
    write_text(tmp_path / "news", "newstest2013", PAIRS[60:70])
    write_text(tmp_path / "news", "newstest2014", PAIRS[70:])
    model = train(name, tmp_path / "run", overrides=[*TINY, f"data.dir={tmp_path}"])
    assert (model / "MANIFEST.sha256").is_file()


@pytest.mark.parametrize("name", ["adapt", "own"])
def test_a_user_s_tsv_file_is_all_that_adapting_and_training_need(name: str, tmp_path: Path):
    for stem, pairs in (("train", PAIRS[:60]), ("dev", PAIRS[60:])):
        text = "".join(f"{english}\t{french}\n" for english, french in pairs)
        (tmp_path / f"{stem}.tsv").write_text(text, encoding="utf-8")
    less = ["adapts=false", "data.noise.placeholder=0", "data.noise.formality=0"] if name == "adapt" else []
    model = train(name, tmp_path / "run", overrides=[*TINY, *less, f"data.dir={tmp_path}"])
    assert (model / "MANIFEST.sha256").is_file()


def test_recipes_for_one_s_own_pairs_read_two_files(tmp_path: Path):
    recipe: Recipe = load_recipe("adapt", [f"data.dir={tmp_path}"])
    assert [source.path for source in (*recipe.data.train, *recipe.data.dev)] == ["train.tsv", "dev.tsv"]

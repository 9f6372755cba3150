"""Recipes: those that ship are right, and a wrong one is told what is wrong with it."""

from pathlib import Path

import pytest

from nmt.config import RnnConfig, TransformerConfig
from nmt.errors import ConfigError
from testbed.corpora import RECIPE, write_toy
from training.recipe import RECIPES, Recipe, load_recipe

SHIPPED = sorted(path.stem for path in RECIPES.glob("*.toml"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_toy(tmp_path)


def message(file: Path, *overrides: str) -> str:
    with pytest.raises(ConfigError) as error:
        load_recipe(str(file), overrides)
    return str(error.value)


def test_the_promised_recipes_ship():
    assert {"toy", "everyday", "multi30k_transformer", "multi30k_rnn_attention", "multi30k_rnn_plain"} <= set(
        SHIPPED
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_recipe_loads_by_its_name_and_is_called_by_it(name: str):
    assert load_recipe(name).name == name


def test_the_three_multi30k_recipes_share_one_prepared_corpus():
    names = ("multi30k_transformer", "multi30k_rnn_attention", "multi30k_rnn_plain")
    assert len({load_recipe(name).corpus_hash() for name in names}) == 1


def test_the_two_rnn_recipes_differ_in_attention_alone():
    with_attention, plain = (load_recipe(f"multi30k_rnn_{name}") for name in ("attention", "plain"))
    assert isinstance(plain.model, RnnConfig)
    assert plain.model.attention == "none"
    assert plain.model.model_copy(update={"attention": "additive"}) == with_attention.model
    assert plain.training == with_attention.training
    assert plain.generation == with_attention.generation


def test_the_toy_needs_no_file_beside_the_package():
    recipe = load_recipe("toy")
    for source in (*recipe.data.train, *recipe.data.dev):
        for language in ("en", "fr"):
            assert Path(f"{source.path}.{language}").is_file()


def test_the_model_takes_its_vocabulary_from_the_tokenizer(file: Path):
    recipe = load_recipe(str(file), ["tokenizer.vocab_size=512"])
    assert isinstance(recipe.model, TransformerConfig)
    assert recipe.model.vocab_size == 512
    assert recipe.model_config_for(500).vocab_size == 500
    assert recipe.model_config_for(500).architecture == "transformer"


def test_a_vocabulary_size_of_the_model_that_is_not_the_tokenizers_is_refused(file: Path):
    assert "set tokenizer.vocab_size" in message(file, "model.vocab_size=77")


def test_a_recipe_survives_being_written_as_json_and_read_again(file: Path):
    recipe = load_recipe(str(file))
    assert Recipe.model_validate_json(recipe.model_dump_json()) == recipe


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("training.learning_rat=1", "did you mean 'learning_rate'?"),
        ("data.trian=1", "did you mean 'train'?"),
        ("data.cleaning.max_word=5", "did you mean 'max_words'?"),
        ("tokenizer.vocabsize=500", "did you mean 'vocab_size'?"),
        ("model.d_modell=16", "did you mean 'd_model'?"),
        ("tokenizer.vocab_size=100", "greater than or equal to 300"),
        ("training.max_updates=0", "greater than 0"),
        ("training.schedule=cubic", "'inverse_sqrt', 'noam', 'linear', 'cosine' or 'constant'"),
        ("training.betas=[0.9,1.5]", "each must be at least 0 and below 1"),
        ("data.train=[]", "at least 1"),
        ('data.train=[{kind="hub",path="x"}]', "needs the name of the data set in 'hub'"),
        ('data.train=[{kind="tsv"}]', "kind 'tsv' needs a 'path'"),
        ('data.tests=[{kind="text",path="a/b"}]', "needs a 'name' of letters, digits, - and _"),
        ('data.tests=[{kind="text",path="a"},{kind="text",path="a"}]', "need different names"),
        ("data.train.0.path=x", "train is a value, not a table"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_what_is_right(file: Path, override: str, expected: str):
    error = message(file, override)
    assert expected in error
    assert error.startswith(str(file)) or override in error
    assert "\n" not in error


def test_an_unknown_recipe_names_the_nearest_one_that_ships():
    with pytest.raises(ConfigError, match="did you mean 'multi30k_transformer'"):
        load_recipe("multi30k_transfomer")
    with pytest.raises(ConfigError, match=r"recipes that ship: .*everyday, "):
        load_recipe("xyz")


def test_a_single_source_needs_no_list(file: Path):
    recipe = load_recipe(str(file), ['data.dev={kind="text",path="dev"}'])
    assert recipe.data.dev == load_recipe(str(file)).data.dev


def test_paths_are_relative_to_the_recipe_unless_data_dir_is_set(file: Path, tmp_path: Path):
    assert load_recipe(str(file)).data.train[0].path == str(tmp_path / "train")
    assert load_recipe(str(file), ["data.dir=elsewhere"]).data.train[0].path == "train"


def test_the_corpus_hash_knows_the_data_and_the_tokenizer_but_no_folder_and_no_training(
    file: Path, tmp_path: Path
):
    def of(*overrides: str) -> str:
        return load_recipe(str(file), overrides).corpus_hash()

    same = [
        "data.dir=/somewhere",
        "training.seed=9",
        "model.d_model=32",
        "generation.beam_size=2",
        "name=other",
    ]
    different = [
        "tokenizer.vocab_size=400",
        "tokenizer.type=unigram",
        "data.cleaning.max_words=9",
        "data.seed=2",
        "data.tests=[]",
        'data.train=[{kind="text",path="train",weight=2.0}]',
    ]
    assert {of(override) for override in same} == {of()}
    assert len({of(override) for override in different} | {of()}) == len(different) + 1
    moved = tmp_path / "moved" / "small.toml"
    moved.parent.mkdir()
    moved.write_text(RECIPE, encoding="utf-8")
    assert load_recipe(str(moved)).corpus_hash() == of()


def test_a_recipe_extends_another_and_changes_what_it_gives(tmp_path):
    (tmp_path / "base.toml").write_text(
        '[data]\ntrain = [{ kind = "text", path = "a" }]\ndev = [{ kind = "text", path = "b" }]\n'
        "[model]\nd_model = 64\nn_heads = 2\n[training]\nmax_updates = 7\nlearning_rate = 0.5\n"
    )
    (tmp_path / "child.toml").write_text(
        'extends = "base"\n[model]\nn_heads = 4\n[training]\nlearning_rate = 0.25\n'
    )
    base, child = (load_recipe(str(tmp_path / f"{name}.toml")) for name in ("base", "child"))
    assert child.name == "child"
    assert child.corpus_hash() == base.corpus_hash()
    assert (child.model.d_model, child.model.n_heads) == (64, 4)
    assert (child.training.max_updates, child.training.learning_rate) == (7, 0.25)


def test_a_model_of_another_architecture_replaces_the_extended_one():
    recipe = load_recipe("general_rnn_attention")
    assert recipe.model.architecture == "rnn"
    assert recipe.corpus_hash() == load_recipe("general").corpus_hash()


def test_recipes_that_extend_each_other_are_refused(tmp_path):
    for name, other in (("one", "two"), ("two", "one")):
        (tmp_path / f"{name}.toml").write_text(f'extends = "{other}"\n')
    with pytest.raises(ConfigError, match=r"leads back to one\.toml"):
        load_recipe(str(tmp_path / "one.toml"))

"""Preparation end to end: the same bytes each time, whole or not at all, every pair accounted for."""

import random
from collections import Counter
from pathlib import Path

import pytest

import training.data.prepare
from nmt.errors import DataError
from nmt.tokenizer import Tokenizer
from testbed.corpora import PAIRS, write_text, write_toy
from training.data.clean import REASONS
from training.data.prepare import choose, prepare
from training.data.shards import PreparedCorpus
from training.recipe import load_recipe


@pytest.fixture
def recipe(tmp_path: Path) -> str:
    return str(write_toy(tmp_path / "corpus"))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def error_of(recipe: str, out: Path, *overrides: str) -> str:
    with pytest.raises(DataError) as error:
        prepare(recipe, out, list(overrides))
    assert "\n" not in str(error.value)
    return str(error.value)


def train_pairs(folder: Path) -> list[tuple[str, str]]:
    pairs = PreparedCorpus.open(folder).split("train")
    return [(pairs.source_text(index), pairs.target_text(index)) for index in range(len(pairs))]


def test_two_preparations_give_the_same_bytes_wherever_the_files_lie(recipe: str, tmp_path: Path):
    first = prepare(recipe, tmp_path / "first", [])
    again = prepare(str(write_toy(tmp_path / "moved")), tmp_path / "deep" / "second", [])
    local = prepare(recipe, tmp_path / "third", [f"data.dir={tmp_path / 'moved'}"])
    assert contents(first) == contents(again) == contents(local)
    for name, content in contents(first).items():
        assert str(tmp_path).encode() not in content, name


def test_ids_are_those_of_the_tokenizer_in_the_folder(recipe: str, tmp_path: Path):
    corpus = PreparedCorpus.open(prepare(recipe, tmp_path / "data", []), load_recipe(recipe), verify=True)
    tokenizer = Tokenizer.load(corpus.tokenizer_file)
    for split in ("train", "dev"):
        pairs = corpus.split(split)
        for index in range(len(pairs)):
            assert pairs.source(index).tolist() == tokenizer.encode(pairs.source_text(index))
            assert pairs.target(index).tolist() == tokenizer.encode(pairs.target_text(index))


def test_the_default_folder_is_named_after_the_recipe(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert prepare(recipe, None, ["name=mine"]) == Path("runs/mine/data")
    assert (tmp_path / "runs" / "mine" / "data" / "report.json").is_file()


def test_work_done_is_not_done_again(recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    folder = prepare(recipe, tmp_path / "data", [])
    before = contents(folder)
    monkeypatch.setattr(training.data.prepare, "train_subwords", pytest.fail)
    assert prepare(recipe, folder, ["training.seed=5"]) == folder
    assert contents(folder) == before
    captured = capsys.readouterr()
    assert "already prepared" in captured.err
    assert captured.out == ""


def test_a_folder_of_another_recipe_or_of_other_corpora_is_left_alone(recipe: str, tmp_path: Path):
    folder = prepare(recipe, tmp_path / "data", [])
    before = contents(folder)
    assert "tokenizer.vocab_size: 320 there, 330 here" in error_of(recipe, folder, "tokenizer.vocab_size=330")
    write_text(Path(recipe).parent, "train", PAIRS[:59])
    error = error_of(recipe, folder)
    assert "prepared from other corpora (train.0.files.train.en: " in error
    assert "delete the folder" in error
    assert contents(folder) == before


def test_a_folder_or_file_of_the_user_is_never_overwritten(recipe: str, tmp_path: Path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "thesis.txt").write_text("precious")
    assert "no folder that 'nmt prepare' wrote" in error_of(recipe, tmp_path / "data")
    assert (tmp_path / "data" / "thesis.txt").read_text() == "precious"
    assert "no such folder" in error_of(recipe, tmp_path / "data" / "thesis.txt")


def test_an_empty_folder_is_used(recipe: str, tmp_path: Path):
    (tmp_path / "data").mkdir()
    assert len(train_pairs(prepare(recipe, tmp_path / "data", []))) == 60


def test_every_pair_read_is_written_or_counted_under_its_reason(tmp_path: Path):
    broken = [
        PAIRS[3],
        ("", "Vide."),
        ("Rings\x07 twice.", "Sonne deux fois."),
        ("Copied text stays here.", "Copied text stays here."),
        ("12 + 34 = 46", "12 + 34 = 46 !"),
        ("Short.", "Long, " * 30),
        ("word " * 101, "mot " * 101),
        ("".join(random.Random(1).choices("aeintrsl", k=120)), "Un mot de cent vingt lettres. " * 4),
        (PAIRS[72][0].upper() + "!", "Une autre traduction."),
        (PAIRS[61][0], "Encore une autre."),
        ("From 1997 to 1998, some 1999 cats.", "De 1997 à 1998, quelque 1999 chats."),
        ("The commission met yesterday and it did not vote.", "La commission a voté hier."),
        ("La commission ne vote pas aujourd'hui.", "The commission does not vote today."),
    ]
    recipe = str(write_toy(tmp_path / "corpus", [*PAIRS[:60], *broken]))
    strict = ("max_tokens=50", "max_digit_share=0.3", "max_length_deviation=1", "language_certainty=0.9")
    folder = prepare(recipe, tmp_path / "data", [f"data.cleaning.{threshold}" for threshold in strict])
    (source,) = PreparedCorpus.open(folder).report["train"]["sources"]
    assert train_pairs(folder) == PAIRS[:60]
    assert source["read"] == 73
    assert (source["kept"], source["written"]) == (61, 60)
    assert set(source["dropped"]) == set(REASONS)
    assert source["dropped"] == {**dict.fromkeys(REASONS, 1), "overlap": 2}
    assert {reason: len(pairs) for reason, pairs in source["samples"].items()} == source["dropped"]
    assert source["samples"]["duplicate"] == [list(PAIRS[3])]


def test_the_report_counts_tokens_and_lengths_as_they_are_on_disk(recipe: str, tmp_path: Path):
    corpus = PreparedCorpus.open(prepare(recipe, tmp_path / "data", []))
    report = corpus.report
    pairs = corpus.split("train")
    french = report["train"]["fr"]
    assert french["tokens"] == pairs.target_lengths.sum()
    assert french["tokens_at_percentile"]["100"] == pairs.target_lengths.max()
    assert french["words"] == sum(len(fr.split()) for _, fr in PAIRS[:60])
    assert french["unknown_tokens"] == 0
    assert report["recipe_hash"] == load_recipe(recipe).corpus_hash() == corpus.recipe_hash
    assert report["tests"][0]["pairs"] == 10
    assert report["not_found"] == []


def test_the_report_page_shows_counts_and_samples_of_every_reason_as_text(tmp_path: Path):
    markup = ("<b>Copied</b> text & more.", "<b>Copied</b> text & more.")
    recipe = str(write_toy(tmp_path / "corpus", [*PAIRS[:60], PAIRS[2], markup]))
    page = (prepare(recipe, tmp_path / "data", []) / "report.html").read_text(encoding="utf-8")
    assert "62 pairs read, 60 kept by cleaning" in page
    assert "<strong>identical</strong>: copied source, 1 pairs" in page
    assert "&lt;b&gt;Copied&lt;/b&gt; text &amp; more." in page
    assert PAIRS[2][1].replace("'", "&#39;") in page
    assert "<script" not in page


def test_weight_repeats_pairs_and_cap_limits_them_after_cleaning(recipe: str, tmp_path: Path):
    write_text(
        Path(recipe).parent,
        "more",
        [*PAIRS[:10], *[("", "")] * 10, *[(f"Extra {n} x y", f"Plus {n} x y") for n in "abcdefgh"]],
    )
    sources = '[{kind="text",path="train",weight=1.5},{kind="text",path="more",cap=5,weight=2}]'
    folder = prepare(recipe, tmp_path / "data", [f"data.train={sources}"])
    counts = Counter(train_pairs(folder))
    assert sorted(counts[pair] for pair in PAIRS[:60]) == [1] * 30 + [2] * 30
    extra = {pair: count for pair, count in counts.items() if pair[0].startswith("Extra")}
    assert sorted(extra.values()) == [2] * 5
    second = PreparedCorpus.open(folder).report["train"]["sources"][1]
    assert second["dropped"]["duplicate"] == 10
    assert (second["kept"], second["written"], second["cap"]) == (8, 10, 5)


def test_a_share_of_the_mixture_takes_as_much_less_of_each_source(recipe: str, tmp_path: Path):
    write_text(Path(recipe).parent, "more", [(f"Extra {n} ?", f"En plus {n} ?") for n in range(8)])
    sources = '[{kind="text",path="train",weight=1.5},{kind="text",path="more",cap=5,weight=2}]'
    folder = prepare(recipe, tmp_path / "data", [f"data.train={sources}", "data.share=0.5"])
    counts = Counter(pair[0].startswith("Extra") for pair in train_pairs(folder))
    assert counts == {False: 45, True: 5}


def test_random_choices_are_those_of_the_recipe_s_seed(recipe: str, tmp_path: Path):
    half = 'data.train=[{kind="text",path="train",weight=0.5}]'
    first, again = (train_pairs(prepare(recipe, tmp_path / name, [half])) for name in ("first", "again"))
    other = train_pairs(prepare(recipe, tmp_path / "other", [half, "data.seed=2"]))
    assert len(first) == len(other) == 30
    assert first == again != other


def test_choosing_is_exact_and_of_the_seed():
    assert choose(10, None, 1.0, random.Random(1)).tolist() == [1] * 10
    half = choose(1000, None, 0.5, random.Random(1))
    assert (half.sum(), half.max()) == (500, 1)
    assert (half == choose(1000, None, 0.5, random.Random(1))).all()
    assert (half != choose(1000, None, 0.5, random.Random(2))).any()
    capped = choose(1000, 30, 2.1, random.Random(1))
    assert ((capped > 0).sum(), capped.sum()) == (30, 63)
    assert choose(3, 50, 1.0, random.Random(1)).tolist() == [1, 1, 1]


def test_dev_and_test_text_is_kept_as_it_is_but_empty_dev_pairs_are_counted_out(recipe: str, tmp_path: Path):
    odd = [("  Two  spaces", "Deux\u00a0espaces "), ("", "rien"), ("NFD e\u0301", "NFD é")]
    write_text(Path(recipe).parent, "dev", odd)
    write_text(Path(recipe).parent, "test", odd)
    corpus = PreparedCorpus.open(prepare(recipe, tmp_path / "data", []))
    dev = corpus.split("dev")
    assert [(dev.source_text(index), dev.target_text(index)) for index in range(len(dev))] == [odd[0], odd[2]]
    assert corpus.report["dev"]["dropped"] == {"empty": 1}
    source, _ = corpus.test_sets()["held-out"]
    assert source.read_bytes() == (Path(recipe).parent / "test.en").read_bytes()


def test_an_optional_test_set_that_is_missing_is_reported(recipe: str, tmp_path: Path):
    tests = '[{kind="text",name="later",path="later",optional=true}]'
    corpus = PreparedCorpus.open(prepare(recipe, tmp_path / "data", [f"data.tests={tests}"]))
    assert corpus.report["not_found"] == ["later"]
    assert corpus.test_sets() == {}


def test_a_corpus_that_cleaning_empties_says_why(recipe: str, tmp_path: Path):
    error = error_of(recipe, tmp_path / "data", "data.cleaning.max_words=2")
    assert error == "no training pair is left of 60 read (refused: too_long 60); see data.cleaning"
    error = error_of(recipe, tmp_path / "data", "data.cleaning.max_tokens=1")
    assert "(refused: too_many_tokens 60)" in error
    assert not (tmp_path / "data").exists()


def test_a_dev_set_without_text_on_both_sides_is_refused(recipe: str, tmp_path: Path):
    write_text(Path(recipe).parent, "dev", [("one", ""), ("", "deux")])
    assert "no development pair" in error_of(recipe, tmp_path / "data")


@pytest.mark.parametrize("name", ["train", "dev", "test"])
def test_unequal_sides_of_any_split_are_refused_before_anything_is_written(
    recipe: str, tmp_path: Path, name: str
):
    with (Path(recipe).parent / f"{name}.en").open("a", encoding="utf-8") as file:
        file.write("One more line.\n")
    assert "is the first without a partner" in error_of(recipe, tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_the_toy_is_prepared_from_the_sample_that_ships_without_losing_a_pair(tmp_path: Path):
    corpus = PreparedCorpus.open(prepare("toy", tmp_path / "data", []))
    (source,) = corpus.report["train"]["sources"]
    assert (source["read"], source["written"]) == (3800, 3800)
    assert corpus.report["dev"]["pairs"] == 200

"""``python -m scripts.ideas``: what it would train, what it passes over, and the table."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from pathlib import Path

import pytest

from scripts import ideas
from scripts.ideas import digest, run_all, time_all
from scripts.ideas_corpora import CORPORA, FILES, SEPARATOR, made
from scripts.ideas_measures import lagging, sentences_with_names, share_of_persons
from scripts.ideas_table import RECORD, ROOT, lines_of, table, write_page
from scripts.ideas_variants import ALIKE, BY_NAME, IDEAS

WORK = Path("anywhere")


@pytest.mark.parametrize("idea", IDEAS, ids=lambda idea: idea.name)
def test_each_variant_is_a_valid_recipe_that_differs_from_its_base_in_what_it_says(idea):
    settings, base = idea.settings(1, [], WORK), BY_NAME[idea.base].settings(1, [], WORK)
    assert idea.corpus == BY_NAME[idea.base].corpus or idea.compared_with
    assert idea.corpus is not None or settings.corpus_hash() == base.corpus_hash()
    assert settings.training.max_updates == (100 if idea.is_tuning else 900)
    assert (idea.begins_with is None) or BY_NAME[idea.begins_with].is_pretraining != idea.is_tuning
    assert settings.adapts == idea.is_tuning
    assert all((ROOT / file).exists() for file in idea.files)
    if idea.recipe == BY_NAME[idea.base].recipe:
        changed = {change.partition("=")[0] for change in idea.changes}
        parts = [("model", settings.model, base.model), ("training", settings.training, base.training)]
        assert changed >= {
            f"{part}.{key}"
            for part, own, other in parts
            for key, value in own.model_dump().items()
            if value != other.model_dump()[key]
        }


def test_names_are_unique_and_every_run_is_trained_alike():
    assert len(BY_NAME) == len(IDEAS)
    assert not any(change.partition("=")[0] in str(ALIKE) for idea in IDEAS for change in idea.changes)


def test_where_links_lie_is_no_other_recipe_but_a_seed_is():
    idea = BY_NAME["supervised attention"]
    one, other = (digest(idea.settings(1, [], Path(work))) for work in ("here", "there"))
    assert one == other
    assert digest(idea.settings(2, [], WORK)) != one


def line(name: str, seed: int, val: float) -> dict[str, object]:
    return {
        "idea": name,
        "seed": seed,
        "recipe_sha256": digest(BY_NAME[name].settings(seed, [], WORK)),
        "BLEU": {"val": val, "test_2016_flickr": val + 1},
        "kept_percent": 80.0,
        "persons_percent": None,
        "average_lagging": None,
        "parameters": 1_500_000,
        "tokens_per_cpu_second": 4000.0,
        "signature": "nrefs:1",
        "machine": {"processor": "a CPU"},
    }


def test_what_the_record_has_is_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    record = tmp_path / "ideas.jsonl"
    record.write_text(json.dumps(line("Transformer", 1, 40.0)) + "\n", encoding="utf-8")
    asked = []

    def measured(idea, seed, overrides, work):
        asked.append((idea.name, seed))
        return line(idea.name, seed, 41.0)

    monkeypatch.setattr(ideas, "measured", measured)
    only = ["Transformer", "masked words, pre-training", "hard attention"]
    arguments = Namespace(work=tmp_path, json=record, only=only, seeds=[1, 2], overrides=[])
    run_all(arguments)
    assert asked == [("hard attention", 1), ("Transformer", 2), ("hard attention", 2)]
    run_all(arguments)
    assert len(asked) == 3
    assert len(record.read_text(encoding="utf-8").splitlines()) == 4


def test_the_table_has_means_and_the_difference_to_the_base():
    runs = [line("Transformer", 1, 40.0), line("Transformer", 2, 42.0), line("positions: rotary", 1, 43.0)]
    rows = list(table(runs))
    by_name = {row.split("]")[0]: row for row in rows}
    assert by_name["| [Transformer"].endswith("| 41.0 |  | 42.0 | 1.50 | 4,000 |")
    assert by_name["| [positions: rotary"].endswith("| 43.0 | +2.0 | 44.0 | 1.50 | 4,000 |")
    assert "`multi30k_transformer --set model.positions=rotary`" in by_name["| [positions: rotary"]
    assert by_name["| [hard attention"].endswith("|  |  |  |  |  |")
    assert "--set training.objective=masked_words" in by_name["| [encoder pre-trained by masked words"]
    assert "| [masked words, pre-training" not in by_name
    assert any("differ by 2.0 on average, by 2.0 at most" in row for row in rows)


def test_timing_anew_changes_the_speed_of_each_line_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    record = tmp_path / "ideas.jsonl"
    before = [line("Transformer", 1, 40.0), line("hard attention", 1, 20.0), line("Transformer", 2, 41.0)]
    record.write_text("".join(json.dumps(each) + "\n" for each in before), encoding="utf-8")
    rates = iter([100.0, 10.0, 300.0, 30.0, 200.0, 20.0])  # a round times each variant once
    monkeypatch.setattr(ideas, "prepared", lambda *_: None)
    monkeypatch.setattr(ideas, "speed", lambda *_: next(rates))
    time_all(Namespace(work=tmp_path, json=record, overrides=[]))
    after = lines_of(record)
    assert [each["tokens_per_cpu_second"] for each in after] == [200.0, 20.0, 200.0]
    changed = {"tokens_per_cpu_second", "timed_on"}
    for old, new in zip(before, after, strict=True):
        assert {key for key in new if new[key] != old.get(key)} <= changed


def test_what_is_kept_is_shown_of_captions_with_names_alone():
    copying = line("copying with a gate", 1, 40.0) | {"kept_percent": 61.0}
    rows = list(table([line("Transformer", 1, 40.0), copying, copying | {"seed": 2, "kept_percent": 70.0}]))
    assert rows[rows.index("| | share |") + 2 :] == ["| copying with a gate | 66 % |"]


def test_the_person_of_a_caption_is_that_of_its_reference_where_the_source_does_not_say_it():
    sources = [
        "Here is a girl. ⟦|⟧ Someone runs.",
        "Someone sits.",
        "Someone eats.",
        "A man swims.",
        "Someone",
    ]
    references = ["Une fillette court.", "Un homme est assis.", "Une jeune femme mange.", "Un homme.", "On."]
    written = ["Une petite fille court.", "Une femme est assise.", "Elle mange.", "Une femme.", "Un homme."]
    assert share_of_persons(sources, written, references) == pytest.approx(100 / 3, abs=0.05)
    asked = line("document encoder", 1, 40.0) | {"persons_percent": 97.0}
    base = line("without the sentence before", 1, 40.0) | {"persons_percent": 68.0}
    rows = list(table([asked, base]))[-2:]
    assert rows == ["| without the sentence before | 68 % |", "| document encoder | 97 % |"]


def test_lagging_is_that_of_the_paper():
    """Wait-1 lags by 1; who reads all first by the whole source (Ma et al. 2019, section 3.2)."""
    assert lagging([1, 2, 3, 4], 4) == 1.0
    assert lagging([4, 4, 4, 4], 4) == 4.0
    assert lagging([2, 4], 4) == pytest.approx((2 + (4 - 2)) / 2)


def test_names_and_numbers_are_in_their_sentences_and_many_are_different():
    sentences = sentences_with_names(300)
    assert all(word in text for text, kept in sentences for word in kept)
    assert sum(len(kept) for _, kept in sentences) == 500
    assert len({kept[0] for _, kept in sentences}) > 150


def test_a_name_that_is_asked_for_is_in_no_caption_and_both_sides_have_the_same_names(tmp_path: Path):
    captions = {"en": ["A woman in a red coat.", "Two dogs run"], "fr": ["Une femme.", "Deux chiens."]}
    for file in FILES:
        for language, texts in captions.items():
            (tmp_path / f"{file}.{language}").write_text("".join(f"{text}\n" for text in texts * 200))
    folder = made("named", tmp_path, tmp_path / "work")
    sides = [(folder / f"train.{language}").read_text().splitlines() for language in ("en", "fr")]
    invented = [re.findall(r"\b[A-Z][a-z]{5,}\b|\d+", text) for text in sides[0]]
    assert invented == [re.findall(r"\b[A-Z][a-z]{5,}\b|\d+", text) for text in sides[1]]
    assert 60 < sum("named" in text for text in sides[0]) < 140
    asked = {kept[0] for _, kept in sentences_with_names(300)}
    assert asked.isdisjoint(word for words in invented for word in words)


def test_what_a_second_source_and_the_sentence_before_tell_is_missing_without_them(tmp_path: Path):
    lines = ["A woman in a red coat.", "Two dogs run."] * 40
    for file in FILES:
        for language in ("en", "fr"):
            (tmp_path / f"{file}.{language}").write_text("".join(f"{line}\n" for line in lines))
    made_lines = {
        name: (made(name, tmp_path, tmp_path / "work") / "val.en").read_text().splitlines()
        for name in CORPORA
    }
    assert made_lines["someone"][:2] == ["Someone in a red coat.", "Two dogs run."]
    assert made_lines["document"][0] == f"Here is a woman. {SEPARATOR} Someone in a red coat."
    assert made_lines["document"][1].endswith(f" {SEPARATOR} Two dogs run.")
    hidden = " ".join(made_lines["masked"]).split()
    assert hidden.count("_") / len(hidden) == pytest.approx(0.4, abs=0.07)
    halves = [line.split(f" {SEPARATOR} ") for line in made_lines["two_sources"]]
    assert any(first != second for first, second in halves)
    assert (tmp_path / "work" / "corpora" / "masked" / "val.fr").read_text().splitlines() == lines


def test_the_page_has_the_table_of_the_record():
    assert write_page(RECORD, check=True) == 0

"""Robustness: the checks tell kept from lost, every behaviour has cases, the table holds what it should."""

import json
import tomllib
from pathlib import Path

import pytest

import nmt.translator
from nmt.cli import main
from nmt.config import GenerationConfig
from nmt.errors import DataError
from testbed.corpora import write_text
from tests.nmt.shipping import ships
from tests.stub_translator import StubTranslator
from training.robustness import cases
from training.robustness.cases import PHRASES, Behaviour, Case, behaviours
from training.robustness.report import Row, markdown, measure, robustness

PAIRS = [
    ("My dog sleeps, and Mary reads in Paris.", "Mon chien dort, et Mary lit à Paris."),
    ("There were 24 people in the big room.", "Il y avait 24 personnes dans la grande salle."),
    ("Where is the nearest station?", "Où est la gare la plus proche ?"),
    ("Yesterday I bought three apples.", "Hier, j'ai acheté trois pommes."),
]
SYNTHETIC = {"names", "URLs, addresses, paths", "variables and placeholders", "dates, times, quantities"}


def rows_of(rule, pairs=PAIRS, limit: int = 50) -> dict[str, Row]:
    measured = behaviours(pairs, limit=limit)
    return {row.behaviour: row for row in measure(StubTranslator(rule), measured, GenerationConfig())}


def test_every_behaviour_of_the_list_has_cases():
    names = {behaviour.name for behaviour in behaviours(PAIRS, limit=50)}
    assert names == SYNTHETIC | {
        "all capitals",
        "lower case",
        "title case",
        "no final punctuation",
        "typos",
        "spaces after commas",
        "numbers in sentences",
        "names in sentences",
        "emoji",
        "list marks, quotes, parentheses",
        "fragments",
        "one word",
        "blank, no words",
        "several sentences",
    }


def test_a_behaviour_that_the_data_cannot_show_is_left_out():
    names = {behaviour.name for behaviour in behaviours([("It rains.", "Il pleut.")], limit=50)}
    assert not {"numbers in sentences", "names in sentences", "several sentences"} & names
    assert names > SYNTHETIC


def test_the_limit_holds_for_each_and_the_choice_is_the_seeds():
    first = behaviours(PAIRS * 20, limit=7)
    assert all(1 <= len(behaviour.cases) <= 7 for behaviour in first)
    assert first[0].cases == behaviours(PAIRS * 20, limit=7)[0].cases
    assert first[0].cases != behaviours(PAIRS * 20, limit=7, seed=2)[0].cases


def test_what_copies_keeps_all_that_is_to_be_copied():
    rows = rows_of(lambda text: text)
    kept = {name: row.kept for name, row in rows.items()}
    for name in (*SYNTHETIC, "all capitals", "lower case", "emoji", "numbers in sentences", "fragments"):
        assert kept[name] == 100, name
    assert (
        kept["list marks, quotes, parentheses"]
        == kept["blank, no words"]
        == kept["names in sentences"]
        == 100
    )
    assert kept["typos"] == 0
    assert kept["one word"] < 10


def test_what_writes_nothing_keeps_nothing_but_what_is_blank():
    rows = rows_of(lambda text: "")
    kept = {name: row.kept for name, row in rows.items() if row.kept}
    assert list(kept) == ["blank, no words"]
    assert kept["blank, no words"] < 20


def test_bleu_is_of_the_disturbed_reference_with_the_clean_one_beside_it():
    oracle = {}
    for behaviour in behaviours(PAIRS, limit=50):
        if behaviour.name == "all capitals":
            oracle |= {case.source: case.reference for case in behaviour.cases}
    upper = rows_of(lambda text: oracle.get(text, "rien"))["all capitals"]
    assert upper.bleu is not None
    assert upper.clean_bleu is not None
    assert upper.bleu.score == pytest.approx(100)
    assert upper.clean_bleu.score < 1
    assert "case:mixed" in upper.bleu.signature
    names = rows_of(str.upper)["names"]
    assert (names.bleu, names.clean_bleu) == (None, None)


def test_every_text_is_translated_once():
    translator = StubTranslator()
    measure(translator, behaviours(PAIRS, limit=50), GenerationConfig())
    texts = [text for call, _ in translator.calls for text in call]
    assert len(texts) == len(set(texts))
    assert {source for source, _ in PAIRS} <= set(texts)


def test_what_is_lost_is_shown():
    behaviour = Behaviour("b", "k", (Case("a 1"), Case("b 2"), Case("c 3")), cases.has_same_digits)
    (row,) = measure(StubTranslator(lambda text: text.replace("2", "5")), [behaviour], GenerationConfig())
    assert row.kept == pytest.approx(66.7)
    assert row.lost == ({"source": "b 2", "translation": "b 5"},)


@pytest.mark.parametrize(
    ("kept", "case", "translation", "expected"),
    [
        (cases.is_upper, Case("A 1"), "UN 1 !", True),
        (cases.is_upper, Case("A"), "UN chat", False),
        (cases.is_upper, Case("A"), "", False),
        (cases.is_bare, Case("Yes"), "Oui", True),
        (cases.is_bare, Case("Yes"), "Oui.", False),
        (cases.is_bare, Case("Yes"), "Oui !", False),
        (cases.is_bare, Case("Yes"), " ", False),
        (cases.has_same_digits, Case("1,250 at 8:30"), "1 250 à 8 h 30", True),
        (cases.has_same_digits, Case("1987"), "1986", False),
        (cases.has_same_digits, Case("7"), "7 7", False),
        (cases.has_literal, Case("See {a}.", literal="{a}"), "Voir {a}.", True),
        (cases.has_literal, Case("See {a}.", literal="{a}"), "Voir {A}.", False),
        (cases.has_literal, Case("See {a}.", literal="{a}"), "Voir {a} {a}.", False),
        (cases.has_same_symbols, Case("Hi 🙂"), "Salut 🙂 !", True),
        (cases.has_same_symbols, Case("Hi 🙂"), "Salut 🙃", False),
        (cases.has_same_symbols, Case("Hi 🙂"), "Salut", False),
        (cases.has_same_marks, Case("- Go"), "- Va", True),
        (cases.has_same_marks, Case("a) Go"), "b) Va", False),
        (cases.has_same_marks, Case('"Go"'), "« Va »", True),
        (cases.has_same_marks, Case("“Go”"), "« Va", False),
        (cases.has_same_marks, Case("(Go)"), "(Va)", True),
        (cases.has_same_marks, Case("(Go)"), "Va)", False),
        (cases.is_fragment, Case("the red car"), "la voiture rouge", True),
        (cases.is_fragment, Case("the red car"), "La voiture rouge.", False),
        (cases.is_fragment, Case("the red car"), "la " * 10 + "voiture", False),
        (cases.is_accepted, Case("school", accepted=("école",)), "L’école.", True),
        (cases.is_accepted, Case("dog", accepted=("chien",)), "Un chien", True),
        (cases.is_accepted, Case("dog", accepted=("chien",)), "chienne", False),
        (cases.is_unchanged, Case(" \n"), " \n", True),
        (cases.is_unchanged, Case(" \n"), "", False),
        (cases.is_unchanged, Case("…"), "...", True),
        (cases.is_unchanged, Case("42"), "43", False),
        (cases.has_as_many_sentences, Case("One. Two."), "Un. Deux.", True),
        (cases.has_as_many_sentences, Case("One. Two."), "Un et deux.", False),
    ],
)  # fmt: skip
def test_a_check_tells_kept_from_lost(kept, case: Case, translation: str, expected: bool):
    assert kept(case, translation, "") is expected


@pytest.mark.parametrize(
    ("translation", "clean", "expected"),
    [("le chat dort", "Le chat dort.", True), ("le chien dort", "Le chat dort.", False), ("", "", False)],
)
def test_the_same_translation_may_differ_in_case_and_final_punctuation(translation, clean, expected):
    assert cases.is_same(Case("x"), translation, clean) is expected


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models "before" and "after", which need no folder."""
    rules = {"before": lambda text: "rien", "after": lambda text: text}
    load = lambda name, **_: StubTranslator(rules[name], name=name)  # noqa: E731
    monkeypatch.setattr(nmt.translator.Translator, "load", load)
    monkeypatch.setattr(
        "training.robustness.report.describe_model", lambda translator, _: {"name": translator.config.name}
    )
    monkeypatch.setattr("training.robustness.report.resolve_model", Path)
    monkeypatch.setattr("training.robustness.report.languages_of", lambda _: ("en", "fr"))


def test_two_models_stand_side_by_side_and_the_record_holds_every_number(models, tmp_path: Path, capsys):
    write_text(tmp_path, "dev", PAIRS)
    record_file = tmp_path / "record.json"
    robustness("after", against="before", data=[tmp_path / "dev"], json_file=record_file, limit=5)
    table = capsys.readouterr().out.splitlines()
    columns = [f"{model}: {number}" for model in ("before", "after") for number in ("kept %", "BLEU (clean)")]
    assert table[0] == f"| behaviour | kept is | cases | {' | '.join(columns)} |"
    assert "| names | name copied once | 5 | 0 |  | 100 |  |" in table
    assert "dev (4 sentences)" in table[-1]
    assert "Beam 3; `nrefs:1|case:mixed" in table[-1]
    record = json.loads(record_file.read_text(encoding="utf-8"))
    assert list(record["results"]) == ["before", "after"]
    assert len(record["results"]["after"]) == len(table) - 4
    assert record["data"][0]["sentences"] == 4
    assert {"models", "command", "commit", "machine"} <= set(record)
    lost = {row["behaviour"]: row["lost"] for row in record["results"]["before"]}
    assert lost["names"][0]["translation"] == "rien"


def test_without_data_the_sample_that_ships_is_used(models, capsys):
    robustness("after", limit=3)
    assert "dev (200 sentences)" in capsys.readouterr().out


def test_two_models_of_one_name_keep_their_own_columns(models, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr(nmt.translator.Translator, "load", lambda *_, **__: StubTranslator(name="same"))
    robustness("b/model", against="a/model", limit=2)
    assert "same: kept %" in (head := capsys.readouterr().out.splitlines()[0])
    assert "b/model: kept %" in head


@pytest.mark.parametrize("place", ["model", "against"])
def test_a_model_of_another_direction_is_refused_before_anything_is_translated(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    ships(monkeypatch, tmp_path, forward=("en", "fr"), backward=("fr", "en"))
    loaded = []
    monkeypatch.setattr(nmt.translator.Translator, "load", lambda name, **_: loaded.append(name))
    models = {"model": "forward", "against": "forward", place: "backward"}

    with pytest.raises(SystemExit) as end:
        main(["robustness", models["model"], "--against", models["against"]])

    assert end.value.code == 2
    assert capsys.readouterr().err == (
        "nmt: the model backward translates fr to en; nmt robustness has sentences and checks for en to fr "
        "only: give a model of that direction\n"
    )
    assert loaded == []


@pytest.mark.parametrize("name", ["test", "tatoeba_test", "test-2016"])
def test_a_test_set_is_refused(models, tmp_path: Path, name: str):
    write_text(tmp_path, name, PAIRS)
    with pytest.raises(DataError, match=r"named as a test set.* give a development set"):
        robustness("after", data=[tmp_path / name])


def test_a_set_that_is_missing_is_named(models, tmp_path: Path):
    with pytest.raises(DataError, match=r"gone\.en: No such file"):
        robustness("after", data=[tmp_path / "gone"])


def test_a_table_without_bleu_has_an_empty_cell():
    row = Row("b", "k", 3, 66.7, None, None, ())
    assert markdown({"m": [row]}, "caption").splitlines()[2] == "| b | k | 3 | 67 |  |"


def test_the_phrases_that_ship_are_well_formed():
    phrases = tomllib.loads(PHRASES.read_text(encoding="utf-8"))
    for kind in ("name", "address", "variable"):
        assert all(frame.count("{}") == 1 for frame in phrases[f"{kind}_frames"])
        values = phrases["names" if kind == "name" else "addresses" if kind == "address" else "variables"]
        assert len(set(values)) == len(values)
    assert all(any(character.isdigit() for character in text) for text in phrases["date_frames"])
    assert not any(character.isalpha() for text in phrases["empty"] for character in text)


def test_fifty_everyday_sentences_ship_all_different():
    lines = PHRASES.with_name("everyday50.en").read_text(encoding="utf-8").splitlines()
    assert len(set(lines)) == 50
    assert all(line.strip() == line and line[-1] in ".?!" for line in lines)

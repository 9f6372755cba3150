"""``nmt attention`` from files to the report, with a tiny model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from nmt.cli import main
from nmt.config import GenerationConfig, TransformerConfig
from nmt.model_folder.checkpoint import load_model_folder
from tests.nmt.conftest import SENTENCES, save_tiny_model, train_tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder ``tiny`` and the corpus ``dev.en``, ``dev.fr`` beside it."""
    path = tmp_path_factory.mktemp("attention")
    (path / "tokenizer.model").write_bytes(train_tokenizer())
    options = GenerationConfig(beam_size=2, repair_loops=False, max_length_offset=4)
    save_tiny_model(path / "tiny", path / "tokenizer.model", generation=options)
    for suffix, lines in (("en", SENTENCES[::2][:4]), ("fr", SENTENCES[1::2][:4])):
        (path / f"dev.{suffix}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    """The command's record; its page is ``page.html``."""
    files = ["--html", str(folder / "page.html"), "--json", str(folder / "record.json")]
    with pytest.raises(SystemExit) as end:
        main(["attention", "--model", str(folder / "tiny"), *files, *arguments])
    assert end.value.code == 0
    record: dict[str, Any] = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    return record


@pytest.fixture(scope="module")
def whole(folder: Path) -> tuple[dict[str, Any], str]:
    """One run with everything, its record and its page."""
    record = run(
        folder,
        *("The man who lives next door", "L'homme qui habite à côté"),
        *("--png", str(folder / "heads.png")),
        *("--corpus", str(folder / "dev")),
        *("--prune", "3", "--at-once", "2", "--save-pruned", str(folder / "pruned")),
        *("--word", "man", "--context", "The man is here.", "--context", "I like the man."),
    )
    return record, (folder / "page.html").read_text(encoding="utf-8")


@pytest.mark.exhaustive
def test_the_page_needs_nothing_from_outside(whole: tuple[dict[str, Any], str]) -> None:
    _, page = whole
    for attribute, address in re.findall(r'(src|href|action)="([^"]*)"', page):
        assert address.startswith(("#", "data:")), f"{attribute} {address}"
    assert "@import" not in page
    assert not re.search(r"url\((?!data:)", page)
    assert "import(" not in page
    assert not re.search(r"^import ", page, re.MULTILINE)


def test_the_page_has_every_section_with_names_and_headings(whole: tuple[dict[str, Any], str]) -> None:
    _, page = whole
    for heading in ("pair", "statistics", "pruning", "contexts", "made"):
        assert f'<section aria-labelledby="{heading}">' in page
        assert f'<h2 id="{heading}">' in page
    assert page.count('<tr><th scope="row">encoder 1.1</th>') == 2, "in the statistics, and masked"
    assert 'lang="fr">L&#39;homme qui habite à côté' in page
    assert all('alt="' in image for image in re.findall(r"<img[^>]*>", page))


def test_the_record_holds_the_maps_of_the_given_pair(whole: tuple[dict[str, Any], str], folder: Path) -> None:
    record, page = whole
    pair = record["pair"]
    assert pair["target"] == "L'homme qui habite à côté"
    assert pair["maps"]["source"][-1] == "</s>"
    assert [len(pair["maps"][kind]) for kind in ("encoder", "decoder", "cross")] == [2, 2, 2]
    inlined = re.search(r'id="maps">(.*?)</script>', page, re.DOTALL)
    assert inlined is not None
    assert json.loads(inlined[1]) == pair["maps"]
    assert (folder / "heads.png").read_bytes().startswith(b"\x89PNG")
    assert record["command"].startswith("pytest") or "command" in record


def test_each_head_is_masked_and_the_least_important_are_removed(whole: tuple[dict[str, Any], str]) -> None:
    pruning = whole[0]["pruning"]
    assert len(pruning["each"]) == 12
    assert [row["n_removed"] for row in pruning["greedy"]] == [2, 3]
    sizes = [row["parameters"] for row in (pruning["whole"], *pruning["greedy"])]
    assert sizes[0] - sizes[1] == 2 * (sizes[1] - sizes[2]) > 0, "every head is as large"
    least = sorted(pruning["each"], key=lambda row: row["loss"])[0]["heads"][0]
    assert pruning["greedy"][0]["heads"][0] == least
    assert "nrefs:1" in pruning["signature"]


def test_the_pruned_model_folder_loads_and_says_what_is_gone(
    whole: tuple[dict[str, Any], str], folder: Path
) -> None:
    loaded = load_model_folder(folder / "pruned")
    assert loaded.config.name == "tiny-pruned"
    assert isinstance(loaded.config.model, TransformerConfig)
    assert (
        sum(map(sum, (loaded.config.model.heads_of(kind) for kind in ("encoder", "decoder", "cross")))) == 9
    )
    assert "3 attention heads were removed" in (folder / "pruned" / "card.md").read_text(encoding="utf-8")


def test_the_models_own_translation_is_shown_without_a_target(folder: Path) -> None:
    record = run(folder, "The man who lives next door is a doctor.")
    assert record["pair"]["maps"]["written"][-1] == "</s>"
    assert record["statistics"] is None
    assert "pruning" not in (folder / "page.html").read_text(encoding="utf-8").split("<h2")[1]


def test_every_option_reaches_what_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def explore(model: str, text: str, target: str, **options: Any) -> None:
        given.update(options, model=model, text=text, target=target)

    monkeypatch.setattr("training.explore.attention.explore", explore)
    words = "TEXT TARGET --model M --html H --json J --png P --corpus X --limit 7 --conllu C --word W"
    words += " --context A --context B --prune 6 --at-once 3 --save-pruned S --device cpu"
    with pytest.raises(SystemExit) as end:
        main(["attention", *words.split()])

    assert end.value.code == 0
    paths = {"html": "H", "json_file": "J", "png": "P", "corpus": "X", "conllu": "C", "save_pruned": "S"}
    assert given == {
        **{name: Path(value) for name, value in paths.items()},
        **{"text": "TEXT", "target": "TARGET", "model": "M", "word": "W", "contexts": ["A", "B"]},
        **{"limit": 7, "prune": 6, "at_once": 3, "device": "cpu"},
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to look at: give TEXT"),
        (["--prune", "2", "Hello."], "add --corpus X"),
        (["--corpus", "dev", "--save-pruned", "new"], "needs --prune N"),
        (["--word", "man"], "go together"),
        (["--word", "man", "--context", "a man", "--context", "nobody"], "sentence 2 does not hold the word"),
        (["--corpus", "absent"], "absent.en"),
        (["One. Two sentences. Three of them."], "give one, or its translation as well"),
    ],
)
def test_what_cannot_be_shown_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["attention", "--model", str(folder / "tiny"), "--html", str(folder / "no.html"), *arguments])
    assert end.value.code == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1
    assert not (folder / "no.html").exists()

"""``nmt tm`` and ``nmt translate --memory``, with the shipped model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from nmt import cli
from tests.nmt.memory.test_files import BOMB, TMX

Run = Callable[..., tuple[int, str, str]]
TSV = "Open the door.\tOuvrez donc la porte.\nPage 3 of 9\tFolio 3 sur 9\n"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str | Path) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main([str(argument) for argument in arguments])
        out, error = capsys.readouterr()
        return int(ended.value.code or 0), out, error

    return call


@pytest.fixture
def memory(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "units.tsv").write_text(TSV, encoding="utf-8")
    path = tmp_path / "folder" / "mine.sqlite3"
    assert run("tm", "import", tmp_path / "units.tsv", "--memory", path, "--from", "en", "--to", "fr")[0] == 0
    return path


def test_a_memory_is_imported_searched_and_exported(run: Run, tmp_path: Path, memory: Path) -> None:
    (tmp_path / "legal.tmx").write_text(TMX, encoding="utf-8")

    status, out, error = run(
        "tm",
        "import",
        tmp_path / "legal.tmx",
        tmp_path / "units.tsv",
        "--memory",
        memory,
        "--from",
        "en",
        "--to",
        "fr",
    )

    assert (status, out) == (0, "")
    assert "legal.tmx: 2 units from en to fr are new of 2; left out: 1 of other languages, 1 blank" in error
    assert "units.tsv: 0 units from en to fr are new of 2" in error
    assert run("tm", "search", "Page 5 of 7", "--memory", memory)[
        1
    ] == "1.00\tPage 5 of 7\tFolio 5 sur 7\n".replace("Page 5 of 7", "Page 3 of 9")
    status, out, _ = run("tm", "search", "Open a door.", "--memory", memory, "--threshold", "0.7", "--json")
    assert json.loads(out)["target"] == "Ouvrez donc la porte."
    assert run("tm", "search", "Open a door.", "--memory", memory, "--threshold", "0.9") == (0, "", "")
    for suffix in ("tmx", "tsv", "xliff"):
        target = tmp_path / f"out.{suffix}"
        assert run("tm", "export", target, "--memory", memory) == (0, f"{target}\n", "")
        again = tmp_path / f"{suffix}.sqlite3"
        _, _, error = run("tm", "import", target, "--memory", again, "--from", "en", "--to", "fr")
        assert "4 units from en to fr are new of 4" in error
    assert "is there already" in run("tm", "export", target, "--memory", memory)[2]


def test_without_a_name_the_memory_is_in_the_data_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platformdirs, "user_data_path", lambda _: tmp_path / "data")
    (tmp_path / "a.tmx").write_text(TMX, encoding="utf-8")

    assert "make one with nmt tm import" in run("tm", "search", "a")[2]
    assert "en to de" in run("tm", "import", tmp_path / "a.tmx")[2], "the file's first other language"
    assert (tmp_path / "data" / "memory.sqlite3").is_file()
    assert "has no units from en to fr; it has en to de" in run("tm", "search", "a")[2]


@pytest.mark.parametrize(
    ("name", "content", "options", "said"),
    [
        ("a.tmx", BOMB, (), "a.tmx: the TMX file declares XML entities; remove them"),
        ("a.tmx", "<html/>", (), "a.tmx: this is no TMX"),
        ("a.tsv", TSV, (), "a.tsv: a table does not name its languages"),
        ("a.tsv", TSV, ("--from", "en"), "--from and --to go together"),
        ("a.pdf", "", (), ".pdf is not known"),
    ],
)
def test_a_file_that_is_no_memory_is_one_line(
    run: Run, tmp_path: Path, name: str, content: str, options: tuple[str, ...], said: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")

    status, _, error = run("tm", "import", tmp_path / name, "--memory", tmp_path / "m", *options)

    assert status == 2
    assert said in error
    assert error.count("\n") == 1


def test_translate_takes_what_the_memory_has(run: Run, tmp_path: Path, memory: Path) -> None:
    with_memory = ("--memory", memory, "--model", "general")

    assert (
        run("translate", "Page 4 of 5", "Open the door.", *with_memory)[1]
        == "Folio 4 sur 5\nOuvrez donc la porte.\n"
    )
    told = json.loads(run("translate", "Open a door.", "--threshold", "0.6", "--json", *with_memory)[1])
    assert [(one["score"], one["target"]) for one in told["memory"]] == [(0.75, "Ouvrez donc la porte.")]
    marked = run("translate", "--markup", "html", "<p>Open the <b>door</b>.</p>", *with_memory)[1]
    assert marked == "<p>Ouvrez donc la <b>porte</b>.</p>\n"
    (tmp_path / "a.md").write_text("# Page 7 of 8\n", encoding="utf-8")
    assert run("translate", "--file", tmp_path / "a.md", *with_memory)[0] == 0
    assert (tmp_path / "a.fr.md").read_text(encoding="utf-8") == "# Folio 7 sur 8\n"


def test_options_of_a_memory_are_named_as_typed(run: Run, memory: Path) -> None:
    assert (
        "--threshold 0.2 is out of range: give 0.5 to 1"
        in run("translate", "a", "--memory", memory, "--threshold", "0.2", "--model", "general")[2]
    )
    assert "add --memory F" in run("translate", "a", "--threshold", "0.8")[2]
    assert (
        "has no units from fr to en"
        in run("translate", "a", "--memory", memory, "--from", "fr", "--to", "en")[2]
    )

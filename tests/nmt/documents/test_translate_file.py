"""``nmt translate --file``: what is written where, and what is refused before anything is translated."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import nmt.translator
from nmt import cli
from nmt.documents.translate import open_file, translate_file
from nmt.options import TranslationOptions
from tests.nmt.shipping import ships
from tests.stub_translator import StubTranslator

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command in this process: (exit status, standard output, standard error)."""
    monkeypatch.setattr(nmt.translator.Translator, "load", lambda *_, **__: StubTranslator())

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b""), encoding="utf-8"))
        with pytest.raises(SystemExit) as exit_:
            cli.main(["translate", *map(str, arguments)])
        captured = capsys.readouterr()
        return int(exit_.value.code or 0), captured.out, captured.err

    return run


def test_a_translation_lies_beside_its_document(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "notes.en.txt"
    source.write_text("Some words.\n\nMore.\n")

    status, out, _ = run("--file", source)

    assert (status, out) == (0, f"{tmp_path / 'notes.fr.txt'}\n")
    assert (tmp_path / "notes.fr.txt").read_text() == "SOME WORDS.\n\nMORE.\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.en.txt", "notes.fr.txt"]


def test_the_languages_of_the_model_name_the_translation(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ships(monkeypatch, tmp_path / "shipped", a=("en", "fr"), b=("fr", "en"))
    source = tmp_path / "notes.fr.html"
    source.write_text('<html lang="fr-FR"><p>des mots</p></html>')

    for option in (["--from", "fr"], ["--to", "en"], ["--model", "b"], ["--from", "fr", "--to", "en"]):
        (tmp_path / "notes.en.html").unlink(missing_ok=True)
        assert run(*option, "--file", source)[:2] == (0, f"{tmp_path / 'notes.en.html'}\n")
        assert (tmp_path / "notes.en.html").read_text() == '<html lang="en"><p>DES MOTS</p></html>'
    status, _, err = run("--from", "de", "--file", source)
    assert (status, "there is a (en to fr), b (fr to en)" in err) == (1, True)
    assert run("--model", "a", "--from", "fr", "--file", source)[0] == 1


def test_several_files_are_all_translated_each_from_its_own_language(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ships(monkeypatch, tmp_path / "shipped", a=("en", "fr"), b=("fr", "en"))
    (tmp_path / "one.txt").write_text("The cat has been asleep on the sofa since this morning.")
    (tmp_path / "two.txt").write_text("Le chat dort sur le canapé depuis ce matin.")
    files = ["--file", tmp_path / "one.txt", "--file", tmp_path / "two.txt"]

    status, out, _ = run(*files)

    assert (status, out) == (0, f"{tmp_path / 'one.fr.txt'}\n{tmp_path / 'two.en.txt'}\n")
    assert (tmp_path / "two.en.txt").read_text() == "LE CHAT DORT SUR LE CANAPÉ DEPUIS CE MATIN."
    assert "is for one --file, there are 2" in run(*files, "--out", tmp_path / "x.txt")[2]


def test_what_is_wrong_with_one_of_several_files_is_said_before_any_is_translated(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "one.txt").write_text("The cat sleeps.")
    assert run("--file", tmp_path / "one.txt", "--file", tmp_path / "none.txt")[:2] == (1, "")
    status, out, err = run("--file", tmp_path / "one.txt", "--file", tmp_path / "one.txt")
    assert (status, out) == (2, "")
    assert "would write" in err
    assert [path.name for path in tmp_path.iterdir()] == ["one.txt"]


def test_out_names_the_file_and_a_template_becomes_a_po(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.pot").write_text('msgid "Open"\nmsgstr ""\n')

    assert run("--file", tmp_path / "a.pot")[0] == 0
    assert run("--file", tmp_path / "a.pot", "--out", tmp_path / "other.po")[0] == 0
    assert (tmp_path / "a.fr.po").read_bytes() == (tmp_path / "other.po").read_bytes()


def test_a_file_is_never_replaced_without_force(run: Run, tmp_path: Path) -> None:
    source, target = tmp_path / "a.txt", tmp_path / "a.fr.txt"
    source.write_text("Words")
    target.write_text("dear to me")

    status, _, err = run("--file", source)
    assert status == 2
    assert "a.fr.txt is there already: choose another with --out, or add --force" in err
    assert target.read_text() == "dear to me"

    assert run("--file", source, "--force")[0] == 0
    assert target.read_text() == "WORDS"


def test_the_source_is_never_replaced(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("Words")

    status, _, err = run("--file", source, "--out", source, "--force")

    assert (status, source.read_text()) == (2, "Words")
    assert "choose another with --out" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--file", "none.txt"), "none.txt: No such file"),
        (("--file", "none.pdf"), "No such file"),
        (("--file", "a.txt", "--json"), "--file gives a document"),
        (("--force", "text"), "go with --file IN"),
    ],
)
def test_wrong_use_is_one_line(run: Run, arguments: tuple[str, ...], words: str) -> None:
    status, out, err = run(*arguments)

    assert status in (1, 2)
    assert words in err
    assert out == ""
    assert err.count("\n") == 1


def test_an_error_names_the_file_and_not_its_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"secret": ')

    status, _, err = run("--file", tmp_path / "a.json")

    assert status == 2
    assert "a.json: the document is not JSON" in err
    assert "secret" not in err


def test_a_document_in_which_nothing_is_open_says_so(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "a.po"
    source.write_text('msgid ""\nmsgstr ""\n\nmsgid "Red"\nmsgstr "Rouge"\n')

    status, out, err = run("--file", source)

    assert (status, out.strip()) == (0, str(tmp_path / "a.fr.po"))
    assert "all 1 texts of the document have a translation already" in err
    assert "add --everything" in err
    (tmp_path / "b.md").write_text("12\n")
    assert "there is no text to translate" in run("--file", tmp_path / "b.md")[2]


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    """A folder of documents, one of them damaged."""
    folder = tmp_path / "manual"
    (folder / "part one").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "a.md").write_text("# The title\n")
    (folder / "part one" / "b.txt").write_text("The cat sleeps.\n")
    (folder / "part one" / "bad.json").write_text('{"secret": ')
    (folder / "part one" / "app.pot").write_text('msgid "Open"\nmsgstr ""\n')
    (folder / "table.csv").write_text("id,text\n1,The cat sleeps.\n")
    (folder / "logo.png").write_bytes(b"\x89PNG")
    (folder / "report.pdf").write_bytes(b"%PDF")
    (folder / ".git" / "c.txt").write_text("Hidden")
    return folder


def files_in(folder: Path) -> dict[str, str]:
    return {str(one.relative_to(folder)): one.read_text() for one in folder.rglob("*") if one.is_file()}


TRANSLATED = {
    "a.md": "# THE TITLE\n",
    "part one/b.txt": "THE CAT SLEEPS.\n",
    "table.csv": "id,text\n1,THE CAT SLEEPS.\n",
}


def test_a_folder_is_mirrored_and_what_fails_is_named_at_the_end(run: Run, manual: Path) -> None:
    status, out, err = run("--file", manual, "--column", "text", "--from", "en")
    found = files_in(manual.with_name("manual.fr"))

    assert 'msgstr "OPEN"' in found.pop("part one/app.po")
    assert found == TRANSLATED
    assert (status, len(out.splitlines())) == (1, 4)
    lines = err.splitlines()
    assert lines[-2] == "nmt: 4 documents translated, 0 were there already, 1 failed"
    assert lines[-1].startswith(f"nmt: {manual / 'part one' / 'bad.json'}: the document is not JSON")
    assert any("left out: " in line and ".png 1" in line and ".pdf 1" in line for line in lines)
    assert any("PDF is not translated" in line for line in lines)
    assert "secret" not in err


def test_what_is_done_is_skipped_unless_forced_and_the_rest_is_done(run: Run, manual: Path) -> None:
    arguments = ("--file", manual, "--column", "text", "--from", "en", "--out", manual / "french")
    run(*arguments)
    (manual / "french" / "a.md").write_text("mine")
    (manual / "french" / "table.csv").unlink()
    os.utime(manual / "a.md", (2**32, 2**32))

    status, out, err = run(*arguments)

    assert (status, out) == (1, f"{manual / 'french' / 'table.csv'}\n")
    assert "1 documents translated, 3 were there already, 1 failed" in err
    assert f"{manual / 'french' / 'a.md'} is older than" in err
    assert (manual / "french" / "a.md").read_text() == "mine"
    (manual / "part one" / "bad.json").unlink()
    assert run(*arguments, "--force")[0] == 0
    assert (manual / "french" / "a.md").read_text() == TRANSLATED["a.md"]
    assert not (manual / "french" / "french").exists()


def test_folders_and_files_go_together(run: Run, manual: Path, tmp_path: Path) -> None:
    (manual / "part one" / "bad.json").unlink()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "d.txt").write_text("The dog sleeps.")
    (tmp_path / "e.txt").write_text("The end.")
    files = [item for name in ("manual", "other", "e.txt") for item in ("--file", tmp_path / name)]

    assert run(*files, "--column", "2", "--from", "en", "--out", tmp_path / "out")[0] == 0
    assert set(files_in(tmp_path / "out")) == {
        *("e.txt", "other/d.txt", "manual/a.md", "manual/table.csv", "manual/part one/b.txt"),
        "manual/part one/app.po",
    }
    assert run(*files[2:], "--from", "en")[0] == 0
    assert (tmp_path / "e.fr.txt").read_text() == "THE END."
    assert (tmp_path / "other.fr" / "d.txt").read_text() == "THE DOG SLEEPS."


def test_a_folder_without_documents_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.txt").write_text("Words")

    status, _, err = run("--file", tmp_path / "empty")

    assert (status, "holds no document" in err) == (2, True)
    assert "is a file: for folders" in run("--file", tmp_path, "--out", tmp_path / "x.txt")[2]


def test_the_texts_of_a_document_are_the_context_of_each(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("Are you there?\n\nThe sea.\n\nHey, it is yours!\n", encoding="utf-8")
    translator = StubTranslator()
    for asked, given in (("", "Are you there?\nHey, it is yours!"), ("Dear Sir,", "Dear Sir,")):
        task = open_file(source, None, force=True)
        options = TranslationOptions(context=asked)
        translate_file(translator, task, options=options, advance=lambda _: None)  # type: ignore[arg-type]

        assert translator.wishes["context"] == given

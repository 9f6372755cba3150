"""The command line: what goes to standard output, how errors look, and that nothing is imported too early."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import nmt.translator
from nmt import cli
from nmt.commands import loading
from nmt.commands.translate import LINES_AT_ONCE
from nmt.config import AlignmentConfig, GenerationConfig, parse
from nmt.errors import ConfigError, DiskFullError, InputError, ModelFolderError, NumericalError
from nmt.model_folder.checkpoint import PRETRAINED
from nmt.text.glossary import Glossary, Term
from tests.stub_translator import StubTranslator

COMMANDS = (
    "translate",
    "translate-corpus",
    "align-links",
    "align-train",
    "align-probe",
    "attention",
    "blend",
    "grow",
    "check",
    "export",
    "import",
    "learn",
    "mcp",
    "serve",
    "prepare",
    "train",
    "pack",
    "unpack",
    "evaluate",
    "compare",
    "robustness",
    "calibrate",
    "align",
    "info",
)

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command in this process: (exit status, standard output, standard error)."""

    def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as exit_:
            cli.main(arguments)
        captured = capsys.readouterr()
        return int(exit_.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture
def translator(monkeypatch: pytest.MonkeyPatch) -> StubTranslator:
    """What ``Translator.load`` gives in this test."""
    stub = StubTranslator(truncates=lambda text: "endless" in text)
    monkeypatch.setattr(nmt.translator.Translator, "load", lambda *_, **__: stub)
    return stub


def python(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, **options
    )


# --- imports


def test_help_imports_neither_torch_nor_training_nor_service() -> None:
    code = (
        "import sys, nmt.cli\n"
        "try: nmt.cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'training', 'service', 'fastapi', 'sacrebleu', 'matplotlib'}\n"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    result = python("-c", code)

    assert result.stderr.strip() == "[]"
    assert "translate" in result.stdout


def test_a_line_is_translated_without_torch_once_the_export_is_there(tmp_path: Path) -> None:
    def translate(*options: str) -> tuple[str, str]:
        code = (
            "import sys, nmt.cli, nmt.translator\n"
            "try: nmt.cli.main(sys.argv[1:])\n"
            "finally: print('torch' in sys.modules, file=sys.stderr)"
        )
        environment = {**os.environ, "PASSERELLE_CACHE": str(tmp_path)}
        result = python("-c", code, "translate", *options, "See you on 3 May at 10:30!", env=environment)
        return result.stdout, result.stderr.strip()

    first, exported = translate("--json")
    again, loaded = translate("--json")
    linked, with_links = translate("--alignment")

    assert (exported, loaded, with_links) == ("True", "False", "True")
    assert first == again
    assert json.loads(again)["confidence"] > 0
    assert re.fullmatch(rf"{re.escape(json.loads(again)['text'])} \|\|\| (?:\d+-\d+ ?)+\n", linked)


def test_every_command_explains_itself_without_torch() -> None:
    code = (
        "import sys, nmt.cli\n"
        f"for command in {COMMANDS!r}:\n"
        "    try: nmt.cli.main([command, '--help'])\n"
        "    except SystemExit as exit_: assert not exit_.code, (command, exit_.code)\n"
        "    assert 'torch' not in sys.modules, command"
    )
    result = python("-c", code)

    assert result.returncode == 0, result.stderr
    for command in COMMANDS:
        assert f"Usage: nmt {command}" in result.stdout


def test_the_command_table_is_that_of_the_design() -> None:
    assert tuple(info.name or info.callback.__name__ for info in cli.app.registered_commands) == COMMANDS


def test_typer_runner_shows_the_version() -> None:
    result = CliRunner().invoke(cli.app, ["--version"])

    assert (result.exit_code, result.stdout) == (0, "passerelle 0.1.0\n")


def test_a_missing_extra_is_one_line_that_names_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'sacrebleu'", name="sacrebleu")

    monkeypatch.setattr(loading.importlib, "import_module", missing)

    status, _, error = run("evaluate", "m", "--source", "a", "--reference", "b")

    assert (status, error) == (2, "nmt: sacrebleu is not installed: run pip install 'passerelle[train]'\n")


def test_a_broken_module_of_our_own_is_no_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'training.gone'", name="training.gone")

    monkeypatch.setattr(loading.importlib, "import_module", missing)

    with pytest.raises(ModuleNotFoundError):
        cli.main(["prepare", "toy"])


# --- translate


def test_texts_are_translated_one_a_line(run: Run, translator: StubTranslator) -> None:
    assert run("translate", "a cat", "a dog") == (0, "A CAT\nA DOG\n", "")


def test_standard_input_gives_one_line_for_each_line_and_blank_stays_blank(
    run: Run, translator: StubTranslator
) -> None:
    assert run("translate", stdin=b"a cat\n\n  \na dog") == (0, "A CAT\n\n  \nA DOG\n", "")


def test_markup_on_standard_input_is_one_whole(run: Run, translator: StubTranslator) -> None:
    page = b"<p>a <b>cat</b></p>\r\n<pre>x\n</pre>\r\n<p>a dog</p>"

    status, out, error = run("translate", "--markup", "html", stdin=page)

    assert (status, error) == (0, "")
    assert out == "<p>A <b>CAT</b></p>\r\n<pre>x\n</pre>\r\n<p>A DOG</p>"


def test_markup_arguments_are_printed_one_a_line(run: Run, translator: StubTranslator) -> None:
    assert run("translate", "--markup", "xml", "<a>a <b>cat</b></a>", "a dog") == (
        0,
        "<a>A <b>CAT</b></a>\nA DOG\n",
        "",
    )


def test_broken_xml_is_an_error_with_its_place(run: Run, translator: StubTranslator) -> None:
    status, out, error = run("translate", "--markup", "xml", "a <b>cat")

    assert (status, out) == (2, "")
    assert error.startswith("nmt: the XML is not well-formed at line 1, column 3: ")


@pytest.mark.parametrize("option", [["--json"], ["--alignment"], ["--n-best", "2"]])
def test_markup_gives_nothing_but_markup(run: Run, translator: StubTranslator, option: list[str]) -> None:
    status, _, error = run("translate", "--markup", "html", *option, "a")

    assert (status, error) == (
        2,
        "nmt: --markup gives markup: leave out --alignment, --json and --n-best\n",
    )


def test_more_lines_than_are_translated_at_once_keep_their_order(
    run: Run, translator: StubTranslator
) -> None:
    lines = [f"line {n}" for n in range(2 * LINES_AT_ONCE + 3)]

    _, out, _ = run("translate", stdin="\n".join(lines).encode())

    assert out.split("\n") == [*(line.upper() for line in lines), ""]
    assert [len(texts) for texts, _ in translator.calls] == [LINES_AT_ONCE, LINES_AT_ONCE, 3]


def test_windows_line_ends_and_other_separators_make_no_lines(run: Run, translator: StubTranslator) -> None:
    _, out, _ = run("translate", stdin="a\r\nb\u2028c\x0bd\n".encode())

    assert out == "A\nB\u2028C\x0bD\n"


def test_a_line_break_that_the_model_writes_does_not_shift_the_lines_after_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = StubTranslator(lambda text: text.replace("-", "\n"))
    monkeypatch.setattr(nmt.translator.Translator, "load", lambda *_, **__: stub)

    assert run("translate", stdin=b"a-b\nc\n")[1] == "a b\nc\n"


def test_json_lines_hold_the_whole_translation(run: Run, translator: StubTranslator) -> None:
    _, out, _ = run("translate", "--json", "--alignment", "un été")

    record = json.loads(out)
    assert out.count("\n") == 1
    assert (record["source"], record["text"]) == ("un été", "UN ÉTÉ")
    assert record["links"] == [{"source": i, "target": i, "score": 1.0} for i in (0, 1)]
    assert record["source_tokens"][1] == {"text": "été", "start": 3, "end": 6}
    assert "été" in out, "JSON is UTF-8, not escaped"


def test_n_best_is_a_list_by_input_index_and_widens_the_beam(run: Run, translator: StubTranslator) -> None:
    _, out, _ = run("translate", "--n-best", "4", stdin=b"a\nb\n")

    assert out.splitlines()[:2] == ["0 ||| A ||| -0.5000", "0 ||| A (2) ||| -1.5000"]
    assert [line.split()[0] for line in out.splitlines()] == list("00001111")
    assert translator.calls[0][1].beam_size == 4


def test_alignment_is_added_in_pharaoh_format(run: Run, translator: StubTranslator) -> None:
    assert run("translate", "--alignment", stdin=b"a cat\n\n")[1] == "A CAT ||| 0-0 1-1\n\n"


def test_the_quality_is_passed_on(run: Run, translator: StubTranslator) -> None:
    run("translate", "--quality", "best", "x")

    assert translator.wishes == {"quality": "best", "confidence": False}


def test_confidence_is_asked_for_where_it_is_shown(run: Run, translator: StubTranslator) -> None:
    run("translate", "--json", "x")

    assert "confidence" not in translator.wishes, "True, as by default"


def test_beam_is_passed_on_and_the_rest_is_the_models_own(run: Run, translator: StubTranslator) -> None:
    run("translate", "--beam", "1", "x")

    assert translator.calls[0][1] == translator.generation.model_copy(update={"beam_size": 1})


def test_the_coverage_penalty_is_passed_on(run: Run, translator: StubTranslator) -> None:
    run("translate", "--coverage-penalty", "0.2", "x")

    assert translator.calls[0][1] == translator.generation.model_copy(update={"coverage_penalty": 0.2})


def test_glossary_formality_and_typography_are_passed_on(
    run: Run, translator: StubTranslator, tmp_path: Path
) -> None:
    (tmp_path / "terms.tsv").write_text("dog\tchien\tinflect\n", encoding="utf-8")
    glossary = str(tmp_path / "terms.tsv")

    status, _, _ = run(
        *("translate", "--glossary", glossary, "--formality", "formal", "--french-typography"),
        *("--min-confidence", "0.5", "x"),
    )

    assert status == 0
    assert translator.wishes == {
        "glossary": Glossary.of([Term("dog", "chien", inflect=True)]),
        "formality": "formal",
        "french_typography": True,
        "min_confidence": 0.5,
        "confidence": False,
    }
    assert run("translate", "x")[0] == 0


def test_a_glossary_with_an_error_is_refused_by_its_line(
    run: Run, translator: StubTranslator, tmp_path: Path
) -> None:
    (tmp_path / "terms.tsv").write_text("dog\tchien\n\tchat\n", encoding="utf-8")

    status, out, error = run("translate", "--glossary", str(tmp_path / "terms.tsv"), "x")

    assert (status, out) == (2, "")
    assert "terms.tsv: line 2: the source term is blank" in error


def test_a_truncated_translation_is_said_on_standard_error(run: Run, translator: StubTranslator) -> None:
    status, out, error = run("translate", stdin=b"short\nendless\n")

    assert (status, out) == (0, "SHORT\nENDLESS\n")
    assert error == "nmt: warning: line 2: stopped at the maximum length; its end may be missing\n"


def test_input_that_is_not_utf8_names_the_line(run: Run, translator: StubTranslator) -> None:
    status, _, error = run("translate", stdin=b"fine\n\xff\xfe\n")

    assert (status, error) == (2, "nmt: line 2: not UTF-8 at byte 0; convert it first\n")


# --- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("translat",), "No such command 'translat'"),
        (("translate", "--bem", "3"), "No such option: --bem"),
        (("translate", "--beam", "many", "x"), "Invalid value for '--beam'"),
        (("evaluate",), "Missing argument 'MODEL'"),
        (("translate", "--beam", "0", "x"), "'--beam': Input should be greater than or equal to 1"),
        (("evaluate", "m", "--source", "a", "--reference", "b", "--beam", "99"), "'--beam': Input should be"),
        (("translate", "--n-best", "99", "x"), "'--n-best': Input should be less than or equal to 64"),
        (
            ("translate", "--quality", "best", "--beam", "3", "x"),
            "--quality best says how widely",
        ),
        (("translate", "--beam", "2", "--n-best", "5", "x"), "--n-best 5 is more than --beam 2 finds"),
        (("translate", "--n-best", "2", "--alignment", "x"), "--alignment with --n-best 2"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(
    run: Run, translator: StubTranslator, arguments: tuple[str, ...], message: str
) -> None:
    status, out, error = run(*arguments)

    assert (status, out) == (2, "")
    assert error.startswith("nmt: ")
    assert message in error
    assert error.count("\n") == 1


def test_options_that_do_not_fit_the_model_are_named_as_typed(run: Run, tmp_path: Path) -> None:
    arguments = ["--from", "fr", "--french-typography", "Le chat dort."]
    for more in ([], ["--markup", "html"]):
        _, _, error = run("translate", *more, *arguments)
        assert error.startswith("nmt: --french-typography: the model general_fr_en writes en"), error
    (tmp_path / "a").write_text("A dog.\n")
    files = ["--source", str(tmp_path / "a"), "--target", str(tmp_path / "a")]
    assert run("align", *files, "--layer", "99")[2].startswith("nmt: --layer 99: the model has")


def test_values_that_do_not_fit_each_other_are_told_without_the_dictionary_they_are_in() -> None:
    with pytest.raises(ConfigError, match=r"^file: n_best 9 is larger than beam_size 4$"):
        parse(GenerationConfig, {"n_best": 9, "beam_size": 4}, where="file")


def test_a_text_without_from_is_translated_from_its_own_language(run: Run) -> None:
    french, english = "Une jeune femme lit un livre.", "A young woman is reading a book."
    for arguments, stdin in (([french], b""), ([], french.encode()), (["--markup", "html", french], b"")):
        status, out, error = run("translate", *arguments, stdin=stdin)
        assert (status, "woman" in out) == (0, True)
        assert error.startswith("nmt: the text is taken for 'fr' and translated to 'en' (general_fr_en)")
        assert error.count("\n") == 1
    for arguments in (
        [english],
        ["--to", "fr", french],
        ["--from", "en", french],
        ["--model", "general", french],
    ):
        assert run("translate", *arguments)[2] == ""
    assert "femme" in run("translate", english)[1]


def test_the_name_of_a_file_given_as_text_hints_at_the_option(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("A dog.\n")
    name = str(tmp_path / "notes.txt")
    status, _, error = run("translate", "--from", "en", name, "A" * 5000)
    assert status == 0
    assert f"nmt: warning: {name} is a file" in error
    assert f"--file {name}" in error
    assert "is a file" not in run("translate", "--from", "en", "notes.pdf")[2]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InputError("text 1 is bad"), 2),
        (ModelFolderError("m: missing"), 1),
        (NumericalError("NaN at step 3"), 1),
        (DiskFullError("runs/x: the disk is full"), 3),
    ],
)
def test_errors_of_ours_become_one_line_with_their_status(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    def load(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(nmt.translator.Translator, "load", load)

    assert run("translate", "x") == (status, "", f"nmt: {error}\n")


def test_a_missing_model_is_named_with_those_that_ship(run: Run) -> None:
    status, _, error = run("translate", "--model", "no-such-model", "x")

    assert status == 1
    assert error.startswith("nmt: no-such-model: neither a model folder nor a model that ships")


def test_an_interrupt_is_no_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(nmt.translator.Translator, "load", load)

    assert run("translate", "x") == (130, "", "")


def test_no_command_shows_the_help_on_standard_error(run: Run) -> None:
    status, out, error = run()

    assert (status, out) == (2, "")
    assert "Commands:" in error


# --- align and info


def test_serve_takes_several_models_in_their_order(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []
    monkeypatch.setattr("service.main.serve", lambda **given: asked.append(given))

    assert run("serve", "--model", "b", "--model", "a", "--port", "1")[0] == 0
    assert run("serve")[0] == 0
    assert [given["model"] for given in asked] == [["b", "a"], None]


def test_the_languages_choose_the_model(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, object, object]] = []

    def load(model: str | None, *, source: str | None, target: str | None, **_: object) -> StubTranslator:
        asked.append((model, source, target))
        return StubTranslator()

    monkeypatch.setattr(nmt.translator.Translator, "load", load)

    assert run("translate", "--from", "fr", "--to", "en", "un")[1] == "UN\n"
    assert run("translate", "--model", "m", "one")[1] == "ONE\n"
    assert asked == [(None, "fr", "en"), ("m", None, None)]


def test_align_prints_pharaoh_lines_and_the_error_rate_apart(
    run: Run, translator: StubTranslator, tmp_path: Path
) -> None:
    (tmp_path / "en").write_text("a cat\nhello\n", encoding="utf-8")
    (tmp_path / "fr").write_text("un chat\nbonjour\n", encoding="utf-8")
    (tmp_path / "gold").write_text("0-0 1-1\n0p0\n", encoding="utf-8")

    files = ("--source", str(tmp_path / "en"), "--target", str(tmp_path / "fr"))
    status, out, error = run("align", *files, "--gold", str(tmp_path / "gold"))

    assert (status, out) == (0, "0-0 1-1\n0-0\n")
    assert error == "AER 0.00 precision 100.00 recall 100.00 F1 100.00\n"


def test_align_reads_the_layer_and_heads_asked_for(
    run: Run, translator: StubTranslator, tmp_path: Path
) -> None:
    (tmp_path / "x").write_text("a cat\n", encoding="utf-8")
    files = ("--source", str(tmp_path / "x"), "--target", str(tmp_path / "x"))

    run("align", *files)
    assert translator.align_options == ("default", None)
    run("align", *files, "--layer", "1", "--head", "0", "--head", "2", "--extraction", "intersection")
    assert translator.align_options == ("intersection", AlignmentConfig(layer=1, heads=(0, 2)))


def test_align_counts_what_the_gold_has_and_it_lacks(
    run: Run, translator: StubTranslator, tmp_path: Path
) -> None:
    # Found 0-0 1-1; sure 0-1: |A & S| = 0, |A & P| = 1 (0p0), |A| = 2, |S| = 1: AER = 1 - 1/3.
    (tmp_path / "en").write_text("a cat\n", encoding="utf-8")
    (tmp_path / "fr").write_text("un chat\n", encoding="utf-8")
    (tmp_path / "gold").write_text("0-1 0p0\n", encoding="utf-8")

    files = ("--source", str(tmp_path / "en"), "--target", str(tmp_path / "fr"))
    _, _, error = run("align", *files, "--gold", str(tmp_path / "gold"))

    assert error == "AER 66.67 precision 50.00 recall 0.00 F1 0.00\n"


def test_align_of_unequal_files_names_both_counts_and_the_first_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "en").write_text("a\nb\nc\n", encoding="utf-8")
    (tmp_path / "fr").write_text("a\n", encoding="utf-8")

    status, _, error = run("align", "--source", str(tmp_path / "en"), "--target", str(tmp_path / "fr"))

    assert status == 2
    assert "en has 3 lines but" in error
    assert "fr has 1: line 2 is the first without a partner" in error


def test_a_missing_file_is_one_line(run: Run, tmp_path: Path) -> None:
    status, _, error = run("align", "--source", str(tmp_path / "gone"), "--target", str(tmp_path / "gone"))

    assert (status, error) == (1, f"nmt: {tmp_path / 'gone'}: No such file or directory\n")


def test_info_shows_a_model_folder(run: Run, tmp_path: Path, tokenizer_file: Path) -> None:
    from tests.nmt.conftest import save_tiny_model

    model = save_tiny_model(tmp_path / "tiny", tokenizer_file)

    status, out, _ = run("info", str(tmp_path / "tiny"), "--json")

    facts = json.loads(out)
    assert status == 0
    assert facts["model"]["languages"] == "en to fr"
    assert facts["model"]["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert facts["architecture"]["d_model"] == 16
    assert facts["files"]["model.safetensors"] == (tmp_path / "tiny" / "model.safetensors").stat().st_size
    assert facts["scores"] == {"bleu": 1.5}


def test_info_shows_scores_in_short(run: Run) -> None:
    status, out, _ = run("info", "general")

    assert status == 0
    record = json.loads((PRETRAINED / "general" / "scores.json").read_bytes())
    for evaluation in record["evaluations"]:
        (bleu,) = (
            one["score"]
            for one in evaluation["scores"]
            if (one["metric"], one["scale"]) == ("BLEU", "cased-detokenized")
        )
        (line,) = re.findall(rf"^  {evaluation['test_set']['name']} +(.*)$", out, re.MULTILINE)
        assert line.startswith(f"BLEU {bleu:.1f}, chrF2 ")
        assert line.count("(lower-cased, tokenised)") == ("multi30k" in evaluation["test_set"]["name"])
    assert re.search(r"^  aligner.safetensors +\d+$", out, re.MULTILINE)
    assert "{" not in out


def test_a_real_model_translates_from_the_command_line(tmp_path: Path, tokenizer_file: Path) -> None:
    from tests.nmt.conftest import save_tiny_model

    save_tiny_model(tmp_path / "tiny", tokenizer_file)

    result = python(
        *("-m", "nmt.cli", "translate", "--model", str(tmp_path / "tiny"), "--json"), input="The cat.\n\n"
    )

    assert result.returncode == 0, result.stderr
    first, second = [json.loads(line) for line in result.stdout.splitlines()]
    assert first["score"] <= 0
    assert (second["text"], second["sentences"]) == ("", [])


def test_a_reader_that_leaves_early_causes_no_traceback(tmp_path: Path) -> None:
    code = (
        "import sys, nmt.cli, nmt.translator\n"
        "from tests.stub_translator import StubTranslator\n"
        "nmt.translator.Translator.load = lambda *_, **__: StubTranslator()\n"
        "nmt.cli.main(['translate'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(b"a cat\n" * 1000)
        process.stdin.close()
        error = process.stderr.read()
        assert process.wait(timeout=60) == 1
    assert error == b""


def test_check_says_what_is_wrong_and_fails(run: Run, tmp_path: Path) -> None:
    assert run("check", "Two cats.", "Deux chats.") == (0, "", "")
    status, out, _ = run("check", "12 cats.", "Des chats.")
    assert (status, out) == (1, "number: 12 is missing\n")
    (tmp_path / "a").write_text("One.\n3 dogs.\n", encoding="utf-8")
    (tmp_path / "b").write_text("Un.\nDes chiens.\n", encoding="utf-8")
    status, out, _ = run("check", "--files", str(tmp_path / "a"), str(tmp_path / "b"), "--json")
    assert status == 1
    assert [len(json.loads(line)["problems"]) for line in out.splitlines()] == [0, 1]
    (tmp_path / "c").write_text("Save\nSave\nSave\n", encoding="utf-8")
    (tmp_path / "d").write_text("Enregistrer\nSauver\nEnregistrer\n", encoding="utf-8")
    status, out, _ = run("check", "--files", str(tmp_path / "c"), str(tmp_path / "d"))
    assert (status, out) == (1, "line 2: inconsistent_term: Save: Sauver, elsewhere Enregistrer\n")
    (tmp_path / "b").write_text("Un.\n", encoding="utf-8")
    status, _, error = run("check", "--files", str(tmp_path / "a"), str(tmp_path / "b"))
    assert status == 2
    assert "has 2 lines" in error

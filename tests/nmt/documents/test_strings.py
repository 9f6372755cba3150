"""po, json and yaml: strings change, everything else stays; opened again with the formats' libraries."""

from __future__ import annotations

import json

import polib
import pytest
from ruamel.yaml import YAML

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import same, texts, translated

PO = r"""# A header comment
msgid ""
msgstr ""
"Project-Id-Version: demo 1.0\n"
"Language: \n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\n"

#. a remark to translators
#: src/a.c:10
#, c-format
msgctxt "menu"
msgid "Open the file %s"
msgstr ""

#, fuzzy
#| msgid "Close"
msgid "Close it"
msgstr "Fermer"

msgid "Done already"
msgstr "Fini"

#, c-format
msgid "%d file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

msgid "Click <b>here</b>.\n"
msgstr ""

#~ msgid "Old"
#~ msgstr "Vieux"
"""

JSON = """{"greeting": "Good \\"morning\\"\\n", "n": 1.50, "big": 1e400,
  "list": ["one", null, true, "2024"], "greeting": "again"}
"""

YAML_TEXT = """# top comment
title: A plain title # why
quoted: 'it''s here'
double: "with \\t escapes"
anchor: &a shared words
alias: *a
number: 12
flag: yes
ref: !env HOME_DIR
list: [red cars, "blue"]
literal: |
  First line.
  Second line.

folded: >-
  Words that are
  folded.

  Next paragraph.
last: end # done
"""


def test_po_translates_open_entries_with_plurals_and_header() -> None:
    result = polib.pofile(translated("a.po", PO).decode())

    by_id = {entry.msgid: entry for entry in result}
    assert by_id["Open the file %s"].msgstr == "OPEN THE FILE %S"
    assert by_id["Open the file %s"].comment == "a remark to translators"
    assert by_id["Open the file %s"].msgctxt == "menu"
    assert by_id["Close it"].msgstr == "CLOSE IT"
    assert not by_id["Close it"].fuzzy
    assert by_id["Close it"].previous_msgid is None
    assert by_id["Done already"].msgstr == "Fini"
    assert by_id["%d file"].msgstr_plural == {0: "%D FILE", 1: "%D FILES"}
    assert by_id["Click <b>here</b>.\n"].msgstr == "CLICK <b>HERE</b>.\n"
    assert [entry.msgstr for entry in result.obsolete_entries()] == ["Vieux"]
    assert result.metadata["Language"] == "fr"
    assert result.metadata["Plural-Forms"] == "nplurals=2; plural=(n > 1);"
    assert result.metadata["Project-Id-Version"] == "demo 1.0"


def test_po_translates_everything_when_told_to() -> None:
    result = polib.pofile(translated("a.po", PO, everything=True).decode())

    assert result.find("Done already").msgstr == "DONE ALREADY"


def test_a_language_with_three_plurals_gets_three() -> None:
    source = PO.replace("nplurals=INTEGER; plural=EXPRESSION;", "nplurals=3; plural=(n==0||n==1)?0:n>9?1:2;")

    result = polib.pofile(translated("a.po", source).decode())

    assert result.find("%d file").msgstr_plural == {0: "%D FILE", 1: "%D FILES", 2: "%D FILES"}


def test_json_keeps_white_space_numbers_order_and_doubles() -> None:
    result = translated("a.json", JSON).decode()

    expected = JSON.replace('Good \\"morning\\"', 'GOOD \\"MORNING\\"').replace('"one"', '"ONE"')
    assert result == expected.replace('"again"', '"AGAIN"')
    assert json.loads(result)["list"] == ["ONE", None, True, "2024"]


def test_json_writes_accents_as_its_source_does() -> None:
    assert translated("a.json", r'{"a": "caf\u00e9"}') == rb'{"a": "CAF\u00c9"}'
    assert translated("a.json", '{"a": "café"}').decode() == '{"a": "CAFÉ"}'


def test_yaml_keeps_comments_styles_anchors_and_tags() -> None:
    result = translated("a.yaml", YAML_TEXT).decode()

    assert result == (
        YAML_TEXT.replace("A plain title", "A PLAIN TITLE")
        .replace("it''s here", "IT''S HERE")
        .replace("with \\t escapes", "WITH \\t ESCAPES")
        .replace("shared words", "SHARED WORDS")
        .replace("red cars", "RED CARS")
        .replace('"blue"', '"BLUE"')
        .replace("First line.", "FIRST LINE.")
        .replace("Second line.", "SECOND LINE.")
        .replace(
            "  Words that are\n  folded.\n\n  Next paragraph.",
            "  WORDS THAT ARE\n  FOLDED.\n\n  NEXT PARAGRAPH.",
        )
        .replace("last: end", "last: END")
    )


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "a: b",
        "a #b",
        "- x",
        "'q'",
        "x, y]",
        "  lead",
        "tab\there",
        "new\nline",
        "\x85 \u2028",
        "*",
        "no",
        "1",
        "~",
        "2024-01-01",
        "=",
        "? a",
        "é 🙂",
    ],
)
@pytest.mark.parametrize("scalar", ["words", "'words'", '"words"', "|\n  words\n", "[words, more]"])
def test_any_translation_is_read_again_from_yaml(text: str, scalar: str) -> None:
    result = translated("a.yaml", f"key: {scalar}\nnext: 1\n", lambda source: source.replace("words", text))

    value = YAML(typ="safe").load(result.decode())["key"]
    assert (value[0] if isinstance(value, list) else value.removesuffix("\n")) == text


def test_unchanged_yaml_comes_back_as_it_was() -> None:
    assert translated("a.yaml", YAML_TEXT, same).decode() == YAML_TEXT


@pytest.mark.parametrize("odd", ["50%", "\x85 \u2028", "12", "- x", " lead", "a: b"])
def test_a_text_that_its_style_cannot_hold_leaves_the_styles_of_others(odd: str) -> None:
    source = "a: one thing\nb: 'two'\nc: |\n  odd\nd: >-\n  three four\n  five\ne: [six, seven]\n"

    result = translated("a.yaml", source, lambda text: text.upper().replace("ODD", odd)).decode()

    begin, end = source.upper().split("C: |\n  ODD\n")
    assert result.upper().startswith(begin)
    assert result.upper().endswith(end)
    assert YAML(typ="safe").load(result)["c"].strip() == odd.strip()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.json", '{"a": }', "not JSON: .* at line 1, column 7"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.yaml", "a: [b", "not YAML at line"),
        ("a.yaml", "[" * 100_000, "YAML nested more than 200 deep"),
        ("a.po", 'msgid "a"\nnonsense\n', "not a po file"),
    ],
)
def test_a_broken_file_is_an_error_with_its_place(name: str, data: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_document(name, data.encode())


def test_a_billion_laughs_of_yaml_are_a_handful_of_texts() -> None:
    lines = ["a0: &a0 [ha ha, ha ha]"] + [
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)
    ]

    assert texts("a.yaml", "\n".join(lines)) == ["ha ha", "ha ha"]

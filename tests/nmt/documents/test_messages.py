"""Strings with ICU arguments: each branch is a text, its inline elements stay in it, its syntax stays."""

from __future__ import annotations

import json

import pytest

from nmt.documents import read_document
from tests.nmt.documents.doubles import same, texts, translated

PLURAL = "{n, plural, =0 {no files} one {one file} other {# files}}"
CASES = [
    (PLURAL, ["no files", "one file", "# files"]),
    (f"You have {PLURAL}.", ["You have {n}.", "no files", "one file", "# files"]),
    ("{n,plural,offset:1 one{a dog}other{dogs}}", ["a dog", "dogs"]),
    ("{n, selectordinal, one {#st day} two {#nd day} other {#th day}}", ["#st day", "#nd day", "#th day"]),
    ("{g, select, male {He runs} other {They run}}", ["He runs", "They run"]),
    (
        "{g, select, male {{n, plural, one {a dog} other {dogs}}} other {cats}}",
        ["a dog", "dogs", "cats"],
    ),
    ("{n, plural, other {{name} has {n} dogs}}", ["{name} has {n} dogs"]),
    ("{n, plural, other {}}", []),
    ("a {n} b {m, number} c", ["a {n} b {m, number} c"]),
    ("{{n, plural}} words", ["{{n, plural}} words"]),
    ("{n, plural, one {open", ["{n, plural, one {open"]),
    ("{n, plural, other {it''s '{quoted}' here}}", ["it''s '{quoted}' here"]),
]


@pytest.mark.parametrize(("source", "wanted"), CASES)
def test_branches_are_texts_and_the_syntax_stays(source: str, wanted: list[str]) -> None:
    data = json.dumps({"key": source})

    assert texts("a.json", data) == wanted
    assert translated("a.json", data, same).decode() == data


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.po", "a.xlf", "a.xliff"])
def test_each_catalogue_has_the_branches_as_texts(name: str) -> None:
    data = {
        "a.json": json.dumps({"key": PLURAL}),
        "a.yaml": f"key: '{PLURAL}'\n",
        "a.po": f'msgid ""\nmsgstr ""\n\nmsgid "{PLURAL}"\nmsgstr ""\n',
        "a.xlf": _xliff(PLURAL),
        "a.xliff": _xliff_2(PLURAL),
    }[name]

    assert texts(name, data) == ["no files", "one file", "# files"]
    assert "{n, plural, =0 {NO FILES} one {ONE FILE} other {# FILES}}" in translated(name, data).decode()


ELEMENTS = [
    '{n, plural, =0 {just now} other {<x id="1"/> minutes ago}}',
    '{n, plural, one {<x id="1"/> file} other {files <x id="2"/>}}',
    '{n, plural, one {a <x id="1"/> file} other {all <x id="2"/> files, <x id="3"/>}}',
    '{g, select, male {<g id="1">He</g> runs} other {They <g id="2">run</g>}}',
    '<g id="1">{n, plural, one {a <x id="2"/>file} other {files}}</g>',
    'You have {n, plural, one {<g id="1">a file</g>} other {<g id="2"># files</g>}} in <x id="3"/>.',
    '<x id="1"/> {n, plural, other {<x id="2"/> files}} <x id="3"/>',
    '{g, select, male {{n, plural, one {<x id="1"/> a} other {b <x id="2"/>}}} other {<x id="3"/> cats}}',
]


@pytest.mark.parametrize("source", ELEMENTS)
@pytest.mark.parametrize("version", [1, 2])
def test_an_inline_element_stays_in_its_branch(source: str, version: int) -> None:
    if version == 2:
        source = source.replace("<x ", "<ph ").replace("<g ", "<pc ").replace("</g>", "</pc>")
    data = _xliff(source) if version == 1 else _xliff_2(source)

    backwards = translated("a.xlf", data, lambda text: " ".join(reversed(text.split(" ")))).decode()

    assert f">{source}</target>" in translated("a.xlf", data, same).decode()
    target = backwards.partition("<target")[2].partition(">")[2].partition("</target>")[0]
    assert _elements_by_branch(target) == _elements_by_branch(source)


def test_an_apostrophe_before_a_brace_does_not_quote_it() -> None:
    data = json.dumps({"key": "{n, plural, other {of {name}}}"})

    result = json.loads(translated("a.json", data, lambda text: text.replace("of ", "d'")))

    assert result == {"key": "{n, plural, other {d''{name}}}"}


def test_an_argument_in_a_sentence_is_a_kept_span() -> None:
    extract = read_document("a.json", json.dumps({"key": f"You have {PLURAL}."}).encode()).extracts[0]

    assert [extract.text[span.start : span.end] for span in extract.keep] == ["{n}"]


def _elements_by_branch(text: str) -> list[list[str]]:
    """The elements between two braces, for each such stretch, whatever their order."""
    stretches: list[list[str]] = [[]]
    for piece in text.replace("<", "\0<").replace(">", ">\0").split("\0"):
        if piece.startswith("<"):
            stretches[-1].append(piece)
        stretches += [[] for character in piece if character in "{}" and not piece.startswith("<")]
    return [sorted(stretch) for stretch in stretches]


def _xliff(source: str) -> str:
    return (
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" '
        f'source-language="en"><body><trans-unit id="1"><source>{source}</source></trans-unit></body>'
        "</file></xliff>"
    )


def _xliff_2(source: str) -> str:
    return (
        '<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en"><file id="f">'
        f'<unit id="1"><segment><source>{source}</source></segment></unit></file></xliff>'
    )

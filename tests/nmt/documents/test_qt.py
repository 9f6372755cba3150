"""ts of Qt; opened again with translate-toolkit."""

from __future__ import annotations

import random
import re
from xml.sax.saxutils import escape

import pytest
from translate.storage.ts2 import tsfile

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import same, texts, translated
from tests.nmt.documents.generated import message, phrase

HEAD = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1"{}>
<context>
    <name>Main</name>
"""
UNFINISHED = '<translation type="unfinished"></translation>'


def written(text: str) -> str:
    return escape(text, {'"': "&quot;", "'": "&apos;"})


def entry(source: str, translation: str, more: str = "") -> str:
    return (
        f'    <message{more}>\n        <location filename="a.cpp" line="1"/>\n'
        f"        <source>{source}</source>\n        <comment>why</comment>\n"
        f"        {translation}\n    </message>\n"
    )


def linguist(seed: int) -> str:
    chance = random.Random(seed)
    entries = [
        entry(
            f"{number} {written(message(chance))}",
            chance.choice([UNFINISHED, '<translation type="unfinished"/>']),
        )
        for number in range(8)
    ]
    forms = "<numerusform></numerusform>"
    entries += [
        entry(
            f"%n {phrase(chance)}(s)",
            f'<translation type="unfinished">{forms}{forms}</translation>',
            ' numerus="yes"',
        ),
        entry("Done", "<translation>Fait</translation>"),
        entry("Gone", '<translation type="vanished"></translation>'),
    ]
    chance.shuffle(entries)
    language = ' language="fr_FR"' if seed % 2 else ""
    return HEAD.format(f'{language} sourcelanguage="en"') + "".join(entries) + "</context>\n</TS>\n"


@pytest.mark.parametrize("seed", range(20))
def test_ts_gets_each_source_as_its_translation_and_keeps_all_else(seed: int) -> None:
    source = linguist(seed)
    result = translated("a.ts", source, same).decode()

    units = [unit for unit in tsfile.parsestring(result.encode()).units if not unit.isobsolete()]
    assert len(units) == 10
    for unit in units:
        if unit.source == "Done":
            assert str(unit.target) == "Fait"
        elif unit.hasplural():
            noun = str(unit.source).removesuffix("(s)")
            assert [str(form) for form in unit.target.strings] == [noun, f"{noun}s"]
        else:
            assert str(unit.target) == str(unit.source)
    pattern = r"(<translation[^>]*?)(?:/>|>(?:(?!</translation>).)*</translation>)"
    without = re.sub(pattern, r"\1", result, flags=re.DOTALL)
    language = "" if seed % 2 else ' language="fr"'
    assert without.replace(language, "") == re.sub(pattern, r"\1", source, flags=re.DOTALL)


SMALL = HEAD.format("") + "{}</context>\n</TS>\n"


def test_only_what_has_no_translation_is_open_unless_all_is_asked_for() -> None:
    source = SMALL.format(
        entry("Red", UNFINISHED)
        + entry("Blue", '<translation type="unfinished">Bleu</translation>')
        + entry("Old", '<translation type="obsolete">Vieux</translation>')
        + entry("Green", "<translation/>")
        + entry("Car", "")
    )
    read = read_document("a.ts", source.encode())

    assert ([one.text for one in read.extracts], read.n_done) == (["Red", "Green", "Car"], 1)
    assert [one.text for one in read_document("a.ts", source.encode(), everything=True).extracts] == [
        *("Red", "Blue", "Green", "Car")
    ]
    result = translated("a.ts", source).decode()
    assert re.findall("<translation.*", result) == [
        '<translation type="unfinished">RED</translation>',
        '<translation type="unfinished">Bleu</translation>',
        '<translation type="obsolete">Vieux</translation>',
        '<translation type="unfinished">GREEN</translation>',
        '<translation type="unfinished">CAR</translation>',
    ]
    assert 'language="fr"' in result


def test_forms_are_written_where_there_are_none() -> None:
    source = SMALL.format(entry("%n file(s) &amp; box(es)", "<translation/>", ' numerus="yes"'))

    assert texts("a.ts", source) == ["%n file & box", "%n files & boxes"]
    assert re.findall("<numerusform>(.*?)</numerusform>", translated("a.ts", source, same).decode()) == [
        "%n file &amp; box",
        "%n files &amp; boxes",
    ]


def test_another_language_is_said_and_another_root_refused() -> None:
    source = HEAD.format(' sourcelanguage="de"') + "</context>\n</TS>\n"
    assert "its source is in 'de'" in read_document("a.ts", source.encode()).notices[0]
    with pytest.raises(InputError, match="no Qt ts"):
        read_document("a.ts", b"<root/>")

"""csv and tsv: chosen columns; opened again with the standard library's csv."""

from __future__ import annotations

import csv
import io
import random

import pytest

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import same, translations
from tests.nmt.documents.generated import message, phrase, sentence

NAMES = ["id", "title", "notes", "price"]


def table(seed: int) -> tuple[str, str]:
    """A table and its delimiter."""
    chance = random.Random(seed)
    delimiter = ",;\t|"[seed % 4]
    stream = io.StringIO()
    writer = csv.writer(
        stream,
        delimiter=delimiter,
        quoting=chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
        lineterminator=chance.choice(["\n", "\r\n"]),
    )
    writer.writerow(NAMES)
    for number in range(10):
        notes = chance.choice(
            [message(chance), f'{phrase(chance)}, "{phrase(chance)}"; {phrase(chance)}|\n x', ""]
        )
        writer.writerow([number, sentence(chance), notes, 1.5])
    text = stream.getvalue()
    return text.rstrip("\r\n") if seed % 3 == 0 else text, delimiter


def changed(source: str, columns: str | None, rule: object = str.upper, name: str = "a.csv") -> str:
    document = read_document(name, source.encode(), columns=columns)
    return document.restore(translations(document, rule)).decode()  # type: ignore[arg-type]


def rows(text: str, delimiter: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


@pytest.mark.parametrize("seed", range(20))
def test_tables_come_back_as_they_were(seed: int) -> None:
    source, delimiter = table(seed)

    assert changed(source, "title,notes", same) == source
    before, after = rows(source, delimiter), rows(changed(source, "notes"), delimiter)
    assert after[0] == NAMES
    for old, new in zip(before, after, strict=True):
        assert [*new[:2], *new[3:]] == [*old[:2], *old[3:]]
        assert new[2].casefold() == old[2].casefold()
    assert sum(old[2] != new[2] for old, new in zip(before, after, strict=True)) >= 3


@pytest.mark.parametrize(
    ("source", "columns", "expected"),
    [
        ("id,text\n1,red\n", "text", "id,text\n1,RED\n"),
        ("1;red;car\n2;a;b", "2,3", "1;RED;CAR\n2;A;B"),
        ('a,b\n"red ""x""" , y\n', "b", 'a,b\n"red ""x""" , y\n'),
        ("a, b c,d\nx,y\n\n1,z,w\n", "b c", "a, b c,d\nx,Y\n\n1,Z,w\n"),
        ("Words\nred", None, "WORDS\nRED"),
    ],
)
def test_columns_are_chosen_by_name_or_number(source: str, columns: str | None, expected: str) -> None:
    if '" ,' in source:
        with pytest.raises(InputError, match="line 2 has text after a closing quote"):
            changed(source, columns)
    else:
        assert changed(source, columns) == expected


def test_a_translation_gets_quotes_where_it_needs_them() -> None:
    assert changed("a,b\n1,red\n", "b", lambda _: 'l\'un, "deux"') == 'a,b\n1,"l\'un, ""deux"""\n'
    assert changed("a\tb\n1\tred, blue\n", "b", name="a.tsv") == "a\tb\n1\tRED, BLUE\n"
    assert changed('a,b\n1,"red"\n', "b") == 'a,b\n1,"RED"\n'


@pytest.mark.parametrize(
    ("source", "columns", "words"),
    [
        ("a,b\n1,2\n", None, r"2 columns: choose .*--column NAME.*there are a, b"),
        ("a,b\n1,2\n", "c", "none named 'c'; there are a, b"),
        ("a,b\n1,2\n", "3", "none named '3'"),
        ('a,b\n1,"x\n', "b", "line 2 has a quote that is not closed"),
    ],
)
def test_what_cannot_be_read_is_an_error(source: str, columns: str | None, words: str) -> None:
    with pytest.raises(InputError, match=words):
        changed(source, columns)

"""Java's properties; opened again with translate-toolkit."""

from __future__ import annotations

import random
import re

import pytest
from translate.storage.properties import javautf8file

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import same, texts, translated
from tests.nmt.documents.generated import phrase, sentence


def entry(chance: random.Random, number: int) -> str:
    text = sentence(chance, 8, 14)
    words = text.split()
    half = len(words) // 2
    lines = " ".join(words[:half]), " ".join(words[half:])
    separator = chance.choice(["=", " = ", ": ", ":", " ", "\t= "])
    return f"key.{number}" + chance.choice(
        [
            f"{separator}{text}",
            f"{separator}{lines[0]} \\\n    {lines[1]}",
            f"{separator}\\\n  {lines[0]} \\\n  {lines[1]}",
            f"{separator}{lines[0]}\\n{lines[1]}\\t{phrase(chance)}",
            f"{separator}It''s {{0}}: {text}",
            f"{separator}it's {text} \\u00e9t\\u00e9 \\\\ \\: \\=",
            f"\\ \\=x{separator}{text}",
            f"{separator}12.5",
            "=",
            "",
            f"{separator}{text}\n\n# {phrase(chance)} \\\n! {phrase(chance)} = 1",
        ]
    )


def properties(seed: int) -> str:
    chance = random.Random(seed)
    accents = "\n# déjà\n" if seed % 2 else "\n"
    end = chance.choice(["\n", "\r\n"])
    lines = "\n".join(entry(chance, number) for number in range(12))
    return f"# A file\n{lines}{accents}".replace("\n", end)


def shown(data: bytes) -> dict[str, str]:
    file = javautf8file()
    file.parse(data)
    return {unit.name: unit.source for unit in file.units if unit.name}


@pytest.mark.parametrize("seed", range(20))
def test_properties_come_back_as_they_were(seed: int) -> None:
    source = properties(seed)
    result = translated("a.properties", source)

    assert translated("a.properties", source, same).decode() == source
    before, after = shown(source.encode()), shown(result)
    assert list(before) == list(after)
    assert [text.casefold() for text in before.values()] == [text.casefold() for text in after.values()]
    assert sum(before[name] != after[name] for name in before) >= 5
    assert re.findall(r"(?m)^[#!].*$", source) == re.findall(r"(?m)^[#!].*$", result.decode())


@pytest.mark.parametrize(
    ("source", "text", "new", "expected"),
    [
        (r"a=Red\n\u00e9", "Red\né", "Été\n1", r"a=\u00c9t\u00e9\n1"),
        ("a=é", "é", "Été 😀", "a=Été 😀"),
        ("a=It''s {0}", "It's {0}", "C'est l'{0}", "a=C''est l''{0}"),
        ("a={0} is", "{0} is", "C'est {0}", "a=C''est {0}"),
        ("a=It's so", "It's so", "C'est", "a=C'est"),
        ("a = one \\\n    two", "one two", "un deux", "a = un \\\n    deux"),
        ("a:x", "x", " y\\", "a:\\ y\\\\"),
        ("a\\ b x", "x", "y", "a\\ b y"),
    ],
)
def test_values_are_read_and_written_as_java_does(source: str, text: str, new: str, expected: str) -> None:
    assert texts("a.properties", source) == [text]
    assert translated("a.properties", source, lambda _: new).decode() == expected


def test_a_latin_1_file_stays_one() -> None:
    data = "a=Café\n".encode("latin-1")

    assert texts("a.properties", data) == ["Café"]
    assert translated("a.properties", data, lambda _: "Œufs à 1 €") == b"a=\\u0152ufs \xe0 1 \\u20ac\n"


def test_choice_patterns_stay_and_that_is_said() -> None:
    source = "a={0,choice,0#no files|1#one file}\nb=Words\n"
    read = read_document("a.properties", source.encode())

    assert [extract.text for extract in read.extracts] == ["Words"]
    assert read.notices == ("1 texts are left as they are: they are choice patterns of MessageFormat",)


def test_a_malformed_escape_is_named() -> None:
    with pytest.raises(InputError, match=r"line 2 has a malformed \\uxxxx"):
        read_document("a.properties", b"a=b\nc=\\u12\n")

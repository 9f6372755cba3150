"""A translator that copies loses nothing of generated documents, white space included.

One that writes capitals shows that each element is written around its own words, not copied with them.
"""

from __future__ import annotations

import re
import zipfile
from io import BytesIO

import polib
import pytest
from lxml import etree

from tests.nmt.documents.doubles import same, texts, translated
from tests.nmt.documents.generated import (
    BLOCKS,
    json_catalogue,
    markdown,
    po_catalogue,
    text_document,
    word_document,
    xliff_catalogue,
    yaml_catalogue,
)


@pytest.mark.parametrize("seed", range(60))
def test_markdown_comes_back_as_it_was(seed: int) -> None:
    source = markdown(seed)

    assert translated("a.md", source, same).decode() == source
    assert translated("a.md", source, str.upper).decode().casefold() == source.casefold()


def test_no_sign_of_a_markdown_dialect_is_translated() -> None:
    found = " ".join(text for seed in range(60) for text in texts("a.md", markdown(seed)))

    assert len(BLOCKS) <= 4 * 60
    signs = ("[!", "!!!", "???", ":::", "$$", "frac", "{%", "{:", "{#", "///", "==", "import ", "*[", "[ ]")
    assert [sign for sign in (*signs, "[x]", "[^", "8<", "~~", "**") if sign in found] == []


_SPACES = re.compile(rb'<text:s(?: text:c="(\d+)")?></text:s>')
"""How odt writes the second and further ones of several spaces."""


def _parts(data: bytes) -> dict[str, bytes]:
    """The XML of an office document in canonical form, without languages; of other files nothing."""
    archive = zipfile.ZipFile(BytesIO(data))
    parts: dict[str, bytes] = {}
    for name in archive.namelist():
        if name.endswith(".xml") and archive.read(name):
            root = etree.fromstring(archive.read(name))
            for element in root.iter(etree.Element):
                for key in list(element.attrib):
                    if re.search("lang|country", f"{element.tag} {key}", re.IGNORECASE):
                        del element.attrib[key]
            parts[name] = _SPACES.sub(
                lambda match: b" " * int(match[1] or 1), etree.tostring(root, method="c14n")
            )
    return parts


def _characters(data: bytes) -> list[list[tuple[str, str]]]:
    """Of each paragraph of a docx, its characters with the format of each; white space has none to see."""
    root = etree.fromstring(zipfile.ZipFile(BytesIO(data)).read("word/document.xml"))
    paragraphs = []
    for paragraph in root.iter("{*}p"):
        characters: list[tuple[str, str]] = []
        for run in paragraph.iter("{*}r"):
            properties = run.find("{*}rPr")
            form = (
                "" if properties is None else " ".join(etree.QName(child).localname for child in properties)
            )
            for child in run:
                name = etree.QName(child).localname
                if name != "rPr":
                    shown = child.text or f"<{name}>"
                    characters += [(one, "" if one.isspace() else form) for one in shown]
        paragraphs.append(characters)
    return paragraphs


@pytest.mark.parametrize("seed", range(20))
def test_word_documents_keep_each_character_and_its_format(seed: int) -> None:
    data = word_document(seed)
    result = translated("a.docx", data, same)

    assert _characters(result) == _characters(data)
    before, after = _parts(data), _parts(result)
    assert {name for name in before if before[name] != after[name]} <= {
        "word/document.xml",
        "word/header1.xml",
    }


@pytest.mark.parametrize("seed", range(20))
def test_text_documents_come_back_as_they_were(seed: int) -> None:
    data = text_document(seed)

    assert _parts(translated("a.odt", data, same)) == _parts(data)


@pytest.mark.parametrize("seed", range(13))
def test_json_comes_back_as_it_was(seed: int) -> None:
    source = json_catalogue(seed)

    assert translated("a.json", source, same).decode() == source
    assert translated("a.json", source, str.upper).decode().casefold() == source.casefold()


@pytest.mark.parametrize("seed", range(13))
def test_yaml_comes_back_as_it_was(seed: int) -> None:
    source = yaml_catalogue(seed)

    assert translated("a.yml", source, same).decode() == source
    in_capitals = translated("a.yml", source, str.upper).decode()
    assert in_capitals.casefold().split() == source.casefold().split()
    assert in_capitals.count("\n") >= 0.7 * source.count("\n"), "folded texts stay folded"


@pytest.mark.parametrize("seed", range(12))
def test_po_gets_each_string_as_it_was(seed: int) -> None:
    source = polib.pofile(po_catalogue(seed))
    result = polib.pofile(translated("a.po", po_catalogue(seed), same).decode())

    assert [(entry.msgid, entry.msgctxt, entry.flags, entry.occurrences) for entry in result] == [
        (entry.msgid, entry.msgctxt, entry.flags, entry.occurrences) for entry in source
    ]
    assert [entry.msgstr for entry in result] == [entry.msgid for entry in source]


@pytest.mark.parametrize("seed", range(12))
def test_xliff_gets_each_source_as_its_target_and_keeps_all_else(seed: int) -> None:
    source = xliff_catalogue(seed)
    result = translated("a.xlf", source, same).decode()

    inside = re.compile(r"<(source|target)\b[^>]*>(.*?)</\1>", re.DOTALL)
    contents = [match[2] for match in inside.finditer(result)]
    assert contents[::2] == contents[1::2]
    assert len(contents) == 16
    without = re.sub(r"\s*<target\b.*?</target>", "", result, flags=re.DOTALL)
    without = re.sub(r' (?:target-language|trgLang)="fr"| state="translated"', "", without)
    assert re.sub(r"\s+(?=<)", "", without) == re.sub(r"\s+(?=<)", "", source)

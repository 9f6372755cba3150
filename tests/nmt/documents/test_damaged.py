"""Damaged documents: an ``InputError`` or a result that is read again, never another exception."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents import (
    test_android,
    test_arb,
    test_ass,
    test_csv,
    test_eml,
    test_epub,
    test_ipynb,
    test_office,
    test_opendocument,
    test_pptx,
    test_properties,
    test_qt,
    test_resx,
    test_running_text,
    test_strings,
    test_subtitles,
    test_xliff,
    test_xlsx,
)
from tests.nmt.documents.doubles import translations

INNER = {
    *("word/document.xml", "content.xml", "[Content_Types].xml", "ppt/slides/slide1.xml"),
    *("xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"),
    *("OEBPS/book.opf", "OEBPS/toc.ncx", "OEBPS/text/chapter 1.xhtml"),
}
"""Parts of zips that are damaged."""
SIGNS = b"<>&\"'{}[]:-|>*_`~\\\n \t#%!/=0aZ\xc3\xa9\x00"
RULES: tuple[Callable[[str], str], ...] = (
    str.upper,
    lambda text: text[::-1],
    lambda _: "* [x](y) <b> &amp; \n\n--> z",
    lambda _: "",
)


def word_document() -> bytes:
    document, paragraph = test_office.word()
    paragraph.add_run("Some ")
    paragraph.add_run("bold words").bold = True
    test_office.add_link(paragraph, "a link", "http://a.example")
    test_office.add_field(paragraph, "PAGE", "3")
    return test_office.saved(document)


DOCUMENTS = {
    "a.txt": b"Words.\n\n  More words here\nand there.\n",
    "a.md": test_running_text.MARKDOWN.encode(),
    "a.html": b'<p>Some <b>bold</b> &amp; <a href="y">linked</a> words</p>',
    "a.docx": word_document(),
    "a.odt": test_office.odt_with("<text:p>Some <text:span>bold</text:span> words</text:p>"),
    "a.srt": test_subtitles.SRT.encode(),
    "a.vtt": test_subtitles.VTT.encode(),
    "a.po": test_strings.PO.encode(),
    "a.xliff": test_xliff.V1.encode(),
    "b.xliff": test_xliff.V2.encode(),
    "a.json": test_strings.JSON.encode(),
    "a.yaml": test_strings.YAML_TEXT.encode(),
    "a.pptx": test_pptx.presentation(0),
    "a.xlsx": test_xlsx.workbook(0),
    "a.ods": test_opendocument.spreadsheet(0),
    "a.odp": test_opendocument.presentation(0),
    "a.epub": test_epub.book(0),
    "strings.xml": test_android.resources(0).encode(),
    "a.properties": test_properties.properties(0).encode(),
    "a.arb": test_arb.bundle(0).encode(),
    "a.resx": test_resx.resx(0).encode(),
    "a.ts": test_qt.linguist(0).encode(),
    "a.tsv": b'text\nRed car\n"Blue ""car"""\n',
    "a.csv": test_csv.table(0)[0].encode(),
    "a.ass": test_ass.script(0).encode(),
    "a.ipynb": test_ipynb.notebook(0).encode(),
    "a.eml": test_eml.mail(0),
}


COLUMNS = {"a.csv": "title,notes"}


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Bytes changed, taken out, put in and doubled at random places."""
    result = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        place = rng.randrange(len(result) + 1)
        kind = rng.randrange(4)
        if kind == 0 and place < len(result):
            result[place] = rng.randrange(256)
        elif kind == 1:
            del result[place : place + rng.randrange(1, 30)]
        elif kind == 2:
            result[place:place] = bytes(rng.choices(SIGNS, k=rng.randrange(1, 6)))
        else:
            start = rng.randrange(len(result) + 1)
            result[place:place] = result[start : start + rng.randrange(1, 60)]
    return bytes(result)


def damaged_inside(data: bytes, rng: random.Random) -> bytes:
    """A whole zip whose XML is damaged."""
    stream = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as source, zipfile.ZipFile(stream, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            is_text = name in INNER
            target.writestr(name, damaged(content, rng) if is_text and rng.random() < 0.6 else content)
    return stream.getvalue()


def check(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    is_zip = zipfile.is_zipfile(BytesIO(DOCUMENTS[name]))
    damage = damaged_inside if is_zip and rng.random() < 0.7 else damaged
    try:
        document = read_document(name, damage(DOCUMENTS[name], rng), columns=COLUMNS.get(name))
    except InputError:
        return
    result = document.restore(translations(document, rng.choice(RULES)))
    read_document(name, result, columns=COLUMNS.get(name))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_damaged_document_is_an_error_or_comes_out_readable(name: str) -> None:
    for seed in range(15):
        check(name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_many_damaged_documents_are_errors_or_come_out_readable(name: str) -> None:
    for seed in range(2_000):
        check(name, seed)

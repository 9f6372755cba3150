"""Real files of kept libraries' own tests, opened again by a library after translation: nothing is lost.

``tests/data/real/README.md`` says where each is from. A translator that copies changes nothing that the
library shows; one that writes capitals changes the texts alone.
"""

from __future__ import annotations

import csv
import email
import email.policy
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import docx
import lxml.etree
import lxml.html
import odfdo
import openpyxl
import polib
import pptx
import pytest
import ruamel.yaml
import srt
import webvtt
from markdown_it import MarkdownIt
from translate.storage import aresource, properties, ts2, xliff, xliff2

from nmt.documents import ExtractedDocument, read_document
from nmt.options import TranslationOptions
from nmt.pipeline.result import Translation
from tests.nmt.documents.test_pptx import shapes_of
from tests.stub_translator import StubTranslator

DATA = Path(__file__).parents[2] / "data" / "real"
FILES = sorted(str(path.relative_to(DATA)) for path in DATA.glob("*/*"))
COLUMNS = {"irismeta.csv": "species", "README.csv": "title", "testxlsx_converted.csv": "text"}
MOST_BYTES = 92_000
_LANGUAGE = re.compile(r'(?<=<html) lang="\w+"')
_BREAKS = re.compile(r"(?:\\+n| )+")


def in_capitals(character: str) -> str:
    return character.upper() if len(character.upper()) == 1 else character


def copied(character: str) -> str:
    return character


def translations(document: ExtractedDocument, rule: Callable[[str], str]) -> Iterator[Translation]:
    """Each text by a rule for its characters; what is to be kept is copied and reported, as by a model."""
    options = TranslationOptions(alignment="links")
    for extract in document.extracts:
        kept = {index for span in extract.keep for index in range(span.start, span.end)}
        text = "".join(one if index in kept else rule(one) for index, one in enumerate(extract.text))
        [translation] = StubTranslator(lambda _, text=text: text).translate([extract.text], options)
        yield replace(translation, kept=tuple((span, span) for span in extract.keep))


def words(text: str | None) -> str:
    return " ".join((text or "").split())


def of_docx(data: bytes) -> Iterator[Any]:
    document = docx.Document(BytesIO(data))
    for section in document.sections:
        for part in (section.header, section.footer, section.even_page_footer, section.first_page_header):
            yield from ((paragraph.style.name, paragraph.text) for paragraph in part.paragraphs)
    for paragraph in document.paragraphs:
        links = [(link.address, link.fragment, link.text) for link in paragraph.hyperlinks]
        yield paragraph.style.name, paragraph.text, links
    for table in document.tables:
        yield (
            table.style.name if table.style else "",
            [[cell.text for cell in row.cells] for row in table.rows],
        )


def of_pptx(data: bytes) -> Iterator[Any]:
    presentation = pptx.Presentation(BytesIO(data))
    for slide in presentation.slides:
        for shape in shapes_of(slide.shapes):
            yield shape.name, shape.shape_id, shape.left, shape.width
            if shape.has_text_frame:
                for paragraph in shape.text_frame.paragraphs:
                    links = [run.hyperlink.address for run in paragraph.runs if run.hyperlink.address]
                    yield paragraph.text, Counter(links).keys()
            if getattr(shape, "has_table", False):
                yield [[cell.text for cell in row.cells] for row in shape.table.rows]
        if slide.has_notes_slide:
            yield slide.notes_slide.notes_text_frame.text


def of_xlsx(data: bytes) -> Iterator[Any]:
    for sheet in openpyxl.load_workbook(BytesIO(data)).worksheets:
        yield sheet.title, sheet.sheet_state, sheet.dimensions, sorted(map(str, sheet.merged_cells.ranges))
        for row in sheet.iter_rows():
            yield [(cell.coordinate, str(cell.value), cell.number_format) for cell in row]


def of_opendocument(data: bytes) -> Iterator[Any]:
    document = odfdo.Document(BytesIO(data))
    yield Counter(element.tag for element in document.body.get_elements("descendant::*[not(self::text:s)]"))
    yield from (paragraph.text_recursive for paragraph in document.body.get_elements("descendant::text:p"))
    yield from (heading.text_recursive for heading in document.body.get_elements("descendant::text:h"))
    in_styles = document.get_part("styles.xml").root.get_elements("descendant::text:p")
    yield [paragraph.text_recursive for paragraph in in_styles]
    yield [(part, len(document.get_part(part))) for part in document.parts if not part.endswith(".xml")]


def of_vtt(data: bytes) -> Iterator[Any]:
    captions = webvtt.from_buffer(StringIO(data.decode()))
    yield [style.text for style in captions.styles]
    yield from ((one.start, one.end, one.identifier, words(one.raw_text)) for one in captions)


def of_po(data: bytes) -> Iterator[Any]:
    for entry in polib.pofile(data.decode()):
        yield entry.msgctxt, entry.msgid, entry.msgid_plural, entry.occurrences, entry.comment, entry.obsolete


def of_yaml(data: bytes) -> Iterator[Any]:
    yield str(ruamel.yaml.YAML(typ="rt").load(data.decode()))


def of_ipynb(data: bytes) -> Iterator[Any]:
    notebook = json.loads(data)
    cells = notebook.pop("cells")
    yield notebook
    for cell in cells:
        source = words("".join(cell.pop("source")))
        yield cell, source


def of_html(data: bytes) -> Iterator[Any]:
    for element in lxml.html.document_fromstring(data).iter():
        yield str(element.tag), sorted(element.attrib.items()), words(element.text), words(element.tail)


def of_xliff(data: bytes) -> Iterator[Any]:
    is_new = b"xliff:document:2.0" in data
    kind = xliff2.Xliff2File if is_new else xliff.xlifffile
    for unit in kind.parsestring(data).units:
        yield unit.getid(), unit.source, unit.target or unit.source, unit.getnotes()


def of_ts(data: bytes) -> Iterator[Any]:
    for unit in ts2.tsfile.parsestring(data).units:
        target = str(unit.target or unit.source)
        yield unit.getcontext(), unit.source, target, unit.getlocations(), unit.isobsolete()


def of_eml(data: bytes) -> Iterator[Any]:
    message = email.message_from_bytes(data, policy=email.policy.default)
    yield [(name, str(value)) for name, value in message.items()]
    for part in message.walk():
        yield part.get_content_type(), part.get_filename(), part.get("content-id")
        if part.get_content_maintype() == "text":
            yield _LANGUAGE.sub("", words(part.get_content()))
        elif not part.is_multipart():
            yield part.get_content()


def of_epub(data: bytes) -> Iterator[Any]:
    with zipfile.ZipFile(BytesIO(data)) as book:
        for name in book.namelist():
            if not name.endswith((".xhtml", ".ncx", ".opf")):
                yield name, book.read(name)
                continue
            for element in lxml.etree.fromstring(book.read(name)).iter(lxml.etree.Element):
                attributes = [pair for pair in sorted(element.attrib.items()) if not pair[0].endswith("lang")]
                text = "" if element.tag.endswith("}language") else words(element.text)
                yield name, element.tag, attributes, text, words(element.tail)


OPENED: dict[str, Callable[[bytes], Iterator[Any]]] = {
    "docx": of_docx,
    "pptx": of_pptx,
    "xlsx": of_xlsx,
    "odt": of_opendocument,
    "ods": of_opendocument,
    "odp": of_opendocument,
    "epub": of_epub,
    "srt": lambda data: ((one.index, one.start, one.end, one.content) for one in srt.parse(data.decode())),
    "vtt": of_vtt,
    "ass": lambda data: (line.split(",", 9) for line in data.decode("utf-8-sig").splitlines()),
    "po": of_po,
    "json": lambda data: iter(json.loads(data).items()),
    "yaml": of_yaml,
    "xml": lambda data: (
        (unit.getid(), unit.target) for unit in aresource.AndroidResourceFile.parsestring(data).units
    ),
    "properties": lambda data: (
        (unit.name, unit.value, unit.comments) for unit in properties.javafile.parsestring(data).units
    ),
    "ipynb": of_ipynb,
    "html": of_html,
    "md": lambda data: of_html(MarkdownIt("commonmark").enable("table").render(data.decode()).encode()),
    "xliff": of_xliff,
    "ts": of_ts,
    "eml": of_eml,
    "csv": lambda data: csv.reader(StringIO(data.decode("utf-8-sig"))),
}
ALIASES = {".yml": "yaml", ".xlf": "xliff"}


def opened(name: str, data: bytes) -> list[str]:
    """What the library of the format shows of a file, by parts."""
    suffix = Path(name).suffix
    return [str(part) for part in OPENED[ALIASES.get(suffix, suffix[1:])](data)]


def folded(part: str) -> str:
    """In lower case; subtitles may have their line breaks elsewhere."""
    return _BREAKS.sub(" ", part.casefold())


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_is_opened_again_with_all_that_was_in_it(name: str) -> None:
    data = (DATA / name).read_bytes()
    document = read_document(name, data, columns=COLUMNS.get(Path(name).name))
    before = opened(name, data)

    assert opened(name, document.restore(list(translations(document, copied)))) == before
    after = opened(name, document.restore(list(translations(document, in_capitals))))
    assert list(map(folded, after)) == list(map(folded, before))
    texts = "".join(extract.text for extract in document.extracts)
    if texts != texts.upper() and not name.startswith("po/"):
        assert after != before, "its texts are translated"


def test_three_files_of_each_format_are_small_and_named_with_their_licence() -> None:
    counts = Counter(Path(name).parts[0] for name in FILES)
    told = (DATA / "README.md").read_text(encoding="utf-8")

    assert {folder: n for folder, n in counts.items() if n < 3} == {}
    assert [name for name in FILES if (DATA / name).stat().st_size > MOST_BYTES] == []
    assert [name for name in FILES if Path(name).name not in told] == []

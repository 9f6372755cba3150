"""One document of each family through the model that ships: French words, and the form as it was."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from pathlib import Path

import pptx
import pytest

from nmt.documents.translate import open_file, translate_file
from nmt.translator import Translator
from tests.nmt.documents.test_epub import PAGE, book
from tests.nmt.documents.test_pptx import BOX, saved


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load("general", device="cpu")


def through(translator: Translator, folder: Path, name: str, data: bytes) -> bytes:
    (folder / name).write_bytes(data)
    task = open_file(folder / name, folder / f"fr.{name}", force=False)
    translate_file(translator, task, advance=lambda _: None)
    return (folder / f"fr.{name}").read_bytes()


def test_a_presentation(translator: Translator, tmp_path: Path) -> None:
    document = pptx.Presentation()
    paragraph = document.slides.add_slide(document.slide_layouts[6]).shapes.add_textbox(*BOX)
    for text, bold in (("The ", None), ("little dog", True), (" is sleeping in the garden.", None)):
        run = paragraph.text_frame.paragraphs[0].add_run()
        run.text, run.font.bold = text, bold

    result = pptx.Presentation(BytesIO(through(translator, tmp_path, "a.pptx", saved(document))))

    [translated] = result.slides[0].shapes[0].text_frame.paragraphs
    assert "chien" in translated.text
    assert "jardin" in translated.text
    assert "chien" in "".join(run.text for run in translated.runs if run.font.bold)


def test_strings_of_a_program(translator: Translator, tmp_path: Path) -> None:
    source = (
        "<resources>\n"
        '  <string name="a">The train isn\\\'t here: it left at %1$s.</string>\n'
        '  <string name="b">Open the <b>garden</b> door.</string>\n'
        "</resources>\n"
    )

    result = through(translator, tmp_path, "strings.xml", source.encode()).decode()

    [train, door] = re.findall(r'<string name="\w">(.*)</string>', result)
    assert "%1$s" in train
    assert "train" in train
    assert re.search(r"(?<!\\)'", train + door) is None, "apostrophes are escaped"
    assert re.search("<b>[^<]*jardin[^<]*</b>", door)


def test_a_book(translator: Translator, tmp_path: Path) -> None:
    data = book(0, PAGE.format("<h1>The garden</h1><p><a id='p'/>My brother lives in <i>Paris</i>.</p>"))

    archive = zipfile.ZipFile(BytesIO(through(translator, tmp_path, "a.epub", data)))

    page = archive.read("OEBPS/text/chapter 1.xhtml").decode()
    assert "jardin</h1>" in page
    assert "<a id='p'/>" in page
    assert re.search("frère.*<i>Paris</i>", page)

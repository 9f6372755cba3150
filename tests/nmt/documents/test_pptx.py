"""pptx: slides, tables, groups and notes; opened again with python-pptx."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pptx
import pytest
from lxml import etree
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls
from pptx.util import Inches

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import aligned, same, texts, translated
from tests.nmt.documents.generated import phrase, sentence

BOX = (Inches(1), Inches(1), Inches(4), Inches(1))


def saved(document: Any) -> bytes:
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


def opened(data: bytes) -> Any:
    return pptx.Presentation(BytesIO(data))


def fill(paragraph: Any, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 4)):
        run = paragraph.add_run()
        run.text = phrase(chance) + chance.choice([" ", ", ", "\t", "  "])
        run.font.bold = chance.choice([None, True])
        run.font.italic = chance.choice([None, None, True])
        if chance.random() < 0.2:
            run.hyperlink.address = "https://example.com"
        if chance.random() < 0.2:
            paragraph.add_line_break()


def presentation(seed: int) -> bytes:
    chance = random.Random(seed)
    document = pptx.Presentation()
    for _ in range(3):
        slide = document.slides.add_slide(document.slide_layouts[chance.choice([1, 3, 5])])
        slide.shapes.title.text = phrase(chance)
        fill(slide.shapes.add_textbox(*BOX).text_frame.paragraphs[0], chance)
        group = slide.shapes.add_group_shape()
        fill(group.shapes.add_textbox(*BOX).text_frame.paragraphs[0], chance)
        inner = group.shapes.add_group_shape()
        inner.shapes.add_textbox(*BOX).text_frame.text = f"{sentence(chance)}\n{sentence(chance)}"
        table = slide.shapes.add_table(2, 2, *BOX).table
        for cell in table.iter_cells():
            cell.text = chance.choice([sentence(chance), "12"])
        slide.notes_slide.notes_text_frame.text = sentence(chance)
    return saved(document)


def shapes_of(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        yield shape
        if hasattr(shape, "shapes"):
            yield from shapes_of(shape.shapes)


def paragraphs(document: Any) -> Iterator[Any]:
    for slide in document.slides:
        for shape in shapes_of(slide.shapes):
            if shape.has_text_frame:
                yield from shape.text_frame.paragraphs
            if getattr(shape, "has_table", False):
                for cell in shape.table.iter_cells():
                    yield from cell.text_frame.paragraphs
        yield from slide.notes_slide.notes_text_frame.paragraphs


def characters(data: bytes) -> list[list[tuple[str, object]]]:
    """Of each paragraph its characters, each with its format; white space has none to see."""
    found = []
    for paragraph in paragraphs(opened(data)):
        row: list[tuple[str, object]] = []
        for child in paragraph._p:
            name = etree.QName(child).localname
            properties = child.find("{*}rPr")
            form = b"" if properties is None else etree.tostring(properties).replace(b' lang="fr-FR"', b"")
            shown = child.findtext("{*}t", "") if name == "r" else f"<{name}>"
            row += [(one, b"" if one.isspace() else form) for one in shown]
        found.append(row)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_presentations_keep_each_character_and_its_format(seed: int) -> None:
    data = presentation(seed)

    assert characters(translated("a.pptx", data, same)) == characters(data)
    in_capitals = characters(translated("a.pptx", data))
    assert [[one.casefold() for one, _ in row] for row in in_capitals] == [
        [one.casefold() for one, _ in row] for row in characters(data)
    ]
    shown = "".join(paragraph.text for paragraph in paragraphs(opened(translated("a.pptx", data))))
    assert shown == shown.upper()


@pytest.mark.parametrize("seed", range(3))
def test_parts_without_text_are_copied_byte_by_byte_in_their_order(seed: int) -> None:
    data = presentation(seed)
    before, after = zipfile.ZipFile(BytesIO(data)), zipfile.ZipFile(BytesIO(translated("a.pptx", data)))

    assert before.namelist() == after.namelist()
    changed = {name for name in before.namelist() if before.read(name) != after.read(name)}
    assert {name.split("/")[1] for name in changed} <= {
        *("slides", "notesSlides", "slideLayouts", "slideMasters")
    }


def test_a_paragraph_of_many_runs_is_one_text_and_formats_move_with_their_words() -> None:
    document = pptx.Presentation()
    paragraph = document.slides.add_slide(document.slide_layouts[6]).shapes.add_textbox(*BOX)
    for text, bold, address in (
        ("The ", None, None),
        ("red c", True, None),
        ("ar", True, None),
        (" stops ", None, None),
        ("here", None, "http://a.example/"),
        (".", None, None),
    ):
        run = paragraph.text_frame.paragraphs[0].add_run()
        run.text, run.font.bold, run.hyperlink.address = text, bold, address
    extracted = read_document("a.pptx", saved(document))
    [extract] = extracted.extracts
    target = "Ici, la voiture rouge s'arrête."
    links = [(4, 0), (0, 2), (2, 3), (1, 4), (3, 6), (5, 7)]

    result = opened(extracted.restore([aligned(extract.text, target, links)]))

    assert extract.text == "The red car stops here."
    runs = [run for p in result.slides[0].shapes[0].text_frame.paragraphs for run in p.runs]
    assert "".join(run.text for run in runs) == target
    assert [run.text for run in runs if run.font.bold] == ["voiture rouge"]
    assert [run.text for run in runs if run.hyperlink.address == "http://a.example/"] == ["Ici"]


def test_levels_page_numbers_and_the_end_of_a_paragraph_stay() -> None:
    document = pptx.Presentation()
    frame = document.slides.add_slide(document.slide_layouts[6]).shapes.add_textbox(*BOX).text_frame
    content = (
        "<a:pPr lvl='1'/><a:r><a:t>Page </a:t></a:r><a:fld id='{B}' type='slidenum'><a:t>3</a:t></a:fld>"
        "<a:r><a:t> of the book</a:t></a:r><a:endParaRPr sz='1200'/>"
    )
    made = parse_xml(f"<a:p {nsdecls('a')}>{content}</a:p>")
    frame._txBody.replace(frame.paragraphs[0]._p, made)

    [paragraph] = opened(translated("a.pptx", saved(document))).slides[0].shapes[0].text_frame.paragraphs

    names = [etree.QName(child).localname for child in paragraph._p]
    assert names == ["pPr", "r", "fld", "r", "endParaRPr"]
    assert [child.findtext("{*}t") for child in paragraph._p][1:4] == ["PAGE ", "3", " OF THE BOOK"]


def test_titles_of_charts_are_translated_and_prompts_of_layouts_are_not() -> None:
    document = pptx.Presentation()
    slide = document.slides.add_slide(document.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["East"]
    data.add_series("Sales", (1,))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *BOX, data).chart
    chart.chart_title.text_frame.text = "Sales by region"

    prompts = [shape.text_frame.text for shape in document.slide_layouts[0].placeholders]
    assert prompts[0] == "Click to edit Master title style"
    assert texts("a.pptx", saved(document)) == ["Sales by region"]
    [frame] = opened(translated("a.pptx", saved(document))).slides[0].shapes
    assert frame.chart.chart_title.text_frame.text == "SALES BY REGION"
    assert list(frame.chart.plots[0].categories) == ["East"]


def test_the_language_of_the_source_becomes_that_of_the_target() -> None:
    document = pptx.Presentation()
    frame = document.slides.add_slide(document.slide_layouts[6]).shapes.add_textbox(*BOX).text_frame
    frame.text = "Words"
    frame.paragraphs[0].runs[0]._r.get_or_add_rPr().set("lang", "en-GB")

    [run] = opened(translated("a.pptx", saved(document))).slides[0].shapes[0].text_frame.paragraphs[0].runs

    assert (run.text, run._r.rPr.get("lang")) == ("WORDS", "fr-FR")


def test_the_template_of_python_pptx_comes_back() -> None:
    data = (Path(pptx.__file__).parent / "templates" / "default.pptx").read_bytes()
    read = read_document("a.pptx", data)

    assert read.extracts == ()
    assert read.notices == ("nothing was translated: there is no text to translate in the document",)
    assert len(opened(read.restore([])).slide_layouts) == 11


def test_another_office_document_is_no_presentation() -> None:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
        archive.writestr("[Content_Types].xml", types)

    for name, what in (("a.pptx", "presentation"), ("a.xlsx", "workbook")):
        with pytest.raises(InputError, match=f"no {what}"):
            read_document(name, stream.getvalue())

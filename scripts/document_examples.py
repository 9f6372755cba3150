"""Three documents to try document translation on, with text of our own: a docx, a long srt and a po file.

python scripts/document_examples.py FOLDER
nmt translate --file FOLDER/notice.docx          # and story.srt, app.po
"""

from __future__ import annotations

import argparse
from datetime import timedelta
from itertools import product
from pathlib import Path

import docx
import polib
import srt
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import RGBColor
from docx.text.paragraph import Paragraph

LINK = "https://example.org/pool"


def main() -> None:
    """Write the three documents."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    write_docx(folder / "notice.docx")
    write_srt(folder / "story.srt")
    write_po(folder / "app.po")


def write_docx(path: Path) -> None:
    """A notice with headings, a list, a table, bold, italic, colour, links, a header and a footer."""
    document = docx.Document()
    document.core_properties.title = "Summer at the pool"
    section = document.sections[0]
    section.header.paragraphs[0].text = "The swimming pool of our town"
    footer = section.footer.paragraphs[0]
    footer.add_run("Page ")
    add_field(footer, "PAGE", "1")
    document.add_heading("Summer at the swimming pool", level=0)
    paragraph = document.add_paragraph("The pool is ")
    paragraph.add_run("open every day").bold = True
    paragraph.add_run(" this summer. Children can swim with ")
    paragraph.add_run("their parents").italic = True
    paragraph.add_run(" in the morning. You can ")
    add_link(paragraph, "buy your ticket here", LINK)
    paragraph.add_run(" before you come.")
    document.add_heading("What to bring", level=1)
    for text, strong in (
        ("A towel and a ", "blue swimming cap"),
        ("A bottle of ", "cold water"),
        ("A hat, because the sun is ", "very hot"),
    ):
        item = document.add_paragraph(text, style="List Bullet")
        item.add_run(strong).bold = True
    document.add_heading("When we are open", level=1)
    table = document.add_table(rows=1, cols=3, style="Light Grid Accent 1")
    for cell, text in zip(table.rows[0].cells, ("Day", "Morning", "Afternoon"), strict=True):
        cell.text = text
    for row in (
        ("Monday", "Closed", "The big pool is open"),
        ("Saturday", "Swimming lessons for children", "Everyone can swim"),
        ("Sunday", "A race for young people", "Music near the water"),
    ):
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    warning = document.add_paragraph()
    warning.add_run("Please do not run").font.color.rgb = RGBColor(0xC0, 0x20, 0x20)
    warning.add_run(" near the water. A ")
    warning.add_run("man in a red shirt").underline = True
    warning.add_run(" is watching the children from his chair.")
    document.save(str(path))


def add_link(paragraph: Paragraph, text: str, address: str) -> None:
    """A link in the colours of one."""
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run = paragraph.add_run(text)
    run.font.underline = True
    run.font.color.rgb = RGBColor(0x1F, 0x5F, 0xBF)
    link.append(run._r)
    paragraph._p.append(link)


def add_field(paragraph: Paragraph, code: str, result: str) -> None:
    """A complex field."""
    for name, attribute, text in (
        ("w:fldChar", "begin", ""),
        ("w:instrText", "", code),
        ("w:fldChar", "separate", ""),
        ("w:t", "", result),
        ("w:fldChar", "end", ""),
    ):
        element = OxmlElement(name)
        if attribute:
            element.set(qn("w:fldCharType"), attribute)
        element.text = text or None
        paragraph.add_run()._r.append(element)


def write_srt(path: Path) -> None:
    """126 cues, 588 lines: sentences over two cues, dialogues, italics, a position."""
    scenes = product(
        ("man", "woman", "boy", "girl", "teacher", "farmer", "doctor"),
        ("bicycle", "brown dog", "small boat"),
    )
    cues: list[srt.Subtitle] = []
    start_s = 1.0
    for person, thing in scenes:
        for text in (
            f"One morning, the young {person} went out,",
            f"because the {thing} was\nno longer in the garden.",
            f"- Have you seen the {thing}?\n- No, I was asleep.",
            f"<i>It was raining and the street\nwas empty, the {person} thought.</i>",
            f"So the {person} walked along the river\nfor an hour and found",
            f"the <b>{thing}</b> under an old bridge.",
        ):
            start = timedelta(seconds=start_s)
            end = timedelta(seconds=start_s + 2.4)
            cues.append(srt.Subtitle(len(cues) + 1, start, end, text))
            start_s += 2.6
        start_s += 4
    path.write_text(srt.compose(cues), encoding="utf-8")


def write_po(path: Path) -> None:
    """Messages of a small program: open, fuzzy, done and plural ones, placeholders, tags."""
    catalogue = polib.POFile()
    catalogue.metadata = {"Project-Id-Version": "pictures 1.0", "Content-Type": "text/plain; charset=UTF-8"}
    for place, text in enumerate(
        (
            "Open a picture",
            "Hello, %s! You have a new message.",
            "The file {name} is too big.",
            "Two people are waiting for you.",
            "Click <b>here</b> to see the pictures.",
            "Do you want to close the window?",
            "Your picture was sent to %(friend)s.\n",
            "Read more at https://example.org/help",
        )
    ):
        catalogue.append(polib.POEntry(msgid=text, occurrences=[("src/main.c", str(10 + place))]))
    catalogue.append(polib.POEntry(msgid="Good morning", msgstr="Bon jour", flags=["fuzzy"]))
    catalogue.append(polib.POEntry(msgid="Yes", msgstr="Oui", comment="a button"))
    catalogue.append(
        polib.POEntry(
            msgid="There is %d dog in the picture.",
            msgid_plural="There are %d dogs in the picture.",
            msgstr_plural={0: "", 1: ""},
            flags=["c-format"],
        )
    )
    catalogue.save(str(path))


if __name__ == "__main__":
    main()

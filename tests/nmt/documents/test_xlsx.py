"""xlsx: texts of cells, and what refers to them; opened again with openpyxl."""

from __future__ import annotations

import random
import re
import zipfile
from datetime import datetime
from io import BytesIO
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.worksheet.table import Table

from nmt.documents import read_document
from tests.nmt.documents.doubles import aligned, same, texts, translated
from tests.nmt.documents.generated import phrase, sentence

BOLD = InlineFont(b=True)


def saved(workbook: Any) -> bytes:
    stream = BytesIO()
    workbook.save(stream)
    return stream.getvalue()


def opened(data: bytes) -> Any:
    return openpyxl.load_workbook(BytesIO(data), rich_text=True)


def workbook(seed: int) -> bytes:
    """By openpyxl, which writes texts into cells, and by XlsxWriter, which shares them."""
    chance = random.Random(seed)
    return _with_openpyxl(chance) if seed % 2 else _with_xlsxwriter(chance)


def plain_value(chance: random.Random) -> Any:
    return chance.choice(
        [
            sentence(chance),
            f"{phrase(chance)}\n{phrase(chance)}  {phrase(chance)} ",
            12.5,
            datetime(2024, 5, chance.randint(1, 28)),
            "=SUM(A1:A2)",
            "='Costs of May'!A1",
            True,
            "12-34",
            phrase(chance),
        ]
    )


def _with_openpyxl(chance: random.Random) -> bytes:
    book = openpyxl.Workbook()
    for sheet in (book.active, book.create_sheet("Costs of May")):
        for row in range(1, 8):
            for column in range(1, 5):
                sheet.cell(row, column).value = plain_value(chance)
            rich = f"{phrase(chance)} ", TextBlock(BOLD, phrase(chance)), f" {phrase(chance)}."
            sheet.cell(row, 5).value = CellRichText(*rich)
            sheet.cell(row, 3).number_format = "0.00"
        sheet.merge_cells("A9:C9")
        sheet["A9"] = phrase(chance)
    return saved(book)


def _with_xlsxwriter(chance: random.Random) -> bytes:
    stream = BytesIO()
    book = xlsxwriter.Workbook(stream, {"default_date_format": "dd/mm/yy"})
    bold = book.add_format({"bold": True})
    for name in ("Costs of June", "Costs of May"):
        sheet = book.add_worksheet(name)
        for row in range(7):
            for column in range(4):
                sheet.write(row, column, plain_value(chance))
            sheet.write_rich_string(row, 4, f"{phrase(chance)} ", bold, phrase(chance), f" {phrase(chance)}.")
        sheet.insert_textbox("G2", sentence(chance))
    book.close()
    return stream.getvalue()


def shown(value: Any) -> Any:
    """Of rich text each character and whether it is bold; white space has no format to see."""
    if not isinstance(value, CellRichText):
        return value
    return [
        (one, isinstance(part, TextBlock) and bool(part.font.b) and not one.isspace())
        for part in value
        for one in str(part)
    ]


def cells(data: bytes) -> list[tuple[str, str, Any, str]]:
    return [
        (sheet.title, cell.coordinate, shown(cell.value), cell.number_format)
        for sheet in opened(data)
        for row in sheet
        for cell in row
    ]


@pytest.mark.parametrize("seed", range(20))
def test_workbooks_keep_each_cell(seed: int) -> None:
    data = workbook(seed)

    assert cells(translated("a.xlsx", data, same)) == cells(data)
    for before, after in zip(cells(data), cells(translated("a.xlsx", data)), strict=True):
        assert (before[0], before[1], before[3]) == (after[0], after[1], after[3])
        if isinstance(before[2], list):
            assert after[2] == [(one.upper(), is_bold) for one, is_bold in before[2]]
        elif isinstance(before[2], str) and not before[2].startswith("="):
            assert after[2] == before[2].upper()
        else:
            assert after[2] == before[2]


def test_parts_without_text_are_copied_byte_by_byte() -> None:
    data = workbook(1)
    before, after = zipfile.ZipFile(BytesIO(data)), zipfile.ZipFile(BytesIO(translated("a.xlsx", data)))

    assert before.namelist() == after.namelist()
    for name in ("xl/styles.xml", "docProps/core.xml", "xl/theme/theme1.xml"):
        assert before.read(name) == after.read(name)


def test_rich_runs_move_with_their_words() -> None:
    book = openpyxl.Workbook()
    book.active["A1"] = CellRichText("The ", TextBlock(BOLD, "red car"), " stops.")
    extracted = read_document("a.xlsx", saved(book))
    [extract] = extracted.extracts

    target = "La voiture rouge s'arrête."
    result = extracted.restore([aligned(extract.text, target, [(0, 0), (2, 1), (1, 2), (3, 4), (4, 5)])])

    value = opened(result).active["A1"].value
    assert str(value) == target
    assert [str(part) for part in value if isinstance(part, TextBlock)] == ["voiture rouge"]


def test_a_shared_text_is_translated_once_and_one_that_no_cell_shows_is_not() -> None:
    stream = BytesIO()
    with xlsxwriter.Workbook(stream) as book:
        sheet = book.add_worksheet()
        sheet.write_column("A1", ["Red car", "Red car", "Blue car"])
    data = stream.getvalue()

    assert texts("a.xlsx", data) == ["Red car", "Blue car"]
    hidden = changed(data, "xl/worksheets/sheet1.xml", "<v>1</v>", "<v>0</v>")
    assert texts("a.xlsx", hidden) == ["Red car"]
    assert [cell.value for cell in opened(translated("a.xlsx", hidden)).active["A"]] == ["RED CAR"] * 3


def test_text_boxes_are_translated() -> None:
    found = zipfile.ZipFile(BytesIO(translated("a.xlsx", workbook(0)))).read("xl/drawings/drawing1.xml")

    box = "".join(re.findall("<a:t>([^<]*)", found.decode()))
    assert len(box.split()) > 2
    assert box == box.upper()


def changed(data: bytes, name: str, old: str, new: str) -> bytes:
    """A zip with something in a part replaced."""
    stream = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as source, zipfile.ZipFile(stream, "w") as target:
        for member in source.namelist():
            content = source.read(member).decode() if member == name else source.read(member)
            if isinstance(content, str):
                assert old in content
                content = content.replace(old, new)
            target.writestr(member, content)
    return stream.getvalue()


def test_inline_strings_are_translated() -> None:
    book = openpyxl.Workbook()
    book.active["A1"] = 1
    inline = '<c r="A1" t="inlineStr"><is><t xml:space="preserve">Red car </t></is></c>'
    data = changed(saved(book), "xl/worksheets/sheet1.xml", '<c r="A1" t="n"><v>1</v></c>', inline)

    assert opened(translated("a.xlsx", data)).active["A1"].value == "RED CAR "


def test_a_text_that_a_formula_names_stays_and_that_is_said() -> None:
    book = openpyxl.Workbook()
    for place, value in (
        ("A1", "yes"),
        ("A2", "No way"),
        ("A3", "Words"),
        ("B1", '=IF(A1="Yes",1,COUNTIF(A:A,"no ""way"""))'),
    ):
        book.active[place] = value
    read = read_document("a.xlsx", saved(book))

    assert [extract.text for extract in read.extracts] == ["No way", "Words"]
    assert "1 texts of cells are left as they are" in read.notices[0]
    result = opened(translated("a.xlsx", saved(book))).active
    assert [result[place].value for place in ("A1", "A2", "B1")] == [
        "yes",
        "NO WAY",
        '=IF(A1="Yes",1,COUNTIF(A:A,"no ""way"""))',
    ]


def with_table(*headers: str, formula: str | None = None) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(headers)
    sheet.append(["Words"] * len(headers))
    sheet["F1"] = formula
    sheet.add_table(Table(displayName="T", ref=f"A1:{'ABCDE'[len(headers) - 1]}2"))
    return saved(book)


def headers_of(data: bytes) -> tuple[list[str], list[str]]:
    sheet = opened(data).active
    [table] = sheet.tables.values()
    return table.column_names, [cell.value for cell in sheet[1] if cell.value and cell.value[0] != "="]


def test_a_column_of_a_table_is_renamed_with_its_header() -> None:
    names = ["NAME", "PRICE\nOF ALL"]
    assert headers_of(translated("a.xlsx", with_table("Name", "Price\nof all"))) == (names, names)
    data = with_table("Name", "Price", formula="=SUM(T[Price])")
    assert headers_of(translated("a.xlsx", data)) == (["NAME", "Price"], ["NAME", "Price"])


def test_two_columns_of_a_table_never_get_one_name() -> None:
    result = headers_of(translated("a.xlsx", with_table("One", "Two", "Mot"), lambda _: "Mot"))

    assert result[0] == result[1]
    assert result[0] == ["One", "Two", "Mot"]

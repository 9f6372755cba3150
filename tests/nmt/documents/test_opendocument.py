"""ods and odp: cells, slides and notes; opened again with odfdo."""

from __future__ import annotations

import random
import re
import zipfile
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import odfdo
import pytest
from lxml import etree

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import same, texts, translated
from tests.nmt.documents.generated import phrase, sentence


def saved(document: Any) -> bytes:
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


def spreadsheet(seed: int) -> bytes:
    chance = random.Random(seed)
    document = odfdo.Document("spreadsheet")
    document.body.clear()
    for name in ("First words", "Second"):
        table = odfdo.Table(name)
        for row in range(6):
            for column in range(5):
                value = chance.choice([sentence(chance), phrase(chance), 12.5, date(2024, 5, 6), True])
                cell = odfdo.Cell(value)
                if chance.random() < 0.2:
                    cell = odfdo.Cell("result", formula=f'of:=[.A1]&"{column}"')
                elif isinstance(value, str) and chance.random() < 0.5:
                    cell = odfdo.Element.from_tag(
                        f'<table:table-cell office:value-type="string"><text:p>{escape(value)} '
                        f'<text:span text:style-name="B">{phrase(chance)}</text:span></text:p>'
                        f"<text:p>{phrase(chance)}</text:p></table:table-cell>"
                    )
                table.set_cell((column, row), cell)
        document.body.append(table)
    return saved(document)


def presentation(seed: int) -> bytes:
    chance = random.Random(seed)
    document = odfdo.Document("presentation")
    document.body.clear()
    for number in range(3):
        page = odfdo.Element.from_tag(f'<draw:page draw:name="Page words {number}"/>')
        for _ in range(3):
            page.append(
                odfdo.Element.from_tag(
                    "<draw:g><draw:frame><draw:text-box><text:list><text:list-item><text:p>"
                    f'{sentence(chance)} <text:span text:style-name="T1">{phrase(chance)}</text:span>'
                    f"{chance.choice(['<text:tab/>', '<text:line-break/>', ' '])}{phrase(chance)}</text:p>"
                    "</text:list-item></text:list></draw:text-box></draw:frame></draw:g>"
                )
            )
        page.append(
            odfdo.Element.from_tag(
                "<presentation:notes><draw:frame><draw:text-box><text:p>"
                f"{sentence(chance)}</text:p></draw:text-box></draw:frame></presentation:notes>"
            )
        )
        document.body.append(page)
    return saved(document)


def strings(data: bytes) -> list[str]:
    """Each element of the content: its tag and attributes, or its text in lower case."""
    body = odfdo.Document(BytesIO(data)).body
    return [element.serialize().casefold() for element in body.children]


@pytest.mark.parametrize("seed", range(20))
def test_spreadsheets_come_back_as_they_were(seed: int) -> None:
    data = spreadsheet(seed)

    assert strings(translated("a.ods", data, same)) == strings(data)
    before = odfdo.Document(BytesIO(data)).body.get_tables()
    after = odfdo.Document(BytesIO(translated("a.ods", data))).body.get_tables()
    n_changed = 0
    for old, new in zip(before, after, strict=True):
        assert old.name == new.name
        for one, other in zip(old.traverse(), new.traverse(), strict=True):
            for cell, result in zip(one.traverse(), other.traverse(), strict=True):
                assert (result.type, result.formula) == (cell.type, cell.formula)
                if cell.type == "string" and not cell.formula:
                    shown = "".join(map(str, cell.text_recursive))
                    assert "".join(map(str, result.text_recursive)) == shown.upper()
                    n_changed += 1
                else:
                    assert result.serialize() == cell.serialize()
    assert n_changed > 10


@pytest.mark.parametrize("seed", range(20))
def test_presentations_come_back_as_they_were(seed: int) -> None:
    data = presentation(seed)
    result = translated("a.odp", data)

    assert strings(translated("a.odp", data, same)) == strings(data)
    assert strings(result) == strings(data)
    shown = "".join(
        str(p.text_recursive) for p in odfdo.Document(BytesIO(result)).body.get_elements("//text:p")
    )
    assert len(shown) > 200
    assert shown == shown.upper()
    before, after = zipfile.ZipFile(BytesIO(data)), zipfile.ZipFile(BytesIO(result))
    assert before.namelist() == after.namelist()
    assert before.read("meta.xml") == after.read("meta.xml")


def with_cells(*cells: str) -> bytes:
    document = odfdo.Document("spreadsheet")
    document.body.clear()
    rows = "".join(f"<table:table-row>{cell}</table:table-row>" for cell in cells)
    document.body.append(odfdo.Element.from_tag(f'<table:table table:name="T">{rows}</table:table>'))
    return saved(document)


def test_what_a_formula_names_stays_and_a_value_follows_its_text() -> None:
    data = with_cells(
        '<table:table-cell office:value-type="string"><text:p>Yes</text:p></table:table-cell>',
        '<table:table-cell office:value-type="string" office:string-value="Red car"><text:p>Red car</text:p>'
        "</table:table-cell>",
        '<table:table-cell office:value-type="float" office:value="1" '
        "table:formula='of:=IF([.A1]=\"yes\";1;0)'><text:p>1 day</text:p></table:table-cell>",
    )
    read = read_document("a.ods", data)

    assert read.extracts[0].text == "Red car"
    assert not any("es" in extract.text for extract in read.extracts)
    assert "1 texts of cells are left as they are" in read.notices[0]
    [table] = odfdo.Document(BytesIO(translated("a.ods", data))).body.get_tables()
    cells = [table.get_cell((0, row)) for row in range(3)]
    assert [cell.value for cell in cells[:2]] == ["Yes", "RED CAR"]
    assert 'office:string-value="RED CAR"' in cells[1].serialize()


@pytest.mark.parametrize(
    ("name", "suffix"), [("spreadsheet.ots", "ods"), ("presentation.otp", "odp"), ("text.ott", "odt")]
)
def test_the_templates_of_odfdo_come_back(name: str, suffix: str) -> None:
    template = odfdo.Document.new(str(Path(odfdo.__file__).parent / "templates" / name))
    data = saved(template)

    assert strings(translated(f"a.{suffix}", data, same)) == strings(data)


def test_the_footer_of_slides_is_translated() -> None:
    document = odfdo.Document("presentation")
    document.body.clear()
    document.body.append(
        odfdo.Element.from_tag(
            '<presentation:footer-decl presentation:name="f">My talk</presentation:footer-decl>'
        )
    )

    assert texts("a.odp", saved(document))[:1] == ["My talk"]


def test_a_kind_under_another_name_is_refused() -> None:
    with pytest.raises(InputError, match=r"no OpenDocument presentation \(odp\)"):
        read_document("a.odp", spreadsheet(0))


@pytest.mark.parametrize(
    "spaces", [" ", "  ", "   ", " <text:s/>", " <text:s text:c='11'/>", "<text:s text:c='2'/>"]
)
@pytest.mark.parametrize("before", ["one", "one<text:line-break/>", "<text:span>one</text:span>"])
def test_as_many_spaces_are_shown_as_before(spaces: str, before: str) -> None:
    """Of several spaces side by side ODF shows one."""
    document = odfdo.Document("text")
    document.body.clear()
    content = f"{before}{spaces}two"
    document.body.append(odfdo.Element.from_tag(f"<text:p>{content}</text:p>"))
    data = saved(document)

    assert shown(translated("a.odt", data)) == shown(data).upper()


def shown(data: bytes) -> str:
    """The only paragraph as an office shows it."""
    root = etree.fromstring(zipfile.ZipFile(BytesIO(data)).read("content.xml"))
    text = ""
    [paragraph] = root.iter("{*}p")
    for element in paragraph.iter():
        name = etree.QName(element).localname
        if name == "s":
            text += "_" * int(element.get(element.tag.replace("}s", "}c"), "1"))
        elif name == "line-break":
            text += "|"
        pieces = [element.text] if element is paragraph else [element.text, element.tail]
        text += "".join(re.sub(" +", " ", piece or "") for piece in pieces)
    return re.sub("(?<=[ ]) ", "", text).strip(" ").replace("_", " ")

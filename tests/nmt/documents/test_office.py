"""docx and odt: runs, links and objects move with their words; opened again with python-docx and odfdo."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO

import docx
import odfdo
import pytest
from docx.document import Document
from docx.enum.text import WD_BREAK
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.text.paragraph import Paragraph

from nmt.documents import DocumentLimits, read_document
from nmt.errors import InputError, TextTooLongError
from tests.nmt.documents.doubles import aligned, texts, translated, translations


def word() -> tuple[Document, Paragraph]:
    """A document with one empty paragraph."""
    document = docx.Document()
    return document, document.add_paragraph()


def saved(document: Document) -> bytes:
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


def opened(data: bytes) -> Document:
    return docx.Document(BytesIO(data))


def add_link(paragraph: Paragraph, text: str, address: str) -> None:
    number = paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    paragraph._p.append(
        parse_xml(
            f"<w:hyperlink {nsdecls('w', 'r')} r:id='{number}'><w:r><w:rPr><w:u w:val='single'/></w:rPr>"
            f"<w:t>{text}</w:t></w:r></w:hyperlink>"
        )
    )


def add_field(paragraph: Paragraph, code: str, result: str) -> None:
    for xml in (
        "<w:fldChar w:fldCharType='begin'/>",
        f"<w:instrText xml:space='preserve'> {code} </w:instrText>",
        "<w:fldChar w:fldCharType='separate'/>",
        f"<w:t>{result}</w:t>",
        "<w:fldChar w:fldCharType='end'/>",
    ):
        paragraph._p.append(parse_xml(f"<w:r {nsdecls('w')}>{xml}</w:r>"))


def test_a_paragraph_of_many_runs_is_one_text() -> None:
    document, paragraph = word()
    for text, bold in (("The b", False), ("ridge is ", False), ("very ", True), ("old", True), (".", False)):
        paragraph.add_run(text).bold = bold or None

    assert texts("a.docx", saved(document)) == ["The bridge is very old."]


def test_bold_italic_and_links_move_with_their_words() -> None:
    document, paragraph = word()
    paragraph.add_run("The ")
    paragraph.add_run("red car").bold = True
    paragraph.add_run(" stops ")
    add_link(paragraph, "here", "http://a.example/")
    paragraph.add_run(" now").italic = True
    paragraph.add_run(".")
    extracted = read_document("a.docx", saved(document))
    target = "Ici, la voiture rouge s'arrête maintenant."
    links = [(4, 0), (0, 2), (2, 3), (1, 4), (3, 6), (5, 7), (6, 8)]

    result = opened(extracted.restore([aligned(extracted.extracts[0].text, target, links)]))

    [paragraph] = result.paragraphs
    assert paragraph.text == target
    assert [run.text for run in paragraph.runs if run.bold] == ["voiture rouge"]
    assert [run.text for run in paragraph.runs if run.italic] == ["maintenant"]
    assert [(link.text, link.address) for link in paragraph.hyperlinks] == [("Ici", "http://a.example/")]
    assert all(run.font.underline for link in paragraph.hyperlinks for run in link.runs)


def test_tables_headers_footers_and_styles_are_kept() -> None:
    document, paragraph = word()
    paragraph.style = "Heading 1"
    paragraph.add_run("A title")
    document.add_paragraph("An item", style="List Bullet")
    table = document.add_table(rows=1, cols=2, style="Light Grid Accent 1")
    table.cell(0, 0).text, table.cell(0, 1).text = "A name", "12"
    document.sections[0].header.paragraphs[0].text = "The head"
    document.sections[0].footer.paragraphs[0].text = "The foot"

    result = opened(translated("a.docx", saved(document)))

    assert [(p.text, p.style.name) for p in result.paragraphs[:2]] == [
        ("A TITLE", "Heading 1"),
        ("AN ITEM", "List Bullet"),
    ]
    assert [cell.text for cell in result.tables[0].rows[0].cells] == ["A NAME", "12"]
    assert result.tables[0].style.name == "Light Grid Accent 1"
    assert result.sections[0].header.paragraphs[0].text == "THE HEAD"
    assert result.sections[0].footer.paragraphs[0].text == "THE FOOT"


def test_parts_without_text_are_copied_byte_by_byte() -> None:
    document, paragraph = word()
    paragraph.add_run("Words")
    document.core_properties.title = "A title in English"
    data = saved(document)

    before, after = zipfile.ZipFile(BytesIO(data)), zipfile.ZipFile(BytesIO(translated("a.docx", data)))

    assert before.namelist() == after.namelist()
    changed = {name for name in before.namelist() if before.read(name) != after.read(name)}
    assert changed <= {"word/document.xml", "word/styles.xml"}


def test_tabs_and_line_breaks_part_texts_and_stay() -> None:
    document, paragraph = word()
    paragraph.add_run("Name\tValue")
    paragraph.add_run().add_break(WD_BREAK.LINE)
    paragraph.add_run("Second line")
    data = saved(document)

    assert texts("a.docx", data) == ["Name", "Value", "Second line"]
    assert opened(translated("a.docx", data)).paragraphs[0].text == "NAME\tVALUE\nSECOND LINE"


def test_spaces_at_the_edge_of_a_run_are_preserved() -> None:
    document, paragraph = word()
    paragraph.add_run("Some ")
    paragraph.add_run("words").bold = True

    texts_of_runs = opened(translated("a.docx", saved(document))).element.body.iter(qn("w:t"))

    assert [(text.text, text.get(qn("xml:space"))) for text in texts_of_runs] == [
        ("SOME ", "preserve"),
        ("WORDS", None),
    ]


def test_fields_keep_their_code_and_page_numbers_are_kept_spans() -> None:
    document, paragraph = word()
    paragraph.add_run("Page ")
    add_field(paragraph, "PAGE", "3")
    paragraph.add_run(" of ")
    add_field(paragraph, 'HYPERLINK "http://a.example"', "the book")
    data = saved(document)
    [extract] = read_document("a.docx", data).extracts

    assert extract.text == "Page 3 of the book"
    assert [extract.text[span.start : span.end] for span in extract.keep] == ["3"]
    body = zipfile.ZipFile(BytesIO(translated("a.docx", data))).read("word/document.xml").decode()
    kinds = re.findall(r'fldCharType="(\w+)"|<w:instrText[^>]*>([^<]*)|<w:t(?: [^>]*)?>([^<]*)', body)
    assert ["".join(kind) for kind in kinds] == [
        *("PAGE ", "begin", " PAGE ", "separate", "3", "end", " OF "),
        *("begin", ' HYPERLINK "http://a.example" ', "separate", "THE BOOK", "end"),
    ]


def test_footnote_numbers_stay_with_their_word_and_bookmarks_in_order() -> None:
    document, paragraph = word()
    content = (
        "<w:bookmarkStart w:id='1' w:name='b'/><w:r><w:t>One word</w:t></w:r>"
        "<w:r><w:footnoteReference w:id='2'/></w:r><w:bookmarkEnd w:id='1'/>"
        "<w:r><w:t xml:space='preserve'> and more.</w:t></w:r>"
    )
    paragraph._p.extend(list(parse_xml(f"<w:p {nsdecls('w')}>{content}</w:p>")))

    result = opened(translated("a.docx", saved(document)))

    names = [(list(part) or [part])[-1].tag.rpartition("}")[2] for part in result.paragraphs[0]._p]
    assert names == ["bookmarkStart", "t", "footnoteReference", "bookmarkEnd", "t"]
    assert result.paragraphs[0].text == "ONE WORD AND MORE."


def test_text_boxes_are_translated_in_place() -> None:
    document, paragraph = word()
    paragraph.add_run("Outside ")
    paragraph._p.append(
        parse_xml(
            f"<w:r {nsdecls('w')} xmlns:v='urn:schemas-microsoft-com:vml'><w:pict><v:shape><v:textbox>"
            "<w:txbxContent><w:p><w:r><w:t>Inside the box</w:t></w:r></w:p></w:txbxContent></v:textbox>"
            "</v:shape></w:pict></w:r>"
        )
    )
    paragraph.add_run(" again")
    data = saved(document)

    assert texts("a.docx", data) == ["Outside again", "Inside the box"]
    result = opened(translated("a.docx", data))
    inside = [t.text for box in result.element.body.iter(qn("w:txbxContent")) for t in box.iter(qn("w:t"))]
    assert inside == ["INSIDE THE BOX"]
    assert result.paragraphs[0].text == "OUTSIDE  AGAIN"


def test_english_proofing_language_becomes_french() -> None:
    document, paragraph = word()
    paragraph.add_run("Words")

    result = opened(translated("a.docx", saved(document)))

    languages = {element.get(qn("w:val")) for element in result.styles.element.iter(qn("w:lang"))}
    assert languages == {"fr-FR"}


def test_the_proofing_language_of_the_source_becomes_that_of_the_target_with_a_country() -> None:
    document, paragraph = word()
    paragraph.add_run("des mots").element.get_or_add_rPr().append(
        parse_xml(f"<w:lang {nsdecls('w')} w:val='fr-CH'/>")
    )
    data = saved(document)

    for source, target, expected in (("fr", "en", "en-US"), ("en", "fr", "fr-CH")):
        read = read_document("a.docx", data, source=source, target=target)
        result = opened(read.restore(translations(read, str.upper)))
        [run] = result.paragraphs[-1].runs
        assert run.element.rPr.find(qn("w:lang")).get(qn("w:val")) == expected


def odt_with(*paragraphs: str) -> bytes:
    document = odfdo.Document("text")
    document.body.clear()
    for paragraph in paragraphs:
        document.body.append(odfdo.Element.from_tag(paragraph))
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


def body_of(data: bytes) -> list[str]:
    body = odfdo.Document(BytesIO(data)).body
    return [
        re.sub(r' xmlns:\w+="[^"]*"', "", element.serialize())
        for element in body.get_elements("text:p|text:h")
    ]


def test_odt_spans_links_notes_and_spaces_are_kept() -> None:
    data = odt_with(
        '<text:h text:outline-level="1">A title</text:h>',
        '<text:p>Some <text:span text:style-name="B">bold words</text:span> and<text:note text:id="n1" '
        'text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>A note'
        '</text:p></text:note-body></text:note> <text:a xlink:href="http://a.example">a link</text:a>.'
        '<text:tab/>After<text:s text:c="3"/>that</text:p>',
    )

    assert texts("a.odt", data)[:5] == [
        "A title",
        "Some bold words and a link.",
        "After   that",
        "A note",
    ]
    head, paragraph, *_ = body_of(translated("a.odt", data))
    assert head == '<text:h text:outline-level="1">A TITLE</text:h>'
    assert paragraph == (
        '<text:p>SOME <text:span text:style-name="B">BOLD WORDS</text:span> AND<text:note text:id="n1" '
        'text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>A NOTE'
        '</text:p></text:note-body></text:note> <text:a xlink:href="http://a.example">A LINK</text:a>.'
        '<text:tab/>AFTER <text:s text:c="2"/>THAT</text:p>'
    )


def test_odt_mimetype_comes_first_and_meta_is_copied() -> None:
    data = odt_with("<text:p>Words</text:p>")

    before, after = zipfile.ZipFile(BytesIO(data)), zipfile.ZipFile(BytesIO(translated("a.odt", data)))

    assert after.infolist()[0].filename == "mimetype"
    assert after.infolist()[0].compress_type == zipfile.ZIP_STORED
    assert before.read("meta.xml") == after.read("meta.xml")


def zipped(members: dict[str, bytes]) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("members", "limits", "words"),
    [
        ({"a": b"0" * 3_000_000}, DocumentLimits(), "compression ratio of .* over max_ratio = 250"),
        (
            {f"{n}": b"" for n in range(9)},
            DocumentLimits(max_members=8),
            "archive members of 9, over max_members = 8",
        ),
        ({"a": b"0" * 999}, DocumentLimits(max_uncompressed_bytes=99), "unpacked size .* of 999"),
        ({"a": b"0" * 999}, DocumentLimits(max_bytes=10), "over max_bytes = 10"),
    ],
)
def test_a_zip_over_a_limit_is_refused_with_the_limit(
    members: dict[str, bytes], limits: DocumentLimits, words: str
) -> None:
    with pytest.raises(TextTooLongError, match=words):
        read_document("a.docx", zipped(members), limits=limits)


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a\\..\\evil", "C:/evil"])
def test_a_member_outside_of_the_archive_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="points out of the archive"):
        read_document("a.docx", zipped({name: b""}))


LAUGHS = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><x>&b;</x>'
EXTERNAL = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><x>&a;</x>'


@pytest.mark.parametrize("xml", [LAUGHS, EXTERNAL])
@pytest.mark.parametrize("name", ["a.docx", "a.odt", "a.xliff"])
def test_entities_are_refused(xml: bytes, name: str) -> None:
    packed = {
        "a.docx": lambda: zipped({"[Content_Types].xml": xml}),
        "a.odt": lambda: zipped({"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": xml}),
        "a.xliff": lambda: xml,
    }[name]()

    with pytest.raises(InputError, match="declares XML entities"):
        read_document(name, packed)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.docx", b"no zip", "not a zip"),
        ("a.docx", zipped({"x": b""}), "no part .Content_Types"),
        ("a.odt", zipped({"mimetype": b"application/epub+zip"}), "no OpenDocument text"),
        ("a.doc", b"", r"named \.doc cannot be translated; known are txt, md"),
        ("a.xliff", b"<x>" * 400 + b"</x>" * 400, "nested too deeply"),
        ("a.xliff", b"<x>", "not well-formed XML at line 1"),
    ],
)
def test_what_is_no_document_is_an_error(name: str, data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_document(name, data)


def test_a_broken_member_is_an_error_and_names_no_text() -> None:
    document, paragraph = word()
    paragraph.add_run("secret words " * 50)
    data = bytearray(saved(document))
    place = data.index(b"word/document.xml") + 200
    data[place : place + 20] = b"\xff" * 20

    with pytest.raises(InputError, match=r"word/document.xml") as caught:
        read_document("a.docx", bytes(data))

    assert "secret" not in str(caught.value)


def test_too_many_characters_are_refused() -> None:
    with pytest.raises(TextTooLongError, match="characters to translate of 30, over max_characters = 29"):
        read_document("a.txt", b"word, " * 5, limits=DocumentLimits(max_characters=29))

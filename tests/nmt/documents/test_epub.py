"""epub: chapters and tables of contents; opened again by the rules of its own parts, with lxml."""

from __future__ import annotations

import random
import re
import zipfile
from io import BytesIO

import pytest
from lxml import etree

from nmt.documents import DocumentLimits, read_document
from nmt.errors import InputError, TextTooLongError
from tests.nmt.documents.doubles import same, texts, translated
from tests.nmt.documents.generated import phrase, sentence

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
  <rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""
OPF = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
  <metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
    <dc:title>The Title</dc:title><dc:language>en-GB</dc:language><dc:creator>Ann Lee</dc:creator>
  </metadata>
  <manifest>
    <item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
    <item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
    <item id="c1" href="text/chapter%201.xhtml" media-type="application/xhtml+xml"/>
    <item id="css" href="style.css" media-type="text/css"/>
  </manifest>
  <spine toc="ncx"><itemref idref="c1"/></spine>
</package>
"""
NCX = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1">
  <docTitle><text>The Title</text></docTitle>
  <navMap><navPoint id="n1"><navLabel><text>{}</text></navLabel>
    <content src="text/chapter%201.xhtml"/></navPoint></navMap>
</ncx>
"""
PAGE = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"
      lang="en" xml:lang="en-US">
<head><title/><link rel="stylesheet" href="../style.css"/><script src="x.js"/></head>
<body>
{}
</body>
</html>
"""


def block(chance: random.Random) -> str:
    text = sentence(chance)
    return chance.choice(
        [
            f"<h1 id='a{chance.randrange(99)}'>{phrase(chance)}</h1>",
            f'<p><a id="p{chance.randrange(99)}"/>{text} <b>{phrase(chance)}</b> &amp; {text}</p>',
            f'<p>{text}<br/>{text} <img src="a.png" alt="{phrase(chance)}"/></p>',
            f'<p class="x">{phrase(chance)}<span epub:type="pagebreak" id="p{chance.randrange(99)}"></span>'
            f" {phrase(chance)} &#8220;{phrase(chance)}&#8221;</p>",
            f"<ul><li>{text}</li>\n  <li/>\n<li>{phrase(chance)}</li></ul>",
            f"<div/><p>{phrase(chance)} <i/> {phrase(chance)}</p><hr/>",
            f"<pre>x  =  1</pre><!-- {phrase(chance)} -->",
            '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>',
            f"<p>{phrase(chance)} <em>{phrase(chance)}</em><a href='#n1'><sup>1</sup></a></p>",
        ]
    )


def book(seed: int, chapter: str | None = None, opf: str = OPF, **more: str) -> bytes:
    chance = random.Random(seed)
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OEBPS/book.opf", opf)
        archive.writestr("OEBPS/toc.ncx", NCX.format(phrase(chance)))
        nav = f'<nav><ol><li><a href="text/chapter%201.xhtml">{phrase(chance)}</a></li></ol></nav>'
        archive.writestr("OEBPS/nav.xhtml", PAGE.format(nav))
        body = "\n".join(block(chance) for _ in range(12))
        archive.writestr("OEBPS/text/chapter 1.xhtml", chapter or PAGE.format(body))
        archive.writestr("OEBPS/style.css", "p { color: red }")
        for name, content in more.items():
            archive.writestr(name.replace("__", "/"), content)
    return stream.getvalue()


def members(data: bytes) -> dict[str, bytes]:
    archive = zipfile.ZipFile(BytesIO(data))
    assert archive.infolist()[0].filename == "mimetype"
    assert archive.infolist()[0].compress_type == zipfile.ZIP_STORED
    return {name: archive.read(name) for name in archive.namelist()}


def in_source_language(name: str, content: bytes) -> bytes:
    text = content.decode()
    if name.endswith(".opf"):
        return text.replace("<dc:language>fr<", "<dc:language>en-GB<").encode()
    return text.replace('lang="fr" xml:lang="fr"', 'lang="en" xml:lang="en-US"').encode()


def shape(content: bytes) -> list[tuple[str, dict[str, str], str]]:
    """Elements, attributes and text of XML, text in lower case."""
    root = etree.fromstring(content)
    return [
        (
            str(element.tag),
            {key: value.casefold() for key, value in element.attrib.items() if not key.endswith("lang")},
            " ".join((element.text or "").split()).casefold(),
        )
        for element in root.iter(etree.Element)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_books_come_back_as_they_were(seed: int) -> None:
    data = book(seed)
    before, after = members(data), members(translated("a.epub", data, same))

    assert list(before) == list(after)
    assert {name: in_source_language(name, content) for name, content in after.items()} == before
    in_capitals = members(translated("a.epub", data))
    for name in ("OEBPS/toc.ncx", "OEBPS/nav.xhtml", "OEBPS/text/chapter 1.xhtml"):
        assert shape(in_capitals[name]) == shape(before[name])
        assert in_capitals[name] != after[name]
    assert in_capitals["OEBPS/style.css"] == before["OEBPS/style.css"]


def test_languages_are_set_and_metadata_is_not_translated() -> None:
    after = members(translated("a.epub", book(0)))

    assert b"<dc:title>The Title</dc:title><dc:language>fr</dc:language>" in after["OEBPS/book.opf"]
    assert b'lang="fr" xml:lang="fr">' in after["OEBPS/nav.xhtml"]
    assert b"<docTitle><text>THE TITLE</text>" in after["OEBPS/toc.ncx"]


def test_what_is_empty_in_xhtml_holds_nothing_of_what_follows() -> None:
    page = PAGE.format(
        '<p><a id="p1"/>Red car <i/>stops.</p><script src="x"/><p>Blue</p><textarea/><p>End</p>'
    )

    assert texts("a.epub", book(0, page))[1:] == [
        "Red car stops.",
        "Blue",
        "End",
        "The Title",
        *texts("a.epub", book(0))[-1:],
    ]
    result = members(translated("a.epub", book(0, page)))["OEBPS/text/chapter 1.xhtml"].decode()
    assert re.findall("<body>\n(.*)\n", result) == [
        '<p><a id="p1"/>RED CAR <i/>STOPS.</p><script src="x"/><p>BLUE</p><textarea/><p>END</p>'
    ]


ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/'
    'xmlenc#"><enc:EncryptedData><enc:CipherData><enc:CipherReference URI="OEBPS/{}"/></enc:CipherData>'
    "</enc:EncryptedData></encryption>"
)


def test_scrambled_fonts_pass_and_encrypted_chapters_do_not() -> None:
    assert texts("a.epub", book(0, **{"META-INF__encryption.xml": ENCRYPTION.format("font.otf")}))
    with pytest.raises(InputError, match="encrypted; take a copy without copy protection"):
        read_document("a.epub", book(0, **{"META-INF__encryption.xml": ENCRYPTION.format("nav.xhtml")}))


def test_entities_bombs_and_other_zips_are_refused() -> None:
    page = PAGE.format("<p>&a;</p>").replace("<!DOCTYPE html>", '<!DOCTYPE html [\n<!ENTITY a "ha">]>')
    with pytest.raises(InputError, match=r"chapter 1.xhtml declares XML entities"):
        read_document("a.epub", book(0, page))
    with pytest.raises(TextTooLongError, match="compression ratio"):
        read_document("a.epub", book(0, "0" * 3_000_000))
    with pytest.raises(TextTooLongError, match="max_members"):
        read_document("a.epub", book(0), limits=DocumentLimits(max_members=3))
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/zip")
    with pytest.raises(InputError, match="no book"):
        read_document("a.epub", stream.getvalue())

r"""Android's strings.xml: strings, items of string arrays and of plurals; all else stays byte for byte.

Escapes (``\'``, ``\n``, ``\u0020``, quotes that keep white space) are read and written. Elements, those as
``&lt;b>`` or in CDATA too, stay elements. Copied is what is marked ``translatable="false"``, references
(``@string/x``) and ``xliff:g``. Source: developer.android.com, "String resources".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape

from lxml import etree

from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.xml import XmlFile
from nmt.documents.xml_edits import Edits
from nmt.documents.xml_strings import XmlString, xml_string

_XLIFF = "urn:oasis:names:tc:xliff:document:1.2"
_REFERENCE = re.compile(r"\s*(?:@(?:[+*]?[\w.]+:)?[\w.]+/[\w.]+|\?(?:[\w.]+:)?(?:[\w.]+/)?[\w.]+|@null)\s*")
_MARKUP = r"""</?[A-Za-z](?:[^<>"']|"[^"]*"|'[^']*')*>|<!--.*?-->"""
_PIECE = re.compile(
    rf"""(?P<tag>{_MARKUP})|\\u(?P<code>[0-9A-Fa-f]{{4}})|\\(?P<escaped>.)|(?P<quote>"|&quot;)|(?P<space>\s+)"""
    r"""|[^<\\"\s&]+|.""",
    re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t"}
_WRITTEN = str.maketrans({"\n": "\\n", "\t": "\\t", "\\": "\\\\", "'": "\\'", '"': '\\"'})
_SPACE = re.compile("(?<= ) ")
_TAG = re.compile(f"({_MARKUP})", re.DOTALL)


def read_android(file: XmlFile) -> ExtractedDocument:
    """A resources file; see ``nmt.documents.read_document``."""
    elements = list(_translatable(file.root))
    edits = Edits(file.text, file.root)
    ignored = [f"{prefix}:g" for prefix, name in _namespaces(file.root) if name == _XLIFF]
    parts: list[XmlString] = []
    for element in elements:
        raw = edits.content(element)
        quoted = '"' in re.sub(r"\\.|<[^>]*>", "", unescape(raw))
        parts.append(
            xml_string(
                raw,
                decode=_decode,
                encode=_encode_quoted if quoted else _encode,
                strip=True,
                ignore_tags=ignored,
            )
        )

    def write(restored: Sequence[str]) -> bytes:
        changes = Edits(file.text, file.root)
        for element, part, raw in zip(elements, parts, restored, strict=True):
            if raw != part.raw:
                changes.set_content(element, raw)
        return file.encode(changes.result())

    return document(parts, write, suffix="xml")


def _namespaces(root: etree._Element) -> set[tuple[str | None, str]]:
    return {pair for element in root.iter(etree.Element) for pair in element.nsmap.items()}


def _translatable(root: etree._Element) -> Iterator[etree._Element]:
    """Elements that hold a string of their own."""
    for element in root.iter("string", "item"):
        above = [one.tag for one in element.iterancestors()][:-1]
        if above not in ([], ["string-array"], ["plurals"]) or (element.tag == "item") != bool(above):
            continue
        marks = [one.get("translatable") for one in (element, *element.iterancestors())]
        text = "".join(map(str, element.itertext()))
        if "false" not in marks and not _REFERENCE.fullmatch(text):
            yield element


def _decode(text: str) -> str:
    """What Android shows: escapes read, white space outside of quotes collapsed; tags as they are."""
    found: list[str] = []
    quoted = False
    for piece in _PIECE.finditer(text):
        if piece["code"]:
            found.append(chr(int(piece["code"], 16)))
        elif piece["escaped"]:
            found.append(_ESCAPES.get(piece["escaped"], piece["escaped"]))
        elif piece["quote"]:
            quoted = not quoted
        elif piece["space"] and not quoted:
            found.append(" ")
        else:
            found.append(piece.group())
    return "".join(found)


def _encode(text: str) -> str:
    """The opposite of ``_decode``; spaces that would collapse are written by their code."""
    written = "".join(
        piece if _TAG.fullmatch(piece) else _SPACE.sub(r"\\u0020", piece.translate(_WRITTEN))
        for piece in _TAG.split(text)
    )
    written = re.sub(r"^ | $", r"\\u0020", written)
    return f"\\{written}" if written.startswith(("@", "?")) else written


def _encode_quoted(text: str) -> str:
    """The same in quotes, within which no space collapses."""
    return f'"{_encode(text)}"'.replace("\\u0020", " ")

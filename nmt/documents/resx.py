""".NET's resources (resx, resw): values of ``data`` that are strings; all else stays byte for byte.

What has a type (images, numbers, sizes), the designer's entries (``>>name``) and strings whose comment says
``{Locked}`` are no texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lxml import etree

from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.xml import read_xml
from nmt.documents.xml_edits import Edits
from nmt.documents.xml_strings import xml_string
from nmt.errors import InputError


def read_resx(data: bytes) -> ExtractedDocument:
    """A resources file; see ``nmt.documents.read_document``."""
    file = read_xml(data)
    if file.root.tag != "root":
        name = etree.QName(file.root).localname
        raise InputError(f"the document is no resx: its root element is {name[:40]}, not root")
    values = list(_values(file.root))
    edits = Edits(file.text, file.root)
    parts = [xml_string(edits.content(value)) for value in values]

    def write(restored: Sequence[str]) -> bytes:
        changes = Edits(file.text, file.root)
        for value, part, raw in zip(values, parts, restored, strict=True):
            if raw != part.raw:
                changes.set_content(value, raw)
        return file.encode(changes.result())

    return document(parts, write, suffix="resx")


def _values(root: etree._Element) -> Iterator[etree._Element]:
    for entry in root.iterchildren("data"):
        value = entry.find("value")
        is_string = entry.get("type", "System.String").startswith("System.String") and not entry.get(
            "mimetype"
        )
        is_ours = (
            not entry.get("name", "").startswith(">>") and entry.findtext("comment", "").strip() != "{Locked}"
        )
        if value is not None and is_string and is_ours:
            yield value

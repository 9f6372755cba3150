"""OpenDocument text (ODF 1.3): paragraphs and headings of body, tables, notes, headers, footers, text boxes.

A paragraph is translated whole: spans and links are containers, fields keep their result, notes, frames and
bookmarks are objects, tabs and line breaks barriers. ``content.xml`` and ``styles.xml`` (headers and footers)
are rewritten; every other member, ``meta.xml`` too, is copied byte by byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy

from lxml import etree

from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.inline import Item
from nmt.documents.languages import Languages
from nmt.documents.limits import DocumentLimits
from nmt.documents.mixed import MixedContent, Role, add_text
from nmt.documents.package import Package
from nmt.errors import InputError

TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_MIME_TYPE = b"application/vnd.oasis.opendocument.text"
_PARTS = ("content.xml", "styles.xml")
_SPACES = re.compile(r"(  +|^ )")

_PAIRS = ("bookmark", "reference-mark", "change")
_ROLES: dict[object, Role] = {
    **{f"{TEXT}{name}": Role("container") for name in ("span", "a", "meta", "meta-field")},
    **{f"{TEXT}{name}": Role("barrier") for name in ("tab", "line-break")},
    **{f"{TEXT}{name}-start": Role("object", side="right", in_order=True) for name in _PAIRS},
    **{f"{TEXT}{name}-end": Role("object", side="left", in_order=True) for name in _PAIRS},
    f"{TEXT}soft-page-break": Role("dropped"),
    f"{TEXT}note": Role("object", side="left"),
}


def read_odt(data: bytes, limits: DocumentLimits, languages: Languages) -> ExtractedDocument:
    """An OpenDocument text; see ``nmt.documents.read_document``."""
    package = Package(data, limits)
    if "mimetype" not in package or package.read("mimetype").strip() != _MIME_TYPE:
        raise InputError("the document is no OpenDocument text (odt): its mimetype says otherwise")
    if "META-INF/manifest.xml" in package and b"encryption-data" in package.read("META-INF/manifest.xml"):
        raise InputError("the document is encrypted; save it without a password")
    roots = {name: package.read_xml(name) for name in _PARTS if name in package}
    parts = [content.paragraph for root in roots.values() for _, content in _paragraphs(root)]

    def write(restored: Sequence[list[Item]]) -> bytes:
        changed = {name: deepcopy(root) for name, root in roots.items()}
        paragraphs = [found for root in changed.values() for found in _paragraphs(root)]
        for (element, content), part, items in zip(paragraphs, parts, restored, strict=True):
            if items != list(part.items):
                content.write(element, items, take=lambda child: child, add_text=_add_text)
        for root in changed.values():
            _set_language(root, languages)
        return package.replace(changed)

    return document(parts, write, suffix="odt")


def _paragraphs(root: etree._Element) -> Iterator[tuple[etree._Element, MixedContent]]:
    """All paragraphs and headings, those in notes and text boxes after the one they are anchored in."""
    for element in list(root.iter(f"{TEXT}p", f"{TEXT}h")):
        if next(element.iterancestors(f"{TEXT}tracked-changes"), None) is None:
            yield element, MixedContent(element, _role, collapse=True)


def _role(element: etree._Element) -> Role:
    tag = element.tag
    if tag in _ROLES:
        return _ROLES[tag]
    if tag == f"{TEXT}s":
        count = element.get(f"{TEXT}c", "1")
        return Role("text", " " * min(int(count) if count.isdecimal() else 1, 1000))
    is_field = isinstance(tag, str) and tag.startswith(TEXT) and not len(element) and element.text
    return Role("container", keep=True) if is_field else Role("object")


def _add_text(parent: etree._Element, text: str) -> None:
    """Append text; white space that ODF would collapse becomes ``text:s``."""
    for piece in _SPACES.split(text):
        if _SPACES.fullmatch(piece) and (len(piece) > 1 or (not len(parent) and not parent.text)):
            if len(piece) > 1:
                add_text(parent, " ")
            spaces = etree.SubElement(parent, f"{TEXT}s")
            spaces.set(f"{TEXT}c", str(max(1, len(piece) - 1)))
        elif piece:
            add_text(parent, piece)


def _set_language(root: etree._Element, languages: Languages) -> None:
    """The source's text properties become those of the target, for the right dictionary."""
    for element in root.iter(f"{{{root.nsmap.get('style', '')}}}text-properties"):
        if element.get(f"{_FO}language") == languages.source:
            element.set(f"{_FO}language", languages.target)
            element.set(f"{_FO}country", languages.region)

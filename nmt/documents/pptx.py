"""Presentations (ECMA-376, part 1, section 19): slides with tables, groups, SmartArt and charts, and notes.

Layouts and masters are read too, but for their placeholders, whose text nobody sees. Text cached in charts is
that of their workbook, and stays. Parts that hold no text are copied byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy

from lxml import etree

from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.inline import Item
from nmt.documents.languages import Languages
from nmt.documents.limits import DocumentLimits
from nmt.documents.ooxml import FlatRuns, drawn_paragraphs, parts_of, set_language
from nmt.documents.package import Package

_KINDS = (
    "presentationml.presentation.main",
    "presentationml.slide",
    "presentationml.notesSlide",
    "drawingml.diagramData",
    "drawingml.diagramDrawing",
    "drawingml.chart",
    "presentationml.slideLayout",
    "presentationml.slideMaster",
)
_WITH_PLACEHOLDERS = ("presentationml.slideLayout", "presentationml.slideMaster")


def read_pptx(data: bytes, limits: DocumentLimits, languages: Languages) -> ExtractedDocument:
    """A presentation; see ``nmt.documents.read_document``."""
    package = Package(data, limits)
    found = parts_of(package, _KINDS, what="presentation (pptx)")[1:]
    roots = {name: (kind, package.read_xml(name)) for kind, name in found}
    parts = [runs.paragraph for kind, root in roots.values() for runs in _paragraphs(kind, root)]

    def write(restored: Sequence[list[Item]]) -> bytes:
        changed = {name: (kind, deepcopy(root)) for name, (kind, root) in roots.items()}
        paragraphs = [runs for kind, root in changed.values() for runs in _paragraphs(kind, root)]
        for runs, part, items in zip(paragraphs, parts, restored, strict=True):
            if items != list(part.items):
                runs.write(items)
        for _, root in changed.values():
            set_language(root, languages)
        return package.replace({name: root for name, (_, root) in changed.items()})

    return document(parts, write, suffix="pptx")


def _paragraphs(kind: str, root: etree._Element) -> Iterator[FlatRuns]:
    for runs in list(drawn_paragraphs(root)):
        if kind not in _WITH_PLACEHOLDERS or not _is_placeholder(runs.element):
            yield runs


def _is_placeholder(element: etree._Element) -> bool:
    """Whether a paragraph is the prompt of a layout ("Click to edit Master title style")."""
    for shape in element.iterancestors("{*}sp"):
        return next(shape.iter("{*}ph"), None) is not None
    return False

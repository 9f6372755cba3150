"""Books (EPUB 2 and 3): chapters and the table of contents; every other member is copied byte by byte.

Chapters, the navigation document too, are XHTML and go through the reader of HTML; in the NCX the labels are
texts. ``dc:language`` and ``lang`` become the target's. Source: EPUB 3.3; OPF 2.0.1 (NCX).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from urllib.parse import unquote

from lxml import etree

from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.languages import Languages
from nmt.documents.limits import DocumentLimits
from nmt.documents.package import Package
from nmt.documents.xml import XmlFile, read_xml
from nmt.documents.xml_edits import Edits
from nmt.documents.xml_strings import XmlString, xml_string
from nmt.errors import InputError
from nmt.extraction import Extracted
from nmt.markup import ExtractedMarkup, extract_html
from nmt.markup.html import VOID

_MIME_TYPE = b"application/epub+zip"
_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_CHAPTER, _NCX = "application/xhtml+xml", "application/x-dtbncx+xml"
_LANGUAGE = "{http://purl.org/dc/elements/1.1/}language"
_SELF_CLOSING = re.compile(
    r"<(?P<name>[A-Za-z][\w:.-]*)(?P<rest>(?:\s+[^\s=<>/]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'))*\s*)/>"
)
_MARK = "\ue0fe"
"""Stands at the end of a tag that was self-closing."""
_MARKED = re.compile(rf"{_MARK}></[\w:.-]+>")
_HTML_TAG = re.compile(r"<html\b[^>]*>", re.IGNORECASE)
_ENTITY = re.compile(r"<!DOCTYPE[^>\[]*\[[^\]]*<!ENTITY", re.IGNORECASE)


def read_epub(data: bytes, limits: DocumentLimits, languages: Languages) -> ExtractedDocument:
    """A book; see ``nmt.documents.read_document``."""
    package = Package(data, limits)
    if "mimetype" not in package or package.read("mimetype").strip() != _MIME_TYPE:
        raise InputError("the document is no book (epub): its mimetype says otherwise")
    opf_name = _opf_of(package)
    opf = read_xml(package.read(opf_name))
    chapters, contents = _items(opf, opf_name, package)
    _refuse_encrypted(package, {*chapters, *contents})
    sources = {name: decode(package.read(name)) for name in chapters}
    labels = {name: _Labels(read_xml(package.read(name))) for name in contents}
    pages = [_chapter(name, sources[name].text) for name in chapters]
    parts: list[Extracted[str]] = [*pages, *(part for one in labels.values() for part in one.parts)]

    def write(restored: Sequence[str]) -> bytes:
        changed: dict[str, etree._Element | bytes] = {}
        texts = iter(restored)
        for name in chapters:
            page = _MARKED.sub("/>", next(texts)).replace(_MARK, "")
            changed[name] = sources[name].encode(_in_language(page, languages))
        for name, one in labels.items():
            changed[name] = one.written([next(texts) for _ in one.parts])
        changed[opf_name] = _with_language(opf, languages)
        return package.replace(changed)

    return document(parts, write, suffix="epub")


class _Labels:
    """What an NCX shows: the labels of its entries and the title."""

    def __init__(self, file: XmlFile) -> None:
        self._file = file
        self._elements = [element for element in file.root.iter("{*}text") if not len(element)]
        edits = Edits(file.text, file.root)
        self.parts: list[XmlString] = [
            xml_string(edits.content(element), strip=True) for element in self._elements
        ]

    def written(self, restored: Sequence[str]) -> bytes:
        """The member with other labels."""
        edits = Edits(self._file.text, self._file.root)
        for element, part, raw in zip(self._elements, self.parts, restored, strict=True):
            if raw != part.raw:
                edits.set_content(element, raw)
        return self._file.encode(edits.result())


def _opf_of(package: Package) -> str:
    """The name of the package document."""
    container = package.read_xml(_CONTAINER)
    for rootfile in container.iter("{*}rootfile"):
        name = rootfile.get("full-path", "")
        if name in package:
            return name
    raise InputError("the document is no book (epub): its container names no package document that is there")


def _items(opf: XmlFile, opf_name: str, package: Package) -> tuple[list[str], list[str]]:
    """Names of the chapters and of the NCX files, in the order of the manifest."""
    chapters: list[str] = []
    contents: list[str] = []
    for item in opf.root.iter("{*}item"):
        href = unquote(item.get("href", "").partition("#")[0])
        name = posixpath.normpath(posixpath.join(posixpath.dirname(opf_name), href))
        names = {_CHAPTER: chapters, _NCX: contents}.get(item.get("media-type", ""))
        if names is not None and name in package and name not in names:
            names.append(name)
    return chapters, contents


def _refuse_encrypted(package: Package, names: set[str]) -> None:
    """Fonts may be scrambled, what is translated may not."""
    if _ENCRYPTION not in package:
        return
    for reference in package.read_xml(_ENCRYPTION).iter("{*}CipherReference"):
        if unquote(reference.get("URI", "")) in names:
            raise InputError("the document is encrypted; take a copy without copy protection")


def _chapter(name: str, text: str) -> ExtractedMarkup:
    """XHTML to the reader of HTML, in which ``<a/>`` is a tag that is not closed."""
    if _ENTITY.search(text):
        raise InputError(f"the document's part {name[:100]} declares XML entities; remove them")
    return extract_html(_SELF_CLOSING.sub(_opened, text))


def _opened(tag: re.Match[str]) -> str:
    if tag["name"].lower() in VOID:
        return tag.group()
    return f"<{tag['name']}{tag['rest']}{_MARK}></{tag['name']}>"


def _in_language(page: str, languages: Languages) -> str:
    """The page with ``lang`` and ``xml:lang`` of its root set, where they are the source's."""
    named = re.compile(
        rf"""(\s(?:xml:)?lang\s*=\s*["']){re.escape(languages.source)}\b[-\w]*""", re.IGNORECASE
    )
    return _HTML_TAG.sub(lambda tag: named.sub(rf"\g<1>{languages.target}", tag.group()), page, count=1)


def _with_language(opf: XmlFile, languages: Languages) -> bytes:
    """The package document with the target's ``dc:language`` for the source's."""
    edits = Edits(opf.text, opf.root)
    for element in opf.root.iter(_LANGUAGE):
        if (element.text or "").strip().lower().partition("-")[0] == languages.source:
            edits.set_content(element, languages.target)
    return opf.encode(edits.result())

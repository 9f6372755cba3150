"""TMX 1.4b (LISA OSCAR), read as it arrives: a file of any size takes the memory of one unit.

defusedxml refuses declarations of entities, and nothing external is fetched; the document type that TMX files
name may stand. Inline codes are left out, but for placeholders: ``<ph>{name}</ph>`` is ``{name}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler, feature_external_ges
from xml.sax.saxutils import escape
from xml.sax.xmlreader import AttributesImpl

from defusedxml import DefusedXmlException
from defusedxml.expatreader import create_parser

from nmt import __version__
from nmt.errors import InputError
from nmt.memory.segments import SegmentPair
from nmt.memory.unit import MOST_CHARACTERS, TranslationUnit

CHUNK_BYTES = 1 << 16
_CODES = frozenset({"bpt", "ept", "ph", "it", "ut"})
"""Elements whose content is native code."""
_PLACEHOLDER = re.compile(r"[{%$][^<>\\]{0,80}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8}){0,3}")


class _Handler(ContentHandler):
    """Collects the variants of one unit after the other in ``done``."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[SegmentPair] = []
        self.source_language = ""
        self._path: list[str] = []
        self._variants: list[tuple[str, str]] = []
        self._language = ""
        self._unit_source = ""
        self._text: list[str] = []
        self._code: list[str] = []
        self._n_characters = 0
        self._in_segment = False

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        """A tag opens."""
        if not self._path and name != "tmx":
            raise InputError(f"this is no TMX: its root element is {_shown(name)}; give a TMX 1.4 file")
        self._path.append(name)
        if name == "header":
            self.source_language = str(attrs.get("srclang", ""))
        elif name == "tu":
            self._variants, self._unit_source = [], str(attrs.get("srclang", ""))
        elif name == "tuv":
            self._language = str(attrs.get("xml:lang") or attrs.get("lang") or "")
        elif name == "seg":
            self._text, self._n_characters, self._in_segment = [], 0, True
        elif self._in_segment and name in _CODES:
            self._code = []

    def endElement(self, name: str) -> None:
        """A tag closes."""
        self._path.pop()
        if name == "seg":
            self._in_segment = False
            if _LANGUAGE.fullmatch(self._language):
                self._variants.append((self._language.replace("_", "-").lower(), "".join(self._text)))
        elif name == "tu":
            source = self._unit_source or self.source_language
            self.done.append(
                SegmentPair(
                    "" if source.lower() == "*all*" else source.replace("_", "-").lower(),
                    tuple(self._variants),
                )
            )
        elif self._in_segment and name in _CODES:
            code = "".join(self._code)
            if _PLACEHOLDER.fullmatch(code):
                self._text.append(code)

    def characters(self, content: str) -> None:
        """Text, in pieces."""
        if not self._in_segment or self._n_characters > MOST_CHARACTERS:
            return
        self._n_characters += len(content)  # one too many tells that the segment is too long
        inside = self._path[self._path.index("seg") + 1 :]
        if not _CODES.isdisjoint(inside):
            self._code.append(content)
        else:
            self._text.append(content)


def read_tmx(stream: BinaryIO) -> Iterator[SegmentPair]:
    """The units of a TMX file, in their order, each with all its languages.

    Raises:
        InputError: it is no TMX or no well-formed XML, or it declares entities.
    """
    handler = _Handler()
    parser = create_parser(forbid_dtd=False, forbid_entities=True, forbid_external=False)
    parser.setFeature(feature_external_ges, False)  # the document type may be named, and is not fetched
    parser.setContentHandler(handler)
    try:
        while chunk := stream.read(CHUNK_BYTES):
            parser.feed(chunk)
            yield from handler.done
            handler.done.clear()
        parser.close()
    except DefusedXmlException:
        raise InputError("the TMX file declares XML entities; remove them") from None
    except SAXParseException as error:
        where = f"line {error.getLineNumber()}, column {error.getColumnNumber()}"
        raise InputError(f"this is no TMX: it is not well-formed XML at {where}; correct it") from None
    except (LookupError, ValueError):
        raise InputError("this is no TMX: its encoding is not known; save it as UTF-8") from None
    yield from handler.done


def write_tmx(units: Iterable[TranslationUnit], languages: tuple[str, str]) -> Iterator[bytes]:
    """A TMX 1.4b file, in pieces."""
    source, target = languages
    yield (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n'
        f'<header creationtool="passerelle" creationtoolversion="{__version__}" segtype="sentence" '
        f'o-tmf="passerelle" adminlang="en" srclang="{source}" datatype="plaintext"/>\n<body>\n'
    ).encode()
    for unit in units:
        yield (
            f'<tu><tuv xml:lang="{source}"><seg>{_escaped(unit.source)}</seg></tuv>'
            f'<tuv xml:lang="{target}"><seg>{_escaped(unit.target)}</seg></tuv></tu>\n'
        ).encode()
    yield b"</body>\n</tmx>\n"


def _escaped(text: str) -> str:
    return escape(text, {"\r": "&#13;"})


def _shown(name: str) -> str:
    return name if re.fullmatch(r"[\w:.-]{1,40}", name) else "of another kind"

"""Strings in elements of XML (Android, .NET, Qt): only what is between their tags changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import TYPE_CHECKING

from nmt.documents.strings import string_part
from nmt.extraction import Extract, Extracted
from nmt.markup import extract_html

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

_CDATA = re.compile(r"\s*<!\[CDATA\[(?P<text>(?:(?!<!\[CDATA\[).)*)\]\]>\s*", re.DOTALL)


def unchanged(text: str) -> str:
    """The text as it is."""
    return text


@dataclass(frozen=True)
class XmlString:
    """The raw content of an element; an ``Extracted[str]`` of raw content."""

    raw: str
    inner: Extracted[str]
    write: Callable[[str], str]
    """Makes raw content of what ``inner`` restores."""

    @property
    def extracts(self) -> Sequence[Extract]:
        """Its texts."""
        return self.inner.extracts

    def restore(self, translations: Sequence[Translation]) -> str:
        """Raw content with the translations; as it was, byte for byte, where nothing is different."""
        if [translation.text for translation in translations] == [extract.text for extract in self.extracts]:
            return self.raw
        return self.write(self.inner.restore(translations))


def xml_string(
    raw: str,
    *,
    decode: Callable[[str], str] = unchanged,
    encode: Callable[[str], str] = unchanged,
    quotes: bool = False,
    strip: bool = False,
    ignore_tags: Collection[str] = (),
) -> XmlString:
    """Take the raw content of an element apart.

    Args:
        raw: well-formed XML: text, a CDATA section, or text with elements in it.
        decode: takes the format's own escapes away, after those of XML; leaves tags alone.
        encode: the opposite.
        quotes: quotes and apostrophes are written as references.
        strip: white space around the text has no meaning, and stays.
        ignore_tags: elements to copy.
    """
    section = _CDATA.fullmatch(raw)
    start, end = section.span("text") if section else (0, len(raw))
    if strip and raw[start:end].strip():
        start, end = end - len(raw[start:end].lstrip()), start + len(raw[start:end].rstrip())
    before, written, after = raw[:start], raw[start:end], raw[end:]
    if "<" in written and not section:
        text = decode(written)
        inner: Extracted[str] = extract_html(text, keeps_lines=True, ignore_tags=ignore_tags)
    else:
        text = decode(written if section else unescape(written))
        inner = string_part(text)

    def write(new: str) -> str:
        content = encode(new)
        if section:
            content = content.replace("]]>", "]]]]><![CDATA[>")
        elif "<" not in written:
            content = escape(content, quote=quotes).replace("&#x27;", "&apos;")
        return f"{before}{content}{after}"

    return XmlString(raw, inner, write)

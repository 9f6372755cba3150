"""HTML pages: ``nmt.markup`` takes them apart; here are the encoding and the page's language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.languages import Languages
from nmt.markup import extract_html


def read_html(data: bytes, languages: Languages) -> ExtractedDocument:
    """An HTML page or fragment; see ``nmt.documents.read_document``."""
    source = decode(data)
    own = re.escape(languages.source)
    named = re.compile(rf"""(<html\b[^>]*?\slang\s*=\s*["']?){own}\b[-\w]*""", re.IGNORECASE)

    def write(restored: Sequence[str]) -> bytes:
        return source.encode(named.sub(rf"\g<1>{languages.target}", "".join(restored), count=1))

    return document([extract_html(source.text)], write, suffix="html")

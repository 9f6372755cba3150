"""HTML pages: ``nmt.markup`` takes them apart; here are the encoding and the page's language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, document
from nmt.markup import extract_html

_LANGUAGE = re.compile(r"""(<html\b[^>]*?\slang\s*=\s*["']?)en\b[-\w]*""", re.IGNORECASE)


def read_html(data: bytes, *, target: str) -> ExtractedDocument:
    """An HTML page or fragment; see ``nmt.documents.read_document``."""
    source = decode(data)

    def write(restored: Sequence[str]) -> bytes:
        return source.encode(_LANGUAGE.sub(rf"\g<1>{target}", "".join(restored), count=1))

    return document([extract_html(source.text)], write, suffix="html")

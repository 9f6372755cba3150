"""A string of a resource file (po, json, yaml): plain text, or with tags in it, which then stay tags."""

from __future__ import annotations

import re

from nmt.documents.extracted import PlainText
from nmt.extraction import Extracted
from nmt.markup import extract_html

_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


def string_part(text: str) -> Extracted[str]:
    """What takes ``text`` apart; a "<" or "&" without any tag is plain text."""
    return extract_html(text) if _TAG.search(text) else PlainText(text)

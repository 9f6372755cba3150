"""A string of a resource file (po, json, yaml): plain text, or with tags in it, which then stay tags."""

from __future__ import annotations

import re

from nmt.documents.extracted import PlainText
from nmt.documents.inline import Item
from nmt.documents.messages import MessageText, message
from nmt.extraction import Extracted
from nmt.markup import extract_html
from nmt.text.message_format import arguments

_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


def string_part(text: str) -> Extracted[str]:
    """What takes ``text`` apart; a "<" or "&" without any tag is plain text."""
    if _TAG.search(text):
        return extract_html(text, keeps_lines=True)
    return MessageText(message([Item("text", text=text)])) if arguments(text) else PlainText(text)

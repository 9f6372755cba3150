"""Mentions, hashtags and addresses: names that a program made from several elements, and that stay one."""

from __future__ import annotations

import re

_MENTION = re.compile(
    r"[@#]\w[\w.\-]*(?:@[\w.\-]+)?|@\s?[^\W\d_]\S*(?: [^\W\d_a-z]\S*){0,3}|"
    r"(?:https?://|www\.)\S+|[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+"
)
CLASSES = frozenset(("mention", "hashtag"))
"""Of elements that are one whatever their text is."""


def is_mention(text: str) -> bool:
    """Whether all of ``text`` is ``@ann``, ``@Ann Lee``, ``#dogs``, an address of a page or of a person."""
    return _MENTION.fullmatch(text.strip()) is not None

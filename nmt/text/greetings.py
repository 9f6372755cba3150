"""Greetings: a text that is one and a merge field, and one that a model left as it was."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt.spans import Span
from nmt.text.edits import Edit
from nmt.text.languages import rules

_GREETINGS = {
    ("en", "fr"): {
        **{"dear": "Bonjour", "hello": "Bonjour", "hi": "Bonjour", "hey": "Salut"},
        **{"good morning": "Bonjour", "good afternoon": "Bonjour", "good evening": "Bonsoir"},
        **{"welcome": "Bienvenue", "thank you": "Merci", "thanks": "Merci", "goodbye": "Au revoir"},
    },
    ("fr", "en"): {
        **{"cher": "Dear", "chère": "Dear", "bonjour": "Hello", "salut": "Hi", "bonsoir": "Good evening"},
        **{"bienvenue": "Welcome", "merci": "Thank you", "au revoir": "Goodbye"},
    },
}
_LEFT = {("en", "fr"): {"hello": "bonjour", "hi": "salut"}, ("fr", "en"): {"bonjour": "hello"}}
"""Greetings that models copy, and that the other language does not have as words."""
GREETS = re.compile("|".join(word for known in _LEFT.values() for word in known), re.IGNORECASE)
_WORDS = re.compile(r"([^\W\d_]+(?: [^\W\d_]+)?)(,?) $")
_MARKS = re.compile(r"[\s\u00a0]*([,.!…:]*)")
_MOST_BEFORE = 12
"""Characters before a greeting that begins a sentence: quotes, signs, a list mark, a tag."""


def greeting(text: str, field: Span, source: str, target: str) -> tuple[Edit, Edit] | None:
    """The edits before and after a field: Dear [Name], becomes Bonjour [Name],. None: the text is more.

    Args:
        text: a sentence.
        field: the only thing to copy in it.
        source: ISO 639-1 code of its language.
        target: of the other one.
    """
    words = _WORDS.fullmatch(text, 0, field.start)
    marks = _MARKS.fullmatch(text, field.end)
    known = None if words is None else _GREETINGS.get((source, target), {}).get(words[1].lower())
    if known is None or words is None or marks is None or not words[1][0].isupper():
        return None
    space = " " if marks[1] and marks[1][0] in rules(target).spaced_marks else ""
    return (
        Edit(Span(0, field.start), f"{known}{words[2]} "),
        Edit(Span(field.end, len(text)), f"{space}{marks[1]}"),
    )


def left_greeting(
    source: str, written: str, languages: tuple[str, str], kept: Sequence[Span] = ()
) -> list[Edit]:
    """The edit that puts a greeting at the start of a translation into its language.

    It counts before a mark, the end or something copied: Hello Kitty keeps her name.

    Args:
        source: a sentence.
        written: its translation.
        languages: of both.
        kept: spans of the translation that are copied.
    """
    known = _LEFT.get(languages, {})
    for left, right in known.items():
        match = re.search(
            rf"(?<![\w'’-]){left}(?![\w'’-])", written[: _MOST_BEFORE + len(left)], re.IGNORECASE
        )
        if match is None or left not in source.lower():
            continue
        if any(span.start < match.end() and match.start() < span.end for span in kept):
            continue
        after = written[match.end() :].lstrip(" \u00a0")
        n_spaces = len(written) - match.end() - len(after)
        is_before_copy = any(span.start == match.end() + n_spaces for span in kept)
        if after[:1].isalnum() and not is_before_copy:
            continue
        word = right.capitalize() if match.group()[0].isupper() else right
        return [Edit(Span(*match.span()), word.upper() if match.group().isupper() else word)]
    return []

"""Is a text in the language that its request says, and the model reads? Told, not guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nmt.text.codes import nearest
from nmt.text.language import Detection, detect

AUTO = "auto"

SourceFlag = Literal["wrong_source_language", "unknown_source_language"]


@dataclass(frozen=True)
class SourceCheck:
    """The language found, and what is wrong with it, if anything."""

    detection: Detection
    flag: SourceFlag | None


def check_source(text: str, declared: str, expected: str) -> SourceCheck:
    """Compare the detected language of ``text`` with the one that the model reads.

    Args:
        text: blank text is in no language and never wrong.
        declared: the request's source, or ``AUTO``.
        expected: the model's source language.
    """
    detection = detect(text)
    flag: SourceFlag | None = None
    if detection.language is None:
        if declared == AUTO and text.strip():
            flag = "unknown_source_language"
    elif nearest(detection.language, [expected]) is None:
        flag = "wrong_source_language"
    return SourceCheck(detection, flag)

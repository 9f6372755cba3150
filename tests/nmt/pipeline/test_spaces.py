"""Sentences of languages that write spaces and of those that do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nmt.model_folder.checkpoint import load_model_folder, resolve_model
from nmt.pipeline.finish import FinishedSentence
from nmt.pipeline.result import Candidate, Document
from nmt.text.segment import join, split
from nmt.translator import Translator


@pytest.mark.parametrize("text", ["你好。我叫王。", "你好。\n我叫王。"])
def test_a_gap_is_what_the_caller_makes_of_it(text: str):
    segments = split(text, "zh")
    assert [segment.text for segment in segments] == ["你好。", "我叫王。"]
    gap = text[3:-4]
    joined, spans = join(f"«{text}»", [], [])
    assert (joined, spans) == (f"«{text}»", [])
    joined, spans = join(text, segments, ["Hello.", "I am Wang."], between=lambda found: found or " ")
    assert joined == f"Hello.{gap or ' '}I am Wang."
    assert [joined[start:end] for start, end in spans] == ["Hello.", "I am Wang."]


@pytest.mark.parametrize(
    ("languages", "text", "expected"),
    [
        (("zh", "en"), "你好。我叫王。", "Eins. Eins."),
        (("en", "zh"), "Hello. I am Wang.", "Eins.Eins."),
        (("en", "zh"), "Hello.\nI am Wang.", "Eins.\nEins."),
        (("en", "de"), "Hello.  I am Wang.", "Eins.  Eins."),
    ],
)
def test_a_text_has_the_spaces_of_its_language(languages: tuple[str, str], text: str, expected: str):
    """A model that ships, told that it is of other languages; what it writes is replaced."""
    loaded = load_model_folder(resolve_model("general"))
    config = loaded.config.model_copy(
        update=dict(zip(("source_language", "target_language"), languages, strict=True))
    )
    translator = Translator(replace(loaded, config=config), engine="eager")
    plan = translator.plan(["One. Two."])[0]
    plan = replace(plan, document=Document(text, tuple(split(text, languages[0])), repaired=False))
    finished = [FinishedSentence((Candidate("Eins.", (), 0.0, 0.0, True),))] * 2
    assert translator.finish(plan, finished).text == expected

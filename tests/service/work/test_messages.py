"""What the service and its engine tell each other is on the other side what it was on this."""

from __future__ import annotations

from dataclasses import replace

from nmt.memory.unit import MemoryMatch
from nmt.options import TranslationOptions
from nmt.pipeline.result import Recalled
from service.work.engine.base import Job
from service.work.engine.messages import DoneMessage, Translate, from_engine, news, to_engine
from testbed.stub import StubTranslator


def test_what_a_translation_memory_has_travels_both_ways() -> None:
    match = MemoryMatch("Page 3", "Page 5", "Page 3", 1.0, 7)
    options = TranslationOptions(source="en", target="fr", memory=(match,))
    job = Job(("Page 3",), options, id=1, memory=("an id of the service's own", 0.75))
    [translation] = StubTranslator().translate(["Page 3"])
    translation = replace(translation, memory=(Recalled(0, "Page 5", "Page 3", 1.0, 7, "translation"),))

    sent = to_engine(Translate.of(job).encoded())
    [told] = from_engine(news([DoneMessage(job=1, translations=[translation])]))

    assert isinstance(sent, Translate)
    assert sent.options == options
    assert isinstance(told, DoneMessage)
    assert told.translations == [translation]

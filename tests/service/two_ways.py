"""A server of both directions, around two stubs; the one to English shouts, so that one sees who answered."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from nmt.translator import Translation
from service.app import create_app
from service.settings import Settings
from tests.service.conftest import LiveServer, serving
from tests.service.stub import StubTranslator


class ShoutingTranslator(StubTranslator):
    """From French to English, in capitals; a text keeps its length and words."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        update = {"name": "shout", "source_language": "fr", "target_language": "en"}
        self.config = self.config.model_copy(update=update)
        self.wishes: list[dict[str, Any]] = []

    def translate(self, texts: Sequence[str], **arguments: Any) -> list[Translation]:  # type: ignore[override]
        assert (arguments["source"], arguments["target"]) == ("fr", "en")
        own = {"source", "target", "alignment", "options"}
        self.wishes.append({name: value for name, value in arguments.items() if name not in own})
        found = super().translate(texts, **{name: arguments[name] for name in own})
        return [replace(one, text=one.text.upper()) for one in found]


@contextlib.contextmanager
def both_ways(english: StubTranslator, french: StubTranslator, **settings: Any) -> Iterator[LiveServer]:
    """Serve both until the block ends; from English is the default."""
    chosen = Settings(**settings)
    with serving(create_app(chosen, [english, french]), chosen, english) as live:
        yield live

"""A server of both directions, around two stubs; the one to English shouts, so that one sees who answered."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from nmt.options import DEFAULTS, TranslationOptions
from nmt.translator import Translation
from service.app import create_app
from service.settings import Settings
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer, serving


class ShoutingTranslator(StubTranslator):
    """From French to English, in capitals; a text keeps its length and words."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        update = {"name": "shout", "source_language": "fr", "target_language": "en"}
        self.config = self.config.model_copy(update=update)

    def translate(
        self, texts: Sequence[str], options: TranslationOptions = DEFAULTS, **arguments: Any
    ) -> list[Translation]:
        assert (options.source, options.target) == ("fr", "en")
        found = super().translate(texts, options, **arguments)
        return [replace(one, text=one.text.upper()) for one in found]


@contextlib.contextmanager
def both_ways(english: StubTranslator, french: StubTranslator, **settings: Any) -> Iterator[LiveServer]:
    """Serve both until the block ends; from English is the default."""
    chosen = Settings(**settings)
    with serving(create_app(chosen, [english, french]), chosen, english) as live:
        yield live

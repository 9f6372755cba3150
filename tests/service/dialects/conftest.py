"""Servers for the dialects' real clients, around a stub that takes whatever a request may wish for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import deepl
import pytest

from nmt.options import DEFAULTS, TranslationOptions
from nmt.spans import Span
from nmt.text.glossary import AppliedTerm
from nmt.translator import NextWord, Translation
from service.database.records import KeyLimits
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer, running


class WillingTranslator(StubTranslator):
    """Remembers what else it was asked for; its glossary's first term is applied everywhere.

    A prefix is put before a text; "next" may follow any.
    """

    def translate(
        self, texts: Sequence[str], options: TranslationOptions = DEFAULTS, **arguments: Any
    ) -> list[Translation]:
        found = super().translate(texts, options, **arguments)
        if options.glossary is not None:
            for translation in found:
                terms = options.glossary.terms[:1]
                applied = tuple(AppliedTerm(Span(0, 1), Span(0, 1), term, "enforced") for term in terms)
                object.__setattr__(translation, "terms", applied)
        if options.prefixes:
            [prefix], [translation] = options.prefixes, found
            word = NextWord("next", f"{prefix} next", 0.5)
            [sentence] = translation.sentences
            told = (replace(sentence, next_words=(word,)),)
            found = [replace(translation, text=f"{prefix} {translation.text}", sentences=told)]
        return found


@pytest.fixture(scope="module")
def live() -> Iterator[LiveServer]:
    """A server that asks for no key."""
    with running(WillingTranslator()) as server:
        yield server


@pytest.fixture(scope="module")
def guarded() -> Iterator[LiveServer]:
    """A server that needs keys."""
    with running(WillingTranslator(), keys="required") as server:
        yield server


@pytest.fixture
def new_key(guarded: LiveServer) -> Callable[..., str]:
    """Makes keys of the guarded server."""

    def make(**limits: int) -> str:
        _, shown = guarded.service.database.keys.create("team", KeyLimits(**limits))
        return shown

    return make


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The official client repeats what failed, up to five times, and waits between; not here."""
    monkeypatch.setattr(deepl.http_client, "max_network_retries", 0)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)

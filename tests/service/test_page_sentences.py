"""What the page tells of each sentence: marks on doubtful ones, with the reason, and alternatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from nmt.options import DEFAULTS, TranslationOptions
from nmt.pipeline.flags import Flag
from nmt.pipeline.result import Alternative
from nmt.translator import Translation
from testbed.stub import StubTranslator, backwards
from tests.service.conftest import LiveServer, running
from tests.service.page import Page

pytestmark = pytest.mark.browser

TEXT = "😀 one two\nfour five\nsix"
NUMBERS = "The numbers of a sentence differ from those of its translation."
UNSURE = "The model is unsure of this sentence: confidence 12 %."


class DoubtfulTranslator(StubTranslator):
    """Of three sentences the second has a flag and an odd choice, the third low confidence."""

    def translate(
        self, texts: Sequence[str], options: TranslationOptions = DEFAULTS, **arguments: Any
    ) -> list[Translation]:
        return [_doubted(found) for found in super().translate(texts, options, **arguments)]


def _doubted(found: Translation) -> Translation:
    sentences = [replace(sentence, confidence=0.9) for sentence in found.sentences]
    if len(sentences) < 3:
        return replace(found, sentences=tuple(sentences))
    more = (Alternative("chosen", -0.6), Alternative("likelier", -0.2), Alternative("rare", -1.5))
    sentences[1] = replace(sentences[1], alternatives=more)
    sentences[2] = replace(sentences[2], confidence=0.12)
    return replace(found, sentences=tuple(sentences), flags=(Flag("number_mismatch", 1),))


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with running(DoubtfulTranslator()) as live:
        yield live


@pytest.fixture
def page(browser: webdriver.Chrome, server: LiveServer) -> Page:
    opened = Page(browser, server)
    opened.browser.execute_script(
        "const field = document.getElementById('source');"
        "field.value = arguments[0]; field.dispatchEvent(new Event('input'))",
        TEXT,
    )
    opened.wait_for(backwards(TEXT))
    return opened


def test_doubtful_sentences_are_marked_where_they_are_with_the_reason(page: Page) -> None:
    assert page.words("#output .sentence") == ["evif ruof", "xis"]
    reasons = [mark.get_attribute("title") for mark in page.all("#output .sentence")]
    assert reasons == [NUMBERS, UNSURE]
    names = [mark.get_attribute("aria-label") for mark in page.all("#output .why")]
    assert names == [f"Look at this sentence again: {reason}" for reason in reasons]
    assert page.texts("#notices li") == [NUMBERS, "The model is unsure of what is marked."]

    page.hover(page.find("#output .sentence .word"))
    assert page.find("#readout .reason").text == NUMBERS
    assert page.words("#mirror .partner") == ["five"], "words keep their links"
    page.hover(page.find("#output .word"))
    assert page.all("#readout .reason") == []
    page.picture("doubtful")
    page.assert_no_complaints()


def test_the_arrow_keys_reach_a_mark_and_its_reason(page: Page) -> None:
    assert len(page.all('#output [tabindex="0"]')) == 1
    page.all("#output .sentence")[1].find_element("css selector", ".word").click()
    page.browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert page.browser.switch_to.active_element.get_attribute("class") == "why"
    assert page.find("#readout").text == UNSURE


def test_the_reasons_follow_the_language_of_the_interface(page: Page) -> None:
    page.choose("#language", "fr")
    name = page.all("#output .why")[0].get_attribute("aria-label") or ""
    assert name.startswith("Phrase à revoir : Les nombres")


def test_alternatives_are_those_of_a_sentence_by_the_score_that_is_shown(page: Page) -> None:
    assert page.texts("#alternatives-sentence option") == ["1. 😀 one two", "2. four five", "3. six"]
    assert page.words("#alternatives li > span:first-child")[:2] == ["owt eno 😀", "owt eno 😀 ?"]
    page.choose("#alternatives-sentence", "1")
    assert page.words("#alternatives li > span:first-child") == ["likelier", "chosen", "rare"]
    assert page.words("#alternatives .score") == ["-0.20", "-0.60", "-1.50"]
    assert page.words("#alternatives li:nth-child(2) .used") == ["in the translation"]
    assert len(page.all("#alternatives .used")) == 1

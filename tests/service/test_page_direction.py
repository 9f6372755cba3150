"""The page of a server of both directions: a button turns it, by mouse and keyboard, and stays turned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from nmt.config import TransformerConfig
from nmt.options import DEFAULTS, TranslationOptions
from nmt.translator import Translation
from testbed.stub import backwards
from tests.service.conftest import LiveServer, running
from tests.service.page import Page, PageTranslator
from tests.service.two_ways import both_ways

pytestmark = pytest.mark.browser

ENGLISH = "The meeting was moved to Friday afternoon."
FRENCH = "La réunion a été déplacée à vendredi après-midi."


class EnglishWriter(PageTranslator):
    """From French to English, in capitals, with fewer heads."""

    def __init__(self) -> None:
        super().__init__()
        self.config = self.config.model_copy(
            update={
                "name": "shout",
                "source_language": "fr",
                "target_language": "en",
                "model": TransformerConfig(vocab_size=100, n_heads=2, n_decoder_layers=1, d_model=8),
            }
        )

    def translate(
        self, texts: Sequence[str], options: TranslationOptions = DEFAULTS, **arguments: Any
    ) -> list[Translation]:
        found = super().translate(texts, options, **arguments)
        return [replace(one, text=one.text.upper()) for one in found]


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with both_ways(PageTranslator(), EnglishWriter()) as live:
        yield live


@pytest.fixture
def page(browser: webdriver.Chrome, server: LiveServer) -> Page:
    opened = Page(browser, server)
    opened.until(lambda: opened.find("#swap").is_displayed())
    opened.choose("#source-language", "en")
    return opened


def names(page: Page) -> tuple[str, str]:
    source, target = page.words("#source-name, #target-name")
    return source, target


def test_the_button_turns_the_direction_and_what_was_written_is_read_next(page: Page) -> None:
    page.write("one two")
    page.wait_for("owt eno")
    assert names(page) == ("English", "French")
    page.find("#swap").click()

    page.wait_for("ONE TWO")
    assert names(page) == ("French", "English")
    assert page.find("#source").get_attribute("value") == "owt eno"
    assert page.find("#status").text.endswith("by shout")
    for id_, language in (("source", "fr"), ("mirror", "fr"), ("output", "en"), ("glossary-target", "en")):
        assert page.find(f"#{id_}").get_attribute("lang") == language
    assert page.find("#source").get_attribute("placeholder") == "Type or paste French text"
    assert page.browser.switch_to.active_element.get_attribute("id") == "swap"
    page.picture("direction-turned")
    page.assert_no_complaints()


def test_the_keyboard_reaches_and_presses_the_button_between_the_two_texts(page: Page) -> None:
    page.find("#source").click()
    seen = []
    for _ in range(6):
        ActionChains(page.browser).send_keys(Keys.TAB).perform()  # to what has the focus by then
        seen.append(page.browser.switch_to.active_element.get_attribute("id"))
        if seen[-1] == "swap":
            break
    button = page.browser.switch_to.active_element

    assert button.get_attribute("id") == "swap", seen
    assert button.get_attribute("aria-label") == "Switch to French to English"
    button.send_keys(Keys.ENTER)
    page.until(lambda: names(page) == ("French", "English"))
    assert button.get_attribute("aria-label") == "Switch to English to French"


def test_the_direction_is_kept_over_a_reload_and_named_in_both_interface_languages(page: Page) -> None:
    page.find("#swap").click()
    page.browser.refresh()
    page.until(lambda: names(page) == ("French", "English"))
    assert page.texts("#examples .chip")[0].startswith("Deux jeunes hommes")

    page.choose("#language", "fr")
    assert names(page) == ("Français", "Anglais")
    assert page.find("#swap").get_attribute("aria-label") == "Passer à anglais–français"


def test_a_text_in_the_other_language_offers_to_turn(page: Page) -> None:
    page.write(FRENCH)
    page.wait_for(backwards(FRENCH))
    assert page.texts("#notices li")[1:] == ["Translate French to English"]
    page.picture("direction-offered")
    page.find("#notices button").click()

    page.wait_for(backwards(FRENCH).upper())
    assert names(page) == ("French", "English")
    assert page.find("#source").get_attribute("value") == FRENCH
    assert page.texts("#notices li") == []
    assert page.browser.switch_to.active_element.get_attribute("id") == "source"
    page.assert_no_complaints()


def test_layers_and_heads_are_those_of_the_direction(page: Page) -> None:
    page.write("one two")
    page.wait_for("owt eno")
    assert len(page.all("#layer option")) == 1 + 4
    page.find("#swap").click()
    page.wait_for("ONE TWO")

    assert len(page.all("#layer option")) == 1 + 1
    assert len(page.all("#head option")) == 1 + 2
    page.choose("#layer", "0")
    page.choose("#head", "1")
    page.until(lambda: page.all("#heat td.dark"))
    assert page.find("#heat-problem").text == ""


def test_each_direction_has_a_glossary_of_its_own(page: Page) -> None:
    def add(term: str, translation: str) -> None:
        page.find("#glossary-source").send_keys(term)
        page.find("#glossary-target").send_keys(translation, Keys.ENTER)

    add("one", "un")
    page.find("#swap").click()
    page.until(lambda: names(page) == ("French", "English"))
    assert page.texts("#glossary-list li span") == []
    add("deux", "two")
    assert page.texts("#glossary-list li span") == ["deux → two"]
    page.find("#swap").click()
    page.until(lambda: page.texts("#glossary-list li span") == ["one → un"])


def test_a_document_goes_the_way_of_the_page(page: Page, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("one two")
    page.find("#swap").click()
    page.until(lambda: names(page) == ("French", "English"))
    page.find("#files").send_keys(str(tmp_path / "letter.txt"))
    page.until(lambda: page.texts(".document-state") == ["Translated"])

    name = page.browser.execute_async_script(
        """
        const done = arguments[0];
        HTMLAnchorElement.prototype.click = function () { done(this.download); };
        document.querySelector(".documents-list .chip").click();
        """
    )
    assert name == "letter.en.txt"


@pytest.mark.parametrize("width", [1200, 400])
def test_the_button_covers_nothing(browser: webdriver.Chrome, server: LiveServer, width: int) -> None:
    page = Page(browser, server, width)
    page.until(lambda: page.find("#swap").is_displayed())
    page.write("one two")
    page.wait_for("owt eno")
    page.picture(f"direction-{width}")
    button = page.find("#swap").rect
    for selector in ("#source-name", "#clear", "#target-name", "#copy", "#source", "#output .word", "#count"):
        other = page.find(selector).rect
        apart = (
            button["x"] + button["width"] <= other["x"]
            or other["x"] + other["width"] <= button["x"]
            or button["y"] + button["height"] <= other["y"]
            or other["y"] + other["height"] <= button["y"]
        )
        assert apart, selector


def test_a_server_of_one_direction_has_no_button(browser: webdriver.Chrome) -> None:
    with running(PageTranslator()) as live:
        page = Page(browser, live)
        page.write(FRENCH)
        page.wait_for(backwards(FRENCH))

        assert not page.find("#swap").is_displayed()
        assert len(page.texts("#notices li")) == 1

"""The page of a server of several pairs: lists of languages, detection, writing from right to left."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from service.app import create_app
from service.settings import Settings
from testbed.stub import StubTranslator, backwards
from tests.service.conftest import LiveServer, running, serving
from tests.service.page import Page, PageTranslator

pytestmark = pytest.mark.browser

ENGLISH = "The meeting was moved to Friday afternoon."
HEBREW = "אחד שתיים שלוש"
FRENCH = "La réunion a été déplacée à vendredi après-midi."


def between(source: str, target: str) -> PageTranslator:
    translator = PageTranslator()
    update = {"name": f"{source}-{target}", "source_language": source, "target_language": target}
    translator.config = translator.config.model_copy(update=update)
    return translator


def serving_pairs(*pairs: tuple[str, str]) -> Iterator[LiveServer]:
    chosen = Settings()
    translators = [between(*pair) for pair in pairs]
    with serving(create_app(chosen, translators), chosen, translators[0]) as live:
        yield live


@pytest.fixture(scope="module")
def many() -> Iterator[LiveServer]:
    yield from serving_pairs(("en", "fr"), ("en", "ar"), ("en", "pt-BR"), ("zh-Hans", "en"), ("he", "en"))


@pytest.fixture(scope="module")
def both() -> Iterator[LiveServer]:
    yield from serving_pairs(("en", "fr"), ("fr", "en"))


def opened(browser: webdriver.Chrome, server: LiveServer) -> Page:
    page = Page(browser, server)
    page.until(lambda: page.find("#source-language").is_displayed())
    return page


def test_languages_are_chosen_from_lists_of_what_there_is(
    browser: webdriver.Chrome, many: LiveServer
) -> None:
    page = opened(browser, many)
    names = ["Detect language", "English", "Simplified Chinese", "Hebrew"]
    assert page.texts("#source-language option") == names

    page.choose("#source-language", "en")
    assert page.texts("#target-language option") == ["French", "Arabic", "Brazilian Portuguese"]
    page.choose("#target-language", "pt-BR")
    page.write("one two")
    page.wait_for("owt eno")
    assert page.find("#status").text.endswith("by en-pt-BR")
    assert page.find("#output").get_attribute("lang") == "pt-BR"
    page.choose("#source-language", "zh-Hans")
    page.until(lambda: page.find("#status").text.endswith("by zh-Hans-en"))
    assert not page.find("#target-language").is_displayed(), "there is one only"
    assert page.find("#target-name").text == "English"
    assert not page.find("#swap").is_displayed(), "there is no way back"

    page.browser.refresh()
    page.until(lambda: page.find("#source-language").get_attribute("value") == "zh-Hans")
    page.choose("#language", "fr")
    assert page.texts("#source-language option")[2] == "Chinois simplifié"
    page.assert_no_complaints()


def test_what_is_written_from_right_to_left_is_shown_so(browser: webdriver.Chrome, many: LiveServer) -> None:
    page = opened(browser, many)
    page.choose("#source-language", "en")
    page.choose("#target-language", "ar")
    page.write(HEBREW)
    page.wait_for(backwards(HEBREW))
    ways = {
        id_: page.find(f"#{id_}").get_attribute("dir")
        for id_ in ("source", "mirror", "output", "alternatives")
    }
    assert ways == {"source": "ltr", "mirror": "ltr", "output": "rtl", "alternatives": "rtl"}
    box, word = page.find("#output").rect, page.find("#output .word").rect
    assert box["x"] + box["width"] - word["x"] - word["width"] < 60, "it begins at the right"

    page.find("#output .word").click()
    page.browser.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    assert page.browser.switch_to.active_element.text == backwards("שתיים"), "to the left is onward"
    page.picture("right-to-left")
    page.choose("#source-language", "he")
    page.until(lambda: page.find("#status").text.endswith("by he-en"))
    assert page.find("#source").value_of_css_property("direction") == "rtl"
    assert page.find("#mirror").value_of_css_property("direction") == "rtl"
    assert page.find("#output").get_attribute("dir") == "ltr"


def test_the_text_tells_its_language_and_the_page_says_which(
    browser: webdriver.Chrome, both: LiveServer
) -> None:
    page = opened(browser, both)
    assert page.find("#source-language").get_attribute("value") == "auto"
    assert page.find("#source").get_attribute("placeholder") == "Type or paste text"
    page.write(FRENCH)
    page.wait_for(backwards(FRENCH))
    assert page.find("#status").text.endswith("by fr-en")
    assert page.find("#source-language option:checked").text == "Detected: French"
    assert page.find("#target-name").text == "English"
    assert page.find("#output").get_attribute("lang") == "en"
    assert page.texts("#notices li") == []

    page.find("#clear").click()
    page.until(lambda: page.find("#source-language option:checked").text == "Detect language")
    page.write(ENGLISH)
    page.wait_for(backwards(ENGLISH))
    assert page.find("#status").text.endswith("by en-fr")
    assert page.find("#source-language option:checked").text == "Detected: English"
    page.picture("detected")
    page.browser.refresh()
    page.until(lambda: page.find("#source-language option:checked").text == "Detected: English")
    page.assert_no_complaints()


def test_the_language_that_is_detected_has_its_own_glossary(
    browser: webdriver.Chrome, both: LiveServer
) -> None:
    page = opened(browser, both)
    page.choose("#source-language", "fr")
    page.find("#glossary-source").send_keys("réunion")
    page.find("#glossary-target").send_keys("noinuér", Keys.ENTER)
    page.choose("#source-language", "auto")
    page.write(ENGLISH)
    page.wait_for(backwards(ENGLISH))
    assert page.all("#output .term") == []
    page.find("#clear").click()
    page.write(FRENCH)
    page.wait_for(backwards(FRENCH))
    page.until(lambda: page.all("#output .term"))


def test_a_language_to_translate_to_can_be_chosen_where_the_text_tells_its_own(
    browser: webdriver.Chrome, many: LiveServer
) -> None:
    page = opened(browser, many)
    page.write(ENGLISH)
    page.wait_for(backwards(ENGLISH))
    assert page.texts("#target-language option")[0] == "French"
    page.choose("#target-language", "ar")
    page.until(lambda: page.find("#status").text.endswith("by en-ar"))
    page.browser.refresh()
    page.until(lambda: page.find("#status").text.endswith("by en-ar"))
    assert page.find("#source-language").get_attribute("value") == "auto"


def test_a_server_of_one_pair_has_no_lists(browser: webdriver.Chrome) -> None:
    with running(StubTranslator()) as live:
        page = Page(browser, live)
        assert not page.find("#source-language").is_displayed()
        assert not page.find("#target-language").is_displayed()
        assert page.find("#source-name").is_displayed()

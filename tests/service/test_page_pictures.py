"""The pictures of docs/operate.md: ``SCREENSHOTS=docs/page pytest -m browser -k pictures`` makes them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from nmt.translator import Translator
from service.app import create_app
from service.settings import Settings
from tests.service.conftest import LiveServer, serving
from tests.service.page import Page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif("SCREENSHOTS" not in os.environ, reason="for pictures only: set SCREENSHOTS=DIR"),
]

TEXT = "Two young men are playing football in the park. A little girl is reading a book under a tree."
DROP = """
const files = new DataTransfer();
files.items.add(new File(["Good morning.\\n\\nWhere is the train station?\\n"], "questions.md"));
files.items.add(new File(["x"], "photo.png"));
document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
"""


@pytest.fixture(scope="module")
def live() -> Iterator[LiveServer]:
    chosen = Settings()
    both = [Translator.load(name) for name in ("general", "general_fr_en")]
    with serving(create_app(chosen, both), chosen, both[0]) as server:
        yield server


def translated(page: Page, text: str = TEXT) -> Page:
    page.write(text)
    page.until(lambda: page.all("#output .word"))
    return page


def point_at(page: Page, word: str) -> None:
    page.hover(next(element for element in page.all("#output .word") if element.text == word))


def test_light(browser: webdriver.Chrome, live: LiveServer) -> None:
    page = translated(Page(browser, live))
    point_at(page, "arbre")
    page.picture("light")


def test_dark_in_french_with_one_head(browser: webdriver.Chrome, live: LiveServer) -> None:
    page = translated(Page(browser, live))
    page.choose("#language", "fr")
    page.colours("dark")
    page.choose("#layer", "1")
    page.choose("#head", "2")
    page.choose("#sentence", "1")
    point_at(page, "livre")
    page.picture("dark-french")


def test_every_head(browser: webdriver.Chrome, live: LiveServer) -> None:
    for name, width in (("every-head", 1200), ("every-head-phone", 390)):
        page = translated(Page(browser, live, width), "The agreement was signed in August 1992.")
        page.choose("#n-best", "1")
        page.until(lambda page=page: page.find("#heads-section").is_displayed())
        page.find("#heads-open").click()
        page.until(lambda page=page: page.all(".heads-map"))
        page.browser.execute_script("document.getElementById('heads-section').scrollIntoView()")
        page.picture(name)
    page.find("#heads .heads-kinds button:nth-child(2)").click()
    page.colours("dark")
    page.picture("every-head-phone-dark")


def test_phone(browser: webdriver.Chrome, live: LiveServer) -> None:
    page = translated(Page(browser, live, width=390))
    page.all("#output .word")[2].click()
    page.picture("phone")


def test_glossary_and_documents(browser: webdriver.Chrome, live: LiveServer) -> None:
    page = Page(browser, live)
    page.choose("#n-best", "1")
    page.find("#glossary-source").send_keys("football")
    page.find("#glossary-target").send_keys("ballon rond" + Keys.ENTER)
    translated(page, "Two young men are playing football.")
    browser.execute_script(DROP)
    page.until(lambda: page.all("[data-status=done]") and page.all("[data-status=error]"))
    page.picture("glossary-documents")


def test_a_text_in_another_language(browser: webdriver.Chrome, live: LiveServer) -> None:
    page = translated(Page(browser, live), "Wir fahren morgen mit dem Zug nach Berlin.")
    page.until(lambda: page.all("#notices li"))
    page.picture("wrong-language")

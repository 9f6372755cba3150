"""The text field: too long a text, a reload, a server that goes away, and fingers in the place of a mouse."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from selenium import webdriver

from nmt.translator import Translator
from service.app import create_app
from service.settings import Settings
from testbed.stub import StubTranslator, backwards
from tests.service.conftest import LiveServer, running, serving
from tests.service.page import Page, PageTranslator

pytestmark = pytest.mark.browser

MOST = 4000  # characters


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with running(PageTranslator(), max_text_characters=MOST) as live:
        yield live


@pytest.fixture
def page(browser: webdriver.Chrome, server: LiveServer) -> Page:
    return Page(browser, server)


def paste(page: Page, text: str) -> None:
    page.browser.execute_script("document.getElementById('source').select()")
    page.browser.execute_cdp_cmd("Input.insertText", {"text": text})


def test_too_long_a_text_is_told_beside_it_and_leaves_no_old_translation(page: Page) -> None:
    page.write("one two")
    page.wait_for("owt eno")
    paste(page, "a" * (MOST + 1))
    page.until(
        lambda: page.find("#source-problem").text == "The text is longer than 4,000 characters; shorten it."
    )
    assert page.find("#output").text == ""
    assert page.find("#status").text == ""
    assert not page.find("#alternatives-section").is_displayed()
    assert page.find("#source").get_attribute("aria-invalid") == "true"
    assert "source-problem" in (page.find("#source").get_attribute("aria-describedby") or "").split()
    problem, pane = page.find("#source-problem").rect, page.find(".pane").rect
    assert pane["y"] < problem["y"] < pane["y"] + pane["height"]
    page.picture("too-long")

    paste(page, "one")
    page.wait_for("eno")
    assert page.find("#source-problem").text == ""


@pytest.mark.parametrize("width", [1200, 390])
def test_a_long_text_scrolls_in_its_box(browser: webdriver.Chrome, server: LiveServer, width: int) -> None:
    page = Page(browser, server, width)
    text = "\n".join(f"line {n}" for n in range(200))
    paste(page, text)
    page.wait_for(backwards(text))
    for box in ("#source", "#mirror", "#output"):
        assert page.find(box).rect["height"] <= 0.6 * 1250 + 1, box
        assert browser.execute_script(
            "const b = document.querySelector(arguments[0]); return b.scrollHeight > b.clientHeight", box
        )
    assert browser.execute_script("return document.getElementById('source').scrollTop") > 1000, (
        "the caret is seen"
    )
    for name in ("clientWidth", "clientHeight", "scrollHeight", "scrollTop"):
        both = [page.find(f"#{id_}").get_property(name) for id_ in ("source", "mirror")]
        assert both[0] == both[1], name
    page.hover(next(word for word in page.all("#mirror .word") if word.text == "199"))
    assert page.words("#mirror .active") != []
    page.picture(f"long-{width}")


def test_the_text_survives_a_reload_in_this_tab_only(page: Page) -> None:
    page.write("one two")
    page.wait_for("owt eno")
    page.browser.refresh()
    page.wait_for("owt eno")
    assert page.find("#source").get_attribute("value") == "one two"
    stored = page.browser.execute_script(
        "return [Object.values(sessionStorage), Object.values(localStorage)]"
    )
    assert stored == [["one two"], []]
    assert page.browser.get_cookies() == []

    page.find("#clear").click()
    page.browser.refresh()
    page.until(lambda: page.all("#examples .chip"))
    assert page.find("#source").get_attribute("value") == ""


def test_the_page_says_that_the_server_is_away_and_goes_on_when_it_is_back(browser: webdriver.Chrome) -> None:
    chosen, translator = Settings(), StubTranslator()
    with contextlib.ExitStack() as first:
        live = first.enter_context(serving(create_app(chosen, translator), chosen, translator))
        page = Page(browser, live)
        page.write("one")
        page.wait_for("eno")
    page.write(" two")
    page.until(lambda: "tries again until it can" in page.find("#status").text)
    translator.gate.set()
    with serving(create_app(chosen, translator), chosen, translator, port=live.port):
        page.wait_for("owt eno")
        assert page.find("#status").text.endswith("by stub")


def test_what_the_server_can_do_is_learnt_when_it_is_back(page: Page) -> None:
    page.browser.execute_cdp_cmd("Network.enable", {})
    page.browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": [f"{page.server.url}/languages"]})
    try:
        page.browser.refresh()
        page.until(lambda: "tries again until it can" in page.find("#status").text)
        assert not page.find("#documents-section").is_displayed()
    finally:
        page.browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    page.until(lambda: page.find("#documents-section").is_displayed())
    page.until(lambda: page.find("#status").text == "")


TOO_SMALL = """
return [...document.querySelectorAll("a, button, select, input, summary")]
  .map((found) => found.type === "checkbox" ? found.closest("label") : found)
  .filter((found) => found.checkVisibility() && !found.matches(".skip, .why"))
  .filter((found) => Math.min(found.offsetWidth, found.offsetHeight) < 44)
  .map((found) => found.id || found.className || found.outerHTML);
"""


def test_fingers_have_room_on_a_phone(browser: webdriver.Chrome, server: LiveServer) -> None:
    page = Page(browser, server, 390)
    assert browser.execute_script(TOO_SMALL) == []
    page.write("one two")
    page.wait_for("owt eno")
    page.find("#glossary-source").send_keys("one")
    page.find("#glossary-target").send_keys("eno")
    page.find("#glossary-form button").click()
    page.until(lambda: page.all("#output .term"))
    page.find("#heads-open").click()
    page.until(lambda: page.all(".heads-overview button"))
    assert browser.execute_script(TOO_SMALL) == []
    page.picture("fingers")
    page.browser.get(server.url + "/docs")
    page.until(lambda: len(page.all("details.operation")) > 10)
    page.picture("fingers-docs")


def test_french_typography_can_be_asked_for(browser: webdriver.Chrome) -> None:
    with running(Translator.load()) as live:
        page = Page(browser, live)
        page.write("Is the train late?")
        page.until(lambda: page.all("#output .word"))
        plain = page.words("#output")[0]
        assert "\u202f" not in plain
        assert plain.endswith("?")
        page.find("#typography").click()
        page.until(lambda: page.words("#output")[0].endswith("\u202f?"))
        assert page.words("#output")[0].replace("\u202f", " ") == plain
        page.browser.refresh()
        page.until(lambda: page.words("#output")[0].endswith("\u202f?"))
        page.assert_no_complaints()

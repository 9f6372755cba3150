"""What one does with a page every day: keys, a link to a text, a history; it opens without a network."""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from testbed.stub import backwards
from tests.service.conftest import LiveServer, running
from tests.service.page import Page, PageTranslator

pytestmark = pytest.mark.browser

CLIPBOARD = (
    "window.copied = []; Object.defineProperty(navigator, 'clipboard',"
    " { configurable: true, value: { writeText: async (text) => { window.copied.push(text); } } })"
)


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with running(PageTranslator()) as live:
        yield live


@pytest.fixture
def page(browser: webdriver.Chrome, server: LiveServer) -> Page:
    return Page(browser, server)


def press(page: Page, *keys: str) -> None:
    """A key with Control."""
    chain = ActionChains(page.browser).key_down(Keys.CONTROL)
    for key in keys:
        chain = chain.send_keys(key)
    chain.key_up(Keys.CONTROL).perform()


def press_with_shift(page: Page, key: str) -> None:
    ActionChains(page.browser).key_down(Keys.CONTROL).key_down(Keys.SHIFT).send_keys(key).key_up(
        Keys.SHIFT
    ).key_up(Keys.CONTROL).perform()


def test_a_link_carries_the_text_and_the_server_does_not_see_it(page: Page, server: LiveServer) -> None:
    page.browser.execute_script(CLIPBOARD)
    page.write("one & two #3")
    page.wait_for(backwards("one & two #3"))
    page.find("#share").click()
    page.until(lambda: page.browser.execute_script("return window.copied.length") == 1)
    (link,) = page.browser.execute_script("return window.copied")
    address = urlsplit(link)
    assert (address.path, address.query) == ("/", "")
    assert parse_qs(address.fragment) == {"source": ["en"], "target": ["fr"], "text": ["one & two #3"]}

    page.browser.get("about:blank")
    page.browser.get(link)
    page.wait_for(backwards("one & two #3"))
    assert page.browser.current_url == f"{server.url}/", "a reload is of what then stands there"
    page.assert_no_complaints()


def test_a_text_too_long_for_a_link_is_told(page: Page) -> None:
    text = "word " * 900
    page.browser.execute_script(CLIPBOARD)
    page.browser.execute_script(
        "const box = document.querySelector('#source'); box.value = arguments[0];"
        "box.dispatchEvent(new Event('input'))",
        text,
    )
    page.until(lambda: page.find("#share").is_displayed())
    page.find("#share").click()
    page.until(lambda: page.find("#status").text == "The text is too long for a link.")
    assert page.browser.execute_script("return window.copied") == []


def test_the_history_is_kept_only_if_one_asks_for_it(page: Page) -> None:
    assert not page.find("#past-wanted").is_selected()
    page.write("one two")
    page.wait_for("owt eno")
    time.sleep(2.5)
    assert page.all("#past-list li") == []

    page.find("#past-wanted").click()
    page.write(" three")
    page.wait_for("eerht owt eno")
    page.until(lambda: page.texts("#past-list .past") == ["one two three\neerht owt eno"])
    page.find("#clear").click()
    page.write("four")
    page.wait_for("ruof")
    page.until(lambda: len(page.all("#past-list li")) == 2)

    page.all("#past-list .past")[1].click()
    page.wait_for("eerht owt eno")
    assert page.find("#source").get_attribute("value") == "one two three"
    page.find("#past-clear").click()
    assert page.all("#past-list li") == []
    assert page.browser.execute_script("return localStorage.getItem('passerelle.history')") == "[]"
    page.assert_no_complaints()


def test_switching_the_history_off_deletes_it(page: Page) -> None:
    page.find("#past-wanted").click()
    page.write("one")
    page.wait_for("eno")
    page.until(lambda: len(page.all("#past-list li")) == 1)
    page.find("#past-wanted").click()
    assert page.all("#past-list li") == []
    assert "one" not in (page.browser.execute_script("return JSON.stringify(localStorage)") or "")


def test_keys(page: Page) -> None:
    page.browser.execute_script(CLIPBOARD)
    page.write("one two")
    press(page, Keys.ENTER)
    page.wait_for("owt eno")
    page.find("#output .word").click()
    press_with_shift(page, "y")
    page.until(lambda: page.browser.execute_script("return window.copied") == ["owt eno"])
    press_with_shift(page, "l")
    page.until(lambda: page.browser.switch_to.active_element.get_attribute("id") == "source")


def test_without_a_voice_nothing_offers_to_read(page: Page) -> None:
    page.write("one")
    page.wait_for("eno")
    voices = page.browser.execute_script(
        "return speechSynthesis.getVoices().filter((voice) => voice.lang.startsWith('fr')).length"
    )
    assert page.find("#listen").is_displayed() == bool(voices)


def test_a_voice_reads_the_translation(page: Page) -> None:
    page.browser.execute_script(
        "window.said = [];"
        "speechSynthesis.getVoices = () => [{ lang: 'fr-FR', localService: true }];"
        "speechSynthesis.speak = ({ text, lang }) => window.said.push([text, lang]);"
        "window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } }"
    )
    page.write("one two")
    page.wait_for("owt eno")
    page.find("#listen").click()
    assert page.browser.execute_script("return window.said") == [["owt eno", "fr-FR"]]


def test_the_page_can_be_installed_and_opens_without_a_network(browser: webdriver.Chrome) -> None:
    with running(PageTranslator()) as live:
        page = Page(browser, live)
        with live.client() as client:
            manifest = client.get("/static/manifest.webmanifest")
            worker = client.get("/worker.js")
        assert manifest.headers["content-type"].startswith("application/manifest+json")
        assert manifest.json()["icons"]
        assert worker.headers["content-type"].startswith("text/javascript")
        ready = "navigator.serviceWorker.ready.then(() => arguments[0](true))"
        assert browser.execute_async_script(ready)
        browser.refresh()  # now the worker sees what is asked for
        page.until(lambda: page.all("#examples .chip"))
        page.until(
            lambda: browser.execute_async_script(
                "caches.open('passerelle').then((cache) => cache.keys())"
                ".then((keys) => arguments[0](keys.length > 10))"
            )
        )
        kept = browser.execute_async_script(
            "caches.open('passerelle').then((cache) => cache.keys())"
            ".then((keys) => arguments[0](keys.map(({ url }) => new URL(url).pathname)))"
        )
        assert all(path == "/" or path.startswith("/static/") for path in kept), "no text is ever kept"
        browser.get("about:blank")
    browser.get(live.url)
    page.until(lambda: page.find("#source").is_displayed())
    page.until(lambda: "cannot be reached" in page.find("#status").text)
    browser.get_log("browser")

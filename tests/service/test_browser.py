"""The page in a real headless Chromium: run with ``-m browser``; needs chromium and chromium-driver."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from nmt.translator import Translator
from testbed.stub import StubTranslator, backwards
from tests.service.conftest import LiveServer, running
from tests.service.page import Page

pytestmark = pytest.mark.browser

TEXT = "Two young men are playing football in the park."


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with running(StubTranslator()) as live:
        yield live


@pytest.fixture
def page(browser: webdriver.Chrome, server: LiveServer) -> Page:
    server.translator.gate.set()
    server.translator.delay_s = 0
    return Page(browser, server)


def test_it_translates_as_one_types(page: Page) -> None:
    page.write("Two young")
    page.wait_for(backwards("Two young"))
    page.write(" men")
    page.wait_for(backwards("Two young men"))

    assert "by stub" in page.find("#status").text
    page.assert_no_complaints()


def test_pointing_at_a_word_lights_up_its_partner(page: Page) -> None:
    page.write(TEXT)
    page.wait_for(backwards(TEXT))
    target = next(word for word in page.all("#output .word") if word.text == "llabtoof")

    page.hover(target)
    assert page.words("#output .active") == ["llabtoof"]
    assert page.words("#mirror .partner") == ["football"]
    assert page.find("#readout").text == "“llabtoof” ↔ “football”"

    source = page.all("#mirror .word")[1]  # it lies under the text field, which gets the pointer
    page.hover(source)
    assert page.words("#mirror .active") == ["young"]
    assert page.words("#output .partner") == ["gnuoy"]
    page.picture("light")

    page.hover(page.find("h1, header"))
    assert page.all(".active, .partner") == []
    page.assert_no_complaints()


def test_the_highlighted_word_lies_exactly_under_the_text(page: Page) -> None:
    page.write("one two three " * 30 + "end")
    page.until(lambda: page.all("#mirror .word"))

    def same(name: str) -> bool:
        mirror, field = page.find("#mirror"), page.find("#source")
        return mirror.value_of_css_property(name) == field.value_of_css_property(name)

    for name in ("font-family", "font-size", "line-height", "padding", "letter-spacing", "width", "height"):
        assert same(name), name
    assert page.browser.execute_script(
        "const s = document.getElementById('source'); return s.scrollHeight <= s.clientHeight"
    )


def test_the_keyboard_goes_from_word_to_word(page: Page) -> None:
    page.write("one two three")
    page.wait_for(backwards("one two three"))

    page.write(Keys.HOME)
    assert page.words("#mirror .active") == ["one"]
    assert page.words("#output .partner") == ["eno"]
    page.browser.execute_script("document.querySelector('#output [tabindex=\"0\"]').focus()")
    assert page.words("#output .active") == ["eerht"]
    page.browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert page.browser.switch_to.active_element.text == "owt"
    assert page.words("#mirror .partner") == ["two"]
    assert len(page.all('#output [tabindex="0"]')) == 1, "the words are one stop of the tab key"


def test_the_heat_map_shows_words_and_values(page: Page) -> None:
    page.write("one two three\nfour five")
    page.wait_for(backwards("one two three\nfour five"))

    assert page.words("#heat thead th") == ["one", "two", "three"]
    assert page.words("#heat tbody th") == ["eerht", "owt", "eno"]
    cell = page.all("#heat tbody tr:first-child td")[2]
    assert cell.text == "80"
    assert cell.get_attribute("title") == "three → eerht: 80 %"
    dark, pale = (
        page.all("#heat tbody tr:first-child td")[i].value_of_css_property("background-color") for i in (2, 0)
    )
    assert dark != pale
    page.choose("#sentence", "1")
    assert page.words("#heat thead th") == ["four", "five"]
    page.hover(page.find("#heat tbody th"))
    assert page.words("#output .active") == ["evif"]
    assert page.words("#mirror .partner") == ["five"]
    page.assert_no_complaints()


def test_alternatives_are_listed_best_first(page: Page) -> None:
    page.write("one")
    page.wait_for("eno")
    assert page.words("#alternatives li > span:first-child") == ["eno", "eno ?", "eno ? ?"]
    page.choose("#n-best", "1")
    page.until(lambda: not page.find("#alternatives-section").is_displayed())


def test_a_stale_answer_is_never_shown(page: Page) -> None:
    page.server.translator.delay_s = 1
    page.write("slow")
    page.until(lambda: ["slow"] in page.server.translator.calls)
    page.server.translator.delay_s = 0
    page.write("er")
    page.wait_for(backwards("slower"))
    time.sleep(1)
    assert page.find("#output").text == backwards("slower")


def test_what_is_asked_no_more_is_taken_back(page: Page) -> None:
    page.server.translator.gate.clear()
    page.write("slow")
    page.until(lambda: ["slow"] in page.server.translator.calls)
    page.write("er")

    def is_left() -> bool:
        with page.server.client() as client:
            metrics = client.get("/metrics").text
        return 'route="/translate",status="499"' in metrics

    page.until(is_left)
    page.server.translator.gate.set()
    page.wait_for(backwards("slower"))


def test_characters_outside_the_basic_plane_do_not_shift_words(page: Page) -> None:
    page.browser.execute_script(
        "const s = document.getElementById('source'); s.value = '😀😀 one two';"
        "s.dispatchEvent(new Event('input'))"
    )
    page.wait_for(backwards("😀😀 one two"))

    assert page.words("#mirror .word") == ["😀😀", "one", "two"]
    assert page.words("#output .word") == ["owt", "eno", "😀😀"]


def test_markup_in_a_text_stays_text(page: Page) -> None:
    text = "<img src=x onerror=alert(1)>"
    page.write(text)
    page.wait_for(backwards(text))

    assert page.all("#mirror img, #output img, #heat img") == []
    page.assert_no_complaints()


def test_errors_are_told_and_a_later_text_is_translated(page: Page) -> None:
    page.server.translator.failure = lambda text: RuntimeError("no") if "fail" in text else None
    page.write("fail")
    page.until(lambda: "The server failed on this request" in page.find("#status").text)
    page.find("#clear").click()
    page.write("fine")
    page.wait_for("enif")
    page.server.translator.failure = None


def test_it_fits_a_phone_and_the_dark(browser: webdriver.Chrome, server: LiveServer) -> None:
    page = Page(browser, server)
    page.picture("empty")
    for name, width, scheme in [("phone", 390, "light"), ("dark", 1200, "dark"), ("phone-dark", 390, "dark")]:
        page = Page(browser, server, width)
        page.colours(scheme)
        page.write(TEXT)
        page.wait_for(backwards(TEXT))
        page.all("#output .word")[1].click()  # as a finger does
        assert page.words("#mirror .partner") == ["the"]
        page.picture(name)
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth"), name
        ground = page.find("body").value_of_css_property("background-color")
        assert (ground == "rgba(17, 24, 29, 1)") == (scheme == "dark")


def test_the_description_of_the_api_is_drawn(page: Page) -> None:
    page.browser.get(page.server.url + "/docs")
    page.until(lambda: len(page.all("details.operation")) > 10)

    assert page.find("#operations details[open] summary").text.startswith("POST/translate")
    assert "length_penalty" in page.find("#operations details[open]").text
    page.picture("docs")
    page.assert_no_complaints()


def test_the_model_that_ships_shows_translation_links_and_heat_map(browser: webdriver.Chrome) -> None:
    with running(Translator.load()) as live:
        page = Page(browser, live)
        page.write("A young woman is reading a book in the park.")
        page.wait_for("Une jeune femme lit un livre dans le parc.")

        for word, partner in (("femme", "woman"), ("livre", "book"), ("parc", "park")):
            target = next(element for element in page.all("#output .word") if element.text == word)
            page.hover(target)
            assert page.words("#mirror .partner") == [partner]
        page.picture("shipped-model")
        page.assert_no_complaints()

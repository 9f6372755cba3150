"""The page's explorer of every head: overview and enlarged map, by mouse and keyboard, in both languages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from testbed.stub import backwards
from tests.service.conftest import LiveServer, running
from tests.service.page import Page, PageTranslator

pytestmark = pytest.mark.browser

TEXT = "one two three"


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with running(PageTranslator()) as live:
        yield live


@pytest.fixture
def page(browser: webdriver.Chrome, server: LiveServer) -> Page:
    return Page(browser, server)


def opened(page: Page, text: str = TEXT) -> Page:
    page.write(text)
    page.wait_for(backwards(text))
    page.find("#heads-open").click()
    page.until(lambda: page.all(".heads-map"))
    return page


def caption(page: Page) -> str:
    return page.find("#heads figcaption").text


def labels(page: Page) -> tuple[list[str], list[str]]:
    return page.texts(".heads-map tbody th"), page.words(".heads-map thead th")


def test_nothing_is_asked_before_it_is_opened(page: Page) -> None:
    page.write(TEXT)
    page.wait_for(backwards(TEXT))
    assert page.find("#heads-section").is_displayed()
    assert not page.find("#heads").is_displayed()
    n_calls = len(page.server.translator.calls)
    page.find("#heads-open").click()
    page.until(lambda: page.all(".heads-map"))
    assert len(page.server.translator.calls) == n_calls + 1
    page.find("#heads-open").click()
    page.find("#heads-open").click()
    page.until(lambda: page.all(".heads-map"))
    assert len(page.server.translator.calls) == n_calls + 1, "what was asked is kept"
    page.assert_no_complaints()


def test_all_layers_and_heads_are_shown_and_one_is_enlarged(page: Page) -> None:
    opened(page)
    assert len(page.all(".heads-layer")) == 4
    assert len(page.all(".heads-overview button")) == 16
    assert caption(page) == "Cross-attention: Layer 1, head 1"
    assert labels(page) == (["eerht", "owt", "eno", "</s>"], ["one", "two", "three", "</s>"])
    page.all(".heads-overview button")[5].click()
    assert caption(page) == "Cross-attention: Layer 2, head 2"
    assert page.texts(".heads-map tbody tr:first-child td") == ["", "", "100", ""]
    page.assert_no_complaints()


def test_encoder_and_decoder_attention_have_their_own_rows_and_columns(page: Page) -> None:
    opened(page)
    cross, encoder, decoder = page.all(".heads-kinds button")
    encoder.click()
    assert labels(page) == (["one", "two", "three", "</s>"], ["one", "two", "three", "</s>"])
    decoder.click()
    assert labels(page) == (["eerht", "owt", "eno", "</s>"], ["<s>", "eerht", "owt", "eno"])
    pressed = [button.get_attribute("aria-pressed") for button in (cross, encoder, decoder)]
    assert pressed == ["false", "false", "true"]


def test_the_overview_is_one_stop_of_the_tab_key_and_arrows_move_in_it(page: Page) -> None:
    opened(page)
    assert len(page.all('.heads-overview button[tabindex="0"]')) == 1
    page.all(".heads-overview button")[0].click()

    def press(key: str) -> str:
        page.browser.switch_to.active_element.send_keys(key)
        focused: str = page.browser.switch_to.active_element.get_attribute("aria-label") or ""
        return focused

    assert press(Keys.ARROW_RIGHT) == "Layer 1, head 2"
    assert press(Keys.CONTROL + Keys.ARROW_RIGHT + Keys.NULL) == "Layer 1, head 2", "that is the browser's"
    assert press(Keys.ARROW_DOWN) == "Layer 2, head 2"
    assert press(Keys.END) == "Layer 2, head 4"
    assert press(Keys.ARROW_RIGHT) == "Layer 2, head 4", "there is no fifth"
    assert press(Keys.HOME) == "Layer 2, head 1"
    assert press(Keys.ARROW_UP) == "Layer 1, head 1"
    assert caption(page) == "Cross-attention: Layer 1, head 1"
    press(Keys.TAB)
    scroll = page.browser.switch_to.active_element
    assert scroll.get_attribute("class") == "heads-scroll", "the map can be scrolled with the keyboard"


def test_what_is_shown_has_names_for_those_who_do_not_see_it(page: Page) -> None:
    opened(page)
    for button in page.all(".heads-overview button, .heads-kinds button"):
        assert button.accessible_name
    assert page.find(".heads-map").accessible_name == "Cross-attention: Layer 1, head 1"
    assert page.find("#heads figcaption").aria_role == "status", "a change is told"
    assert page.find("#heads-open").get_attribute("aria-expanded") == "true"
    cell = page.find(".heads-map tbody td")
    assert cell.get_attribute("title") == "eerht → one: 100 %"


def test_the_explorer_speaks_french_and_keeps_its_place(page: Page) -> None:
    opened(page)
    page.all(".heads-kinds button")[1].click()
    page.all(".heads-overview button")[6].click()
    page.choose("#language", "fr")
    page.until(lambda: caption(page) == "Auto-attention de l’encodeur: Couche 2, tête 3")
    assert page.texts(".heads-kinds button")[0] == "Attention croisée"
    assert page.find("#heads-open").text == "Masquer"
    page.assert_no_complaints()


def test_another_sentence_and_another_text_are_drawn_while_it_is_open(page: Page) -> None:
    page.write("one two" + Keys.ENTER + "three")
    page.wait_for("owt eno\neerht")
    page.find("#heads-open").click()
    page.choose("#sentence", "1")
    page.until(lambda: page.words(".heads-map thead th") == ["three", "</s>"])
    page.find("#clear").click()
    page.until(lambda: not page.find("#heads-section").is_displayed())
    page.write("four")
    page.until(lambda: page.words(".heads-map thead th") == ["four", "</s>"])
    page.assert_no_complaints()


def test_a_text_over_the_limit_is_told(browser: webdriver.Chrome) -> None:
    with running(PageTranslator()) as live:
        page = Page(browser, live)
        page.browser.execute_script("document.getElementById('source').value = 'word '.repeat(220)")
        page.write("end")
        page.until(lambda: page.find("#heads-section").is_displayed())
        page.find("#heads-open").click()
        assert page.find("#heads-problem").text == (
            "This text is too long to look at every head: the limit is 1,000 characters."
        )
        assert page.all(".heads-map") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_small_maps_are_drawn_in_the_colours_of_the_moment(page: Page, scheme: str) -> None:
    opened(page)
    page.colours(scheme)
    script = """
        const [canvas] = document.querySelectorAll('.heads-overview canvas');
        return [...canvas.getContext('2d').getImageData(0, 0, 2, 1).data];
    """

    def drawn() -> Any:
        return page.browser.execute_script(script)

    full = [11, 83, 112, 255] if scheme == "light" else [88, 180, 214, 255]
    page.until(lambda: drawn() == [*full, 0, 0, 0, 0])
    page.picture(f"every-head-{scheme}")


def test_on_a_phone_nothing_but_the_maps_scrolls_sideways(
    browser: webdriver.Chrome, server: LiveServer
) -> None:
    page = opened(
        Page(browser, server, width=390), "some longer words that make this map quite wide on a phone"
    )
    widths = page.browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]
    scroll = page.find(".heads-scroll")
    assert page.browser.execute_script("return arguments[0].scrollWidth > arguments[0].clientWidth", scroll)
    page.picture("every-head-phone")

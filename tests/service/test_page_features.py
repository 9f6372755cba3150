"""What the page has around a translation: sentences as they come, heads, glossary, files, languages."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from testbed.stub import StubTranslator, backwards
from tests.service.conftest import LiveServer, running
from tests.service.page import Page, PageTranslator, SentenceEngine

pytestmark = pytest.mark.browser

ENGLISH = "The meeting was moved to Friday afternoon."
FRENCH = "La réunion a été déplacée à vendredi après-midi."


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with running(PageTranslator()) as live:
        yield live


@pytest.fixture
def page(browser: webdriver.Chrome, server: LiveServer) -> Page:
    return Page(browser, server)


@contextlib.contextmanager
def accepting(browser: webdriver.Chrome, languages: str) -> Iterator[None]:
    """The browser's languages."""
    agent = browser.execute_script("return navigator.userAgent")
    set_languages = "Network.setUserAgentOverride"
    browser.execute_cdp_cmd(set_languages, {"userAgent": agent, "acceptLanguage": languages})
    yield
    browser.execute_cdp_cmd(set_languages, {"userAgent": agent, "acceptLanguage": "en-US,en"})


def test_sentences_of_a_slow_text_are_shown_as_they_come(browser: webdriver.Chrome) -> None:
    engine = SentenceEngine(StubTranslator())
    with running(engine) as live:
        page = Page(browser, live)
        page.write("one two" + Keys.ENTER + "three four" + Keys.ENTER + "five")
        engine.worker.gates = 1
        page.until(lambda: page.find("#output").text == "owt eno")
        assert page.find("#status").text == "Translating… sentence 1 of 3"
        assert page.find("#output").get_attribute("aria-busy") == "true", "nothing is read out before the end"
        engine.worker.gates = 2
        page.until(lambda: page.find("#output").text == "owt eno\nruof eerht")
        engine.worker.gates = 100
        page.wait_for("owt eno\nruof eerht\nevif")
        assert page.find("#output").get_attribute("aria-busy") is None
        page.hover(page.all("#output .word")[0])
        assert page.words("#mirror .partner") == ["two"]
        page.assert_no_complaints()


def test_the_heat_map_of_each_head_can_be_chosen(page: Page) -> None:
    page.write("one two three")
    page.wait_for(backwards("one two three"))
    assert not page.find("#head").is_enabled(), "a head is one of a layer"

    page.choose("#layer", "1")
    page.choose("#head", "2")
    page.until(lambda: page.texts("#heat tbody tr:first-child td") == ["", "", "100"])
    assert page.texts("#heat tbody tr:last-child td") == ["", "", "100"]
    page.choose("#head", "0")
    page.until(lambda: page.texts("#heat tbody tr:first-child td") == ["100", "", ""])
    page.choose("#layer", "")
    page.until(lambda: page.texts("#heat tbody tr:first-child td") == ["10", "10", "80"])
    assert page.words("#layer option") == ["as for the links", "1", "2", "3", "4"]
    page.assert_no_complaints()


def test_the_glossary_is_sent_marked_and_kept_in_the_browser(page: Page) -> None:
    page.write("one two")
    page.wait_for("owt eno")
    page.find("#glossary-source").send_keys("one")
    page.find("#glossary-form button").click()
    assert page.find("#glossary-status").text == "A term and its translation are both needed."
    page.find("#glossary-target").send_keys("eno" + Keys.ENTER)

    page.until(lambda: page.words("#output .term") == ["eno"])
    assert page.texts("#glossary-list li span") == ["one → eno"]
    page.browser.refresh()
    page.until(lambda: page.texts("#glossary-list li span") == ["one → eno"])
    page.find("#glossary-list button").click()
    assert page.all("#glossary-list li") == []
    assert page.browser.switch_to.active_element.get_attribute("id") == "glossary-source"
    page.assert_no_complaints()


def test_a_chosen_file_is_translated_and_downloaded(page: Page, tmp_path: Path) -> None:
    page.browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path / "down")}
    )
    letter, picture = tmp_path / "letter.txt", tmp_path / "picture.png"
    letter.write_text("one two\n")
    picture.write_bytes(b"x")
    page.browser.execute_script("document.getElementById('files').hidden = false")  # for the driver only
    page.find("#files").send_keys(f"{letter}\n{picture}")

    done, failed = "[data-status=done]", "[data-status=error]"
    page.until(lambda: page.all(done) and page.all(failed))
    assert page.texts(f"{failed} .document-state") == ["Failed: This kind of file cannot be translated."]
    page.find(f"{done} .chip").click()
    page.until((tmp_path / "down" / "letter.fr.txt").exists)
    assert (tmp_path / "down" / "letter.fr.txt").read_text() == "owt eno\n"
    for _ in range(2):
        page.find("#documents-list .quiet").click()
    assert not page.find("#documents-list").is_displayed()
    page.assert_no_complaints()


def test_a_file_can_be_dropped_and_its_progress_is_shown(page: Page) -> None:
    page.until(lambda: "txt, md" in page.find("#documents-section").text)  # it knows what may be dropped
    page.server.translator.gate.clear()
    page.browser.execute_script(
        """
        const files = new DataTransfer();
        files.items.add(new File(["one two"], "dropped.txt"));
        const how = { dataTransfer: files, bubbles: true, cancelable: true };
        for (const type of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, how));
        """
    )
    page.until(lambda: page.texts(".document-state") == ["Translating, 0 %"])
    assert page.find("#documents-section progress").get_attribute("aria-label") == "Progress of dropped.txt"
    page.server.translator.gate.set()
    page.until(lambda: page.texts(".document-state") == ["Translated"])
    page.assert_no_complaints()


def test_a_text_in_another_language_is_flagged(page: Page) -> None:
    page.write(FRENCH)
    page.wait_for(backwards(FRENCH))
    (notice,) = page.texts("#notices li")
    assert notice.startswith("This text seems to be in French; the model reads English only.")

    page.find("#clear").click()
    page.write(ENGLISH)
    page.wait_for(backwards(ENGLISH))
    assert page.texts("#notices li") == []


def test_the_interface_changes_its_language_with_all_that_stands_there(page: Page) -> None:
    page.write(FRENCH)
    page.wait_for(backwards(FRENCH))
    page.choose("#language", "fr")

    assert page.find("html").get_attribute("lang") == "fr"
    assert (page.find("#source-name").text, page.find("#target-name").text) == ("Anglais", "Français")
    assert page.find("#source").get_attribute("placeholder") == "Saisissez ou collez un texte en anglais"
    assert re.match(r"Traduit en \d+,\d s par stub", page.find("#status").text)
    assert page.texts("#notices li")[0].startswith("Ce texte semble être en français")
    assert page.find("#heat td[title]").get_attribute("title").endswith(" %")
    assert page.find("#output").text == backwards(FRENCH), "the translation stays"
    for element in page.all("#source, #mirror"):
        assert element.get_attribute("lang") == "en", "the language of the text is another matter"
    page.browser.refresh()
    page.until(lambda: page.find("#clear").get_attribute("textContent") == "Effacer")
    page.assert_no_complaints()


@pytest.mark.parametrize(("languages", "code"), [("fr-CA,fr,en", "fr"), ("de,fr", "fr"), ("de", "en")])
def test_the_interface_begins_in_the_browsers_language(
    browser: webdriver.Chrome, server: LiveServer, languages: str, code: str
) -> None:
    with accepting(browser, languages):
        page = Page(browser, server)
        assert page.find("html").get_attribute("lang") == code


def test_every_string_is_there_in_both_languages_with_the_same_places(page: Page) -> None:
    strings = page.browser.execute_async_script(
        "const done = arguments[0]; import('/static/strings.js').then((found) => done(found.STRINGS))"
    )
    english, french = strings["en"], strings["fr"]

    assert english.keys() == french.keys()
    used = page.browser.execute_script(
        "return [...document.querySelectorAll('*')].flatMap((e) => [...e.attributes])"
        ".filter((a) => a.name === 'data-t' || a.name.startsWith('data-t-')).map((a) => a.value)"
    )
    assert set(used) <= english.keys()
    for key in english:
        places = [sorted(re.findall(r"{\w+}", strings[language][key])) for language in ("en", "fr")]
        assert places[0] == places[1], key


def test_the_colours_can_be_chosen_and_are_remembered(page: Page) -> None:
    def ground() -> str:
        return page.find("body").value_of_css_property("background-color")

    light = ground()
    page.choose("#theme", "dark")
    dark = ground()
    assert dark != light
    page.browser.refresh()
    assert ground() == dark
    page.colours("dark")
    page.choose("#theme", "light")
    assert ground() == light
    page.choose("#theme", "system")
    assert ground() == dark


def test_a_server_with_keys_is_told_one(browser: webdriver.Chrome) -> None:
    with running(StubTranslator(), keys="required") as live:
        key = live.service.database.keys.create("reader")[1]
        page = Page(browser, live)
        page.until(lambda: page.find("#key-form").is_displayed())
        page.find("#key").send_keys("wrong" + Keys.ENTER)
        page.until(lambda: page.find("#key-form").is_displayed())
        page.find("#key").clear()
        page.find("#key").send_keys(key + Keys.ENTER)
        page.until(lambda: not page.find("#key-form").is_displayed())
        page.write("one two")
        page.wait_for("owt eno")


def test_a_file_that_can_be_no_memory_is_told_beside_the_button(
    browser: webdriver.Chrome, server: LiveServer, tmp_path: Path
) -> None:
    page = Page(browser, server)
    picture, table = tmp_path / "picture.png", tmp_path / "table.tsv"
    picture.write_bytes(b"x")
    table.write_text("one column\n")

    page.until(lambda: page.find("#memory-file").get_attribute("accept"))  # it knows the limits
    formats = ".tmx, .tsv, .xliff, .xlf, .txt, .tab"
    assert page.add_memory(picture) == (f"picture.png is of no format that a memory is made of: {formats}.")
    assert page.add_memory(table) == "Line 1 has 1 columns; write a source, a tab and a target."
    status = page.find("#memory-status")
    assert "error" in (status.get_attribute("class") or "")
    assert "memory-status" in (page.find("#choose-memory").get_attribute("aria-describedby") or "")
    browser.execute_script(
        """
        const files = new DataTransfer();
        files.items.add(new File(["x"], "large.tmx"));
        Object.defineProperty(files.files[0], "size", { value: 500_000_001 });
        const field = document.getElementById("memory-file");
        Object.defineProperty(field, "files", { value: files.files, configurable: true });
        field.dispatchEvent(new Event("change"));
        """
    )
    page.until(lambda: status.text == "large.tmx is larger than 500 MB; import it in parts.")
    with server.client() as client:
        assert client.get("/translation-memories").json()["memories"] == []


def test_the_button_for_a_memory_is_large_enough_for_a_finger(
    browser: webdriver.Chrome, server: LiveServer
) -> None:
    button = Page(browser, server, 390).find("#choose-memory")

    assert min(button.size["width"], button.size["height"]) >= 44

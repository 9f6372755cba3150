"""Other words for one of the translation, and translation memories, on the page with the shipped model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from nmt.translator import Translator
from tests.service.conftest import LiveServer, running
from tests.service.page import Page
from tests.service.test_page_accessibility import AXE

pytestmark = pytest.mark.browser

DOG = "A dog runs on the beach."
WOMAN = "A young woman is reading a book in the park."
TEXT = f"{DOG} {WOMAN}"
TSV = "A dog runs on the beach.\tVoilà un chien à la plage.\nA young man is reading a book.\tIl lit.\n"


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    translator = Translator.load("general", device="cpu")
    translator.warm_up()
    with running(translator) as live:
        yield live


@pytest.fixture
def page(browser: webdriver.Chrome, server: LiveServer) -> Page:
    return opened(browser, server)


def opened(browser: webdriver.Chrome, server: LiveServer, width: int = 1200, text: str = TEXT) -> Page:
    page = Page(browser, server, width)
    page.write(text)
    settle(page)
    return page


def settle(page: Page) -> None:
    """Wait for an answer to what stands on the page."""
    page.until(lambda: page.all("#output .word"))
    page.until(lambda: "stale" not in (page.find("#output").get_attribute("class") or ""))
    page.until(lambda: page.find("#output").get_attribute("aria-busy") is None)


def word(page: Page, text: str) -> WebElement:
    return next(one for one in page.all("#output .word") if one.get_attribute("textContent") == text)


def options(page: Page) -> list[str]:
    page.until(lambda: page.find("#choices").is_displayed())
    return page.words("#choices [role=option] > span:first-child")


def test_a_click_on_a_word_offers_others_and_the_chosen_one_begins_the_sentence(page: Page) -> None:
    first, second = page.find("#output").text.split(". ")
    assert "femme" in second
    word(page, "femme").click()
    offered = options(page)
    assert offered[0] == "femme"
    assert "fille" in offered
    [selected] = page.all("#choices [aria-selected=true]")
    assert (selected.text.split()[0], page.browser.switch_to.active_element) == ("femme", selected)
    assert page.find("#choices").get_attribute("aria-label") == "Other words for “femme”"
    page.picture("choices")

    page.all("#choices [role=option]")[offered.index("fille")].click()
    page.until(lambda: "jeune fille" in page.find("#output").text)
    settle(page)
    assert page.find("#output").text.startswith(f"{first}. Une jeune fille ")
    assert not page.find("#choices").is_displayed()
    assert page.browser.switch_to.active_element.text == "fille"
    assert page.all("#mirror .partner"), "links are there as ever"
    page.picture("chosen")

    word(page, "chien").click()
    offered = options(page)
    other = next(one for one in offered if one != "chien")
    page.all("#choices [role=option]")[offered.index(other)].click()
    page.until(lambda: other in page.find("#output").text)
    settle(page)
    assert "jeune fille" in page.find("#output").text, "the other sentence keeps its beginning"

    assert "The translation begins as you chose." in page.find("#notices").text
    ActionChains(page.browser).move_to_element(
        page.find("#notices")
    ).perform()  # off the word below the pointer
    settle(page)
    page.find("#notices [data-undo]").click()
    page.until(lambda: page.find("#output").text == f"{first}. {second}")
    assert page.all("#notices [data-undo]") == []
    page.assert_no_complaints()


def test_the_keyboard_opens_the_list_chooses_and_closes(page: Page) -> None:
    before = page.find("#output").text
    start = word(page, "jeune")
    page.browser.execute_script("arguments[0].focus()", start)
    start.send_keys(Keys.ENTER)
    assert options(page)[0] == "jeune"
    page.browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    active = page.browser.switch_to.active_element
    assert active == page.all("#choices [role=option]")[1]
    active.send_keys(Keys.ESCAPE)
    page.until(lambda: not page.find("#choices").is_displayed())
    assert page.browser.switch_to.active_element == start
    assert page.find("#output").text == before

    start.send_keys(Keys.ENTER)
    page.until(lambda: page.find("#choices").is_displayed())
    page.browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    chosen = options(page)[1]
    page.browser.switch_to.active_element.send_keys(Keys.ENTER)
    page.until(lambda: f"Une {chosen}" in page.find("#output").text)
    settle(page)
    assert page.browser.switch_to.active_element.text == chosen

    page.browser.switch_to.active_element.send_keys(Keys.ENTER)
    page.until(lambda: page.find("#choices").is_displayed())
    page.browser.switch_to.active_element.send_keys(Keys.TAB)
    assert not page.find("#choices").is_displayed()


def test_pointing_at_words_shows_links_while_the_list_is_open(page: Page) -> None:
    word(page, "livre").click()
    options(page)
    page.hover(word(page, "Une"))
    assert page.words("#mirror .partner") == ["A"]
    assert page.find("#choices").is_displayed()
    ActionChains(page.browser).move_to_element(page.find("h1 ~ * .language")).click().perform()
    page.until(lambda: not page.find("#choices").is_displayed())


def test_another_text_forgets_what_was_chosen(page: Page) -> None:
    word(page, "femme").click()
    offered = options(page)
    page.all("#choices [role=option]")[offered.index("fille")].click()
    page.until(lambda: "jeune fille" in page.find("#output").text)
    settle(page)
    page.write(" It is late.")
    page.until(lambda: page.find("#output").text.count(".") == 3)
    settle(page)
    assert "jeune femme" in page.find("#output").text


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 390), ("dark", 390), ("dark", 1200), ("light", 1200)]
)
def test_the_list_is_fit_for_fingers_and_for_axe(
    browser: webdriver.Chrome, server: LiveServer, scheme: str, width: int
) -> None:
    page = opened(browser, server, width)
    page.colours(scheme)
    word(page, "parc").click()
    options(page)
    box = page.find("#choices").rect
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    if width < 500:
        assert all(option.rect["height"] >= 44 for option in page.all("#choices [role=option]"))
    page.picture(f"choices-{scheme}-{width}")
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm install --no-save axe-core")
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found = browser.execute_async_script(
        "const [include, done] = arguments; axe.run({ include }, { resultTypes: ['violations'] }).then(done)",
        ["#choices", ".panes", ".options", "#notices"],
    )
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]] == []


def test_a_memory_is_offered_where_there_is_one_and_its_unit_stands_by_the_sentence(
    browser: webdriver.Chrome, server: LiveServer
) -> None:
    page = opened(browser, server)
    assert not page.find("#memory-choice").is_displayed()
    query = {"file": "m.tsv", "name": "Walks", "source": "en", "target": "fr"}
    with server.client() as client:
        headers = {"content-type": "application/octet-stream"}
        made = client.post("/translation-memories", params=query, content=TSV, headers=headers).json()
        try:
            page = opened(browser, server)
            assert page.texts("#memory option") == ["none", "Walks (2 units)"]
            page.choose("#memory", made["id"])
            page.until(lambda: page.find("#output").text.startswith("Voilà un chien à la plage."))
            settle(page)
            [unit, *_] = page.all("#output .unit")
            why = "From the translation memory, 100 %: A dog runs on the beach. → Voilà un chien à la plage."
            assert unit.get_attribute("aria-label") == why
            page.hover(unit)
            assert page.find("#readout").text == why
            page.picture("memory")

            word(page, "chien").click()
            offered = options(page)
            page.all("#choices [role=option]")[0].click()
            page.until(lambda: f"Voilà un {offered[0]}" in page.find("#output").text)
            settle(page)
        finally:
            client.delete(f"/translation-memories/{made['id']}")


def test_a_file_becomes_a_memory_for_texts_and_documents(
    browser: webdriver.Chrome, server: LiveServer, tmp_path: Path
) -> None:
    page = opened(browser, server, text=DOG)
    assert page.find("#memories-explanation").text == (
        "Make one of a file for texts and documents from English to French: "
        ".tmx, .tsv, .xliff, .xlf, .txt, .tab, at most 500 MB. It is kept on the server."
    )
    walks, letter = tmp_path / "walks.tsv", tmp_path / "letter.txt"
    walks.write_text(f"{TSV}Blank.\t\n", encoding="utf-8")
    letter.write_text(f"{DOG}\n")

    assert page.add_memory(walks) == (
        "walks.tsv is in use, with 2 units. 1 units of the file were left out: "
        "a side is missing, blank or too long."
    )
    try:
        page.until(lambda: page.find("#output").text.startswith("Voilà un chien à la plage."))
        assert page.texts("#memory option") == ["none", "walks.tsv (2 units)"]
        browser.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path / "down")}
        )
        browser.execute_script("document.getElementById('files').hidden = false")  # for the driver only
        page.find("#files").send_keys(str(letter))
        page.until(lambda: page.all("[data-status=done]"))
        page.find("[data-status=done] .chip").click()
        page.until((tmp_path / "down" / "letter.fr.txt").exists)
        assert (tmp_path / "down" / "letter.fr.txt").read_text("utf-8") == "Voilà un chien à la plage.\n"
        page.choose("#language", "fr")
        assert page.find("#memory-status").text.startswith("walks.tsv est utilisée, avec 2 unités.")
        page.picture("memory-file")
        page.assert_no_complaints()
    finally:
        forget_memories(server)


def forget_memories(server: LiveServer) -> None:
    with server.client() as client:
        for memory in client.get("/translation-memories").json()["memories"]:
            client.delete(f"/translation-memories/{memory['id']}")

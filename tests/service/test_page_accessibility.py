"""The page for those who use a keyboard, a screen reader or a phone: run with ``-m browser``.

The rules of axe-core are checked where ``npm install --no-save axe-core`` has put it; what follows is checked
without: names in Chromium's own accessibility tree, the order of focus, contrast.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from testbed.stub import backwards
from tests.service.conftest import LiveServer, running
from tests.service.page import Page, PageTranslator

pytestmark = pytest.mark.browser

TEXT = "Two young men are playing football in the park."
AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with running(PageTranslator()) as live:
        yield live


def full_page(browser: webdriver.Chrome, server: LiveServer, width: int = 1200) -> Page:
    """With a translation, a notice, a term and a document."""
    page = Page(browser, server, width)
    page.write(TEXT)
    page.wait_for(backwards(TEXT))
    page.find("#glossary-source").send_keys("park.")
    page.find("#glossary-target").send_keys("krap" + Keys.ENTER)
    page.until(lambda: page.all("#output .term"))
    return page


@pytest.mark.parametrize(
    ("path", "scheme", "width", "language"),
    [
        ("/", "light", 1200, "en"),
        ("/", "dark", 1200, "fr"),
        ("/", "light", 390, "fr"),
        ("/docs", "dark", 1200, "en"),
    ],
)
def test_axe_finds_nothing_wrong(
    browser: webdriver.Chrome, server: LiveServer, path: str, scheme: str, width: int, language: str
) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm install --no-save axe-core")
    page = full_page(browser, server, width)
    if path == "/":
        page.choose("#language", language)
    else:
        browser.get(server.url + path)
        page.until(lambda: page.all("details.operation"))
    page.colours(scheme)
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found = browser.execute_async_script(
        "const done = arguments[0]; axe.run(document, { resultTypes: ['violations'] }).then(done)"
    )

    told = [
        (violation["id"], [node["html"][:200] for node in violation["nodes"]])
        for violation in found["violations"]
    ]
    assert told == []


def accessibility_tree(page: Page) -> list[dict[str, Any]]:
    nodes = page.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    return [node for node in nodes if not node.get("ignored")]


def named(page: Page, *roles: str) -> list[str]:
    return [
        node.get("name", {}).get("value", "")
        for node in accessibility_tree(page)
        if node["role"]["value"] in roles
    ]


def test_everything_that_can_be_operated_has_a_name(browser: webdriver.Chrome, server: LiveServer) -> None:
    page = full_page(browser, server)
    controls = named(page, "button", "link", "textbox", "combobox", "group", "progressbar")

    assert all(controls), controls
    assert {"English", "Clear", "Copy", "Layer", "Head", "Remove park.", "Add a file", "Choose files"} <= set(
        controls
    )
    assert named(page, "heading")[:3] == ["Translation: English to French", "French", "Alternatives"]


def test_the_parts_of_the_page_are_landmarks(browser: webdriver.Chrome, server: LiveServer) -> None:
    roles = [node["role"]["value"] for node in accessibility_tree(full_page(browser, server))]

    for landmark in ("banner", "navigation", "main"):
        assert roles.count(landmark) == 1


def test_the_tab_key_goes_through_the_page_in_its_order(
    browser: webdriver.Chrome, server: LiveServer
) -> None:
    skip = full_page(browser, server).find(".skip")
    browser.execute_script("arguments[0].focus()", skip)  # it is out of sight, where no key can be sent
    reached = []
    for _ in range(40):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        active = browser.switch_to.active_element
        classes = (active.get_attribute("class") or active.tag_name).split()
        reached.append(active.get_attribute("id") or classes[0])
        if reached[-1] == "choose-files":
            break

    wanted = [
        "brand", "a", "language", "theme", "clear", "source", "share", "copy", "word", "n-best", "beam-size",
        "typography", "layer", "heat-scroll", "a", "a", "a", "a", "heads-open", "glossary-source",
        "glossary-target", "chip", "quiet", "choose-memory", "past-wanted", "choose-files",
    ]  # fmt: skip
    assert reached == wanted


def test_changes_are_announced(browser: webdriver.Chrome, server: LiveServer) -> None:
    page = full_page(browser, server)
    for id_ in ("status", "readout", "notices", "glossary-status", "memory-status", "heat-problem"):
        assert page.all(f"#{id_}[role=status], [role=status] > #{id_}"), id_
    assert page.find("#output").get_attribute("aria-live") == "polite"
    page.find("#output .word").click()
    quoted = page.all("#readout span")
    assert [span.get_attribute("lang") for span in quoted] == ["fr", "en"], "read out by the right voice"


def luminance(colour: str) -> float:
    parts = [float(part) / 255 for part in colour.split("(")[1].rstrip(")").split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


COLOURS = """
const [name, ground] = arguments;
const probe = document.body.appendChild(document.createElement("i"));
probe.style.color = `var(--${name})`;
probe.style.backgroundColor = `var(--${ground})`;
const { color, backgroundColor } = getComputedStyle(probe);
probe.remove();
return [color, backgroundColor];
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(
    browser: webdriver.Chrome, server: LiveServer, scheme: str
) -> None:
    page = full_page(browser, server)
    page.colours(scheme)
    for name in ("ink", "muted", "accent", "error", "warning"):
        for ground in ("ground", "surface", "answer"):
            ratio = contrast(*browser.execute_script(COLOURS, name, ground))
            assert ratio >= 4.5, f"{name} on {ground} in {scheme}: {ratio:.1f}"


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_is_cut_off_on_a_narrow_screen(
    browser: webdriver.Chrome, server: LiveServer, width: int
) -> None:
    page = full_page(browser, server, width)
    for language in ("en", "fr"):
        page.choose("#language", language)
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth"), language

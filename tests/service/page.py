"""The page in a headless Chromium, as its tests handle it, and translators that have all it shows.

With SCREENSHOTS=DIR in the environment, pictures are left there.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from nmt.batching.events import Finished
from nmt.options import DEFAULTS, TranslationOptions
from nmt.text.glossary import AppliedTerm, find_form
from nmt.translator import Span, Translation
from service.work.engine.base import Event, Job
from service.work.engine.local import LocalEngine, WholeRequests, parts_of
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer


def start_browser() -> webdriver.Chrome:
    """Headless Chromium; skips the test where it is not installed."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server"):
        options.add_argument(argument)
    options.add_argument("--lang=en-US")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options, webdriver.ChromeService(driver))


class PageTranslator(StubTranslator):
    """The stub with attention heads, of which number h looks at word h alone, and with a glossary."""

    def translate(
        self, texts: Sequence[str], options: TranslationOptions = DEFAULTS, **arguments: Any
    ) -> list[Translation]:
        attention, glossary = options.attention, options.glossary
        found = super().translate(texts, options, **arguments)
        if attention is not None and attention.heads is not None:
            found = [_attending(translation, attention.heads[0]) for translation in found]
        if glossary is not None:
            (term,) = glossary.terms
            for i, translation in enumerate(found):
                span = find_form(term.target, translation.text)
                assert span is not None
                applied = AppliedTerm(Span(0, 1), span, term, "enforced")
                found[i] = replace(translation, terms=(applied,))
        return found


def _attending(translation: Translation, word: int) -> Translation:
    sentences = []
    for sentence in translation.sentences:
        rows = sentence.attention or ()
        chosen = tuple(tuple(float(j == word % len(row)) for j in range(len(row))) for row in rows)
        sentences.append(replace(sentence, attention=chosen))
    return replace(translation, sentences=tuple(sentences))


class SentenceBySentence(WholeRequests):
    """Tells each sentence when ``gates`` is larger than its number."""

    def __init__(self, translator: StubTranslator) -> None:
        super().__init__(translator, 10_000)
        self.translator = translator
        self.gates = 0

    def answers(self, batch: list[Job]) -> Iterator[Event]:
        for job in batch:
            translations = self.translator.translate(job.texts, job.options, keep=job.keep)
            for n, part in enumerate(parts_of(job, translations)):
                while self.gates <= n:
                    time.sleep(0.01)
                yield part
            while self.gates < 100:
                time.sleep(0.01)
            yield Finished(job.id, translations)


class SentenceEngine(LocalEngine):
    """An engine of one that tells sentence by sentence."""

    def __init__(self, translator: StubTranslator) -> None:
        self.worker = SentenceBySentence(translator)
        super().__init__(translator, worker=self.worker)


class Page:
    """The page, freshly opened."""

    def __init__(self, browser: webdriver.Chrome, server: LiveServer, width: int = 1200) -> None:
        self.browser = browser
        self.server = server
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 1250, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        self.colours("light")
        browser.execute_cdp_cmd(
            "Storage.clearDataForOrigin", {"origin": server.url, "storageTypes": "local_storage"}
        )
        added = browser.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument", {"source": "try { sessionStorage.clear() } catch {}"}
        )
        browser.get(server.url)
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
        browser.get_log("browser")
        self.until(lambda: self.all("#examples .chip"))

    def colours(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def find(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def words(self, selector: str) -> list[str]:
        return [word.get_attribute("textContent") or "" for word in self.all(selector)]

    def write(self, text: str) -> None:
        self.find("#source").send_keys(text)

    def until(self, condition: Callable[[], Any]) -> None:
        waiting = WebDriverWait(self.browser, 15, 0.05, ignored_exceptions=[StaleElementReferenceException])
        waiting.until(lambda _: condition())

    def wait_for(self, translation: str) -> None:
        self.until(lambda: self.find("#output").text == translation)
        self.until(lambda: "stale" not in (self.find("#output").get_attribute("class") or ""))
        self.until(lambda: self.find("#output").get_attribute("aria-busy") is None)

    def hover(self, element: WebElement) -> None:
        ActionChains(self.browser, duration=50).move_to_element(element).perform()

    def choose(self, selector: str, value: str) -> None:
        options = Select(self.find(selector)).options
        next(option for option in options if option.get_attribute("value") == value).click()

    def add_memory(self, file: Path) -> str:
        """What the page says of a file that is to become a memory, in the end."""
        before = self.find("#memory-status").text
        field = "document.getElementById('memory-file')"
        self.browser.execute_script(f"{field}.hidden = false")  # for the driver only
        self.find("#memory-file").send_keys(str(file))
        self.browser.execute_script(f"{field}.hidden = true")
        self.until(lambda: self.find("#memory-status").text not in (before, f"{file.name} is being read…"))
        return self.find("#memory-status").text

    def texts(self, selector: str) -> list[str]:
        """What is shown of the elements."""
        return [element.text for element in self.all(selector)]

    def picture(self, name: str) -> None:
        if folder := os.environ.get("SCREENSHOTS"):
            time.sleep(0.3)  # transitions
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.browser.save_screenshot(str(Path(folder) / f"{name}.png"))

    def assert_no_complaints(self) -> None:
        """Nothing blocked by the content security policy, no error in a script, no missing file."""
        assert self.browser.get_log("browser") == []

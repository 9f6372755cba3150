"""The table of features in docs/dialects.md: each row names a route that there is, and does what it says."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.app import ERROR_SHAPES
from tests.service.calls.test_auth import app_of, routes
from tests.service.conftest import LiveServer
from tests.service.dialects.conftest import WillingTranslator
from tests.service.two_ways import ShoutingTranslator, both_ways

PAGE = Path(__file__).parents[2] / "docs" / "dialects.md"
FRENCH = "Le petit chat dort tranquillement sur le canapé du salon."
COLUMNS = 7
DIALECTS = tuple(ERROR_SHAPES)
"""Prefixes of what others describe."""


def rows() -> dict[str, tuple[str, str]]:
    """Method and path of each row, by its feature."""
    [table] = re.findall(r"<!-- features -->\n(.*?)<!-- end of features -->", PAGE.read_text("utf-8"), re.S)
    found = {}
    for line in table.splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert len(cells) == COLUMNS, line
        route = re.fullmatch(r"`(GET|POST) (/\S+)`", cells[1])
        assert route, line
        assert set(cells[2:]) <= {"yes", "", "in documents", "containers"}, line
        found[cells[0]] = (route[1], route[2])
    return found


@pytest.fixture(scope="module")
def live() -> Iterator[LiveServer]:
    english = WillingTranslator()
    english.has_formality = True
    with both_ways(english, ShoutingTranslator()) as server:
        yield server


@pytest.fixture
def http(live: LiveServer) -> Iterator[httpx.Client]:
    with live.client() as client:
        yield client


def native(http: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = http.post("/translate", json={"text": "one two", "source": "en", "target": "fr"} | body)
    assert answer.status_code == 200, answer.text
    found = answer.json()["translations"][0]
    assert isinstance(found, dict)
    return found


def document(http: httpx.Client) -> bool:
    octets = {"content-type": "application/octet-stream"}
    sent = http.post("/documents", params={"name": "a.txt"}, content=b"one two", headers=octets).json()
    while http.get(f"/documents/{sent['id']}").json()["status"] not in ("done", "error"):
        time.sleep(0.05)
    return http.get(f"/documents/{sent['id']}/content").content == b"owt eno"


def picture(http: httpx.Client) -> bool:
    made = native(http, alignment="links")["id"]
    answer = http.get(f"/translations/{made}/alignment", headers={"accept": "image/svg+xml"})
    return answer.headers["content-type"].startswith("image/svg+xml")


def glossary(http: httpx.Client) -> bool:
    entries = {
        "name": "a",
        "source_lang": "EN",
        "target_lang": "FR",
        "entries": "one\tun",
        "entries_format": "tsv",
    }
    return bool(http.post("/v2/glossaries", json=entries).json()["entry_count"] == 1)


def memory(http: httpx.Client) -> bool:
    octets, query = {"content-type": "application/octet-stream"}, {"source": "en", "target": "fr"}
    table = b"Open the door.\tOuvrez.\n"
    made = http.post(
        "/translation-memories", params=query | {"file": "a.tsv"}, content=table, headers=octets
    ).json()
    found = http.post(f"/translation-memories/{made['id']}/search", json={"text": "Open a door."}).json()
    answer = native(http, translation_memory=made["id"])
    return [match["target"] for match in found["matches"]] == ["Ouvrez."] and answer["text"] == "owt eno"


def job(http: httpx.Client) -> bool:
    lines = {"content-type": "application/x-ndjson"}
    query = {"source": "en", "target": "fr"}
    made = http.post("/jobs", params=query, content=b'"one two"\n"three"\n', headers=lines).json()
    while http.get(f"/jobs/{made['id']}").json()["ended_at"] is None:
        time.sleep(0.05)
    result = http.get(f"/jobs/{made['id']}/result").text.splitlines()
    return [json.loads(line)["text"] for line in result] == ["owt eno", "eerht"]


def check(http: httpx.Client) -> bool:
    asked = {"source": "It costs 50.", "translation": "Il coûte 500.", "source_language": "en"}
    answer = http.post("/check", json=asked | {"target_language": "fr"}).json()
    return any(finding["kind"] == "number" for finding in answer["findings"])


def chat(http: httpx.Client) -> bool:
    message = {"role": "user", "content": "one two"}
    answer = http.post("/v1/chat/completions", json={"model": "passerelle-en-fr", "messages": [message]})
    return bool(answer.json()["choices"][0]["message"]["content"] == "owt eno")


def several(http: httpx.Client) -> bool:
    answer = http.post("/translate", json={"text": ["one two", "three"], "target": "fr"}).json()
    return [one["text"] for one in answer["translations"]] == ["owt eno", "eerht"]


CHECKS: dict[str, Callable[[httpx.Client], bool]] = {
    "text": lambda http: native(http)["text"] == "owt eno",
    "several texts in a request": several,
    "the language is detected": lambda http: (
        native(http, text=FRENCH, source="auto", target="en")["detected_source"]["language"] == "fr"
    ),
    "languages": lambda http: len(http.get("/languages").json()["pairs"]) == 2,
    "HTML": lambda http: native(http, text="<b>one</b>", markup="html")["text"] == "<b>eno</b>",
    "XML with tags kept": lambda http: (
        native(http, text="<a><b/>one</a>", markup="xml")["text"].count("<") == 3
    ),
    "documents": document,
    "terms": lambda http: bool(native(http, glossary=[{"source": "one", "target": "un"}])["terms"]),
    "glossaries kept by the server": glossary,
    "translation memories": memory,
    "form of address": lambda http: native(http, formality="formal")["text"] == "owt eno",
    "context that is not translated": lambda http: (
        native(http, context="Dear Sir,")["text"] == "owt eno" == native(http)["text"]
    ),
    "word alignment": lambda http: len(native(http, alignment="links")["links"]) == 2,
    "alignment as picture, JSON or Pharaoh": picture,
    "confidence and flags of each sentence": lambda http: (
        {"confidence"} <= native(http)["sentences"][0].keys() and "flags" in native(http)
    ),
    "alternatives": lambda http: len(native(http, n_best=3)["alternatives"]) == 3,
    "quality or speed, as asked": lambda http: native(http, quality="fast")["text"] == "owt eno",
    "a given beginning of the translation": lambda http: native(http, prefix="un")["text"] == "un owt eno",
    "the words that may follow it": lambda http: (
        http.post("/alternatives", json={"text": "one", "target": "fr", "prefix": "un"}).json()[
            "alternatives"
        ]
        == [{"text": "next", "prefix": "un next", "probability": 0.5}]
    ),
    "sentence by sentence, as server-sent events": lambda http: (
        "event: sentence"
        in http.post("/translate", json={"text": "one"}, headers={"accept": "text/event-stream"}).text
    ),
    "texts and files by the thousand, in the background": job,
    "a check of anybody's translation": check,
    "usage and limits of a key": lambda http: "limits" in http.get("/usage").json(),
    "metrics for Prometheus": lambda http: "passerelle_" in http.get("/metrics").text,
    "on one's own machine, offline": lambda http: http.get("/health/ready").json() == {"status": "ok"},
    "DeepL's API": lambda http: (
        http.post("/v2/translate", json={"text": "one", "target_lang": "FR"}).json()["translations"][0][
            "text"
        ]
        == "eno"
    ),
    "LibreTranslate's API": lambda http: (
        http.post("/libretranslate/translate", json={"q": "one", "source": "en", "target": "fr"}).json()
        == {"translatedText": "eno"}
    ),
    "OpenAI's chat completions": chat,
    "Google's v2 API": lambda http: (
        http.post("/language/translate/v2", json={"q": "one", "source": "en", "target": "fr"}).json()["data"]
        == {"translations": [{"translatedText": "eno"}]}
    ),
    "Azure's v3.0 API": lambda http: (
        http.post("/translate?api-version=3.0&from=en&to=fr", json=[{"text": "one"}]).json()
        == [{"translations": [{"text": "eno", "to": "fr"}]}]
    ),
}


def test_each_row_has_a_check() -> None:
    assert list(rows()) == list(CHECKS)


@pytest.mark.parametrize("feature", list(CHECKS))
def test_a_feature_does_what_its_row_says(http: httpx.Client, feature: str) -> None:
    assert CHECKS[feature](http)


@pytest.mark.parametrize(("method", "path"), sorted(set(rows().values())))
def test_a_route_of_the_table_is_described_or_is_a_dialects(live: LiveServer, method: str, path: str) -> None:
    app = app_of(live)
    described = method.lower() in app.openapi()["paths"].get(path, {})

    assert described or path.startswith(DIALECTS)
    assert (path, method) in set(routes(app))

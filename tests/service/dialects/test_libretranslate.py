"""LibreTranslate's API: with its own package where that can ask, else as other clients of it do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.error import HTTPError

import httpx
import pytest
from libretranslatepy import LibreTranslateAPI

from tests.service.conftest import LiveServer, running
from tests.service.dialects.conftest import WillingTranslator

CANARY = "xylophonequartz"
FRENCH = "Le petit chat dort tranquillement sur le canapé du salon."


@pytest.fixture
def client(live: LiveServer) -> LibreTranslateAPI:
    return LibreTranslateAPI(f"{live.url}/libretranslate")


def ask(live: LiveServer, path: str = "translate", **options: Any) -> httpx.Response:
    with live.client() as http:
        return http.post(f"/libretranslate/{path}", **options)


def test_the_package_translates_detects_and_lists(client: LibreTranslateAPI) -> None:
    assert client.translate("one two & three", "en", "fr") == "eerht & owt eno"
    best, *_ = client.detect(FRENCH)
    assert best["language"] == "fr"
    assert 50 < best["confidence"] <= 100
    assert client.detect("1234") == [], "it could be any"
    assert client.languages() == [
        {"code": "en", "name": "English", "targets": ["fr"]},
        {"code": "fr", "name": "French", "targets": []},
    ]


def test_the_package_sends_its_key(guarded: LiveServer, new_key: Callable[..., str]) -> None:
    address = f"{guarded.url}/libretranslate/"
    key = new_key(requests_per_minute=3)
    with_key = LibreTranslateAPI(address, key)

    assert with_key.translate("one two", "en", "fr") == "owt eno"
    assert len(with_key.languages()) == 2
    assert with_key.detect(FRENCH)[0]["language"] == "fr"
    for api, status, said in (
        (LibreTranslateAPI(address), 403, "send it as api_key"),
        (LibreTranslateAPI(address, "nobody's"), 403, "not known here"),
        (with_key, 429, "3 requests a minute"),
        (LibreTranslateAPI(address, new_key(characters_per_month=3)), 429, "3 characters a month"),
    ):
        with pytest.raises(HTTPError) as error:
            api.translate(CANARY, "en", "fr")
        answer = error.value.read().decode()
        error.value.close()
        assert error.value.code == status
        assert said in json.loads(answer)["error"]
        assert CANARY not in answer


def test_a_list_comes_back_as_a_list(live: LiveServer) -> None:
    body = {"q": ["one two", FRENCH, "12"], "source": "auto", "target": "fr", "unknown": "ignored"}
    answer = ask(live, json=body).json()

    assert answer["translatedText"][0] == "owt eno"
    assert len(answer["translatedText"]) == 3
    assert [one["language"] for one in answer["detectedLanguage"]] == ["en", "fr", "en"]
    assert answer["detectedLanguage"][1]["confidence"] > 50
    assert answer["detectedLanguage"][2]["confidence"] == 0, "the text does not tell"


def test_the_language_is_that_of_the_words_not_of_the_tags(live: LiveServer) -> None:
    markup = f"<p class='the English language is in here, as is everything that we need'>{FRENCH}</p>"
    body = {"q": markup, "source": "auto", "target": "fr", "format": "html"}

    assert ask(live, json=body).json()["detectedLanguage"]["language"] == "fr"


def test_a_short_text_has_the_share_of_the_language_it_is_taken_for(live: LiveServer) -> None:
    body = {"q": "A dog is running.", "source": "auto", "target": "fr"}
    detected = ask(live, json=body).json()["detectedLanguage"]

    assert detected["language"] == "en"
    assert 20 < detected["confidence"] < 50


def test_one_text_says_no_more_than_it_was_asked(live: LiveServer) -> None:
    body = {"q": "one two", "source": "en", "target": "fr"}

    assert ask(live, json=body).json() == {"translatedText": "owt eno"}
    assert ask(live, data=body).json() == {"translatedText": "owt eno"}
    auto = ask(live, data={**body, "source": "auto", "format": "text"}).json()
    assert set(auto) == {"translatedText", "detectedLanguage"}
    assert set(auto["detectedLanguage"]) == {"language", "confidence"}


def test_alternatives_differ_from_the_translation(live: LiveServer) -> None:
    body = {"q": "one", "source": "en", "target": "fr", "alternatives": 2}

    assert ask(live, json=body).json() == {"translatedText": "eno", "alternatives": ["eno ?", "eno ? ?"]}
    assert ask(live, json={**body, "q": ["one"]}).json()["alternatives"] == [["eno ?", "eno ? ?"]]
    html = ask(live, json={**body, "q": "<b>one</b>", "format": "html"}).json()
    assert html == {"translatedText": "<b>eno</b>", "alternatives": []}


def test_html_is_translated_around_its_tags(live: LiveServer) -> None:
    data = {"q": "<p>one <b>two</b></p>", "source": "en", "target": "fr", "format": "html"}

    assert ask(live, data=data).json() == {"translatedText": "<p><b>owt</b> eno</p>"}


def test_a_file_is_translated_and_downloaded(guarded: LiveServer, new_key: Callable[..., str]) -> None:
    key, other = new_key(), new_key()
    answer = ask(
        guarded,
        "translate_file",
        files={"file": ("two days.txt", b"one two\n")},
        data={"source": "auto", "target": "fr", "api_key": key},
    )
    address = answer.json()["translatedFileUrl"]

    assert address.startswith(f"{guarded.url}/libretranslate/download_file/")
    assert address.endswith("/two%20days.fr.txt")
    with guarded.client() as http:
        assert http.get(address, params={"api_key": key}).text == "owt eno\n"
        assert http.get(address).status_code == 403
        assert http.get(address, params={"api_key": other}).status_code == 404
        wrong = http.get(address.replace("download_file/", "download_file/0"), params={"api_key": key})
    assert wrong.status_code == 404
    assert set(wrong.json()) == {"error"}


@pytest.mark.parametrize(
    ("name", "data", "fields", "said"),
    [
        (f"a.{CANARY}", b"x", {}, "file: its name must end in"),
        ("a.docx", CANARY.encode(), {}, "not a zip"),
        ("a.txt", b"x", {"target": "de"}, "target: de is not supported; this server has fr"),
        ("a.txt", b"x", {"source": CANARY}, "source: this is not supported"),
        ("a.txt", b"word " * 40, {}, "over max_characters"),
    ],
)
def test_a_bad_file_is_refused_without_repeating_it(
    small: LiveServer, name: str, data: bytes, fields: dict[str, str], said: str
) -> None:
    form = {"source": "en", "target": "fr"} | fields
    answer = ask(small, "translate_file", files={"file": (name, data)}, data=form)

    assert answer.status_code == 400, answer.text
    assert said.lower() in answer.json()["error"].lower()
    assert CANARY not in answer.text


@pytest.fixture(scope="module")
def small() -> Iterator[LiveServer]:
    with running(
        WillingTranslator(), document_max_characters=100, max_text_characters=100, max_texts=2
    ) as live:
        yield live


def test_a_file_that_fails_or_takes_too_long_is_told_so() -> None:
    form = {"source": "en", "target": "fr"}
    file = {"file": ("a.txt", CANARY.encode())}
    with running(WillingTranslator(failure=ValueError)) as live:
        failed = ask(live, "translate_file", files=file, data=form)
    translator = WillingTranslator()
    with running(translator, request_timeout_s=0.2) as live:
        translator.gate.clear()
        late = ask(live, "translate_file", files=file, data=form)
        translator.gate.set()

    assert (failed.status_code, "server failed" in failed.json()["error"]) == (400, True)
    assert (late.status_code, "not translated in time" in late.json()["error"]) == (504, True)
    assert CANARY not in failed.text + late.text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"q": None}, "q: "),
        ({"q": []}, "q: "),
        ({"q": [CANARY, 1]}, "q.1: "),
        ({"q": CANARY * 10}, "the limit is 100"),
        ({"q": ["a", "b", "c"]}, "3 texts in one request; the limit is 2"),
        ({"source": None}, "source: "),
        ({"source": "fr"}, "source: fr is not supported; this server has en and auto"),
        ({"target": "en"}, "target: en is not supported"),
        ({"target": CANARY}, "target: this is not supported"),
        ({"format": CANARY}, "format: input should be"),
        ({"alternatives": 16}, "alternatives: 16 is over the limit of this server, 15"),
        ({"alternatives": -1}, "alternatives: "),
        ({"alternatives": CANARY}, "alternatives: "),
    ],
)
def test_bad_input_names_the_field_and_repeats_no_text(
    small: LiveServer, fields: dict[str, Any], said: str
) -> None:
    answer = ask(small, json={"q": CANARY, "source": "en", "target": "fr"} | fields)

    assert answer.status_code == 400
    assert set(answer.json()) == {"error"}
    assert said.lower() in answer.json()["error"].lower()
    assert CANARY not in answer.text


def test_what_a_page_asks_for_is_told(live: LiveServer, guarded: LiveServer) -> None:
    with live.client() as http:
        settings = http.get("/libretranslate/frontend/settings").json()
        health = http.get("/libretranslate/health").json()
        nowhere = http.get(f"/libretranslate/{CANARY}")
    suggestion = ask(live, "suggest", data={"q": CANARY, "s": "x", "source": "en", "target": "fr"})
    foreign = ask(live, data={"q": CANARY}, headers={"sec-fetch-site": "cross-site"})

    assert settings["charLimit"] == 20_000
    assert settings["keyRequired"] is False
    assert settings["suggestions"] is False
    assert settings["language"]["target"] == {"code": "fr", "name": "French"}
    assert ".docx" in settings["supportedFilesFormat"]
    assert health == {"status": "ok"}
    assert (nowhere.status_code, set(nowhere.json())) == (404, {"error"})
    assert (suggestion.status_code, set(suggestion.json())) == (403, {"error"})
    assert foreign.status_code == 403
    assert CANARY not in nowhere.text + suggestion.text + foreign.text


@pytest.mark.parametrize("q", ["<p>one <b>two</b></p>", "one<br>Two", "a & b", "one <two>"])
def test_html_without_a_format_is_read_as_html(live: LiveServer, q: str) -> None:
    asked = {"q": q, "source": "en", "target": "fr"}

    as_html = ask(live, json={**asked, "format": "html"}).json()["translatedText"]
    as_text = ask(live, json={**asked, "format": "text"}).json()["translatedText"]
    told = ask(live, json=asked).json()["translatedText"]
    several = ask(live, data={**asked}).json()["translatedText"]

    assert told == several == (as_html if "</" in q or "<br>" in q else as_text)
    assert as_html != as_text


def test_a_list_without_a_format_is_read_text_by_text(live: LiveServer) -> None:
    asked = {"q": ["<p>one two</p>", "a & b", "12"], "source": "en", "target": "fr"}

    assert ask(live, json=asked).json()["translatedText"] == ["<p>owt eno</p>", "b & a", "12"]

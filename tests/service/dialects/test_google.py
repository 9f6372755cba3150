"""Google's v2: requests in the shapes that its documentation has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from testbed.stub import backwards
from tests.service.conftest import LiveServer, running
from tests.service.dialects.conftest import WillingTranslator
from tests.service.two_ways import ShoutingTranslator, both_ways

CANARY = "xylophonequartz"
FRENCH = "Le petit chat dort tranquillement sur le canapé du salon."


@pytest.fixture(scope="module")
def both() -> Iterator[LiveServer]:
    with both_ways(WillingTranslator(), ShoutingTranslator()) as live:
        yield live


def ask(live: LiveServer, path: str = "", **options: Any) -> httpx.Response:
    with live.client() as http:
        return http.post(f"/language/translate/v2{path}", **options)


def texts(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["translatedText"] for one in answer.json()["data"]["translations"]]


def test_json_form_and_query_ask_the_same(both: LiveServer) -> None:
    asked: dict[str, Any] = {"q": ["one two", "three"], "source": "en", "target": "fr", "format": "text"}

    assert texts(ask(both, json=asked)) == ["owt eno", "eerht"]
    assert texts(ask(both, data=asked)) == ["owt eno", "eerht"]
    assert texts(ask(both, params={**asked, "key": "any"})) == ["owt eno", "eerht"]
    assert texts(ask(both, json={**asked, "q": "one", "source": "fr", "target": "en"})) == ["ENO"]


def test_a_page_of_another_site_cannot_ask(both: LiveServer) -> None:
    asked = {"q": "one", "source": "en", "target": "fr"}
    foreign = {"sec-fetch-site": "cross-site"}

    assert ask(both, params=asked, headers=foreign).status_code == 403
    assert ask(both, data=asked, headers=foreign).status_code == 403


def test_without_a_format_texts_are_html(both: LiveServer) -> None:
    html = ask(both, json={"q": "<b>one</b> two &amp; three", "source": "en", "target": "fr"})
    text = ask(both, json={"q": "<b>", "source": "en", "target": "fr", "format": "text"})

    assert texts(html) == ["eerht &amp; owt <b>eno</b>"]
    assert texts(text) == [">b<"]


def test_the_language_is_told_where_none_is_given(both: LiveServer) -> None:
    answer = ask(both, json={"q": FRENCH, "target": "en", "format": "text", "model": "nmt"})

    assert answer.json() == {
        "data": {
            "translations": [
                {
                    "translatedText": backwards(FRENCH).upper(),
                    "detectedSourceLanguage": "fr",
                    "model": "nmt",
                }
            ]
        }
    }


def test_languages_are_detected_and_listed(both: LiveServer) -> None:
    found = ask(both, "/detect", json={"q": [FRENCH, "1234"]}).json()["data"]["detections"]
    with both.client() as http:
        codes = http.get("/language/translate/v2/languages").json()
        named = http.get("/language/translate/v2/languages", params={"target": "en"}).json()
        refused = http.get("/language/translate/v2/languages", params={"target": "fr"})

    assert [one[0]["language"] for one in found] == ["fr", "und"]
    assert [one[0]["isReliable"] for one in found] == [True, False]
    assert codes == {"data": {"languages": [{"language": "en"}, {"language": "fr"}]}}
    assert named["data"]["languages"][1] == {"language": "fr", "name": "French"}
    assert refused.status_code == 400


def test_the_key_is_found_where_its_clients_put_it(guarded: LiveServer, new_key: Callable[..., str]) -> None:
    asked = {"q": "one two", "source": "en", "target": "fr"}
    key = new_key()

    for sent in (
        {"params": {"key": key}},
        {"headers": {"X-goog-api-key": key}},
        {"headers": {"Authorization": f"Bearer {key}"}},
    ):
        assert texts(ask(guarded, json=asked, **sent)) == ["owt eno"]
    for sent in ({}, {"params": {"key": "nobody's"}}, {"json": {**asked, "key": key}}):
        answer = ask(guarded, **({"json": asked} | sent))
        assert (answer.status_code, answer.json()["error"]["status"]) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"q": None}, "q: "),
        ({"q": []}, "q: "),
        ({"q": CANARY * 10}, "the limit is 100"),
        ({"target": None}, "target: "),
        ({"target": "de"}, "target: de is not supported"),
        ({"source": "de"}, "source: de is not supported"),
        ({"format": CANARY}, "format: "),
        ({"model": CANARY}, "model: "),
    ],
)
def test_bad_input_is_told_in_googles_shape(fields: dict[str, Any], said: str, small: LiveServer) -> None:
    answer = ask(small, json={"q": CANARY, "source": "en", "target": "fr"} | fields)
    error = answer.json()["error"]

    assert (answer.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert said in error["message"].lower()
    assert error["errors"][0]["message"] == error["message"]
    assert CANARY not in answer.text


@pytest.fixture(scope="module")
def small() -> Iterator[LiveServer]:
    with running(WillingTranslator(), max_text_characters=100) as live:
        yield live

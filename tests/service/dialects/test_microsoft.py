"""Microsoft's v3.0: with deep-translator, and requests in the shapes that its documentation has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import requests
from deep_translator import MicrosoftTranslator
from deep_translator.exceptions import MicrosoftAPIerror

from testbed.stub import backwards
from tests.service.conftest import LiveServer, running
from tests.service.dialects.conftest import WillingTranslator
from tests.service.two_ways import ShoutingTranslator, both_ways

CANARY = "xylophonequartz"
FRENCH = "Le petit chat dort tranquillement sur le canapé du salon."
THEIRS = "https://api.cognitive.microsofttranslator.com"


@pytest.fixture(scope="module")
def both() -> Iterator[LiveServer]:
    with both_ways(WillingTranslator(), ShoutingTranslator()) as live:
        yield live


def ask(live: LiveServer, body: Any, path: str = "/translate", **parameters: Any) -> httpx.Response:
    with live.client() as http:
        return http.post(path, json=body, params={"api-version": "3.0", **parameters})


def test_deep_translator_translates_with_another_address(
    guarded: LiveServer, new_key: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks for the languages without a key, and cannot be given an address: both are done for it here."""
    key, send = new_key(), requests.Session.request

    def to_us(session: requests.Session, method: str, url: str, **options: Any) -> requests.Response:
        assert url.startswith(THEIRS)
        headers = {"Ocp-Apim-Subscription-Key": key, **(options.pop("headers", None) or {})}
        session.trust_env = False
        return send(session, method, url.replace(THEIRS, guarded.url), headers=headers, **options)

    monkeypatch.setattr(requests.Session, "request", to_us)
    made = MicrosoftTranslator(api_key=key, source="english", target="french")
    unknown = MicrosoftTranslator(api_key="nobody's", source="en", target="fr")
    detecting = MicrosoftTranslator(api_key=key, source="auto", target="fr")

    assert made.get_supported_languages() == ["english", "french"]
    assert made.translate("one two") == "owt eno"
    assert made.translate_batch(["one two", "three"]) == ["owt eno", "eerht"]
    assert detecting.translate("one two") == "owt eno"
    with pytest.raises(MicrosoftAPIerror, match="not known here"):
        unknown.translate("one")


@pytest.mark.parametrize("path", ["/translate", "/microsoft/translate"])
def test_texts_are_translated_to_each_language(both: LiveServer, path: str) -> None:
    found = ask(both, [{"Text": FRENCH}, {"text": "1 un"}], path, to=["en", "en"], textType="plain").json()

    assert [one["translations"] for one in found] == [
        [{"text": backwards(FRENCH).upper(), "to": "en"}],
        [{"text": "NU 1", "to": "en"}],
    ]
    assert [one["detectedLanguage"]["language"] for one in found] == ["fr", "fr"]
    assert found[0]["detectedLanguage"]["score"] > 0.5 > found[1]["detectedLanguage"]["score"]
    given = ask(both, [{"Text": "one two"}], path, **{"from": "en", "to": "fr-CA"}).json()
    assert given == [{"translations": [{"text": "owt eno", "to": "fr-CA"}]}]


def test_without_api_version_the_native_route_answers(both: LiveServer) -> None:
    with both.client() as http:
        native = http.post("/translate", json={"text": "one two", "source": "en"})
        listed = http.get("/languages")
        theirs = http.get("/languages", params={"api-version": "3.0", "scope": "translation"})

    assert native.json()["translations"][0]["text"] == "owt eno"
    assert "pairs" in listed.json()
    assert theirs.json()["translation"] == {
        "en": {"name": "English", "nativeName": "English", "dir": "ltr"},
        "fr": {"name": "French", "nativeName": "français", "dir": "ltr"},
    }


def test_html_and_alignment(both: LiveServer) -> None:
    html = ask(both, [{"text": "<b>one</b> two"}], **{"from": "en", "to": "fr", "textType": "html"})
    linked = ask(both, [{"text": "one two"}], **{"from": "en", "to": "fr", "includeAlignment": "true"})

    assert html.json()[0]["translations"][0]["text"] == "owt <b>eno</b>"
    assert linked.json()[0]["translations"][0]["alignment"] == {"proj": "0:2-4:6 4:6-0:2"}


def test_languages_are_detected(both: LiveServer) -> None:
    found = ask(both, [{"Text": FRENCH}, {"Text": "1234"}], "/detect").json()

    assert (found[0]["language"], found[0]["isTranslationSupported"]) == ("fr", True)
    assert found[0]["score"] > 0.5
    assert (found[1]["language"], found[1]["isTranslationSupported"]) == ("und", False)


def test_the_key_may_be_in_header_or_query(guarded: LiveServer, new_key: Callable[..., str]) -> None:
    key = new_key()
    with guarded.client() as http:
        for sent in (
            {"headers": {"Ocp-Apim-Subscription-Key": key}},
            {"headers": {"Authorization": f"Bearer {key}"}},
            {"params": {"Subscription-Key": key}},
        ):
            parameters = {"api-version": "3.0", "to": "fr", "from": "en"} | sent.pop("params", {})
            answer = http.post("/translate", params=parameters, json=[{"text": "one"}], **sent)
            assert answer.json()[0]["translations"][0]["text"] == "eno"
        refused = http.post("/translate", params={"api-version": "3.0", "to": "fr"}, json=[{"text": "one"}])

    assert (refused.status_code, refused.json()["error"]["code"]) == (401, 401000)
    assert "Ocp-Apim-Subscription-Key" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "parameters", "said"),
    [
        ([], {"to": "fr"}, "texts: "),
        ({"text": CANARY}, {"to": "fr"}, "texts: "),
        ([{"txt": CANARY}], {"to": "fr"}, "texts.0"),
        ([{"text": CANARY}], {}, "to: is needed"),
        ([{"text": CANARY}], {"to": "de"}, "target: de is not supported"),
        ([{"text": CANARY}], {"to": ["fr"] * 11}, "to: "),
        ([{"text": CANARY}], {"to": "fr", "api-version": "2.0"}, "api-version: "),
        ([{"text": CANARY}], {"to": "fr", "textType": CANARY}, "texttype: "),
        ([{"text": CANARY}], {"to": "fr", "profanityAction": "Deleted"}, "profanityaction: "),
        ([{"text": CANARY}], {"to": "fr", "category": CANARY}, "category: "),
        ([{"text": CANARY}], {"to": "fr", "includeSentenceLength": "true"}, "includesentencelength: "),
        (
            [{"text": CANARY}],
            {"to": "fr", "textType": "html", "includeAlignment": "true"},
            "includealignment: ",
        ),
        ([{"text": CANARY * 10}], {"to": "fr", "from": "en"}, "the limit is 100"),
    ],
)
def test_bad_input_is_told_in_microsofts_shape(
    body: Any, parameters: dict[str, Any], said: str, small: LiveServer
) -> None:
    answer = ask(small, body, **parameters)

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == 400000
    assert said in answer.json()["error"]["message"].lower()
    assert CANARY not in answer.text


@pytest.fixture(scope="module")
def small() -> Iterator[LiveServer]:
    with running(WillingTranslator(), max_text_characters=100) as live:
        yield live

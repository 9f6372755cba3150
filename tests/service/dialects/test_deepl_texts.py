"""Texts through DeepL's own package: all that ``translate_text`` can send, and every error it knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import deepl
import httpx
import pytest

from testbed.stub import backwards
from tests.service.conftest import LiveServer, running
from tests.service.dialects.conftest import WillingTranslator

CANARY = "xylophonequartz"


@pytest.fixture
def client(live: LiveServer) -> Iterator[deepl.DeepLClient]:
    with_any_key = deepl.DeepLClient("any", server_url=live.url)
    yield with_any_key
    with_any_key.close()


def ask(live: LiveServer, **options: Any) -> Any:
    """The answer to a request that the package would not send."""
    with live.client() as http:
        return http.post("/v2/translate", **options)


def test_one_text_and_a_list_come_back_in_order(client: deepl.DeepLClient) -> None:
    one = client.translate_text("Two young men are playing.", target_lang="FR")
    several = client.translate_text(["one two", "", "three"], source_lang="EN-GB", target_lang="fr-FR")

    assert isinstance(one, deepl.TextResult)
    assert one.text == backwards("Two young men are playing.")
    assert one.detected_source_lang == "EN"
    assert one.billed_characters == len("Two young men are playing.")
    assert isinstance(several, list)
    assert [result.text for result in several] == ["owt eno", "", "eerht"]
    assert [result.billed_characters for result in several] == [7, 0, 5]


def test_the_older_client_works_too(live: LiveServer) -> None:
    translator = deepl.Translator("any", server_url=live.url)
    result = translator.translate_text("one two", target_lang=deepl.Language.FRENCH)
    translator.close()

    assert str(result) == "owt eno"


def test_a_language_that_is_not_said_is_detected(client: deepl.DeepLClient) -> None:
    texts = ["Le petit chat dort tranquillement sur le canapé du salon.", "ok"]
    results = client.translate_text(texts, target_lang="FR")

    assert isinstance(results, list)
    assert [result.detected_source_lang for result in results] == ["FR", "EN"]


@pytest.mark.parametrize(
    ("formality", "asked"),
    [("more", "formal"), ("prefer_more", "formal"), ("less", "informal"), ("prefer_less", "informal")],
)
def test_formality_reaches_the_translator(
    live: LiveServer, client: deepl.DeepLClient, formality: str, asked: str
) -> None:
    client.translate_text("one", target_lang="FR", formality=formality)
    assert live.translator.wishes[-1] == {"formality": asked, "confidence": False}

    client.translate_text("one", target_lang="FR", formality="default")
    assert live.translator.wishes[-1] == {"confidence": False}


def test_what_changes_nothing_is_taken(client: deepl.DeepLClient) -> None:
    for model_type in deepl.ModelType:
        result = client.translate_text(
            "one two",
            target_lang="FR",
            context="a long story " * 20,
            preserve_formatting=True,
            model_type=model_type,
            split_sentences="1",
            tag_handling_version="v2",
        )
        assert isinstance(result, deepl.TextResult)
        assert result.text == "owt eno"
        assert result.billed_characters == 7, "context is not billed"
        assert result.model_type_used == str(model_type).removeprefix("prefer_")


@pytest.mark.parametrize("split", [deepl.SplitSentences.OFF, deepl.SplitSentences.NO_NEWLINES])
def test_lines_of_a_sentence_are_joined_if_asked(
    live: LiveServer, client: deepl.DeepLClient, split: deepl.SplitSentences
) -> None:
    text = "one \n two\n\nthree"
    joined = client.translate_text(text, target_lang="FR", split_sentences=split)
    is_off = split is deepl.SplitSentences.OFF
    split = {"split_sentences": False} if is_off else {}
    assert live.translator.wishes[-1] == {"confidence": False, **split}
    apart = client.translate_text(text, target_lang="FR")

    assert str(joined) == backwards("one two\n\nthree"), "paragraphs stay apart"
    assert str(apart) == backwards(text)


def test_html_is_translated_around_its_tags_and_tags_cost_nothing(client: deepl.DeepLClient) -> None:
    result = client.translate_text(
        "<p>one <b>two</b></p><p translate=no>three</p>", target_lang="FR", tag_handling="html"
    )

    assert isinstance(result, deepl.TextResult)
    assert result.text == "<p><b>owt</b> eno</p><p translate=no>three</p>"
    assert result.billed_characters == len("one two")


def test_the_tags_of_xml_are_what_the_request_says(live: LiveServer, client: deepl.DeepLClient) -> None:
    text = "<doc><par>one <x>two</x> three</par><par>four</par></doc>"

    def calls(**options: Any) -> list[str]:
        client.translate_text(text, target_lang="FR", tag_handling="xml", **options)
        return live.translator.calls[-1]

    assert calls() == ["one two three", "four"]
    assert [part.strip() for part in calls(splitting_tags=["x"])] == ["one", "two", "three", "four"]
    calls(ignore_tags="x,y")
    (kept,) = live.translator.wishes[-1]["keep"][0]
    assert text_of(live.translator.calls[-1][0], kept) == "two"
    assert len(calls(outline_detection=False)) == 1
    assert len(calls(outline_detection=False, splitting_tags=["par"])) == 2
    assert len(calls(non_splitting_tags=["par"])) == 1


def text_of(text: str, span: Any) -> str:
    return text[span.start : span.end]


def test_a_form_is_as_good_as_json(live: LiveServer) -> None:
    data = {"text": ["one two", "three"], "target_lang": "FR", "show_billed_characters": "1"}
    answer = ask(live, data=data, headers={"authorization": "DeepL-Auth-Key any"})

    assert [one["text"] for one in answer.json()["translations"]] == ["owt eno", "eerht"]
    assert [one["billed_characters"] for one in answer.json()["translations"]] == [7, 5]
    tags = {"text": "<a>one <i>two</i></a>", "target_lang": "FR", "tag_handling": "xml", "ignore_tags": "i,b"}
    assert "<i>two</i>" in ask(live, data=tags).json()["translations"][0]["text"]


def test_the_page_of_another_site_sends_no_form(live: LiveServer) -> None:
    data = {"text": "one", "target_lang": "FR"}
    for site in ("cross-site", "same-site"):
        assert ask(live, data=data, headers={"sec-fetch-site": site}).status_code == 403
    assert ask(live, content='{"text": ["one"]}', headers={"content-type": "text/plain"}).status_code == 400
    assert ask(live, data=data, headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_without_being_asked_nothing_is_added(live: LiveServer) -> None:
    answer = ask(live, json={"text": ["one"], "target_lang": "FR", "source_lang": "EN"}).json()

    assert answer == {"translations": [{"detected_source_language": "EN", "text": "eno"}]}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"target_lang": "DE"}, "target_lang: DE is not supported; this server has FR, FR-FR"),
        ({"target_lang": "FR-CA"}, "target_lang: FR-CA is not supported"),
        ({"target_lang": CANARY}, "target_lang: this is not supported"),
        ({"source_lang": "de"}, "source_lang: DE is not supported; this server has EN"),
        ({"text": []}, "text: "),
        ({"text": [CANARY, 3]}, "text.1: "),
        ({"text": None}, "text: "),
        ({"target_lang": None}, "target_lang: "),
        ({"text": ["\ud800"]}, "surrogate"),
        ({"formality": CANARY}, "formality: input should be"),
        ({"formalty": "more"}, "an unknown field; did you mean formality?"),
        ({CANARY: 1}, "an unknown field; known are target_lang"),
        ({"tag_handling": "md"}, "tag_handling: "),
        ({"text": [f"<a>{CANARY}</b>"], "tag_handling": "xml"}, "line 1"),
        ({"style_id": CANARY}, "style_id: this server has no style rules"),
        ({"custom_instructions": [CANARY]}, "custom_instructions: this server has no custom instructions"),
        ({"glossary_id": "x", "glossary_ids": ["y"], "source_lang": "EN"}, "glossary_ids: "),
    ],
)
def test_bad_input_names_the_field_and_repeats_no_text(
    live: LiveServer, fields: dict[str, Any], said: str
) -> None:
    import json

    body = {"text": [CANARY], "target_lang": "FR"} | fields
    answer = ask(live, content=json.dumps(body), headers={"content-type": "application/json"})

    assert answer.status_code == 400
    assert set(answer.json()) == {"message", "detail"}
    assert answer.json()["message"] == "Bad Request"
    assert said.lower() in answer.json()["detail"].lower()
    assert CANARY not in answer.text


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b"[" * 100_000, b""])
def test_a_body_that_is_no_json_object_is_told_so(live: LiveServer, body: bytes) -> None:
    answer = ask(live, content=body, headers={"content-type": "application/json"})

    assert answer.status_code == 400
    assert set(answer.json()) == {"message", "detail"}


def test_the_client_raises_what_it_raises_for_deepl(guarded: LiveServer, new_key: Callable[..., str]) -> None:
    def translate(key: str, text: str = CANARY, target_lang: str = "FR") -> Any:
        client = deepl.DeepLClient(key, server_url=guarded.url)
        try:
            return client.translate_text(text, target_lang=target_lang)
        finally:
            client.close()

    assert str(translate(new_key(), "one two")) == "owt eno"
    with pytest.raises(deepl.AuthorizationException, match="DeepL-Auth-Key KEY") as unknown:
        translate("nobody's")
    with pytest.raises(deepl.QuotaExceededException, match="10 characters a month") as quota:
        translate(new_key(characters_per_month=10))
    limited = new_key(requests_per_minute=1)
    translate(limited, "one")
    with pytest.raises(deepl.TooManyRequestsException, match="1 requests a minute") as rate:
        translate(limited)
    with pytest.raises(deepl.DeepLException, match="DE is not supported") as language:
        translate(new_key(), target_lang="DE")
    with pytest.raises(deepl.DeepLException, match="limit is 20000") as size:
        translate(new_key(), CANARY * 2000)
    statuses = [error.value.http_status_code for error in (unknown, quota, rate, language, size)]
    assert statuses == [403, 456, 429, 400, 413]
    for error in (unknown, quota, rate, language, size):
        assert CANARY not in str(error.value)


def test_too_much_that_waits_is_529_and_a_body_too_large_413() -> None:
    with running(WillingTranslator(), queue_max_requests=1, queue_max_tokens=1, max_body_bytes=1000) as live:
        live.translator.gate.clear()
        body = {"text": ["one two three"], "target_lang": "FR"}
        with live.client() as http:
            import threading

            first = threading.Thread(target=lambda: ask(live, json=body))
            first.start()
            assert live.translator.entered.wait(10)
            full = http.post("/v2/translate", json=body)
            live.translator.gate.set()
            first.join(10)
        large = ask(live, json={**body, "text": ["x" * 2000]})

        assert full.status_code == 529
        assert full.json()["message"] == "Too many requests"
        assert int(full.headers["retry-after"]) >= 1
        assert large.status_code == 413
        assert set(large.json()) == {"message", "detail"}


def test_an_error_that_nobody_foresaw_has_the_shape_too() -> None:
    with running(WillingTranslator(failure=ValueError)) as live:
        answer = ask(live, json={"text": [CANARY], "target_lang": "FR"})

        assert answer.status_code == 500
        assert set(answer.json()) == {"message", "detail"}
        assert CANARY not in answer.text


def test_what_this_server_does_not_do_is_not_found(client: deepl.DeepLClient) -> None:
    with pytest.raises(deepl.DeepLException, match="no such part of DeepL's API") as error:
        client._raise_for_status(*client._api_call("v3/nothing", method="GET"), glossary=False)
    assert error.value.http_status_code == 404


@pytest.mark.parametrize("how", ["form", "json", "query"])
def test_a_key_in_the_body_of_an_older_client_is_taken(
    guarded: LiveServer, new_key: Callable[..., str], how: str
) -> None:
    def send(key: str | None) -> httpx.Response:
        fields = {"text": "one two", "target_lang": "FR"}
        own = {} if key is None else {"auth_key": key}
        if how == "json":
            return ask(guarded, json={**fields, **own})
        return (
            ask(guarded, data={**fields, **own}) if how == "form" else ask(guarded, data=fields, params=own)
        )

    answer = send(new_key())

    assert answer.json()["translations"][0]["text"] == "owt eno"
    assert [send(key).status_code for key in (None, "nobody's", "")] == [403, 403, 403]


def test_a_key_in_the_query_opens_what_is_only_read(guarded: LiveServer, new_key: Callable[..., str]) -> None:
    with guarded.client() as http:
        statuses = [
            http.get("/v2/usage", params=params).status_code
            for params in ({"auth_key": new_key()}, {"auth_key": "nobody's"}, {})
        ]

    assert statuses == [200, 403, 403]

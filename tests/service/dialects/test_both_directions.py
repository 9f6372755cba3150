"""The real clients of DeepL and LibreTranslate against a server of both directions."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import deepl
import httpx
import pytest
from deepl.api_data import MultilingualGlossaryDictionaryEntries
from libretranslatepy import LibreTranslateAPI

from testbed.stub import backwards
from tests.service.conftest import LiveServer
from tests.service.dialects.conftest import WillingTranslator
from tests.service.two_ways import ShoutingTranslator, both_ways

ENGLISH = "The meeting was moved to Friday afternoon."
FRENCH = "La réunion a été déplacée à vendredi après-midi."


@pytest.fixture(scope="module")
def both() -> Iterator[LiveServer]:
    english, french = WillingTranslator(), ShoutingTranslator()
    english.has_formality = True
    with both_ways(english, french) as live:
        live.other = french  # type: ignore[attr-defined]
        yield live


@pytest.fixture
def client(both: LiveServer) -> Iterator[deepl.DeepLClient]:
    made = deepl.DeepLClient("any", server_url=both.url)
    yield made
    made.close()


@pytest.fixture
def libre(both: LiveServer) -> LibreTranslateAPI:
    return LibreTranslateAPI(f"{both.url}/libretranslate/", "any")


@pytest.mark.parametrize("target", ["EN-GB", "EN-US"])
@pytest.mark.parametrize("source", ["FR", None])
def test_deepl_translates_to_english(client: deepl.DeepLClient, source: str | None, target: str) -> None:
    result = client.translate_text(FRENCH, source_lang=source, target_lang=target)

    assert isinstance(result, deepl.TextResult)
    assert (result.text, result.detected_source_lang) == (backwards(FRENCH).upper(), "FR")


@pytest.mark.parametrize("source", ["EN", "en-GB", None])
def test_deepl_translates_to_french(client: deepl.DeepLClient, source: str | None) -> None:
    results = client.translate_text([ENGLISH, "one two"], source_lang=source, target_lang="FR")

    assert [result.text for result in results] == [backwards(ENGLISH), "owt eno"]  # type: ignore[union-attr]


def test_plain_en_is_a_target_too(both: LiveServer) -> None:
    with both.client() as http:
        answer = http.post("/v2/translate", json={"text": ["un"], "target_lang": "EN"}).json()

    assert answer["translations"][0]["text"] == "NU"


def test_deepl_translates_markup_and_documents_to_english(client: deepl.DeepLClient) -> None:
    markup = client.translate_text("<p>un</p>", target_lang="EN-US", tag_handling="html")
    assert markup.text == "<p>NU</p>"  # type: ignore[union-attr]
    for source in ("FR", None):
        written = io.BytesIO()
        client.translate_document(
            FRENCH.encode(), written, filename="a.txt", source_lang=source, target_lang="EN-GB"
        )
        assert written.getvalue().decode() == backwards(FRENCH).upper()


def test_languages_of_deepl_are_those_of_both_directions(client: deepl.DeepLClient) -> None:
    assert [language.code for language in client.get_source_languages()] == ["EN", "FR"]
    targets = {language.code: language.supports_formality for language in client.get_target_languages()}
    assert targets == {"FR": True, "EN-GB": False, "EN-US": False}
    pairs = [(pair.source_lang, pair.target_lang) for pair in client.get_glossary_languages()]
    assert pairs == [("en", "fr"), ("fr", "en")]


def test_formality_is_refused_where_the_target_has_none_unless_it_is_but_preferred(
    both: LiveServer, client: deepl.DeepLClient
) -> None:
    with pytest.raises(deepl.DeepLException, match="Formality: target_lang EN has none"):
        client.translate_text("un", target_lang="EN-US", formality="more")
    client.translate_text("un", target_lang="EN-US", formality="prefer_less")
    assert both.other.wishes[-1] == {"confidence": False}  # type: ignore[attr-defined]
    client.translate_text("one", target_lang="FR", formality="more")
    assert both.translator.wishes[-1] == {"formality": "formal", "confidence": False}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"target_lang": "DE"},
            "target_lang: DE is not supported; this server has EN, EN-GB, EN-US, FR, FR-FR",
        ),
        (
            {"source_lang": "DE", "target_lang": "FR"},
            "source_lang: DE is not supported; this server has EN, FR",
        ),
        ({"source_lang": "EN", "target_lang": "EN-GB"}, "this server has EN to FR, FR to EN"),
    ],
)
def test_a_pair_that_is_not_there_is_refused_with_those_that_are(
    both: LiveServer, asked: dict[str, str], said: str
) -> None:
    with both.client() as http:
        answer = http.post("/v2/translate", json={"text": ["x"], **asked})

    assert answer.status_code == 400
    assert said.lower() in answer.json()["detail"].lower()


def test_a_glossary_of_either_direction_serves_its_direction_only(
    both: LiveServer, client: deepl.DeepLClient
) -> None:
    to_english = client.create_glossary("g", "FR", "EN-GB", {"chat": "cat"})
    to_french = client.create_glossary("g", "EN", "FR", {"cat": "chat"})

    assert (to_english.source_lang, to_english.target_lang) == ("FR", "EN")
    client.translate_text("un chat", source_lang="FR", target_lang="EN-US", glossary=to_english)
    assert terms(both.other.wishes[-1]) == {"chat": "cat"}  # type: ignore[attr-defined]
    client.translate_text("a cat", source_lang="EN", target_lang="FR", glossary=to_french)
    assert terms(both.translator.wishes[-1]) == {"cat": "chat"}
    with both.client() as http:
        body = {
            "text": ["x"],
            "source_lang": "EN",
            "target_lang": "FR",
            "glossary_id": to_english.glossary_id,
        }
        answer = http.post("/v2/translate", json=body)
    assert answer.status_code == 400
    assert answer.json()["detail"] == "glossary_id: the glossary has no dictionary from EN to FR."


def terms(wishes: dict[str, Any]) -> dict[str, str]:
    return {term.source: term.target for term in wishes["glossary"].terms}


def dictionary(source: str, target: str, entries: dict[str, str]) -> Any:
    return MultilingualGlossaryDictionaryEntries(source, target, entries)


def test_a_multilingual_glossary_has_a_dictionary_for_each_direction(
    both: LiveServer, client: deepl.DeepLClient
) -> None:
    made = client.create_multilingual_glossary(
        "Pets", [dictionary("EN", "FR", {"cat": "chat"}), dictionary("FR", "EN", {"chien": "dog"})]
    )

    def counts() -> dict[str, int]:
        found = client.get_multilingual_glossary(made.glossary_id).dictionaries
        return {f"{one.source_lang}-{one.target_lang}": one.entry_count for one in found}

    assert counts() == {"EN-FR": 1, "FR-EN": 1}
    client.translate_text("x", source_lang="FR", target_lang="EN-GB", glossary=made)
    assert terms(both.other.wishes[-1]) == {"chien": "dog"}  # type: ignore[attr-defined]
    client.translate_text("x", source_lang="EN", target_lang="FR", glossary=made)
    assert terms(both.translator.wishes[-1]) == {"cat": "chat"}

    client.update_multilingual_glossary_dictionary(made, dictionary("FR", "EN", {"lapin": "rabbit"}))
    assert counts() == {"EN-FR": 1, "FR-EN": 2}
    entries = client.get_multilingual_glossary_entries(made, "FR", "EN").dictionaries[0].entries
    assert entries == "chien\tdog\nlapin\trabbit"
    client.replace_multilingual_glossary_dictionary(made, dictionary("FR", "EN", {"a": "b"}))
    client.delete_multilingual_glossary_dictionary(made, source_lang="EN", target_lang="FR")
    assert counts() == {"FR-EN": 1}
    client.replace_multilingual_glossary_dictionary(made, dictionary("EN", "FR", {"c": "d"}))
    client.delete_multilingual_glossary_dictionary(made, source_lang="FR", target_lang="EN")
    assert counts() == {"EN-FR": 1}
    with pytest.raises(deepl.DeepLException, match="two are of the same languages"):
        client.create_multilingual_glossary("Pets", [dictionary("EN", "FR", {"a": "b"})] * 2)
    client.delete_multilingual_glossary(made)


def test_libretranslate_translates_both_ways(both: LiveServer, libre: LibreTranslateAPI) -> None:
    assert libre.translate(FRENCH, "fr", "en") == backwards(FRENCH).upper()
    assert libre.translate(ENGLISH, "en", "fr") == backwards(ENGLISH)
    assert libre.translate(FRENCH, "auto", "en") == backwards(FRENCH).upper()
    with both.client() as http:
        body = {"q": FRENCH, "source": "auto", "target": "en"}
        answer = http.post("/libretranslate/translate", json=body).json()
    assert answer["detectedLanguage"]["language"] == "fr"


def test_libretranslate_lists_languages_with_their_targets(
    libre: LibreTranslateAPI, both: LiveServer
) -> None:
    assert [(one["code"], one["targets"]) for one in libre.languages()] == [("en", ["fr"]), ("fr", ["en"])]
    with both.client() as http:
        settings = http.get("/libretranslate/frontend/settings").json()["language"]
    assert (settings["source"]["code"], settings["target"]["code"]) == ("auto", "fr")


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("en", "en", "Target: not supported from this source; this server has en to fr, fr to en."),
        ("de", "en", "Source: de is not supported; this server has en and fr and auto."),
        ("fr", "de", "Target: de is not supported; this server has fr and en."),
    ],
)
def test_libretranslate_refuses_a_pair_that_is_not_there(
    both: LiveServer, source: str, target: str, said: str
) -> None:
    body = {"q": "x", "source": source, "target": target}
    answer = httpx.post(f"{both.url}/libretranslate/translate", json=body, trust_env=False)

    assert (answer.status_code, answer.json()) == (400, {"error": said})


@pytest.mark.parametrize("source", ["fr", "auto"])
def test_libretranslate_translates_a_file_to_english(both: LiveServer, source: str) -> None:
    with both.client() as http:
        sent = http.post(
            "/libretranslate/translate_file",
            data={"source": source, "target": "en"},
            files={"file": ("a.txt", FRENCH.encode())},
        )
        address = sent.json()["translatedFileUrl"]
        assert address.endswith("/a.en.txt")
        assert http.get(address).text == backwards(FRENCH).upper()


def test_the_context_reaches_the_translator_of_texts_and_documents(both: LiveServer) -> None:
    client = deepl.DeepLClient("any", server_url=both.url)
    client.translate_text("one two", source_lang="EN", target_lang="FR", context="Hey mate!")
    of_text = both.translator.wishes[-1]  # type: ignore[attr-defined]
    client.translate_document(
        "Are you there?\n\nIt is yours.", io.BytesIO(), filename="a.txt", target_lang="FR"
    )
    of_document = both.translator.wishes[-1]  # type: ignore[attr-defined]
    with pytest.raises(deepl.DeepLException, match="Context has 20001"):
        client.translate_text("one", source_lang="EN", target_lang="FR", context="x" * 20_001)
    client.close()

    assert of_text == {"context": "Hey mate!", "confidence": False}
    assert of_document["context"] == "Are you there?\nIt is yours."

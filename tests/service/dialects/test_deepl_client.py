"""Every call of DeepL's own client, as its own tests make them, in languages that are here.

Its tests are not in the package, and cannot run as they stand: nearly all translate to German, Portuguese or
Japanese. So their calls are made here from English to French and back. Left out:

- retries, time limits, proxies, limits of a session (test_general.py, test_translate_document.py, marked
  ``needs_mock_server``): DeepL's mock server fails on demand for them;
- test_cli.py, test_util.py, test_async.py: the client's own parts, not the server's;
- test_rephrase_text.py, test_style_rules.py: not here, and refused by name below.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Iterator
from typing import Any

import deepl
import pytest
from deepl.api_data import MultilingualGlossaryDictionaryEntries as Dictionary

from tests.service.conftest import LiveServer
from tests.service.dialects.conftest import WillingTranslator
from tests.service.two_ways import ShoutingTranslator, both_ways

HTML = "\n<!DOCTYPE html>\n<html>\n   <body>\n       <p>one two</p>\n   </body>\n</html>\n"
ODD_TERMS = {"Apple": "Pomme", "A%=&": "B&=%", "\u0394\u3041": "\u6df1", "\U0001faa8": "\U0001fab5"}
NOBODYS = "96ab91fd-e715-41a1-adeb-5d701f84a483"


@pytest.fixture(scope="module")
def both() -> Iterator[LiveServer]:
    english = WillingTranslator()
    english.has_formality = True
    with both_ways(english, ShoutingTranslator()) as live:
        yield live


@pytest.fixture
def client(both: LiveServer) -> Iterator[deepl.DeepLClient]:
    made = deepl.DeepLClient("any", server_url=both.url)
    yield made
    made.close()


@pytest.mark.parametrize(
    "options",
    [
        {"source_lang": "en"},
        {"source_lang": "En", "formality": "Less"},
        {"formality": deepl.Formality.PREFER_MORE},
        {"context": "about numbers"},
        {"preserve_formatting": True},
        {"model_type": deepl.ModelType.LATENCY_OPTIMIZED},
        {"split_sentences": deepl.SplitSentences.NO_NEWLINES},
        {"extra_body_parameters": {"enable_beta_languages": True}},
    ],
    ids=str,
)
def test_every_option_of_a_text_is_taken(client: deepl.DeepLClient, options: dict[str, Any]) -> None:
    for target in ("FR", "fr", "Fr"):
        assert str(client.translate_text("one two", target_lang=target, **options)) == "owt eno"


@pytest.mark.parametrize("tag_handling", ["html", "xml"])
@pytest.mark.parametrize("version", [None, "v1", "v2"])
def test_a_whole_page_is_html_and_xml(
    client: deepl.DeepLClient, tag_handling: str, version: str | None
) -> None:
    page = client.translate_text(
        HTML, target_lang="FR", tag_handling=tag_handling, tag_handling_version=version
    )

    assert str(page) == HTML.replace("one two", "owt eno")


def test_no_option_of_a_text_is_missing_from_these_tests() -> None:
    """A newer client with more of them is seen here."""
    known = {
        "self", "text", "source_lang", "target_lang", "context", "split_sentences", "preserve_formatting",
        "formality", "glossary", "glossary_ids", "tag_handling", "tag_handling_version", "outline_detection",
        "non_splitting_tags", "splitting_tags", "ignore_tags", "model_type", "style_rule",
        "translation_memory", "translation_memory_threshold", "custom_instructions", "extra_body_parameters",
    }  # fmt: skip

    assert set(inspect.signature(deepl.DeepLClient.translate_text).parameters) == known


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda client: client.rephrase_text("one", target_lang="EN-US"), "rephrases nothing"),
        (lambda client: client.correct_text("one", target_lang="EN-US"), "corrects nothing"),
        (lambda client: client.get_all_style_rules(), "no style rules"),
        (lambda client: client.create_style_rule(name="a", language="en"), "no style rules"),
        (lambda client: client.get_style_rule("a"), "no style rules"),
        (lambda client: client.update_style_rule_name("a", "b"), "no style rules"),
        (lambda client: client.delete_style_rule("a"), "no style rules"),
        (lambda client: client.translate_text("a", target_lang="FR", style_rule="b"), "style_id: "),
        (
            lambda client: client.translate_text("a", target_lang="FR", custom_instructions=["b"]),
            "custom_instructions: ",
        ),
        (lambda client: client.translate_text("a", target_lang="FR", formality="invalid"), "formality: "),
        (
            lambda client: client.translate_text("a", target_lang="EN-US", formality="more"),
            "formality: target_lang EN has none",
        ),
        (
            lambda client: client.translate_text("a", target_lang="FR", split_sentences="x"),
            "split_sentences: ",
        ),
        (lambda client: client.translate_text("a", target_lang="XX"), "target_lang: xx is not supported"),
        (
            lambda client: client.translate_text("a", source_lang="XX", target_lang="FR"),
            "source_lang: xx is not supported",
        ),
        (
            lambda client: client.translate_document(
                "a", io.BytesIO(), filename="document.invalid", target_lang="FR"
            ),
            "file extension",
        ),
    ],
)
def test_what_is_not_here_is_refused_by_name(
    client: deepl.DeepLClient, call: Callable[[deepl.DeepLClient], Any], said: str
) -> None:
    with pytest.raises(deepl.DeepLException) as error:
        call(client)

    assert said.lower() in str(error.value).lower()


def test_glossaries_keep_odd_terms_and_ten_thousand(client: deepl.DeepLClient) -> None:
    many = {f"Source-${number}": f"Target-${number}" for number in range(10_000)}
    for terms in (ODD_TERMS, many):
        made = client.create_glossary("terms", "EN", "FR", terms)
        assert client.get_glossary_entries(made) == terms
        assert client.get_glossary(made.glossary_id).entry_count == len(terms)
        client.delete_glossary(made)


def test_dictionaries_of_a_glossary_are_changed_one_by_one(client: deepl.DeepLClient) -> None:
    there, back = Dictionary("EN", "FR", {"Hello": "Salut"}), Dictionary("FR", "EN", {"Salut": "Hello"})
    made = client.create_multilingual_glossary("terms", [there, back])

    updated = client.update_multilingual_glossary_dictionary(
        made, Dictionary("EN", "FR", {"Hello": "Bonjour", "Apple": "Pomme"})
    )
    assert [(one.source_lang, one.entry_count) for one in updated.dictionaries] == [("EN", 2), ("FR", 1)]
    client.update_multilingual_glossary_dictionary_from_csv(made, "EN", "FR", "Pear,Poire\n")
    [entries] = client.get_multilingual_glossary_entries(made, "EN", "FR").dictionaries
    assert dict(line.split("\t") for line in entries.entries.splitlines()) == {
        "Hello": "Bonjour",
        "Apple": "Pomme",
        "Pear": "Poire",
    }
    assert client.replace_multilingual_glossary_dictionary(made, there).entry_count == 1
    client.delete_multilingual_glossary_dictionary(made, dictionary=there)
    [left] = client.get_multilingual_glossary(made.glossary_id).dictionaries
    assert (left.source_lang, left.target_lang) == ("FR", "EN")
    assert client.update_multilingual_glossary_name(made, "others").name == "others"
    client.delete_multilingual_glossary(made)
    for glossary in (made.glossary_id, NOBODYS, "invalid_glossary_id"):
        with pytest.raises(deepl.GlossaryNotFoundException):
            client.get_multilingual_glossary(glossary)
        with pytest.raises(deepl.GlossaryNotFoundException):
            client.delete_multilingual_glossary_dictionary(glossary, source_lang="EN", target_lang="FR")


def test_a_document_is_asked_for_step_by_step(client: deepl.DeepLClient) -> None:
    handle = client.translate_document_upload(
        "one two", target_lang="FR", filename="a.txt", output_format="txt"
    )
    again = deepl.DocumentHandle(handle.document_id, handle.document_key)
    status = client.translate_document_wait_until_done(again)
    answer = client.translate_document_download(again)
    assert answer is not None
    content = b"".join(answer.iter_content(chunk_size=3))
    answer.close()

    assert (status.ok, status.done, status.billed_characters) == (True, True, 7)
    assert content == b"owt eno"
    with pytest.raises(deepl.DeepLException, match="Not found"):
        client.translate_document_get_status(deepl.DocumentHandle("12AB" * 8, "CD34" * 16))


def test_usage_and_languages_are_as_the_client_wants_them(client: deepl.DeepLClient) -> None:
    usage = client.get_usage()

    assert "Usage this billing period" in str(usage)
    assert usage.character.valid
    assert not usage.any_limit_reached
    assert {one.code: one.name for one in client.get_source_languages()} == {"EN": "English", "FR": "French"}
    assert all(one.supports_formality is None for one in client.get_source_languages())
    assert {one.code: one.supports_formality for one in client.get_target_languages()} == {
        "FR": True,
        "EN-GB": False,
        "EN-US": False,
    }
    assert [(one.source_lang, one.target_lang) for one in client.get_glossary_languages()] == [
        ("en", "fr"),
        ("fr", "en"),
    ]

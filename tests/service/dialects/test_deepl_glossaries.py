"""Glossaries of v2 and v3 through DeepL's own package: made, used, changed, deleted, and nobody else's."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import deepl
import pytest
from deepl.api_data import MultilingualGlossaryDictionaryEntries

from nmt.text.glossary import Term
from tests.service.conftest import LiveServer, running
from tests.service.dialects.conftest import WillingTranslator

CANARY = "xylophonequartz"
ENTRIES = {"network": "réseau", "coffee maker": "cafetière", "US": "USA"}
GIVEN = {"name": "N", "source_lang": "en", "target_lang": "fr", "entries": "a\tb", "entries_format": "tsv"}
UNKNOWN = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def client(guarded: LiveServer, new_key: Callable[..., str]) -> Iterator[deepl.DeepLClient]:
    with_a_key = deepl.DeepLClient(new_key(), server_url=guarded.url)
    yield with_a_key
    with_a_key.close()


def terms_asked(live: LiveServer) -> dict[str, str]:
    """The terms that the translator was asked for at last."""
    terms: tuple[Term, ...] = live.translator.wishes[-1]["glossary"].terms
    return {term.source: term.target for term in terms}


def test_the_one_pair_is_told(client: deepl.DeepLClient) -> None:
    (pair,) = client.get_glossary_languages()

    assert (pair.source_lang, pair.target_lang) == ("en", "fr")


def test_a_glossary_is_made_listed_read_used_and_deleted(
    guarded: LiveServer, client: deepl.DeepLClient
) -> None:
    made = client.create_glossary("Products", "EN-GB", "FR", ENTRIES)

    assert (made.name, made.ready, made.entry_count) == ("Products", True, 3)
    assert (made.source_lang, made.target_lang) == ("EN", "FR")
    assert abs(made.creation_time - datetime.now(UTC)) < timedelta(minutes=1)
    assert [one.glossary_id for one in client.list_glossaries()] == [made.glossary_id]
    assert client.get_glossary(made.glossary_id).name == "Products"
    assert client.get_glossary_entries(made) == ENTRIES
    client.translate_text_with_glossary("The network.", made)
    assert terms_asked(guarded) == ENTRIES
    client.translate_text("The network.", source_lang="EN", target_lang="FR", glossary=made.glossary_id)
    assert terms_asked(guarded) == ENTRIES

    client.delete_glossary(made)

    assert client.list_glossaries() == []
    for call in (client.get_glossary, client.get_glossary_entries, client.delete_glossary):
        with pytest.raises(deepl.GlossaryNotFoundException):
            call(made.glossary_id)
    with pytest.raises(deepl.DeepLException, match="no glossary under this id") as gone:
        client.translate_text("x", source_lang="EN", target_lang="FR", glossary=made)
    assert gone.value.http_status_code == 404


def test_csv_may_quote_and_may_name_languages(client: deepl.DeepLClient) -> None:
    written = io.StringIO()
    rows = [["network", "réseau"], ['a "b", c', "d"], [], ["hello", "bonjour", "en", "fr"]]
    csv.writer(written).writerows(rows)

    made = client.create_glossary_from_csv("From a file", "EN", "FR", "\ufeff" + written.getvalue())

    assert client.get_glossary_entries(made) == {"network": "réseau", 'a "b", c': "d", "hello": "bonjour"}


def test_of_several_glossaries_the_first_that_has_a_term_counts(
    guarded: LiveServer, client: deepl.DeepLClient
) -> None:
    first = client.create_glossary("1", "EN", "FR", {"one": "un", "US": "USA"})
    second = client.create_glossary("2", "EN", "FR", {"One": "une", "two": "deux", "us": "nous"})

    client.translate_text("x", source_lang="EN", target_lang="FR", glossary_ids=[first, second.glossary_id])

    assert terms_asked(guarded) == {"one": "un", "US": "USA", "two": "deux", "us": "nous"}


def test_another_key_sees_none_of_it(
    guarded: LiveServer, client: deepl.DeepLClient, new_key: Callable[..., str]
) -> None:
    made = client.create_glossary("Ours", "EN", "FR", ENTRIES)
    made_v3 = client.create_multilingual_glossary("Ours too", [dictionary(ENTRIES)])
    other = deepl.DeepLClient(new_key(), server_url=guarded.url)

    assert other.list_glossaries() == []
    assert other.list_multilingual_glossaries() == []
    for id_ in (made.glossary_id, made_v3.glossary_id, UNKNOWN, CANARY):
        for call in (
            lambda id_=id_: other.get_glossary(id_),
            lambda id_=id_: other.get_glossary_entries(id_),
            lambda id_=id_: other.delete_glossary(id_),
            lambda id_=id_: other.update_multilingual_glossary_name(id_, "Mine"),
            lambda id_=id_: other.replace_multilingual_glossary_dictionary(id_, dictionary({"a": "b"})),
            lambda id_=id_: other.update_multilingual_glossary_dictionary(id_, dictionary({"a": "b"})),
            lambda id_=id_: other.delete_multilingual_glossary_dictionary(
                id_, source_lang="EN", target_lang="FR"
            ),
            lambda id_=id_: other.get_multilingual_glossary_entries(id_, "EN", "FR"),
        ):
            with pytest.raises(deepl.GlossaryNotFoundException) as error:
                call()
            assert CANARY not in str(error.value)
    assert client.get_glossary_entries(made) == ENTRIES
    other.close()


def dictionary(entries: dict[str, str]) -> Any:
    return MultilingualGlossaryDictionaryEntries("EN", "FR", entries)


def test_a_glossary_of_v3_is_changed_in_every_way_of_the_client(
    guarded: LiveServer, client: deepl.DeepLClient
) -> None:
    made = client.create_multilingual_glossary("Products", [dictionary(ENTRIES)])
    (info,) = made.dictionaries
    assert (info.source_lang, info.target_lang, info.entry_count) == ("EN", "FR", 3)

    def entries() -> dict[str, str]:
        found = client.get_multilingual_glossary_entries(made, "EN", "FR")
        return deepl.util.convert_tsv_to_dict(found.dictionaries[0].entries)  # type: ignore[arg-type]

    assert entries() == ENTRIES
    renamed = client.update_multilingual_glossary_name(made, "Goods")
    assert (renamed.name, renamed.glossary_id) == ("Goods", made.glossary_id)
    client.update_multilingual_glossary_dictionary(made, dictionary({"network": "filet", "new": "neuf"}))
    assert entries() == {**ENTRIES, "network": "filet", "new": "neuf"}
    client.translate_text("x", source_lang="EN", target_lang="FR", glossary=renamed)
    assert terms_asked(guarded)["network"] == "filet"
    replaced = client.replace_multilingual_glossary_dictionary(made, dictionary({"a": "b"}))
    assert replaced.entry_count == 1
    assert entries() == {"a": "b"}
    (listed,) = client.list_multilingual_glossaries()
    assert (listed.name, listed.dictionaries[0].entry_count) == ("Goods", 1)
    client.delete_multilingual_glossary_dictionary(made, source_lang="EN", target_lang="FR")
    assert client.get_multilingual_glossary(made.glossary_id).dictionaries == []
    assert entries() == {}
    client.delete_multilingual_glossary(made)
    assert client.list_multilingual_glossaries() == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"entries": ""}, "entries: a glossary has at least one entry"),
        ({"entries": f"{CANARY}"}, "entries: line 1 has 1 columns"),
        ({"entries": f"a\tb\n\n{CANARY}\tb\tc"}, "entries: line 3 has 3 columns"),
        ({"entries": f"a\t{CANARY}\nA\tc"}, "entries: entry 2"),
        ({"entries": f"a\t \n{CANARY}\tx"}, "entries: entry 1: the target term is blank"),
        ({"entries": f"{CANARY}\u0007\tb"}, "entries: line 1 has a control character"),
        ({"entries_format": "csv", "entries": f'"a\nb",{CANARY}'}, "entries: line 1 has a control character"),
        ({"entries_format": "csv", "entries": f'{CANARY},"{"b" * 140_000}"'}, "entries: this is not CSV"),
        ({"entries_format": CANARY}, "entries_format: input should be"),
        ({"entries": "\n".join(f"a{i}\tb" for i in range(11))}, "the limit is 10"),
        ({"name": " "}, "name"),
        ({"name": None}, "name"),
        ({"source_lang": "FR", "target_lang": "EN"}, "source_lang: FR is not supported"),
        ({"target_lang": "DE"}, "target_lang: DE is not supported"),
        ({CANARY: 1}, "an unknown field"),
    ],
)
def test_a_bad_glossary_is_told_by_line_and_not_repeated(fields: dict[str, Any], said: str) -> None:
    answer = few.client_post("/v2/glossaries", GIVEN | fields)

    assert answer.status_code == 400, answer.text
    assert said.lower() in answer.json()["detail"].lower()
    assert CANARY not in answer.text


class _Few:
    """A server with narrow limits, started when it is first needed."""

    live: LiveServer

    def client_post(self, path: str, body: dict[str, Any]) -> Any:
        with self.live.client() as http:
            return http.post(path, json=body)


few = _Few()


@pytest.fixture(scope="module", autouse=True)
def _few_server() -> Iterator[None]:
    with running(WillingTranslator(), glossary_max_entries=10, glossary_max_count=1) as live:
        few.live = live
        yield


def test_more_glossaries_than_allowed_are_refused_and_a_glossary_needs_a_source_language() -> None:
    made = few.client_post("/v2/glossaries", GIVEN)
    again = few.client_post("/v2/glossaries", GIVEN)
    both = few.client_post("/v3/glossaries", {"name": "N", "dictionaries": []})
    asked = {"text": ["x"], "target_lang": "FR", "glossary_id": made.json()["glossary_id"]}
    without = few.client_post("/v2/translate", asked)

    assert made.status_code == 201
    assert (again.status_code, "delete one first" in again.json()["detail"]) == (400, True)
    assert (both.status_code, both.json()["detail"][:14].lower()) == (400, "dictionaries: ")
    assert (without.status_code, without.json()["detail"][:13].lower()) == (400, "source_lang: ")


def test_dictionaries_of_a_form_are_numbered_as_deepl_node_sends_them(live: LiveServer) -> None:
    first = {"source_lang": "en", "target_lang": "fr", "entries": "one\tun", "entries_format": "tsv"}
    form = {f"dictionaries[0].{name}": value for name, value in first.items()} | {"name": "numbers"}
    with live.client() as client:
        made = client.post("/v3/glossaries", data=form)
        refused = client.post("/v3/glossaries", data={"name": "numbers", "dictionaries[0].entry": "one\tun"})

    assert made.status_code == 201, made.text
    assert [(one["source_lang"], one["entry_count"]) for one in made.json()["dictionaries"]] == [("en", 1)]
    assert refused.status_code == 400
    assert refused.json()["detail"].startswith("Dictionaries.0: field required")

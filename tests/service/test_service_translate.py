"""``POST /translate`` on a real server: what it answers, and that nothing is lost on the way."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testbed.stub import SHARE, StubTranslator, backwards
from tests.service.conftest import LiveServer, running

TEXT = "one two three\n\nfour five"


def translated(live: LiveServer, **body: object) -> dict:
    response = live.post({"text": TEXT, **body})
    assert response.status_code == 200, response.text
    (translation,) = response.json()["translations"]
    return translation


def test_one_text_gives_one_translation_and_the_model(live: LiveServer) -> None:
    body = live.post({"text": "hello world"}).json()

    assert body["model"] == "stub"
    assert [t["text"] for t in body["translations"]] == ["dlrow olleh"]


def test_a_list_gives_its_translations_in_order(live: LiveServer) -> None:
    texts = ["abc", "", "  \n ", "def ghi"]

    body = live.post({"text": texts}).json()

    assert [t["text"] for t in body["translations"]] == [backwards(text) for text in texts]
    assert len({t["id"] for t in body["translations"]}) == 4


def test_without_alignment_there_are_neither_tokens_nor_links(live: LiveServer) -> None:
    translation = translated(live)

    assert translation["source_tokens"] is translation["target_tokens"] is translation["links"] is None
    assert [s["attention"] for s in translation["sentences"]] == [None, None]


def test_spans_and_tokens_name_the_characters_of_the_whole_texts(live: LiveServer) -> None:
    translation = translated(live, alignment="links")

    result = translation["text"]
    assert [TEXT[s["source"]["start"] : s["source"]["end"]] for s in translation["sentences"]] == [
        "one two three",
        "four five",
    ]
    assert [result[s["target"]["start"] : s["target"]["end"]] for s in translation["sentences"]] == [
        "eerht owt eno",
        "evif ruof",
    ]
    for side, text in (("source_tokens", TEXT), ("target_tokens", result)):
        assert [text[t["start"] : t["end"]] for t in translation[side]] == [
            t["text"] for t in translation[side]
        ]
    assert translation["sentences"][1]["source_tokens"] == {"start": 3, "end": 5}


def test_links_join_the_words_that_belong_together(live: LiveServer) -> None:
    translation = translated(live, alignment="links")

    pairs = {
        (translation["source_tokens"][k["source"]]["text"], translation["target_tokens"][k["target"]]["text"])
        for k in translation["links"]
    }
    assert pairs == {(word, word[::-1]) for word in TEXT.split()}
    assert all(k["score"] == SHARE for k in translation["links"])
    assert [s["attention"] for s in translation["sentences"]] == [None, None]


def test_soft_alignment_gives_a_matrix_for_each_sentence(live: LiveServer) -> None:
    translation = translated(live, alignment="soft")

    matrices = [s["attention"] for s in translation["sentences"]]
    assert [(len(m), len(m[0])) for m in matrices] == [(3, 3), (2, 2)]
    assert matrices[0][0] == [0.1, 0.1, 0.8]
    assert all(sum(row) == pytest.approx(1, abs=1e-3) for m in matrices for row in m)


def test_alternatives_come_when_asked_for(live: LiveServer) -> None:
    assert translated(live)["alternatives"] == []
    alternatives = translated(live, n_best=3)["alternatives"]
    assert [a["text"] for a in alternatives] == [backwards(TEXT) + " ?" * rank for rank in range(3)]
    assert alternatives[0]["score"] > alternatives[1]["score"]


def test_each_sentence_has_alternatives_which_are_not_kept_with_the_alignment(live: LiveServer) -> None:
    answer = translated(live, text="one two\nthree", n_best=2, alignment="links")
    found = [[one["text"] for one in sentence["alternatives"]] for sentence in answer["sentences"]]
    assert found == [["owt eno", "owt eno ?"], ["eerht", "eerht ?"]]
    with live.client() as client:
        kept = client.get(f"/translations/{answer['id']}/alignment").json()
    assert [sentence["alternatives"] for sentence in kept["sentences"]] == [[], []]


def test_options_reach_the_translator_over_the_defaults_of_the_model() -> None:
    translator = StubTranslator()
    translator.generation = translator.generation.model_copy(update={"length_normalization": "mean"})
    with running(translator) as live:
        live.post({"text": "a"})
        live.post({"text": "a", "beam_size": 2, "n_best": 2, "length_penalty": 1.5})
        live.post({"text": "a", "n_best": 12})

    default, own, wide = translator.options
    assert default == translator.generation
    assert (own.beam_size, own.n_best, own.length_penalty) == (2, 2, 1.5)
    assert own.length_normalization == "gnmt", "a length penalty has no effect with any other"
    assert (wide.beam_size, wide.n_best) == (12, 12)


def test_answers_are_not_to_be_cached(live: LiveServer) -> None:
    assert live.post({"text": "a"}).headers["cache-control"] == "no-store"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_any_text_comes_back_whole(live: LiveServer, texts: list[str]) -> None:
    response = live.post({"text": texts, "alignment": "soft"})

    assert response.status_code == 200
    translations = response.json()["translations"]
    assert [t["text"] for t in translations] == [backwards(text) for text in texts]
    for text, translation in zip(texts, translations, strict=True):
        assert [text[t["start"] : t["end"]] for t in translation["source_tokens"]] == text.split()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=80) | st.text(alphabet='{}[]",:\\ud80textNaN0', max_size=40).map(str.encode))
def test_no_body_whatever_is_an_error_of_the_server(live: LiveServer, body: bytes) -> None:
    with live.client() as client:
        response = client.post("/translate", content=body, headers={"content-type": "application/json"})

    assert response.status_code in (200, 400, 422)

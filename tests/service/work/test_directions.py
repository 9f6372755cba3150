"""Two models behind one server: who translates what, and that neither waits for or falls with the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from nmt.errors import ConfigError, NumericalError
from service.app import create_app
from service.settings import Settings, load_settings
from testbed.stub import StubTranslator, backwards
from tests.service.conftest import LiveServer, eventually
from tests.service.http.test_problems import assert_problem
from tests.service.two_ways import ShoutingTranslator, both_ways

ENGLISH = "The meeting was moved to Friday afternoon."
FRENCH = "La réunion a été déplacée à vendredi après-midi."
GERMAN = "Die Besprechung wurde auf Freitagnachmittag verschoben."


@pytest.fixture(scope="module")
def live() -> Iterator[LiveServer]:
    with both_ways(StubTranslator(), ShoutingTranslator()) as server:
        yield server


def direction(live: LiveServer, text: Any, **body: Any) -> tuple[str, str, str]:
    response = live.post({"text": text, **body})
    assert response.status_code == 200, response.text
    answer = response.json()
    shouted = answer["translations"][0]["text"].isupper()
    assert shouted == (answer["model"] == "shout"), "the model that is named has answered"
    return answer["source"], answer["target"], answer["model"]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (ENGLISH, {}),
        (ENGLISH, {"source": "auto"}),
        (ENGLISH, {"source": "en"}),
        (ENGLISH, {"target": "fr"}),
        (FRENCH, {"source": "en", "target": "fr"}),
        (FRENCH, {"target": "fr"}),
        ("Menu", {}),
        (GERMAN, {}),
        ("12:30", {}),
        (" ", {}),
    ],
)
def test_english_to_french_is_what_an_earlier_client_gets(
    live: LiveServer, text: str, asked: dict[str, str]
) -> None:
    assert direction(live, text or "x", **asked) == ("en", "fr", "stub")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (FRENCH, {}),
        (FRENCH, {"source": "auto"}),
        ("Bonjour", {}),
        (FRENCH, {"source": "fr"}),
        ("Menu", {"source": "fr"}),
        (ENGLISH, {"target": "en"}),
        (FRENCH, {"source": "fr", "target": "en"}),
    ],
)
def test_french_to_english_is_chosen_by_what_is_asked_or_else_by_the_text(
    live: LiveServer, text: str, asked: dict[str, str]
) -> None:
    assert direction(live, text, **asked) == ("fr", "en", "shout")


def test_all_texts_of_a_request_go_one_way_and_those_of_another_language_are_flagged(
    live: LiveServer,
) -> None:
    answer = live.post({"text": [FRENCH, FRENCH, "Good morning to all of you, my friends."]}).json()

    assert (answer["source"], answer["target"]) == ("fr", "en")
    flags = [[flag["kind"] for flag in one["flags"]] for one in answer["translations"]]
    assert flags == [[], [], ["wrong_source_language"]]


@pytest.mark.parametrize("asked", [{"target": "de"}, {"source": "de"}, {"source": "fr", "target": "fr"}])
def test_a_pair_that_nobody_serves_is_refused_with_those_that_there_are(
    live: LiveServer, asked: dict[str, str]
) -> None:
    problem = live.post({"text": ENGLISH, **asked})

    assert_problem(problem, 422, "unsupported-language")
    assert "from en to fr and from fr to en only" in problem.json()["detail"]


def test_languages_tell_both_pairs_the_default_first(live: LiveServer) -> None:
    with live.client() as http:
        body = http.get("/languages").json()

    pairs = [(pair["source"], pair["target"], pair["model"]) for pair in body["pairs"]]
    assert pairs == [("en", "fr", "stub"), ("fr", "en", "shout")]
    assert [language["code"] for language in body["languages"]] == ["en", "fr"]
    assert body["model"] == "stub"


def test_alignments_alternatives_and_streams_are_of_their_direction(live: LiveServer) -> None:
    asked = {"text": "un deux\ntrois", "source": "fr", "alignment": "links", "n_best": 2}
    [translation] = live.post(asked).json()["translations"]

    assert len(translation["links"]) == 3
    assert [one["text"] for one in translation["alternatives"]] == ["xued nu\nsiort", "xued nu\nsiort ?"]
    with live.client() as http:
        kept = http.get(f"/translations/{translation['id']}/alignment", params={"format": "pharaoh"})
        assert kept.text == "0-1 1-0\n0-0\n"
        with http.stream("POST", "/translate", json=asked, headers={"Accept": "text/event-stream"}) as answer:
            events = [line.removeprefix("event: ") for line in answer.iter_lines() if line[:6] == "event:"]
    assert events == ["sentence", "sentence", "done"]


def test_markup_goes_the_way_that_is_asked(live: LiveServer) -> None:
    answer = live.post({"text": "<p>un <b>deux</b></p>", "markup": "html", "target": "en"}).json()

    assert (answer["model"], answer["source"]) == ("shout", "fr")
    assert "XUED" in answer["translations"][0]["text"].upper()


@pytest.mark.parametrize(
    ("asked", "content", "name"),
    [
        ({}, FRENCH, "a.en.txt"),
        ({"source": "fr"}, "un deux", "a.en.txt"),
        ({"target": "en"}, "un deux", "a.en.txt"),
        ({}, ENGLISH, "a.fr.txt"),
        ({"target": "fr"}, FRENCH, "a.fr.txt"),
    ],
)
def test_documents_go_by_what_is_asked_or_else_by_their_text(
    live: LiveServer, asked: dict[str, str], content: str, name: str
) -> None:
    headers = {"Content-Type": "application/octet-stream"}
    with live.client() as http:
        sent = http.post("/documents", params={"name": "a.txt", **asked}, content=content, headers=headers)
        path = f"/documents/{sent.json()['id']}"
        eventually(lambda: http.get(path).json()["status"] == "done")

        assert http.get(path).json()["name"] == name
        result = http.get(f"{path}/content").text
    assert result == (backwards(content).upper() if name == "a.en.txt" else backwards(content))


def test_a_document_that_nobody_can_translate_is_refused(live: LiveServer) -> None:
    headers = {"Content-Type": "application/octet-stream"}
    with live.client() as http:
        answer = http.post("/documents?name=a.txt&target=de", content=b"x", headers=headers)

    assert_problem(answer, 422, "unsupported-language")


def test_a_busy_direction_holds_up_no_other() -> None:
    english = StubTranslator()
    with both_ways(english, ShoutingTranslator(), queue_max_requests=1) as live:
        english.gate.clear()
        for n in range(2):
            threading.Thread(target=live.post, args=({"text": "one", "source": "en"},), daemon=True).start()
            eventually(lambda n=n: english.entered.is_set() and waiting(live) == n)
        full = live.post({"text": "one", "source": "en"})

        assert direction(live, "un", source="fr")[2] == "shout"
        assert_problem(full, 429, "queue-full")
        assert gauge(live, "passerelle_queue_requests", "en-fr") == 1
        assert gauge(live, "passerelle_queue_requests", "fr-en") == 0
        english.gate.set()


def waiting(live: LiveServer) -> int:
    return live.scheduler.n_waiting


def gauge(live: LiveServer, name: str, pair: str) -> float | None:
    return live.service.metrics.registry.get_sample_value(name, {"direction": pair})


def test_a_model_that_fails_fails_its_own_requests_only() -> None:
    def failure(_: str) -> Exception:
        return NumericalError("NaN")

    with both_ways(StubTranslator(), ShoutingTranslator(failure=failure)) as live:
        assert_problem(live.post({"text": "un", "source": "fr"}), 500, "internal-error")
        assert direction(live, "one", source="en")[2] == "stub"


def test_the_server_is_ready_when_both_models_are_and_not_when_one_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with both_ways(StubTranslator(), ShoutingTranslator()) as live, live.client() as http:
        eventually(lambda: http.get("/health/ready").status_code == 200)
        for one in live.service.directions:
            with monkeypatch.context() as patch:
                patch.setattr(one.engine, "is_ready", lambda _: False)
                assert http.get("/health/ready").status_code == 503
                assert {direction(live, "x", source=code)[2] for code in ("en", "fr")} == {"stub", "shout"}
        assert http.get("/health/ready").status_code == 200


def test_stopping_finishes_what_both_directions_have_taken() -> None:
    english, french = StubTranslator(), ShoutingTranslator()
    answers: dict[str, int] = {}

    def ask(language: str) -> None:
        answers[language] = live.post({"text": "one", "source": language}).status_code

    with both_ways(english, french) as live:
        for translator in (english, french):
            translator.gate.clear()
        asking = [threading.Thread(target=ask, args=(language,)) for language in ("en", "fr")]
        for thread in asking:
            thread.start()
        eventually(lambda: english.entered.is_set() and french.entered.is_set())
        live.server.should_exit = True
        for translator in (english, french):
            translator.gate.set()
        for thread in asking:
            thread.join(20)

    assert answers == {"en": 200, "fr": 200}


def test_two_models_of_one_direction_are_refused() -> None:
    with pytest.raises(ConfigError, match="the models stub and stub both translate en to fr; name one"):
        create_app(Settings(), [StubTranslator(), StubTranslator()])


def test_models_are_a_list_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().models == ()
    monkeypatch.setenv("PASSERELLE_MODELS", "general, runs/mine/model,")
    assert load_settings().models == ("general", "runs/mine/model")


def test_the_openapi_example_has_both_pairs(live: LiveServer) -> None:
    with live.client() as http:
        example = http.get("/openapi.json").json()["components"]["schemas"]["LanguagesAnswer"]["examples"][0]

    assert [f"{pair['source']}-{pair['target']}" for pair in example["pairs"]] == ["en-fr", "fr-en"]

"""``POST /check`` on a real server: the findings of ``nmt check``, and bad input refused by name."""

from __future__ import annotations

import json
from typing import Any, get_args

import httpx
import pytest
from typer.testing import CliRunner

from nmt.cli import app
from nmt.pipeline.check import CHECK_KINDS
from service.schemas import FindingOut
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer, running
from tests.service.http.test_problems import CANARY, assert_problem

WRONG = {
    "source": "I did not pay $1,250.00 (in cash).",
    "translation": "J'ai payé payé 1 250 000 $.",
}


def check(live: LiveServer, body: Any, **options: Any) -> httpx.Response:
    with live.client() as client:
        return client.post("/check", json=body, **options)


def test_what_is_wrong_is_named(live: LiveServer) -> None:
    response = check(live, WRONG)

    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"
    kinds = {finding["kind"] for finding in response.json()["findings"]}
    assert kinds == {"number", "negation", "doubled_word", "punctuation"}
    assert {"kind": "number", "detail": "1,250.00 is missing"} in response.json()["findings"]


def test_a_right_translation_has_no_findings_in_either_direction(live: LiveServer) -> None:
    pair = {"source": "It costs $1,250.00.", "translation": "Cela coûte 1 250,00 $."}
    assert check(live, pair).json() == {"findings": []}
    other = {"source": pair["translation"], "translation": pair["source"]}
    languages = {"source_language": "fr", "target_language": "en"}
    assert check(live, other | languages).json() == {"findings": []}


def test_the_findings_are_those_of_the_command_line(live: LiveServer) -> None:
    result = CliRunner().invoke(app, ["check", "--json", WRONG["source"], WRONG["translation"]])

    assert result.exit_code == 1
    assert json.loads(result.stdout)["problems"] == check(live, WRONG).json()["findings"]


def test_terms_are_checked(live: LiveServer) -> None:
    body = {"source": "The cats are here.", "translation": "Les minous sont ici."}
    glossary = [{"source": "cats", "target": "chats"}]

    assert check(live, body).json()["findings"] == []
    (finding,) = check(live, body | {"glossary": glossary}).json()["findings"]
    assert finding == {"kind": "term", "detail": "cats: chats is missing"}


def test_several_texts_are_compared_with_each_other(live: LiveServer) -> None:
    body = {
        "source": ["Save", "12 dogs", "Save", "Save"],
        "translation": ["Enregistrer", "Des chiens", "Sauver", "Enregistrer"],
    }

    assert check(live, body).json()["findings"] == [
        {"kind": "number", "detail": "12 is missing", "text": 1},
        {"kind": "inconsistent_term", "detail": "Save: Sauver, elsewhere Enregistrer", "text": 2},
    ]
    assert check(live, {"source": [], "translation": []}).json() == {"findings": []}


def test_the_model_is_not_asked_and_nothing_is_charged(live: LiveServer) -> None:
    with live.client() as client:
        before = client.get("/usage").json()["characters"]
        n_calls = len(live.translator.calls)
        client.post("/check", json=WRONG).raise_for_status()

        assert client.get("/usage").json()["characters"] == before
    assert len(live.translator.calls) == n_calls


@pytest.mark.parametrize(
    ("change", "status", "kind", "told"),
    [
        ({"translation": None}, 422, "invalid-request", "body.translation"),
        ({"source": [CANARY]}, 422, "invalid-input", "one is a text, the other a list"),
        ({"source": ["a", "b"], "translation": ["a"]}, 422, "invalid-input", "has 2 texts, translation 1"),
        ({"source": ["a"] * 4, "translation": ["a"] * 4}, 413, "text-too-long", "4 texts"),
        (
            {"source": ["a" * 30] * 2, "translation": ["a"] * 2},
            413,
            "text-too-long",
            "60 characters",
        ),
        ({"source": 7}, 422, "invalid-request", "body.source"),
        ({"target": "fr"}, 422, "invalid-request", "did you mean 'target_language'?"),
        ({"target_language": CANARY}, 422, "unsupported-language", "en and fr only"),
        ({"target_language": "en"}, 422, "unsupported-language", "one for the source and the other"),
        ({"source_language": "x"}, 422, "invalid-request", "body.source_language"),
        ({"glossary": [{"source": "a", "target": ""}]}, 422, "invalid-request", "body.glossary.0.target"),
        (
            {"glossary": [{"source": "a", "target": "b"}, {"source": "a", "target": "c"}]},
            422,
            "invalid-input",
            "Glossary: entry 2",
        ),
        ({"translation": CANARY * 3}, 413, "text-too-long", "has 45 characters; the limit is 40"),
        ({"source": CANARY * 3}, 413, "text-too-long", "has 45 characters; the limit is 40"),
    ],
)
def test_bad_input_is_refused_with_what_to_do(
    change: dict[str, Any], status: int, kind: str, told: str
) -> None:
    with running(StubTranslator(), max_text_characters=40, max_request_characters=50, max_texts=3) as strict:
        response = check(strict, {"source": "A dog.", "translation": "Un chien."} | change)

    problem = assert_problem(response, status, kind)
    assert told in problem["detail"]


@pytest.mark.parametrize("missing", ["source", "translation"])
def test_a_side_that_is_missing_is_named(live: LiveServer, missing: str) -> None:
    body = {key: value for key, value in WRONG.items() if key != missing}

    assert (
        f"body.{missing}: Field required"
        in assert_problem(check(live, body), 422, "invalid-request")["detail"]
    )


def test_a_body_that_is_no_json_is_refused(live: LiveServer) -> None:
    with live.client() as client:
        assert_problem(client.post("/check", content=b"source=a"), 415, "not-json")
        json_type = {"content-type": "application/json"}
        assert_problem(client.post("/check", content=b"{", headers=json_type), 422, "invalid-request")


def test_the_contract_has_every_kind_of_finding() -> None:
    assert get_args(FindingOut.model_fields["kind"].annotation) == CHECK_KINDS

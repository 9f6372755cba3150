"""OpenAI's API: with its own package, as the tools that translate through it do."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import openai
import pytest

from nmt.batching.events import PartFinished
from nmt.options import TranslationOptions
from nmt.spans import Span
from service.dialects.openai.chat import _Asked, _Writer
from service.dialects.openai.texts import lines
from service.work.scheduler import Job
from testbed.stub import _translate, backwards
from tests.service.conftest import LiveServer, running
from tests.service.dialects.conftest import WillingTranslator
from tests.service.two_ways import ShoutingTranslator, both_ways

CANARY = "xylophonequartz"
FRENCH = "La réunion a été déplacée à vendredi après-midi."


@contextlib.contextmanager
def client_of(live: LiveServer, key: str = "any") -> Iterator[openai.OpenAI]:
    http = live.client()
    with openai.OpenAI(base_url=f"{live.url}/v1", api_key=key, max_retries=0, http_client=http) as made:
        yield made


@pytest.fixture(scope="module")
def both() -> Iterator[LiveServer]:
    with both_ways(WillingTranslator(), ShoutingTranslator()) as live:
        yield live


@pytest.fixture
def client(both: LiveServer) -> Iterator[openai.OpenAI]:
    with client_of(both) as made:
        yield made


def say(client: openai.OpenAI, *messages: tuple[str, str], model: str = "passerelle", **more: Any) -> str:
    sent: Any = [{"role": role, "content": content} for role, content in messages]
    return client.chat.completions.create(model=model, messages=sent, **more).choices[0].message.content or ""


@pytest.mark.parametrize(
    ("model", "messages", "answer"),
    [
        ("passerelle-en-fr", [("user", "one two")], "owt eno"),
        ("passerelle-fr-en", [("user", "un deux")], "XUED NU"),
        ("passerelle:en", [("user", "un deux")], "XUED NU"),
        ("passerelle:en-GB", [("user", "un deux")], "XUED NU"),
        ("shout", [("user", "un deux")], "XUED NU"),
        ("Passerelle-FR-EN", [("system", "Translate to French."), ("user", "un deux")], "XUED NU"),
        ("passerelle", [("system", "Translate from French to English."), ("user", "un deux")], "XUED NU"),
        ("passerelle", [("developer", "into en"), ("user", "un deux")], "XUED NU"),
        ("passerelle", [("user", "Translate to English:\n\nun deux")], "XUED NU"),
        ("passerelle", [("user", "Translate into French: one two")], "owt eno"),
        ("passerelle", [("user", FRENCH)], backwards(FRENCH).upper()),
        ("passerelle-en-fr", [("user", "a"), ("assistant", "b"), ("user", "one two")], "owt eno"),
        ("passerelle-en-fr", [("user", "1. one two\n\n2. three\n- four")], "1. owt eno\n\n2. eerht\n- ruof"),
        ("passerelle-en-fr", [("user", "one\n==WEBLATE_PART==\ntwo")], "eno\n==WEBLATE_PART==\nowt"),
        ("passerelle-en-fr", [("user", '{"a": "one", "b": 2}')], '{"a": "eno", "b": 2}'),
        ("passerelle-en-fr", [("user", " 12 \n")], " 12 \n"),
    ],
)
def test_the_package_translates_the_way_that_model_prompt_or_text_say(
    client: openai.OpenAI, model: str, messages: list[tuple[str, str]], answer: str
) -> None:
    assert say(client, *messages, model=model) == answer


def test_weblates_strings_are_answered_as_a_list_with_its_terms(
    both: LiveServer, client: openai.OpenAI
) -> None:
    strings = [{"source": "one two"}, {"source": "%"}, {"source": "three"}]
    glossary = [{"source": "one", "target": "un"}]
    sent = {"source_language": "en", "target_language": "fr", "glossary": glossary, "strings": strings}

    answer = say(client, ("system", "You are ..."), ("user", json.dumps(sent)))

    assert json.loads(answer) == ["owt eno", "%", "eerht"]
    terms = both.translator.wishes[-1]["glossary"]
    assert [(term.source, term.target) for term in terms.terms] == [("one", "un")]


def test_an_answer_has_what_openais_has(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="passerelle-en-fr",
        messages=[
            {
                "role": "user",
                "content": [{"type": "text", "text": "one two"}, {"type": "text", "text": "three"}],
            }
        ],
        temperature=0.2,
        top_p=1,
        max_tokens=3,
        max_completion_tokens=3,
        presence_penalty=0,
        frequency_penalty=0,
        seed=1,
        stop=["."],
        user="me",
        n=1,
        response_format={"type": "text"},
        logprobs=False,
        tool_choice="none",
        extra_body={"top_k": 5, "enable_thinking": False},
    )

    assert answer.object == "chat.completion"
    assert answer.id.startswith("chatcmpl-")
    assert answer.model == "passerelle-en-fr"
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].message.content == "owt eno\neerht"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (
        3,
        3,
        6,
    )


@pytest.mark.parametrize(
    "content",
    [
        "one two. three\n\n1. four\n",
        "one",
        " \n1. one\n",
        '["one", "two"]',
        "12",
        "Translate to French:\none",
    ],
)
def test_a_stream_is_the_same_in_pieces(client: openai.OpenAI, content: str) -> None:
    whole = say(client, ("user", content), model="passerelle-en-fr")
    chunks = list(
        client.chat.completions.create(
            model="passerelle-en-fr",
            messages=[{"role": "user", "content": content}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )

    *pieces, usage = chunks
    assert "".join(chunk.choices[0].delta.content or "" for chunk in pieces) == whole
    assert pieces[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in pieces] == [None] * (len(pieces) - 1) + ["stop"]
    assert usage.choices == []
    assert usage.usage
    assert len({chunk.id for chunk in chunks}) == 1


def test_lines_are_streamed_one_by_one(both: LiveServer, client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model="passerelle-en-fr",
        messages=[{"role": "user", "content": "1. one\n2. two\n3. three"}],
        stream=True,
    )

    pieces = [chunk.choices[0].delta.content for chunk in stream]

    assert [piece for piece in pieces if piece] == ["1. eno", "\n2. owt", "\n3. eerht"]


@pytest.mark.parametrize(
    ("target", "written"),
    [("fr", "1. A  B\nC D"), ("zh", "1. A  B\nCD")],
)
def test_sentences_of_a_line_are_put_together_as_in_the_whole(target: str, written: str) -> None:
    """The stub has one sentence for each line."""
    taken = lines("1. One.  Two.\nThree. Four.")
    direction: Any = SimpleNamespace(source="en", target=target)
    writer = _Writer(_Asked(taken, Job((), TranslationOptions()), direction))
    places = [(0, 0, 4, "A"), (0, 6, 10, "B"), (1, 0, 6, "C"), (1, 7, 12, "D")]
    parts = [
        writer.part(PartFinished("a", line, 0, 2, Span(start, end), _translate(text, "none", 1)))
        for line, start, end, text in places
    ]

    assert "".join(parts) + writer.rest([_translate("", "none", 1)] * 2) == written


def test_models_are_listed_and_found(client: openai.OpenAI) -> None:
    listed = [model.id for model in client.models.list()]

    assert listed == [
        "passerelle",
        "passerelle:fr",
        "passerelle:en",
        "passerelle-en-fr",
        "passerelle-fr-en",
        "stub",
        "shout",
    ]
    assert client.models.retrieve("passerelle-en-fr").object == "model"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-4")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools: "),
        ({"functions": [{"name": "f"}]}, "functions: "),
        ({"tool_choice": "required"}, "tool_choice: "),
        ({"function_call": {"name": "f"}}, "function_call: "),
        ({"response_format": {"type": "json_object"}}, "response_format: "),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}},
            "response_format: ",
        ),
        ({"n": 2}, "n: "),
        ({"logprobs": True}, "logprobs: "),
        ({"logit_bias": {"1": 2}}, "logit_bias: "),
        ({"modalities": ["text", "audio"], "audio": {"voice": "a", "format": "wav"}}, "audio: "),
        ({"web_search_options": {"user_location": None}}, "web_search_options: "),
        ({"messages": []}, "messages: "),
        ({"messages": [{"role": "system", "content": "Translate to French"}]}, "messages: there is none of"),
        (
            {"messages": [{"role": "user", "content": "Translate to French:"}], "model": "passerelle"},
            "no text after it",
        ),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": CANARY}}]}
                ]
            },
            "no text",
        ),
        (
            {
                "messages": [{"role": "user", "content": f"Translate to German:\n{CANARY}"}],
                "model": "passerelle",
            },
            "translates from en to fr and from fr to en only",
        ),
        ({"messages": CANARY}, "messages: "),
        ({"stream": CANARY}, "stream: "),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    client: openai.OpenAI, more: dict[str, Any], said: str
) -> None:
    asked = {"model": "passerelle-en-fr", "messages": [{"role": "user", "content": CANARY}]} | more
    with pytest.raises(openai.BadRequestError) as error:
        client.post("/chat/completions", body=asked, cast_to=httpx.Response)

    assert said in error.value.message.lower()
    assert CANARY not in error.value.response.text
    body: Any = error.value.body
    assert set(body) == {"message", "type", "param", "code"}
    assert body["type"] == "invalid_request_error"
    if said.endswith(": "):
        assert body["param"] == said[:-2]


def test_a_model_that_is_not_there_is_told_with_those_that_are(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="passerelle-en-fr") as error:
        say(client, ("user", "one"), model=CANARY)

    assert error.value.code == "model_not_found"
    assert CANARY not in error.value.response.text


def test_keys_rates_and_quotas_raise_what_openais_do(
    guarded: LiveServer, new_key: Callable[..., str]
) -> None:
    key = new_key(requests_per_minute=2)

    with client_of(guarded, key) as made:
        assert say(made, ("user", "one two"), model="passerelle-en-fr") == "owt eno"
        assert made.models.list()
    for sent, raised, code in (
        (key, openai.RateLimitError, "rate_limit_exceeded"),
        ("nobody's", openai.AuthenticationError, "invalid_api_key"),
        (new_key(characters_per_month=3), openai.RateLimitError, "insufficient_quota"),
    ):
        with client_of(guarded, sent) as made, pytest.raises(raised) as error:
            say(made, ("user", CANARY), model="passerelle-en-fr")
        assert isinstance(error.value, openai.APIError)
        assert error.value.code == code
        assert CANARY not in str(error.value)


def test_too_long_a_text_and_a_failure_are_told_in_openais_shape() -> None:
    broken = WillingTranslator(failure=lambda _: ValueError(CANARY))
    with running(broken, max_text_characters=10) as live, client_of(live) as made:
        with pytest.raises(openai.BadRequestError) as too_long:
            say(made, ("user", "one two three"))
        with pytest.raises(openai.InternalServerError) as failed:
            say(made, ("user", "one"))
        with pytest.raises(openai.APIError):
            list(
                made.chat.completions.create(
                    model="passerelle", messages=[{"role": "user", "content": "a"}], stream=True
                )
            )

    assert too_long.value.code == "context_length_exceeded"
    assert failed.value.type == "server_error"
    assert CANARY not in failed.value.response.text


def test_pages_of_other_sites_cannot_send_what_needs_no_asking(both: LiveServer) -> None:
    with both.client() as http:
        answer = http.post(
            "/v1/chat/completions", content=b'{"messages": []}', headers={"content-type": "text/plain"}
        )

    assert answer.status_code == 400
    assert "Content-Type: application/json" in answer.json()["error"]["message"]


def test_nothing_under_v1_but_what_there_is(both: LiveServer) -> None:
    with both.client() as http:
        for path in ("completions", "embeddings", "responses"):
            answer = http.post(f"/v1/{path}", json={})
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")

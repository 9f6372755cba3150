"""``/translation-memories`` on a real server with the shipped model: imported, used, and nobody else's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from nmt.translator import Translator
from tests.nmt.memory.test_files import BOMB, TMX
from tests.service.conftest import LiveServer, eventually, running
from tests.service.http.test_problems import assert_problem

FILE = {"content-type": "application/octet-stream"}
TSV = "Open the door.\tOuvrez donc la porte.\nPage 3 of 9\tFolio 3 sur 9\nHe reads the old book.\tIl lit.\n"
ELEVEN = "".join(f"a {n}x\tb\n" for n in range(11))
UNKNOWN = "00000000-0000-0000-0000-000000000000"
LANGUAGES = {"source": "en", "target": "fr"}


@pytest.fixture(scope="module")
def live() -> Iterator[LiveServer]:
    """Needs keys; its limits are low."""
    translator = Translator.load("general", device="cpu")
    translator.warm_up()
    limits: dict[str, Any] = {"memory_max_count": 3, "memory_max_units": 10, "memory_max_bytes": 20_000}
    with running(translator, keys="required", **limits) as server:
        yield server


@pytest.fixture
def new_client(live: LiveServer) -> Iterator[Callable[[], httpx.Client]]:
    made: list[httpx.Client] = []

    def make() -> httpx.Client:
        _, shown = live.service.database.keys.create("team")
        made.append(live.client(headers={"authorization": f"Bearer {shown}"}))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def client(new_client: Callable[[], httpx.Client]) -> httpx.Client:
    return new_client()


def send(client: httpx.Client, data: str | bytes = TSV, **query: str) -> httpx.Response:
    asked = query or {"file": "m.tsv", **LANGUAGES}
    return client.post("/translation-memories", params=asked, content=data, headers=FILE)


def translate(client: httpx.Client, text: str | list[str], memory: str, **fields: Any) -> httpx.Response:
    body = {"text": text, "translation_memory": memory, **LANGUAGES, **fields}
    return client.post("/translate", json=body)


def test_a_memory_is_imported_listed_searched_added_to_exported_and_deleted(client: httpx.Client) -> None:
    made = send(client, TMX, file="legal.tmx", name="Legal", **LANGUAGES)

    assert made.status_code == 201
    memory = made.json()
    assert (memory["name"], memory["source"], memory["target"], memory["units"]) == ("Legal", "en", "fr", 2)
    assert (memory["skipped_languages"], memory["skipped_unfit"]) == (1, 1)
    path = f"/translation-memories/{memory['id']}"
    assert [one["id"] for one in client.get("/translation-memories").json()["memories"]] == [memory["id"]]
    assert client.get(path).json()["units"] == 2
    added = client.post(f"{path}/units", json={"units": [{"source": "Close it", "target": "Fermez-le"}] * 2})
    assert added.json()["units"] == 3
    found = client.post(f"{path}/search", json={"text": "Close that", "threshold": 0.5}).json()["matches"]
    assert [(one["source"], one["score"]) for one in found] == [("Close", 0.5), ("Close it", 0.5)][::-1]
    for kind, media_type in (
        ("tmx", "application/x-tmx+xml"),
        ("tsv", "text/tab"),
        ("xliff", "application/xl"),
    ):
        exported = client.get(f"{path}/export", params={"format": kind})
        assert exported.headers["content-type"].startswith(media_type)
        assert "attachment" in exported.headers["content-disposition"]
        again = send(client, exported.content, file=f"m.{kind}", **LANGUAGES)
        assert again.json()["units"] == 3, again.text
        assert client.delete(f"/translation-memories/{again.json()['id']}").status_code == 204

    assert client.delete(path).status_code == 204
    assert_problem(client.get(path), 404, "no-such-memory")
    assert client.get("/translation-memories").json() == {"memories": []}


def test_a_translation_says_which_unit_was_used_and_its_score(client: httpx.Client) -> None:
    memory = send(client).json()["id"]

    [found] = translate(client, "Page 4 of 12\nHe reads the new book.", memory).json()["translations"]

    lines = found["text"].split("\n")
    assert lines[0] == "Folio 4 sur 12"
    assert "livre" in lines[1]
    exact, fuzzy = found["memory"]
    assert (exact["sentence"], exact["use"], exact["score"]) == (0, "translation", 1)
    assert (exact["source"], exact["target"]) == ("Page 3 of 9", "Folio 4 sur 12")
    assert (fuzzy["sentence"], fuzzy["score"], fuzzy["target"]) == (1, 0.8333, "Il lit.")
    assert fuzzy["use"] in ("suggestion", "repair")
    [strict] = translate(client, "He reads the new book.", memory, threshold=1).json()["translations"]
    assert strict["memory"] == []
    [marked] = translate(client, "<p>Open <b>the door</b>.</p>", memory, markup="html").json()["translations"]
    assert marked["text"] == "<p>Ouvrez donc <b>la porte</b>.</p>"
    assert marked["memory"][0]["sentence"] is None


def test_sentences_come_one_by_one_with_their_units(client: httpx.Client) -> None:
    memory = send(client).json()["id"]
    body = {"text": "Open the door. Open the door.", "translation_memory": memory, **LANGUAGES}

    events = client.post("/translate", json=body, headers={"accept": "text/event-stream"}).text

    assert events.count('"memory":[{"unit":') == 3
    assert '"sentence":1,"use":"translation"' in events.partition("event: done")[0]


def test_a_document_is_translated_with_a_memory(live: LiveServer, client: httpx.Client) -> None:
    memory = send(client).json()["id"]
    query = {"name": "a.md", "translation_memory": memory, **LANGUAGES}
    made = client.post(
        "/documents", params=query, content=b"# Page 5 of 6\n\nOpen the **door**.\n", headers=FILE
    ).json()
    eventually(lambda: client.get(f"/documents/{made['id']}").json()["status"] == "done", 20)

    done = client.get(f"/documents/{made['id']}/content").text

    assert done == "# Folio 5 sur 6\n\nOuvrez donc la **porte**.\n"


def test_a_memory_is_its_keys_own(client: httpx.Client, new_client: Callable[[], httpx.Client]) -> None:
    memory = send(client).json()["id"]
    stranger = new_client()
    path = f"/translation-memories/{memory}"

    for answer in (
        stranger.get(path),
        stranger.delete(path),
        stranger.get(f"{path}/export"),
        stranger.post(f"{path}/search", json={"text": "a"}),
        stranger.post(f"{path}/units", json={"units": [{"source": "a", "target": "b"}]}),
        translate(stranger, "Open the door.", memory),
        stranger.post(
            "/documents", params={"name": "a.txt", "translation_memory": memory}, content=b"a", headers=FILE
        ),
        translate(client, "Open the door.", UNKNOWN),
        client.get("/translation-memories/x"),
    ):
        assert_problem(answer, 404, "no-such-memory")
    assert stranger.get("/translation-memories").json() == {"memories": []}
    assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    ("data", "query", "said"),
    [
        (BOMB, {"file": "a.tmx"}, "declares XML entities; remove them"),
        ("<html/>", {"file": "a.tmx"}, "no TMX: its root element is html"),
        (b"\x00\xff", {"file": "a.tmx"}, "no TMX"),
        (
            TMX,
            {"file": "a.tmx", "source": "en", "target": "es"},
            "no unit from en to es: its languages are",
        ),
        (TMX, {"file": "a.tmx", "source": "en"}, "ource and target go together"),
        (TSV, {"file": "a.tsv"}, " table does not name its languages"),
        (TSV, {"file": "a.docx", **LANGUAGES}, ".docx is not known"),
        (
            "".join(f"a {n}x\tb\n" for n in range(11)),
            {"file": "a.tsv", **LANGUAGES},
            "may have 10 translation units",
        ),
    ],
)
def test_a_file_that_is_no_memory_is_refused_and_nothing_stays(
    live: LiveServer, client: httpx.Client, data: str | bytes, query: dict[str, str], said: str
) -> None:
    answer = send(client, data, **query)

    assert answer.status_code == 422
    assert said in answer.json()["detail"]
    assert client.get("/translation-memories").json() == {"memories": []}
    live.service.database.sweep()
    assert send(client).status_code == 201


def test_limits_of_requests_are_named(client: httpx.Client) -> None:
    memory = send(client).json()["id"]

    assert_problem(send(client, "a" * 30_000), 413, "body-too-large")
    assert_problem(
        client.post("/translation-memories", params={"file": "a.tsv"}, content=b"a"), 415, "not-a-file"
    )
    for threshold in (0.4, 1.2, "x"):
        answer = translate(client, "a", memory, threshold=threshold)
        assert_problem(answer, 422, "invalid-request")
        assert answer.json()["errors"][0]["field"] == "body.threshold"
    alone = client.post("/translate", json={"text": "a", "threshold": 0.8, **LANGUAGES})
    assert "hreshold is of a translation memory" in alone.json()["detail"]
    reverse = send(client, "Porte\tDoor\n", file="a.tsv", source="fr", target="en").json()["id"]
    wrong = translate(client, "a", reverse)
    assert "he translation memory is from fr to en, and this request translates from en to fr" in wrong.text
    long = client.post(
        f"/translation-memories/{memory}/units", json={"units": [{"source": " ", "target": "b"}]}
    )
    assert "umber 0 has a side that is blank" in long.json()["detail"]
    send(client)
    assert "here are 3 translation memories already, and the limit is 3" in send(client).json()["detail"]

"""``/documents`` on a real server: a file goes in, its translation comes out, and strangers see nothing."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import httpx
import pytest

from testbed.stub import StubTranslator, backwards
from tests.service.conftest import LiveServer, eventually, running
from tests.service.http.test_problems import assert_problem

FILE = {"content-type": "application/octet-stream"}
TEXT = b"One morning.\n\nTwo evenings.\n"
CANARY = "xylophonequartz"


def send(
    live: LiveServer, name: str, data: bytes, column: str | None = None, **headers: str
) -> httpx.Response:
    params = {"name": name} | ({"column": column} if column else {})
    with live.client() as client:
        return client.post("/documents", params=params, content=data, headers=FILE | headers)


def get(live: LiveServer, path: str, **headers: str) -> httpx.Response:
    with live.client() as client:
        return client.get(path, headers=headers)


def finished(live: LiveServer, document: dict[str, Any]) -> dict[str, Any]:
    """The document's last word."""
    found: dict[str, Any] = {}

    def is_finished() -> bool:
        found.update(get(live, f"/documents/{document['id']}").json())
        return found["status"] in ("done", "error")

    eventually(is_finished, within_s=20)
    return found


def test_a_file_is_sent_watched_and_fetched(live: LiveServer) -> None:
    answer = send(live, "two days.txt", TEXT)
    document = answer.json()
    done = finished(live, document)
    content = get(live, f"/documents/{document['id']}/content")

    assert answer.status_code == 202
    assert document["status"] in ("queued", "translating", "done")
    assert (done["status"], done["progress"], done["name"]) == ("done", 1.0, "two days.fr.txt")
    assert content.text == TEXT.decode().replace("One morning.", backwards("One morning.")).replace(
        "Two evenings.", backwards("Two evenings.")
    )
    assert content.headers["content-disposition"] == "attachment; filename*=UTF-8''two%20days.fr.txt"
    assert content.headers["content-type"] == "application/octet-stream"
    assert content.headers["cache-control"] == "no-store"


def test_characters_are_charged_once(live: LiveServer) -> None:
    before = get(live, "/usage").json()["characters"]
    done = finished(live, send(live, "a.txt", TEXT).json())

    assert done["characters"] > 0
    assert get(live, "/usage").json()["characters"] - before == done["characters"]


def test_progress_grows_piece_by_piece_and_others_pass_between() -> None:
    translator = StubTranslator()
    with running(translator) as live:
        translator.gate.clear()
        paragraphs = b"\n\n".join(b"Sentence number %d. " % i + b"word " * 500 for i in range(4))
        document = send(live, "long.txt", paragraphs).json()
        eventually(lambda: get(live, f"/documents/{document['id']}").json()["status"] == "translating")
        assert get(live, f"/documents/{document['id']}").json()["progress"] == 0
        assert_problem(get(live, f"/documents/{document['id']}/content"), 409, "document-not-done")
        translator.gate.set()
        assert finished(live, document)["status"] == "done"
        assert len(translator.calls) > 1


def test_a_failure_is_told_and_nothing_is_charged() -> None:
    translator = StubTranslator(failure=ValueError)
    with running(translator) as live:
        before = get(live, "/usage").json()["characters"]
        failed = finished(live, send(live, "a.txt", CANARY.encode()).json())

        assert failed["status"] == "error"
        assert failed["detail"].startswith("The server failed on this document")
        assert CANARY not in str(failed)
        eventually(lambda: get(live, "/usage").json()["characters"] == before)


def test_an_id_with_another_secret_opens_nothing(live: LiveServer) -> None:
    document = send(live, "a.txt", TEXT).json()
    other = document["id"][:-1] + ("0" if document["id"][-1] != "0" else "1")

    for id_ in (other, document["id"][:32], "x", "x" * 150):
        assert_problem(get(live, f"/documents/{id_}"), 404, "no-such-document")
        assert_problem(get(live, f"/documents/{id_}/content"), 404, "no-such-document")


def test_a_deleted_document_is_gone_even_while_it_is_translated() -> None:
    translator = StubTranslator()
    with running(translator) as live, live.client() as client:
        translator.gate.clear()
        document = send(live, "a.txt", TEXT).json()
        deleted = client.delete(f"/documents/{document['id']}")
        translator.gate.set()

        assert (deleted.status_code, deleted.content) == (204, b"")
        assert_problem(get(live, f"/documents/{document['id']}"), 404, "no-such-document")


def test_what_is_no_document_is_refused_without_repeating_it(live: LiveServer) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * 300_000_000)
    cases = [
        (send(live, f"a.{CANARY}", TEXT), 415, "unsupported-document"),
        (send(live, "a.docx", CANARY.encode()), 422, "invalid-input"),
        (send(live, "a.docx", bomb.getvalue()), 413, "text-too-long"),
        (send(live, "a.txt", TEXT, **{"content-type": "text/plain"}), 415, "not-a-file"),
        (send(live, "", TEXT), 422, "invalid-request"),
    ]
    for response, status, kind in cases:
        assert_problem(response, status, kind)
        assert CANARY not in response.text


def test_a_file_may_be_larger_than_other_bodies_and_has_a_limit_of_its_own() -> None:
    with running(StubTranslator(), max_body_bytes=1000, document_max_bytes=5000) as live:
        assert send(live, "a.txt", b"word " * 900).status_code == 202
        assert_problem(send(live, "a.txt", b"word " * 1100), 413, "body-too-large")
        assert_problem(live.post({"text": "word " * 900}), 413, "body-too-large")


def test_too_many_characters_are_refused() -> None:
    with running(StubTranslator(), document_max_characters=50) as live:
        assert_problem(send(live, "a.txt", b"word " * 20), 413, "text-too-long")


def test_one_document_at_a_time_if_so_set() -> None:
    translator = StubTranslator()
    with running(translator, document_max_running=1) as live:
        translator.gate.clear()
        first, second = (send(live, "a.txt", TEXT).json() for _ in range(2))
        eventually(lambda: get(live, f"/documents/{first['id']}").json()["status"] == "translating")
        assert get(live, f"/documents/{second['id']}").json()["status"] == "queued"
        translator.gate.set()
        assert finished(live, second)["status"] == "done"


def test_a_document_that_a_stopping_server_leaves_is_told_so(tmp_path: Any) -> None:
    settings = {"data_dir": tmp_path, "database_url": "", "shutdown_timeout_s": 1}
    with running(StubTranslator(delay_s=0.5), **settings) as live:
        document = send(live, "a.txt", b"\n\n".join([b"word " * 700] * 9)).json()
        eventually(lambda: get(live, f"/documents/{document['id']}").json()["status"] == "translating")
    with running(StubTranslator(), **settings) as live:
        left = get(live, f"/documents/{document['id']}").json()
        assert (left["status"], left["progress"]) == ("error", None)
        assert left["detail"].startswith("The server stopped")


@pytest.mark.parametrize("suffix", ["md", "html", "srt", "json"])
def test_other_formats_go_through_their_readers(live: LiveServer, suffix: str) -> None:
    sources = {
        "md": b"# One\n\nTwo *three*.\n",
        "html": b"<!doctype html><html><body><p>One <b>two</b>.</p></body></html>",
        "srt": b"1\n00:00:01,000 --> 00:00:02,000\nOne two.\n",
        "json": b'{"greeting": "One two."}',
    }
    document = finished(live, send(live, f"a.{suffix}", sources[suffix]).json())

    assert (document["status"], document["name"]) == ("done", f"a.fr.{suffix}")
    content = get(live, f"/documents/{document['id']}/content").content
    assert content != sources[suffix]
    assert b"owt" in content.lower()


def test_columns_of_a_table_are_chosen(live: LiveServer) -> None:
    table = b"id,text\nabc,One two\n"
    document = finished(live, send(live, "a.csv", table, column="text").json())

    content = get(live, f"/documents/{document['id']}/content").content
    assert (document["name"], content.count(b"\n")) == ("a.fr.csv", 2)
    assert content.startswith(b"id,text\nabc,")
    assert b"One two" not in content
    refused = send(live, "a.csv", table)
    assert_problem(refused, 422, "invalid-input")
    assert "there are id, text" in refused.json()["detail"]


def test_pdf_is_refused_with_the_reason(live: LiveServer) -> None:
    refused = send(live, "report.pdf", b"%PDF-1.7")

    assert_problem(refused, 415, "unsupported-document")
    assert "PDF is not translated" in refused.json()["detail"]
    with live.client() as client:
        assert ".pdf" not in client.get("/languages").json()["documents"]["suffixes"]
        assert ".pptx" in client.get("/languages").json()["documents"]["suffixes"]

"""``/jobs`` on a real server: texts and files by the thousand go in; each comes out once, or says why not."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from nmt.errors import InputError
from service.calls.job_input import PART_LINES
from service.database.database import Database
from service.database.records import KeyLimits
from service.settings import Settings
from testbed.stub import StubTranslator, backwards
from tests.service.conftest import LiveServer, eventually, running
from tests.service.http.test_problems import assert_problem

LINES = {"content-type": "application/x-ndjson"}
ZIP = {"content-type": "application/zip"}
CANARY = "xylophonequartz"


def send(
    live: LiveServer, data: bytes, headers: dict[str, str] = LINES, key: str | None = None, **query: Any
) -> httpx.Response:
    own = {} if key is None else {"x-api-key": key}
    with live.client() as client:
        return client.post("/jobs", content=data, headers=headers | own, params=query)


def get(live: LiveServer, path: str, key: str | None = None, **query: Any) -> httpx.Response:
    with live.client() as client:
        return client.get(path, params=query, headers={} if key is None else {"x-api-key": key})


def delete(live: LiveServer, job: dict[str, Any]) -> int:
    with live.client() as client:
        return client.delete(f"/jobs/{job['id']}").status_code


def finished(live: LiveServer, job: dict[str, Any], key: str | None = None) -> dict[str, Any]:
    """The job's last word."""
    found: dict[str, Any] = {}

    def has_ended() -> bool:
        found.update(get(live, f"/jobs/{job['id']}", key).json())
        return found["ended_at"] is not None

    eventually(has_ended, within_s=20)
    return found


def result(live: LiveServer, job: dict[str, Any]) -> list[dict[str, Any]]:
    answer = get(live, f"/jobs/{job['id']}/result")
    assert answer.status_code == 200
    return [json.loads(line) for line in answer.text.splitlines()]


def jsonl(*lines: Any) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def zipped(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def test_each_line_comes_out_once_in_order_with_its_name(live: LiveServer) -> None:
    texts = [f"line {n} is here" for n in range(3 * PART_LINES + 7)]
    sent = send(live, jsonl(*({"id": f"n{n}", "text": text} for n, text in enumerate(texts))))
    job = sent.json()
    done = finished(live, job)
    answer = get(live, f"/jobs/{job['id']}/result")

    assert sent.status_code == 202
    assert (job["kind"], job["items"], job["source"], job["target"]) == ("lines", len(texts), "en", "fr")
    assert (done["status"], done["progress"], done["done"], done["failed"], done["errors"]) == (
        "done",
        1.0,
        len(texts),
        0,
        [],
    )
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["cache-control"] == "no-store"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [line["line"] for line in lines] == list(range(1, len(texts) + 1))
    assert [line["id"] for line in lines] == [f"n{n}" for n in range(len(texts))]
    assert [line["text"] for line in lines] == [backwards(text) for text in texts]


def test_what_is_wrong_with_a_line_is_told_by_its_number_and_the_others_are_translated() -> None:
    with running(StubTranslator(), max_text_characters=100) as live:
        data = b"\n".join(
            [
                b'"good one"',
                b"{" + CANARY.encode(),
                b'{"text": "a", "' + CANARY.encode() + b'": 1}',
                b"17",
                b"",
                b'"' + b"x" * 101 + b'"',
                b'"\xff"',
                b'"\\ud800"',
                b'{"id": "a"}',
                b'"good two"',
            ]
        )
        job = finished(live, send(live, data).json())
        lines = result(live, job)

    assert (job["status"], job["items"], job["done"], job["failed"]) == ("done", 10, 10, 8)
    assert [error["line"] for error in job["errors"]] == [2, 3, 4, 5, 6, 7, 8, 9]
    messages = [error["error"] for error in job["errors"]]
    assert messages[0] == "the line is not JSON"
    assert messages[1] == "the line has an unknown key; known are text and id"
    assert "must be a string, or an object" in messages[2]
    assert messages[3].startswith("the line is empty")
    assert messages[4].startswith("the text has 101 characters; the limit is 100")
    assert messages[5].startswith("the line is not UTF-8 at byte 1")
    assert CANARY not in str(job)
    assert [line["line"] for line in lines] == list(range(1, 11))
    assert [line.get("text") for line in lines if "text" in line] == [
        backwards("good one"),
        backwards("good two"),
    ]
    assert [line["error"] for line in lines if "error" in line] == messages


def test_a_line_that_fails_in_the_model_fails_alone_and_is_not_charged() -> None:
    def fail(text: str) -> Exception | None:
        if "bad" in text:
            return InputError("it cannot be translated") if "ours" in text else ValueError(CANARY)
        return None

    with running(StubTranslator(failure=fail)) as live:
        before = get(live, "/usage").json()["characters"]
        job = finished(live, send(live, jsonl("one", "bad ours", "two", "bad")).json())
        lines = result(live, job)

        assert [line.get("text") for line in lines] == [backwards("one"), None, backwards("two"), None]
        assert [line.get("error") for line in lines][1::2] == [
            "it cannot be translated",
            "The server failed on this; its log has more.",
        ]
        assert job["errors"] == [{"line": n, "file": None, "error": lines[n - 1]["error"]} for n in (2, 4)]
        assert job["characters"] == len("one" + "two")
        assert get(live, "/usage").json()["characters"] - before == len("one" + "two")


def test_a_zip_comes_back_with_the_same_files(live: LiveServer) -> None:
    files = {
        "a/letter.txt": b"One morning.\n",
        "a/page.html": b"<!doctype html><html><body><p>One <b>two</b>.</p></body></html>",
        "strings.json": b'{"greeting": "One two."}',
        "picture.png": b"\x89PNG",
        "broken.docx": b"no zip",
    }
    job = finished(live, send(live, zipped(files), ZIP).json())
    answer = get(live, f"/jobs/{job['id']}/result")

    assert (job["kind"], job["status"], job["items"], job["failed"]) == ("zip", "done", 5, 2)
    assert [error["file"] for error in job["errors"]] == ["picture.png", "broken.docx"]
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["a/letter.txt", "a/page.html", "strings.json", "errors.jsonl"]
        assert archive.read("a/letter.txt").decode() == backwards("One morning.") + "\n"
        assert b"<b>" in archive.read("a/page.html")
        told = [json.loads(line) for line in archive.read("errors.jsonl").splitlines()]
    assert [one["file"] for one in told] == ["picture.png", "broken.docx"]


def test_what_is_no_job_is_refused_without_repeating_it(live: LiveServer) -> None:
    bomb = zipped({"a.txt": b"0" * 100_000_000})
    evil = zipped({f"../{CANARY}.txt": b"x"})
    twice = io.BytesIO()
    with zipfile.ZipFile(twice, "w") as archive:
        archive.writestr("a.txt", b"x")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.txt", b"y")
    cases = [
        (send(live, jsonl("a"), {"content-type": "text/plain"}), 415, "unsupported-job"),
        (send(live, b""), 422, "invalid-input"),
        (send(live, CANARY.encode()), 422, "invalid-input"),
        (send(live, CANARY.encode(), ZIP), 422, "invalid-input"),
        (send(live, zipped({}), ZIP), 422, "invalid-input"),
        (send(live, evil, ZIP), 422, "invalid-input"),
        (send(live, twice.getvalue(), ZIP), 422, "invalid-input"),
        (send(live, bomb, ZIP), 413, "text-too-long"),
        (send(live, jsonl("a"), target="zz"), 422, "unsupported-language"),
        (send(live, jsonl("a"), glossary_id="none"), 422, "invalid-input"),
        (get(live, "/jobs", limit=1000), 422, "invalid-request"),
        (get(live, "/jobs", after="x"), 422, "invalid-request"),
    ]
    for response, status, kind in cases:
        assert_problem(response, status, kind)
        assert CANARY not in response.text
    assert get(live, "/jobs/nowhere").status_code == 404


def test_each_bound_is_named() -> None:
    with running(
        StubTranslator(),
        job_max_bytes=5000,
        job_max_lines=3,
        job_max_files=2,
        job_max_unpacked_bytes=50,
        job_max_count=2,
    ) as live:
        assert_problem(send(live, b'"' + b"x" * 6000 + b'"'), 413, "body-too-large")
        assert "more than 3 lines" in send(live, jsonl(*"abcd")).json()["detail"]
        assert "the limit is 2" in send(live, zipped(dict.fromkeys("abc", b"x")), ZIP).json()["detail"]
        assert "the limit is 50" in send(live, zipped({"a.txt": b"x" * 51}), ZIP).json()["detail"]
        assert get(live, "/jobs").json()["jobs"] == [], "what was refused is not there"
        assert [send(live, jsonl("a")).status_code for _ in range(2)] == [202, 202]
        assert_problem(send(live, jsonl("a")), 429, "too-many-jobs")


def test_a_job_that_runs_has_no_result_yet_and_can_be_cancelled() -> None:
    translator = StubTranslator()
    with running(translator, job_max_running=1) as live:
        before = get(live, "/usage").json()["characters"]
        translator.gate.clear()
        texts = [f"line {n}" for n in range(5 * PART_LINES)]
        job, waiting = (send(live, jsonl(*texts)).json() for _ in range(2))
        eventually(translator.entered.is_set)
        shown = get(live, f"/jobs/{job['id']}").json()
        assert (shown["status"], shown["progress"]) == ("running", 0)
        assert get(live, f"/jobs/{waiting['id']}").json()["status"] == "queued"
        assert_problem(get(live, f"/jobs/{job['id']}/result"), 409, "job-not-done")

        assert [delete(live, one) for one in (job, waiting)] == [204, 204]
        translator.gate.set()

        for one in (job, waiting):
            ended = finished(live, one)
            assert (ended["status"], ended["done"]) == ("cancelled", 0)
            assert result(live, one) == []
        assert get(live, "/usage").json()["characters"] == before
        again = finished(live, send(live, jsonl("one more")).json())
        assert again["status"] == "done", "the worker goes on with others"
        assert sum(map(len, translator.calls)) < len(texts), "what waited was not translated"
        assert [delete(live, one) for one in (job, job)] == [204, 404]


def test_jobs_of_a_key_are_its_own_and_counted_against_its_quota(tmp_path: Path) -> None:
    settings = {"data_dir": tmp_path, "database_url": "", "keys": "required"}
    database = Database(Settings(**settings))
    database.prepare()
    own, key = database.keys.create("one", KeyLimits(characters_per_month=20))
    _, other = database.keys.create("two", KeyLimits(characters_per_minute=15))
    with running(StubTranslator(), **settings) as live:
        assert send(live, jsonl("a")).status_code == 401
        job = send(live, jsonl("0123456789"), key=key).json()
        finished(live, job, key)
        refused = send(live, jsonl("0123456789", "x"), key=key)

        assert_problem(refused, 429, "quota-exceeded")
        assert sum(day.characters for day in database.usage.this_month(own.id)) == 10
        assert send(live, jsonl("0123456789"), key=key).status_code == 202
        assert_problem(send(live, jsonl("0123456789abcdef"), key=other), 413, "text-too-long")
        for path in (f"/jobs/{job['id']}", f"/jobs/{job['id']}/result"):
            assert get(live, path, key).status_code == 200
            assert_problem(get(live, path, other), 404, "no-such-job")
        with live.client(headers={"x-api-key": other}) as client:
            assert client.delete(f"/jobs/{job['id']}").status_code == 404
        assert len(get(live, "/jobs", key).json()["jobs"]) == 2
        assert get(live, "/jobs", other).json() == {"jobs": [], "next": None}
    database.close()


def test_jobs_are_listed_newest_first_a_page_at_a_time() -> None:
    with running(StubTranslator()) as live:
        sent = [send(live, jsonl("a")).json()["id"] for _ in range(5)]
        seen, after = [], None
        for n in (2, 2, 1):
            page = get(live, "/jobs", limit=2, **({} if after is None else {"after": after})).json()
            assert len(page["jobs"]) == n
            seen += [job["id"] for job in page["jobs"]]
            after = page["next"]

        assert seen == sent[::-1]
        assert after is None


def test_a_job_goes_on_in_the_next_server_where_this_one_stopped(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"data_dir": tmp_path, "database_url": "", "shutdown_timeout_s": 1}
    texts = [f"line {n} of many" for n in range(20 * PART_LINES)]
    first = StubTranslator(delay_s=0.05)
    with running(first, **settings) as live:
        job = send(live, jsonl(*texts)).json()
        eventually(lambda: get(live, f"/jobs/{job['id']}").json()["done"] > 0)
    second = StubTranslator()
    with running(second, **settings) as live:
        assert finished(live, job)["status"] == "done"
        assert [line["text"] for line in result(live, job)] == [backwards(text) for text in texts]
    translated = [text for stub in (first, second) for call in stub.calls for text in call]
    assert len(second.calls) > 0
    assert len(translated) <= len(texts) + 4 * PART_LINES, "what was done is not done again"


def test_options_and_a_glossary_are_those_of_the_upload() -> None:
    translator = StubTranslator()
    with running(translator) as live, live.client() as client:
        glossary = client.post(
            "/v2/glossaries",
            json={
                "name": "terms",
                "source_lang": "en",
                "target_lang": "fr",
                "entries": "bridge\tpasserelle",
                "entries_format": "tsv",
            },
        ).json()
        query = {
            "glossary_id": glossary["glossary_id"],
            "formality": "formal",
            "french_typography": "true",
        }
        job = send(live, jsonl("the bridge"), **query).json()
        finished(live, job)

    assert translator.wishes[-1]["formality"] == "formal"
    assert translator.wishes[-1]["french_typography"] is True
    assert "passerelle" in str(translator.wishes[-1]["glossary"])

"""A server that is killed (SIGKILL) in the middle of a job and started again: nothing twice, nothing lost."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nmt.options import TranslationOptions
from nmt.translator import Translator
from service.calls.job_input import PART_LINES
from testbed.stub import backwards
from tests.nmt.conftest import SENTENCES
from tests.reliability.server import Server, eventually, in_session, launch, port_of

LINES = {"content-type": "application/x-ndjson"}


@contextlib.contextmanager
def serving(kind: str, data: Path, log: Path, **settings: Any) -> Iterator[Server]:
    """A real server on a folder that outlives it; killed at the end with all it has started."""
    models = ["general"] if kind == "real" else ["en_fr"]
    process, log = launch(kind, models, data, log=log, job_lease_s=2, **settings)
    try:
        yield Server(process, port_of(process, log, data), data, log)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        eventually(lambda: not in_session(process.pid))


def texts_of(n: int) -> list[str]:
    return [f"sentence number {n} of the job" for n in range(n)]


def send(server: Server, texts: list[str]) -> dict[str, Any]:
    lines = [json.dumps({"id": f"n{n}", "text": text}) + "\n" for n, text in enumerate(texts)]
    data = "".join(lines).encode()
    with server.client() as client:
        answer = client.post("/jobs", content=data, headers=LINES, params={"source": "en", "target": "fr"})
    assert answer.status_code == 202, answer.text
    found: dict[str, Any] = answer.json()
    return found


def status(server: Server, job: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = server.get(f"/jobs/{job['id']}").json()
    return found


def result(server: Server, job: dict[str, Any]) -> list[dict[str, Any]]:
    answer = server.get(f"/jobs/{job['id']}/result")
    assert answer.status_code == 200
    return [json.loads(line) for line in answer.text.splitlines()]


def wait_for_more(server: Server, job: dict[str, Any]) -> int:
    """How many lines are done, once that has grown."""
    before = status(server, job)["done"]
    eventually(lambda: status(server, job)["done"] > before)
    found: int = status(server, job)["done"]
    return found


def killed_in_the_middle(
    kind: str, folder: Path, texts: list[str], kills: int, **settings: Any
) -> tuple[list[dict[str, Any]], list[int], int]:
    """The result, how many lines were done at each kill, and the characters counted in the end."""
    seen: list[int] = []
    job: dict[str, Any] = {}
    for n in range(kills):
        with serving(kind, folder, folder / f"log{n}", **settings) as server:
            job = job or send(server, texts)
            seen.append(wait_for_more(server, job))
    with serving(kind, folder, folder / "log", **settings) as server:
        eventually(lambda: status(server, job)["ended_at"] is not None, within_s=200)
        ended = status(server, job)
        assert (ended["status"], ended["done"], ended["failed"]) == ("done", len(texts), 0)
        return result(server, job), seen, server.get("/usage").json()["characters"]


@pytest.mark.exhaustive
def test_a_server_killed_again_and_again_loses_no_line_and_writes_none_twice(tmp_path: Path) -> None:
    texts = texts_of(12 * PART_LINES)

    lines, seen, n_characters = killed_in_the_middle("stub", tmp_path, texts, 2, test_step_s=0.02)

    assert seen == sorted(set(seen))
    assert 0 < seen[0] < seen[-1] < len(texts), "it was killed in the middle"
    assert [(line["line"], line["id"]) for line in lines] == [(n + 1, f"n{n}") for n in range(len(texts))]
    assert [line["text"] for line in lines] == [backwards(text) for text in texts]
    assert n_characters == sum(map(len, texts)), "nor is any charged twice"


@pytest.mark.exhaustive
def test_what_a_job_gives_after_a_kill_is_what_a_direct_call_gives(tmp_path: Path) -> None:
    """The model that ships; with engine eager a sentence in a batch gets what it gets alone."""
    texts = (SENTENCES[::2] * (2 * PART_LINES // len(SENTENCES[::2]) + 1))[: 2 * PART_LINES]
    texts = [f"{text} ({n})" for n, text in enumerate(texts)]

    lines, seen, _ = killed_in_the_middle("real", tmp_path, texts, 1, ENGINE="eager")  # not launch's engine

    assert 0 < seen[0] < len(texts)
    translator = Translator.load("general", engine="eager", device="cpu")
    direct = translator.translate(texts, TranslationOptions(source="en", target="fr"))
    assert [line["text"] for line in lines] == [translation.text for translation in direct]

"""Two servers on one database are one service: keys, rates, quotas, usage and alignments are common."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from service.database.database import Database
from service.database.records import KeyLimits
from testbed.stub import StubTranslator, backwards
from tests.service.conftest import LiveServer, eventually, running
from tests.service.database.conftest import empty, open_database


@pytest.fixture
def replicas(url: str, tmp_path: Path) -> Iterator[tuple[Database, LiveServer, LiveServer]]:
    common = open_database(url, tmp_path)
    common.upgrade()
    with contextlib.ExitStack() as stack:
        first, second = (
            stack.enter_context(
                running(StubTranslator(), database_url=url, data_dir=tmp_path, keys="required")
            )
            for _ in range(2)
        )
        yield common, first, second
    empty(common)
    common.close()


def test_replicas_share_keys_rates_quotas_and_alignments(
    replicas: tuple[Database, LiveServer, LiveServer],
) -> None:
    database, first, second = replicas
    key, shown = database.keys.create("team", KeyLimits(requests_per_minute=10, characters_per_month=6))
    headers = {"x-api-key": shown}

    made = first.post({"text": "a b", "alignment": "links"}, headers=headers).json()["translations"][0]
    with second.client(headers=headers) as client:
        assert client.get(f"/translations/{made['id']}/alignment").status_code == 200
        assert client.get("/usage").json()["characters"] == 3
        assert client.post("/translate", json={"text": "abcd"}).json()["type"].endswith("quota-exceeded")
        assert client.post("/translate", json={"text": "abc"}).status_code == 200
    assert sum(day.characters for day in database.usage.this_month(key.id)) == 6
    database.keys.revoke(key.id)
    assert [side.post({"text": "a"}, headers=headers).status_code for side in (first, second)] == [403, 403]


def test_requests_to_all_replicas_at_once_pass_no_limit_together(
    replicas: tuple[Database, LiveServer, LiveServer],
) -> None:
    database, *sides = replicas
    key, shown = database.keys.create("team", KeyLimits(requests_per_minute=12))
    headers = {"x-api-key": shown}

    def ask(client: httpx.Client) -> int:
        return client.post("/translate", json={"text": "abc"}, headers=headers).status_code

    with sides[0].client() as a, sides[1].client() as b, ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(ask, [a, b] * 15))

    assert sorted(set(statuses)) == [200, 429]
    assert statuses.count(200) in range(12, 25), "12 in a minute, and 12 more if the minute ended meanwhile"
    (day,) = database.usage.this_month(key.id)
    assert (day.characters, day.requests) == (3 * statuses.count(200), statuses.count(200))


def test_one_replica_works_on_a_job_and_any_tells_of_it(
    replicas: tuple[Database, LiveServer, LiveServer],
) -> None:
    database, first, second = replicas
    _, shown = database.keys.create("team", KeyLimits())
    headers = {"x-api-key": shown}
    texts = [f"line {n}" for n in range(1000)]
    data = b"".join(json.dumps(text).encode() + b"\n" for text in texts)
    with first.client(headers=headers) as one, second.client(headers=headers) as other:
        sent = [
            client.post("/jobs", content=data, headers={"content-type": "application/x-ndjson"}).json()
            for client in (one, other, one)
        ]
        for job in sent:
            eventually(lambda job=job: other.get(f"/jobs/{job['id']}").json()["ended_at"], within_s=60)  # type: ignore[misc]
            written = one.get(f"/jobs/{job['id']}/result").text.splitlines()
            assert [json.loads(line)["text"] for line in written] == [backwards(text) for text in texts]

    translated = [text for side in (first, second) for call in side.translator.calls for text in call]
    assert len(translated) == 3 * len(texts), "no line was translated twice"

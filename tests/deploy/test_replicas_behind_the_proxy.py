"""Two replicas on one PostgreSQL behind deploy/haproxy.cfg: one dies or goes under load, and nothing is lost.

The full counts are ``python -m scripts.replicas``, recorded in docs/reliability/replicas.json.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
from collections.abc import Iterator

import pytest

from testbed.cluster import Cluster, Load, missing, running_cluster, settle, under_load

pytestmark = [pytest.mark.slow, pytest.mark.skipif(missing() is not None, reason=str(missing()))]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as started:
        yield started


def ask(cluster: Cluster, method: str, path: str, **headers: str) -> tuple[int, str]:
    with contextlib.closing(http.client.HTTPConnection(cluster.host, cluster.port, timeout=30)) as connection:
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read().decode()


def test_no_accepted_request_is_lost_when_a_replica_is_killed_and_the_other_is_replaced(
    cluster: Cluster,
) -> None:
    first, second = cluster.replicas
    load = Load(cluster, n_clients=8)

    def kill_one_then_replace_the_other() -> int:
        first.kill()
        first.start()
        settle(cluster, load)
        status, _ = second.terminate()
        second.start()
        settle(cluster, load)
        return status

    status = asyncio.run(under_load(load, kill_one_then_replace_the_other))

    assert load.record()["lost"] == 0, load.record()
    assert load.record()["refused_with_retry_after"] == 0
    assert status == 0, "a replica that is told to go ends well"
    assert cluster.charged() >= load.characters


def test_metrics_are_not_for_the_outside(cluster: Cluster) -> None:
    assert ask(cluster, "GET", "/metrics", Authorization=f"Bearer {cluster.key}")[0] == 404
    assert ask(cluster, "GET", "/health/live")[0] == 200


def test_without_any_replica_the_answer_is_a_problem_that_says_when_to_come_again(cluster: Cluster) -> None:
    for replica in cluster.replicas:
        replica.kill()

    status, body = ask(cluster, "POST", "/translate", Authorization=f"Bearer {cluster.key}")

    assert (status, json.loads(body)["status"]) == (503, 503)

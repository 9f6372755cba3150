"""The script with which an owner loads a deployment counts what it got."""

from __future__ import annotations

import asyncio

from benchmarks.load import load
from testbed.stub import StubTranslator
from tests.service.conftest import running


def test_every_answer_is_counted_by_its_status() -> None:
    with running(StubTranslator(delay_s=0.01)) as live:
        record = asyncio.run(load(live.url, "", ["one text", "another text"], n_clients=3, seconds=0.3))

        assert record["statuses"].keys() == {"200"}
        assert record["statuses"]["200"] == sum(len(texts) for texts in live.translator.calls)
        assert record["translations_per_s"] > 0
        assert record["median_s"] <= record["slowest_s"]


def test_errors_are_counted_and_not_raised() -> None:
    with running(StubTranslator(), keys="required") as live:
        record = asyncio.run(load(live.url, "wrong", ["text"], n_clients=1, seconds=0.05))

    assert record["statuses"].keys() == {"401"}
    assert record["median_s"] is None

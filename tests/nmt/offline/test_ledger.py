"""Each shard is done once: whole or not there, whatever a run was doing when it died."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nmt.errors import ConfigError, DataError
from nmt.offline.ledger import Entry, Ledger

JOB = {"model_sha256": "a", "beam": None}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    source = tmp_path / "in"
    source.mkdir()
    for name in ("b.txt", "a.txt", ".hidden.txt", "_index.txt", "notes.md"):
        (source / name).write_text(f"{name}\n")
    return Ledger(source, tmp_path / "out")


def finish(ledger: Ledger, name: str, content: str = "fini\n") -> Entry:
    aside = ledger.aside(name)
    aside.write_text(content)
    return ledger.commit(name, aside, rows=1, cpu_s=0.5, wall_s=1.0)


def test_what_is_done_is_not_to_do_again(ledger: Ledger) -> None:
    with ledger.begin(JOB) as names:
        assert names == ["a.txt", "b.txt"]
        finish(ledger, "a.txt")
    with ledger.begin(JOB) as names:
        assert names == ["b.txt"]


def test_of_two_workers_with_the_same_shard_the_first_wins(ledger: Ledger) -> None:
    with ledger.begin(JOB):
        slow = ledger.aside("a.txt")
        slow.write_text("of the second\n")
        first = finish(ledger, "a.txt", "of the first\n")
        second = ledger.commit("a.txt", slow, rows=1, cpu_s=9, wall_s=9)

    assert second == first
    assert (ledger.target / "a.txt").read_text() == "of the first\n"
    assert not slow.exists()


def test_a_shard_without_an_entry_is_done_again_and_an_entry_without_its_shard_too(ledger: Ledger) -> None:
    with ledger.begin(JOB):
        finish(ledger, "a.txt")
        finish(ledger, "b.txt")
    (ledger.target / "_done" / "a.txt.json").unlink()  # a crash between link and entry
    (ledger.target / "b.txt").write_text("cut")  # somebody's hand

    with ledger.begin(JOB) as names:
        assert names == ["a.txt", "b.txt"]
        assert not (ledger.target / "a.txt").exists()
        assert not (ledger.target / "b.txt").exists()


def test_a_worker_that_finds_the_shard_of_one_that_died_before_its_entry_enters_it(ledger: Ledger) -> None:
    with ledger.begin(JOB):
        (ledger.target / "a.txt").write_text("whole\n")

        entry = finish(ledger, "a.txt", "another\n")

        assert entry.bytes == len("whole\n")
        assert ledger.entry("a.txt") == entry


def test_what_was_written_aside_by_a_run_that_died_is_cleared(ledger: Ledger) -> None:
    with ledger.begin(JOB):
        ledger.aside("a.txt").write_text("half")
    with ledger.begin(JOB):
        assert list((ledger.target / "_aside").iterdir()) == []


def test_another_model_or_another_run_at_once_is_refused(ledger: Ledger) -> None:
    with ledger.begin(JOB), pytest.raises(ConfigError, match="another run"), ledger.begin(JOB):
        pass
    with pytest.raises(ConfigError, match="model_sha256"), ledger.begin({**JOB, "model_sha256": "b"}):
        pass


def test_a_source_that_changed_after_it_was_translated_is_an_error(ledger: Ledger) -> None:
    with ledger.begin(JOB):
        finish(ledger, "a.txt")
    (ledger.source / "a.txt").write_text("more than before\n")

    with pytest.raises(DataError, match=r"a\.txt.*changed"), ledger.begin(JOB):
        pass


def test_the_manifest_sums_up_every_shard(ledger: Ledger) -> None:
    with ledger.begin(JOB):
        entries = [finish(ledger, name) for name in ("a.txt", "b.txt")]
        path = ledger.finish(JOB)

    manifest = json.loads(path.read_text())
    assert (manifest["rows"], manifest["cpu_s"], manifest["job"]) == (2, 1.0, JOB)
    assert [shard["sha256"] for shard in manifest["shards"]] == [entry.sha256 for entry in entries]


def test_a_folder_without_shards_is_an_error_that_says_how_they_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"NAME\.txt"), Ledger(tmp_path, tmp_path / "out").begin(JOB):
        pass

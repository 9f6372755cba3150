"""Alignments: kept for a while, as long as there is room, for who made them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from service.database.alignments import Alignments
from service.database.database import Database
from tests.service.database.conftest import Clock


def test_an_alignment_is_its_callers_alone(database: Database) -> None:
    database.alignments.put("a", {"x": b"{}", "y": b"\x00\xff"})

    assert database.alignments.get("a", "x") == b"{}"
    assert database.alignments.get("a", "y") == b"\x00\xff"
    assert database.alignments.get("b", "x") is None
    assert database.alignments.totals() == (2, 4)


def test_an_alignment_expires(database: Database, clock: Clock) -> None:
    store = Alignments(database.transactions, ttl_s=3600, max_entries=10, max_bytes=1000)
    store.put("k", {"a": b"1"})
    clock.advance(seconds=1800)
    store.put("k", {"b": b"2"})
    clock.advance(seconds=1799)

    assert store.get("k", "a") == b"1"
    clock.advance(seconds=1)
    assert store.get("k", "a") is None
    assert store.get("k", "b") == b"2"
    assert store.totals() == (1, 1)
    store.sweep()
    clock.advance(seconds=-10)
    assert store.get("k", "a") is None, "it is gone, not only hidden"


def test_the_oldest_give_way_when_there_are_too_many(database: Database) -> None:
    store = Alignments(database.transactions, 3600, max_entries=2, max_bytes=1000)
    for name in "abc":
        store.put("k", {name: name.encode()})

    assert [store.get("k", name) for name in "abc"] == [None, b"b", b"c"]
    store.put("k", dict.fromkeys("defg", b""))
    assert store.totals() == (2, 0)


def test_the_oldest_give_way_when_the_bytes_are_too_many(database: Database) -> None:
    store = Alignments(database.transactions, 3600, max_entries=100, max_bytes=10)
    for name in "abc":
        store.put("k", {name: name.encode() * 4})

    assert [store.get("k", name) for name in "abc"] == [None, b"bbbb", b"cccc"]
    store.put("k", {"huge": b"x" * 11})
    assert store.totals() == (2, 8), "what does not fit drives nothing out"
    store.put("k", {"whole": b"x" * 10})
    assert (store.get("k", "b"), store.totals()) == (None, (1, 10))


def test_none_are_kept_where_none_may_be(database: Database) -> None:
    Alignments(database.transactions, 3600, max_entries=0, max_bytes=10).put("k", {"a": b"1"})

    assert database.alignments.totals() == (0, 0)


def test_bounds_hold_however_many_write_at_once(database: Database) -> None:
    store = Alignments(database.transactions, 3600, max_entries=5, max_bytes=1000)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: store.put("k", {f"{n}": b"x", f"{n}b": b"y"}), range(40)))

    assert store.totals() == (5, 5)


def test_nothing_of_an_expired_alignment_stays_in_the_file(tmp_path: Path, clock: Clock) -> None:
    from tests.service.database.conftest import open_database

    path = tmp_path / "one.sqlite3"
    opened = open_database(f"sqlite:///{path}", tmp_path, clock)
    opened.prepare()
    opened.alignments.put("k", {"a": b"xylophonequartz" * 1000})
    clock.advance(days=1)
    opened.sweep()
    opened.close()  # the last connection moves the write-ahead log into the file

    assert b"xylophonequartz" not in path.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["one.sqlite3"]

"""Translation memories on both databases: filled, searched, limited, deleted, and nobody else's."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from rapidfuzz.distance import Levenshtein
from sqlalchemy import text

from nmt.errors import InputError
from nmt.memory.candidates import UNITS_A_PART
from nmt.memory.unit import TranslationUnit
from service.database import memories as module
from service.database.database import Database
from service.database.memories import ABANDONED_AFTER_S
from service.database.models import UnitRow
from service.database.records import Memory
from tests.service.database.conftest import Clock, empty, open_database

EN_FR = ("en", "fr")


def filled(database: Database, *sources: str, key: str = "k") -> Memory:
    memory = database.memories.create(key, "M", EN_FR)
    database.memories.add(memory, [TranslationUnit(source, source.upper()) for source in sources])
    return database.memories.finish(memory)


def n_units(database: Database) -> int:
    with database.transactions.reading() as session:
        return session.query(UnitRow).count()


@pytest.fixture
def small(url: str, tmp_path: Path, clock: Clock) -> Iterator[Database]:
    opened = open_database(url, tmp_path, clock, memory_max_count=2, memory_max_units=3)
    opened.upgrade()
    yield opened
    empty(opened)
    opened.close()


def test_a_memory_is_seen_when_its_import_has_ended(database: Database, clock: Clock) -> None:
    memories = database.memories
    memory = memories.create("k", " Legal ", EN_FR)

    assert memories.all("k") == []
    assert memories.get("k", memory.id) is None
    assert memories.add(memory, [TranslationUnit("a b", "c"), TranslationUnit("a b", "c")]) == 1
    clock.advance(seconds=5)
    done = memories.finish(memory)

    assert (done.name, done.n_units, done.languages, done.changed_at) == ("Legal", 1, EN_FR, clock.now)
    assert memories.all("k") == [done]
    assert memories.get("k", memory.id) == done
    assert memories.all("other") == []
    assert memories.get("other", memory.id) is None
    assert memories.add(done, [TranslationUnit("a b", "c"), TranslationUnit("a b", "d")]) == 1
    assert [unit.target for unit in memories.units(done)] == ["c", "d"]


def test_exact_and_fuzzy_matches_are_found_in_the_memory_alone(database: Database) -> None:
    mine = filled(database, "Open the file", "Close the file", "Page 3")
    filled(database, "Open the files", key="other")

    found = database.memories.search(mine, "Open  the file", 0.6, 5)

    assert [(match.source, match.target, match.score) for match in found] == [
        ("Open the file", "OPEN THE FILE", 1.0),
        ("Close the file", "CLOSE THE FILE", 0.6667),
    ]
    recalled = database.memories.recall(mine, ["Page 7", "Open that file", "Who?"], 0.6, split_sentences=True)
    assert [(match.text, match.target, match.is_exact) for match in recalled] == [
        ("Page 7", "PAGE 7", True),
        ("Open that file", "OPEN THE FILE", False),
    ]


def test_every_unit_that_is_like_enough_is_found(database: Database) -> None:
    chosen = random.Random(3)
    vocabulary = [f"w{number}" for number in range(50)]
    units = [" ".join(chosen.choices(vocabulary, k=chosen.randint(2, 12))) for _ in range(UNITS_A_PART)]
    memory = filled(database, *units)
    n_found = 0
    for unit in units:
        words = unit.split()
        words[chosen.randrange(len(words))] = chosen.choice(vocabulary)
        expected = {
            other for other in units if Levenshtein.normalized_similarity(words, other.split()) >= 0.75
        }
        found = database.memories.search(memory, " ".join(words), 0.75, 200)
        assert {match.source for match in found} == expected
        n_found += len(expected)
    assert n_found > 20


def test_limits_are_named(small: Database) -> None:
    memories = small.memories
    first = filled(small, "a", "b")
    second = memories.create("k", "2", EN_FR)
    with pytest.raises(InputError, match="there are 2 translation memories already, and the limit is 2"):
        memories.create("k", "3", EN_FR)
    with pytest.raises(InputError, match="this key may have 3 translation units, and they would be more"):
        memories.add(second, [TranslationUnit("c", "x"), TranslationUnit("d", "x")])
    assert n_units(small) == 2, "of what is too much nothing is stored"
    assert memories.add(second, [TranslationUnit("c", "x")]) == 1

    memories.delete(first)

    assert memories.add(second, [TranslationUnit("e", "x"), TranslationUnit("f", "x")]) == 2
    memories.create("k", "3", EN_FR)
    with pytest.raises(InputError, match="name: it has 0 characters"):
        memories.create("other", " ", EN_FR)


def test_a_deleted_memory_is_gone_at_once_and_its_units_by_and_by(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNITS_AT_ONCE", 4)
    memory = filled(database, *(f"Open file {chr(97 + index)}" for index in range(10)))
    other = filled(database, "Open file a")

    database.memories.delete(memory)

    assert database.memories.all("k") == [other]
    assert n_units(database) == 7
    database.sweep()
    assert n_units(database) == 1
    assert [match.source for match in database.memories.search(other, "Open file b", 0.6, 9)] == [
        "Open file a"
    ]
    with database.transactions.reading() as session:
        assert session.execute(text("SELECT count(*) FROM memories")).scalar() == 1


def test_an_import_that_nobody_goes_on_with_is_swept(database: Database, clock: Clock) -> None:
    left = database.memories.create("k", "left", EN_FR)
    database.memories.add(left, [TranslationUnit("a", "b")])
    clock.advance(seconds=ABANDONED_AFTER_S - 1)
    database.sweep()
    assert n_units(database) == 1

    clock.advance(seconds=2)
    database.sweep()

    assert n_units(database) == 0


def test_a_job_is_opened_by_its_secret_begins_once_and_expires(database: Database, clock: Clock) -> None:
    jobs = database.memory_jobs
    job = jobs.create("k", "import", "M")

    assert jobs.get(job.id, "k") == job
    assert jobs.get(job.id, "other") is None
    assert jobs.open(job.id, "wrong", "import") is None
    assert jobs.open(job.id, job.secret, "export") is None
    assert jobs.open(job.id, job.secret, "import") == job
    assert [jobs.start(job.id), jobs.start(job.id)] == [True, False]
    clock.advance(seconds=ABANDONED_AFTER_S + 1)
    database.sweep()
    stopped = jobs.get(job.id, "k")
    assert stopped is not None
    assert (stopped.state, stopped.message) == (
        "failed",
        "The server stopped during this import; send it again.",
    )
    jobs.end(job.id, "completed", memory_id="m", n_skipped=2)
    done = jobs.get(job.id)
    assert done is not None
    assert (done.state, done.message, done.memory_id, done.n_skipped) == ("completed", "", "m", 2)
    clock.advance(hours=1)
    assert jobs.get(job.id) is None
    database.sweep()
    with database.transactions.reading() as session:
        assert session.execute(text("SELECT count(*) FROM memory_jobs")).scalar() == 0

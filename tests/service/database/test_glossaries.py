"""Glossaries: kept as given, seen by their owner only."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from nmt.errors import InputError
from service.database.database import Database
from service.database.models import DictionaryRow
from tests.service.database.conftest import Clock, open_database

ENTRIES = [
    ("hello", "bonjour"),
    ("a b", "c"),
    ("'; DROP TABLE glossaries; --", "é\u202f⟦1⟧😀"),
    ("tab\t", "nul \x00"),
]


def test_a_glossary_comes_back_as_it_was_given(database: Database, clock: Clock) -> None:
    made = database.glossaries.create("a", " terms of ours ", "en", "fr", ENTRIES)

    assert database.glossaries.get("a", made.id) == made
    assert database.glossaries.entries("a", made.id) == ENTRIES
    assert (made.name, made.source_language, made.target_language) == ("terms of ours", "en", "fr")
    assert (made.n_entries, made.ready, made.created_at) == (4, True, clock())


def test_another_key_sees_changes_and_deletes_none_of_it(database: Database) -> None:
    made = database.glossaries.create("a", "terms", "en", "fr", ENTRIES)

    assert database.glossaries.all("b") == []
    assert database.glossaries.get("b", made.id) is None
    assert database.glossaries.entries("b", made.id) is None
    assert database.glossaries.delete("b", made.id) is False
    assert database.glossaries.all("a") == [made]
    assert database.glossaries.delete("a", made.id) is True
    assert database.glossaries.delete("a", made.id) is False
    assert database.glossaries.get("a", made.id) is None


def test_all_are_listed_oldest_first(database: Database, clock: Clock) -> None:
    made = []
    for name in ("b", "a", "b"):
        made.append(database.glossaries.create("a", name, "en", "fr", ENTRIES))
        clock.advance(seconds=1)

    assert database.glossaries.all("a") == made


def test_limits_are_named(database: Database, url: str, tmp_path: Path, clock: Clock) -> None:
    opened = open_database(url, tmp_path, clock, glossary_max_count=2, glossary_max_entries=4)
    strict = opened.glossaries

    with pytest.raises(InputError, match="entries: there are 5, the limit is 4"):
        strict.create("a", "n", "en", "fr", [*ENTRIES, ("x", "y")])
    for _ in range(2):
        strict.create("a", "n", "en", "fr", ENTRIES)
    with pytest.raises(
        InputError, match="there are 2 glossaries already, and the limit is 2; delete one first"
    ):
        strict.create("a", "n", "en", "fr", ENTRIES)
    strict.create("b", "n", "en", "fr", ENTRIES)
    opened.close()
    for name in ("", " ", "x" * 1025, "a\x00"):
        with pytest.raises(InputError, match=r"^name: "):
            database.glossaries.create("a", name, "en", "fr", ENTRIES)
    with pytest.raises(InputError, match="at least one entry"):
        database.glossaries.create("a", "n", "en", "fr", [])


def test_a_glossary_is_changed_by_its_owner_only(database: Database) -> None:
    glossaries = database.glossaries
    made = glossaries.create("a", "N", "en", "fr", [("one", "un")])

    assert glossaries.update("b", made.id, name="M", entries=[("x", "y")]) is None
    assert glossaries.update("a", "other", name="M") is None
    renamed = glossaries.update("a", made.id, name="M")
    assert renamed is not None
    assert (renamed.name, renamed.n_entries) == ("M", 1)
    emptied = glossaries.update("a", made.id, entries=[])
    assert emptied is not None
    assert (emptied.name, emptied.n_entries) == ("M", 0)
    assert glossaries.entries("a", made.id) == []
    with pytest.raises(InputError, match="the limit is"):
        glossaries.update("a", made.id, entries=[(str(i), "y") for i in range(10_001)])


def test_a_glossary_has_a_dictionary_for_each_direction(database: Database) -> None:
    glossaries = database.glossaries
    made = glossaries.create("a", "N", "en", "fr", [("one", "un")])
    both = glossaries.update("a", made.id, languages=("fr", "en"), entries=[("deux", "two"), ("un", "one")])

    assert both is not None
    assert both == glossaries.get("a", made.id) == glossaries.all("a")[0]
    counts = {(one.source_language, one.target_language): one.n_entries for one in both.dictionaries}
    assert counts == {("en", "fr"): 1, ("fr", "en"): 2}
    assert (
        glossaries.entries("a", made.id) == glossaries.entries("a", made.id, ("en", "fr")) == [("one", "un")]
    )
    assert glossaries.entries("a", made.id, ("fr", "en")) == [("deux", "two"), ("un", "one")]
    assert glossaries.entries("a", made.id, ("de", "en")) == []
    assert glossaries.entries("b", made.id, ("fr", "en")) is None
    assert glossaries.update("b", made.id, languages=("fr", "en"), entries=[]) is None

    without_first = glossaries.update("a", made.id, languages=("en", "fr"), entries=[])
    assert without_first is not None
    assert [one.source_language for one in without_first.dictionaries] == ["fr"]
    without_any = glossaries.update("a", made.id, languages=("fr", "en"), entries=[])
    assert without_any is not None
    assert without_any.dictionaries == []
    assert glossaries.update("a", made.id, languages=("de", "en"), entries=[]) == without_any


def test_a_deleted_glossary_leaves_no_dictionary(database: Database) -> None:
    glossaries = database.glossaries
    made = glossaries.create("a", "N", "en", "fr", [("one", "un")])
    kept = glossaries.create("a", "N", "en", "fr", [("one", "un")])
    for glossary in (made, kept):
        glossaries.update("a", glossary.id, languages=("fr", "en"), entries=[("un", "one")])

    assert glossaries.delete("b", made.id) is False
    assert glossaries.delete("a", made.id) is True
    with database.transactions.reading() as session:
        assert list(session.scalars(select(DictionaryRow.glossary_id))) == [kept.id]

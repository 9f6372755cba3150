"""What a memory finds: exact matches with their variables, and everything that is like enough."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rapidfuzz.distance import Levenshtein

from nmt.memory.candidates import UNITS_A_PART, GramIndex, candidates
from nmt.memory.file import MemoryFile
from nmt.memory.grams import gram_numbers, parts_of
from nmt.memory.index import TranslationMemory
from nmt.memory.normal import normal_form
from nmt.memory.recall import recall
from nmt.memory.unit import TranslationUnit

EN_FR = ("en", "fr")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[MemoryFile]:
    file = MemoryFile(tmp_path / "memory.sqlite3", create=True)
    yield file
    file.close()


def memory_of(opened: MemoryFile, *pairs: tuple[str, str]) -> TranslationMemory:
    opened.add(EN_FR, [TranslationUnit(source, target) for source, target in pairs])
    return opened.memory(*EN_FR)


def exact(memory: TranslationMemory, text: str) -> str | None:
    match = memory.exact([text]).get(text)
    return None if match is None else match.target


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Page 3", "page  5"),
        ("Hello {name}!", "hello {user}!"),
        ("It\u2019s done", "it's done"),
        ("Copy %s to %(place)s", "copy %d to %s"),
        ("Click <b>Save</b>", "click <i>save</i>"),
        ("See https://a.example/x.", "see http://b.example."),
        ("caf\u00e9", "cafe\u0301"),
        ("$3.50 for 1,000", "$4 for 20"),
    ],
)
def test_case_space_numbers_and_placeholders_do_not_part_two_texts(one: str, other: str) -> None:
    assert normal_form(one).key == normal_form(other).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Open it.", "Open it?"),
        ("3a", "4a"),
        ("the 3rd", "the 4th"),
        ("a {x}", "a 3"),
        ("well-known", "well known"),
    ],
)
def test_words_and_marks_part_two_texts(one: str, other: str) -> None:
    assert normal_form(one).key != normal_form(other).key


@pytest.mark.parametrize(
    ("unit", "text", "expected"),
    [
        (("Page 3 of 10", "Page 3 sur 10"), "Page 5 of 12", "Page 5 sur 12"),
        (
            ("Hello {name}, you owe %s.", "Bonjour {name}, vous devez %s."),
            "Hello {n}, you owe %d.",
            "Bonjour {n}, vous devez %d.",
        ),
        (
            ("It costs 1,250 euros", "Cela coûte 1\u202f250 euros"),
            "It costs 3,400 euros",
            "Cela coûte 3\u202f400 euros",
        ),
        (
            ("It costs 1,250 euros", "Cela coûte 1\u00a0250 euros"),
            "It costs 3,400 euros",
            "Cela coûte 3\u00a0400 euros",
        ),
        (("From 3 to 5", "De 3 à 5"), "From 5 to 3", "De 5 à 3"),
        (("Page 3", "Page trois"), "Page 5", None),
        (("Page 3", "Page 3 (sur 3)"), "Page 5", None),
        (("3 of 3", "3 sur 3"), "4 of 5", None),
        (("Delete 1 sheep", "Supprimer 1 mouton"), "Delete 4 sheep", None),
        (("Delete 2 sheep", "Supprimer 2 moutons"), "Delete 4 sheep", "Supprimer 4 moutons"),
        (("Version 3", "Version 13, 3.5 et 3"), "Version 4", "Version 13, 3.5 et 4"),
        (("open file", "ouvrir le fichier"), "Open file", "Ouvrir le fichier"),
        (("Open file", "Ouvrir le fichier"), "OPEN FILE", None),
        (("Open file", "OUVRIR"), "open file", None),
        (("Open file", "« Ouvrir »"), "open file", None),
        (("Open  the\u00a0file", "Ouvrir le fichier"), "Open the file", "Ouvrir le fichier"),
        (("Open $HOME_DIR now", "Ouvrir $HOME_DIR"), "Open $ROOT_DIR now", "Ouvrir $ROOT_DIR"),
    ],
)
def test_an_exact_match_takes_the_variables_of_the_text_where_that_is_certain(
    opened: MemoryFile, unit: tuple[str, str], text: str, expected: str | None
) -> None:
    memory = memory_of(opened, unit)

    assert exact(memory, text) == expected
    assert exact(memory, unit[0]) == unit[1]
    [found] = memory.search(text)
    assert found.score == (1 if expected is not None else 0.99)
    assert found.target == (expected or unit[1])


def test_the_same_text_goes_before_a_like_one_and_the_newest_before_older_ones(opened: MemoryFile) -> None:
    memory = memory_of(
        opened, ("Page 3", "Page 3"), ("Page 5", "Folio 5"), ("Page 3", "Feuillet 3"), ("Page 7", "P. 7")
    )

    assert exact(memory, "Page 3") == "Feuillet 3"
    assert exact(memory, "Page 9") == "P. 9"


def test_what_is_there_is_not_stored_twice(opened: MemoryFile) -> None:
    pair = TranslationUnit("Open", "Ouvrir")

    assert opened.add(EN_FR, [pair, pair, TranslationUnit("Open", "Ouvert")]) == 2
    assert opened.add(EN_FR, [pair]) == 0
    assert [unit.target for unit in opened.all_units(*EN_FR)] == ["Ouvrir", "Ouvert"]


@pytest.mark.parametrize("threshold", [0.67, 0.75, 0.9])
def test_every_unit_that_is_like_enough_is_found(opened: MemoryFile, threshold: float) -> None:
    """Beside a search through all of them; no part here is in so many units that some are not read."""
    chosen = random.Random(threshold)
    vocabulary = [f"w{number}" for number in range(60)]
    units = [tuple(chosen.choices(vocabulary, k=chosen.randint(1, 20))) for _ in range(150)]
    memory = memory_of(opened, *((" ".join(words), "x") for words in units))
    n_found = 0
    for words in units:
        changed = list(words)
        for _ in range(chosen.randint(0, 4)):
            place = chosen.randrange(len(changed) + 1)
            changed[place : place + chosen.randint(0, 1)] = chosen.choices(vocabulary, k=chosen.randint(0, 1))
        if not changed:
            continue
        expected = {
            " ".join(other)
            for other in units
            if Levenshtein.normalized_similarity(changed, other) >= threshold
        }
        found = {match.source for match in memory.search(" ".join(changed), threshold, limit=200)}
        assert found == expected
        n_found += len(expected)
    assert n_found > 50


def test_of_many_that_share_their_words_the_nearest_is_found(opened: MemoryFile) -> None:
    words = [
        "click",
        "the",
        "save",
        "button",
        "in",
        "the",
        "file",
        "menu",
        "to",
        "store",
        "all",
        "open",
        "files",
        "now",
    ]
    many = [
        " ".join([*words[:2], f"x{number}", *words[3:8], f"y{number}", *words[9:]])
        for number in range(4 * UNITS_A_PART)
    ]
    near = " ".join([*words[:2], "keep", *words[3:]])
    memory = memory_of(opened, *((text, "x") for text in [*many, near]))

    assert memory.search(" ".join(words), 0.75, limit=1)[0].source == near


def test_where_many_units_have_each_part_the_best_is_nearly_always_found(opened: MemoryFile) -> None:
    """Beside a search through all units: without those that have all parts but one, 62 of 200 are missed."""
    chosen = random.Random(5)
    vocabulary, weights = [f"w{n}" for n in range(12)], [1 / (n + 1) for n in range(12)]
    units = [tuple(chosen.choices(vocabulary, weights, k=chosen.randint(8, 12))) for _ in range(4000)]
    memory = memory_of(opened, *((" ".join(words), "x") for words in units))
    n_missed = 0
    for words in units[::20]:
        changed = list(words)
        changed[chosen.randrange(len(changed))] = chosen.choices(vocabulary, weights)[0]
        nearest = max(Levenshtein.normalized_similarity(changed, other) for other in units)
        found = memory.best(" ".join(changed), 0.67)
        n_missed += found is None or found.score < min(nearest, 0.99) - 1e-4

    assert n_missed <= 10


@dataclass
class Watched:
    """An index, and the sets of grams that it was asked for."""

    index: GramIndex
    sets: list[tuple[int, ...]] = field(default_factory=list)

    def with_grams(self, sets: Sequence[Sequence[int]], most: int) -> list[list[int]]:
        self.sets += map(tuple, sets)
        return self.index.with_grams(sets, most)

    def firsts(self, numbers: Sequence[int], most: int) -> dict[int, list[int]]:
        return self.index.firsts(numbers, most)


def test_the_long_list_of_a_frequent_gram_is_not_read_beside_a_rare_one(opened: MemoryFile) -> None:
    rows = [f"a w{n} tail" if n % 80 else f"a w{n} b tail" for n in range(8000)]
    memory = memory_of(opened, *((row, "x") for row in rows))
    watched = Watched(opened.units)
    _, _, rare, _ = gram_numbers(memory.number, ["a", "b", "tail"])
    [with_rare] = opened.units.with_grams([[rare]], UNITS_A_PART)

    found = candidates(watched, memory.number, ["a", "b", "tail"], 0.75)

    assert len(with_rare) == UNITS_A_PART
    assert set(with_rare) <= set(found)
    assert watched.sets == []


def test_a_long_text_is_cut_into_few_parts() -> None:
    assert len(parts_of(1, ["a"] * 500, 0.75)) == 12
    assert all(parts_of(1, list("abcdefghij"), 0.5))


def test_memories_of_one_file_do_not_know_each_other(opened: MemoryFile) -> None:
    memory = memory_of(opened, ("Open the file", "Ouvrir le fichier"))
    opened.add(("fr", "en"), [TranslationUnit("Open the file", "Not French")])

    assert [match.target for match in memory.search("Open the files", 0.6)] == ["Ouvrir le fichier"]
    assert exact(opened.memory("fr", "en"), "Open the file") == "Not French"


def test_removed_units_are_gone_from_the_index_too(opened: MemoryFile) -> None:
    memory = memory_of(opened, *((f"Open file {chr(97 + index)} now", "x") for index in range(20)))
    units = opened.units

    assert [
        units.remove(memory.number, 15),
        units.remove(memory.number, 15),
        units.remove(memory.number, 15),
    ] == [15, 5, 0]
    assert memory.search("Open file a now", 0.5) == []
    numbers = parts_of(memory.number, normal_form("Open file a now").words, 0.5)
    assert units.with_grams(numbers, 10) == [[]] * len(numbers)
    assert opened.connection.execute("INSERT INTO memory_grams (memory_grams) VALUES ('integrity-check')")


def test_recall_looks_for_the_whole_then_lines_then_sentences(opened: MemoryFile) -> None:
    memory = memory_of(
        opened,
        ("One. Two.", "Un, deux."),
        ("Open the door.", "Ouvrez la porte."),
        ("He closes the old window of the house.", "Il ferme."),
    )
    text = "One. Two.\nOpen the door. He closes the new window of the house.\n\nWho?"

    found = recall(memory, [text, "One. Two."], 0.75)

    assert {match.text: (match.target, match.is_exact) for match in found} == {
        "One. Two.": ("Un, deux.", True),
        "Open the door.": ("Ouvrez la porte.", True),
        "He closes the new window of the house.": ("Il ferme.", False),
    }
    assert [match.text for match in recall(memory, [text], 1.0)] == ["One. Two.", "Open the door."]
    whole_lines = recall(memory, ["Open the door. Who?"], 1.0, split_sentences=False)
    assert whole_lines == ()


def test_a_file_that_is_no_memory_is_refused(tmp_path: Path) -> None:
    from nmt.errors import InputError

    with pytest.raises(InputError, match="there is no such memory; make one with nmt tm import"):
        MemoryFile(tmp_path / "none.sqlite3")
    (tmp_path / "text").write_text("no database " * 1000)
    with pytest.raises(InputError, match="cannot be opened as a memory: file is not a database"):
        MemoryFile(tmp_path / "text")


def test_a_failure_leaves_what_came_before_and_nothing_of_its_own(opened: MemoryFile) -> None:
    bad = [TranslationUnit("a b", "c"), TranslationUnit("d e", 3)]  # type: ignore[arg-type]
    opened.connection.set_authorizer(None)
    with pytest.raises((TypeError, sqlite3.Error, AttributeError)):
        opened.add(EN_FR, [*bad[:1], object()])  # type: ignore[list-item]

    assert list(opened.all_units(*EN_FR)) == []

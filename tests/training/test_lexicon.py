"""The lexicon: the right word for each, whole expressions, articles left out, case as in running text."""

import pytest

from training.lexicon import Entry, lexicon, lines, split_words

NOUNS = (
    ("table", "la table"),
    ("house", "la maison"),
    ("potato", "la pomme de terre"),
    ("apple", "la pomme"),
    ("afternoon", "l\u2019après-midi"),
    ("tree", "l'arbre"),
    ("Monday", "le lundi"),
    ("bread", "le pain"),
)
VERBS = (("sees", "voit"), ("wants", "veut"), ("forgets", "oublie"), ("finds", "trouve"))
PAIRS = [
    (f"{name} {verb} the {noun}.", f"{name} {verbe} {nom}.")
    for name in ("Anna", "Paul")
    for verb, verbe in VERBS
    for noun, nom in NOUNS
] + [("Earth is here.", "La terre est ici."), ("Goodbye, Paul.", "Au revoir, Paul.")] * 6


def entries(**limits: float) -> dict[str, str]:
    return {entry.source: entry.target for entry in lexicon(PAIRS, **limits)}


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    return entries()


def test_each_word_gets_its_translation_without_the_article(found: dict[str, str]):
    assert found["table"] == "table"
    assert found["afternoon"] == "après-midi"
    assert found["forgets"] == "oublie"


def test_an_expression_is_kept_whole_and_its_parts_are_not_taken_for_it(found: dict[str, str]):
    assert found["potato"] == "pomme de terre"
    assert found["apple"] == "pomme"


def test_an_expression_may_begin_with_a_preposition(found: dict[str, str]):
    assert found["goodbye"] == "au revoir"


def test_case_is_that_of_the_middle_of_a_sentence(found: dict[str, str]):
    assert found["Monday"] == "lundi"
    assert found["Paul"] == "Paul"


def test_rare_words_and_weak_entries_are_left_out(found: dict[str, str]):
    assert "Monday" not in entries(least=9)
    assert "Monday" not in entries(min_dice=1.01)


def test_long_sentences_are_not_read():
    assert entries(max_words=3) == {}


def test_every_entry_tells_how_often_it_was_linked_and_how_well():
    (entry,) = (entry for entry in lexicon(PAIRS) if entry.source == "table")
    assert entry == Entry("table", "table", 8, 1.0)


def test_training_lines_come_as_in_a_sentence_and_with_a_capital():
    assert list(lines([Entry("apple", "pomme", 5, 0.5), Entry("Paul", "Paul", 5, 0.5)])) == [
        ("apple", "pomme"),
        ("Apple", "Pomme"),
        ("Paul", "Paul"),
    ]


def test_apostrophes_and_elided_conjunctions_are_one():
    assert split_words("l\u2019eau qu'il") == ["l'", "eau", "que", "il"]

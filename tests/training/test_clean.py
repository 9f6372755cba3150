"""Cleaning: each rule refuses what it names and lets its neighbours pass; refusals add up."""

import unicodedata
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.clean import REASONS, RULES, clean, held_out_keys, normalize, overlap_key
from training.recipe import CleaningConfig

DEFAULT = CleaningConfig()


no_deadline = settings(deadline=None)  # the machine may be busy


def run(pairs, config=DEFAULT, held_out=()):
    counts: Counter[str] = Counter()
    kept = list(clean(pairs, config, held_out=held_out_keys(held_out), seen=set(), counts=counts))
    return kept, counts


def reason_for(source: str, target: str, **thresholds: object) -> str | None:
    kept, counts = run([(source, target)], CleaningConfig(**thresholds))
    (reason,) = (set(counts) - {"read"}) or {None}
    assert bool(kept) == (reason is None)
    return reason


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("", "Bonjour.", "empty"),
        ("Hello.", " \u00a0\t", "empty"),
        ("Hello.", "Bonjour\x07.", "control_characters"),
        ("Hello\ufffd.", "Bonjour.", "control_characters"),
        ("Hello \ue000.", "Bonjour.", "control_characters"),
        ("word " * 101, "mot " * 101, "too_long"),
        ("w" * 801, "m" * 801, "too_long"),
        ("Yes, of course I know.", "Oui, " * 15 + "je sais.", "length_ratio"),
        ("The cat is here.", "The Cat is here.", "identical"),
        ("The total is", "12 / 34 = 0,352", "few_letters"),
        ("12 / 34 = 0.352", "12 / 34 = 0,352", "few_letters"),
    ],
)
def test_each_rule_refuses_what_it_names(source: str, target: str, reason: str):
    assert reason_for(source, target) == reason
    assert reason_for(target, source) == reason


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Go.", "Vas-y tout de suite !"),
        ("Paris.", "Paris."),
        ("It's 8:30.", "Il est 8 h 30."),
        ("It costs 12.50 € in 2024.", "Cela coûte 12,50 € en 2024."),
        ("Family: 👨\u200d👩\u200d👧 and friends", "Famille : 👨\u200d👩\u200d👧 et amis"),
        ("word " * 99 + "end", "mot " * 99 + "fin"),
        ("I came.", "\u202bJe suis venu.\u202c"),
    ],
)
def test_what_is_merely_unusual_passes(source: str, target: str):
    assert reason_for(source, target) is None


@pytest.mark.parametrize(
    ("thresholds", "source", "target", "reason"),
    [
        ({"max_words": 2}, "one two", "un deux trois", "too_long"),
        ({"max_words": 3}, "one two", "un deux trois", None),
        ({"max_characters": 5}, "abcde", "abcdef", "too_long"),
        ({"max_length_ratio": 1.5}, "a" * 10, "b" * 20, None),
        ({"max_length_ratio": 1.5}, "a" * 10, "b" * 21, "length_ratio"),
        ({"identical_min_words": 1}, "Paris.", "Paris.", "identical"),
        ({"max_symbol_share": 0.5}, "a1", "b2", None),
        ({"max_symbol_share": 0.49}, "a1", "b2", "few_letters"),
    ],
)
def test_a_threshold_is_the_last_value_that_passes(
    thresholds: dict[str, float], source: str, target: str, reason: str
):
    assert reason_for(source, target, **thresholds) == reason


def test_a_pair_is_kept_once_and_another_translation_of_its_source_stays():
    kept, counts = run([("Hi.", "Salut."), ("Hi. ", "Salut."), ("Hi.", "Bonjour."), ("Hi.", "Salut.")])
    assert kept == [("Hi.", "Salut."), ("Hi.", "Bonjour.")]
    assert counts == {"read": 4, "duplicate": 2}
    assert len(run([("Hi.", "Salut.")] * 3, CleaningConfig(drop_duplicates=False))[0]) == 3


def test_no_source_sentence_of_a_test_set_passes_whatever_its_case_and_punctuation():
    test_set = ["Where is the station?", "...", ""]
    pairs = [
        ("where is  THE station", "Où est la gare ?"),
        ("Where is the bus station?", "Où est la gare routière ?"),
    ]
    kept, counts = run(pairs, held_out=test_set)
    assert kept == pairs[1:]
    assert counts["overlap"] == 1
    assert len(run(pairs, CleaningConfig(drop_overlap=False), held_out=test_set)[0]) == 2


def test_a_sentence_of_punctuation_alone_overlaps_with_nothing():
    assert held_out_keys(["?!", "", " "]) == set()


def test_normalisation_is_nfc_and_white_space_and_nothing_else():
    assert normalize(" l\u2019e\u0301te\u0301\u00a0:\tfin\u2028\n") == "l\u2019été : fin"
    assert normalize("«\u202fﬁn\u202f» “A” ’") == "« ﬁn » “A” ’"


@no_deadline
@given(st.text())
def test_normalising_twice_is_normalising_once(text: str):
    once = normalize(text)
    assert normalize(once) == once
    assert "\n" not in once
    assert unicodedata.is_normalized("NFC", once)


@no_deadline
@given(st.text())
def test_a_sentence_overlaps_with_itself_in_capitals_without_punctuation(text: str):
    assert overlap_key(overlap_key(text)) == overlap_key(text)
    assert overlap_key(f"  «{normalize(text)}» !") == overlap_key(text)


@no_deadline
@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), max_size=20))
def test_every_pair_read_is_kept_or_counted_under_one_reason(pairs):
    kept, counts = run(pairs, held_out=[source for source, _ in pairs[:2]])
    assert counts["read"] == len(pairs) == len(kept) + sum(counts[reason] for reason in REASONS)
    assert not any(rule(*pair, DEFAULT) for pair in kept for rule in RULES.values())
    assert len(set(kept)) == len(kept)

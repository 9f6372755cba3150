"""Cleaning: each rule refuses what it names and lets its neighbours pass; refusals add up."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.data.clean import OF_A_PAIR, RULES, Cleaner, held_out_keys, normalize, overlap_key
from training.recipe import CleaningConfig

DEFAULT = CleaningConfig()


no_deadline = settings(deadline=None)  # the machine may be busy


def run(pairs, config=DEFAULT, held_out=()):
    cleaner = Cleaner(config, ("en", "fr"), held_out_keys(held_out))
    kept = [one.pair for one in cleaner.clean(pairs)]
    return kept, cleaner.counts


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


STATISTICS = ("Exports: 1,024 in 1997, 2,048 in 1998", "Exportations : 1 024 en 1997, 2 048 en 1998")
FREE = ("word " * 40, "mot " * 40 + "et beaucoup de choses que personne n'a dites " * 3)


@pytest.mark.parametrize(
    ("thresholds", "source", "target", "reason"),
    [
        ({"max_digit_share": 0.4}, *STATISTICS, "digits"),
        ({"max_digit_share": 0.6}, *STATISTICS, None),
        ({}, *STATISTICS, None),
        ({"max_length_deviation": 2.0}, *FREE, "unlikely_length"),
        ({"max_length_deviation": 3.0}, *FREE, None),
        ({}, *FREE, None),
        ({"max_length_deviation": 1.0}, "a" * 100, "b" * 113, None),
        ({"max_length_deviation": 0.4}, "a" * 100, "b" * 113, "unlikely_length"),
        ({"max_length_deviation": 0.4, "expected_length_ratio": 1.13}, "a" * 100, "b" * 113, None),
    ],
)
def test_rules_for_gathered_corpora_are_asked_only_if_the_recipe_says_so(
    thresholds: dict[str, float], source: str, target: str, reason: str | None
):
    assert reason_for(source, target, **thresholds) == reason


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("We went home by train last night.", "Hier soir, nous sommes rentrés en train.", None),
        ("Hier soir, nous sommes rentrés en train.", "Hier soir, nous sommes rentrés en train !", "language"),
        ("We went home by train last night.", "We went home by train last night!", "language"),
        ("Wir sind gestern Abend mit dem Zug gefahren.", "Nous sommes rentrés hier soir.", "language"),
        ("Guten Morgen, Herr Schmidt!", "Bonjour, monsieur Schmidt !", None),
    ],
)
def test_a_side_in_another_language_is_refused_unless_it_is_too_short_to_tell(
    source: str, target: str, reason: str | None
):
    assert reason_for(source, target, language_certainty=0.9) == reason
    assert reason_for(source, target) is None


def test_the_same_pair_has_the_same_fingerprint_whatever_its_white_space():
    cleaner = Cleaner(DEFAULT, ("en", "fr"), set())
    first, same, other = cleaner.clean([("Hi.", "Salut."), ("Hi. ", "Salut."), ("Hi.", "Bonjour.")])
    assert first == same
    assert first.key != other.key


def test_refused_pairs_are_kept_as_samples_of_their_reason():
    cleaner = Cleaner(DEFAULT, ("en", "fr"), set())
    list(cleaner.clean([("Hi.", "Salut."), ("", "Vide."), ("Hello  there you.", "Hello there you.")]))
    assert cleaner.samples.pairs("empty") == [("", "Vide.")]
    assert cleaner.samples.pairs("identical") == [("Hello there you.", "Hello there you.")]


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
    assert counts["read"] == len(pairs) == len(kept) + sum(counts[reason] for reason in OF_A_PAIR)
    assert not any(rule(*pair, DEFAULT) for pair in kept for rule in RULES.values())

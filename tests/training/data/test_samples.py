"""Samples: the same few pairs, however the corpus was divided and in whatever order."""

import json
import random

from training.data.samples import MOST_CHARACTERS, N_SAMPLES, Samples, smallest

PAIRS = [
    ("digits", key, (f"source {key}", f"target {key}")) for key in random.Random(1).sample(range(999), 40)
]


def samples_of(found) -> Samples:
    samples = Samples()
    for one in found:
        samples.add(*one)
    return samples


def test_samples_of_parts_add_up_to_those_of_the_whole_in_any_order():
    whole = samples_of(PAIRS)
    merged = Samples()
    for part in (PAIRS[30:], PAIRS[:5], PAIRS[5:30], PAIRS[:5]):
        merged.merge(Samples(json.loads(json.dumps(samples_of(part).record()))))
    assert merged.pairs("digits") == whole.pairs("digits")
    assert len(whole.pairs("digits")) == N_SAMPLES
    assert whole.pairs("empty") == []


def test_only_a_pair_of_a_smaller_fingerprint_is_wanted_once_there_are_enough():
    samples = samples_of(("digits", key, ("a", "b")) for key in range(10, 10 + N_SAMPLES))
    assert samples.wants("digits", 3)
    assert not samples.wants("digits", 99)
    assert samples.wants("language", 99)


def test_long_text_is_cut_with_an_ellipsis():
    ((source, target),) = samples_of([("too_long", 1, ("x" * 5000, "y" * MOST_CHARACTERS))]).pairs("too_long")
    assert len(source) == MOST_CHARACTERS
    assert source.endswith("x…")
    assert target == "y" * MOST_CHARACTERS


def test_the_smallest_are_told_by_position():
    assert smallest([5, 1, 9, 0])[:2] == [3, 1]

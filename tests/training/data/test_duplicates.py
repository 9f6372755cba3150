"""Duplicates found by sorting are those that a set would find."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from training.data.duplicates import first_occurrences


@settings(deadline=None, max_examples=50)
@given(
    arrays=st.lists(st.lists(st.integers(2**64 - 5, 2**64 - 1) | st.integers(0, 9)), max_size=5),
    keys_at_once=st.integers(1, 20),
)
def test_the_first_of_each_kind_is_found_in_however_many_passes(arrays, keys_at_once):
    def read():
        return (np.array(array, dtype=np.uint64) for array in arrays)

    keys = [key for array in arrays for key in array]
    first = first_occurrences(read, len(keys), keys_at_once)
    assert first.tolist() == [key not in keys[:index] for index, key in enumerate(keys)]

"""Which of many pairs came before: sorted fingerprints instead of a set that grows with every pair.

Eight bytes for each pair are read from files, some millions at a time; one byte for each stays in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]

KEYS_AT_ONCE = 4_000_000


def first_occurrences(
    read: Callable[[], Iterable[Keys]], n_keys: int, keys_at_once: int = KEYS_AT_ONCE
) -> npt.NDArray[np.bool_]:
    """For each fingerprint in order: True if none before it is the same.

    Args:
        read: gives all fingerprints, in order, in arrays of any length; called once for each pass.
        n_keys: how many there are.
        keys_at_once: about as many are sorted together, in a pass of their own.
    """
    first = np.ones(n_keys, dtype=np.bool_)
    n_passes = -(-n_keys // keys_at_once)
    for number in range(n_passes):
        keys, positions = _share(read(), number, n_passes)
        order = np.argsort(keys, kind="stable")
        same = keys[order[1:]] == keys[order[:-1]]
        first[positions[order[1:][same]]] = False
    return first


def _share(arrays: Iterable[Keys], number: int, of: int) -> tuple[Keys, npt.NDArray[np.int64]]:
    """The fingerprints that leave ``number`` when divided by ``of``, and their positions."""
    keys, positions = [], []
    start = 0
    for array in arrays:
        (chosen,) = np.nonzero(array % np.uint64(of) == number)
        keys.append(array[chosen])
        positions.append(chosen + start)
        start += len(array)
    return np.concatenate(keys), np.concatenate(positions)

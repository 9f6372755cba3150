"""Pairs of neighbouring words, by which units are indexed, and which pairs a unit like a text must have.

Of e edits at most, and a text cut into e + 1 parts, one part at least is untouched (the pigeonhole principle;
Navarro 2001, "A guided tour to approximate string matching", section 5.2). So a unit is a candidate if it has
all pairs of some part.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from itertools import pairwise

MOST_PARTS = 12
EDGE = "\ue002"
"""Stands before the first and after the last word."""


def gram_numbers(memory: int, words: Sequence[str]) -> list[int]:
    """A number of 32 bits for each pair of neighbours, of the memory's own, the edges counted as words.

    Two pairs may share a number: what is found by them is scored by its words.
    """
    edged = (EDGE, *words, EDGE)
    start = f"{memory}\0"
    return [
        zlib.crc32(f"{start}{one}\0{other}".encode("utf-8", "surrogatepass"))
        for one, other in pairwise(edged)
    ]


def parts_of(memory: int, words: Sequence[str], threshold: float) -> list[list[int]]:
    """The gram numbers of each part of a text; a candidate has all of one part.

    All units that score ``threshold`` or more do where each part has a pair of words in it: from two thirds
    on, for texts of at most 33 words at three quarters. Else most of them do.
    """
    numbers = gram_numbers(memory, words)
    n_parts = max(1, min(most_edits(len(words), threshold) + 1, (len(words) + 2) // 2, MOST_PARTS))
    bounds = [index * (len(words) + 2) // n_parts for index in range(n_parts + 1)]
    return [numbers[start : end - 1] for start, end in pairwise(bounds)]  # the pairs inside each


def most_edits(n_words: int, threshold: float) -> int:
    """How many edits a unit may need that scores ``threshold`` with a text of ``n_words``.

    A unit of m words needs at most (1 - threshold) max(n, m), and m is at most n / threshold.
    """
    return math.floor((1 - threshold) * n_words / threshold + 1e-9)

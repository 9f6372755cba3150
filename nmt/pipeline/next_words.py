"""The words that may follow the beginning of a translation, with their probabilities.

The model predicts pieces, so words are put together by a best-first search: a piece begins a word, others go
on with it, and it ends where the next piece belongs to another word. Its probability is the product of its
pieces' and of that end, which is estimated from the likeliest pieces of the place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from nmt.pipeline.requests import Flow, NextPieces, pieces_after
from nmt.text.placeholders import PLACEHOLDERS
from nmt.text.words import words
from nmt.tokenizer import WORD_START

MORE_PIECES = 4
"""Pieces asked for at each place beside as many as words."""
LONGEST = 12
"""Pieces of a word."""
_JOINTS = frozenset("'\u2019\u2010\u2011-")


@dataclass(frozen=True)
class NextWord:
    """A word or punctuation mark that may come next."""

    text: str
    prefix: str
    """What the translation then begins with."""
    probability: float
    """That it is the next one, as the model has it."""


def next_words(
    asked: NextPieces,
    given: str,
    pieces: Sequence[str],
    eos: int,
    written: Callable[[tuple[int, ...]], str],
) -> Flow[tuple[NextWord, ...]]:
    """The words that may follow, likeliest first.

    Args:
        asked: what is translated and its one beginning; its count is that of words.
        given: the text of that beginning.
        pieces: the vocabulary of the translation.
        eos: the id that ends a translation, which is no word.
        written: the beginning with what ids after it stand for.
    """
    [prefix] = asked.prefixes
    before = _surface(pieces, prefix)
    count = asked.count + MORE_PIECES
    whole: dict[str, float] = {}
    begun: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(LONGEST):
        prefixes = tuple((*prefix, *ids) for ids in begun)
        followers = yield from pieces_after(replace(asked, prefixes=prefixes, count=count))
        longer: dict[tuple[int, ...], float] = {}
        for (ids, probability), following in zip(begun.items(), followers, strict=True):
            surface = _surface(pieces, ids)
            listed = ends = 0.0
            for id_, log_prob in following:
                share = math.exp(log_prob)
                listed += share
                if id_ == eos or not _goes_on(surface, pieces[id_]):
                    ends += share
                elif ids or not before or not _goes_on(before, pieces[id_]):
                    longer[(*ids, id_)] = probability * share
            if surface.strip():
                text = written(ids)
                whole[text] = whole.get(text, 0.0) + probability * ends / listed
        best = sorted(whole.values(), reverse=True)
        least = best[asked.count - 1] if len(best) >= asked.count else 0.0
        ranked = sorted(longer.items(), key=lambda entry: -entry[1])[:count]
        begun = {ids: probability for ids, probability in ranked if probability > least}
        if not begun:
            break
    return _ranked(whole, given)[: asked.count]


def _ranked(whole: Mapping[str, float], given: str) -> tuple[NextWord, ...]:
    """Beginnings as their last words, likeliest first; a word with and without a space before it is one."""
    found: dict[str, NextWord] = {}
    for text, probability in sorted(whole.items(), key=lambda entry: -entry[1]):
        word = text[len(given) :].strip()
        if word in found:
            found[word] = replace(found[word], probability=found[word].probability + probability)
        elif word and "\ufffd" not in word:
            found[word] = NextWord(word, text, probability)
    return tuple(sorted(found.values(), key=lambda one: -one.probability))


def _surface(pieces: Sequence[str], ids: Sequence[int]) -> str:
    return "".join(pieces[id_] for id_ in ids).replace(WORD_START, " ").lstrip()


def _goes_on(surface: str, piece: str) -> bool:
    """Whether a piece begins a word or goes on with the last one: l' and homme are two, peut-être is one."""
    more = piece.replace(WORD_START, " ")
    if not surface:
        return True
    if more.startswith(" "):
        return False
    is_joint = surface[-1].isalnum() and (more[0] in _JOINTS or piece in PLACEHOLDERS)
    return is_joint or piece.startswith("<0x") or words(surface + more[0])[-1].start < len(surface)

"""Words between two literals that touch them stay between them: %shere%s, **bold**, <1>here</1>.

Where the model moved a pair to other words, the words between are translated by themselves. Pair and words
are one placeholder of a second search.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from nmt.pipeline.asides import AsideSearch
from nmt.pipeline.flags import copied_words
from nmt.pipeline.prepare import PreparedSentence, ProtectedSpan, slice_of
from nmt.pipeline.quality import Found
from nmt.pipeline.requests import Flow
from nmt.spans import Span
from nmt.text.asides import Aside
from nmt.text.languages import KNOWN, rules

MOST_PAIRS = 4
"""Pairs of a sentence; more of them are left as the model wrote them."""
LONG_WORD = 4
"""Letters of a word that tells what a stretch of text is about."""

_WORD = re.compile(r"[^\W\d_]+")
_OPENS = re.compile(r"([\[<]|\{%-?\s*)(\w+)")
_CLOSES = re.compile(r"([\[<](?=/)|\{%-?\s*(?=end))(?:/|end)(\w+)")


def pairs(text: str, copied: Sequence[ProtectedSpan]) -> list[Aside]:
    """Two literals in a row and the words between, beside them or as in [b] words [/b]."""
    found = []
    for first, last in pairwise(copied):
        between = text[first.span.end : last.span.start]
        inner = between.strip()
        if not (inner[:1].isalpha() and inner[-1:].isalpha()):
            continue
        if inner == between or _is_element(text[slice_of(first.span)], text[slice_of(last.span)]):
            start = first.span.end + between.index(inner)
            whole = Span(first.span.start, last.span.end)
            found.append(Aside(whole, Span(start, start + len(inner)), is_quoted=False))
    return found


def _is_element(first: str, last: str) -> bool:
    """Whether two literals are the ends of one thing: [b] and [/b], {% if x %} and {% endif %}."""
    opening, closing = _OPENS.match(first), _CLOSES.match(last)
    if opening is None or closing is None:
        return False
    return (opening[1], opening[2]) == (closing[1], closing[2])


def moved_pairs(
    search: AsideSearch, sentence: PreparedSentence, found: Found
) -> Flow[list[tuple[Aside, str]]]:
    """The pairs that no longer stand around their words, and what is to stand between them."""
    best = found[0][0]
    around = pairs(sentence.text, sentence.copied)
    if best.copied or len(around) > MOST_PAIRS:
        return []
    places = dict(best.kept)
    firsts = {entry.span.start: entry.span for entry in sentence.copied}
    lasts = {entry.span.end: entry.span for entry in sentence.copied}
    moved = []
    for pair in around:
        inner = sentence.text[slice_of(pair.inner)]
        alone = yield from search.alone(sentence, inner)
        left = copied_words(inner, alone, sentence.source_language) if alone is not None else []
        if alone is not None and left:
            alone = yield from search.word_by_word(sentence, left, alone)
        first, last = places.get(firsts[pair.span.start]), places.get(lasts[pair.span.end])
        known = search.known(sentence, inner)
        if alone is not None and not is_around(
            best.text, first, last, inner, alone, is_known=known is not None and known.has(alone)
        ):
            moved.append((pair, without_article(alone, inner, sentence.target_language)))
    return moved


def is_around(
    text: str, first: Span | None, last: Span | None, source: str, alone: str, *, is_known: bool = False
) -> bool:
    """Whether two places of a translation stand around what ``source`` means.

    That is most of the words of ``alone``, its translation by itself, or one word for one word that the
    lexicon does not know, and no word that was only copied.
    """
    if first is None or last is None or last.start < first.end:
        return False
    inside, expected, read = (
        [word.lower() for word in _WORD.findall(part)]
        for part in (text[first.end : last.start], alone, source)
    )
    left = set(inside) & set(read) - set(expected)
    if left or len(read) == len(inside) == 1:
        return not left and (inside == expected or not is_known)
    long = [word for word in expected if len(word) >= LONG_WORD] or expected
    n_there = sum(word in inside for word in long)
    return n_there > len(long) / 2 and abs(len(inside) - len(expected)) <= max(1, len(expected) // 3)


def without_article(alone: str, source: str, language: str) -> str:
    """Text between a pair without an article of its own: the words before the pair have one."""
    article = rules(language).articles
    has_own = any(one.articles is not None and one.articles.match(source) for one in KNOWN.values())
    match = None if article is None or has_own else article.match(alone)
    return alone if match is None else alone[match.end() :]

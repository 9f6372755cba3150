"""Words between two literals that touch them stay between them: %shere%s, **bold**, <1>here</1>.

The sentence is translated without its pairs, and they are put back along the word alignment, as tags are.
Where the links do not agree on a place, the translation with a placeholder for each literal is as good, if
its pairs stand around their words. Else these are translated by themselves: pair and words are one
placeholder of another search.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from nmt.alignment.alignment import Alignment
from nmt.alignment.projection import Mark, project
from nmt.alignment.votes import OneSentence
from nmt.pipeline.asides import AsideSearch
from nmt.pipeline.flags import copied_words
from nmt.pipeline.prepare import ModelInput, PreparedSentence, ProtectedSpan, slice_of
from nmt.pipeline.quality import Found
from nmt.pipeline.requests import Flow, align_with
from nmt.pipeline.restore import link_kept, rewrite
from nmt.pipeline.result import Candidate
from nmt.spans import Span, overlap
from nmt.text.asides import Aside
from nmt.text.edits import Edit, Rewriting
from nmt.text.languages import KNOWN, rules
from nmt.text.words import Token

MOST_PAIRS = 4
"""Pairs of a sentence; more of them are left as the model wrote them."""
AS_LONG = 2
"""A translation is at most so many times as long, or as short, as what a pair stands around."""
LONG_WORD = 4
"""Letters of a word that tells what a stretch of text is about."""

_WORD = re.compile(r"[^\W\d_]+")
_OPENS = re.compile(r"([\[<]|\{%-?\s*)(\w+)")
_CLOSES = re.compile(r"([\[<](?=/)|\{%-?\s*(?=end))(?:/|end)(\w+)")


def pairs(text: str, copied: Sequence[ProtectedSpan]) -> list[Aside]:
    """Two literals in a row and the words between, beside them or as in [b] words [/b]; each in one pair."""
    found: list[Aside] = []
    for first, last in pairwise(copied):
        between = text[first.span.end : last.span.start]
        inner = between.strip()
        if found and found[-1].span.end > first.span.start:
            continue
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
) -> Flow[list[tuple[Aside, str | None]]]:
    """The pairs that no longer stand around their words, and what is to stand there, where that is known."""
    best = found[0][0]
    around = pairs(sentence.text, sentence.copied)
    places = dict(best.kept)
    firsts = {entry.span.start: entry.span for entry in sentence.copied}
    lasts = {entry.span.end: entry.span for entry in sentence.copied}
    moved: list[tuple[Aside, str | None]] = []
    for pair in around:
        inner = sentence.text[slice_of(pair.inner)]
        alone = yield from search.alone(sentence, inner)
        left = copied_words(inner, alone, sentence.source_language) if alone is not None else []
        if alone is not None and left:
            alone = yield from search.word_by_word(sentence, left, alone)
        first, last = places.get(firsts[pair.span.start]), places.get(lasts[pair.span.end])
        known = search.known(sentence, inner)
        if alone is None:
            moved.append((pair, None))
        elif not is_around(
            best.text, first, last, inner, alone, is_known=known is not None and known.has(alone)
        ):
            moved.append((pair, without_article(alone, inner, sentence.target_language)))
    return moved


def projected(
    search: AsideSearch, sentence: PreparedSentence, found: Found
) -> Flow[tuple[Found, bool] | None]:
    """The translation without the pairs, and they where the links of their words say; None: nowhere.

    And whether to believe it: no word between a pair is linked to one outside, and what is there is about as
    long as what was.
    """
    around = pairs(sentence.text, sentence.copied)
    signs = [
        (Span(pair.span.start, pair.inner.start), Span(pair.inner.end, pair.span.end)) for pair in around
    ]
    bare = Rewriting.of(sentence.text, [Edit(span, "") for pair in signs for span in pair])
    preparer = search.preparer
    keep = [
        bare.forward(span.start, span.end)
        for span in sentence.keep
        if not any(first.start <= span.start < last.end for first, last in signs)
    ]
    part = preparer.prepare(bare.new, preparer.literals(bare.new), keep, sentence.options)
    if part.model_input is None:
        return None
    (best, *_), flags = yield from search.attempt(part, part.model_input)
    copies = [bare.backward(source.start, source.end) for source, _ in best.kept]
    is_glued = any(overlap(copy, sign) for copy in copies for pair in signs for sign in pair)
    if best.copied or flags or not best.finished or is_glued:  # "50 %<b>x</b>" has no %x
        return None
    read = best.source_pieces or preparer.source_pieces(ModelInput(Rewriting.of(bare.new, ())))
    alignment = link_kept((yield from align_with((bare.new, read), (best.text, best.pieces))), best.kept)
    if not alignment.links:
        return None
    spans = Span(0, len(bare.new)), Span(0, len(best.text))
    tokens = alignment.source_tokens, alignment.target_tokens
    linked = OneSentence(*spans, best.text, *tokens, alignment.links, best.kept)
    inner = [bare.forward(pair.inner.start, pair.inner.end) for pair in around]
    places = project(bare.new, [Mark(span.start, span.end) for span in inner], linked)
    if any(place.start == place.end for place in places):
        return None
    placed = _put_back(sentence.text, bare, replace(best, source_pieces=tuple(read)), signs, places)
    fits = all(_agrees(alignment, *ends) and _is_as_long(*ends) for ends in zip(inner, places, strict=True))
    return ((placed, *found[0]), flags), fits


def _agrees(alignment: Alignment, source: Span, target: Span) -> bool:
    """Whether each link has both its words in the spans, or none."""
    return all(
        overlap(_span(alignment.source_tokens[link.source]), source)
        == overlap(_span(alignment.target_tokens[link.target]), target)
        for link in alignment.links
    )


def _is_as_long(source: Span, target: Span) -> bool:
    lengths = source.end - source.start, target.end - target.start
    return max(lengths) <= AS_LONG * min(lengths)


def _span(token: Token) -> Span:
    return Span(token.start, token.end)


def _put_back(
    text: str,
    bare: Rewriting,
    best: Candidate,
    signs: Sequence[tuple[Span, Span]],
    places: Sequence[Span],
) -> Candidate:
    """``best``, whose source is ``bare``, with each pair at its place; spans are of the whole sentence."""

    def in_whole(span: Span) -> Span:
        return bare.backward(span.start, span.end)

    edits = [
        (sign, Edit(Span(at, at), text[slice_of(sign)]))
        for (first, last), place in zip(signs, places, strict=True)
        for sign, at in ((first, place.start), (last, place.end))
    ]
    edits.sort(key=lambda one: one[1].span.start)
    rewriting = Rewriting.of(best.text, [edit for _, edit in edits])
    kept = [(in_whole(source), rewriting.forward(target.start, target.end)) for source, target in best.kept]
    for (sign, _), (_, written) in zip(edits, rewriting.replaced, strict=True):
        kept.append((Span(*_stripped(text, sign)), Span(*_stripped(rewriting.new, written))))
    moved = rewrite(replace(best, kept=()), rewriting)
    return replace(
        moved,
        kept=tuple(sorted(kept, key=lambda pair: pair[0].start)),
        source_pieces=tuple(
            replace(piece, start=span.start, end=span.end)
            for piece in best.source_pieces
            for span in [in_whole(Span(piece.start, piece.end))]
        ),
    )


def _stripped(text: str, span: Span) -> tuple[int, int]:
    part = text[slice_of(span)]
    return span.start + len(part) - len(part.lstrip()), span.end - len(part) + len(part.rstrip())


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

"""Word links made ready for projection: which source tokens each target token speaks for, and how loudly.

Attention links punctuation badly, so three things are certain before it: spans that the translator copied
(``kept``), and numbers, names and punctuation marks of a kind that stand equally often on both sides of a
sentence. And it likes to link an article to the noun ("La" to "car" for "the red car"): such a
weak second link goes to the word without any link that stands before in the source.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from nmt.alignment.pharaoh import Link
from nmt.spans import Span
from nmt.text.words import Token, words

_CERTAIN = 1.0
_FAINT = 1e-3
"""A link is a link, even with score 0."""
_NAME_LENGTH = 3
_REACH = 3
"""Words from an article to its noun."""
_WEAK = 0.8
"""Share of the strongest link of the same word."""
_MARK_KINDS = dict.fromkeys(("!", "?", "\u2026", "..."), ".") | dict.fromkeys("\u00ab\u00bb\u201c\u201d", '"')
"""Marks that stand for each other across languages; any other mark is of its own kind."""


class SentenceSpans(Protocol):
    """Where a sentence is."""

    @property
    def source(self) -> Span:
        """In the text."""

    @property
    def target(self) -> Span:
        """In its translation."""


class Linked(Protocol):
    """What projection reads of a translation; ``nmt.pipeline.result.Translation`` is one."""

    @property
    def text(self) -> str:
        """The translation."""

    @property
    def source_tokens(self) -> Sequence[Token] | None:
        """Words of the source; None: not aligned."""

    @property
    def target_tokens(self) -> Sequence[Token] | None:
        """Words of ``text``."""

    @property
    def links(self) -> Sequence[Link] | None:
        """Links between them."""

    @property
    def kept(self) -> Sequence[tuple[Span, Span]]:
        """Copies: spans of the source and of ``text``."""

    @property
    def sentences(self) -> Sequence[SentenceSpans]:
        """In order."""


@dataclass(frozen=True)
class OneSentence:
    """A linked sentence by itself."""

    source: Span
    target: Span
    text: str
    source_tokens: Sequence[Token]
    target_tokens: Sequence[Token]
    links: Sequence[Link]
    kept: Sequence[tuple[Span, Span]]

    @property
    def sentences(self) -> Sequence[SentenceSpans]:
        """The sentence."""
        return (self,)


class Votes:
    """Source and target tokens, the weights of the links between them, and the sentences they are in.

    Args:
        source: tokens of the source text, in order.
        target: the same of the translation.
        weights: for each target token, source token -> weight.
        sentences: source and target tokens of each sentence, in order.
        copies: (start, end) character of a copied span -> target tokens of the copy.
    """

    def __init__(
        self,
        source: Sequence[Token],
        target: Sequence[Token],
        weights: Sequence[dict[int, float]],
        sentences: Sequence[tuple[range, range]],
        copies: Mapping[tuple[int, int], range],
    ) -> None:
        self.n_source, self.n_target = len(source), len(target)
        self.copies = copies
        self._target = target
        self._source_starts = [token.start for token in source]
        self._source_ends = [token.end for token in source]
        self._weights = weights
        self._totals = [sum(weight.values()) for weight in weights]
        self._sentences = sentences
        self._first_sources = [inside_source.start for inside_source, _ in sentences]
        self._sentence_of: list[int | None] = [None] * self.n_target
        for index, (_, inside_target) in enumerate(sentences):
            for token in inside_target:
                self._sentence_of[token] = index
        self._targets: list[list[int]] = [[] for _ in source]
        for index, weight in enumerate(weights):
            for linked in weight:
                self._targets[linked].append(index)
        self._before = _nearest(self._totals)
        self._after = [
            None if other is None else self.n_target - 1 - other for other in _nearest(self._totals[::-1])
        ][::-1]

    def source_range(self, start: int, end: int) -> tuple[int, int]:
        """Source tokens [first, last) that overlap characters [start, end); a point lies before ``first``."""
        first = bisect_right(self._source_ends, start)
        last = bisect_left(self._source_starts, end)
        return (first, last) if first < last and start < end else (last, last)

    def targets_of(self, source: int) -> Sequence[int]:
        """Target tokens linked to a source token, in order; none for an index outside the text."""
        return self._targets[source] if 0 <= source < self.n_source else ()

    def total(self, target: int) -> float:
        """Weight of all links of a target token."""
        return self._totals[target]

    def inside(self, target: int, covered: tuple[int, int]) -> float:
        """Weight of the links of a target token to source tokens in ``covered``."""
        return sum(
            weight for source, weight in self._weights[target].items() if covered[0] <= source < covered[1]
        )

    def sentence_within(self, target: int, covered: tuple[int, int]) -> bool:
        """All source tokens of the target token's sentence are in ``covered``."""
        index = self._sentence_of[target]
        if index is None:
            return False
        inside_source, _ = self._sentences[index]
        return (
            len(inside_source) > 0 and covered[0] <= inside_source.start and inside_source.stop <= covered[1]
        )

    def target_bounds(self, first: int, last: int) -> tuple[int, int]:
        """Target tokens of the sentences that source tokens [first, last) are in."""
        if not self._sentences:
            return 0, self.n_target
        begin = max(0, bisect_right(self._first_sources, first) - 1)
        end = max(begin, bisect_left(self._first_sources, last) - 1)
        return self._sentences[begin][1].start, self._sentences[end][1].stop

    def linked_neighbours(self, target: int) -> tuple[int | None, int | None]:
        """The nearest target tokens before and after that have links; None at the edge of the sentence."""
        before, after = self._before[target], self._after[target]
        own = self._sentence_of[target]
        return (
            before if before is not None and self._sentence_of[before] == own else None,
            after if after is not None and self._sentence_of[after] == own else None,
        )

    def divide(self, left: int, low: int, high: int, outer: tuple[int, int]) -> int:
        """The boundary in target tokens [low, high) that best has source tokens before ``left`` before it.

        Without any link it is the one at the same relative position.
        """
        first, last = self.target_bounds(max(0, left - 1), left + 1)
        first, last = max(low, min(first, high)), min(high, max(last, low))
        scores = [0.0]
        for target in range(first, last):
            score = scores[-1]
            for source, weight in self._weights[target].items():
                score += weight if source < left else -weight
            scores.append(score)
        if not any(self._totals[first:last]):
            share = (left - outer[0]) / max(1, outer[1] - outer[0])
            return min(high, max(low, low + round(share * (high - low))))
        return first + max(range(len(scores)), key=lambda place: (scores[place], -place))

    def characters(self, first: int, last: int) -> Span:
        """Target characters of tokens [first, last)."""
        return Span(self._target[first].start, self._target[last - 1].end)

    def edge(self, boundary: int, low: int, high: int, side: str) -> int:
        """The target character of a boundary: before the white space there, or after it for "right"."""
        if not self.n_target:
            return 0
        if boundary >= high or (boundary > low and side != "right"):
            return self._target[boundary - 1].end if boundary else self._target[0].start
        return self._target[boundary].start


def votes_of(source_text: str, edges: Iterable[int], translation: Linked) -> Votes:
    """Tokens, sentences and cleaned links of a translation; without alignment only the certain links.

    Args:
        source_text: the text that was translated.
        edges: characters of it where marks begin or end: a word that is the same in the translation is cut
            there, so that of "H2O" the 2 alone can be marked.
        translation: of the text.
    """
    source = words(source_text) if translation.source_tokens is None else translation.source_tokens
    target = words(translation.text) if translation.target_tokens is None else translation.target_tokens
    sentences = [(sentence.source, sentence.target) for sentence in translation.sentences]
    edges = sorted(set(edges))
    same: list[tuple[Span, Span]] = list(translation.kept)
    for read, written in translation.kept:  # parts of a copy are where they were in it
        if source_text[read.start : read.end] == translation.text[written.start : written.end]:
            same += _parts(read, written, edges)
    for inside, there in sentences:
        pairs = _certain_pairs(_overlapping(source, inside), _overlapping(target, there), source, target)
        for one, other in pairs:
            if source[one].text == target[other].text:
                same += _parts(source[one], target[other], edges)
    cut_source, source_parts = _cut(source, [span for span, _ in same])
    cut_target, target_parts = _cut(target, [span for _, span in same])
    weights: list[dict[int, float]] = [{} for _ in cut_target]
    for link in translation.links or ():
        for one in source_parts[link.source]:
            for other in target_parts[link.target]:
                if _is_mark(cut_source[one]) == _is_mark(cut_target[other]):
                    weights[other][one] = max(link.score, _FAINT)
    ranges = [
        (_overlapping(cut_source, inside), _overlapping(cut_target, written)) for inside, written in sentences
    ]
    for inside_source, inside_target in ranges:
        certain = _certain_pairs(inside_source, inside_target, cut_source, cut_target)
        _make_certain(weights, certain, inside_target)
        _link_unlinked(weights, inside_source, inside_target, cut_source)
    copies: dict[tuple[int, int], range] = {}
    for source_span, target_span in same:
        inside_source, inside_target = (
            _overlapping(cut_source, source_span),
            _overlapping(cut_target, target_span),
        )
        copies[source_span.start, source_span.end] = inside_target
        for index in inside_target:
            weights[index] = {other: _CERTAIN / len(inside_source) for other in inside_source}
    return Votes(cut_source, cut_target, weights, ranges, copies)


def _parts(source: Token | Span, target: Token | Span, edges: Sequence[int]) -> list[tuple[Span, Span]]:
    """The parts of two equal texts between the edges inside of the first; none without such an edge."""
    inside = edges[bisect_right(edges, source.start) : bisect_left(edges, source.end)]
    if not inside:
        return []
    shift = target.start - source.start
    return [
        (Span(start, end), Span(start + shift, end + shift))
        for start, end in pairwise([source.start, *inside, source.end])
    ]


def _cut(tokens: Sequence[Token], spans: Iterable[Span]) -> tuple[Sequence[Token], Sequence[range]]:
    """Tokens cut where a span begins or ends in one, and the parts of each."""
    edges = sorted({edge for span in spans for edge in (span.start, span.end)})
    parts: list[Token] = []
    places: list[range] = []
    for token in tokens:
        inside = edges[bisect_right(edges, token.start) : bisect_left(edges, token.end)]
        cuts = [token.start, *inside, token.end]
        places.append(range(len(parts), len(parts) + len(cuts) - 1))
        parts += [
            Token(token.text[start - token.start : end - token.start], start, end)
            for start, end in pairwise(cuts)
        ]
    return parts, places


def _certain_pairs(
    sources: Iterable[int], targets: Iterable[int], source: Sequence[Token], target: Sequence[Token]
) -> list[tuple[int, int]]:
    """Numbers, names and marks of a kind, where they stand equally often on both sides: pairs in order."""
    source_by_kind, target_by_kind = _by_kind(sources, source), _by_kind(targets, target)
    return [
        pair
        for kind, indices in source_by_kind.items()
        if len(indices) == len(target_by_kind.get(kind, ()))
        for pair in zip(indices, target_by_kind[kind], strict=True)
    ]


def _by_kind(indices: Iterable[int], tokens: Sequence[Token]) -> dict[str, list[int]]:
    kinds: dict[str, list[int]] = {}
    for index in indices:
        text = tokens[index].text
        if _is_mark(tokens[index]) or _is_name(text):
            kinds.setdefault(_MARK_KINDS.get(text, text), []).append(index)
    return kinds


def _make_certain(
    weights: list[dict[int, float]], pairs: Iterable[tuple[int, int]], targets: Iterable[int]
) -> None:
    """Links of ``pairs`` replace all others of their source and target tokens."""
    taken = dict(pairs)
    for index in targets:
        for other in taken.keys() & weights[index].keys():
            del weights[index][other]
    for source, target in taken.items():
        weights[target] = {source: _CERTAIN}


def _link_unlinked(
    weights: list[dict[int, float]], sources: range, targets: range, source: Sequence[Token]
) -> None:
    """A source word without links takes the first target token of the words after it, if that is spare.

    Spare is a token whose one link is weak beside another link of the same source word.
    """
    linked: dict[int, dict[int, float]] = {}
    for target in targets:
        for other, weight in weights[target].items():
            linked.setdefault(other, {})[target] = weight
    for word in reversed(sources):
        if word in linked or _is_mark(source[word]):
            continue
        following = range(word + 1, min(word + 1 + _REACH, sources.stop))
        found = [(min(linked[other]), other) for other in following if other in linked]
        if not found:
            continue
        target, owner = min(found)
        weight = linked[owner][target]
        if len(weights[target]) == 1 and weight <= _WEAK * max(linked[owner].values()):
            weights[target] = {word: weight}
            linked[word] = {target: linked[owner].pop(target)}


def _overlapping(tokens: Sequence[Token], span: Span) -> range:
    first = bisect_right(tokens, span.start, key=lambda token: token.end)
    return range(first, max(first, bisect_left(tokens, span.end, key=lambda token: token.start)))


def _is_mark(token: Token) -> bool:
    return not any(character.isalnum() for character in token.text)


def _is_name(text: str) -> bool:
    """With a digit, or a capital letter and long enough to be no article: the same word is the same thing."""
    return any(c.isdigit() for c in text) or (len(text) >= _NAME_LENGTH and any(c.isupper() for c in text))


def _nearest(totals: Sequence[float]) -> list[int | None]:
    """For each token, the nearest one before it whose total is not zero."""
    found: list[int | None] = []
    latest = None
    for index, total in enumerate(totals):
        found.append(latest)
        if total:
            latest = index
    return found

"""Where the inline elements of a source text belong in its translation: projection along the word alignment.

An element covers characters [start, end) of the source. Each target token votes for it with the links that
it has to source tokens inside, and against it with those to tokens outside; the element gets the run of
target tokens with the greatest sum of votes (the maximum subarray, Bentley 1984). So a stray link far away is
dropped, a token that no link explains is taken in when it stands between two that belong, and the span stays
tight.

Fixed rules come first. What the translator copied is where it says. What covers all the tokens of its parent
covers the parent's whole translation; what covers a whole sentence covers the sentence's translation. An
element stays inside its parent and outside its siblings; among siblings the narrow ones choose first. What no
link explains takes what its neighbours in the source left over, else it keeps its relative position.

Documents use this for runs of characters, markup for tags. Pure functions, no torch.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nmt.alignment.votes import Linked, Votes, votes_of
from nmt.spans import Span

Side = Literal["left", "right", "none"]
GoesOn = Literal["inside", "before", "after"]
_NEUTRAL = 0.05
"""Vote of a target token without links: for an element on both its sides, else against."""
_WHOLE = 2.0
"""Vote of each token of a sentence that lies whole within the element."""


@dataclass(frozen=True)
class Mark:
    """An inline element over source characters [start, end), or a point (``start == end``)."""

    start: int
    end: int
    parent: int = -1
    """Index of the mark that this one is inside of; smaller than its own. -1: the text itself."""
    side: Side = "none"
    """For what covers no token: the neighbour it goes with, the word to its left or to its right. "none": it
    stands between, and goes where it best divides what is before from what is after."""
    in_order: bool = False
    """A point that never overtakes another one with ``in_order``: an end tag without a start tag, say."""
    goes_on: GoesOn = "inside"
    """Whether the element is whole here, or began "before" the text, or ends "after" it. Such a one reaches
    to the edge of its parent, and what is within it and what is not do not mix."""


def project(source: str, marks: Sequence[Mark], translation: Linked) -> list[Span]:
    """Target characters of each mark: properly nested, siblings apart, edges at token edges.

    Args:
        source: the text that was translated.
        marks: in document order, parents before what is inside of them.
        translation: with links; without any, all marks keep their relative positions.
    """
    edges = {edge for mark in marks for edge in (mark.start, mark.end)}
    return _Projection(marks, votes_of(source, edges, translation)).spans()


def lost_spaces(
    source: str, target: str, copies: Mapping[int, tuple[Span, Span]]
) -> tuple[set[int], set[int]]:
    """Which copied words the translator glued to a word or to each other, where the source has white space.

    Args:
        source: the text that was translated.
        target: its translation.
        copies: by a number, where a copied word is in each.

    Returns:
        The numbers of those that want a space before, and after.
    """
    starts, ends = ({getattr(span, edge) for _, span in copies.values()} for edge in ("start", "end"))
    before, after = set(), set()
    for number, (own, found) in copies.items():
        if found.start == found.end:
            continue
        is_glued = target[: found.start][-1:].isalnum() or (found.start and found.start in ends)
        if is_glued and source[: own.start][-1:].isspace():
            before.add(number)
        is_glued = target[found.end :][:1].isalnum() and found.end not in starts
        if is_glued and source[own.end :][:1].isspace():
            after.add(number)
    return before, after


def copied_within(mark: Mark, kept: Sequence[tuple[Span, Span]], outer: Span) -> Span | None:
    """Where the translator wrote a mark that it copied as part of a longer span, if that is in ``outer``."""
    for source, target in kept:
        same_length = source.end - source.start == target.end - target.start
        if same_length and source.start <= mark.start and mark.end <= source.end:
            shift = target.start - source.start
            found = Span(mark.start + shift, mark.end + shift)
            return found if outer.start <= found.start and found.end <= outer.end else None
    return None


class _Projection:
    """The target token range of each mark: level by level, points last."""

    def __init__(self, marks: Sequence[Mark], votes: Votes) -> None:
        self.marks = marks
        self.votes = votes
        self.covered = [votes.source_range(mark.start, mark.end) for mark in marks]
        self.claimed: set[tuple[int, int]] = set()
        """(parent, source token): the first and the last token of each element placed, by its parent."""
        self.ranges: list[tuple[int, int] | None] = [None] * len(marks)
        self.owner = [-1] * votes.n_target
        """The innermost mark that each target token belongs to so far."""

    def spans(self) -> list[Span]:
        levels: dict[int, list[int]] = {}
        depths: list[int] = []
        for index, mark in enumerate(self.marks):
            depths.append(0 if mark.parent < 0 else depths[mark.parent] + 1)
            levels.setdefault(depths[-1], []).append(index)
        for _, level in sorted(levels.items()):
            elements = [index for index in level if self.covered[index][0] < self.covered[index][1]]
            elements = [index for index in elements if not self._is_rest_of_a_word(index)]
            for index in elements:
                if self.marks[index].goes_on != "inside":
                    self._take(index, self._up_to_the_edge(index))
            elements = [index for index in elements if self.marks[index].goes_on == "inside"]
            copies = [index for index in elements if self._span(index) in self.votes.copies]
            for index in copies:
                self._take(index, self._copy(index))
            others = [index for index in elements if self._span(index) not in self.votes.copies]
            for index in sorted(others, key=self._width):
                self._take(index, self._best(index))
            for index in others:
                if self.ranges[index] is None:
                    self._take(index, self._left_over(index))
        return self._points()

    def _width(self, index: int) -> int:
        first, last = self.covered[index]
        return last - first

    def _is_rest_of_a_word(self, index: int) -> bool:
        """A sibling has the rest of its only word, which translates as one; so it covers nothing any more."""
        parent, (first, last) = self.marks[index].parent, self.covered[index]
        if last - first == 1 and (parent, first) in self.claimed:
            return True
        self.claimed |= {(parent, first), (parent, last - 1)}
        return False

    def _outer(self, index: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Source and target token range of the parent."""
        parent = self.marks[index].parent
        if parent < 0:
            return (0, self.votes.n_source), (0, self.votes.n_target)
        return self.covered[parent], self.ranges[parent] or (0, 0)

    def _take(self, index: int, found: tuple[int, int] | None) -> None:
        if found is not None and found[0] < found[1]:
            self.ranges[index] = found
            self.owner[found[0] : found[1]] = [index] * (found[1] - found[0])

    def _span(self, index: int) -> tuple[int, int]:
        return self.marks[index].start, self.marks[index].end

    def _up_to_the_edge(self, index: int) -> tuple[int, int]:
        """The part of the parent before, or after, the boundary that divides the source there best."""
        outer_source, (low, high) = self._outer(index)
        while low < high and not self._is_free(index, low):
            low += 1  # an element from before has been placed there
        if self.marks[index].goes_on == "before":
            return low, self.votes.divide(self.covered[index][1], low, high, outer_source)
        return self.votes.divide(self.covered[index][0], low, high, outer_source), high

    def _copy(self, index: int) -> tuple[int, int] | None:
        """The tokens of the copy, if they are within the parent."""
        found, (_, (low, high)) = self.votes.copies[self._span(index)], self._outer(index)
        if low <= found.start and found.stop <= high and all(self._is_free(index, token) for token in found):
            return found.start, found.stop
        return None

    def _is_free(self, index: int, target: int) -> bool:
        return self.owner[target] == self.marks[index].parent

    def _best(self, index: int) -> tuple[int, int] | None:
        """The free run of target tokens with the greatest sum of votes, if any vote is for the element.

        An element over all that its parent is over gets all that the parent got.
        """
        outer_source, (low, high) = self._outer(index)
        covered = self.covered[index]
        if covered == outer_source and all(self._is_free(index, target) for target in range(low, high)):
            return low, high
        first, last = self.votes.target_bounds(*covered)
        best, best_sum = None, 0.0
        start, total = max(low, first), 0.0
        for target in range(max(low, first), min(high, last)):
            if not self._is_free(index, target):
                start, total = target + 1, 0.0
                continue
            total += self._vote(target, covered)
            if total <= 0:
                start, total = target + 1, 0.0
            elif total > best_sum:
                best, best_sum = (start, target + 1), total
        if best is not None and any(self._belongs(target, covered) for target in range(*best)):
            return best
        return None

    def _belongs(self, target: int, covered: tuple[int, int]) -> bool:
        return self.votes.inside(target, covered) > 0 or self.votes.sentence_within(target, covered)

    def _vote(self, target: int, covered: tuple[int, int]) -> float:
        votes = self.votes
        if votes.sentence_within(target, covered):
            return _WHOLE
        inside = votes.inside(target, covered)
        outside = votes.total(target) - inside
        if inside or outside:
            return inside - outside
        before, after = votes.linked_neighbours(target)
        neighbours = [votes.inside(other, covered) > 0 for other in (before, after) if other is not None]
        return _NEUTRAL if neighbours and all(neighbours) else -_NEUTRAL

    def _left_over(self, index: int) -> tuple[int, int] | None:
        """Place of an element that was outvoted, or has no link at all.

        With links it is its strongest token, and nothing when siblings have all of them. Without it is the
        tokens without links between the translations of its neighbours, else the same relative position.
        """
        (source_low, source_high), (low, high) = self._outer(index)
        votes, (first, last) = self.votes, self.covered[index]
        free = [target for target in range(low, high) if self._is_free(index, target)]
        linked = {target for source in range(first, last) for target in votes.targets_of(source)}
        if linked or not free:
            strongest = max(
                linked.intersection(free), key=lambda t: votes.inside(t, (first, last)), default=None
            )
            return None if strongest is None else (strongest, strongest + 1)
        before, after = votes.targets_of(first - 1), votes.targets_of(last)
        if before and after and before[-1] < after[0]:
            between = [token for token in free if before[-1] < token < after[0] and not votes.total(token)]
            if between and between[-1] - between[0] == len(between) - 1:
                return between[0], between[-1] + 1
        share = (high - low) / max(1, source_high - source_low)
        start = low + int((first - source_low) * share)
        start = free[min(bisect_left(free, start), len(free) - 1)]
        most = start + max(1, round((last - first) * share))
        end = start + 1
        while end < min(most, high) and self._is_free(index, end):
            end += 1
        return start, end

    def _points(self) -> list[Span]:
        """All ranges as characters; what covers no token gets a boundary between two."""
        siblings: dict[int, list[tuple[int, int]]] = {}
        for mark, found in zip(self.marks, self.ranges, strict=True):
            if found is not None:
                siblings.setdefault(mark.parent, []).append(found)
        for spans in siblings.values():
            spans.sort()
        result: list[Span] = []
        latest = 0
        for index, (mark, found) in enumerate(zip(self.marks, self.ranges, strict=True)):
            if found is not None:
                result.append(self.votes.characters(*found))
                continue
            if mark.parent >= 0 and self.ranges[mark.parent] is None:
                result.append(result[mark.parent])
                continue
            place = self._point(index, siblings.get(mark.parent, []))
            if mark.in_order:
                place = max(place, latest)
                if mark.parent >= 0:  # it stays in its parent, wherever that went
                    place = min(place, result[mark.parent].end)
                latest = max(place, latest)
            result.append(Span(place, place))
        return result

    def _point(self, index: int, siblings: Sequence[tuple[int, int]]) -> int:
        mark, votes = self.marks[index], self.votes
        outer_source, (low, high) = self._outer(index)
        side: Side = mark.side
        left = votes.source_range(0, mark.start)[1]
        targets: Sequence[int] = ()
        if side == "right":
            targets = votes.targets_of(left)
        elif side == "left":
            targets = votes.targets_of(left - 1)
        if targets and low <= targets[0] and targets[-1] < high:
            boundary = targets[0] if side == "right" else targets[-1] + 1
        else:
            boundary = votes.divide(left, low, high, outer_source)
        at = bisect_right(siblings, (boundary, -1)) - 1
        if at >= 0 and siblings[at][0] < boundary < siblings[at][1]:
            start, end = siblings[at]
            after = boundary - start > end - boundary if side == "none" else side == "left"
            boundary = end if after else start
        return votes.edge(boundary, low, high, side)

"""Subtitles: sentences that run over several cues, and lines that fit a screen.

The texts of cues that share a sentence are translated as one; the translation is cut again in proportion to
the source's lengths (which follow its times), at a word boundary near there, best after a clause mark and not
after an article. 42 characters a line are what broadcasters' guidelines ask for.

    cue -> utterances (a dialogue has one for each dash) -> units (one sentence or more) -> cues
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from nmt.documents.extracted import check_count
from nmt.documents.inline import Item, Paragraph, Stack

if TYPE_CHECKING:
    from nmt.extraction import Extract
    from nmt.pipeline.result import Translation

LINE_CHARACTERS = 42
LARGEST_GAP_S = 2.0
"""A sentence does not go on after a longer pause."""
LARGEST_GAP_BEFORE_CAPITAL_S = 0.5
"""The same where the next cue begins with a capital: a name, or a sentence of its own."""
LARGEST_OVERLAP_S = 0.5
"""Nor in a cue that is shown together with the one before."""
MOST_CUES = 6
"""Of one sentence; where there is no end after so many, the file has no punctuation to go by."""

_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z]+)[^<>]*>|<\d[\d:.]*>|\{\\[^{}]*\}")
_SWITCH = re.compile(r"\{\\(?P<name>[ibus])(?P<value>[01])\}")
"""An override tag that begins or ends italics and the like."""
_BREAK = re.compile(r"[ \t]*<br\s*/?>[ \t]*", re.IGNORECASE)
_PREFIX = re.compile(r"(?:<[^<>]*>|\{\\[^{}]*\})*\s*[-\u2013\u2010]\s*|(?:\{\\[^{}]*\}|<v[ .][^<>]*>)*")
_DASH = re.compile(r"(?:<[^<>]*>|\{[^{}]*\})*\s*[-\u2013\u2010]\s*\S")
_SENTENCE_END = re.compile("[.!?\u2026:\u266a\u266b)\\]][\"'\u201d\u2019\u00bb]*$")
_CUT = re.compile("(?<=\\S)\\s+(?![!?;:\u00bb%)\u2026.])(?=\\S)")
"""White space where a line or a cue may end: not before a mark that French separates by a space."""
_CLAUSE_END = re.compile("[,;:.!?\u2026\u2014)\u00bb]$")
_BINDS = re.compile(
    r"(?i)(?:^|[\s'\u2019])(?:le|la|les|un|une|des|du|de|d|l|au|aux|ce|cet|cette|ces|mon|ma|mes|ton|ta|tes|son|sa|"
    r"ses|pour|par|sur|dans|avec|sans|sous|chez|vers|plus|tr\u00e8s|je|tu|il|elle|on|nous|vous|ils|elles|ne|se|me|te|et|ou|\u00e0|en|que|qui|\u00ab|"
    r"the|a|an|my|your|his|her|its|our|their|this|these|those|of|to|in|at|by|for|from|with|without|into|i|you|"
    r"he|she|it|we|they|and|or|but|not|very|more|who|which|is|are|was|were)$"
)
_CLAUSE_BONUS, _BINDING_COST = 6.0, 8.0
"""In characters of distance from the best place."""


@dataclass(frozen=True)
class Cue:
    """A cue as its format's library reads it; times in seconds."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class _Utterance:
    """What one speaker says in one cue."""

    cue: int
    prefix: str
    """Position codes, a voice tag, a dash: they begin the utterance and stay so."""
    body: str
    written: str
    """The utterance as the cue has it, with its line ends."""
    separator: str = "\n"
    """What parts it from the utterance before it in its cue: a line end or ``<br>``."""


@dataclass(frozen=True)
class Unit:
    """Utterances of successive cues that share a sentence; an ``Extracted[list[str]]``, one for each."""

    utterances: tuple[_Utterance, ...]
    paragraph: Paragraph
    tags: tuple[tuple[str, str], ...]
    """Opening and closing tag of each container; the second is empty for an object."""
    escape: Callable[[str], str]

    @property
    def extracts(self) -> Sequence[Extract]:
        """The text of all utterances, without tags."""
        return self.paragraph.extracts

    def restore(self, translations: Sequence[Translation]) -> list[str]:
        """The translation cut into as many texts as there are utterances, each broken into lines."""
        check_count(self.extracts, translations)
        items = self.paragraph.restore(translations)
        if [translation.text for translation in translations] == [one.text for one in self.extracts]:
            return [utterance.written for utterance in self.utterances]  # nothing to break into lines
        text = "".join(item.text for item in items)
        edges = [0, *self._cuts(text, translations), len(text)]
        restored: list[str] = []
        for utterance, (start, end) in zip(self.utterances, pairwise(edges), strict=True):
            if not text[start:end].strip():
                start, end = 0, len(text)  # too few words to share: all cues show them all
            restored.append(utterance.prefix + self._rendered(items, text, start, end))
        return restored

    def _cuts(self, text: str, translations: Sequence[Translation]) -> list[int]:
        """Where in ``text`` each utterance but the first begins."""
        source_offset = 0
        cuts: list[int] = []
        for utterance in self.utterances[:-1]:
            source_offset += len(_TAG.sub("", utterance.body)) + 1
            wanted = _target_offset(source_offset, translations, len(text))
            first = cuts[-1] if cuts else 0
            places = [match.end() for match in _CUT.finditer(text) if match.start() > first]
            cuts.append(_best_place(text, places, wanted) if places else len(text))
        return cuts

    def _rendered(self, items: Sequence[Item], text: str, start: int, end: int) -> str:
        """Characters [start, end) of the translation, with the tags there, in lines."""
        breaks = {start + place for place in _line_breaks(text[start:end])}
        position = 0
        opened: Stack = ()
        result = ""

        def move_to(stack: Stack) -> None:
            nonlocal opened, result
            shared = 0
            while shared < min(len(opened), len(stack)) and opened[shared] == stack[shared]:
                shared += 1
            result += "".join(self.tags[number][1] for number in reversed(opened[shared:]))
            result += "".join(self.tags[number][0] for number in stack[shared:])
            opened = stack

        for item in items:
            low, high = max(start, position), min(end, position + len(item.text))
            if item.kind == "object":
                if start < position <= end or position == start == 0:
                    move_to(item.stack)
                    result += self.tags[item.number][0]
            elif low < high and (text[low:high].strip() or opened):
                move_to(item.stack)
                piece = "".join("\n" if p in breaks else text[p] for p in range(low, high))
                result += self.escape(piece)
            position += len(item.text)
        move_to(())
        return re.sub(r"\s*\n\s*", "\n", result).strip()


def units_of(cues: Sequence[Cue], escape: Callable[[str], str], unescape: Callable[[str], str]) -> list[Unit]:
    """The units of a file, in its order."""
    by_cue = [_utterances(index, cue.text) for index, cue in enumerate(cues)]
    groups: list[list[_Utterance]] = []
    for index, utterances in enumerate(by_cue):
        rest = utterances
        if rest and groups and groups[-1][-1].cue == index - 1 and index:
            gap_s = cues[index].start_s - cues[index - 1].end_s
            if _goes_on(groups[-1][-1], rest[0], gap_s):
                groups[-1].append(rest[0])
                rest = rest[1:]
        groups += [[utterance] for utterance in rest]
    units: list[Unit] = []
    for group in groups:
        ended = _SENTENCE_END.search(_TAG.sub("", group[-1].body).rstrip()) is not None
        whole = len(group) <= MOST_CUES and ended
        for members in [group] if whole else [[utterance] for utterance in group]:
            units.append(_unit(members, escape, unescape))
    return units


def cue_texts(units: Sequence[Unit], restored: Sequence[Sequence[str]], n_cues: int) -> list[str]:
    """The text of each cue: its utterances, a line or more for each."""
    texts: list[list[str]] = [[] for _ in range(n_cues)]
    for unit, unit_texts in zip(units, restored, strict=True):
        for utterance, text in zip(unit.utterances, unit_texts, strict=True):
            lines = texts[utterance.cue]
            lines += [utterance.separator, text] if lines else [text]
    return ["".join(lines) for lines in texts]


def _utterances(index: int, text: str) -> list[_Utterance]:
    """A dialogue's lines each begin with a dash; all other lines are one utterance."""
    spoken: list[tuple[str, list[str]]] = []
    for line in filter(str.strip, text.split("\n")):
        for separator, part in _parts(line):
            if not spoken or separator or _DASH.match(part.strip()):
                spoken.append((separator or "\n", [part]))
            else:
                spoken[-1][1].append(part)
    utterances: list[_Utterance] = []
    for separator, lines in spoken:
        joined = " ".join(line.strip() for line in lines)
        prefix = _PREFIX.match(joined)
        end = prefix.end() if prefix else 0
        utterances.append(_Utterance(index, joined[:end], joined[end:], "\n".join(lines), separator))
    return utterances


def _parts(line: str) -> Iterator[tuple[str, str]]:
    """What ``<br>`` parts, each with the ``<br>`` before it; "the<br>dog" is one, as "the" is no end."""
    separator, start = "", 0
    for found in _BREAK.finditer(line):
        before = line[start : found.start()]
        if not _TAG.sub("", before).strip() or _BINDS.search(before.rstrip()[-12:]):
            continue
        yield separator, before
        separator, start = found.group(), found.end()
    yield separator, line[start:]


def _goes_on(before: _Utterance, after: _Utterance, gap_s: float) -> bool:
    """Whether one sentence runs from a cue into the next, ``gap_s`` seconds later."""
    shown, following = (_TAG.sub("", utterance.body).strip() for utterance in (before, after))
    capital = following[:1].isupper() and not following.startswith(("I ", "I'"))
    longest = LARGEST_GAP_BEFORE_CAPITAL_S if capital else LARGEST_GAP_S
    return (
        bool(shown)
        and not after.prefix
        and not _SENTENCE_END.search(shown)
        and -LARGEST_OVERLAP_S <= gap_s <= longest
    )


def _unit(
    members: Sequence[_Utterance], escape: Callable[[str], str], unescape: Callable[[str], str]
) -> Unit:
    """Tags become containers where they come in pairs, else objects."""
    items: list[Item] = []
    tags: list[tuple[str, str]] = []
    for member in members:
        if items:
            items.append(Item("text", text=" "))
        items += _items_of(member.body, tags, unescape)
    for place in range(1, len(items) - 1):
        around = items[place - 1].stack, items[place + 1].stack
        if items[place].text == " " and not items[place].stack and around[0] == around[1]:
            items[place] = replace(items[place], stack=around[0])
    return Unit(tuple(members), Paragraph(tuple(items)), tuple(tags), escape)


def _items_of(body: str, tags: list[tuple[str, str]], unescape: Callable[[str], str]) -> list[Item]:
    """Texts and tags of one utterance; new tags are added to ``tags``, equal ones share a number."""
    matches = list(_TAG.finditer(body))
    partner: dict[int, int] = {}
    opened: list[tuple[int, str]] = []
    for index, match in enumerate(matches):
        override = _SWITCH.fullmatch(match.group())
        name = override["name"] if override else (match["name"] or "").lower()
        if not name:
            continue
        if match["end"] or (override and override["value"] == "0"):
            if opened and opened[-1][1] == name:
                partner[opened.pop()[0]] = index
        else:
            opened.append((index, name))
    closing = set(partner.values())
    items: list[Item] = []
    stack: Stack = ()
    read = 0
    for index, match in enumerate(matches):
        if text := body[read : match.start()]:
            items.append(Item("text", stack, unescape(text)))
        read = match.end()
        if index in closing:
            stack = stack[:-1]
        elif index in partner:
            stack = (*stack, _number(tags, (match.group(), matches[partner[index]].group())))
        else:
            is_break = (match["name"] or "").lower() == "br"
            number = _number(tags, (match.group(), ""))
            items.append(Item("object", stack, number=number, separates=is_break))
    if text := body[read:]:
        items.append(Item("text", stack, unescape(text)))
    return items


def _number(tags: list[tuple[str, str]], pair: tuple[str, str]) -> int:
    if pair not in tags:
        tags.append(pair)
    return tags.index(pair)


def _target_offset(source_offset: int, translations: Sequence[Translation], length: int) -> float:
    """The place at the same share of its sentence's translation as ``source_offset`` is of the sentence."""
    for sentence in translations[0].sentences:
        if source_offset <= sentence.source.start:
            return sentence.target.start
        if source_offset < sentence.source.end:
            share = (source_offset - sentence.source.start) / (sentence.source.end - sentence.source.start)
            return sentence.target.start + share * (sentence.target.end - sentence.target.start)
    return length


def _best_place(text: str, places: Sequence[int], wanted: float) -> int:
    """The place near ``wanted`` where a reader would pause."""

    def cost(place: int) -> float:
        before = text[:place].rstrip()
        bonus = _CLAUSE_BONUS if _CLAUSE_END.search(before) else 0.0
        binding = _BINDING_COST if _BINDS.search(before[-12:]) else 0.0
        return abs(place - wanted) - bonus + binding

    return min(places, key=cost)


def _line_breaks(text: str) -> list[int]:
    """Indices of the white space in ``text`` where lines end: as few lines as fit, of similar length."""
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    places = [match.start() for match in _CUT.finditer(text, start, end)]
    n_lines = -(-(end - start) // LINE_CHARACTERS)
    while n_lines <= len(places) + 1:
        found = _broken_into(n_lines, text, places, start, end)
        lines = pairwise([start - 1, *found, end])
        if all(after - before - 1 <= LINE_CHARACTERS for before, after in lines):
            return found
        n_lines += 1
    return places  # a word longer than a line


def _broken_into(n_lines: int, text: str, places: Sequence[int], start: int, end: int) -> list[int]:
    found: list[int] = []
    for line in range(1, n_lines):
        rest_start = found[-1] + 1 if found else start
        remaining = n_lines - line + 1
        wanted = rest_start + (end - rest_start) / remaining
        possible = [place for place in places if rest_start < place <= rest_start + LINE_CHARACTERS]
        if possible:
            found.append(_best_place(text, possible, wanted))
    return found

"""What survives translation: literals, spans to keep, terms and numbers, by way of stand-ins.

A span to copy is replaced by a stand-in before the model reads the sentence: a placeholder of the vocabulary
(``nmt.reserved``), or, for a model that has none, a name that it copies well. Search writes each stand-in
exactly once (``nmt.search.required``) and the span is put in its place. Glossary terms and numbers are left
to the model first, whose grammar is better then, and become stand-ins in a second search where it fails. What
is still lost after that is kept by translating the parts around it.

All spans are in characters of the sentence, or of its translation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from nmt.alignment import Alignment
from nmt.config import GenerationConfig
from nmt.flags import FlagKind
from nmt.flow import Flow, search_for
from nmt.literals import Literal as Copied
from nmt.literals import find_literals
from nmt.numbers import compare_numbers
from nmt.pharaoh import Link
from nmt.quality import Found, copy_of, search_and_repair
from nmt.reserved import PLACEHOLDERS, REGISTER
from nmt.rewriting import Edit, Rewriting
from nmt.search import Hypothesis
from nmt.segment import Segment
from nmt.shape import Shape
from nmt.spans import Span
from nmt.terms import AppliedTerm, Glossary, Term, TermMatch, find_form, in_case_of
from nmt.tokenizer import WORD_START, Piece, Tokenizer
from nmt.translation import Candidate
from nmt.typography import french_typography
from nmt.words import Token

NAMES = ("Tom", "Paris", "Boston", "Mary", "John")
"""What a model without placeholders copies, where its vocabulary has them as single pieces. The order is that
of a measurement on everyday: of 24 sentences each it copied 24, 23, 23, 24 and 21 even unasked."""
PLAIN = {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "‑": "-", "‐": "-", "−": "-"}
"""What a model reads in the place of typographic signs that its vocabulary lacks."""
MASK = "Literal"
"""Stands for a span to copy while a text is cut into sentences: a word that may begin one."""

_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"(?<=[\w,;)\"”»][ ])[^\W\d_a-zà-öø-ÿ][^\W\d_]{2,}(?:-[^\W\d_]+)*(?![\w-])")
RARE_PIECES = 3
"""A name of so many pieces is copied."""
_FORMULA = re.compile(r"[\d+*/=<>^~|\\-]")

MARKS = ",;:.!?…)]}»\"'"
"""Punctuation that stays with what it follows."""

FRENCH_SPACED = ";:!?»"
"""A French space before these is right."""

SpannedT = TypeVar("SpannedT", Copied, Span)


@dataclass(frozen=True)
class StandIn:
    """A text of one piece that the model reads and writes in the place of another."""

    text: str
    id: int


@dataclass(frozen=True)
class Protected:
    """A span of the sentence and what its translation is to hold for it."""

    span: Span
    text: str
    term: Term | None = None
    is_number: bool = False


@dataclass(frozen=True)
class Wishes:
    """What a caller of ``Translator.translate`` asks for, beyond a translation."""

    glossary: Glossary | None = None
    register: str = ""
    """The piece to put before each sentence; "" for none."""
    french_typography: bool = False


@dataclass(frozen=True)
class Reading:
    """What the model reads of a sentence."""

    rewriting: Rewriting
    """From the sentence in its new case to the text that the model reads."""
    protected: tuple[tuple[StandIn, Protected], ...] = ()

    @property
    def text(self) -> str:
        """What the model reads."""
        return self.rewriting.new


@dataclass(frozen=True)
class Sentence:
    """A sentence on its way through the model."""

    text: str
    copied: tuple[Protected, ...]
    """In order, without overlaps."""
    terms: tuple[TermMatch, ...]
    shape: Shape
    wishes: Wishes
    reading: Reading | None
    """Of the first search; None: not one can hold all stand-ins, or nothing is to be translated."""


class Faithful:
    """Prepares sentences for a model and restores what it writes.

    Args:
        tokenizer: of the model.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        placeholders = self._stand_ins(PLACEHOLDERS)
        self.has_placeholders = len(placeholders) == len(PLACEHOLDERS)
        self.stand_ins = placeholders if self.has_placeholders else self._stand_ins(NAMES)
        self.registers = {
            name: piece for name, piece in REGISTER.items() if tokenizer.piece_id(piece) is not None
        }
        self._plain = {sign: plain for sign, plain in PLAIN.items() if not tokenizer.knows(sign)}
        self._preferred: dict[str, str] = {}
        self._common: set[str] = set()

    def literals(self, text: str) -> list[Copied]:
        """The literals of a text, with what the tokenizer cannot write."""
        return find_literals(text, is_known=self._can_read)

    def prepare(
        self, text: str, literals: Sequence[Copied], keep: Sequence[Span], wishes: Wishes
    ) -> Sentence:
        """Work out what the model is to read first.

        Args:
            text: the sentence.
            literals: its literals.
            keep: spans to copy, beside which literals do not count where they overlap.
            wishes: what else is asked for.
        """
        matches = wishes.glossary.matches(text) if wishes.glossary is not None else []
        copied = [Protected(span, text[span.start : span.end]) for span in keep]
        for match in matches:
            if match.term.source == match.term.target:
                copied += _beside(copied, [Protected(match.span, text[_slice(match.span)], match.term)])
        copied += _beside(
            copied, [Protected(literal.span, text[_slice(literal.span)]) for literal in literals]
        )
        copied.sort(key=lambda entry: entry.span.start)
        terms = [
            match
            for match in matches
            if match.term.source != match.term.target
            and not any(_overlap(match.span, entry.span) for entry in copied)
        ]
        fixed = [*literals, *(Copied("code", entry.span) for entry in copied)]
        shape = Shape.of(text, fixed, self.prefers)
        if shape.case == "as_is":
            names = _beside([*copied, *(Protected(match.span, "") for match in terms)], self._names(text))
            copied = sorted([*copied, *names], key=lambda entry: entry.span.start)
        sentence = Sentence(text, tuple(copied), tuple(terms), shape, wishes, None)
        return replace(sentence, reading=self._read(sentence, copied))

    def _names(self, text: str) -> list[Protected]:
        """Words with a capital inside a sentence that the model would misspell: the vocabulary lacks them."""
        return [
            Protected(Span(*match.span()), match.group())
            for match in _NAME.finditer(text)
            if match.group() not in self._common and self._is_rare(match.group())
        ]

    def _is_rare(self, name: str) -> bool:
        if len(self._tokenizer.encode(name)) >= RARE_PIECES:
            return True
        if len(self._common) < 100_000:
            self._common.add(name)
        return False

    def n_free(self, sentence: Sentence) -> int:
        """How many stand-ins do not occur in the sentence itself."""
        return sum(one.text not in sentence.text for one in self.stand_ins)

    def _can_read(self, character: str) -> bool:
        return character in PLAIN or self._tokenizer.knows(character)

    def prefers(self, word: str) -> str:
        """The form of a word in lower case, capitalised or as it is that the vocabulary has in fewest pieces.

        Of equals the one whose piece was merged first, for it is more frequent.
        """
        if word not in self._preferred:
            forms = dict.fromkeys((word.lower(), word.capitalize(), word))
            encoded = {form: self._tokenizer.encode(form) for form in forms}
            if len(self._preferred) > 100_000:
                self._preferred.clear()
            self._preferred[word] = min(forms, key=lambda form: (len(encoded[form]), encoded[form][:1]))
        return self._preferred[word]

    def translate(
        self,
        sentence: Sentence,
        source_ids: Sequence[int],
        options: GenerationConfig,
        decode: Callable[[Hypothesis], Candidate],
    ) -> Flow[Found]:
        """Search for a translation that holds all that it should.

        Args:
            sentence: of ``prepare``.
            source_ids: of its reading.
            options: how to search.
            decode: a hypothesis as text.
        """
        run = _Run(self, options, decode)
        if not _has_words(sentence):
            return (copy_of(sentence.text),), ()
        if sentence.reading is None:
            found = yield from run.in_parts(sentence, _groups(sentence, self.n_free(sentence)))
        else:
            found = yield from run.attempt(sentence, sentence.reading, source_ids)
            again = _still_wanted(sentence, sentence.reading, found[0][0])
            room = self.n_free(sentence) - len(sentence.reading.protected)
            if again and room > 0:
                reading = self._read(sentence, [*_inside(sentence.reading), *again[:room]])
                assert reading is not None, "there is room"
                second = yield from run.attempt(sentence, reading)
                if _n_wrong(sentence, second) < _n_wrong(sentence, found):
                    found = second
        if _lost(sentence, found[0][0]):
            found = yield from run.in_parts(sentence, _parts(sentence))
        return _with_terms(sentence, found)

    def _read(self, sentence: Sentence, protected: Sequence[Protected]) -> Reading | None:
        """Put stand-ins in the place of ``protected``; None when there are not enough of them."""
        core = sentence.shape.core
        inside = [
            entry
            for entry in _joined(sentence.text, sorted(protected, key=lambda entry: entry.span.start))
            if core.start <= entry.span.start and entry.span.end <= core.end
        ]
        chosen: list[tuple[StandIn, Protected]] = []
        taken: set[int] = set()
        for entry in inside:
            free = [one for one in self.stand_ins if one.id not in taken and one.text not in sentence.text]
            if not free:
                return None
            chosen.append((free[0], entry))
            taken.add(free[0].id)
        edits = sentence.shape.edits(sentence.text)
        if sentence.wishes.register:
            edits.insert(0, Edit(Span(0, 0), sentence.wishes.register + " "))
        edits += [
            Edit(entry.span, self._written(stand_in, sentence.text, entry)) for stand_in, entry in chosen
        ]
        text = sentence.shape.recased
        if not text.isascii() and not self._plain.keys().isdisjoint(text):
            text = text.translate({ord(sign): plain for sign, plain in self._plain.items()})
        return Reading(Rewriting.of(text, edits), tuple(chosen))

    def _written(self, stand_in: StandIn, text: str, entry: Protected) -> str:
        """A stand-in as the model reads it: a name is a word by itself, whatever its span touches."""
        if self.has_placeholders:
            return stand_in.text
        before, after = text[: entry.span.start][-1:], text[entry.span.end :][:1]
        return f"{' ' if before.strip() else ''}{stand_in.text}{' ' if after.isalnum() else ''}"

    def source_pieces(self, reading: Reading) -> tuple[Piece, ...]:
        """The pieces that the model reads, with their spans in the sentence."""
        return tuple(
            replace(piece, start=span.start, end=span.end)
            for piece in self._tokenizer.encode_pieces(reading.text)
            for span in [reading.rewriting.backward(piece.start, piece.end)]
        )

    def encode(self, text: str) -> list[int]:
        """Token ids of what the model reads."""
        return self._tokenizer.encode(text)

    def _stand_ins(self, texts: Iterable[str]) -> tuple[StandIn, ...]:
        found = []
        for text in texts:
            id_ = self._tokenizer.piece_id(text)
            if id_ is None or text not in PLACEHOLDERS:
                id_ = self._tokenizer.piece_id(WORD_START + text)
            if id_ is not None:
                found.append(StandIn(text, id_))
        return tuple(found)


@dataclass(frozen=True)
class _Run:
    """One sentence's searches."""

    faithful: Faithful
    options: GenerationConfig
    decode: Callable[[Hypothesis], Candidate]

    def attempt(self, sentence: Sentence, reading: Reading, ids: Sequence[int] | None = None) -> Flow[Found]:
        """One search, repaired if it loops, with the sentence's shape and literals restored."""
        source_ids = self.faithful.encode(reading.text) if ids is None else ids
        required = [stand_in.id for stand_in, _ in reading.protected]
        candidates, flags = yield from search_and_repair(
            reading.text,
            self.options,
            lambda options: search_for(source_ids, options, required),
            self.decode,
        )
        if candidates[0].copied:
            return (copy_of(sentence.text),), flags
        pieces = () if reading.text == sentence.text else self.faithful.source_pieces(reading)
        restored = (restore(sentence, reading, candidate) for candidate in candidates)
        return tuple(replace(candidate, source_pieces=pieces) for candidate in restored), flags

    def in_parts(self, sentence: Sentence, spans: Sequence[Span]) -> Flow[Found]:
        """Translate parts of a sentence each by itself, and put them together."""
        parts: list[tuple[Span, Candidate]] = []
        flags: list[FlagKind] = []
        for span in spans:
            text = sentence.text[_slice(span)]
            within = [
                replace(entry, span=Span(entry.span.start - span.start, entry.span.end - span.start))
                for entry in sentence.copied
                if span.start <= entry.span.start and entry.span.end <= span.end
            ]
            part = self.faithful.prepare(text, (), [entry.span for entry in within], sentence.wishes)
            if not _has_words(part) or part.reading is None:
                parts.append((span, copy_of(text)))
                continue
            (best, *_), found = yield from self.attempt(part, part.reading)
            parts.append((span, best))
            flags += found
        return (_joined_parts(self.faithful, sentence, parts),), tuple(dict.fromkeys(flags))


def copied_spans(literals: Sequence[Copied], keep: Sequence[Span]) -> list[Span]:
    """Spans to keep and the literals beside them, in order, without overlaps."""
    literal_spans = [literal.span for literal in literals]
    if not keep:
        return literal_spans
    beside = [span for span in literal_spans if not any(_overlap(span, other) for other in keep)]
    return sorted([*keep, *beside], key=lambda span: span.start)


def within(entries: Sequence[SpannedT], segment: Segment) -> Iterator[tuple[SpannedT, Span]]:
    """The literals or spans of a text that lie in one of its sentences, each with its span there."""
    for entry in entries:
        span = entry if isinstance(entry, Span) else entry.span
        if segment.start <= span.start and span.end <= segment.end:
            yield entry, Span(span.start - segment.start, span.end - segment.start)


def with_all_kept(sentence: Sentence, copy: Candidate) -> Candidate:
    """A copied sentence keeps all that it should at its own place."""
    return replace(copy, kept=tuple((entry.span, entry.span) for entry in sentence.copied))


def link_kept(alignment: Alignment, kept: Sequence[tuple[Span, Span]]) -> Alignment:
    """Link the words of what was copied to themselves, one by one, in the place of what attention says."""
    if not kept:
        return alignment
    own: list[Link] = []
    taken_source: set[int] = set()
    taken_target: set[int] = set()
    for source, target in kept:
        read = _tokens_in(alignment.source_tokens, source)
        written = _tokens_in(alignment.target_tokens, target)
        taken_source.update(read)
        taken_target.update(written)
        if len(read) == len(written):
            own += [Link(first, second, 1.0) for first, second in zip(read, written, strict=True)]
        else:
            own += [Link(first, second, 1.0) for second in written for first in read]
    others = [
        link
        for link in alignment.links
        if link.target not in taken_target and link.source not in taken_source
    ]
    links = sorted([*others, *own], key=lambda link: (link.target, link.source))
    return replace(alignment, links=tuple(links))


def _tokens_in(tokens: Sequence[Token], span: Span) -> list[int]:
    return [index for index, token in enumerate(tokens) if token.start < span.end and span.start < token.end]


def restore(sentence: Sentence, reading: Reading, candidate: Candidate) -> Candidate:
    """Put back literals and shape; spans of pieces follow."""
    written = candidate.text
    places = _stand_ins_in(reading, candidate)
    kept = [span for span, _ in places]
    shape = sentence.shape
    recased = shape.in_case(written, kept, sentence.text)
    edits = [
        Edit(
            _with_needless_space(sentence.text, entry.span, recased, span),
            _replacement(sentence, entry, at_start=not recased[: span.start].strip("«“\"' \u00a0")),
        )
        for span, entry in places
    ]
    before, after = shape.frame_edits(sentence.text, written)
    rewriting = Rewriting.of(recased, [before, *edits, *shape.ending_edits(written, kept), after])
    candidate = _rewritten(candidate, rewriting)
    core = shape.core
    framed = [
        (entry.span, _outside(entry.span, core, sentence.text, rewriting.new))
        for entry in sentence.copied
        if entry.span.end <= core.start or entry.span.start >= core.end
    ]
    inside = [(entry.span, rewriting.forward(span.start, span.end)) for span, entry in places]
    candidate = replace(candidate, kept=tuple(sorted([*framed, *inside], key=lambda pair: pair[0].start)))
    if sentence.wishes.french_typography:
        targets = [target for _, target in candidate.kept]
        rewriting = Rewriting.of(candidate.text, french_typography(candidate.text, targets))
        candidate = _rewritten(candidate, rewriting)
    return candidate


def _stand_ins_in(reading: Reading, candidate: Candidate) -> list[tuple[Span, Protected]]:
    """Where ``candidate`` holds stand-ins; one that is but the beginning of a longer word is none."""
    by_id = {stand_in.id: (stand_in, entry) for stand_in, entry in reading.protected}
    places = []
    for piece in candidate.pieces:
        if piece.id in by_id:
            stand_in, entry = by_id[piece.id]
            end = candidate.text[piece.end : piece.end + 1]
            if candidate.text[piece.start : piece.end] == stand_in.text and (
                stand_in.text in PLACEHOLDERS or not end.isalnum()
            ):
                places.append((Span(piece.start, piece.end), entry))
    return places


def _replacement(sentence: Sentence, entry: Protected, *, at_start: bool) -> str:
    if entry.term is None or entry.term.source == entry.term.target:
        return entry.text
    begins = sentence.shape.recased[sentence.shape.core.start :][:1].isupper()
    return entry.text[:1].upper() + entry.text[1:] if at_start and begins else entry.text


def _with_needless_space(source: str, literal: Span, written: str, stand_in: Span) -> Span:
    """The span of a stand-in with a space beside it that its literal has not, next to the same sign."""
    start, end = stand_in.start, stand_in.end
    before, after = source[: literal.start][-1:].strip(), source[literal.end :][:1].strip()
    if before and written[:start].endswith(f"{before} "):
        start -= 1
    if after and after not in FRENCH_SPACED and written[end:].startswith(f" {after}"):
        end += 1
    return Span(start, end)


def _rewritten(candidate: Candidate, rewriting: Rewriting) -> Candidate:
    if rewriting.new == candidate.text:
        return candidate
    if not rewriting.replaced:
        return replace(candidate, text=rewriting.new)

    def moved(span: Span) -> Span:
        return rewriting.forward(span.start, span.end)

    pieces = (
        replace(piece, start=span.start, end=span.end)
        for piece in candidate.pieces
        for span in [rewriting.forward(piece.start, piece.end)]
    )
    kept = tuple((source, moved(target)) for source, target in candidate.kept)
    return replace(candidate, text=rewriting.new, pieces=tuple(pieces), kept=kept)


def _outside(span: Span, core: Span, text: str, new: str) -> Span:
    """Where what stands outside of the core is in the translation."""
    if span.end <= core.start:
        return span
    return Span(len(new) - (len(text) - span.start), len(new) - (len(text) - span.end))


def _has_words(sentence: Sentence) -> bool:
    """Whether anything is left to translate beside what is copied: x² + y² = z² is not."""
    outside = Rewriting.of(sentence.text, [Edit(entry.span, "=") for entry in sentence.copied]).new
    words = _WORD.findall(outside)
    return any(len(word) > 1 for word in words) or bool(words and not _FORMULA.search(outside))


def _still_wanted(sentence: Sentence, reading: Reading, best: Candidate) -> list[Protected]:
    """Terms and numbers that the model did not write by itself and that are no stand-ins yet."""
    if best.copied or not (sentence.terms or any(map(str.isdigit, sentence.text + best.text))):
        return []
    present = {entry.span for _, entry in reading.protected}
    applied = {applied.source for applied in _applied(sentence, best)}
    wanted = [
        Protected(match.span, in_case_of(sentence.text[_slice(match.span)], match.term), match.term)
        for match in sentence.terms
        if match.span not in applied and match.span not in present
    ]
    if not _numbers_agree(sentence, best):
        numbers = [
            Protected(literal.span, sentence.text[_slice(literal.span)], is_number=True)
            for literal in find_literals(sentence.text, numbers=True)
            if literal.kind == "number"
        ]
        wanted += _beside([*sentence.copied, *wanted], numbers)
    return wanted


def _numbers_agree(sentence: Sentence, best: Candidate) -> bool:
    ignore_source = [source for source, _ in best.kept]
    return compare_numbers(
        sentence.text,
        best.text,
        ignore_source=ignore_source,
        ignore_target=[target for _, target in best.kept],
    ).ok


def _lost(sentence: Sentence, best: Candidate) -> bool:
    """Whether a span to copy has no place in the translation."""
    if best.copied:
        return False
    kept = [source for source, _ in best.kept]
    return not all(
        any(span.start <= entry.span.start and entry.span.end <= span.end for span in kept)
        for entry in sentence.copied
    )


def _n_wrong(sentence: Sentence, found: Found) -> tuple[int, ...]:
    """Smaller is better: copied or unfinished, spans lost, terms missed, numbers wrong."""
    best, flags = found[0][0], found[1]
    return (
        best.copied + (not best.finished) + ("loop" in flags) + _lost(sentence, best),
        len(sentence.terms) - len(_applied(sentence, best)) + (not _numbers_agree(sentence, best)),
        len(flags),
    )


def _applied(sentence: Sentence, best: Candidate) -> list[AppliedTerm]:
    """The glossary entries that the translation holds, each occurrence in a place of its own."""
    kept = dict(best.kept)
    blank = best.text
    applied = []
    for match in sentence.terms:
        target = kept.get(match.span) or find_form(match.term.target, blank)
        if target is None:
            continue
        exact = blank[_slice(target)].lower() == match.term.target.lower()
        if exact or match.span in kept or match.term.inflect:
            applied.append(AppliedTerm(match.span, target, match.term, "enforced" if exact else "inflected"))
            blank = f"{blank[: target.start]}{'_' * (target.end - target.start)}{blank[target.end :]}"
    return applied


def _with_terms(sentence: Sentence, found: Found) -> Found:
    (best, *others), flags = found
    fixed = [
        AppliedTerm(entry.span, target, entry.term, "enforced")
        for entry in sentence.copied
        if entry.term is not None
        for source, target in best.kept
        if source == entry.span
    ]
    applied = _applied(sentence, best)
    missed = len(applied) < len(sentence.terms)
    lost = _lost(sentence, best)
    problems: list[tuple[FlagKind, bool]] = [("term_missed", missed), ("literal_lost", lost)]
    extra = [kind for kind, raised in problems if raised]
    terms = tuple(sorted([*fixed, *applied], key=lambda entry: entry.source.start))
    return (replace(best, terms=terms), *others), (*flags, *extra)


def _joined(text: str, protected: Sequence[Protected]) -> list[Protected]:
    """Neighbours with at most a space between them, terms and numbers aside, share one stand-in."""
    joined: list[Protected] = []
    for entry in protected:
        last = joined[-1] if joined else None
        if (
            last is not None
            and not (last.is_number or entry.is_number or last.term or entry.term)
            and text[last.span.end : entry.span.start] in {"", " "}
        ):
            span = Span(last.span.start, entry.span.end)
            joined[-1] = Protected(span, text[_slice(span)])
        else:
            joined.append(entry)
    return joined


def _groups(sentence: Sentence, n_free: int) -> list[Span]:
    """Parts with as many spans to copy as there are stand-ins for; at worst each span by itself."""
    copied = _joined(sentence.text, sentence.copied)
    if n_free == 0:
        return _parts(sentence)
    cuts = [0, *(entry.span.start for entry in copied[n_free::n_free]), len(sentence.text)]
    return [span for start, end in pairwise(cuts) for span in _trimmed(sentence.text, start, end)]


def _parts(sentence: Sentence) -> list[Span]:
    """The spans to copy and what is between them, punctuation that touches them by itself."""
    parts: list[Span] = []
    read = 0
    for entry in (*_joined(sentence.text, sentence.copied), None):
        end = len(sentence.text) if entry is None else entry.span.start
        between = sentence.text[read:end]
        n_marks = len(between) - len(between.lstrip(MARKS)) if read else 0
        parts += _trimmed(sentence.text, read, read + n_marks)
        parts += _trimmed(sentence.text, read + n_marks, end)
        if entry is not None:
            parts.append(entry.span)
            read = entry.span.end
    return parts


def _trimmed(text: str, start: int, end: int) -> list[Span]:
    """The span without white space at its ends; none if nothing is left."""
    part = text[start:end]
    if not part.strip():
        return []
    return [Span(start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip()))]


def _joined_parts(
    faithful: Faithful, sentence: Sentence, parts: Sequence[tuple[Span, Candidate]]
) -> Candidate:
    """One candidate out of those of the parts, with the white space between them."""
    text = ""
    read = 0
    pieces: list[Piece] = []
    source_pieces: list[Piece] = []
    kept: list[tuple[Span, Span]] = []
    token_log_probs: list[float] = []
    for span, part in parts:
        text += sentence.text[read : span.start]
        start, written = len(text), part.text
        first = sentence.text[span.start]
        if start and first.islower() and not part.copied and written[:1].lower() == first:
            written = first + written[1:]
        text += written
        read = span.end
        if part.copied:
            kept.append((span, Span(start, len(text))))
            continue
        pieces += [_shifted(piece, start) for piece in part.pieces]
        own = part.source_pieces or faithful.source_pieces(
            Reading(Rewriting.of(sentence.text[_slice(span)], ()))
        )
        source_pieces += [_shifted(piece, span.start) for piece in own]
        token_log_probs += part.token_log_probs[: len(part.pieces)]
    text += sentence.text[read:]
    end = next((part for _, part in reversed(parts) if not part.copied), None)
    if end is not None:
        token_log_probs += end.token_log_probs[len(end.pieces) :]
    return Candidate(
        text,
        tuple(pieces),
        sum(token_log_probs),
        sum(part.rank for _, part in parts),
        finished=all(part.finished for _, part in parts),
        token_log_probs=tuple(token_log_probs),
        copied=not pieces,
        kept=tuple(kept),
        source_pieces=tuple(source_pieces),
    )


def _inside(reading: Reading) -> list[Protected]:
    return [entry for _, entry in reading.protected]


def _beside(present: Sequence[Protected], more: Sequence[Protected]) -> list[Protected]:
    return [entry for entry in more if not any(_overlap(entry.span, other.span) for other in present)]


def _overlap(span: Span, other: Span) -> bool:
    return span.start < other.end and other.start < span.end


def _shifted(piece: Piece, offset: int) -> Piece:
    return replace(piece, start=piece.start + offset, end=piece.end + offset)


def _slice(span: Span) -> slice:
    return slice(span.start, span.end)

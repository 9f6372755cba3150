"""A sentence before the model: what of it is copied, by way of which placeholders, and what the model reads.

A span to copy is replaced by a placeholder: a reserved piece of the vocabulary (``nmt.text.placeholders``),
or, for a model that has none, a name that it copies well. All spans are in characters of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from nmt.options import TranslationOptions
from nmt.spans import Span, overlap
from nmt.text.casing import SurfaceForm
from nmt.text.characters import composed, unseen
from nmt.text.edits import Edit, Rewriting
from nmt.text.glossary import Term, TermMatch
from nmt.text.known_words import is_known, ordinary_words
from nmt.text.languages import KNOWN, rules
from nmt.text.lexicon.lookup import is_common, look_up
from nmt.text.literals import Literal as Copied
from nmt.text.literals import find_literals
from nmt.text.money import SIGNS, amounts_in_words
from nmt.text.names import find_names
from nmt.text.numbers import is_unit
from nmt.text.placeholders import PLACEHOLDERS, REGISTER, WITH_REGISTER
from nmt.text.roman import find_centuries
from nmt.text.segment import Segment
from nmt.text.shorthand import find_laughter, shorthand_edits
from nmt.text.times import find_times
from nmt.tokenizer import WORD_START, Piece, Tokenizer

NAMES = ("Tom", "Paris", "Boston", "Mary", "John")
"""Names that a model without placeholders copies, where its vocabulary has them as single pieces. The order
is that of a measurement on everyday: of 24 sentences each it copied 24, 23, 23, 24 and 21 even unasked."""
PLAIN = {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "‑": "-", "‐": "-", "−": "-"}
"""Signs that a model reads in the place of typographic ones that its vocabulary lacks."""
MASK = "Literal"
"""Stands for a span to copy while a text is cut into sentences: a word that may begin one."""

_NAME = re.compile(r"(?<=[\w,;)\"”»][ ])[^\W\d_a-zà-öø-ÿ][^\W\d_]{2,}(?:-[^\W\d_]+)*(?![\w-])")
RARE_PIECES, RARE_FIRST_PIECES = 3, 4
"""A name of so many pieces is copied; the first word of a sentence has a capital anyway and needs more."""

_AS_DOLLAR = str.maketrans(dict.fromkeys(SIGNS, "$"))

SpannedT = TypeVar("SpannedT", Copied, Span)


@dataclass(frozen=True)
class Placeholder:
    """A text of one piece that the model reads and writes in the place of another."""

    text: str
    id: int


@dataclass(frozen=True)
class ProtectedSpan:
    """A span of the sentence and what its translation is to hold for it."""

    span: Span
    text: str
    term: Term | None = None
    is_number: bool = False
    is_name: bool = False
    inner: tuple[str, str] | None = None
    """Words that a pair of literals or marks stands around, and their translation."""


@dataclass(frozen=True)
class ModelInput:
    """Input of the model for a sentence."""

    rewriting: Rewriting
    """From the sentence in its new case to the text that the model reads."""
    protected: tuple[tuple[Placeholder, ProtectedSpan], ...] = ()

    @property
    def text(self) -> str:
        """Text that the model reads."""
        return self.rewriting.new


@dataclass(frozen=True)
class PreparedSentence:
    """A sentence on its way through the model."""

    text: str
    copied: tuple[ProtectedSpan, ...]
    """In order, without overlaps."""
    terms: tuple[TermMatch, ...]
    form: SurfaceForm
    options: TranslationOptions
    model_input: ModelInput | None
    """Input of the first search; None: not one can hold all placeholders, or nothing is to be translated."""
    source_language: str
    target_language: str
    keep: tuple[Span, ...] = ()
    """Spans of ``copied`` that the caller asked for: any translation is to hold it."""
    prefix: str = ""
    """How the translation begins (``nmt.pipeline.beginning``)."""


class Preparer:
    """Works out what a model is to read, with the vocabulary that it has.

    Args:
        tokenizer: of what the model reads.
        source_language: ISO 639-1 code of what it reads.
        target_language: of what it writes.
        target_tokenizer: of what the model writes; None: the same.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        source_language: str = "en",
        target_language: str = "fr",
        target_tokenizer: Tokenizer | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._target_tokenizer = target_tokenizer or tokenizer
        self.source_language, self.target_language = source_language, target_language
        placeholders = self._pieces_of(PLACEHOLDERS)
        self.has_placeholders = len(placeholders) == len(PLACEHOLDERS)
        self.placeholders = placeholders if self.has_placeholders else self._pieces_of(NAMES)
        self.registers = {
            name: piece
            for name, piece in REGISTER.items()
            if target_language in WITH_REGISTER and tokenizer.piece_id(piece) is not None
        }
        self._plain = {sign: plain for sign, plain in PLAIN.items() if not tokenizer.knows(sign)}
        self._preferred: dict[str, str] = {}

    def literals(self, text: str) -> list[Copied]:
        """The literals of a text, with what the tokenizer cannot write."""
        if not text.isascii():  # a sign of money that is read in words is none
            for edit in amounts_in_words(text, self.source_language, self._tokenizer.knows):
                span = edit.span
                text = f"{text[: span.start]}{text[slice_of(span)].translate(_AS_DOLLAR)}{text[span.end :]}"
        return find_literals(text, is_known=self._can_read)

    def prepare(
        self, text: str, literals: Sequence[Copied], keep: Sequence[Span], options: TranslationOptions
    ) -> PreparedSentence:
        """Work out what the model is to read first.

        Args:
            text: the sentence.
            literals: its literals.
            keep: spans to copy, beside which literals do not count where they overlap.
            options: how it is translated.
        """
        matches = options.glossary.matches(text) if options.glossary is not None else []
        copied = [ProtectedSpan(span, text[span.start : span.end]) for span in keep]
        for match in matches:
            if match.term.source == match.term.target:
                copied += beside(copied, [ProtectedSpan(match.span, text[slice_of(match.span)], match.term)])
        copied += beside(
            copied, [ProtectedSpan(literal.span, text[slice_of(literal.span)]) for literal in literals]
        )
        taken = [ProtectedSpan(match.span, "") for match in matches]
        copied += beside([*copied, *taken], self._sure(text))
        copied.sort(key=lambda entry: entry.span.start)
        terms = [
            match
            for match in matches
            if match.term.source != match.term.target
            and not any(overlap(match.span, entry.span) for entry in copied)
        ]
        fixed = [*literals, *(Copied("code", entry.span) for entry in copied)]
        form = SurfaceForm.of(text, fixed, self.prefers, self.source_language, self._is_common)
        if form.case == "as_is":
            names = beside([*copied, *(ProtectedSpan(match.span, "") for match in terms)], self._names(text))
            copied = sorted([*copied, *names], key=lambda entry: entry.span.start)
        languages = self.source_language, self.target_language
        sentence = PreparedSentence(
            text, tuple(copied), tuple(terms), form, options, None, *languages, keep=tuple(keep)
        )
        return replace(sentence, model_input=self.read(sentence, copied))

    def _sure(self, text: str) -> list[ProtectedSpan]:
        """Spans written by rule: times of day, laughter, centuries, names of people and streets."""
        languages = self.source_language, self.target_language
        times = [
            ProtectedSpan(span, written, is_number=True)
            for span, written in (
                *find_times(text, *languages),
                *find_laughter(text, *languages),
                *(find_centuries(text, *languages) if languages[1] == "en" else ()),
            )
        ]
        names = (
            ProtectedSpan(span, text[slice_of(span)], is_name=True)
            for span in find_names(text, self.source_language)
        )
        return [*times, *beside(times, list(names))]

    def _names(self, text: str) -> list[ProtectedSpan]:
        """Words with a capital inside a sentence that the model would misspell: the vocabulary lacks them.

        None in a language without rules: German has a capital on every noun.
        """
        if self.source_language not in KNOWN:
            return []
        found = [match for match in self._capitals(text) if self._is_rare(match.group(), RARE_PIECES)]
        pattern = rules(self.source_language).first_name
        first = None if pattern is None else pattern.match(text)
        if first is not None and self._is_rare(first.group(), RARE_FIRST_PIECES):
            found.insert(0, first)
        return [ProtectedSpan(Span(*match.span()), match.group(), is_name=True) for match in found]

    def names_of_both(self, sentence: PreparedSentence) -> list[ProtectedSpan]:
        """Words with a capital that both languages have and the lexicon does not translate: Windhoek.

        The model knows them, so it is asked first; in few pieces it knows them well.
        """
        if sentence.form.case != "as_is" or self.source_language not in KNOWN:
            return []
        languages = self.source_language, self.target_language
        return [
            ProtectedSpan(Span(*match.span()), match.group(), is_name=True)
            for match in self._capitals(sentence.text)
            if is_known(match.group().lower(), languages[1])
            and len(self._tokenizer.subwords(match.group())) >= RARE_PIECES
            and self._has_a_translation(match.group())
            and look_up(match.group(), *languages) is None
            and match.group().lower() not in rules(languages[0]).capitalised
        ]

    def _capitals(self, text: str) -> list[re.Match[str]]:
        """Words with a capital inside a sentence, units aside."""
        return [
            match for match in _NAME.finditer(text) if not is_unit(text, *match.span(), self.source_language)
        ]

    def _is_rare(self, name: str, n_pieces: int) -> bool:
        if self._has_a_translation(name):
            return False
        forms = (name,) if n_pieces == RARE_PIECES else (name, name.lower())
        return all(len(self._tokenizer.subwords(form)) >= n_pieces for form in forms)

    def _has_a_translation(self, name: str) -> bool:
        """Whether a word with a capital is one of the language, or a place of another name: Suisse.

        Acronyms and Roman numerals are what they are, unless the language's rules know better.
        """
        languages = self.source_language, self.target_language
        if name.lower() in rules(languages[0]).capitalised:
            return True
        known = is_known(name.lower(), languages[0]) or look_up(name, *languages) is not None
        return known and not name.isupper()

    def n_free(self, sentence: PreparedSentence) -> int:
        """How many placeholders do not occur in the sentence itself."""
        return sum(one.text not in sentence.text for one in self.placeholders)

    def _can_read(self, character: str) -> bool:
        return (
            character.isascii() or character in PLAIN or unseen(character) or self._tokenizer.knows(character)
        )

    def _is_common(self, word: str) -> bool:
        languages = self.source_language, self.target_language
        return word.lower() in ordinary_words(languages[0]) or is_common(word, *languages)

    def prefers(self, word: str) -> str:
        """The form of a word in lower case, capitalised or as it is that the vocabulary has in fewest pieces.

        Of equals the one whose piece was merged first, for it is more frequent.
        """
        if word not in self._preferred:
            forms = dict.fromkeys((word.lower(), word.capitalize(), word))
            encoded = {form: self._tokenizer.subwords(form) for form in forms}
            if len(self._preferred) > 100_000:
                self._preferred.clear()
            self._preferred[word] = min(forms, key=lambda form: (len(encoded[form]), encoded[form][:1]))
        return self._preferred[word]

    def read(self, sentence: PreparedSentence, protected: Sequence[ProtectedSpan]) -> ModelInput | None:
        """Put placeholders in the place of ``protected``; None when there are not enough of them."""
        core = sentence.form.core
        inside = [
            entry
            for entry in joined(sentence.text, sorted(protected, key=lambda entry: entry.span.start))
            if core.start <= entry.span.start and entry.span.end <= core.end
        ]
        chosen: list[tuple[Placeholder, ProtectedSpan]] = []
        taken: set[int] = set()
        for entry in inside:
            free = [one for one in self.placeholders if one.id not in taken and one.text not in sentence.text]
            if not free:
                return None
            chosen.append((free[0], entry))
            taken.add(free[0].id)
        edits = sentence.form.edits(sentence.text)
        if register := self.registers.get(sentence.options.formality):
            edits.insert(0, Edit(Span(0, 0), register + " "))
        edits += [
            Edit(entry.span, self._written(placeholder, sentence.text, entry))
            for placeholder, entry in chosen
        ]
        text = sentence.form.recased
        language, knows = self.source_language, self._tokenizer.knows
        in_words = amounts_in_words(text, language, knows), shorthand_edits(sentence.text, language, text)
        for more in (*in_words, composed(text)):
            edits += [edit for edit in more if not any(overlap(edit.span, one.span) for one in edits)]
        if not text.isascii() and not self._plain.keys().isdisjoint(text):
            text = text.translate({ord(sign): plain for sign, plain in self._plain.items()})
        return ModelInput(Rewriting.of(text, edits), tuple(chosen))

    def _written(self, placeholder: Placeholder, text: str, entry: ProtectedSpan) -> str:
        """A placeholder as the model reads it: a name is a word by itself, whatever its span touches."""
        if self.has_placeholders:
            return placeholder.text
        before, after = text[: entry.span.start][-1:], text[entry.span.end :][:1]
        return f"{' ' if before.strip() else ''}{placeholder.text}{' ' if after.isalnum() else ''}"

    def source_pieces(self, model_input: ModelInput) -> tuple[Piece, ...]:
        """The pieces that the model reads, with their spans in the sentence."""
        return tuple(
            Piece(piece.id, piece.text, span.start, span.end)
            for piece in self._tokenizer.encode_pieces(model_input.text)
            for span in [model_input.rewriting.backward(piece.start, piece.end)]
        )

    def written_pieces(self, text: str) -> tuple[Piece, ...]:
        """The pieces of a text in the target language that no model wrote."""
        return tuple(self._target_tokenizer.encode_pieces(text))

    def encode(self, text: str) -> list[int]:
        """Token ids of what the model reads."""
        return self._tokenizer.encode(text)

    def encode_target(self, text: str) -> list[int]:
        """Token ids of what the model writes."""
        return self._target_tokenizer.subwords(text)

    def _pieces_of(self, texts: Iterable[str]) -> tuple[Placeholder, ...]:
        found = []
        for text in texts:
            spelt = text
            if text not in PLACEHOLDERS or self._tokenizer.piece_id(text) is None:
                spelt = WORD_START + text
            id_ = self._target_tokenizer.piece_id(spelt)
            if id_ is not None and self._tokenizer.piece_id(spelt) is not None:
                found.append(Placeholder(text, id_))
        return tuple(found)


def copied_spans(literals: Sequence[Copied], keep: Sequence[Span]) -> list[Span]:
    """Spans to keep and the literals beside them, in order, without overlaps."""
    literal_spans = [literal.span for literal in literals]
    if not keep:
        return literal_spans
    beside = [span for span in literal_spans if not any(overlap(span, other) for other in keep)]
    return sorted([*keep, *beside], key=lambda span: span.start)


def within(entries: Sequence[SpannedT], segment: Segment) -> Iterator[tuple[SpannedT, Span]]:
    """The literals or spans of a text that lie in one of its sentences, each with its span there."""
    for entry in entries:
        span = entry if isinstance(entry, Span) else entry.span
        if segment.start <= span.start and span.end <= segment.end:
            yield entry, Span(span.start - segment.start, span.end - segment.start)


def joined(text: str, protected: Sequence[ProtectedSpan]) -> list[ProtectedSpan]:
    """Neighbours with at most a space between them, terms and numbers aside, share one placeholder."""
    joined: list[ProtectedSpan] = []
    for entry in protected:
        last = joined[-1] if joined else None
        if (
            last is not None
            and not (last.is_number or entry.is_number or last.term or entry.term)
            and text[last.span.end : entry.span.start] in {"", " "}
        ):
            span = Span(last.span.start, entry.span.end)
            joined[-1] = ProtectedSpan(span, text[slice_of(span)], is_name=last.is_name and entry.is_name)
        else:
            joined.append(entry)
    return joined


def beside(present: Sequence[ProtectedSpan], more: Sequence[ProtectedSpan]) -> list[ProtectedSpan]:
    """Those of ``more`` that overlap nothing present."""
    return [entry for entry in more if not any(overlap(entry.span, other.span) for other in present)]


def slice_of(span: Span) -> slice:
    """``text[slice_of(span)]``."""
    return slice(span.start, span.end)

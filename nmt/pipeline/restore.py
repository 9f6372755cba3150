"""A sentence after the model: what placeholders stood for and the surface form of the source are put back.

Pieces, spans and links of the translation follow each change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from nmt.alignment.alignment import Alignment
from nmt.alignment.pharaoh import Link
from nmt.pipeline.prepare import ModelInput, PreparedSentence, ProtectedSpan, slice_of
from nmt.pipeline.result import Candidate
from nmt.spans import Span
from nmt.text.edits import Edit, Rewriting
from nmt.text.elision import agree, agree_in_number
from nmt.text.glossary import at_start as begin
from nmt.text.greetings import GREETS, left_greeting
from nmt.text.languages import rules
from nmt.text.money import SIGNS, signs_again
from nmt.text.names import after_speaker
from nmt.text.numbers import number_edits
from nmt.text.placeholders import PLACEHOLDERS
from nmt.text.quotes import QUOTES, quote_edits
from nmt.text.roman import is_french_century
from nmt.text.titles import lost_title
from nmt.text.typography import french_typography
from nmt.text.words import Token
from nmt.tokenizer import Piece


def restore(
    sentence: PreparedSentence, model_input: ModelInput, candidate: Candidate, n_given: int = 0
) -> Candidate:
    """Put back literals and form; spans of pieces follow.

    Of the first ``n_given`` pieces literals alone: they are how somebody wants the translation to begin.
    """
    written = candidate.text
    places = _placeholders_in(model_input, candidate)
    kept = [*(span for span, _ in places), *_given(candidate, n_given)]
    form = sentence.form
    recased = form.in_case(written, kept, sentence.text, sentence.target_language)
    edits = _apart(edit for span, entry in places for edit in _edits_at(sentence, recased, span, entry))
    before, after = form.frame_edits(sentence.text, written)
    edits = [*edits, *_speech_edits(sentence, recased, places)]
    changes = [before, *edits, *form.ending_edits(written, kept, sentence.target_language), after]
    rewriting = Rewriting.of(
        recased, [edit for edit in changes if edit.text or edit.span.start < edit.span.end]
    )
    candidate = rewrite(candidate, rewriting)
    core = form.core
    framed = [
        (entry.span, _outside(entry.span, core, sentence.text, rewriting.new))
        for entry in sentence.copied
        if entry.span.end <= core.start or entry.span.start >= core.end
    ]
    inside = [(entry.span, rewriting.forward(span.start, span.end)) for span, entry in places]
    candidate = replace(candidate, kept=tuple(sorted([*framed, *inside], key=lambda pair: pair[0].start)))
    targets = [*(target for _, target in candidate.kept), *_given(candidate, n_given)]
    languages = sentence.source_language, sentence.target_language
    numbers = number_edits(sentence.text, candidate.text, languages, targets)
    if numbers:
        candidate = rewrite(candidate, Rewriting.of(candidate.text, numbers))
    in_words = [sign for sign in SIGNS if sign in sentence.text and sign not in model_input.text]
    if in_words:
        targets = [*(target for _, target in candidate.kept), *_given(candidate, n_given)]
        amounts = signs_again(sentence.text, candidate.text, languages, in_words, targets)
        candidate = rewrite(candidate, Rewriting.of(candidate.text, amounts))
    targets = [target for _, target in candidate.kept]
    if GREETS.search(sentence.text):
        greetings = left_greeting(sentence.text, candidate.text, languages, targets)
        candidate = rewrite(candidate, Rewriting.of(candidate.text, greetings))
    targets = [*(target for _, target in candidate.kept), *_given(candidate, n_given)]
    if not QUOTES.isdisjoint(sentence.text):
        quotes = quote_edits(sentence.text, candidate.text, sentence.target_language, targets)
        candidate = rewrite(candidate, Rewriting.of(candidate.text, quotes))
    if sentence.options.french_typography:
        targets = [*(target for _, target in candidate.kept), *_given(candidate, n_given)]
        rewriting = Rewriting.of(candidate.text, french_typography(candidate.text, targets))
        candidate = rewrite(candidate, rewriting)
    return candidate


def _apart(edits: Iterable[Edit]) -> list[Edit]:
    """Of two neighbours that take in the same space the first has it."""
    apart: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        start = max(edit.span.start, apart[-1].span.end if apart else 0)
        apart.append(Edit(Span(start, max(start, edit.span.end)), edit.text))
    return apart


def _speech_edits(
    sentence: PreparedSentence, written: str, places: Sequence[tuple[Span, ProtectedSpan]]
) -> list[Edit]:
    """The capital of what somebody says: JOHN: Where? is JOHN : Où ?"""
    start = after_speaker(sentence.text)
    if start is None or not places or not sentence.text[start].isupper():
        return []
    place, entry = places[0]
    gap = re.match(r"\s?:\s*", written[place.end :])
    if not entry.is_name or entry.span.end > start or gap is None or written[: place.start].strip(" -–—"):
        return []
    first = place.end + gap.end()
    is_taken = any(other.start <= first < other.end for other, _ in places)
    letter = written[first : first + 1]
    return [Edit(Span(first, first + 1), letter.upper())] if letter.islower() and not is_taken else []


def _given(candidate: Candidate, n_pieces: int) -> list[Span]:
    """The span of the first pieces; none where there are none."""
    return [Span(0, candidate.pieces[n_pieces - 1].end)] if n_pieces else []


def _edits_at(
    sentence: PreparedSentence, written: str, placeholder: Span, entry: ProtectedSpan
) -> list[Edit]:
    """Put back what a placeholder stood for; names and terms may change how the word before them ends."""
    text = _replacement(sentence, entry, at_start=not written[: placeholder.start].strip("«“\"' \u00a0"))
    change = None
    if entry.is_name:
        change = _with_title(sentence, written, placeholder, entry)
    if change is not None:
        n_characters, title = change
        return [
            Edit(Span(placeholder.start - n_characters, placeholder.start), title),
            Edit(placeholder, text),
        ]
    if entry.is_name or entry.term is not None:
        change = agree(written[: placeholder.start], text, sentence.target_language)
    elif entry.inner is not None and sentence.target_language == "fr":
        change = agree_in_number(written[: placeholder.start], *entry.inner)
    if change is not None:
        n_characters, end = change
        before = Span(placeholder.start - n_characters, placeholder.start)
        return [Edit(before, end), Edit(placeholder, text)]
    if is_french_century(text):  # the model may begin the numeral itself
        start = len(written[: placeholder.start].rstrip("IVX"))
        placeholder = Span(start, placeholder.end)
    spaced = rules(sentence.target_language).spaced_marks
    place = _with_needless_space(sentence.text, entry.span, written, placeholder, spaced)
    if not (entry.is_number or entry.is_name or entry.term):
        place = _glued(sentence.text, entry.span, written, place)
    return [Edit(place, text)]


def _with_title(
    sentence: PreparedSentence, written: str, placeholder: Span, entry: ProtectedSpan
) -> tuple[int, str] | None:
    """The title of a name whose translation lost it; how many characters before it give way, and to what."""
    before = written[: placeholder.start]
    title = lost_title(sentence.text, entry.span.start, before, written, sentence.target_language)
    if title is None:
        return None
    change = agree(before, title[1], sentence.target_language) if title[0] == 0 else None
    return title if change is None else (change[0], change[1] + title[1])


def _placeholders_in(model_input: ModelInput, candidate: Candidate) -> list[tuple[Span, ProtectedSpan]]:
    """Where ``candidate`` holds placeholders; one that is but the beginning of a longer word is none."""
    by_id = {placeholder.id: (placeholder, entry) for placeholder, entry in model_input.protected}
    places = []
    for piece in candidate.pieces:
        if piece.id in by_id:
            placeholder, entry = by_id[piece.id]
            end = candidate.text[piece.end : piece.end + 1]
            if candidate.text[piece.start : piece.end] == placeholder.text and (
                placeholder.text in PLACEHOLDERS or not end.isalnum()
            ):
                places.append((Span(piece.start, piece.end), entry))
    return places


def _replacement(sentence: PreparedSentence, entry: ProtectedSpan, *, at_start: bool) -> str:
    is_term = entry.term is not None and entry.term.source != entry.term.target
    is_rewritten = entry.is_number and entry.text != sentence.text[slice_of(entry.span)]
    if not is_term and not is_rewritten:
        return entry.text
    read = sentence.text if sentence.form.case == "as_is" else sentence.form.recased
    begins = read[sentence.form.core.start :][:1].isupper()
    return begin(entry.text) if at_start and begins else entry.text


def _with_needless_space(source: str, literal: Span, written: str, placeholder: Span, spaced: str) -> Span:
    """The span of a placeholder with a space beside it that its literal has not, next to the same sign."""
    start, end = placeholder.start, placeholder.end
    before, after = source[: literal.start][-1:].strip(), source[literal.end :][:1].strip()
    is_bold = source[literal.start : literal.end] == "**"
    if before and written[:start].endswith(" " if is_bold else f"{before} "):
        start -= 1
    if (
        after
        and after not in spaced
        and written[end:].startswith(" " if is_bold and not before else f" {after}")
    ):
        end += 1
    return Span(start, end)


def _glued(source: str, literal: Span, written: str, placeholder: Span) -> Span:
    """The span of a placeholder with a space where its literal touches a word: <1>here</1>, {n}ms."""
    start, end = placeholder.start, placeholder.end
    if source[: literal.start][-1:].isalnum() and written[:start].endswith(" "):
        start -= 1
    if source[literal.end :][:1].isalnum() and written[end : end + 1] == " ":
        end += 1
    return Span(start, end)


def rewrite(candidate: Candidate, rewriting: Rewriting) -> Candidate:
    """``candidate`` with its text changed; pieces and what was kept follow."""
    if rewriting.new == candidate.text:
        return candidate
    if not rewriting.replaced:
        return replace(candidate, text=rewriting.new)

    def moved(span: Span) -> Span:
        return rewriting.forward(span.start, span.end)

    pieces = (
        Piece(piece.id, piece.text, span.start, span.end)
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


def with_all_kept(sentence: PreparedSentence, copy: Candidate) -> Candidate:
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

"""A sentence after the model: stand-ins give way to what they stood for, and the shape of the source returns.

Pieces, spans and links of the translation follow each change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nmt.alignment.alignment import Alignment
from nmt.alignment.pharaoh import Link
from nmt.pipeline.prepare import Protected, Reading, Sentence
from nmt.pipeline.result import Candidate
from nmt.spans import Span
from nmt.text.edits import Edit, Rewriting
from nmt.text.elision import agree
from nmt.text.glossary import at_start as begin
from nmt.text.greetings import left_greeting
from nmt.text.languages import rules
from nmt.text.numbers import number_edits
from nmt.text.placeholders import PLACEHOLDERS
from nmt.text.roman import is_french_century
from nmt.text.titles import lost_title
from nmt.text.typography import french_typography
from nmt.text.words import Token
from nmt.tokenizer import Piece


def restore(sentence: Sentence, reading: Reading, candidate: Candidate) -> Candidate:
    """Put back literals and shape; spans of pieces follow."""
    written = candidate.text
    places = _stand_ins_in(reading, candidate)
    kept = [span for span, _ in places]
    shape = sentence.shape
    recased = shape.in_case(written, kept, sentence.text, sentence.target_language)
    edits = [edit for span, entry in places for edit in _edits_at(sentence, recased, span, entry)]
    before, after = shape.frame_edits(sentence.text, written)
    changes = [before, *edits, *shape.ending_edits(written, kept, sentence.target_language), after]
    rewriting = Rewriting.of(
        recased, [edit for edit in changes if edit.text or edit.span.start < edit.span.end]
    )
    candidate = rewrite(candidate, rewriting)
    core = shape.core
    framed = [
        (entry.span, _outside(entry.span, core, sentence.text, rewriting.new))
        for entry in sentence.copied
        if entry.span.end <= core.start or entry.span.start >= core.end
    ]
    inside = [(entry.span, rewriting.forward(span.start, span.end)) for span, entry in places]
    candidate = replace(candidate, kept=tuple(sorted([*framed, *inside], key=lambda pair: pair[0].start)))
    targets = [target for _, target in candidate.kept]
    languages = sentence.source_language, sentence.target_language
    numbers = number_edits(sentence.text, candidate.text, languages, targets)
    if numbers:
        candidate = rewrite(candidate, Rewriting.of(candidate.text, numbers))
    targets = [target for _, target in candidate.kept]
    greetings = left_greeting(sentence.text, candidate.text, languages, targets)
    if greetings:
        candidate = rewrite(candidate, Rewriting.of(candidate.text, greetings))
    if sentence.options.french_typography:
        targets = [target for _, target in candidate.kept]
        rewriting = Rewriting.of(candidate.text, french_typography(candidate.text, targets))
        candidate = rewrite(candidate, rewriting)
    return candidate


def _edits_at(sentence: Sentence, written: str, stand_in: Span, entry: Protected) -> list[Edit]:
    """Put back what a stand-in stood for; names and terms may change how the word before them ends."""
    text = _replacement(sentence, entry, at_start=not written[: stand_in.start].strip("«“\"' \u00a0"))
    change = None
    if entry.is_name:
        change = _with_title(sentence, written, stand_in, entry)
    if change is not None:
        n_characters, title = change
        return [Edit(Span(stand_in.start - n_characters, stand_in.start), title), Edit(stand_in, text)]
    if entry.is_name or entry.term is not None:
        change = agree(written[: stand_in.start], text, sentence.target_language)
    if change is not None:
        n_characters, end = change
        before = Span(stand_in.start - n_characters, stand_in.start)
        return [Edit(before, end), Edit(stand_in, text)]
    if is_french_century(text):  # the model may begin the numeral itself
        start = len(written[: stand_in.start].rstrip("IVX"))
        stand_in = Span(start, stand_in.end)
    spaced = rules(sentence.target_language).spaced_marks
    return [Edit(_with_needless_space(sentence.text, entry.span, written, stand_in, spaced), text)]


def _with_title(sentence: Sentence, written: str, stand_in: Span, entry: Protected) -> tuple[int, str] | None:
    """The title of a name whose translation lost it; how many characters before it give way, and to what."""
    before = written[: stand_in.start]
    title = lost_title(sentence.text, entry.span.start, before, written, sentence.target_language)
    if title is None:
        return None
    change = agree(before, title[1], sentence.target_language) if title[0] == 0 else None
    return title if change is None else (change[0], change[1] + title[1])


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
    return begin(entry.text) if at_start and begins else entry.text


def _with_needless_space(source: str, literal: Span, written: str, stand_in: Span, spaced: str) -> Span:
    """The span of a stand-in with a space beside it that its literal has not, next to the same sign."""
    start, end = stand_in.start, stand_in.end
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

"""Constraints of one translation: literals, spans to keep, terms and numbers must be in it.

Search writes each placeholder of a sentence exactly once (``nmt.search.required``). Glossary terms and
numbers are left to the model first, whose grammar is better then. Where it fails they become placeholders of
a second search. What is still lost after that is kept by translating the parts around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from nmt.config import GenerationConfig
from nmt.hypothesis import Hypothesis
from nmt.pipeline.asides import AsideSearch, wrong_asides
from nmt.pipeline.beginning import NOTHING, beginning_of
from nmt.pipeline.flags import FlagKind
from nmt.pipeline.known import needs_scores
from nmt.pipeline.pairs import MOST_PAIRS, moved_pairs, pairs, projected
from nmt.pipeline.prepare import (
    ModelInput,
    PreparedSentence,
    Preparer,
    ProtectedSpan,
    beside,
    joined,
    slice_of,
)
from nmt.pipeline.quality import Found, copy_of, search_and_repair
from nmt.pipeline.read_back import reranked
from nmt.pipeline.requests import Flow, search_for
from nmt.pipeline.restore import restore
from nmt.pipeline.result import Candidate
from nmt.spans import Span
from nmt.text.asides import OPENING
from nmt.text.edits import Edit, Rewriting
from nmt.text.glossary import AppliedTerm, find_form, has_its_capitals, in_case_of
from nmt.text.greetings import greeting
from nmt.text.lexicon import look_up
from nmt.text.literals import find_literals
from nmt.text.numbers import (
    NumberCheck,
    compare_numbers,
    compare_spelled_numbers,
    rewritten,
    spelled_numbers,
)
from nmt.text.repetition import repeats_itself
from nmt.text.roman import centuries, find_centuries, find_numerals
from nmt.tokenizer import Piece

MARKS = ",;:.!?…)]}»\"'"
"""Punctuation that stays with what it follows."""
BEGINNING = 4
"""Letters that a name has in common with the word that it is taken for."""

_WORD = re.compile(r"[^\W\d_]+")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_FORMULA = re.compile(r"[\d+*/=<>^~|\\-]")


def translate_with_constraints(
    preparer: Preparer,
    sentence: PreparedSentence,
    source_ids: Sequence[int],
    options: GenerationConfig,
    decode: Callable[[Hypothesis], Candidate],
    *,
    with_lexicon: bool = False,
    with_links: bool = False,
) -> Flow[Found]:
    """Search for a translation that holds all that it should.

    Args:
        preparer: of the model.
        sentence: of ``Preparer.prepare``.
        source_ids: of its input.
        options: how to search.
        decode: a hypothesis as text.
        with_lexicon: for parts that are translated by themselves.
        with_links: whether word links can tell where pairs of literals belong.
    """
    run = _Run(preparer, options, decode)
    if sentence.prefix:
        return (yield from _continued(run, sentence, source_ids))
    if not _has_words(sentence):
        return (_by_rule(preparer, sentence, ()),), ()
    greeted = _greeting(sentence)
    if greeted:
        return (_by_rule(preparer, sentence, greeted),), ()
    if sentence.model_input is None:
        found = yield from run.in_parts(sentence, _groups(sentence, preparer.n_free(sentence)))
    else:
        found = yield from _whole(run, sentence, sentence.model_input, source_ids)
    if not found[0][0].copied and _check_numbers(sentence, found[0][0]).missing:
        whole = replace(sentence, copied=tuple(_with_numbers(sentence)))
        in_parts = yield from run.in_parts(whole, _parts(whole))
        if _n_wrong(sentence, in_parts) < _n_wrong(sentence, found):
            found = in_parts
    if _lost(sentence, found[0][0]):
        found = yield from run.in_parts(sentence, _parts(sentence))
    if sentence.options.quality == "best":
        found = yield from _read_back(sentence, found)
    search = AsideSearch(preparer, run.attempt, with_lexicon)
    found = yield from _with_pairs(search, sentence, found, with_links=with_links)
    found = yield from _with_asides(search, sentence, found)
    return _with_terms(sentence, found)


def _whole(
    run: _Run, sentence: PreparedSentence, model_input: ModelInput, ids: Sequence[int] | None
) -> Flow[Found]:
    """One search for a whole sentence, and another with placeholders for what it lacks."""
    found = yield from run.attempt(sentence, model_input, ids)
    again = _still_wanted(sentence, model_input, found[0][0])
    lost = _lost_names(run.preparer, sentence, found[0][0])
    again += beside([*sentence.copied, *again], lost)
    room = run.preparer.n_free(sentence) - len(model_input.protected)
    if again and room > 0:
        more = run.preparer.read(sentence, [*_inside(model_input), *again[:room]])
        assert more is not None, "there is room"
        second = yield from run.attempt(sentence, more)
        still = _lost_names(run.preparer, sentence, second[0][0])
        if (_n_wrong(sentence, second), len(still)) < (_n_wrong(sentence, found), len(lost)):
            return second
    return found


def _lost_names(preparer: Preparer, sentence: PreparedSentence, best: Candidate) -> list[ProtectedSpan]:
    """Names that the translation has not, where it has an ordinary word in their place: Windhoek, fenêtre.

    Such a word has a capital that it does not need, or means one that begins as the name does.
    """
    written = best.text.lower()
    lost = [entry for entry in preparer.names_of_both(sentence) if entry.text.lower() not in written]
    if best.copied or not lost:
        return []
    read = sentence.text.lower()
    languages = sentence.target_language, sentence.source_language
    beginnings = tuple(entry.text[:BEGINNING].lower() for entry in lost)
    for match in _LONG_WORD.finditer(best.text):
        entry = look_up(match.group().lower(), *languages)
        if entry is None or any(known.lower() in read for known in entry.translations):
            continue
        has_capital = match.start() > 0 and match.group()[0].isupper()
        if has_capital or any(known.lower().startswith(beginnings) for known in entry.translations):
            return lost
    return []


def _continued(run: _Run, sentence: PreparedSentence, source_ids: Sequence[int]) -> Flow[Found]:
    """The translation that begins with the sentence's prefix; what is lost in it is flagged, not put in."""
    ids: Sequence[int] | None = source_ids
    model_input = sentence.model_input
    if model_input is None:  # as many placeholders as there are
        ids, model_input = None, run.preparer.read(sentence, sentence.copied[: run.preparer.n_free(sentence)])
        assert model_input is not None, "there are so many"
    found = yield from _whole(run, sentence, model_input, ids)
    if sentence.options.quality == "best":
        found = yield from _read_back(sentence, found)
    return _with_terms(sentence, found)


def _greeting(sentence: PreparedSentence) -> Sequence[Edit]:
    """The edits that translate a text of a greeting and something to copy; none if it is more than that."""
    if len(sentence.copied) != 1 or sentence.terms or sentence.copied[0].is_name:
        return ()
    languages = sentence.source_language, sentence.target_language
    return greeting(sentence.text, sentence.copied[0].span, *languages) or ()


def _by_rule(preparer: Preparer, sentence: PreparedSentence, edits: Sequence[Edit]) -> Candidate:
    """What is written without a model: ``edits``, and what stands for each thing to copy."""
    changed = [
        Edit(entry.span, entry.text)
        for entry in sentence.copied
        if entry.text != sentence.text[slice_of(entry.span)]
    ]
    if not changed and not edits:
        return copy_of(sentence.text)
    rewriting = Rewriting.of(sentence.text, [*edits, *changed])
    pieces = preparer.written_pieces(rewriting.new)
    return Candidate(
        rewriting.new,
        pieces,
        0.0,
        0.0,
        finished=True,
        token_log_probs=(0.0,) * (len(pieces) + 1),
        kept=tuple(
            (entry.span, rewriting.forward(entry.span.start, entry.span.end)) for entry in sentence.copied
        ),
    )


@dataclass(frozen=True)
class _Run:
    """One sentence's searches."""

    preparer: Preparer
    options: GenerationConfig
    decode: Callable[[Hypothesis], Candidate]

    def attempt(
        self, sentence: PreparedSentence, model_input: ModelInput, ids: Sequence[int] | None = None
    ) -> Flow[Found]:
        """One search, repaired if it loops, with the sentence's form and literals restored."""
        source_ids = self.preparer.encode(model_input.text) if ids is None else ids
        required = [placeholder.id for placeholder, _ in model_input.protected]
        beginning = beginning_of(self.preparer, sentence, model_input) if sentence.prefix else NOTHING
        scored = needs_scores(sentence)

        def ask(options: GenerationConfig) -> Flow[list[Hypothesis]]:
            return search_for(source_ids, options, required, beginning.ids, scored=scored)

        candidates, flags = yield from search_and_repair(model_input.text, self.options, ask, self.decode)
        if candidates[0].copied and beginning.text:
            as_found = self.options.model_copy(update={"repair_loops": False})
            candidates, flags = yield from search_and_repair(model_input.text, as_found, ask, self.decode)
        if candidates[0].copied:
            return (copy_of(sentence.text),), flags
        pieces = () if model_input.text == sentence.text else self.preparer.source_pieces(model_input)
        restored = [restore(sentence, model_input, candidate, len(beginning.ids)) for candidate in candidates]
        if sentence.prefix:
            restored = [beginning.put_into(candidate) for candidate in restored]
        return tuple(replace(candidate, source_pieces=pieces) for candidate in restored), flags

    def in_parts(self, sentence: PreparedSentence, spans: Sequence[Span]) -> Flow[Found]:
        """Translate parts of a sentence each by itself, and put them together."""
        parts: list[tuple[Span, Candidate]] = []
        flags: list[FlagKind] = []
        for span in spans:
            text = sentence.text[slice_of(span)]
            within = [
                replace(entry, span=Span(entry.span.start - span.start, entry.span.end - span.start))
                for entry in sentence.copied
                if span.start <= entry.span.start and entry.span.end <= span.end
            ]
            part = self.preparer.prepare(text, (), [entry.span for entry in within], sentence.options)
            if not _has_words(part) or part.model_input is None:
                parts.append((span, copy_of(text)))
                continue
            (best, *_), found = yield from self.attempt(part, part.model_input)
            parts.append((span, best))
            flags += found
        return (_joined_parts(self.preparer, sentence, parts),), tuple(dict.fromkeys(flags))


def _with_pairs(
    search: AsideSearch, sentence: PreparedSentence, found: Found, *, with_links: bool
) -> Flow[Found]:
    """Words between two literals stay there, unless literals, terms or numbers would be lost for it."""
    if found[0][0].copied or len(sentence.copied) < 2:
        return found
    if not 0 < len(pairs(sentence.text, sentence.copied)) <= MOST_PAIRS:
        return found
    wrong = _n_wrong(sentence, found)[:2]
    placed = (yield from projected(search, sentence, found)) if with_links else None
    if placed is not None and _n_wrong(sentence, placed[0])[:2] > wrong:
        placed = None
    if placed is not None and placed[1]:
        return placed[0]
    moved = yield from moved_pairs(search, sentence, found)
    if not moved:
        return found
    known = [(pair, inner) for pair, inner in moved if inner is not None]
    if len(known) == len(moved):
        second = yield from search.with_whole(sentence, known)
        if second is not None and _n_wrong(sentence, second)[:2] <= wrong:
            return second
    return found if placed is None else placed[0]


def _read_back(sentence: PreparedSentence, found: Found) -> Flow[Found]:
    """Rerank those candidates that are no more wrong than the first; the others stay behind them."""
    candidates, flags = found
    least = _n_wrong(sentence, found)
    fit = [
        one
        for one in candidates
        if not one.copied
        and _n_wrong(sentence, ((one,), flags)) <= least
        and not repeats_itself(sentence.text, one.text)
    ]
    if len(fit) < 2 or fit[0] is not candidates[0]:
        return found
    ordered = yield from reranked(sentence.text, fit)
    return (*ordered, *(one for one in candidates if not any(one is other for other in fit))), flags


def _with_asides(search: AsideSearch, sentence: PreparedSentence, found: Found) -> Flow[Found]:
    """Parts in brackets or quotes are translated, wherever the model did not."""
    if OPENING.isdisjoint(sentence.text):
        return found
    dropped = [one.source for one in wrong_asides(sentence, found[0][0]) if one.target is None]
    if dropped:
        second = yield from search.put_back(sentence, dropped)
        if second is not None and _n_wrong(sentence, second) < _n_wrong(sentence, found):
            found = second
    return (yield from search.replace_copied(sentence, found))


def _has_words(sentence: PreparedSentence) -> bool:
    """Whether anything is left to translate beside what is copied: x² + y² = z² is not."""
    outside = Rewriting.of(sentence.text, [Edit(entry.span, "=") for entry in sentence.copied]).new
    words = _WORD.findall(outside)
    return any(len(word) > 1 for word in words) or bool(words and not _FORMULA.search(outside))


def _still_wanted(
    sentence: PreparedSentence, model_input: ModelInput, best: Candidate
) -> list[ProtectedSpan]:
    """Terms and numbers that the model did not write by itself and that are no placeholders yet."""
    if best.copied:
        return []
    present = {entry.span for _, entry in model_input.protected}
    applied = {applied.source for applied in applied_terms(sentence, best)}
    wanted = [
        ProtectedSpan(match.span, in_case_of(sentence.text[slice_of(match.span)], match.term), match.term)
        for match in sentence.terms
        if match.span not in applied and match.span not in present
    ]
    if not _check_numbers(sentence, best).ok or _lacks_century(sentence, best):
        wanted += beside([*sentence.copied, *wanted], _numbers(sentence))
    return [*wanted, *beside([*sentence.copied, *wanted], _in_words(sentence, best))]


def _numbers(sentence: PreparedSentence) -> list[ProtectedSpan]:
    """The numbers of a sentence, each without what is copied already at its ends: a sign of money, say."""
    numbers = []
    for literal in find_literals(sentence.text, numbers=True):
        if literal.kind != "number":
            continue
        start, end = literal.span.start, literal.span.end
        for entry in sentence.copied:
            if entry.span.start <= start < entry.span.end:
                start = entry.span.end
            if entry.span.start < end <= entry.span.end:
                end = entry.span.start
        text = sentence.text[start:end]
        if any(map(str.isdigit, text)):
            written = rewritten(text, sentence.source_language, sentence.target_language)
            numbers.append(ProtectedSpan(Span(start, end), written, is_number=True))
    numerals = (
        ProtectedSpan(span, sentence.text[slice_of(span)], is_number=True)
        for span in find_numerals(sentence.text)
    )
    dated = [
        ProtectedSpan(span, written, is_number=True)
        for span, written in find_centuries(sentence.text, sentence.source_language, sentence.target_language)
    ]
    dated = beside(sentence.copied, dated)
    return [*dated, *beside(dated, [*numbers, *beside(numbers, list(numerals))])]


def _in_words(sentence: PreparedSentence, best: Candidate) -> list[ProtectedSpan]:
    """The numbers in words of a sentence, if its translation has others."""
    if _check_spelled(sentence, best).ok:
        return []
    languages = sentence.source_language, sentence.target_language
    return [
        ProtectedSpan(span, written, is_number=True)
        for span, written in spelled_numbers(sentence.text, *languages)
    ]


def _lacks_century(sentence: PreparedSentence, best: Candidate) -> bool:
    """Whether a century of the sentence is not called one in the translation."""
    values = [{value for _, value in centuries(text, language)} for text, language in _sides(sentence, best)]
    return not values[0] <= values[1]


def _sides(sentence: PreparedSentence, best: Candidate) -> tuple[tuple[str, str], tuple[str, str]]:
    return (sentence.text, sentence.source_language), (best.text, sentence.target_language)


def _check_spelled(sentence: PreparedSentence, best: Candidate) -> NumberCheck:
    """Beside what was copied."""
    source, target = (
        Rewriting.of(
            text, [Edit(pair[side], " ") for pair in sorted(best.kept, key=lambda one: one[side].start)]
        ).new
        for side, text in enumerate((sentence.text, best.text))
    )
    languages = {"source_language": sentence.source_language, "target_language": sentence.target_language}
    return compare_spelled_numbers(source, target, **languages)


def _with_numbers(sentence: PreparedSentence) -> list[ProtectedSpan]:
    """All that is to be copied when numbers are, in order."""
    numbers = beside(sentence.copied, _numbers(sentence))
    return sorted([*sentence.copied, *numbers], key=lambda entry: entry.span.start)


def _check_numbers(sentence: PreparedSentence, best: Candidate) -> NumberCheck:
    """Beside what was copied."""
    return compare_numbers(
        sentence.text,
        best.text,
        ignore_source=[source for source, _ in best.kept],
        ignore_target=[target for _, target in best.kept],
        source_language=sentence.source_language,
        target_language=sentence.target_language,
    )


def _n_wrong_numbers(sentence: PreparedSentence, best: Candidate) -> int:
    checks = _check_numbers(sentence, best), _check_spelled(sentence, best)
    wrong = sum(len(check.missing) + len(check.invented) for check in checks)
    return wrong + _lacks_century(sentence, best)


def _lost(sentence: PreparedSentence, best: Candidate) -> bool:
    """Whether a span to copy has no place in the translation."""
    if best.copied:
        return False
    kept = [source for source, _ in best.kept]
    return not all(
        any(span.start <= entry.span.start and entry.span.end <= span.end for span in kept)
        for entry in sentence.copied
    )


def _n_wrong(sentence: PreparedSentence, found: Found) -> tuple[int, ...]:
    """Smaller is better: copied or unfinished, spans lost, terms missed, numbers wrong, brackets dropped."""
    best, flags = found[0][0], found[1]
    n_dropped = sum(one.target is None for one in wrong_asides(sentence, best))
    return (
        best.copied + (not best.finished) + ("loop" in flags) + _lost(sentence, best),
        len(sentence.terms) - len(applied_terms(sentence, best)) + _n_wrong_numbers(sentence, best),
        n_dropped,
        len(flags),
    )


def applied_terms(sentence: PreparedSentence, best: Candidate) -> list[AppliedTerm]:
    """The glossary entries that the translation holds, each occurrence in a place of its own."""
    kept = dict(best.kept)
    blank = best.text
    applied = []
    for match in sentence.terms:
        target = kept.get(match.span) or find_form(match.term.target, blank)
        if target is None:
            continue
        written = blank[slice_of(target)]
        exact = written.lower() == match.term.target.lower()
        if exact and match.span not in kept and not has_its_capitals(written, match.term.target):
            continue
        if exact or match.span in kept or match.term.inflect:
            applied.append(AppliedTerm(match.span, target, match.term, "enforced" if exact else "inflected"))
            blank = f"{blank[: target.start]}{'_' * (target.end - target.start)}{blank[target.end :]}"
    return applied


def _with_terms(sentence: PreparedSentence, found: Found) -> Found:
    (best, *others), flags = found
    fixed = [
        AppliedTerm(entry.span, target, entry.term, "enforced")
        for entry in sentence.copied
        if entry.term is not None
        for source, target in best.kept
        if source == entry.span
    ]
    applied = applied_terms(sentence, best)
    missed = len(applied) < len(sentence.terms)
    lost = _lost(sentence, best)
    problems: list[tuple[FlagKind, bool]] = [("term_missed", missed), ("literal_lost", lost)]
    extra = [kind for kind, raised in problems if raised]
    terms = tuple(sorted([*fixed, *applied], key=lambda entry: entry.source.start))
    return (replace(best, terms=terms), *others), (*flags, *extra)


def _groups(sentence: PreparedSentence, n_free: int) -> list[Span]:
    """Parts with as many spans to copy as there are placeholders for; at worst each span by itself."""
    copied = joined(sentence.text, sentence.copied)
    if n_free == 0:
        return _parts(sentence)
    cuts = [0, *(entry.span.start for entry in copied[n_free::n_free]), len(sentence.text)]
    return [span for start, end in pairwise(cuts) for span in _trimmed(sentence.text, start, end)]


def _parts(sentence: PreparedSentence) -> list[Span]:
    """The spans to copy and what is between them, punctuation that touches them by itself."""
    parts: list[Span] = []
    read = 0
    for entry in (*joined(sentence.text, sentence.copied), None):
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
    preparer: Preparer, sentence: PreparedSentence, parts: Sequence[tuple[Span, Candidate]]
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
        own = part.source_pieces or preparer.source_pieces(
            ModelInput(Rewriting.of(sentence.text[slice_of(span)], ()))
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
        sum(token_log_probs or (part.log_prob for _, part in parts if not part.copied)),
        sum(part.rank for _, part in parts),
        finished=all(part.finished for _, part in parts),
        token_log_probs=tuple(token_log_probs),
        copied=not pieces,
        kept=tuple(kept),
        source_pieces=tuple(source_pieces),
    )


def _inside(model_input: ModelInput) -> list[ProtectedSpan]:
    return [entry for _, entry in model_input.protected]


def _shifted(piece: Piece, offset: int) -> Piece:
    return replace(piece, start=piece.start + offset, end=piece.end + offset)

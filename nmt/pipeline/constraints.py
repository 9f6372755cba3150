"""Constraints of one translation: literals, spans to keep, terms and numbers must be in it.

Search writes each placeholder of a sentence exactly once (``nmt.search.required``). Glossary terms and
numbers are left to the model first, whose grammar is better then. Where it fails they become placeholders of
a second search. What is still lost after that is kept by translating the parts around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from nmt.config import GenerationConfig
from nmt.hypothesis import Hypothesis
from nmt.pipeline.asides import AsideSearch, wrong_asides
from nmt.pipeline.attempts import SentenceSearch, has_words, split_at_copies, split_in_groups
from nmt.pipeline.flags import FlagKind
from nmt.pipeline.lexical_choice import rank_with_coverage, repair_words
from nmt.pipeline.losses import (
    applied_terms,
    check_numbers,
    find_numbers,
    is_lost,
    lacks_century,
    n_wrong,
    numbers_in_words,
    with_numbers,
)
from nmt.pipeline.pairs import MOST_PAIRS, moved_pairs, pairs, projected
from nmt.pipeline.prepare import ModelInput, PreparedSentence, Preparer, ProtectedSpan, beside, slice_of
from nmt.pipeline.quality import Found, copy_of
from nmt.pipeline.read_back import reranked
from nmt.pipeline.requests import Flow
from nmt.pipeline.result import Candidate
from nmt.text.asides import OPENING
from nmt.text.edits import Edit, Rewriting
from nmt.text.glossary import AppliedTerm, in_case_of
from nmt.text.greetings import greeting
from nmt.text.lexicon import look_up
from nmt.text.repetition import repeats_itself

BEGINNING = 4
"""Letters that a name has in common with the word that it is taken for."""

_LONG_WORD = re.compile(r"[^\W\d_]{4,}")


def translate_with_constraints(
    preparer: Preparer,
    sentence: PreparedSentence,
    source_ids: Sequence[int],
    options: GenerationConfig,
    decode: Callable[[Hypothesis], Candidate],
    *,
    n_best: int | None = None,
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
        n_best: candidates that are wanted; what ``options`` finds beyond them stands in for a first one that
            leaves words out. None: all.
        with_lexicon: whether the model is one that the lexicon, and the table of words, may correct.
        with_links: whether word links can tell where pairs of literals belong.
    """
    is_searched = sentence.options.quality != "fast" and not (options.sampling or options.coverage_penalty)
    run = SentenceSearch(preparer, options, decode, n_best or options.n_best, with_lexicon and is_searched)
    if sentence.prefix:
        return (yield from _continued(run, sentence, source_ids))
    if not has_words(sentence):
        return (_by_rule(preparer, sentence, ()),), ()
    greeted = _greeting(sentence)
    if greeted:
        return (_by_rule(preparer, sentence, greeted),), ()
    if sentence.model_input is None:
        found = yield from run.in_parts(sentence, split_in_groups(sentence, preparer.n_free(sentence)))
    else:
        found = yield from _whole(run, sentence, sentence.model_input, source_ids)
    if not found[0][0].copied and check_numbers(sentence, found[0][0]).missing:
        whole = replace(sentence, copied=tuple(with_numbers(sentence)))
        in_parts = yield from run.in_parts(whole, split_at_copies(whole))
        if n_wrong(sentence, in_parts) < n_wrong(sentence, found):
            found = in_parts
    if is_lost(sentence, found[0][0]):
        found = yield from run.in_parts(sentence, split_at_copies(sentence))
    if sentence.options.quality == "best":
        found = yield from _read_back(sentence, found)
    if run.with_lexicon:
        found = yield from _with_words(run, sentence, found, source_ids)
    search = AsideSearch(preparer, run.attempt, with_lexicon)
    found = yield from _with_pairs(search, sentence, found, with_links=with_links)
    found = yield from _with_asides(search, sentence, found)
    return _with_terms(sentence, found)


def _whole(
    run: SentenceSearch, sentence: PreparedSentence, model_input: ModelInput, ids: Sequence[int] | None
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
        if (n_wrong(sentence, second), len(still)) < (n_wrong(sentence, found), len(lost)):
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


def _continued(run: SentenceSearch, sentence: PreparedSentence, source_ids: Sequence[int]) -> Flow[Found]:
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


def _with_pairs(
    search: AsideSearch, sentence: PreparedSentence, found: Found, *, with_links: bool
) -> Flow[Found]:
    """Words between two literals stay there, unless literals, terms or numbers would be lost for it."""
    if found[0][0].copied or len(sentence.copied) < 2:
        return found
    if not 0 < len(pairs(sentence.text, sentence.copied)) <= MOST_PAIRS:
        return found
    wrong = n_wrong(sentence, found)[:2]
    placed = (yield from projected(search, sentence, found)) if with_links else None
    if placed is not None and n_wrong(sentence, placed[0])[:2] > wrong:
        placed = None
    if placed is not None and placed[1]:
        return placed[0]
    moved = yield from moved_pairs(search, sentence, found)
    if not moved:
        return found
    known = [(pair, inner) for pair, inner in moved if inner is not None]
    if len(known) == len(moved):
        second = yield from search.with_whole(sentence, known)
        if second is not None and n_wrong(sentence, second)[:2] <= wrong:
            return second
    return found if placed is None else placed[0]


def _with_words(
    run: SentenceSearch, sentence: PreparedSentence, found: Found, source_ids: Sequence[int]
) -> Flow[Found]:
    """Words that the model guessed are those of the lexical translation table, where it does not object."""
    model_input = sentence.model_input
    if model_input is None or found[0][0].copied:
        return found
    flags = found[1]

    def continue_with(prefixes: Sequence[str]) -> Flow[list[Candidate | None]]:
        return run.continued(sentence, model_input, source_ids, prefixes)

    def is_no_worse(candidate: Candidate, best: Candidate) -> bool:
        return n_wrong(sentence, ((candidate,), flags)) <= n_wrong(sentence, ((best,), flags))

    return (yield from repair_words(sentence, found, continue_with, is_no_worse))


def _read_back(sentence: PreparedSentence, found: Found) -> Flow[Found]:
    """Rerank those candidates that are no more wrong than the first; the others stay behind them."""
    candidates, flags = found
    least = n_wrong(sentence, found)
    fit = [
        one
        for one in candidates
        if not one.copied
        and n_wrong(sentence, ((one,), flags)) <= least
        and not repeats_itself(sentence.text, one.text)
    ]
    if len(fit) < 2 or fit[0] is not candidates[0]:
        return found
    ordered = yield from reranked(sentence.text, fit, [rank_with_coverage(sentence, one) for one in fit])
    return (*ordered, *(one for one in candidates if not any(one is other for other in fit))), flags


def _with_asides(search: AsideSearch, sentence: PreparedSentence, found: Found) -> Flow[Found]:
    """Parts in brackets or quotes are translated, wherever the model did not."""
    if OPENING.isdisjoint(sentence.text):
        return found
    dropped = [one.source for one in wrong_asides(sentence, found[0][0]) if one.target is None]
    if dropped:
        second = yield from search.put_back(sentence, dropped)
        if second is not None and n_wrong(sentence, second) < n_wrong(sentence, found):
            found = second
    return (yield from search.replace_copied(sentence, found))


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
    if not check_numbers(sentence, best).ok or lacks_century(sentence, best):
        wanted += beside([*sentence.copied, *wanted], find_numbers(sentence))
    return [*wanted, *beside([*sentence.copied, *wanted], numbers_in_words(sentence, best))]


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
    lost = is_lost(sentence, best)
    problems: list[tuple[FlagKind, bool]] = [("term_missed", missed), ("literal_lost", lost)]
    extra = [kind for kind, raised in problems if raised]
    terms = tuple(sorted([*fixed, *applied], key=lambda entry: entry.source.start))
    return (replace(best, terms=terms), *others), (*flags, *extra)


def _inside(model_input: ModelInput) -> list[ProtectedSpan]:
    return [entry for _, entry in model_input.protected]

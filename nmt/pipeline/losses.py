"""What a translation has lost of its sentence: spans to copy, terms, numbers, brackets."""

from __future__ import annotations

from nmt.pipeline.asides import wrong_asides
from nmt.pipeline.prepare import PreparedSentence, ProtectedSpan, beside, slice_of
from nmt.pipeline.quality import Found
from nmt.pipeline.result import Candidate
from nmt.spans import Span
from nmt.text.edits import Edit, Rewriting
from nmt.text.glossary import AppliedTerm, find_form, has_its_capitals
from nmt.text.literals import find_literals
from nmt.text.numbers import (
    NumberCheck,
    compare_numbers,
    compare_spelled_numbers,
    rewritten,
    spelled_numbers,
)
from nmt.text.roman import centuries, find_centuries, find_numerals


def find_numbers(sentence: PreparedSentence) -> list[ProtectedSpan]:
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


def numbers_in_words(sentence: PreparedSentence, best: Candidate) -> list[ProtectedSpan]:
    """The numbers in words of a sentence, if its translation has others."""
    if _check_spelled(sentence, best).ok:
        return []
    languages = sentence.source_language, sentence.target_language
    return [
        ProtectedSpan(span, written, is_number=True)
        for span, written in spelled_numbers(sentence.text, *languages)
    ]


def lacks_century(sentence: PreparedSentence, best: Candidate) -> bool:
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


def with_numbers(sentence: PreparedSentence) -> list[ProtectedSpan]:
    """All that is to be copied when numbers are, in order."""
    numbers = beside(sentence.copied, find_numbers(sentence))
    return sorted([*sentence.copied, *numbers], key=lambda entry: entry.span.start)


def check_numbers(sentence: PreparedSentence, best: Candidate) -> NumberCheck:
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
    checks = check_numbers(sentence, best), _check_spelled(sentence, best)
    wrong = sum(len(check.missing) + len(check.invented) for check in checks)
    return wrong + lacks_century(sentence, best)


def is_lost(sentence: PreparedSentence, best: Candidate) -> bool:
    """Whether a span to copy has no place in the translation."""
    if best.copied:
        return False
    kept = [source for source, _ in best.kept]
    return not all(
        any(span.start <= entry.span.start and entry.span.end <= span.end for span in kept)
        for entry in sentence.copied
    )


def n_wrong(sentence: PreparedSentence, found: Found) -> tuple[int, ...]:
    """Smaller is better: copied or unfinished, spans lost, terms missed, numbers wrong, brackets dropped."""
    best, flags = found[0][0], found[1]
    n_dropped = sum(one.target is None for one in wrong_asides(sentence, best))
    return (
        best.copied + (not best.finished) + ("loop" in flags) + is_lost(sentence, best),
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

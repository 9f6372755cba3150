"""The lexical translation table has a say where the model is not sure of a word.

Of the hypotheses of the beam the one is taken that ranks best when each word that it leaves uncovered costs
``COVERAGE_WEIGHT``. What it still guesses (``nmt.pipeline.lexical_check``) is searched for again.

The idea is that of Arthur, Neubig and Nakamura 2016 ("Incorporating Discrete Translation Lexicons into Neural
Machine Translation"): a lexicon knows the translations of rare words that a network confuses. Theirs biases
each step of the decoder. Here the search goes on from prefixes that each end with a form of the table. The
best of what is found takes the place of the translation, if it does not cost the model too much:

    log P(y|x) / ((5 + |y|) / 6) + LENGTH_WEIGHT * |y| + LEXICON_WEIGHT * log p(form|word)

where p is the lexical translation probability. |y| counts EOS.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from nmt.pipeline.lexical_check import Guess, check_of, guesses_of
from nmt.pipeline.prepare import PreparedSentence
from nmt.pipeline.quality import Found
from nmt.pipeline.requests import Flow
from nmt.pipeline.result import Candidate
from nmt.spans import Span, overlap
from nmt.text.determiners import beginnings
from nmt.text.elision import count_unelided
from nmt.text.repetition import repeats_itself

COVERAGE_WEIGHT, LEXICON_WEIGHT, LENGTH_WEIGHT = 0.4, 0.2, 0.05
SURE = -1.7
"""Log-probability from which the model is sure of a word.

Chosen by reading 900 everyday sentences: words that the table would spoil (*used* for *d'occasion*) lie
above, and most real guesses below.
"""
MOST_LOST = 12.0
"""Log-probability that a repair of one word may cost, log p(form|word) counted.

Like the weights it was chosen on 1,900 lines of newstest2013, flores/dev, software/dev and tatoeba/dev.
"""
MOST_ROUNDS = 3
"""Words of a sentence that are repaired, one after the other."""
MOST_PREFIXES = 4
"""Prefixes of a round."""

Continue: TypeAlias = Callable[[Sequence[str]], Flow[list[Candidate | None]]]
"""The best translation that begins with each of these texts."""
IsNoWorse: TypeAlias = Callable[[Candidate, Candidate], bool]
"""Whether a translation has lost nothing that another has: literals, terms, numbers."""


@dataclass(frozen=True)
class _Try:
    """A prefix that ends with a form of a word."""

    prefix: str
    guess: Guess
    share: float


def rank_with_coverage(sentence: PreparedSentence, candidate: Candidate) -> float:
    """Rank of a candidate in the search, less what its uncovered words cost."""
    return candidate.rank - COVERAGE_WEIGHT * check_of(sentence).n_uncovered(candidate.text)


def is_as_well_formed(sentence: PreparedSentence, candidate: Candidate, best: Candidate) -> bool:
    """Whether a candidate is whole, does not go in circles, and elides what ``best`` does."""
    language = sentence.target_language
    return (
        candidate.finished
        and not repeats_itself(sentence.text, candidate.text)
        and count_unelided(candidate.text, language) <= count_unelided(best.text, language)
    )


def repair_words(
    sentence: PreparedSentence, found: Found, continue_from: Continue, is_no_worse: IsNoWorse
) -> Flow[Found]:
    """What was found, the best first with the words repaired that are in doubt.

    Args:
        sentence: of ``Preparer.prepare``.
        found: what the model writes by itself.
        continue_from: asks for other translations.
        is_no_worse: refuses them.
    """
    repaired: set[str] = set()
    check = check_of(sentence)
    unrepaired = found[0][0].log_prob
    for _ in range(MOST_ROUNDS):
        best = found[0][0]
        tries = _tries(sentence, best, repaired)
        if not tries:
            break
        candidates = yield from continue_from([one.prefix for one in tries])
        least = unrepaired - MOST_LOST * (len(repaired) + 1)
        n_uncovered, chosen, highest = check.n_uncovered(best.text), None, -math.inf
        for one, candidate in zip(tries, candidates, strict=True):
            if candidate is None or not _ends_its_word(one.prefix, candidate.text):
                continue
            score = _score(candidate, one.share)
            if (
                score > highest
                and candidate.log_prob + math.log(one.share) > least
                and check.n_uncovered(candidate.text) < n_uncovered
                and is_as_well_formed(sentence, candidate, best)
                and is_no_worse(candidate, best)
            ):
                chosen, highest = (one, candidate), score
        if chosen is None:
            break
        repaired.add(chosen[0].guess.word)
        others, flags = found
        found = (replace(chosen[1], rank=best.rank), *others), tuple(dict.fromkeys((*flags, "repaired_word")))
    return found


def _tries(sentence: PreparedSentence, best: Candidate, repaired: set[str]) -> list[_Try]:
    """The prefixes worth a search, the likeliest forms of each word first."""
    tries = []
    for guess in guesses_of(sentence, best):
        is_sure = _log_prob_of(best, guess.target) > SURE
        for form, share in guess.forms if guess.word not in repaired and not is_sure else ():
            before = best.text[: guess.target.start]
            for beginning in beginnings(before, form, sentence.target_language):
                word = form if beginning.strip() else form[:1].upper() + form[1:]
                tries.append(_Try(beginning + word, guess, share))
    tries.sort(key=lambda one: -one.share)
    return tries[:MOST_PREFIXES]


def _log_prob_of(candidate: Candidate, span: Span) -> float:
    """Log-probability of the pieces in a span; that of a whole piece if it reaches over its end."""
    return sum(
        log_prob
        for piece, log_prob in zip(candidate.pieces, candidate.token_log_probs, strict=False)
        if overlap(Span(piece.start, piece.end), span)
    )


def _ends_its_word(prefix: str, text: str) -> bool:
    """Whether the last word of a prefix is one of the text: no hyphen joins it to another."""
    return not text.startswith((f"{prefix}-", f"{prefix}'", f"{prefix}’"))


def _score(candidate: Candidate, share: float) -> float:
    length = (5 + candidate.n_predicted) / 6
    rank = candidate.log_prob / length + LENGTH_WEIGHT * candidate.n_predicted
    return rank + LEXICON_WEIGHT * math.log(share)

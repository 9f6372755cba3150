"""Which words of a sentence does its translation leave out, and which of its own words does it make up?

A word of the source is uncovered if none of its translations in the lexical translation table stands in the
target. A word of the target is unexplained if it is a translation of no word of the source. Where both are
found at about the same place, the model has guessed: *gun* for *rougeole*, say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nmt.alignment.tokens import Counted, counted_tokens
from nmt.pipeline.asides import MOST_WORDS
from nmt.pipeline.prepare import PreparedSentence
from nmt.pipeline.result import Candidate
from nmt.spans import Span, overlap
from nmt.text.asides import find_asides
from nmt.text.lexical_table import WordTranslations, translations_of
from nmt.text.words import Token, words

LEAST_LETTERS = 3
"""Of a word that is looked up, and in common to two forms of a word."""
ENDING, LONGEST_ENDING = 2, 5
"""Letters that the shorter of two forms of a word has for itself (fewer if it is short), and the longer."""
MOST_COUNT = 4000
"""Links of a word that may be uncovered: a more frequent one has too many senses, or none."""
LEAST_SHARE = 0.12
"""Lexical translation probability of a form that is worth a try."""
MOST_FORMS = 3
MOST_APART = 0.35
"""Distance of two places that may belong together, as a share of their sentences."""
FEW = 256
"""Sentences that are remembered: several steps ask for the same one."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class Guess:
    """An uncovered word of the source, and the unexplained word of the target that stands for it."""

    word: str
    """In lower case."""
    target: Span
    forms: tuple[tuple[str, float], ...]
    """Likely translations, each with its lexical translation probability."""


class LexicalCheck:
    """What the table knows of one sentence.

    Args:
        source: the sentence.
        languages: ISO 639-1 codes of source and target.
        ignored: spans of the source that are copied or translated by rule.
    """

    def __init__(self, source: str, languages: tuple[str, str], ignored: Sequence[Span] = ()) -> None:
        self._languages = languages
        self._read = _Side(source, languages[0])
        entries = [translations_of(one.text, *languages) for one in self._read.counted]
        self._explained = _Forms(form for entry in entries if entry is not None for form, _ in entry.forms)
        self._words = [
            (one, entry)
            for one, entry in zip(self._read.counted, entries, strict=True)
            if entry is not None and entry.count <= MOST_COUNT and self._read.is_word(one, ignored)
        ]

    def n_uncovered(self, target: str) -> int:
        """Words of the source of which no translation stands in the target."""
        return len(self._uncovered(_Side(target, self._languages[1]))) if self._words else 0

    def guesses(self, target: str, ignored: Sequence[Span] = ()) -> list[Guess]:
        """Words of the target that stand for uncovered ones; ``ignored`` are spans of copies."""
        if not self._words:
            return []
        written = _Side(target, self._languages[1])
        uncovered = self._uncovered(written)
        places = self._unexplained(written, ignored) if uncovered else []
        found = []
        for one, entry in uncovered if places else ():
            likely = ((form, entry.share(count)) for form, count in entry.forms[:MOST_FORMS])
            forms = tuple(form for form in likely if form[1] >= LEAST_SHARE)
            where = one.word / len(self._read.tokens)
            copies = [place for place in places if written.tokens[place].text.lower() == one.text]
            nearest = min(copies or places, key=lambda place: abs(place / len(written.tokens) - where))
            if forms and (copies or abs(nearest / len(written.tokens) - where) <= MOST_APART):
                token = written.tokens[nearest]
                found.append(Guess(one.text, Span(token.start, token.end), forms))
        return found

    def _uncovered(self, written: _Side) -> list[tuple[Counted, WordTranslations]]:
        backwards = self._languages[::-1]
        origins = (translations_of(text, *backwards) for text in written.forms.words)
        explains = _Forms(form for entry in origins if entry is not None for form, _ in entry.forms)
        return [
            (one, entry)
            for one, entry in self._words
            if one.text not in explains and not any(form in written.forms for form, _ in entry.forms)
        ]

    def _unexplained(self, written: _Side, ignored: Sequence[Span]) -> list[int]:
        """Places of words in the target."""
        backwards = self._languages[::-1]
        return [
            one.word
            for one in written.counted
            if written.is_word(one, ignored)
            and one.text not in self._explained
            and not any(form in self._read.forms for form, _ in _forms_of(one.text, backwards))
        ]


def check_of(sentence: PreparedSentence) -> LexicalCheck:
    """The check of a sentence; of languages without a table, one that finds nothing."""
    languages = sentence.source_language, sentence.target_language
    ignored = [*(entry.span for entry in sentence.copied), *(match.span for match in sentence.terms)]
    for aside in find_asides(sentence.text):  # what is copied there is translated by itself
        if sentence.text[aside.inner.start : aside.inner.end].count(" ") < MOST_WORDS:
            ignored.append(aside.inner)
    return _check(sentence.text, languages, tuple(ignored))


def guesses_of(sentence: PreparedSentence, best: Candidate) -> list[Guess]:
    """The guesses in a translation, copies aside."""
    if best.copied or not best.finished:
        return []
    return check_of(sentence).guesses(best.text, [target for _, target in best.kept])


@lru_cache(maxsize=FEW)
def _check(source: str, languages: tuple[str, str], ignored: tuple[Span, ...]) -> LexicalCheck:
    return LexicalCheck(source, languages, ignored)


class _Side:
    """One text, as the table counts it."""

    def __init__(self, text: str, language: str) -> None:
        self.tokens: Sequence[Token] = words(text)
        self.counted: Sequence[Counted] = counted_tokens(self.tokens, language)
        self.forms = _Forms(one.text for one in self.counted)

    def is_word(self, counted: Counted, ignored: Sequence[Span]) -> bool:
        """Whether a token is one ordinary word; a capital inside the sentence makes a name."""
        token = self.tokens[counted.word]
        return (
            len(counted.text) >= LEAST_LETTERS
            and token.text.lower() == counted.text
            and (token.text.islower() or counted.word == 0)
            and _WORD.fullmatch(token.text) is not None
            and not any(overlap(Span(token.start, token.end), span) for span in ignored)
        )


class _Forms:
    """Words of which another form may be asked for: one that begins with the same letters."""

    def __init__(self, forms: Iterable[str]) -> None:
        self.words = frozenset(forms)
        self._by_start: dict[str, list[str]] = {}
        for form in self.words:
            self._by_start.setdefault(form[:LEAST_LETTERS], []).append(form)

    def __contains__(self, word: str) -> bool:
        return word in self.words or any(
            _are_forms(word, other) for other in self._by_start.get(word[:LEAST_LETTERS], ())
        )


def _are_forms(word: str, other: str) -> bool:
    """Whether two words differ in their endings alone."""
    shorter, longer = sorted((len(word), len(other)))
    common = shorter - min(ENDING, (shorter - LEAST_LETTERS + 1) // 2)
    return longer - common <= LONGEST_ENDING and word[:common] == other[:common]


def _forms_of(word: str, languages: tuple[str, str]) -> Sequence[tuple[str, int]]:
    entry = translations_of(word, *languages)
    return () if entry is None else entry.forms

"""Consistency of several translations: a short text that comes again, and a term, are said in one way.

No model is asked. Forms of a word count as one word, so that *nouveau* and *nouvelle* agree.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from nmt.pipeline.check import Problem
from nmt.text.glossary import Glossary, Term, find_form, same_word

LEAST_TIMES = 3
"""A text or a term that comes less often may be said in two ways."""
MOST_WORDS = 3
"""Words of a repeated text: a label or a name, no sentence, which may well be said in two ways."""
SENTENCE_ENDS = frozenset(".!?…")
_WORD = re.compile(r"\w+")


def inconsistent_terms(
    pairs: Sequence[tuple[str, str]], glossary: Glossary | None = None
) -> list[list[Problem]]:
    """The problems of each pair beside the others.

    Args:
        pairs: texts with their translations.
        glossary: terms; one that most translations have is missed by the others.
    """
    found: list[list[Problem]] = [[] for _ in pairs]
    for index, problem in (*_repeated(pairs), *_terms(pairs, glossary)):
        found[index].append(problem)
    return found


def _repeated(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[int, Problem]]:
    """Equal short texts that are not translated as most of them are."""
    places: dict[str, list[int]] = {}
    for index, (source, target) in enumerate(pairs):
        is_sentence = source.rstrip()[-1:] in SENTENCE_ENDS
        if target.strip() and not is_sentence and 0 < len(_WORD.findall(source)) <= MOST_WORDS:
            places.setdefault(" ".join(_folded(source).split()), []).append(index)
    for same in places.values():
        if len(same) < LEAST_TIMES:
            continue
        words = {index: tuple(_WORD.findall(_folded(pairs[index][1]))) for index in same}
        usual, _ = Counter(words.values()).most_common(1)[0]
        model = next(pairs[index][1] for index in same if words[index] == usual)
        for index in same:
            if not _alike(words[index], usual):
                source, target = pairs[index]
                yield index, Problem("inconsistent_term", f"{source}: {target}, elsewhere {model}")


def _terms(pairs: Sequence[tuple[str, str]], glossary: Glossary | None) -> Iterator[tuple[int, Problem]]:
    """Glossary terms that some translations have, and others not."""
    places: dict[Term, dict[int, bool]] = {}
    for index, (source, target) in enumerate(pairs):
        for match in glossary.matches(source) if glossary is not None and target.strip() else ():
            has = find_form(match.term.target, target) is not None
            places.setdefault(match.term, {})[index] = has
    for term, has_term in places.items():
        n_with = sum(has_term.values())
        if len(has_term) < LEAST_TIMES or n_with == 0:
            continue
        for index, has in has_term.items():
            if not has:
                detail = f"{term.source}: {term.target} in {n_with} of {len(has_term)}, not here"
                yield index, Problem("inconsistent_term", detail)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("’", "'").casefold()


def _alike(words: Sequence[str], usual: Sequence[str]) -> bool:
    return len(words) == len(usual) and all(map(same_word, words, usual))

"""Whether a sentence denies something: not, never, n't, no; ne ... pas, jamais, non, aucun, sans."""

from __future__ import annotations

from nmt.text.languages import rules


def compare_negations(source: str, target: str, languages: tuple[str, str]) -> tuple[bool, bool]:
    """Whether a negation of the source is lost in its translation, and whether one is invented there.

    Only what nothing else in the other sentence can stand for counts: unable is "pas capable".
    """
    read, written = map(rules, languages)
    if read.negations is None or written.negations is None:
        return False, False
    for language, text in ((read, source), (written, target)):
        if language.negated_question is not None and language.negated_question.match(text):
            return False, False
    denied = read.negations.search(source) is not None
    if denied == (written.negations.search(target) is not None):
        return False, False
    excuse = written.denying if denied else read.denying
    is_excused = excuse is not None and excuse.search(target if denied else source) is not None
    return denied and not is_excused, not denied and not is_excused

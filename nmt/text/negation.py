"""Whether a sentence denies something: not, never, n't, no; ne ... pas, jamais, non, aucun, sans."""

from __future__ import annotations

import re

_NEGATIONS = {
    "en": re.compile(
        r"(?<!\w)(?:not|never|no|none|nobody|nothing|nowhere|neither|nor|cannot|without|non)(?!\w)|n['’]t(?!\w)",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        r"(?<!\w)(?:(?<!le )(?<!un )(?<!au )pas(?! à pas)|jamais|non|aucune?s?|rien|personne|"
        r"sans|ni|nulle?|nullement|guère)(?!\w)|(?<!\w)(?:ne\s|n['’])[^.!?]{0,60}?(?<!\w)plus(?!\w)",
        re.IGNORECASE,
    ),
}
_DENYING = {
    "en": re.compile(
        r"(?<!\w)(?:un\w{3,}|in\w{5,}|im\w{4,}|ir\w{4,}|il\w{4,}|dis\w{3,}|mis\w{3,}|\w+less(?:ly|ness)?|lack\w*|"
        r"fail\w*|refus\w*|only|just|but|hardly|barely|rarely|seldom|few\w*|little|free|out|off|until|"
        r"before|than|too|stop\w*|avoid\w*|den\w+|forbid\w*|ban\w*|prevent\w*|lest|any\w*|ever|deny|miss\w*|"
        r"wrong|neglect\w*|ignor\w*|hate\w*|doubt\w*|forg[eo]t\w*|short|keep|kept|person)(?!\w)",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        r"(?<!\w)(?:in\w{5,}|im\w{4,}|ir\w{4,}|il\w{5,}|dé\w{3,}|més?\w{3,}|mal\w*|peu|ne|n(?=['’])|moins|"
        r"manqu\w*|refus\w*|interdi\w*|ignor\w*|évit\w*|échou\w*|empêch\w*|défense|cess\w*|arrêt\w*|"
        r"plutôt|seul\w*|hein|faux|oubli\w*|dépourvu\w*|absen\w*|qu(?=['’])|hors)(?!\w)",
        re.IGNORECASE,
    ),
}
"""What another language may write in the place of a negation."""


_QUESTION = re.compile(r"\W*\w+n['’]t\s[^.!]*\?")
"""Isn't there something you want? Other languages need no negation to ask so."""


def compare_negations(source: str, target: str, languages: tuple[str, str]) -> tuple[bool, bool]:
    """Whether a negation of the source is lost in its translation, and whether one is invented there.

    Only what nothing else in the other sentence can stand for counts: unable is "pas capable".
    """
    read, written = (_NEGATIONS.get(language) for language in languages)
    if read is None or written is None:
        return False, False
    if any(
        language == "en" and _QUESTION.match(text)
        for language, text in zip(languages, (source, target), strict=True)
    ):
        return False, False
    denied, denies = read.search(source) is not None, written.search(target) is not None
    if denied == denies:
        return False, False
    if denied:
        return _DENYING[languages[1]].search(target) is None, False
    return False, _DENYING[languages[0]].search(source) is None

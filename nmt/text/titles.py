"""Titles before names, put back where a translation lost them: Dr, Mrs, Mme."""

from __future__ import annotations

import re

from nmt.text.languages import KNOWN

_IN_FRENCH = {"mr": "M.", "mrs": "Mme", "ms": "Mme", "miss": "Mlle", "dr": "Dr", "prof": "Pr"}
_IN_ENGLISH = {
    **{"m": "Mr", "monsieur": "Mr", "mme": "Mrs", "madame": "Mrs", "mlle": "Miss", "mademoiselle": "Miss"},
    **{"dr": "Dr", "docteur": "Dr", "pr": "Prof."},
}
_WRITTEN = {("en", "fr"): _IN_FRENCH, ("fr", "en"): _IN_ENGLISH}
_WITH_ARTICLE = {"Dr", "Pr"}
"""French says le Dr, but M. and Mme alone."""
_ANY = re.compile(
    rf"(?<!\w)(?:{'|'.join(language.titles for language in KNOWN.values())}"
    r"|[Dd]octor|[Pp]rofessor|[Mm]ister|[Pp]rofesseure?|[Dd]octeure?|[Mm]onsieur|[Mm]adame)(?!\w)"
)
_ENGLISH_DOCTOR = re.compile(r"(?<!\w)Dr\. $")
_BEFORE = {code: re.compile(rf"(?<!\w)({rules.titles})\s+$") for code, rules in KNOWN.items()}
_LINK = re.compile(r"(?<!\w)(?:(?P<of>de |d['’])|(?P<to>à )|(?P<the>(?:le|la|du|au) ))$", re.IGNORECASE)


def lost_title(
    source: str, name_start: int, before: str, written: str, target: str
) -> tuple[int, str] | None:
    """Title to write before a name that has one in its source and none in its translation.

    Args:
        source: the sentence; its name begins at ``name_start``.
        name_start: a place in it.
        before: the translation up to the name.
        written: all of the translation; with any title in it nothing is done.
        target: ISO 639-1 code of its language.

    Returns:
        How many characters at the end of ``before`` give way, and to what; None: nothing is missing.
    """
    doctor = _ENGLISH_DOCTOR.search(before) if target == "fr" else None
    if doctor is not None:  # as English writes it: le docteur Brown
        lost = lost_title(source, name_start, before[: doctor.start()], "", target)
        return None if lost is None else (len(doctor.group()) + lost[0], lost[1])
    languages = "en" if target == "fr" else "fr", target
    found = title = None
    if languages in _WRITTEN and _ANY.search(written) is None:
        found = _BEFORE[languages[0]].search(source, 0, name_start)
        title = None if found is None else _WRITTEN[languages].get(found[1].rstrip(".").lower())
    if found is None or title is None:
        return None
    is_address = source[: found.start()].rstrip().endswith(",")
    if target != "fr" or title not in _WITH_ARTICLE or is_address:
        return 0, f"{title} "
    link = _LINK.search(before)
    if link is None:
        return 0, f"{'le' if before.strip() else 'Le'} {title} "
    if link["the"] is not None:
        return 0, f"{title} "
    return len(link.group()), f"{'du' if link['of'] is not None else 'au'} {title} "

"""LibreTranslate's languages: ISO 639-1 codes, and auto."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt.errors import UnsupportedLanguageError
from nmt.text.codes import nearest
from service.work.directions import Direction, Directions
from service.work.source_language import AUTO


async def choose(directions: Directions, source: str, target: str, texts: Sequence[str]) -> Direction:
    """The direction from ``source``, or for ``AUTO`` from the language of the texts, to ``target``.

    Raises:
        UnsupportedLanguageError: there is none; names a language only if it looks like a code of one.
    """
    for field, asked, known in (
        ("source", source, directions.sources),
        ("target", target, directions.targets),
    ):
        if (asked, field) != (AUTO, "source") and nearest(asked, known) is None:
            named = asked if re.fullmatch("[A-Za-z]{2,3}(-[A-Za-z]{2,4}){0,2}", asked) else "this"
            raise UnsupportedLanguageError(
                f"{field}: {named} is not supported; this server has "
                + " and ".join([*known, *([AUTO] if field == "source" else [])])
            )
    target = nearest(target, directions.targets) or target
    if source != AUTO:
        source = nearest(source, directions.sources) or source
    if source != AUTO and target not in targets_of(directions, source):
        pairs = ", ".join(f"{one.source} to {one.target}" for one in directions)
        raise UnsupportedLanguageError(f"target: not supported from this source; this server has {pairs}")
    return await directions.choose(source, target, texts)


def targets_of(directions: Directions, source: str) -> list[str]:
    """Targets of a language; none, for one that is only written."""
    return [one.target for one in directions if one.source == source]

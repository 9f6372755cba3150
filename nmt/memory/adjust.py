"""A unit's translation for a text that differs from the unit in numbers and placeholders alone.

Only what is certain is done: each variable that changes stands in the unit's target as often as in its
source, and one and many stay apart, for "1 file" and "2 files" need other words around them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from nmt.memory.normal import NormalForm, Variable
from nmt.memory.unit import TranslationUnit
from nmt.text.numbers import rewritten

_SPACES = " \u00a0\u202f"
"""Between the groups of a number, each as good as the other."""
_SPACE = re.compile(f"[{_SPACES}]")


def translation_of(
    unit: TranslationUnit, form: NormalForm, unit_form: NormalForm, languages: tuple[str, str]
) -> str | None:
    """The unit's target as the translation of a text; None: it is none as it stands.

    Args:
        unit: of the memory.
        form: of the text.
        unit_form: of the unit's source; its key is the text's.
        languages: of source and target, as ISO 639-1 codes.
    """
    target = _with_variables(unit.target, unit_form.variables, form.variables, languages)
    if target is None or form.plain == unit_form.plain:
        return target
    if form.plain[1:] != unit_form.plain[1:] or not target:
        return None  # words in capitals are another matter than words in lower case
    first, unit_first = form.plain[0], unit_form.plain[0]
    if target[0].isupper() != unit_first.isupper() or not target[0].isalpha() or target[1:2].isupper():
        return None
    return (target[0].upper() if first.isupper() else target[0].lower()) + target[1:]


def _with_variables(
    target: str, old: Sequence[Variable], new: Sequence[Variable], languages: tuple[str, str]
) -> str | None:
    """``target`` with the new variables in the place of the old; None where that is not certain."""
    changes: dict[str, str] = {}
    for one, other in zip(old, new, strict=True):
        if changes.setdefault(one.text, other.text) != other.text:
            return None
    if all(before == after for before, after in changes.items()):
        return target
    counts = Counter(variable.text for variable in old)
    replacements: dict[str, str] = {}
    for variable in old:
        before, after = variable.text, changes[variable.text]
        if before == after:
            replacements[_SPACE.sub(" ", before)] = after
            continue
        if variable.is_number and not _same_plural(before, after):
            return None
        written = [(before, after)]
        if variable.is_number:
            in_target = rewritten(before, *languages), rewritten(after, *languages)
            written = [in_target] if in_target[0] == before else [in_target, (before, after)]
        found = [pair for pair in written if len(_places(pair[0], target)) == counts[before]]
        if not found:
            return None
        replacements[_SPACE.sub(" ", found[0][0])] = found[0][1]
    pattern = "|".join(_pattern(text) for text in sorted(replacements, key=len, reverse=True))

    def changed(match: re.Match[str]) -> str:
        space = next((character for character in match.group() if character in _SPACES), " ")
        return replacements[_SPACE.sub(" ", match.group())].replace(" ", space)

    return re.sub(pattern, changed, target)


def _places(text: str, target: str) -> list[str]:
    return re.findall(_pattern(text), target)


def _pattern(text: str) -> str:
    """Where a variable stands by itself: 3 is not in 13, 3.5 or 3a."""
    if text[0].isdigit():
        written = re.escape(text).replace("\\ ", f"[{_SPACES}]")
        return rf"(?<![\w])(?<!\d[.,:\u00a0\u202f]){written}(?!\w)(?![.,:\u00a0\u202f]\d)"
    return re.escape(text)


def _same_plural(before: str, after: str) -> bool:
    """Whether both numbers are more than one, or neither is; only whole numbers are asked."""
    if not (before.isdigit() and after.isdigit()):
        return True
    return (int(before) > 1) == (int(after) > 1)

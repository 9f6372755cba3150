"""Noise in the writing: case, final punctuation, slips of the keyboard, spaces, emoji, marks, register.

Each function takes a pair and a generator and returns the pair changed, or None where it does not apply. What
a reader would understand all the same (case, typos, spaces) changes the source alone; what a translation
keeps (capitals throughout, a missing full stop, emoji, list marks, quotes) changes both sides.
"""

from __future__ import annotations

import random
import re

from nmt.text.placeholders import REGISTER

Pair = tuple[str, str]

MAX_TITLE_WORDS = 10
MIN_TYPO_LETTERS = 4
WORDS_PER_TYPO = 8

EMOJI = tuple(
    "😀😃😄😁😆😅😂🙂🙃😉😊😇🥰😍😘😋😜🤔🤗😎🥳😏😒😞😢😭😤😠😡🤯😱😨😴🤒🤕🙄"
    "👍👎👏🙌🙏💪👋👌🎉🎂🎁🔥🌹🌞🍕🍻🚗🏠📷📞💔💙✅❌"
)
"""Single code points, as people end messages with."""

_FINAL = re.compile(r"\s*(?:[.!?…]+)$")
_ENDS_SENTENCE = re.compile(r"[.!?…][\"”»)]?$")
_KEEPS_CASE = re.compile(r"[\w]*[_/\\@%{}<>$()][^\s]*|\w+\.\w[^\s]*")
_WORD = re.compile(r"[^\W\d_]+")
_APOSTROPHE = re.compile(r"(?<=[A-Za-z])['’](?=(?:t|m|ve|re|ll|d|s)\b)")
_COMMA = re.compile(r", (?=[^\W\d_])")
_QUOTES = frozenset('"“”«»()[]')
_NEIGHBOURS = {
    letter: f"{row[index - 1] if index else ''}{row[index + 1 : index + 2]}"
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for index, letter in enumerate(row)
}
_VOUS = re.compile(r"(?<!rendez-)\b(?:vous|votre|vos|vôtres?)\b", re.IGNORECASE)
_TU = re.compile(r"\b(?:tu|te|toi|ta|tes|tiens|tienne)\b|\bt['’]", re.IGNORECASE)
_TON = re.compile(r"\bton\b", re.IGNORECASE)


def upper(source: str, target: str, rng: random.Random) -> Pair | None:  # noqa: ARG001
    """Both sides in capitals."""
    return _changed((source, target), (source.upper(), target.upper()))


def lower(source: str, target: str, rng: random.Random) -> Pair | None:  # noqa: ARG001
    """The source without capitals; addresses and code keep theirs."""
    words = (word if _KEEPS_CASE.search(word) else word.lower() for word in source.split(" "))
    return _changed((source, target), (" ".join(words), target))


def title(source: str, target: str, rng: random.Random) -> Pair | None:  # noqa: ARG001
    """A short source as a Headline Is Written."""
    words = source.split(" ")
    if len(words) > MAX_TITLE_WORDS:
        return None
    titled = (word if _KEEPS_CASE.search(word) else word[:1].upper() + word[1:] for word in words)
    return _changed((source, target), (" ".join(titled), target))


def bare(source: str, target: str, rng: random.Random) -> Pair | None:  # noqa: ARG001
    """Neither side ends in a full stop, question or exclamation mark; French spacing goes with it."""
    shorter = _FINAL.sub("", source), _FINAL.sub("", target)
    if shorter[0] == source or shorter[1] == target or not (shorter[0] and shorter[1]):
        return None
    return shorter


def typo(source: str, target: str, rng: random.Random) -> Pair | None:
    """Slips in the source: about one word in eight, or the apostrophes left out; names are left alone."""
    if _APOSTROPHE.search(source) and rng.random() < 0.5:
        return _APOSTROPHE.sub("", source), target
    copied = set(_WORD.findall(target))
    words = [
        match
        for match in _WORD.finditer(source)
        if len(match[0]) >= MIN_TYPO_LETTERS and match[0] not in copied and not _in_literal(source, match)
    ]
    if not words:
        return None
    n_typos = max(1, min(len(words), round(len(source.split()) / WORDS_PER_TYPO)))
    for match in sorted(rng.sample(words, n_typos), key=lambda match: -match.start()):
        source = source[: match.start()] + misspell(match[0], rng) + source[match.end() :]
    return source, target


def misspell(word: str, rng: random.Random) -> str:
    """Two letters swapped, one left out, doubled, or struck beside its key; never the first."""
    at = rng.randrange(1, len(word))
    slip = rng.choice(("swap", "drop", "double", "neighbour"))
    if slip == "swap" and at + 1 < len(word) and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if slip == "neighbour" and word[at] in _NEIGHBOURS:
        return word[:at] + rng.choice(_NEIGHBOURS[word[at]]) + word[at + 1 :]
    if slip == "double":
        return word[: at + 1] + word[at:]
    return word[:at] + word[at + 1 :]


def spaces(source: str, target: str, rng: random.Random) -> Pair | None:
    """Two spaces after a comma of the source, or none."""
    commas = list(_COMMA.finditer(source))
    if not commas:
        return None
    comma = rng.choice(commas)
    return source[: comma.start()] + rng.choice((",  ", ",")) + source[comma.end() :], target


def emoji(source: str, target: str, rng: random.Random) -> Pair | None:
    """One emoji, seldom two, after both sides or, one time in six, before them."""
    sign = "".join(rng.sample(EMOJI, 2 if rng.random() < 0.1 else 1))
    if rng.random() < 1 / 6:
        return f"{sign} {source}", f"{sign} {target}"
    return f"{source} {sign}", f"{target} {sign}"


def marks(source: str, target: str, rng: random.Random) -> Pair | None:
    """A list mark before both sides, or both in parentheses or in the quotes of their language."""
    if not (source[:1].isalnum() and target[:1].isalnum()) or _QUOTES & (set(source) | set(target)):
        return None
    choice = rng.random()
    if choice < 0.5:
        mark = rng.choice(("- ", "• ", "* ", f"{rng.randint(1, 20)}. ", f"{rng.choice('abcdefgh')}) "))
        return mark + source, mark + target
    if choice < 0.65:
        return f"({source})", f"({target})"
    opening, closing = rng.choice(('""', "“”"))
    return f"{opening}{source}{closing}", f"« {target} »"


def formality(source: str, target: str, rng: random.Random) -> Pair | None:  # noqa: ARG001
    """Before the source the piece that says how the target addresses people; None where it does not."""
    formal, informal = _VOUS.search(target) is not None, _TU.search(target) is not None
    if formal == informal or (formal and _TON.search(target)):
        return None
    return f"{REGISTER['formal' if formal else 'informal']} {source}", target


def ends_sentence(pair: Pair) -> bool:
    """Both sides end in final punctuation, so that another sentence can follow."""
    return all(_ENDS_SENTENCE.search(side) is not None for side in pair)


def _in_literal(text: str, match: re.Match[str]) -> bool:
    """The word is part of an address, of code or of a placeholder."""
    start, end = text.rfind(" ", 0, match.start()) + 1, text.find(" ", match.end())
    token = text[start : end if end >= 0 else len(text)]
    return "⟦" in token or _KEEPS_CASE.search(token) is not None


def _changed(before: Pair, after: Pair) -> Pair | None:
    return after if after != before else None

"""Noise that teaches copying: what both sides share is replaced, on both, by something else to be copied.

Shared is a string that stands exactly once on each side as a whole token: a number, a URL, an address, a
name, code, a quotation. Numbers are written anew, a name becomes a URL or a variable, anything becomes one of
the pieces of ``nmt.text.placeholders.PLACEHOLDERS`` (placeholders for rare words: Luong et al. 2015; copied
text as training data: Currey et al. 2017).
"""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

from nmt.text.placeholders import PLACEHOLDERS

Pair = tuple[str, str]
Span = tuple[int, int]
Shared = tuple[Span, Span]

MAX_PLACEHOLDERS = 3

_NUMBER = re.compile(r"\d+")
_LONG_NUMBER = re.compile(r"\d+(?:[.,:]\d+)+|\d{2,}")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"»]*[\w/]")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CODE = re.compile(
    r"[$./\\]?\w+(?:(?:[_./\\-]|::|->)\w+)*\(\)|[$/]?[A-Za-z]\w*(?:[_./\\]\w+)+|\$\w+|/\w[\w./]*\w"
)
_NAME = re.compile(r"(?<![\w-])[A-ZÀ-ÖØ-Þ][\w-]+")
_NAMES = re.compile(rf"{_NAME.pattern}(?: {_NAME.pattern})*")
_QUOTED = re.compile(r"[\"“«]\s?([^\"“”«»]{2,40}?)\s?[\"”»]")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…])[\s\"“«(\[-]*$")
_EXPANDED_NUMBER = re.compile(r"\d[\s.,:/'’-]$")
_CONTINUED_NUMBER = re.compile(r"[.,:/'’-]?\d|\s\d{3}(?!\d)")


def replace_number(source: str, target: str, rng: random.Random) -> Pair | None:
    """Write the numbers that both sides share anew, each digit by digit; None without one.

    0 and 1 stay, and no other number becomes one of them: they decide the noun's number.
    """
    shared = _shared_numbers(source, target, _NUMBER)
    shared = [spans for spans in shared if source[slice(*spans[0])] not in {"0", "1"}]
    if not shared:
        return None
    return replace_shared(
        source, target, shared, [_number_like(source[slice(*spans[0])], rng) for spans in shared]
    )


def replace_by_placeholders(source: str, target: str, rng: random.Random) -> Pair | None:
    """Replace one to three shared strings by different placeholders; None without a shared string."""
    shared = shared_strings(source, target)
    if not shared:
        return None
    chosen = _without_overlaps(rng.sample(shared, len(shared)))[: rng.randint(1, MAX_PLACEHOLDERS)]
    return replace_shared(source, target, chosen, rng.sample(PLACEHOLDERS, len(chosen)))


def replace_by_literal(source: str, target: str, rng: random.Random) -> Pair | None:
    """Replace one shared name or number by a variable, address or path made at random; None without one."""
    shared = _shared_names_and_numbers(source, target)
    if not shared:
        return None
    return replace_shared(source, target, [rng.choice(shared)], [make_literal(rng)])


def shared_strings(source: str, target: str) -> list[Shared]:
    """Spans, in source and target, of all strings worth a placeholder; they may overlap."""
    shared = _shared_names_and_numbers(source, target)
    shared += _locate(target, source, _literals(source))
    shared += _locate(target, source, [match.span(1) for match in _QUOTED.finditer(source)])
    return sorted(set(shared))


def make_literal(rng: random.Random) -> str:
    """A variable, format code, URL, e-mail address, path or handle that occurs nowhere else."""
    return rng.choice(_LITERALS)(rng)


def _literals(text: str) -> list[Span]:
    """URLs, e-mail addresses and code, none within another."""
    spans = [match.span() for pattern in (_URL, _EMAIL, _CODE) for match in pattern.finditer(text)]
    return [span for span in spans if not _is_within(span, spans)]


def _is_within(span: Span, others: Sequence[Span]) -> bool:
    return any(other[0] <= span[0] and span[1] <= other[1] and other != span for other in others)


def _shared_names_and_numbers(source: str, target: str) -> list[Shared]:
    """Names, and numbers of two digits and more, that are not a part of an address or of code."""
    shared = shared_names(source, target) + _shared_numbers(source, target, _LONG_NUMBER)
    literals = _literals(source) if shared else []
    return [spans for spans in shared if not _is_within(spans[0], literals)]


def _shared_numbers(source: str, target: str, pattern: re.Pattern[str]) -> list[Shared]:
    """Numbers that stand once on each side, and not as a part of a longer one, date or word."""
    spans = [match.span() for match in pattern.finditer(source)]
    if not spans or not _NUMBER.search(target):
        return []
    in_target = {match[0]: match.span() for match in pattern.finditer(target)}
    counts = [Counter(pattern.findall(side)) for side in (source, target)]
    shared = []
    for span in spans:
        number = source[slice(*span)]
        if not all(count[number] == 1 for count in counts):
            continue
        if _is_whole_number(source, span) and _is_whole_number(target, in_target[number]):
            shared.append((span, in_target[number]))
    return shared


def _is_whole_number(text: str, span: Span) -> bool:
    start, end = span
    return (
        _is_whole(text, span)
        and not _EXPANDED_NUMBER.search(text[max(0, start - 2) : start])
        and not _CONTINUED_NUMBER.match(text, end)
    )


def shared_names(source: str, target: str) -> list[Shared]:
    """Capitalised words inside a sentence, each and adjoining ones together; none where all is capitals."""
    if source.isupper():
        return []
    spans: set[Span] = set()
    for run in _NAMES.finditer(source):
        words = [match.span() for match in _NAME.finditer(source, *run.span())]
        if _SENTENCE_START.search(source[max(0, run.start() - 6) : run.start()]):
            words = words[1:]
        if words:
            spans |= {*words, (words[0][0], words[-1][1])}
    return _locate(target, source, sorted(spans))


def _locate(target: str, source: str, spans: Sequence[Span]) -> list[Shared]:
    """Spans of the source whose text stands once, as whole words, on both sides."""
    shared = []
    for span in spans:
        text = source[slice(*span)]
        if source.count(text) != 1 or target.count(text) != 1:
            continue
        start = target.index(text)
        if _is_whole(source, span) and _is_whole(target, (start, start + len(text))):
            shared.append((span, (start, start + len(text))))
    return shared


def _is_whole(text: str, span: Span) -> bool:
    """No letter, digit or joining mark adjoins the span."""
    before, after = text[: span[0]][-1:], text[span[1] :][:1]
    return not any(edge.isalnum() or edge in {"_", "-", "@", "\\"} for edge in (before, after) if edge)


def _without_overlaps(shared: Sequence[Shared]) -> list[Shared]:
    kept: list[Shared] = []
    for spans in shared:
        if all(
            span[1] <= other[0] or other[1] <= span[0]
            for earlier in kept
            for span, other in zip(spans, earlier, strict=True)
        ):
            kept.append(spans)
    return kept


def replace_shared(source: str, target: str, shared: Sequence[Shared], new: Sequence[str]) -> Pair:
    """Write ``new`` over each of the ``shared`` spans, on both sides."""
    sides = []
    for side, text in enumerate((source, target)):
        pairs = sorted(((spans[side], word) for spans, word in zip(shared, new, strict=True)), reverse=True)
        for (start, end), word in pairs:
            text = f"{text[:start]}{word}{text[end:]}"
        sides.append(text)
    return sides[0], sides[1]


def _number_like(number: str, rng: random.Random) -> str:
    """Another of as many digits; the first of several is 0 only where it was, a single one is 2 to 9."""
    while True:
        if len(number) == 1:
            other = rng.choice("23456789")
        else:
            first = "0" if number[0] == "0" else rng.choice("123456789")
            other = first + "".join(rng.choices(string.digits, k=len(number) - 1))
        if other != number:
            return other


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 8)))


def _variable(rng: random.Random) -> str:
    joiner = rng.choice(("", "_", "", "."))
    return f"{_word(rng)}{joiner}{_word(rng)}" if joiner else _word(rng)


def _domain(rng: random.Random) -> str:
    return f"{_word(rng)}.{rng.choice(('com', 'org', 'net', 'fr', 'eu', 'io', 'ca', 'co.uk'))}"


def _url(rng: random.Random) -> str:
    start = rng.choice(("https://", "http://", "https://www.", "www."))
    path = "".join(f"/{_word(rng)}" for _ in range(rng.randint(0, 2)))
    query = f"?{_word(rng)}={rng.randint(0, 999)}" if rng.random() < 0.2 else ""
    return f"{start}{_domain(rng)}{path}{query}"


def _path(rng: random.Random) -> str:
    folders = "/".join(_word(rng) for _ in range(rng.randint(1, 3)))
    end = rng.choice(("txt", "pdf", "py", "html", "jpg", "json", "conf", "log", "csv"))
    return f"{rng.choice(('/', '/', './', '~/'))}{folders}/{_word(rng)}.{end}"


_LITERALS: tuple[Callable[[random.Random], str], ...] = (
    lambda rng: f"{{{_variable(rng)}}}",
    lambda rng: f"{{{{{_variable(rng)}}}}}",
    lambda rng: f"{{{rng.randint(0, 9)}}}",
    lambda rng: rng.choice(("%s", "%d", "%1$s", "%2$s", "%.2f", "%@")),
    lambda rng: f"%({_variable(rng)}){rng.choice('sd')}",
    lambda rng: f"${{{_variable(rng)}}}",
    _url,
    _url,
    lambda rng: f"{_word(rng)}{rng.choice(('', '.', '_'))}{_word(rng)}@{_domain(rng)}",
    _path,
    lambda rng: f"@{_word(rng)}{rng.choice(('', '_', '7'))}",
    lambda rng: f"#{_word(rng)}",
)

"""Are the numbers of a sentence those of its translation? English and French ways of writing are equal.

1,000.5 may become 1 000,5, 3:30 pm 15 h 30, 1st 1er, 5 cinq and five 5. What is left over on either side
after that was lost or invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from text_to_num import find_numbers

from nmt.spans import Span, overlap
from nmt.text.edits import Edit
from nmt.text.languages import KNOWN, rules
from nmt.text.languages.rules import SPACES
from nmt.text.ordinals import missing_ranks
from nmt.text.roman import centuries, century_edits, english_ordinal, missing_numerals

_NUMBER = re.compile(
    rf"(?<![\d])(?:\d{{1,3}}(?:(?P<group>[{SPACES},.'\u2019])\d{{3}})(?:(?P=group)\d{{3}})*(?!\d)|\d+)(?:[.,]\d+)*"
)
_TIME = re.compile(r"(?<![\d.,:])(\d{1,2})(?:[:.h](\d{2}))?\s*(a\.?m|p\.?m)\b\.?", re.IGNORECASE)
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_ENGLISH_ORDINAL = re.compile(r"(?<![\w.,])(\d+)(?:st|nd|rd|th)(?!\w)")
_FRENCH_ORDINAL = re.compile(r"(\d+)(?:ers?|res?|ères?|èmes?|es?|nde?s?)")
_PLURAL_SCALE = re.compile(
    rf"(?<![\d.,])(?<!\d[{SPACES}])[01](?:,\d+)?[{SPACES}](?:million|milliard|billion)(s)(?!\w)"
)
_FRENCH_NUMBER = re.compile(
    rf"(\D*?)(\d{{1,3}}(?:[{SPACES}]\d{{3}})+|\d{{1,3}}(?:\.\d{{3}})+|\d+)(?:,(\d+))?([^\d,.:/-]*)"
)
_DIGITS = re.compile(r"\d+")
_SEPARATOR = re.compile(rf"[{SPACES},.'\u2019]")
_WRITTEN = re.compile(
    rf"(?<![\d.,])(?:\d{{1,3}}(?:[{SPACES},.'\u2019]\d{{3}})+(?:[.,]\d+)?|\d+[.,]\d+)(?![.,]?\d)"
)
_CURRENCIES = {
    sign: rf"{signs}|(?-i:{names}|{names.upper()})"
    for sign, signs, names in (
        ("$", r"\$|USD", "dollar"),
        ("€", "€|EUR", "euro"),
        ("£", "£|GBP", "pound|livre|sterling"),
        ("¥", "¥|JPY", "yen|yuan"),
        ("USD", r"USD|\$", "dollar"),
        ("EUR", "EUR|€", "euro"),
        ("GBP", "GBP|£", "pound|livre|sterling"),
        ("JPY", "JPY|¥", "yen"),
        ("CAD", "CAD", "dollar"),
        ("AUD", "AUD", "dollar"),
        ("CHF", "CHF", "franc"),
    )
}
"""Signs and codes (ISO 4217) of money, and what tells that a translation has them.

"6 140 Dollars" has a capital that neither language writes: the model guessed it from the code.
"""
CURRENCY_CODES = "|".join(name for name in _CURRENCIES if name.isalpha())
_SIGN = rf"[$€£¥]|\b(?:{CURRENCY_CODES})\b"
_SPLIT_AMOUNT = re.compile(rf"\d[{SPACES}]?(?:{CURRENCY_CODES})[{SPACES}]?\d")
"""1 USD 261, which is no amount."""
_GROUPED_OR_PLAIN = rf"\d{{1,3}}(?:[{SPACES},.'\u2019]\d{{3}})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_MONEY = re.compile(rf"{_SIGN}|\b(?:euro|dollar|pound|livre)", re.IGNORECASE)
_AMOUNT = re.compile(rf"({_SIGN})[{SPACES}]?(?=\d)|(?<=\d)[{SPACES}]?({_SIGN})(?!\d)")
_ENGLISH_NUMBER = re.compile(r"(\D*?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?([^\d,.:/-]*)")

_OTHERS = (
    "a=1 an=1 une=1 première=1 seconde=2 twice=2 half=2 noon=12 midi=12 midnight=12 dozen=12 douzaine=12 "
    "quart=15 quarter=15 demi=30 demie=30 thirty=30 forty=40 fifty=50 sixty=60 seventy=70 eighty=80 "
    "ninety=90 dizaine=10 quinzaine=15 vingtaine=20 trentaine=30 quarantaine=40 cinquantaine=50 "
    "soixantaine=60 decade=10 décennie=10 fortnight=15 trio=3 trente=30 quarante=40 cinquante=50 "
    "soixante=60 soixante-dix=70 quatre-vingt=80 quatre-vingts=80 quatre-vingt-dix=90 hundred=100 "
    "cent=100 cents=100 thousand=1000 mille=1000"
)
_WORDS: dict[str, int] = {
    word: value
    for language in KNOWN.values()
    for row in (language.cardinals, language.ordinals)
    for value, word in enumerate(row)
}
_WORDS |= {word: int(value) for word, value in (pair.split("=") for pair in _OTHERS.split())}
_FOREIGN = {
    code: frozenset(
        word
        for other in KNOWN.values()
        for word in (*other.cardinals, *other.ordinals)
        if word not in (*language.cardinals, *language.ordinals)
    )
    for code, language in KNOWN.items()
}
"""Language -> words that are numbers in another one: seize."""
_FRACTIONS = {
    "demi": "12",
    "demie": "12",
    "moitié": "12",
    "half": "12",
    "tiers": "123",
    "third": "13",
    "thirds": "23",
    "quart": "14",
    "quarts": "34",
    "quarter": "14",
    "quarters": "34",
}
"""The digits of 1/2, 2/3 and so on that a word may stand for."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_PIECE = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|\d+|\s+|[^\w\s]|_")
_HOURS = re.compile(
    r"\b(?:heures?|o'clock|[ap]\.?m|morning|afternoon|evening|night|matin|soir)\b", re.IGNORECASE
)
_LETTERS = re.compile(r"[^\W\d_]+")
_SINGULARS = " ".join(
    [*_WORDS, "septante octante huitante nonante million milliard billion trillion"]
).replace("-", " ")
SPELLED_LANGUAGES = ("en", "fr")
"""Whose numbers in words are read."""
LEAST_SPELLED = 3
"""Smaller numbers have too many other words: both, a, second."""
_CARDINALS = frozenset(
    form
    for word in _SINGULARS.split()
    if _WORDS.get(word, LEAST_SPELLED) >= LEAST_SPELLED
    for form in (word, f"{word}s")
)
"""Every number that is compared has one of these words."""
UNCERTAIN = frozenset(
    {
        *(
            "hundred",
            "hundreds",
            "thousand",
            "thousands",
            "million",
            "millions",
            "billion",
            "billions",
            "tens",
        ),
        *("cent", "cents", "mille", "milles", "milliard", "milliards", "neuf", "neufs"),
    }
)
"""Alone these words are often no number: hundreds of people, pour cent, un milieu neuf."""
_COUNTED = frozenset(
    ["ans", "jours", "mois", "semaines", "heures", "minutes", "secondes", "euros", "fois", "personnes"]
)
"""Before these they are one."""

_IN_ENGLISH = {"Mo": "MB", "Go": "GB", "To": "TB"}
"""French symbols of units that English writes in another way."""
UNIT_SYMBOLS = "|".join(map(re.escape, dict.fromkeys(one for known in KNOWN.values() for one in known.units)))
_UNIT = {
    code: re.compile(rf"\d[{SPACES}]?({'|'.join(map(re.escape, language.units))})(?![\w/])")
    for code, language in KNOWN.items()
}


@dataclass(frozen=True)
class NumberCheck:
    """What the numbers of two sentences do not have in common, as written."""

    missing: tuple[str, ...]
    """In the source and not in the translation."""
    invented: tuple[str, ...]
    """In the translation and not in the source."""

    @property
    def ok(self) -> bool:
        """Nothing is missing and nothing invented."""
        return not self.missing and not self.invented


def is_unit(text: str, start: int, end: int, language: str = "en") -> bool:
    """Whether the word from ``start`` to ``end`` is the symbol of a unit after a number."""
    unit = _UNIT.get(language, _UNIT["en"])
    match = unit.match(text, max(0, start - 2)) or unit.match(text, max(0, start - 1))
    return match is not None and match.span(1) == (start, end)


NOTHING_WRONG = NumberCheck((), ())


def compare_numbers(
    source: str,
    target: str,
    *,
    ignore_source: Sequence[Span] = (),
    ignore_target: Sequence[Span] = (),
    source_language: str = "en",
    target_language: str = "fr",
) -> NumberCheck:
    """Compare the numbers in digits of two sentences, leaving out the spans to ignore (literals).

    Each is read as its language writes: 12 500,00 is not 12,500,000. A number in digits on one side alone is
    fine when the other side has it as a word. The symbol of a unit after a number of the source must be in
    the translation, or its name there. A rank (2nd place) must be one there.
    """
    numerals = missing_numerals(_blanked(source, ignore_source), target)
    if not (_DIGITS.search(source) or _DIGITS.search(target)):
        return NumberCheck(numerals, ()) if numerals else NOTHING_WRONG
    source, target = _blanked(source, ignore_source), _blanked(target, ignore_target)
    source, target = _without_centuries(source, target, (source_language, target_language))
    missing = _readings_of(source, source_language)
    invented = _readings_of(target, target_language)
    for readings in list(missing):
        match = next((other for other in invented if readings[1] & other[1]), None)
        if match is not None:
            missing.remove(readings)
            invented.remove(match)
    if not _SPLIT_AMOUNT.search(target):
        missing, invented = _across_spaces(missing, invented)
    symbols = rules(source_language).units
    units = tuple(
        unit
        for unit in (_UNIT[source_language].findall(source) if symbols else ())
        if not re.search(rf"(?<![^\W\d_])(?:{symbols[unit]})", target.lower())
    )
    signs = tuple(
        sign
        for sign in dict.fromkeys(first or second for first, second in _AMOUNT.findall(source))
        if not re.search(_CURRENCIES[sign], target, re.IGNORECASE)
    )
    may_rank = _ORDINAL.search(source) or _FRENCH_ORDINAL.search(source)
    ranks = missing_ranks(source, target, (source_language, target_language)) if may_rank else ()
    source_words = _values_of_words(source) if invented else set()
    target_words = _values_of_words(target) if missing else set()
    return NumberCheck(
        (
            *(text for text, readings in missing if not readings & target_words),
            *(*units, *signs, *ranks, *numerals),
        ),
        tuple(text for text, readings in invented if not readings & source_words),
    )


def _without_centuries(source: str, target: str, languages: tuple[str, str]) -> tuple[str, str]:
    """Both without the centuries that they share: 19th century and XIXe siècle."""
    left = centuries(target, languages[1])
    shared: list[tuple[Span, Span]] = []
    for span, value in centuries(source, languages[0]):
        match = next((one for one in left if one[1] == value), None)
        if match is not None:
            left.remove(match)
            shared.append((span, match[0]))
    return _blanked(source, [read for read, _ in shared]), _blanked(target, [there for _, there in shared])


def spelled_numbers(text: str, source: str, target: str) -> list[tuple[Span, str]]:
    """Where a text has cardinals from two on in words, and how the other language writes each.

    Those that have no word here are written in digits. There are none but between English and French.
    """
    if {source, target} != set(SPELLED_LANGUAGES):
        return []
    words = rules(target).cardinals
    tokens = [_Token(written) for written in _PIECE.findall(text)]
    ends = list(accumulate((len(token.written) for token in tokens), initial=0))
    return [
        (span, words[value] if value < len(words) else str(value))
        for found in find_numbers(tokens, source, threshold=0)
        if not found.is_ordinal and float(found.value).is_integer()
        for span, value in [(Span(ends[found.start], ends[found.end]), int(found.value))]
        if value > 1
        and text[span.start].isalpha()
        and _with_noun(tokens, found.start, found.end).lower() not in UNCERTAIN
    ]


def compare_spelled_numbers(
    source: str, target: str, *, source_language: str = "en", target_language: str = "fr"
) -> NumberCheck:
    """Compare the numbers in words of two sentences, from ``LEAST_SPELLED`` on; ordinals are left out.

    A number in words on one side is fine when the other has it in words or digits, wherever, also as an hour
    of the afternoon.
    """
    sides = (source, source_language), (target, target_language)
    spelled = [_spelled(text, language) for text, language in sides]
    if not any(spelled):
        return NOTHING_WRONG
    known = [
        {*numbers.values(), *_values_of_words(text, _FOREIGN.get(language, frozenset()))}
        | {value for _, values in _readings_of(text, language) for value in values}
        for numbers, (text, language) in zip(spelled, sides, strict=True)
    ]

    has_hours = _HOURS.search(source) or _HOURS.search(target)

    def alone(numbers: dict[str, str], others: set[str]) -> tuple[str, ...]:
        return tuple(
            text
            for text, value in numbers.items()
            if int(value) >= LEAST_SPELLED
            and text.lower() not in UNCERTAIN
            and not others & {value, *(_hours(value) if has_hours else ())}
        )

    return NumberCheck(alone(spelled[0], known[1]), alone(spelled[1], known[0]))


@dataclass(frozen=True)
class _Token:
    """What ``find_numbers`` reads."""

    written: str

    def text(self) -> str:
        return self.written

    def nt_separated(self, previous: _Token) -> bool:  # noqa: ARG002 - a protocol's
        return False

    def not_a_number_part(self) -> bool:
        return False


def _spelled(text: str, language: str) -> dict[str, str]:
    """The cardinal numbers that a text has in words: as written, and their values."""
    if language not in SPELLED_LANGUAGES or _CARDINALS.isdisjoint(_LETTERS.findall(text.lower())):
        return {}
    tokens = [_Token(written) for written in _PIECE.findall(text)]
    return {
        _with_noun(tokens, found.start, found.end): f"{found.value:.0f}"
        for found in find_numbers(tokens, language, threshold=0)
        if not found.is_ordinal and float(found.value).is_integer()
    }


def _with_noun(tokens: Sequence[_Token], start: int, end: int) -> str:
    """A number as written, with the noun that it counts where that makes it certain: neuf ans."""
    written = "".join(token.written for token in tokens[start:end])
    following = tokens[end : end + 2]
    if written.lower() not in UNCERTAIN or len(following) < 2 or following[1].written.lower() not in _COUNTED:
        return written
    return written + following[0].written + following[1].written


def _hours(value: str) -> set[str]:
    """Two ways to name an hour, of the clock and of the day."""
    hour = int(value)
    return {str(hour + 12), str(hour - 12)} if 1 <= hour <= 24 else set()


_Reading = tuple[str, frozenset[str]]


def _readings_of(text: str, language: str) -> list[_Reading]:
    """Each number of a text with all the values that it can stand for, in a normal form."""
    found: list[_Reading] = []
    spans = [match.span() for match in _TIME.finditer(text)]
    for match in _TIME.finditer(text):
        hour, minute, half = int(match[1]), match[2], match[3][0].lower()
        later = str(hour % 12 + (12 if half == "p" else 0))
        found.append((match[1], frozenset({match[1].lstrip("0") or "0", later})))
        if minute is not None and minute != "00":
            found.append((minute, frozenset({minute, minute.lstrip("0") or "0"})))
    rest = _blanked(text, [Span(*span) for span in spans])
    found += [
        (match.group(), frozenset(readings(match.group(), language))) for match in _NUMBER.finditer(rest)
    ]
    return found


def readings(number: str, language: str = "") -> Iterator[str]:
    """The values of a number as written in a language; any language that is not known here has all readings.

    English groups with commas and French with spaces or points, so that 1,000 is a thousand in English and
    one in French. Signs that can only be read in one way are read so: 3,5 is three and a half in English too.

    >>> sorted(readings("1,000")), sorted(readings("1,000", "en")), sorted(readings("1,000", "fr"))
    (['1', '1.000', '1000'], ['1000'], ['1', '1.000'])
    """
    parts = _SEPARATOR.split(number)
    signs = _SEPARATOR.findall(number)
    grouped = len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:-1])
    is_group, is_fraction = _roles(parts, signs, language)
    if len(parts) == 1 or (grouped and len(parts[-1]) == 3 and is_group):
        yield "".join(parts).lstrip("0") or "0"
    if (len(parts) == 2 or (len(parts) > 2 and grouped)) and is_fraction:
        whole, fraction = "".join(parts[:-1]).lstrip("0") or "0", parts[-1]
        yield f"{whole}.{fraction}"
        yield f"{whole}.{fraction.rstrip('0')}".rstrip(".")
    elif len(parts) > 2 and not grouped:
        yield ".".join(parts)
    elif len(number) == 4 and number.endswith("0"):
        yield number[2:]  # the 1990s, les années 90


def _roles(parts: Sequence[str], signs: Sequence[str], language: str) -> tuple[bool, bool]:
    """Whether the last sign of a number may end a group, and whether it may begin the fraction."""
    point = rules(language).decimal_point
    if point is None or not signs:
        return True, True
    last = signs[-1]
    if len(signs) > 1 and len(set(signs)) == 1:
        return True, False  # 1,250,000 has groups wherever it stands
    if len(parts[-1]) != 3 or parts[0].strip("0") == "":
        return False, True
    if last in SPACES or last in "'\u2019":
        return True, False
    is_point = last == point
    is_ambiguous = language == "fr" and last == "." and len(signs) == 1
    return not is_point, is_point or is_ambiguous


def number_edits(
    source: str, written: str, languages: tuple[str, str], kept: Sequence[Span] = ()
) -> list[Edit]:
    """What makes the numbers of a translation look as its language writes them.

    A number of ``written`` is that of the source with the same digits. Groups and fractions change in grouped
    numbers and in amounts of money. So does the place of a sign of money, if the source has it where its
    language does.

    Args:
        source: the sentence.
        written: its translation.
        languages: of both.
        kept: spans of ``written`` that stay as they are.
    """
    read, other = map(rules, languages)
    if read.decimal_point is None or other.decimal_point is None:
        return []
    known: dict[str, tuple[str, str]] = {}
    for match in _WRITTEN.finditer(source):
        whole, fraction = _whole_and_fraction(match.group(), languages[0])
        is_grouped = len(_SEPARATOR.findall(match.group())) > bool(fraction)
        if whole and (is_grouped or _MONEY.search(source[max(0, match.start() - 4) : match.end() + 8])):
            known[whole + fraction] = whole, fraction
    edits = _ordinal_edits(written, kept) if languages[1] == "en" else _scale_edits(written, kept)
    edits += [
        Edit(span, better)
        for span, better in century_edits(source, written, languages)
        if not _meets(span, kept) and not any(overlap(span, edit.span) for edit in edits)
    ]
    moves_signs = read.money_with_sign is not None and bool(read.money_with_sign.search(source))
    for match in _amounts(known).finditer(written):
        span, number_span = Span(*match.span()), Span(*match.span(2))
        before, number, after = match.groups()
        if _meets(span, kept):  # a sign that was copied by itself stays where it is
            span, before, after = number_span, None, None
        if _meets(number_span, kept):
            continue
        found = known.get("".join(_DIGITS.findall(number)))
        better = number if found is None else _as_written(*found, languages[1])
        if re.sub(f"[{SPACES}]", " ", number) == better:
            better = number
        sign = before or (after or "").strip()
        if sign and moves_signs and not (before and after):
            better = f"{better} {sign}" if languages[1] == "fr" else f"{sign}{better}"
        else:
            better = f"{before or ''}{better}{after or ''}"
        if better != written[span.start : span.end]:
            edits.append(Edit(span, better))
    return sorted(edits, key=lambda edit: edit.span.start)


def _amounts(known: Iterable[str]) -> re.Pattern[str]:
    """A number and its sign of money; one whose digits are known may have any groups: 3339 727.66."""
    in_any_groups = [f"[{SPACES},.'\u2019]?".join(digits) for digits in known]
    numbers = "|".join([*in_any_groups, _GROUPED_OR_PLAIN])
    return re.compile(rf"([$€£¥])?(?<![\d.,])({numbers})(?![.,]?\d)([{SPACES}]?[$€£¥])?")


def _ordinal_edits(written: str, kept: Sequence[Span]) -> list[Edit]:
    """English ordinals with the right ending: 2th is 2nd."""
    return [
        Edit(span, better)
        for match in _ENGLISH_ORDINAL.finditer(written)
        for span, better in [(Span(*match.span()), in_english(f"{match[1]}e"))]
        if better != match.group() and not _meets(span, kept)
    ]


def _scale_edits(written: str, kept: Sequence[Span]) -> list[Edit]:
    """French scales below two are singular: 1,5 millions is 1,5 million."""
    return [
        Edit(span, "")
        for match in _PLURAL_SCALE.finditer(written)
        for span in [Span(*match.span(1))]
        if not _meets(span, kept)
    ]


def _meets(span: Span, others: Sequence[Span]) -> bool:
    return any(overlap(span, other) for other in others)


def _whole_and_fraction(number: str, language: str) -> tuple[str, str]:
    """The digits of a number before and after its point; "" twice if it can be read in two ways."""
    parts, signs = _SEPARATOR.split(number), _SEPARATOR.findall(number)
    is_group, is_fraction = _roles(parts, signs, language)
    if is_group == is_fraction or (len(signs) > 1 and any(len(part) != 3 for part in parts[1:-1])):
        return "", ""
    return ("".join(parts), "") if is_group else ("".join(parts[:-1]), parts[-1])


def _as_written(whole: str, fraction: str, language: str) -> str:
    own = rules(language)
    grouped = f"{int(whole):,}".replace(",", own.group_mark)
    return f"{grouped}{own.decimal_point}{fraction}" if fraction else grouped


def _across_spaces(
    missing: list[_Reading], invented: list[_Reading]
) -> tuple[list[_Reading], list[_Reading]]:
    """12:30 is two numbers, 12.30 is one: compare what is left, but 2-1 is not 21."""
    lost = [digits for text, _ in missing for digits in _DIGITS.findall(text)]
    gained = [digits for text, _ in invented for digits in _DIGITS.findall(text)]
    is_score = min(len(lost), len(gained)) == 1 and max(map(len, (*lost, *gained)), default=0) < 3
    same = "".join(lost) == "".join(gained) and not is_score
    return ([], []) if len(missing) != len(invented) and same else (missing, invented)


def _values_of_words(text: str, foreign: frozenset[str] = frozenset()) -> set[str]:
    values: set[str] = set()
    text = text.lower()
    for word in set(_WORD.findall(text)) - foreign:
        if word in _WORDS:
            values.add(str(_WORDS[word]))
        values.update(*(_FRACTIONS.get(part, "") for part in word.split("-")))
        if "-" not in word:
            continue
        parts = [_WORDS.get(part) for part in word.split("-")]
        known = [part for part in parts if part is not None]
        values.update(map(str, known))
        if len(known) == len(parts):
            values.add(str(sum(known)))
    if "hundred" in text or "cent" in text:
        values |= {str(100 * int(value)) for value in values if int(value) < 100}
    return values


def _blanked(text: str, spans: Sequence[Span]) -> str:
    """The text with some spans overwritten, so that positions stay."""
    for span in spans:
        text = f"{text[: span.start]}{'_' * (span.end - span.start)}{text[span.end :]}"
    return text


def rewritten(number: str, source: str, target: str) -> str:
    """A number to be copied from one language to another, as that one writes it.

    >>> rewritten("10th", "en", "fr"), rewritten("1 000,5", "fr", "en"), rewritten("2e", "fr", "en")
    ('10e', '1,000.5', '2nd')
    """
    if target == "fr":
        return in_french(number)
    return in_english(number) if (source, target) == ("fr", "en") else number


def in_french(number: str) -> str:
    """English ordinals, groups and amounts become French ones; all else stays.

    >>> [in_french(number) for number in ("10th", "1,250.50", "$1,250.50", "USD 3.50", "3.5")]
    ['10e', '1 250,50', '1 250,50 $', '3,50 USD', '3.5']
    """
    if ordinal := _ORDINAL.fullmatch(number):
        return f"{ordinal[1]}er" if ordinal[1] == "1" else f"{ordinal[1]}e"
    match = _ENGLISH_NUMBER.fullmatch(number)
    if match is None:
        return number
    before, whole, fraction, after = match.groups()
    is_money = _AMOUNT.search(number)
    if "," not in whole and not is_money:
        return number
    written = f"{whole.replace(',', ' ')}{',' if fraction else ''}{fraction or ''}{after}"
    sign = is_money[1] if is_money else None
    return f"{before.replace(sign, '').strip()}{written} {sign}" if sign else f"{before}{written}"


def in_english(number: str) -> str:
    """French ordinals, groups, fractions and units become English ones: 2e is 2nd, 1 000,5 Go 1,000.5 GB."""
    if ordinal := _FRENCH_ORDINAL.fullmatch(number):
        return english_ordinal(int(ordinal[1]))
    match = _FRENCH_NUMBER.fullmatch(number)
    if match is None:
        return number
    before, whole, fraction, after = match.groups()
    unit = after.strip()
    if unit in {"€", "$", "£", "¥"}:
        before, after, unit = f"{before}{unit}", "", ""
    after = after.replace(unit, _IN_ENGLISH.get(unit, unit)) if unit else after
    return f"{before}{re.sub(f'[{SPACES}.]', ',', whole)}{'.' if fraction else ''}{fraction or ''}{after}"

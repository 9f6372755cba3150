"""What is copied and not translated: placeholders, addresses, code, emoji, signs that the model never saw.

A pattern for each kind; of matches that overlap the one that begins first counts, and of those the longest.
Patterns are narrow on purpose: what looks like prose ("and/or", "item(s)", "70 % of", "3rd") is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal as OneOf

import regex

from nmt.spans import Span
from nmt.text.captions import is_caption
from nmt.text.numbers import CURRENCY_CODES, UNIT_SYMBOLS
from nmt.text.placeholders import RESERVED

Kind = OneOf[
    "placeholder",
    "url",
    "email",
    "path",
    "handle",
    "hashtag",
    "version",
    "code",
    "phone",
    "number",
    "emoji",
    "copyright",
    "symbol",
]


@dataclass(frozen=True)
class Literal:
    """A span of a text that its translation holds unchanged."""

    kind: Kind
    span: Span


_FILE_ENDING = (
    "bak|bat|bin|cfg|conf|cpp|css|csv|docx?|exe|gif|gz|html?|ini|ipynb|java|jpe?g|js|json|log|md|mp3|mp4|odt|"
    "pdf|php|png|po|pptx?|py|rs|sh|so|sql|srt|svg|tar|toml|ts|tsv|txt|vtt|wav|xlsx?|xml|ya?ml|zip"
)
_DOMAIN_ENDING = "ai|app|be|ca|ch|com|de|dev|edu|eu|fr|gov|info|io|net|org|uk"

_PATTERNS: dict[Kind, str] = {
    "placeholder": rf"""
        {"|".join(map(regex.escape, RESERVED))}
      | \{{\s*[\w.]+\s*,\s*(?:plural|select|selectordinal|number|date|time)\b   # {{n, plural, one {{# day}}}}
        (?P<icu> (?:[^{{}}] | \{{(?&icu)\}})*+ ) \}}
      | \{{\{{ [^{{}}\n]{{0,80}} \}}\}}                                # {{{{x}}}}
      | \$\{{ [^{{}}\n]{{1,80}} \}} | \$[A-Za-z_]\w*                   # ${{x}} $HOME
      | \{{ [^{{}}\s]{{0,80}} \}} | \{{\s*[\w.$-]+\s*\}}               # {{name}} {{0:.2f}} {{ name }}
      | \{{%-? [^%{{}}\n]{{0,120}} -?%\}} | <%[=-]? [^%<>\n]{{0,120}} %>   # Jinja, Liquid, ERB
      | (?<![\d%])% (?:\(\w+\)|\d+\$)? [-+\#0]*\d*(?:\.\d+)? (?:ll?|hh?|z)? [sdiufxXeEgGcr@] (?!\w) (?:%%)?
      | (?<![\w%])%(?:L?[1-9]\d?|n)(?![\w%]|[.,]\d|\$[sd])            # %1 %L1 %n
      | %(?:\d+\$)?[sd] (?=\w[^%\n]*%(?:\d+\$)?[sd](?!\w)) | %%       # %slink%s, 100%%
      | (?<![\w%])%\w(?:[\w.-]*\w)?%(?!\w) | (?<![\w:]):[a-z_]\w*:?(?![\w:]) | \[[A-Z][A-Z0-9_ ]*\]
      | \[(?=[^\[\]\n]*[^\W\d_][^\[\]\n]*\]\([^()\s]+\)) | (?<=\w)\]\([^()\s]+\)   # [text](address)
      | \[[A-Z][a-z]+(?:[ _][A-Z][a-z]+){{1,3}}\]                      # [First Name]
      | \[/?[a-z][\w-]*(?:\s+[\w-]+=(?:"[^"\n]*"|'[^'\n]*'|[^\s\]]+))+\] | \[/[a-z][\w-]*\]
      | (?<![*\w])\*\*(?=[^\s*]) | (?<=[^\s*])\*\*(?![*\w])          # **bold**
      | \#\#\w+\#\# | </?\d+\s*/?>                                    # ##NAME## <1>
      | (?<!\w) (?:YYYY|yyyy|YY|yy|MM|DD|dd|HH|hh)
        (?:[-/.:\ ](?:YYYY|yyyy|YY|yy|MM|DD|dd|HH|hh|mm|ss|a|A))+ (?!\w)
      | </? [A-Za-z][\w:.-]* (?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))* \s*/?>
      | &(?:[A-Za-z]\w{{1,30}}|\#\d{{1,7}}|\#x[0-9A-Fa-f]{{1,6}});
    """,
    "url": rf"""
        (?: [A-Za-z][A-Za-z0-9+.-]{{1,20}}:// | \bwww\. | \b(?:mailto|tel): )
        (?: [^\s<>"“”«»()\[\]|\\^`] | \([^\s()<>]*\) | \[[^\s\[\]<>]*\] )+
        (?<![.,;:!?'’…*_])
      | \b (?:[A-Za-z0-9-]+\.)+ (?:{_DOMAIN_ENDING}) \b (?!\.\w|@)
        (?: / [^\s<>"“”«»()]* (?<![.,;:!?'’…/]) /? )?
    """,
    "email": r"(?<![\w.+-]) [\w.+-]+ @ [\w-]+ (?:\.[\w-]+)+",
    "path": rf"""
        (?<![\w/<.:~]) (?:~|\.{{1,2}})? (?:/[\w.@+-]*\w)+ /? (?!\w)
      | (?<!\w) [A-Za-z]:(?:\\[\w.@+$-]+)+ \\?
      | (?<![\w/.]) (?:[\w.-]+/)* [\w-]+ \.(?:{_FILE_ENDING}) \b
    """,
    "handle": r"(?<![\w@./]) @[A-Za-z_]\w* (?:[.-]\w+)*",
    "hashtag": r"(?<![\w#&/]) \# \w*[^\W\d]\w*",
    "version": r"(?<![\w.]) (?: v?\d+(?:\.\d+){2,} | v\d+(?:\.\d+)* ) (?:[-+][A-Za-z][\w.]*\w)? (?![\w])",
    "code": r"""
        `(?![^\s`]+'\s)[^`\n]+`  # but GNU's `a' to `b'
      | \$\$ [^$\n]+ \$\$ | \\\( [^\n]+? \\\) | \\\[ (?=[^\n]*(?:[\^_=<>+]|\\[a-z])) [^\n]+? \\\]   # TeX
      | (?<![\w$\\]) \$ (?: [A-Za-z] | (?=[^$\n]*[\\^_=<>]) (?!\d+(?:[.,]\d+)*\s+[a-z]{2})
        [^\s$](?:[^$\n]*[^\s$\\])? ) \$ (?![\w$])
      | \b (?:[A-Za-z_]\w*(?:\.|::|->))* [A-Za-z_]\w* \(\)
      | (?<!\w) _*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_* (?!\w) | (?<!\w) __\w+__ (?!\w)
      | \b (?![IVXLC]+(?:e|er|re|nd|nde|th|st|rd|ème)\b) [A-Z]{2,}(?!s\b)[a-z]+ [A-Za-z]* \b  # NAf
      | \b [a-z]+(?:[A-Z][a-z0-9]+)+ \b | \b [A-Z]{1,4}&[A-Z]{1,4} \b
      | \b \w+(?:(?:::|->)\w+)+
      | (?<![\w-]) --[A-Za-z][\w-]*(?:=[^\s,;]*\w)? | (?<![\w-]) -[A-Za-z] (?![\w-])
      | (?<![\w-]) [A-Z]{1,5}-?\d[\dA-Z]*(?:-[\dA-Z]+)* (?![\w-])
      | \b [0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12} \b | \b 0x[0-9A-Fa-f]+ \b
    """,
    "emoji": r"""
        (?: \p{RI}\p{RI}
          | [0-9#*]\uFE0F?\u20E3
          | (?: (?=\p{Extended_Pictographic}) [^\u00A9\u00AE\u2122] | [\u00A9\u00AE\u2122]\uFE0F )
            (?:\uFE0F|\p{EMod})? (?:[\U000E0020-\U000E007E]+\U000E007F)?
            (?: \u200D \p{Extended_Pictographic} (?:\uFE0F|\p{EMod})? )*
        )+
    """,
    "phone": r"""
        (?<![\w.,+-]) (?<!\d[\ \u00A0]) (?=(?:\D{0,2}\d){9})
        (?: \+\d{1,3}[\ \u00A0.-]?(?:\(\d{1,4}\)[\ \u00A0.-]?)? | 0 ) \d{0,4}
        (?:[\ \u00A0.-]\d{2,4}){2,4} (?!\w|[.,-]\d)
    """,
    "copyright": r"""
        (?: (?:\bCopyright\s*)?(?:©|\([cC]\)(?=\s*\d)) | \bCopyright(?=\s\d) )
        \s*(?:\d{4}(?:\s?[-–]\s?\d{4})?,?\s+)? (?:(?:by|par)\s+)?
        (?!All\b|Tous\b)\p{Lu}[\w&'’-]* (?:\.?,?\s+(?!All\b|Tous\b)[\p{Lu}&][\w&'’-]*)*
    """,
    "symbol": r"""
        (?:\p{dt=super}|\p{dt=sub}|\p{dt=fraction}|\p{dt=circle}|\p{dt=square}|\p{dt=font}|\p{Co})+
      | (?<![\w.,]) [-+−±]?\d+(?:[.,]\d+)*[\ \u00A0\u202F]?°\ ?[CF]\b
      | (?<!(?:^|[\s(])["“][^"“”\n]*) (?<![\w.,])\d+(?:[.,]\d+)?["″] (?![\w"])   # inches
    """,
}
"""Decompositions: normalisation would write x² as x2 and ½ as 1/2."""

_NUMBER = regex.compile(
    rf"""(?<![\w.,]) [-+−±]? (?:[$€£¥] | (?:{CURRENCY_CODES})[\u00A0\ ])?
      \d+ (?:[.,:/\u00A0\u202F\ -]\d+)*
      (?: [%€£¥°] | (?:st|nd|rd|th|er|re|ère|e|ème|nde)\b
        | [\u00A0\u202F\ ]?(?:[$€£¥](?!\d) | (?:{CURRENCY_CODES})\b)
        | [\u00A0\u202F\ ]?(?:{UNIT_SYMBOLS})(?![\w/]) )? (?!\w)""",
    regex.VERBOSE,
)
_WORD_OR_SIGN = regex.compile(r"[\p{L}\p{M}\p{N}]+|[^\p{L}\p{N}\s]\p{M}*")
_SUSPECT = regex.compile(
    r"""[^\p{L}\p{M}\s.,;:!?'’"“”«»()…–-] | \w(?:\.|::?)\w | --? \p{L} | \p{Ll}\p{Lu} | \p{Lu}\p{Lu}\p{Ll}
      | \(\) | (?<![\w:]):[a-z] | (?:Y|M|D|H|y|d|h){2}[-/.:]""",
    regex.VERBOSE,
)
"""Plain prose has none of these, and no other pattern needs to look at it."""


def find_literals(
    text: str, *, numbers: bool = False, is_known: Callable[[str], bool] | None = None
) -> list[Literal]:
    """What of ``text`` is to be copied, in order, without overlaps.

    Args:
        text: a sentence or a text.
        numbers: numbers too, each with its unit.
        is_known: whether the model has a character in its vocabulary; runs of others are symbols, so that a
            phrase in another script is one literal.
    """
    found: list[Literal] = []
    if _SUSPECT.search(text):
        for kind, pattern in _compiled().items():
            found += [
                Literal(kind, Span(*match.span()))
                for match in pattern.finditer(text)
                if kind != "placeholder" or not is_caption(text, *match.span())
            ]
    if numbers:
        found += [Literal("number", Span(*match.span())) for match in _NUMBER.finditer(text)]
    literals = list(_longest(found)) if len(found) > 1 else found
    if is_known is None or text.isascii():
        return literals
    rest = text
    for literal in literals:  # what is unknown in a literal is part of it
        start, end = literal.span.start, literal.span.end
        rest = f"{rest[:start]}{chr(10) * (end - start)}{rest[end:]}"
    literals += [Literal("symbol", span) for span in _unknown_runs(rest, is_known)]
    return sorted(literals, key=lambda literal: literal.span.start)


@cache
def _compiled() -> dict[Kind, regex.Pattern[str]]:
    """The patterns, compiled when a text first needs them."""
    return {
        kind: regex.compile(pattern, regex.VERBOSE | regex.VERSION1) for kind, pattern in _PATTERNS.items()
    }


def _longest(found: list[Literal]) -> Iterator[Literal]:
    end = 0
    for literal in sorted(found, key=lambda literal: (literal.span.start, -literal.span.end)):
        if literal.span.start >= end:
            yield literal
            end = literal.span.end


def _unknown_runs(text: str, is_known: Callable[[str], bool]) -> Iterator[Span]:
    """Stretches of unknown characters, each with the whole word around it; a space joins two of them."""
    unknown = {character for character in set(text) if not character.isspace() and not is_known(character)}
    if not unknown:
        return
    start = end = -1
    for match in _WORD_OR_SIGN.finditer(text):
        if unknown.isdisjoint(match.group()):
            continue
        if start >= 0 and text[end : match.start()] not in {"", " "}:
            yield Span(start, end)
            start = -1
        start, end = (match.start() if start < 0 else start), match.end()
    if start >= 0:
        yield Span(start, end)

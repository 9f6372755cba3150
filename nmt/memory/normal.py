r"""The form in which texts are compared: words in lower case, numbers and placeholders folded.

"Page 3 of {name}" and "page 12 of {title}" have the same form. What was folded is kept as the text's
variables, in order, so that one text's can take the place of the other's (``nmt.memory.adjust``).
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from dataclasses import dataclass

from nmt.spans import Span

NUMBER, PLACEHOLDER = "\ue000", "\ue001"
"""Characters of private use that stand for a variable of their kind among the words."""

_VARIABLE = re.compile(
    r"""(?P<placeholder>
        https?://[^\s<>"«»()]+(?<![.,;:!?]) | [\w.+-]+@[\w-]+(?:\.[\w-]+)+
      | \{\{[^{}\n]{0,80}\}\} | \$\{[^{}\n]{1,80}\} | \{[\w.:!$ -]{0,80}\} | \$[A-Z_][A-Z0-9_]+
      | %(?:\(\w+\)|\d+\$)?[-+\#0]*\d*(?:\.\d+)?(?:ll?|hh?|z)?[sdiufxXeEgGcr@](?![^\W_])
      | %\w+% | </?[A-Za-z][^<>\n]{0,200}> | </?\d+\s*/?>
    ) | (?P<number>(?<![\w.,])\d+(?:[.,:\u00a0\u202f]\d+)*(?![\w]))""",
    re.VERBOSE,
)
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"  # no spaces there
    r"|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+(?:['\-][^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+)*"
    r"|[^\w\s]"
)
_PLAIN = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2010": "-", "\u2011": "-"}
)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Variable:
    """A number or placeholder of a text."""

    span: Span
    text: str
    is_number: bool


@dataclass(frozen=True)
class NormalForm:
    """A text as it is compared."""

    words: tuple[str, ...]
    """In lower case; a variable is one of ``NUMBER`` and ``PLACEHOLDER``."""
    variables: tuple[Variable, ...]
    plain: str
    """The text in its own case with single spaces, plain quotes and folded variables."""

    @property
    def key(self) -> str:
        """The words as one text; texts with one key match but for their variables."""
        return " ".join(self.words)


def normal_form(text: str) -> NormalForm:
    """The form of a text, white space around it aside."""
    variables: list[Variable] = []

    def fold(match: re.Match[str]) -> str:
        is_number = match["number"] is not None
        variables.append(Variable(Span(*match.span()), match.group(), is_number))
        return f" {NUMBER} " if is_number else f" {PLACEHOLDER} "

    folded = _VARIABLE.sub(fold, text)
    if not folded.isascii():
        folded = unicodedata.normalize("NFC", folded).translate(_PLAIN)
    return NormalForm(
        tuple(_WORD.findall(folded.casefold())), tuple(variables), _SPACE.sub(" ", folded).strip()
    )


def key_number(key: str) -> int:
    """A key as a number that fits a signed 64-bit column; two keys may share one, so compare the keys too."""
    encoded = key.encode("utf-8", "surrogatepass")
    return zlib.crc32(encoded) << 31 | zlib.adler32(encoded) & 0x7FFFFFFF

"""Generated HTML, and what must be true of its translation (promise B8 of the reliability plan)."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from turbohtml import TokenType, tokenize

CHECKS = ("tags", "well-formed", "nesting", "white space", "emoji", "copied")
_EMOJI = ("😀", "🎉", "👍🏽", "❤️", "🇫🇷", "👩‍🚀")
_SENTENCES = "two young men are sitting on a bench near the old house and the little girl in red plays guitar"
_WORDS = tuple(_SENTENCES.split())
_SPACES = st.sampled_from([" "] * 8 + ["\n    ", "  ", "\t", "\r\n"])
_INLINE = st.sampled_from(["b", "i", "em", "strong", "a", "span", "u", "mark", "small", "sub"])
_ATTRIBUTES = st.sampled_from(
    ["", ' class="a b"', " data-x='1 > 0'", ' href="?a=1&b=2"', " hidden", ' style="color: red"']
)
_EMPTY = st.sampled_from(
    [
        "<br>",
        "<br/>",
        '<img src="a.png">',
        "<wbr>",
        "<!-- note: a > b -->",
        '<input type="text">',
        '<x n="1"/>',
    ]
)
_COPIED = st.sampled_from(
    [
        "<code>pip install x</code>",
        '<span translate="no">Passerelle <b>2</b></span>',
        '<b class="notranslate">ACME</b>',
        "<kbd>Ctrl</kbd>",
        "<script>if (a < b) { x() }</script>",
        '<svg viewBox="0 0 1 1"><path d="M0 0"/></svg>',
    ]
)
_TEXT = st.sampled_from([*_WORDS, *_WORDS, "&amp;", "caf&eacute;", "&lt;", "12", "3.5", *_EMOJI])


@st.composite
def _phrase(draw: st.DrawFn, depth: int) -> str:
    parts: list[str] = []
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.integers(0, 9))
        if kind >= 5 or depth == 0:
            parts.append(draw(_TEXT))
        elif kind >= 3:
            name = draw(_INLINE)
            inside = draw(_phrase(depth - 1))
            parts.append(f"<{name}{draw(_ATTRIBUTES)}>{inside}</{name}>")
        elif kind == 2:
            parts.append(draw(_EMPTY))
        elif kind == 1:
            parts.append(draw(_COPIED))
        else:
            parts.append(draw(st.sampled_from([",", ".", "!", ":", "<b></b>", "<i> </i>"])))
        parts.append(draw(st.one_of(_SPACES, st.just(" "), st.sampled_from([" ", " ", ""]))))
    return "".join(parts)


@st.composite
def html_texts(draw: st.DrawFn) -> str:
    """Well-formed HTML: blocks with inline tags three deep; each element has an id of its own."""
    parts: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        phrase = draw(_phrase(3))
        edge = draw(st.sampled_from(["", " ", "\n  ", "&nbsp;", "\t"]))
        kind = draw(st.integers(0, 5))
        inside = f"{edge}{phrase}{edge}"
        block = {
            0: f"<p>{inside}</p>",
            1: f'<div class="c">{inside}</div>',
            2: f"<ul>\n<li>{inside}</li>\n</ul>",
            3: f"<h2>{inside}</h2>",
            4: f"{inside}<pre>  a  b\n\tc </pre>",
            5: f"<table><tr><td>{inside}</td></tr></table>",
        }[kind]
        parts.append(block)
    return _numbered("".join(parts))


@st.composite
def broken_html_texts(draw: st.DrawFn) -> str:
    """Tags that are never closed, closed twice or crossed, and loose signs."""
    pieces = st.one_of(
        _TEXT,
        _SPACES,
        _EMPTY,
        st.sampled_from(
            ["<b>", "</b>", "<i>", "</i>", "<p>", "</p>", "<div>", "</div>", "<a href=x>", "</a>"]
        ),
        st.sampled_from(
            ["<", "&", "&amp", "</", "<!--", "</>", "<li>", "<code>", "</code>", "<td>", '<b x="']
        ),
    )
    return "".join(draw(st.lists(pieces, max_size=14)))


def _numbered(html: str) -> str:
    """Each start tag outside of copied markup gets an id, so that an element can be told from its like."""
    numbers = iter(range(10_000))
    return re.sub(
        r"<([a-z]+[1-6]?)(?=[ >])(?![^<]*</(?:script|svg)>)", lambda m: f"<{m[1]} id={next(numbers)}", html
    )


class _Reader(HTMLParser):
    """The parser of the standard library, which the code under test does not use."""

    VOID = frozenset(["br", "img", "wbr", "input", "x"])

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.ancestors: dict[str, tuple[str, ...]] = {}
        self.is_well_formed = True
        self.text: list[str] = []
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[self.get_starttag_text() or ""] += 1
        name = self._note(tag, attrs)
        if tag not in self.VOID:
            self._open.append((tag, name))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[self.get_starttag_text() or ""] += 1
        self._note(tag, attrs)

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> str:
        number = dict(attrs).get("id")
        if number:
            self.ancestors[number + tag] = tuple(path for _, path in self._open)
        return (number or "") + tag

    def handle_endtag(self, tag: str) -> None:
        self.tags[f"</{tag}>"] += 1
        if self._open and self._open[-1][0] == tag:
            self._open.pop()
        else:
            self.is_well_formed = False

    def handle_comment(self, data: str) -> None:
        self.tags[f"<!--{data}-->"] += 1

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def close(self) -> None:
        super().close()
        self.is_well_formed = self.is_well_formed and not self._open


def read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader


def problems(source: str, result: str) -> list[str]:
    """What the translation of well-formed HTML broke, as names of ``CHECKS``."""
    before, after = read(source), read(result)
    kept = {
        "tags": before.tags == after.tags,
        "well-formed": after.is_well_formed,
        "nesting": before.ancestors == after.ancestors,
        "white space": _edges(source) == _edges(result),
        "emoji": Counter(emoji_of(source)) == Counter(emoji_of(result)),
        "copied": _copied(source) == _copied(result),
    }
    return [name for name in CHECKS if not kept[name]]


def tags_of(html: str) -> Counter[str]:
    """All tags and comments as they are spelled, for HTML of any shape."""
    tokens = tokenize(html.replace("\r\n", "\n"), resolve_references=False, capture_source=True)
    return Counter(
        token.source or ""
        for token in tokens
        if token.type not in {TokenType.TEXT, TokenType.CHARACTER_REFERENCE}
    )


def _edges(html: str) -> list[tuple[str, str]]:
    """White space after each block's start tag and before its end tag."""
    blocks = r"p|div|li|h2|td|ul|tr|table|pre"
    opened = re.findall(rf"<(?:{blocks})(?: [^>]*)?>((?:&nbsp;|\s)*)", html)
    closed = re.findall(rf"((?:&nbsp;|\s)*)</(?:{blocks})>", html)
    return [("after", space) for space in opened] + [("before", space) for space in closed]


def emoji_of(html: str) -> list[str]:
    """The emoji of a text, in order."""
    return re.findall("|".join(sorted(map(re.escape, _EMOJI), key=len, reverse=True)), html)


def _copied(html: str) -> Counter[str]:
    return Counter(
        re.findall(r"<(?:code|kbd|script|svg|pre)\b.*?</(?:code|kbd|script|svg|pre)>", html, re.DOTALL)
    )


def html_pages(n: int, spare: int) -> list[str]:
    """The last ``n`` of ``n + spare`` texts, the same at each call: Hypothesis begins with simple ones."""
    texts: list[str] = []

    @settings(
        max_examples=n + spare,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(html_texts())
    def collect(html: str) -> None:
        texts.append(html)

    collect()
    return texts[-n:]

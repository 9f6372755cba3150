"""Markdown beyond CommonMark: the lines and the inline signs of its dialects.

Lines: callouts (GitHub, Obsidian, MkDocs, Docusaurus, pymdownx), tabs, math, templates (Liquid, ERB), MDX,
definition lists, tasks, footnotes, abbreviations. ``plain_lines`` rewrites each as a line of CommonMark that
holds the same text, or as a blank one, so that the parser finds the blocks. The file keeps its lines.

Inline: math, templates, attribute lists, wiki links, ``==marks==``. ``add_dialects`` gives the parser a rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

_FENCE = re.compile(r"(?:\s|>)*(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"\s*(?:[-+*]|\d{1,9}[.)])\s")
_HEAD = re.compile(r"""(?P<indent>\s*)(?:!!!|\?\?\?\+?)\s+[\w \-]*?\s*(?:"(?P<title>.*)")?\s*$""")
_TAB = re.compile(r"""(?P<indent>\s*)===[!+]?\s+(?:"(?P<title>.*)"|'.*')\s*$""")
_CALLOUT = re.compile(r"(?P<before>(?:\s*>)+\s*)\[![\w\-]+\][+-]?[ \t]*(?P<title>.*)$")
_CONTAINER = re.compile(
    r"\s*:{3,}\s*(?:[\w\-]+)?[ \t]*(?:\[(?P<label>[^\]]*)\])?(?P<title>[^{}\[\]]*?)\s*(?:\{.*\})?\s*:*$"
)
_SLASHES = re.compile(r"\s*/{3,}\s*(?:[\w\-]+)?\s*(?:\|\s*(?P<title>.*))?$")
_OPTION = re.compile(r"\s{4}[\w\-]+:(?:\s|$)")
_FOOTNOTE = re.compile(r"(?P<indent> {0,3})\[\^[^\]\s]+\]:[ \t]*")
_ABBREVIATION = re.compile(r" {0,3}\*\[[^\]]+\]:[ \t]*")
_TASK = re.compile(r"(?P<before>[\s>]*(?:[-+*]|\d{1,9}[.)])[ \t]+)\[[ xX]\][ \t]+(?=\S)")
_DEFINITION = re.compile(r"(?P<indent> {0,3})[:~][ \t]+(?=\S)")
_LINE_OF_TAGS = re.compile(
    r"\s*(?:(?:\{%(?:(?!%\}).)*%\}|\{\{(?:(?!\}\}).)*\}\}|<%(?:(?!%>).)*%>|\{::?[^{}]*\})\s*)+$"
)
_LINE_OF_MARKS = re.compile(r"""\s*(?:\[TOC\]|\[\[_?TOC_?\]\]|-{1,2}8<-{1,2}.*)\s*$""", re.IGNORECASE)
_IMPORT = re.compile(r"""import\s+(?:[\w*{][^'"]*\s+from\s+)?(['"])[^'"]+\1;?\s*$""")
_IMPORT_BEGINS = re.compile(r"import\s+\{[^}]*$")
_IMPORT_ENDS = re.compile(r"\}\s*from\s")
_BLANK = re.compile(r"^\s*$")
_EXPORT = re.compile(r"export\s+(?:const|let|var|default|function|class|async)\b")
_BLOCKS = (
    (re.compile(r"\s*\$\$"), re.compile(r"\$\$\s*(?:\(.*\))?\s*$")),
    (re.compile(r"\s*\\\[\s*$"), re.compile(r"\\\]\s*$")),
    (re.compile(r"\s*\\begin\{\w+\*?\}"), re.compile(r"\\end\{\w+\*?\}\s*$")),
    (re.compile(r"\s*\{/\*"), re.compile(r"\*/\}\s*$")),
)
"""What begins and what ends lines that are no text: math, comments of MDX."""


MAX_BLOCK_LINES = 1_000
"""Of math or of code in MDX, and of a list before an admonition in it."""


@dataclass(frozen=True)
class Line:
    """A line of CommonMark that stands for a line of a dialect."""

    text: str
    column: int = 0
    """Where in the line of the file its text begins, at the earliest."""


def plain_lines(lines: Sequence[str]) -> list[Line]:
    """As many lines of CommonMark as there are of a dialect; code is left alone."""
    return _Lines(lines).run()


class _Lines:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = [Line(line) for line in lines]
        self._searched: dict[re.Pattern[str], int] = {}

    def run(self) -> list[Line]:
        index = 0
        fence = ""
        while index < len(self._lines):
            mark = _FENCE.match(self._lines[index].text)
            if fence:
                fence = "" if mark and mark[1].startswith(fence) else fence
                index += 1
            elif mark:
                fence = mark[1]
                index += 1
            else:
                index = self._line(index)
        return self._lines

    def _line(self, index: int) -> int:
        """Rewrite a line, and the further lines that belong to it; returns the index of the next."""
        text = self._lines[index].text
        if not text.strip():
            return index + 1
        if (end := self._end_of_block(index)) is not None:
            self._blank(index, end)
            return end
        if _LINE_OF_TAGS.match(text) or _LINE_OF_MARKS.match(text) or _IMPORT.match(text):
            self._blank(index, index + 1)
        elif head := _HEAD.match(text) or _TAB.match(text):
            if self._may_begin(index, len(head["indent"])) and (head["title"] or self._has_body(index, head)):
                self._title(index, head["indent"], head, "title")
                self._dedent(index + 1, len(head["indent"]))
        elif callout := _CALLOUT.match(text):
            self._title(index, callout["before"], callout, "title")
        elif container := _CONTAINER.match(text):
            self._title(index, "", container, "label" if container["label"] else "title")
        elif slashes := _SLASHES.match(text):
            self._title(index, "", slashes, "title")
            while index + 1 < len(self._lines) and _OPTION.match(self._lines[index + 1].text):
                index += 1
                self._blank(index, index + 1)
        elif found := _ABBREVIATION.match(text):
            self._begin(index, "# ", found.end())
        elif found := _TASK.match(text):
            self._begin(index, found["before"], found.end())
        elif found := _FOOTNOTE.match(text) or self._definition(index):
            self._begin(index, f"{found['indent']}- ", found.end())
        return index + 1

    def _end_of_block(self, index: int) -> int | None:
        """After the last line of a block that is no text; None: none begins here, or it has no end."""
        text = self._lines[index].text
        for beginning, ending in _BLOCKS:
            if start := beginning.match(text):
                if ending.search(text, start.end()):
                    return index + 1
                return self._find(index + 1, ending)
        if _IMPORT_BEGINS.match(text):
            return self._find(index + 1, _IMPORT_ENDS)
        if _EXPORT.match(text):
            return self._find(index + 1, _BLANK) or len(self._lines)
        return None

    def _find(self, index: int, ending: re.Pattern[str]) -> int | None:
        """After the next line with ``ending``; lines that were searched in vain are not searched again."""
        limit = min(len(self._lines), index + MAX_BLOCK_LINES)
        for place in range(max(index, self._searched.get(ending, 0)), limit):
            if ending.search(self._lines[place].text):
                return place + 1
        self._searched[ending] = limit
        return None

    def _blank(self, start: int, end: int) -> None:
        for place in range(start, end):
            quote = re.match(r"(?:\s*>)*", self._lines[place].text)
            self._lines[place] = Line(quote.group() if quote else "")

    def _title(self, index: int, before: str, match: re.Match[str], group: str) -> None:
        """A line whose only text is a title becomes a heading, or blank."""
        title = (match[group] or "").strip()
        column = match.start(group) if title else 0
        self._lines[index] = Line(
            f"{before}# {title}" if title else before, self._lines[index].column + column
        )

    def _begin(self, index: int, sign: str, column: int) -> None:
        line = self._lines[index]
        self._lines[index] = Line(sign + line.text[column:], line.column + column)

    def _may_begin(self, index: int, indent: int) -> bool:
        """Whether a line indented so far is no code: it is in a list, if it is far."""
        if indent < 4:
            return True
        for place in reversed(range(max(0, index - MAX_BLOCK_LINES), index)):
            text = self._lines[place].text
            if text.strip() and len(text) - len(text.lstrip()) < indent:
                return _LIST_ITEM.match(text) is not None
        return False

    def _has_body(self, index: int, head: re.Match[str]) -> bool:
        """The next line with text is indented by four more."""
        following = (line.text for line in self._lines[index + 1 :] if line.text.strip())
        return next(following, "").startswith(head["indent"] + "    ")

    def _dedent(self, index: int, indent: int) -> None:
        """The lines that are indented by four more stand in the block that begins before them."""
        while index < len(self._lines):
            line = self._lines[index]
            if line.text.strip() and not line.text.startswith(" " * (indent + 4)):
                return
            if line.text.strip():
                self._lines[index] = Line(line.text[:indent] + line.text[indent + 4 :], line.column)
            index += 1

    def _definition(self, index: int) -> re.Match[str] | None:
        """A definition comes after its term, another definition, or a blank line after one of them."""
        before = [line.text for line in self._lines[max(0, index - 2) : index]]
        is_one = any(text.strip() and not text.lstrip().startswith(("#", "|", ">", "<")) for text in before)
        return _DEFINITION.match(self._lines[index].text) if is_one else None


_MATH = re.compile(
    r"\$\$(?P<display>[^$]+?)\$\$|\$(?P<dollar>[^\s$](?:[^$\n]*?[^\s$\\])?)\$(?!\d)|\\\((?P<paren>.{1,500}?)\\\)",
    re.DOTALL,
)
_FORMULA = re.compile(r"[\\^_=<>+*/|{}]|^\S{1,3}$")
_KEPT = re.compile(r"\{\{(?![%<]).{0,500}?\}\}|<%[=\-].{0,500}?%>|\[\[[^\[\]|\n]+\]\]", re.DOTALL)
_VALUE = r"""(?:"[^"\n]*"|[^\s"{}]+)"""
_OBJECTS = re.compile(
    r"\{%.{0,500}?%\}|\{\{[%<].{0,500}?[%>]\}\}|<%.{0,500}?%>|!\[\[[^\[\]\n]+\]\]|\{::?[^{}\n]*\}|"
    rf"\{{ *(?:[#.][\w:.\-]+|[\w\-]+={_VALUE})(?: +[#.]?[\w:.\-]+(?:={_VALUE})?)* *\}}",
    re.DOTALL,
)
_WIKI_LINK = re.compile(r"(\[\[[^\[\]|\n]+\|)([^\[\]|\n]+)(\]\])")
_MARK = re.compile(r"(==)(?=[^\s=])(.{1,500}?)(?<=[^\s=])(==)(?!=)", re.DOTALL)


def add_dialects(parser: MarkdownIt) -> None:
    """Teach a parser the inline signs; its tokens say in ``meta["span"]`` where they are."""
    parser.inline.ruler.before("escape", "dialects", _dialects)


def _dialects(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\{<[!=":
        return False
    return any(rule(state, silent) for rule in (_math, _kept, _object, _container))


def _math(state: StateInline, silent: bool) -> bool:
    found = _MATH.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    formula = found["display"] or found["dollar"] or found["paren"] or ""
    return bool(found["display"] or _FORMULA.search(formula)) and _push(state, silent, found, "copied")


def _kept(state: StateInline, silent: bool) -> bool:
    return _push(state, silent, _KEPT.match(state.src, state.pos, state.posMax), "copied")


def _object(state: StateInline, silent: bool) -> bool:
    return _push(state, silent, _OBJECTS.match(state.src, state.pos, state.posMax), "object")


def _push(state: StateInline, silent: bool, found: re.Match[str] | None, kind: str) -> bool:
    if found is None:
        return False
    if not silent:
        token = state.push(kind, "", 0)
        token.content = found.group()
        token.meta["span"] = found.span()
    state.pos = found.end()
    return True


def _container(state: StateInline, silent: bool) -> bool:
    """A wiki link with a text of its own, or a mark."""
    found = _WIKI_LINK.match(state.src, state.pos, state.posMax) or _MARK.match(
        state.src, state.pos, state.posMax
    )
    if found is None:
        return False
    if not silent:
        name = "mark" if found[1] == "==" else "wiki"
        state.push(f"{name}_open", name, 1).meta["span"] = found.span(1)
        most = state.posMax
        state.pos, state.posMax = found.span(2)
        state.md.inline.tokenize(state)
        state.posMax = most
        state.push(f"{name}_close", name, -1).meta["span"] = found.span(3)
    state.pos = found.end()
    return True

"""YAML: every plain string value is translated, keys are not; comments, anchors and layout stay as they are.

PyYAML (libyaml) reads the file as events, which tell where each scalar stands; only those characters are
written anew, in the scalar's own style where the translation allows it. An alias is one with its anchor. A
scalar with a tag of its own (``!ref``, ``!!binary``) is no text, nor is what YAML 1.1 reads as a Boolean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import yaml
from yaml.resolver import Resolver

from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, document, has_letters
from nmt.documents.strings import string_part
from nmt.errors import InputError

MAX_DEPTH = 200
"""Collections inside each other; reading takes time with its square."""

_STRING = "tag:yaml.org,2002:str"
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")
"""An anchor or a tag; the marks of a scalar begin there."""
_BLOCK = re.compile(r"(?P<header>[|>][+-]?[^\n\S]*(?:#[^\n]*)?\n)(?P<indent>\n* +)")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVER = Resolver()


@dataclass(frozen=True)
class _Scalar:
    """A string value, and the characters that write it."""

    text: str
    start: int
    end: int
    style: str | None
    """ "'", '"', "|", ">" or None for a plain one."""
    flow: bool
    """It stands in [] or {}, where a plain one may hold no comma."""


def read_yaml(data: bytes) -> ExtractedDocument:
    """A YAML file of any number of documents; see ``nmt.documents.read_document``."""
    source = decode(data)
    scalars = _scalars(source.text)
    translated = [place for place, scalar in enumerate(scalars) if has_letters(scalar.text)]

    def write(restored: Sequence[str]) -> bytes:
        wanted = [scalar.text for scalar in scalars]
        for place, text in zip(translated, restored, strict=True):
            wanted[place] = text
        renderers = dict.fromkeys(translated, _in_own_style)
        result = _written(source.text, scalars, wanted, renderers)
        found = [scalar.text for scalar in _scalars_or_none(result)]
        if found != wanted:  # a style that cannot hold its text, not known before: quotes can
            wrong = translated
            if len(found) == len(wanted):
                wrong = [place for place in translated if found[place] != wanted[place]]
            renderers |= dict.fromkeys(wrong, _double_quoted)
            result = _written(source.text, scalars, wanted, renderers)
        return source.encode(result)

    return document([string_part(scalars[place].text) for place in translated], write, suffix="yaml")


def _written(
    source: str,
    scalars: Sequence[_Scalar],
    texts: Sequence[str],
    renderers: Mapping[int, Callable[[_Scalar, str, str], str]],
) -> str:
    """``source`` with the scalars that have a renderer written anew, unless their text is as it was."""
    pieces: list[str] = []
    read = 0
    for place, (scalar, text) in enumerate(zip(scalars, texts, strict=True)):
        if place in renderers and text != scalar.text:
            written = source[scalar.start : scalar.end]
            pieces += [source[read : scalar.start], renderers[place](scalar, written, text)]
            read = scalar.end
    return "".join([*pieces, source[read:]])


def _scalars_or_none(text: str) -> list[_Scalar]:
    try:
        return _scalars(text)
    except InputError:
        return []


def _scalars(text: str) -> list[_Scalar]:
    """All string values in the order of the file.

    Raises:
        InputError: it is no YAML.
    """
    try:
        return list(_values(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise InputError(f"the document is not YAML{where}; correct it") from None
    except yaml.YAMLError:
        raise InputError("the document is not YAML: it holds control characters; correct it") from None


def _values(text: str) -> Iterator[_Scalar]:
    """String scalars that are no keys."""
    opened: list[list[bool]] = []
    """Of each open collection: it is a mapping, it is in flow style, a key is next."""
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionEndEvent):
            opened.pop()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        is_key = bool(opened) and opened[-1][0] and opened[-1][2]
        flow = bool(opened) and opened[-1][1]
        if opened:
            opened[-1][2] = not opened[-1][2]
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append([isinstance(event, yaml.MappingStartEvent), bool(event.flow_style), True])
            if len(opened) > MAX_DEPTH:
                raise InputError(f"the document is YAML nested more than {MAX_DEPTH} deep; split it")
        elif isinstance(event, yaml.ScalarEvent) and not is_key and _is_string(event):
            assert event.start_mark is not None, "the parser sets marks"
            assert event.end_mark is not None, "the parser sets marks"
            start, end = event.start_mark.index, event.end_mark.index
            properties = _PROPERTIES.match(text, start, end)
            start = properties.end() if properties else start
            yield _Scalar(event.value, start, end, event.style or None, flow)


def _is_string(event: yaml.ScalarEvent) -> bool:
    if event.tag not in (None, "!", _STRING):
        return False
    return event.tag == _STRING or _resolves_to_string(event.value, plain=event.implicit[0])


def _resolves_to_string(value: str, *, plain: bool) -> bool:
    """Whether YAML takes ``value`` for a string; "y" and "n" are Booleans to some programs."""
    if plain and value in {"y", "Y", "n", "N"}:
        return False
    tag = _RESOLVER.resolve(yaml.ScalarNode, value, (plain, not plain))  # type: ignore[no-untyped-call]
    return str(tag) == _STRING


def _in_own_style(scalar: _Scalar, written: str, text: str) -> str:
    """``text`` as the scalar was written, or double-quoted where that style cannot hold it."""
    style = scalar.style
    if style is None and _is_plain(text, flow=scalar.flow):
        return _filled(text, written)
    if style == "'" and text.isprintable():
        return _filled("'" + text.replace("'", "''") + "'", written)
    if style == '"' and "\n" in written:
        return _filled(_double_quoted(scalar, written, text), written)
    block = _BLOCK.match(written)
    lines = text.rstrip("\n").split("\n")
    may_begin = not lines[0][:1].isspace() and (style == "|" or all(line == line.lstrip() for line in lines))
    if block and may_begin:
        indent = block["indent"].lstrip("\n")
        if style == ">":
            width = max(len(line) - len(indent) for line in written[block.start("indent") :].split("\n"))
            lines = ["\n".join(_fill(line, width)) for line in lines]
        body = ("\n" if style == "|" else "\n\n").join(lines)
        indented = "\n".join(line and indent + line for line in body.split("\n"))
        return block["header"] + indented + _last_line_ends(written)
    return _double_quoted(scalar, written, text)


def _filled(value: str, written: str) -> str:
    """A scalar in lines, with the indentation and about the width that it had in lines."""
    first, *others = written.rstrip("\n").split("\n")
    if not others or "\n\n" in written or "  " in value:
        return value
    indent = others[0][: len(others[0]) - len(others[0].lstrip())]
    width = max([len(first), *(len(line.strip()) for line in others)])
    return f"\n{indent}".join(_fill(value, width))


def _fill(text: str, width: int) -> list[str]:
    """Lines that are one text again when their ends are read as spaces."""
    lines: list[str] = []
    for word in text.split(" "):
        may_begin = word and not word.startswith(("#", "- ", "? "))
        if lines and (len(lines[-1]) + 1 + len(word) <= width or not may_begin or not lines[-1].strip()):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _double_quoted(scalar: _Scalar, written: str, text: str) -> str:
    """A JSON string, which is a YAML one too."""
    quoted = json.dumps(text, ensure_ascii=False)
    for line_break in ("\x85", "\u2028", "\u2029"):
        quoted = quoted.replace(line_break, f"\\u{ord(line_break):04x}")
    return quoted + (_last_line_ends(written) if scalar.style in ("|", ">") else "")


def _last_line_ends(written: str) -> str:
    return written[len(written.rstrip("\n")) :]


def _is_plain(text: str, *, flow: bool) -> bool:
    """Whether ``text`` without quotes is that string."""
    if "\t" in text or not _resolves_to_string(text, plain=True):
        return False  # readers disagree about tabs
    try:
        found = _scalars(f"[{text}, 1]\n" if flow else f"k: {text}\n")
    except InputError:
        return False
    return [scalar.text for scalar in found] == [text]

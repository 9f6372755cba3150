"""YAML: every plain string value is translated, keys are not; comments, anchors and layout stay as they are.

ruamel.yaml composes the file and tells where each scalar stands; only those characters are written anew, in
the scalar's own style where the translation allows it. An alias is one with its anchor. A scalar with a tag
of its own (``!ref``, ``!!binary``) is no text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, document, has_letters
from nmt.documents.strings import string_part
from nmt.errors import InputError

_STRING = "tag:yaml.org,2002:str"
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")
"""An anchor or a tag; the marks of a scalar begin there."""
_BLOCK = re.compile(r"(?P<header>[|>][+-]?[^\n\S]*(?:#[^\n]*)?\n)(?P<indent>\n* +)")
_WORDS_OF_YAML_1_1 = re.compile(r"(?i:y|n|yes|no|on|off|true|false|null|~)\Z")
"""Values that the older version of YAML reads as Booleans or nothing; many programs still do."""


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
    scalars = [scalar for scalar in _scalars(source.text) if has_letters(scalar.text)]

    def write(restored: Sequence[str]) -> bytes:
        for render in (_in_own_style, _double_quoted):
            pieces: list[str] = []
            read = 0
            for scalar, text in zip(scalars, restored, strict=True):
                written = source.text[scalar.start : scalar.end]
                pieces += [source.text[read : scalar.start], render(scalar, written, text)]
                read = scalar.end
            result = "".join([*pieces, source.text[read:]])
            if [scalar.text for scalar in _scalars(result) if has_letters(scalar.text)] == list(restored):
                break
        return source.encode(result)

    return document([string_part(scalar.text) for scalar in scalars], write, suffix="yaml")


def _scalars(text: str) -> list[_Scalar]:
    """All string values in the order of the file.

    Raises:
        InputError: it is no YAML.
    """
    found: list[_Scalar] = []
    try:
        for root in YAML(typ="safe", pure=True).compose_all(StringIO(text)):
            for node, flow in _values(root):
                start, end = node.start_mark.index, node.end_mark.index
                properties = _PROPERTIES.match(text, start, end)
                start = properties.end() if properties else start
                found.append(_Scalar(node.value, start, end, node.style, flow))
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise InputError(f"the document is not YAML{where}; correct it") from None
    except (YAMLError, ValueError):
        raise InputError("the document is not YAML; correct it") from None
    except RecursionError:
        raise InputError("the document is YAML nested too deeply; split it") from None
    return sorted(found, key=lambda scalar: scalar.start)


def _values(root: Node | None) -> Iterator[tuple[ScalarNode, bool]]:
    """String scalars that are no keys, and whether each is in flow context; each node once."""
    pending: list[tuple[Node | None, bool]] = [(root, False)]
    seen: set[int] = set()
    while pending:
        node, flow = pending.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, MappingNode):
            pending += [(value, flow or bool(node.flow_style)) for _, value in node.value]
        elif isinstance(node, SequenceNode):
            pending += [(value, flow or bool(node.flow_style)) for value in node.value]
        elif (
            isinstance(node, ScalarNode)
            and str(node.tag) == _STRING
            and (node.style or not _WORDS_OF_YAML_1_1.match(node.value))
        ):
            yield node, flow


def _in_own_style(scalar: _Scalar, written: str, text: str) -> str:
    """``text`` as the scalar was written, or double-quoted where that style cannot hold it."""
    style = scalar.style
    if style is None and _is_plain(text, flow=scalar.flow):
        return text
    if style == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    block = _BLOCK.match(written)
    lines = text.rstrip("\n").split("\n")
    if block and all(line == line.lstrip() for line in lines):
        indent = block["indent"].lstrip("\n")
        between = "\n" if style == "|" else "\n\n"
        body = between.join(line and indent + line for line in lines)
        return block["header"] + body + _last_line_ends(written)
    return _double_quoted(scalar, written, text)


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
    if _WORDS_OF_YAML_1_1.match(text):
        return False
    try:
        found = _scalars(f"[{text}, 1]\n" if flow else f"k: {text}\n")
    except InputError:
        return False
    return [scalar.text for scalar in found] == [text]

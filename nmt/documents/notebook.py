"""Jupyter notebooks (nbformat 4): Markdown cells; code, outputs and metadata stay byte for byte.

Each cell goes through the reader of Markdown. A cell's source is a string or a list of lines, and stays so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.json_strings import JsonFile, JsonObject, JsonString
from nmt.documents.markdown import read_markdown
from nmt.errors import InputError


def read_notebook(data: bytes) -> ExtractedDocument:
    """A notebook; see ``nmt.documents.read_document``."""
    file = JsonFile(data)
    cells = [lines for cell in _cells(file) if (lines := _source(cell))]
    parts = [read_markdown("".join(lines).encode()) for lines in cells]

    def write(restored: Sequence[bytes]) -> bytes:
        changes = [
            (lines[0].start, lines[-1].end, _written(file, lines, new.decode()))
            for lines, new in zip(cells, restored, strict=True)
            if new.decode() != "".join(lines)
        ]
        return file.replaced(changes)

    return document(parts, write, suffix="ipynb")


def _cells(file: JsonFile) -> list[JsonObject]:
    """The Markdown cells.

    Raises:
        InputError: it is no notebook of this format.
    """
    notebook = file.value
    cells = notebook.get("cells") if isinstance(notebook, JsonObject) else None
    if not isinstance(notebook, JsonObject) or notebook.get("nbformat") != 4 or not isinstance(cells, list):
        raise InputError(
            "the document is no notebook of nbformat 4: convert it with jupyter nbconvert --to notebook"
        )
    return [cell for cell in cells if isinstance(cell, JsonObject) and cell.get("cell_type") == "markdown"]


def _source(cell: JsonObject) -> list[JsonString]:
    """The strings that make up a cell; none where one is no text."""
    source = cell.get("source")
    lines = source if isinstance(source, list) else [source]
    strings = [line for line in lines if isinstance(line, JsonString)]
    is_text = len(strings) == len(lines) and not any(re.search(r"[\ud800-\udfff]", line) for line in strings)
    return strings if is_text and "".join(strings).strip() else []


def _written(file: JsonFile, lines: Sequence[JsonString], text: str) -> str:
    """``text`` as the strings were written: one, or one a line."""
    if len(lines) == 1:
        return file.written(text)
    between = file.source.text[lines[0].end : lines[1].start]
    return between.join(file.written(line) for line in re.findall(r"[^\n]*\n|[^\n]+", text))

"""A file from disk through a translator and back to disk: what ``nmt translate --file`` does."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.documents.extracted import ExtractedDocument
from nmt.documents.read import read_document, target_name
from nmt.errors import InputError
from nmt.extraction import chunks, to_translate
from nmt.model_folder.files import give_ordinary_mode
from nmt.options import DEFAULTS, TranslationOptions
from nmt.text.address import address_context

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation
    from nmt.translator import Translator

CHARACTERS_AT_ONCE = 4_000
"""Translated together: enough for sorting by length to pay, few enough to show progress."""


@dataclass(frozen=True)
class FileTask:
    """A document read, and where its translation goes."""

    source: Path
    target: Path
    document: ExtractedDocument

    @property
    def n_characters(self) -> int:
        """To translate: what progress counts."""
        return sum(len(extract.text) for extract in self.document.extracts)


def open_file(
    source: Path,
    target: Path | None,
    *,
    languages: tuple[str, str] = ("en", "fr"),
    force: bool,
    everything: bool = False,
    columns: str | None = None,
) -> FileTask:
    """Read a document; nothing is written, and no model needed, before all that can be checked is.

    Args:
        source: the document.
        target: where to write; None: beside it, ``letter.docx`` as ``letter.fr.docx``.
        languages: of the document and of its translation, as ISO 639-1 codes.
        force: the target may be there already.
        everything: see ``read_document``.
        columns: see ``read_document``.

    Raises:
        InputError: the target is there already, or the document cannot be read as what its name says.
        OSError: there is no such file.
    """
    read, written = languages
    target = source.with_name(target_name(source.name, written, read)) if target is None else target
    if target.exists() and (not force or target.samefile(source)):
        step = (
            "choose another with --out" if source == target else "choose another with --out, or add --force"
        )
        raise InputError(f"{target} is there already: {step}")
    try:
        document = read_document(
            source.name,
            source.read_bytes(),
            source=read,
            target=written,
            everything=everything,
            columns=columns,
        )
    except InputError as error:
        raise type(error)(f"{source}: {error}") from None
    return FileTask(source, target, document)


def text_of(source: Path, columns: str | None = None) -> str:
    """All the text of a document, to tell its language; errors as ``open_file``, but for the target's."""
    try:
        document = read_document(source.name, source.read_bytes(), columns=columns)
    except InputError as error:
        raise type(error)(f"{source}: {error}") from None
    return "\n".join(extract.text for extract in document.extracts)


def translate_file(
    translator: Translator,
    task: FileTask,
    *,
    options: TranslationOptions = DEFAULTS,
    advance: Callable[[int], None],
) -> Counter[str]:
    """Translate and write a file; it is there whole, or not at all.

    Args:
        translator: as loaded.
        task: from ``open_file``.
        options: how to translate; links are asked for as well.
        advance: told the number of characters done.

    Returns:
        How often each flag was raised.
    """
    translations: list[Translation] = []
    with_links = options.model_copy(
        update={"alignment": "links", "context": context_of(task.document, options)}
    )
    for chunk in chunks(task.document.extracts, CHARACTERS_AT_ONCE):
        texts, keep = to_translate(chunk)
        translations += translator.translate(texts, with_links, keep=keep)
        advance(sum(len(extract.text) for extract in chunk))
    _write(task.target, task.document.restore(translations))
    return Counter(flag.kind for translation in translations for flag in translation.flags)


def context_of(document: ExtractedDocument, options: TranslationOptions) -> str:
    """The context of each text of a document, so that all address people alike."""
    return options.context or address_context(extract.text for extract in document.extracts)


def _write(path: Path, data: bytes) -> None:
    """Write aside and rename."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        give_ordinary_mode(Path(name))
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

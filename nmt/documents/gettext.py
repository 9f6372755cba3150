"""gettext's po and pot, read and written by polib: untranslated and fuzzy entries and their plurals.

Comments, references, flags, contexts, obsolete entries and the header's other fields stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import polib

from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, PlainText, document
from nmt.documents.strings import string_part
from nmt.errors import InputError
from nmt.extraction import Extracted

PLURAL_FORMS = {"fr": "nplurals=2; plural=(n > 1);", "en": "nplurals=2; plural=(n != 1);"}
"""By language; those of English are for others too."""

_N_PLURALS = re.compile(r"nplurals\s*=\s*(\d+)")
_MOST_PLURALS = 6
"""Of any language (Arabic)."""


def read_po(data: bytes, *, target: str = "fr", everything: bool = False) -> ExtractedDocument:
    """A po file or pot template; see ``nmt.documents.read_document``."""
    source = decode(data, only_lf=True)
    catalogue = _parse(source.text)
    present = [index for index, entry in enumerate(catalogue) if not entry.obsolete and entry.msgid]
    entries = [index for index in present if everything or _is_open(catalogue[index])]
    parts: list[Extracted[str]] = []
    for index in entries:
        parts.append(_part(catalogue[index].msgid))
        if catalogue[index].msgid_plural:
            parts.append(_part(catalogue[index].msgid_plural))

    def write(restored: Sequence[str]) -> bytes:
        result = _parse(source.text)
        _update_header(result, target)
        n_plurals = _n_plurals(result)
        texts = iter(restored)
        for index in entries:
            entry = result[index]
            singular = next(texts)
            if entry.msgid_plural:
                plural = next(texts)
                entry.msgstr_plural = {n: plural if n else singular for n in range(n_plurals)}
            else:
                entry.msgstr = singular
            if entry.fuzzy:
                entry.flags.remove("fuzzy")
                entry.previous_msgid = entry.previous_msgid_plural = entry.previous_msgctxt = None
        return source.encode(f"{result}\n")

    return document(parts, write, suffix="po", n_done=len(present) - len(entries))


def _parse(text: str) -> polib.POFile:
    """Raises ``InputError``: it is no po file."""
    try:
        # polib takes a string without any line break for a file name
        return polib.pofile(text + "\n")
    except (OSError, ValueError) as error:
        line = re.search(r"line (\d+)", str(error))
        where = f" at line {line.group(1)}" if line else ""
        raise InputError(f"the document is not a po file{where}; check it with msgfmt") from None


def _is_open(entry: polib.POEntry) -> bool:
    return entry.fuzzy or not entry.translated()


def _part(text: str) -> Extracted[str]:
    return string_part(text) if text.strip() else PlainText(text)


def _update_header(catalogue: polib.POFile, target: str) -> None:
    """Language and plural forms of the target; a template's header becomes that of a translation."""
    header = catalogue.metadata
    header["Language"] = target
    header["Content-Type"] = "text/plain; charset=UTF-8"
    if not _N_PLURALS.search(header.get("Plural-Forms", "")):
        header["Plural-Forms"] = PLURAL_FORMS.get(target, PLURAL_FORMS["en"])
    catalogue.metadata_is_fuzzy = False


def _n_plurals(catalogue: polib.POFile) -> int:
    found = _N_PLURALS.search(catalogue.metadata["Plural-Forms"])
    assert found, "the header has been updated"
    return max(1, min(int(found.group(1)), _MOST_PLURALS))

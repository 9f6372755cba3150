"""Application resource bundles (Flutter's arb): messages, with their ICU branches; ``@@locale`` is set.

Metadata (``@key``, ``@@x``) stays as it is, byte by byte.
"""

from __future__ import annotations

from nmt.documents.extracted import ExtractedDocument
from nmt.documents.json_strings import JsonFile, JsonObject, JsonString, translated_strings
from nmt.documents.languages import Languages
from nmt.errors import InputError


def read_arb(data: bytes, languages: Languages) -> ExtractedDocument:
    """A bundle; see ``nmt.documents.read_document``."""
    file = JsonFile(data)
    if not isinstance(file.value, JsonObject):
        raise InputError("the document is no arb: it is JSON, but no object")
    messages = [
        value for key, value in file.value if isinstance(value, JsonString) and not key.startswith("@")
    ]
    locales = [
        (value.start, value.end, file.written(languages.target))
        for key, value in file.value
        if key == "@@locale" and isinstance(value, JsonString) and value[:2].lower() == languages.source
    ]
    return translated_strings(file, messages, suffix="arb", others=locales)

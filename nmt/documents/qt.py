"""Qt Linguist's ts: messages without a translation get one; all else stays byte for byte.

A new translation is ``unfinished``, for a person to look at. ``%n file(s)`` in a numerus message is read as
"%n file" and "%n files".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lxml import etree

from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.languages import Languages
from nmt.documents.xml import XmlFile, read_xml
from nmt.documents.xml_edits import Edits
from nmt.documents.xml_strings import XmlString, xml_string
from nmt.errors import InputError

_GONE = {"obsolete", "vanished"}
_PLURAL = re.compile(r"(?<=[^\W\d_])\((e?s)\)")


def read_ts(data: bytes, languages: Languages, *, everything: bool = False) -> ExtractedDocument:
    """A translation source file; see ``nmt.documents.read_document``."""
    file = read_xml(data)
    if file.root.tag != "TS":
        name = etree.QName(file.root).localname
        raise InputError(f"the document is no Qt ts: its root element is {name[:40]}, not TS")
    present = list(_messages(file.root))
    messages = [message for message in present if everything or not _translated(message)]
    edits = Edits(file.text, file.root)
    parts = [part for message in messages for part in _parts(edits, message)]

    def write(restored: Sequence[str]) -> bytes:
        return file.encode(_written(file, messages, restored, languages.target))

    named = file.root.get("sourcelanguage", "") or languages.source
    other = (
        f"the document says that its source is in {named[:20]!r}; it was translated as '{languages.source}'"
    )
    return document(
        parts,
        write,
        suffix="ts",
        n_done=len(present) - len(messages),
        notices=() if named.lower()[:2] == languages.source else [other],
    )


def _messages(root: etree._Element) -> Iterator[etree._Element]:
    """Messages that the program still has."""
    for message in root.iter("message"):
        translation = message.find("translation")
        if message.find("source") is not None and (
            translation is None or translation.get("type") not in _GONE
        ):
            yield message


def _source(message: etree._Element) -> etree._Element:
    source = message.find("source")
    assert source is not None, "a message has one"
    return source


def _is_numerus(message: etree._Element) -> bool:
    return message.get("numerus") == "yes"


def _translated(message: etree._Element) -> bool:
    translation = message.find("translation")
    return translation is not None and bool("".join(map(str, translation.itertext())).strip())


def _parts(edits: Edits, message: etree._Element) -> list[XmlString]:
    """The message; of a numerus message its singular and its plural."""
    raw = edits.content(_source(message))
    if not _is_numerus(message):
        return [xml_string(raw, quotes=True)]
    return [xml_string(_PLURAL.sub(ending, raw), quotes=True) for ending in ("", r"\1")]


def _written(
    file: XmlFile, messages: Sequence[etree._Element], restored: Sequence[str], language: str
) -> str:
    edits = Edits(file.text, file.root)
    texts = iter(restored)
    for message in messages:
        forms = [next(texts), next(texts)] if _is_numerus(message) else [next(texts)]
        translation = message.find("translation")
        present = [] if translation is None else translation.findall("numerusform")
        if translation is not None and translation.get("type") and (present or not _is_numerus(message)):
            for number, element in enumerate(present or [translation]):
                edits.set_content(element, forms[min(number, len(forms) - 1)])
            continue
        new = _new(forms, present, is_numerus=_is_numerus(message))
        if translation is None:
            edits.add_after(_source(message), new)
        else:
            edits.replace(translation, new)
    if not file.root.get("language"):
        edits.set_attribute(file.root, "language", language)
    return edits.result()


def _new(forms: Sequence[str], present: Sequence[object], *, is_numerus: bool) -> etree._Element:
    """A translation; the first of its forms is the singular, of which English and French have one each."""
    content = forms[0]
    if is_numerus:
        numbers = range(len(present) or len(forms))
        lines = (f"\n            <numerusform>{forms[min(number, 1)]}</numerusform>" for number in numbers)
        content = "".join([*lines, "\n        "])
    return etree.fromstring(f'<translation type="unfinished">{content}</translation>')

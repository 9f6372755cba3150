"""The table of formats: which reader a file's suffix asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from lxml import etree

from nmt.documents.android import read_android
from nmt.documents.arb import read_arb
from nmt.documents.delimited import read_csv
from nmt.documents.docx import read_docx
from nmt.documents.epub import read_epub
from nmt.documents.extracted import ExtractedDocument
from nmt.documents.gettext import read_po
from nmt.documents.json_strings import read_json
from nmt.documents.languages import Languages
from nmt.documents.limits import DocumentLimits
from nmt.documents.mail import read_eml
from nmt.documents.markdown import read_markdown
from nmt.documents.notebook import read_notebook
from nmt.documents.odt import read_opendocument
from nmt.documents.plain import read_plain
from nmt.documents.pptx import read_pptx
from nmt.documents.properties import read_properties
from nmt.documents.qt import read_ts
from nmt.documents.resx import read_resx
from nmt.documents.substation import read_ass
from nmt.documents.subtitles import read_srt, read_vtt
from nmt.documents.web import read_html
from nmt.documents.xliff import read_xliff
from nmt.documents.xlsx import read_xlsx
from nmt.documents.xml import read_xml
from nmt.documents.yaml_strings import read_yaml
from nmt.errors import InputError


@dataclass(frozen=True)
class _Options:
    """What ``read_document`` was asked; each reader takes what concerns it."""

    languages: Languages
    everything: bool
    columns: str | None
    limits: DocumentLimits


def _read_xml(data: bytes, options: _Options) -> ExtractedDocument:
    """An XML file whose root says what it is."""
    file = read_xml(data)
    root = etree.QName(file.root).localname
    if root == "resources":
        return read_android(file)
    if root == "xliff":
        return read_xliff(data, options.languages, everything=options.everything)
    raise InputError(
        f"the document is XML whose root element is {root[:40]}; read are Android's resources and xliff: for "
        "other XML use nmt translate --markup xml"
    )


_READERS: dict[str, Callable[[bytes, _Options], ExtractedDocument]] = {
    "txt": lambda data, _: read_plain(data),
    "md": lambda data, _: read_markdown(data),
    "html": lambda data, options: read_html(data, options.languages),
    "docx": lambda data, options: read_docx(data, options.limits, options.languages),
    "odt": lambda data, options: read_opendocument(data, "odt", options.limits, options.languages),
    "ods": lambda data, options: read_opendocument(data, "ods", options.limits, options.languages),
    "odp": lambda data, options: read_opendocument(data, "odp", options.limits, options.languages),
    "pptx": lambda data, options: read_pptx(data, options.limits, options.languages),
    "xlsx": lambda data, options: read_xlsx(data, options.limits, options.languages),
    "epub": lambda data, options: read_epub(data, options.limits, options.languages),
    "srt": lambda data, _: read_srt(data),
    "vtt": lambda data, _: read_vtt(data),
    "ass": lambda data, _: read_ass(data),
    "ssa": lambda data, _: read_ass(data, suffix="ssa"),
    "po": lambda data, options: read_po(data, target=options.languages.target, everything=options.everything),
    "xliff": lambda data, options: read_xliff(data, options.languages, everything=options.everything),
    "json": lambda data, _: read_json(data),
    "yaml": lambda data, _: read_yaml(data),
    "xml": _read_xml,
    "properties": lambda data, _: read_properties(data),
    "arb": lambda data, options: read_arb(data, options.languages),
    "resx": lambda data, _: read_resx(data),
    "ts": lambda data, options: read_ts(data, options.languages, everything=options.everything),
    "ipynb": lambda data, _: read_notebook(data),
    "eml": lambda data, options: read_eml(data, options.languages),
    "csv": lambda data, options: read_csv(data, options.columns),
    "tsv": lambda data, options: read_csv(data, options.columns, suffix="tsv"),
}
_ALIASES = {
    "text": "txt",
    "markdown": "md",
    "htm": "html",
    "pot": "po",
    "xlf": "xliff",
    "yml": "yaml",
    "resw": "resx",
}
SUFFIXES: tuple[str, ...] = (*_READERS, *_ALIASES)
"""Suffixes that ``read_document`` knows, without the dot."""
_REFUSED = {
    "pdf": (
        "PDF is not translated: it says which sign stands where on a page, not what is a paragraph, table or "
        "a column, so that a translation would lose its form. Translate the document that it was made from "
        "(docx, odt, html), or make one of it: a word processor opens many PDFs and saves docx, pdftotext "
        "gives txt"
    ),
    "idml": (
        "IDML is not translated: only InDesign sets its stories again. Make an XLIFF of it with a tool that "
        "reads IDML (Okapi Rainbow), translate that and merge it, or export the text from InDesign as html"
    ),
    "tmx": (
        "TMX is a translation memory, not a document, and is used as one: nmt tm import, then nmt translate "
        "--memory"
    ),
}
"""What is known and not read: why, and what to do."""
_NO_LIMITS_GIVEN = DocumentLimits()


def read_document(
    name: str,
    data: bytes,
    *,
    source: str = "en",
    target: str = "fr",
    everything: bool = False,
    columns: str | None = None,
    limits: DocumentLimits = _NO_LIMITS_GIVEN,
) -> ExtractedDocument:
    """Take a document apart.

    Args:
        name: its file name; only the suffix counts.
        data: the file.
        source: ISO 639-1 code of the language that it is in.
        target: of the one that it is to be in, written where the format names it in the place of ``source``.
        everything: translate what has a translation already, too (po, xliff, ts).
        columns: names or numbers of those to translate, with commas between (csv, tsv).
        limits: how large it may be.

    Raises:
        InputError: the suffix is unknown, or the file is not what it says; its text is never in the message.
        TextTooLongError: it is over a limit.
    """
    suffix = PurePath(name).suffix[1:].lower()
    reader = _READERS.get(_ALIASES.get(suffix, suffix))
    if reader is None:
        unknown = f"documents named .{suffix[:20]} cannot be translated; known are {', '.join(SUFFIXES)}"
        raise InputError(refusal(suffix) or unknown)
    limits.check("max_bytes", len(data))
    document = reader(data, _Options(Languages(source, target), everything, columns, limits))
    limits.check("max_characters", sum(len(extract.text) for extract in document.extracts))
    return document


def refusal(suffix: str) -> str | None:
    """Why documents of a known kind are not translated, and what to do; None of other kinds."""
    return _REFUSED.get(suffix)


def target_name(name: str, target: str = "fr", source: str = "en") -> str:
    """The file name of a translation: ``letter.docx`` becomes ``letter.fr.docx``, a ``pot`` a ``po``."""
    path = PurePath(name)
    suffix = ".po" if path.suffix.lower() == ".pot" else path.suffix
    return str(path.with_name(f"{path.stem.removesuffix(f'.{source}')}.{target}{suffix}"))

"""HTML and XML: whole sentences are translated, the tags put back along the word alignment.

    html, xml     text -> tokens with exact spans, by turbohtml and by expat
    extract       tokens -> texts to translate, and all of it back together
    gather        inline markup -> one text and its marks (inline_content: and back)

``nmt.alignment.projection`` says where the marks belong in a translation; ``docs/decisions/010-markup.md``
tells why these parsers and this rule.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal

from nmt.alignment.projection import Mark, project
from nmt.errors import ConfigError
from nmt.extraction import share_out, to_translate
from nmt.markup.cut import cut_lines, cut_messages
from nmt.markup.extract import ExtractedMarkup
from nmt.markup.html import TRANSLATED_ATTRIBUTES, looks_like_html, tokenize_html
from nmt.markup.tokens import Kind, Token
from nmt.markup.xml import tokenize_xml
from nmt.options import DEFAULTS, TranslationOptions

if TYPE_CHECKING:
    from nmt.translator import Translator

__all__ = [
    "TRANSLATED_ATTRIBUTES",
    "ExtractedMarkup",
    "Mark",
    "MarkupKind",
    "extract_html",
    "extract_xml",
    "looks_like_html",
    "project",
    "translate_markup",
]

MarkupKind = Literal["html", "xml"]


def extract_html(
    text: str,
    *,
    ignore_tags: Collection[str] = (),
    splitting_tags: Collection[str] = (),
    non_splitting_tags: Collection[str] = (),
    outline_detection: bool = True,
    attributes: Collection[str] = TRANSLATED_ATTRIBUTES,
    keeps_lines: bool = False,
) -> ExtractedMarkup:
    """Take an HTML page or fragment apart. Nothing in HTML is an error.

    ``translate="no"``, ``class="notranslate"``, ``<code>``, ``<pre>`` and the like are copied;
    ``translate="yes"`` on such an element has it translated all the same.

    Args:
        text: HTML.
        ignore_tags: elements to copy, besides.
        splitting_tags: elements that part sentences, besides HTML's block elements.
        non_splitting_tags: elements that never do.
        outline_detection: False: only ``splitting_tags`` part sentences.
        attributes: names of the attributes to translate.
        keeps_lines: white space means something, as in a string of a program: line ends part sentences.
    """
    tokens = tokenize_html(text, _names(ignore_tags), attributes)
    splitting, non_splitting = _names(splitting_tags), _names(non_splitting_tags)
    for token in tokens:
        if token.name in splitting:
            token.splits = True
        elif token.name in non_splitting or not outline_detection:
            token.splits = token.starts_content = False
    tokens = cut_messages(text, cut_lines(text, tokens) if keeps_lines else tokens)
    return ExtractedMarkup(text, tokens, _escape, keeps_runs=keeps_lines)


def extract_xml(
    text: str,
    *,
    ignore_tags: Collection[str] = (),
    splitting_tags: Collection[str] = (),
    non_splitting_tags: Collection[str] = (),
    outline_detection: bool = True,
    attributes: Collection[str] = (),
) -> ExtractedMarkup:
    """Take an XML document or fragment apart.

    An element is part of a sentence if there is text beside it, else it parts sentences. ``translate="no"``
    and ``its:translate="no"`` are copied. HTML in a CDATA section is taken apart as such.

    Args:
        text: XML; a fragment needs no root.
        ignore_tags: elements to copy.
        splitting_tags: elements that part sentences, whatever is beside them.
        non_splitting_tags: elements that never do.
        outline_detection: False: only ``splitting_tags`` part sentences.
        attributes: names of the attributes to translate.

    Raises:
        InputError: the XML is not well-formed; line and column are named.
    """
    tokens = tokenize_xml(
        text,
        frozenset(ignore_tags),
        frozenset(splitting_tags),
        frozenset(non_splitting_tags),
        frozenset(attributes),
        outline_detection=outline_detection,
    )
    return ExtractedMarkup(text, cut_messages(text, tokens), _escape, inner=_cdata)


def translate_markup(
    translator: Translator, texts: Sequence[str], kind: MarkupKind, options: TranslationOptions = DEFAULTS
) -> list[str]:
    """Translate HTML or XML texts with the options of ``extract_html`` and ``extract_xml`` at their defaults.

    A model without attention has no word links: tags then keep their relative positions.

    Raises:
        InputError: a text is XML that is not well-formed.
    """
    extract = extract_html if kind == "html" else extract_xml
    extracted = [extract(text) for text in texts]
    pieces, keep = to_translate([extract for one in extracted for extract in one.extracts])
    try:
        translations = translator.translate(
            pieces, options.model_copy(update={"alignment": "links"}), keep=keep
        )
    except ConfigError:
        translations = translator.translate(pieces, options, keep=keep)
    return [one.restore(own) for one, own in share_out(extracted, translations)]


def _cdata(text: str) -> ExtractedMarkup:
    """HTML if it looks like it, else plain text, in which nothing is escaped."""
    tokens = tokenize_html(text, frozenset(), TRANSLATED_ATTRIBUTES)
    if all(token.kind is Kind.TEXT for token in tokens):
        return ExtractedMarkup(text, [Token(Kind.TEXT, 0, len(text), text)], str)
    return ExtractedMarkup(text, tokens, _escape)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;")


def _names(names: Collection[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)

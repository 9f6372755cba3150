"""Translations of a document's texts by a rule, as from a model: word i is linked to word i."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nmt.alignment.pharaoh import Link
from nmt.documents import ExtractedDocument, read_document
from nmt.options import TranslationOptions
from nmt.pipeline.result import Translation
from tests.stub_translator import StubTranslator


def translations(document: ExtractedDocument, rule: Callable[[str], str]) -> list[Translation]:
    texts = [extract.text for extract in document.extracts]
    return StubTranslator(rule).translate(texts, TranslationOptions(alignment="links"))


def translated(
    name: str, data: bytes | str, rule: Callable[[str], str] = str.upper, *, everything: bool = False
) -> bytes:
    """``data`` with each of its texts changed by ``rule``."""
    raw = data.encode() if isinstance(data, str) else data
    document = read_document(name, raw, everything=everything)
    return document.restore(translations(document, rule))


def texts(name: str, data: bytes | str) -> list[str]:
    """The texts that would go to the translator."""
    raw = data.encode() if isinstance(data, str) else data
    return [extract.text for extract in read_document(name, raw).extracts]


def same(text: str) -> str:
    return text


def aligned(source: str, target: str, pairs: list[tuple[int, int]]) -> Translation:
    """A translation with links between given words and marks."""
    [translation] = StubTranslator(lambda _: target).translate(
        [source], TranslationOptions(alignment="links")
    )
    return replace(translation, links=tuple(Link(*pair, 1.0) for pair in pairs))

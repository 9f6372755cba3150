"""Tools without the protocol. An assistant reads the descriptions of their fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from nmt.errors import InputError, TextTooLongError
from nmt.mcp.glossaries import Glossaries
from nmt.mcp.pairs import Pairs
from nmt.options import TranslationOptions
from nmt.text.codes import nearest
from nmt.text.glossary import Glossary, Term
from nmt.text.language import candidates, detect

MOST_TEXTS = 100
MOST_CHARACTERS = 50_000
"""Characters of all texts of one call."""
MOST_CANDIDATES = 3

Source = Annotated[
    str | None, Field(description="Code of the language of the text; left out: it is detected.")
]
Target = Annotated[str | None, Field(description="Code of the language to translate to.")]


class TranslatedText(BaseModel):
    """The translation of one text."""

    text: str
    confidence: float | None = Field(description="Probability that it is good; null: not known.")
    flags: list[str] = Field(description="What may be wrong with it, such as number_mismatch.")


class TranslateResult(BaseModel):
    """Translations in the order of the texts."""

    translations: list[TranslatedText]
    source: str
    target: str


class DetectedLanguage(BaseModel):
    """A language and its probability."""

    language: str
    score: float


class DetectResult(BaseModel):
    """The language of a text."""

    language: str | None = Field(description="ISO 639-1; null: the text does not tell.")
    candidates: list[DetectedLanguage]


class WordLink(BaseModel):
    """Two words that translate each other."""

    source: str
    target: str
    source_index: int
    target_index: int
    score: float


class AlignResult(BaseModel):
    """Words of a sentence and of its translation, and the links between them."""

    source_words: list[str]
    target_words: list[str]
    links: list[WordLink]


class TermEntry(BaseModel):
    """A term and its translation."""

    source: str
    target: str


class GlossaryInfo(BaseModel):
    """A glossary; its entries only where it was asked for by name."""

    name: str
    source: str
    target: str
    n_entries: int
    entries: list[TermEntry] = []


class GlossaryList(BaseModel):
    """Glossaries of this server."""

    glossaries: list[GlossaryInfo]


class GlossaryResult(TranslatedText):
    """A translation with terms."""

    applied: list[TermEntry] = Field(description="Terms that the translation holds.")
    source_language: str
    target_language: str


class Tools:
    """The tools; each blocks while it works.

    Args:
        pairs: the models.
        glossaries: that may be applied by name.
    """

    def __init__(self, pairs: Pairs, glossaries: Glossaries) -> None:
        self._pairs, self._glossaries = pairs, glossaries

    def translate(
        self,
        text: Annotated[str | list[str], Field(description="A text of any number of sentences, or several.")],
        source: Source = None,
        target: Target = None,
        formality: Annotated[
            Literal["default", "formal", "informal"], Field(description="How French addresses people.")
        ] = "default",
    ) -> TranslateResult:
        """Translate text with a neural model on this machine; lines, numbers and placeholders are kept."""
        texts = [text] if isinstance(text, str) else text
        _check(texts)
        pair = self._pairs.choose(source, target, texts)
        options = TranslationOptions(source=pair[0], target=pair[1], formality=formality)
        with self._pairs.lock:
            found = self._pairs.translator(pair).translate(texts, options)
        return TranslateResult(
            translations=[
                TranslatedText(
                    text=one.text,
                    confidence=_share(one.confidence),
                    flags=sorted({flag.kind for flag in one.flags}),
                )
                for one in found
            ],
            source=pair[0],
            target=pair[1],
        )

    def detect(self, text: str) -> DetectResult:
        """Tell the language of a text."""
        _check([text])
        found = [
            DetectedLanguage(language=one.language, score=round(one.score, 4))
            for one in candidates(text)[:MOST_CANDIDATES]
            if one.language is not None
        ]
        return DetectResult(language=detect(text).language, candidates=found)

    def align(
        self,
        source_text: Annotated[str, Field(description="A sentence.")],
        target_text: Annotated[str, Field(description="Its translation, by whomever.")],
        source: Source = None,
        target: Target = None,
    ) -> AlignResult:
        """Link the words of a sentence to the words of its translation."""
        _check([source_text, target_text])
        pair = self._pairs.choose(source, target, [source_text])
        with self._pairs.lock:
            [found] = self._pairs.translator(pair).align([(source_text, target_text)], whitespace=False)
        sources = [word.text for word in found.source_tokens]
        targets = [word.text for word in found.target_tokens]
        links = [
            WordLink(
                source=sources[link.source],
                target=targets[link.target],
                source_index=link.source,
                target_index=link.target,
                score=round(link.score, 4),
            )
            for link in found.links
        ]
        return AlignResult(source_words=sources, target_words=targets, links=links)

    def list_glossaries(
        self, name: Annotated[str | None, Field(description="Of one, to see its entries.")] = None
    ) -> GlossaryList:
        """List the glossaries that may be applied, or the entries of one."""
        found = [(name, self._glossaries.get(name))] if name is not None else list(self._glossaries)
        return GlossaryList(
            glossaries=[
                GlossaryInfo(
                    name=called,
                    source=one.pair[0],
                    target=one.pair[1],
                    n_entries=len(one.glossary.terms),
                    entries=_entries(one.glossary.terms) if name is not None else [],
                )
                for called, one in found
            ]
        )

    def apply_glossary(
        self,
        text: Annotated[str, Field(description="A text to translate.")],
        glossary: Annotated[str | None, Field(description="Name of a glossary of this server.")] = None,
        terms: Annotated[
            dict[str, str] | None, Field(description="Terms and the translations that they must have.")
        ] = None,
        source: Source = None,
        target: Target = None,
    ) -> GlossaryResult:
        """Translate a text with the terms of a glossary, or with terms given here."""
        _check([text])
        if (glossary is None) == (terms is None):
            raise InputError("glossary, terms: give one of the two")
        if glossary is not None:
            named = self._glossaries.get(glossary)
            pair, chosen = named.pair, named.glossary
            asked = zip((source, target), pair, strict=True)
            if any(code is not None and nearest(code, [own]) is None for code, own in asked):
                raise InputError(f"glossary: it is for {pair[0]} to {pair[1]}; leave source and target out")
        else:
            pair = self._pairs.choose(source, target, [text])
            chosen = Glossary.of(Term(term, translation) for term, translation in (terms or {}).items())
        options = TranslationOptions(source=pair[0], target=pair[1], glossary=chosen)
        with self._pairs.lock:
            [found] = self._pairs.translator(pair).translate([text], options)
        return GlossaryResult(
            text=found.text,
            confidence=_share(found.confidence),
            flags=sorted({flag.kind for flag in found.flags}),
            applied=_entries([applied.term for applied in found.terms]),
            source_language=pair[0],
            target_language=pair[1],
        )


def _share(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def _entries(terms: Sequence[Term]) -> list[TermEntry]:
    return [TermEntry(source=term.source, target=term.target) for term in terms]


def _check(texts: Sequence[str]) -> None:
    """Raises ``InputError`` without texts, ``TextTooLongError`` for too many, or too much together."""
    if not texts:
        raise InputError("text: the list is empty; send at least one")
    if len(texts) > MOST_TEXTS:
        raise TextTooLongError(f"text: {len(texts)} texts; the limit is {MOST_TEXTS}: call again")
    n_characters = sum(map(len, texts))
    if n_characters > MOST_CHARACTERS:
        raise TextTooLongError(
            f"text: {n_characters} characters; the limit is {MOST_CHARACTERS}: split it at a paragraph"
        )

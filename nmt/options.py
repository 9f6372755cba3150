"""The options of a translation: one object, made where a wish comes in and handed on whole.

``Translator.translate``, the command line, the REST service and its engine's process all take it. A new
option is a field here and the place that reads it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, PlainSerializer, PlainValidator

from nmt.config import AlignmentConfig, GenerationConfig, StrictModel
from nmt.errors import ConfigError, InputError
from nmt.memory.unit import MemoryMatch
from nmt.text.glossary import Glossary, Term

AlignmentKind: TypeAlias = Literal["none", "links", "soft", "heads"]
Formality: TypeAlias = Literal["default", "formal", "informal"]
Quality: TypeAlias = Literal["fast", "balanced", "best"]

MOST_NEXT_WORDS = 20
"""Words that may follow a prefix, at most."""
BEST_BEAM = 12
"""Hypotheses of quality best, unless the search options have more."""


def _glossary(value: Any) -> Glossary:  # noqa: ANN401 - as pydantic hands it over
    """A glossary as it is, or from the entries that ``_entries`` wrote."""
    return value if isinstance(value, Glossary) else Glossary.of(Term(*entry) for entry in value)


def _entries(glossary: Glossary) -> list[tuple[str, str, bool]]:
    return [(term.source, term.target, term.inflect) for term in glossary.terms]


class TranslationOptions(StrictModel):
    """How texts are translated."""

    model_config = ConfigDict(arbitrary_types_allowed=True, ser_json_inf_nan="constants")

    source: str | None = None
    """ISO 639-1 code, checked against the model's; None trusts the caller."""
    target: str | None = None
    """The same."""
    alignment: AlignmentKind = "none"
    """"links" adds words and the links between them, "soft" the attention matrices too, "heads" the attention
    of every head over sub-words as well."""
    generation: GenerationConfig | None = None
    """How to search; None takes the model folder's."""
    confidence: bool = True
    """False spares the pass over the translation that confidence comes from, about a third of the time on a
    CPU; texts and flags are the same."""
    min_confidence: float | None = Field(None, ge=0, le=1)
    """A sentence of less confidence keeps its source text and is flagged."""
    glossary: Annotated[Glossary, PlainValidator(_glossary), PlainSerializer(_entries)] | None = None
    """Terms and their translations."""
    formality: Formality = "default"
    """How French addresses people; a model that cannot choose flags it."""
    context: str = ""
    """What stands around the texts, in their language or in the one to translate to. It is not translated: it
    tells how people are addressed (``nmt.text.address``), and nothing else."""
    french_typography: bool = False
    """« » for quotes, no-break spaces before ; : ! ? and between digits; for models that write French."""
    quality: Quality = "balanced"
    """Cost of a translation: fast is greedy search; balanced what ``generation`` says; best a beam of
    ``BEST_BEAM``, reranked by the model of the other direction (``nmt.pipeline.read_back``)."""
    split_sentences: bool = True
    """False: a line is one sentence, unless it is too long for the model."""
    attention: AlignmentConfig | None = None
    """Which layer and heads the alignment is read from; None takes the model folder's."""
    memory: tuple[MemoryMatch, ...] = ()
    """Matches of a translation memory for the texts, their lines and sentences (``nmt.memory.recall``)."""
    prefixes: tuple[str, ...] = ()
    """How the translation of each sentence of one text begins, "" where the model decides; its last word is a
    whole one (``nmt.pipeline.beginning``)."""
    next_words: int = Field(0, ge=0, le=MOST_NEXT_WORDS)
    """So many words that may follow each of ``prefixes`` are told, in the place of translations."""

    @property
    def languages(self) -> tuple[str, str]:
        """``source`` and ``target``, of options that name both."""
        assert self.source is not None
        assert self.target is not None
        return self.source, self.target

    def check_prefixes(self, n_texts: int) -> None:
        """Raise ``InputError`` where prefixes or next words are asked for and cannot be given."""
        if not self.prefixes and not self.next_words:
            return
        if n_texts != 1:
            raise InputError(f"a prefix is of one text, and these are {n_texts}: send each by itself")
        if self.min_confidence is not None:
            raise InputError(
                "min_confidence puts the source in the place of a translation, which a prefix begins: leave "
                "one of them out"
            )

    def search(self, generation: GenerationConfig) -> GenerationConfig:
        """How to search for this quality, where ``generation`` is what balanced does.

        Raises:
            ConfigError: several translations are asked for, and fast finds one.
        """
        if self.quality == "balanced":
            return generation
        if self.quality == "best":
            return generation.model_copy(update={"beam_size": max(BEST_BEAM, generation.beam_size)})
        if generation.n_best > 1:
            raise ConfigError(
                f"quality fast finds one translation, and n_best {generation.n_best} asks for more: choose "
                f"balanced, or leave n_best out"
            )
        return generation.model_copy(update={"beam_size": 1})


DEFAULTS = TranslationOptions()
"""The best translation, and nothing beside it."""

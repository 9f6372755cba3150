"""Shapes of requests and answers. Spans are half open and count characters (Unicode code points), or tokens.

These are the public contract, so they are written out here and not derived from the library's classes.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from nmt.options import MOST_NEXT_WORDS
from nmt.pipeline.check import CheckKind

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def _refuse_lone_surrogate(text: str) -> str:
    """JSON can spell half of a surrogate pair, which is no character and which no answer could hold."""
    if found := _LONE_SURROGATE.search(text):
        raise PydanticCustomError(
            "lone_surrogate",
            "Holds half of a surrogate pair at character {position}, which is no character; remove it",
            {"position": found.start()},
        )
    return text


Text = Annotated[str, AfterValidator(_refuse_lone_surrogate)]
Language = Annotated[str, Field(min_length=2, max_length=20), AfterValidator(_refuse_lone_surrogate)]


class TermIn(BaseModel):
    """A term and how it is to be translated."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    source: Text = Field(min_length=1, max_length=200)
    target: Text = Field(min_length=1, max_length=200)
    inflect: bool = Field(False, description="The model may inflect the translation.")


class AttentionIn(BaseModel):
    """Which attention of the decoder an alignment is read from."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    layer: int = Field(ge=0, le=999, description="Decoder layer, from 0.")
    heads: list[Annotated[int, Field(ge=0, le=999)]] | None = Field(
        None, min_length=1, max_length=64, description="Heads to average, from 0; all by default."
    )


class TranslateRequest(BaseModel):
    """One text or several, and how to translate them; what is left out follows the model's defaults."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        json_schema_extra={
            "examples": [
                {
                    "text": "Two young men are playing football in the park.",
                    "source": "en",
                    "target": "fr",
                    "alignment": "links",
                },
                {
                    "text": ["Deux jeunes hommes jouent au football.", "Où est la gare ?"],
                    "source": "fr",
                    "target": "en",
                },
            ]
        },
    )

    text: Text | list[Text] = Field(
        description="A text of any number of sentences, or a list of texts. White space is kept."
    )
    source: Language = Field(
        "auto",
        description="ISO 639-1 code of the language of the text; auto does not say. Either way it "
        "is detected, and a flag tells where it is not the one that was translated from.",
    )
    target: Language | None = Field(
        None,
        description="ISO 639-1 code of the language to translate to. Left out: what the server translates "
        "`source` to; with auto, what it translates the language of all texts together to, or else the "
        "target of the first pair of `/languages`.",
    )
    beam_size: int | None = Field(
        None, ge=1, le=64, description="Hypotheses kept at each step; 1 is greedy search."
    )
    n_best: int = Field(1, ge=1, le=64, description="How many alternatives to give; at most beam_size.")
    quality: Literal["fast", "balanced", "best"] = Field(
        "balanced",
        description="What a translation may cost: fast is greedy search; best a wide beam, each translation "
        "of which the model of the other direction reads back. Not together with beam_size.",
    )
    length_penalty: float | None = Field(
        None,
        ge=0,
        le=5,
        allow_inf_nan=False,
        description="Alpha of the GNMT length penalty (Wu et al. 2016); more favours longer translations.",
    )
    markup: Literal["html", "xml"] | None = Field(
        None,
        description="The texts are HTML or XML; tags are kept. The answer has no offsets, so no alignment, "
        "alternatives or stream either.",
    )
    alignment: Literal["none", "links", "soft", "heads"] = Field(
        "none",
        description="links: tokens and the links between them; soft: the attention matrices as well; heads: "
        "the attention of every head of every layer too, for one text of at most `limits.heads_characters`.",
    )
    alignment_format: Literal["links", "azure"] = Field(
        "links",
        description="azure: the links in `proj` as well, as Azure Translator's includeAlignment wrote them.",
    )
    attention: AttentionIn | None = Field(
        None, description="Where the alignment is read from; by default where the model aligns best."
    )
    glossary: list[TermIn] | None = Field(
        None, max_length=1000, description="Terms and the translations that they must have."
    )
    formality: Literal["default", "formal", "informal"] = Field(
        "default", description="How people are addressed; flagged where the model cannot choose."
    )
    context: str = Field(
        "",
        description="What stands around the texts, in their language or that of the translation. It tells "
        "how people are addressed; it is not translated, and not counted.",
    )
    french_typography: bool = Field(
        default=False,
        description="« » for quotes, no-break spaces before ; : ! ? and between digits.",
    )
    split_sentences: bool = Field(
        default=True, description="False: a line is one sentence, unless it is too long for the model."
    )
    min_confidence: float | None = Field(
        None,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="A sentence of less confidence keeps its source text and is flagged.",
    )

    prefix: Text | list[Text] | None = Field(
        None,
        description="How the translation of one text begins, kept as it is; its last word is a whole one. "
        "Of a text of several sentences a list with an entry for each, empty where the model decides. White "
        "space around it does not count. Not together with markup or min_confidence.",
    )
    translation_memory: str | None = Field(
        None,
        min_length=1,
        max_length=36,
        description="Id of a translation memory of this key. What it has as it stands is the translation; "
        "what it has nearly is told in `memory`.",
    )
    threshold: float | None = Field(
        None,
        ge=0.5,
        le=1,
        allow_inf_nan=False,
        description="Of translation_memory: the least score of a fuzzy match; 0.75 by default, 1 for exact "
        "matches alone.",
    )

    @property
    def texts(self) -> list[str]:
        """The texts, one or several."""
        return [self.text] if isinstance(self.text, str) else self.text

    @property
    def prefixes(self) -> tuple[str, ...]:
        """How the translations of the sentences begin; empty: as the model decides."""
        if self.prefix is None:
            return ()
        return (self.prefix,) if isinstance(self.prefix, str) else tuple(self.prefix)


class AlternativesRequest(BaseModel):
    """A sentence, and how its translation begins."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        json_schema_extra={
            "examples": [
                {
                    "text": "A young woman is reading a book.",
                    "source": "en",
                    "target": "fr",
                    "prefix": "Une jeune",
                    "count": 3,
                }
            ]
        },
    )

    text: Text = Field(description="One sentence.")
    source: Language = Field("auto", description="As for `/translate`.")
    target: Language | None = Field(None, description="As for `/translate`.")
    prefix: Text = Field("", description="How the translation begins; its last word is a whole one.")
    count: int = Field(5, ge=1, le=MOST_NEXT_WORDS, description="Words, at most.")
    formality: Literal["default", "formal", "informal"] = Field("default", description="As for `/translate`.")
    french_typography: bool = Field(default=False, description="As for `/translate`.")


class NextWordOut(BaseModel):
    """A word or punctuation mark that may follow."""

    text: str
    prefix: str = Field(description="What the translation then begins with: a `prefix` for `/translate`.")
    probability: float = Field(description="That it is the next word, as the model has it, 0 to 1.")


class AlternativesAnswer(BaseModel):
    """The words that may follow the prefix, likeliest first."""

    alternatives: list[NextWordOut]
    source: str = Field(description="ISO 639-1 code of the language that was translated from.")
    target: str = Field(description="ISO 639-1 code of the language that was translated to.")
    model: str


class CheckRequest(BaseModel):
    """A text and its translation, whoever made it, or a list of each."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        json_schema_extra={
            "examples": [
                {
                    "source": "It costs $1,250.00.",
                    "translation": "Cela coûte 1 250 000 $.",
                    "source_language": "en",
                    "target_language": "fr",
                },
                {
                    "source": ["Save", "Save", "Save", "Cancel"],
                    "translation": ["Enregistrer", "Enregistrer", "Sauver", "Annuler"],
                },
            ]
        },
    )

    source: Text | list[Text] = Field(description="A text, or a list of texts.")
    translation: Text | list[Text] = Field(description="Its translation, or one for each text of the list.")
    source_language: Language = Field("en", description="ISO 639-1 code of the language of `source`.")
    target_language: Language = Field("fr", description="The same of `translation`.")
    glossary: list[TermIn] | None = Field(
        None, max_length=1000, description="Terms and the translations that they must have."
    )

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """Texts and translations."""
        source, translation = (
            [side] if isinstance(side, str) else side for side in (self.source, self.translation)
        )
        return source, translation


class FindingOut(BaseModel):
    """One thing that seems wrong."""

    kind: CheckKind
    detail: str = Field(description="What it is about: the number, the word.")
    text: int | None = Field(None, description="Index of the text, where a list was sent; else left out.")


class CheckAnswer(BaseModel):
    """Findings in a translation; none if nothing seems wrong."""

    findings: list[FindingOut]


class SpanOut(BaseModel):
    """From ``start`` up to but not including ``end``."""

    start: int
    end: int


class TokenOut(SpanOut):
    """A word or punctuation mark, with its characters in the whole text."""

    text: str


class LinkOut(BaseModel):
    """Indices of a source and a target token that translate each other."""

    source: int
    target: int
    score: float = Field(description="Share of the target token's attention, 0 to 1.")


class HeadsOut(BaseModel):
    """The attention of every head over sub-words: [layer][head][row][column], rows summing to 1."""

    source: list[str] = Field(description="Sub-words read, the mark of the end last.")
    read: list[str] = Field(
        description="Sub-words of the translation as read, the mark of the beginning first."
    )
    written: list[str] = Field(description="Sub-words as they are written, the mark of the end last.")
    encoder: list[list[list[list[float]]]] = Field(description="Rows and columns: source.")
    decoder: list[list[list[list[float]]]] = Field(description="Rows: written. Columns: read.")
    cross: list[list[list[list[float]]]] = Field(description="Rows: written. Columns: source.")


class AlternativeOut(BaseModel):
    """One of the n best translations."""

    text: str
    score: float = Field(description="Mean log-probability for each target sub-word.")


class SentenceOut(BaseModel):
    """A sentence, or a part of one that was too long for the model."""

    source: SpanOut = Field(description="Characters in the source text.")
    target: SpanOut = Field(description="Characters in the translation.")
    score: float = Field(description="Mean log-probability for each target sub-word.")
    truncated: bool = Field(description="Stopped at the maximum length: the end may be missing.")
    source_tokens: SpanOut = Field(description="Indices in source_tokens; empty without alignment.")
    target_tokens: SpanOut = Field(description="Indices in target_tokens; empty without alignment.")
    attention: list[list[float]] | None = Field(
        description="With alignment soft or heads: a row for a target token, a column for a source token."
    )
    confidence: float | None = Field(
        None,
        description="Probability that the sentence is well translated; null if the model is not calibrated.",
    )
    heads: HeadsOut | None = Field(
        None,
        description="With alignment heads; null too where a sentence was copied or has too many sub-words.",
    )
    alternatives: list[AlternativeOut] = Field(
        [],
        description="With n_best above 1: the best translations of the sentence in the order of the search, "
        "this one first. Left out of an alignment that is asked for later.",
    )


class AlignmentOut(BaseModel):
    """Words, links and matrices of one translation."""

    id: str = Field(description="Names this answer in /translations/{id}/alignment.")
    sentences: list[SentenceOut]
    source_tokens: list[TokenOut] | None = Field(description="null with alignment none.")
    target_tokens: list[TokenOut] | None = Field(description="null with alignment none.")
    links: list[LinkOut] | None = Field(description="null with alignment none.")


class DetectedSourceOut(BaseModel):
    """The language that the text seems to be in."""

    language: str | None = Field(
        description="ISO 639-1 code; null where the text, of one word say, does not tell."
    )
    score: float = Field(description="Probability of the likeliest language, 0 to 1; told from 0.5.")


class FlagOut(BaseModel):
    """A reason to look twice at a translation."""

    kind: str = Field(
        description="wrong_source_language: the text seems to be in a language that the model does not "
        "read; it was translated all the same. unknown_source_language: source was auto, and the text does "
        "not tell its language."
    )
    sentence: int | None = Field(description="Index in sentences; null for the whole text.")


class TermOut(BaseModel):
    """A term of the glossary that a translation holds."""

    source: SpanOut = Field(description="Characters in the source text.")
    target: SpanOut = Field(description="Characters in the translation.")


class MemoryMatchOut(BaseModel):
    """A unit of a translation memory that was found for a text."""

    unit: int = Field(description="Names the unit in its memory.")
    source: str
    target: str = Field(description="Of an exact match with the numbers and placeholders of the text.")
    score: float = Field(
        description="1: the target is the translation as it stands. Less: the share of words that need no "
        "edit."
    )


class MemoryUseOut(MemoryMatchOut):
    """Match of a translation memory for a sentence, and its use."""

    sentence: int | None = Field(description="Index in sentences; null with markup.")
    use: Literal["translation", "repair", "suggestion"] = Field(
        description="translation: the target is the translation of the sentence. repair: it is, but for the "
        "words in which the texts differ. suggestion: the model has translated without it."
    )


class TranslationOut(AlignmentOut):
    """The translation of one text."""

    text: str
    detected_source: DetectedSourceOut
    flags: list[FlagOut] = Field(description="Empty when nothing was found.")
    confidence: float | None = Field(
        description="Mean of the sentences' confidence; null if the model is not calibrated."
    )
    word_confidence: list[float] | None = Field(
        description="Probability that each of target_tokens is right; null without alignment or calibration."
    )
    terms: list[TermOut]
    memory: list[MemoryUseOut] = Field([], description="What translation_memory had, by sentence.")
    proj: str | None = Field(
        None,
        description="With alignment_format azure: a link as 0:4-0:5, first and last character of a word of "
        "the text and of the translation.",
    )
    score: float = Field(description="Mean log-probability for each target sub-word, over all sentences.")
    alternatives: list[AlternativeOut] = Field(
        description="With n_best above 1: the best translations, best first, this one included."
    )
    truncated: bool = Field(description="Some sentence stopped at the maximum length.")
    repaired: bool = Field(description="Some sentence was too long for the model and translated in parts.")
    n_source_tokens: int = Field(description="Sub-words read.")
    n_target_tokens: int = Field(description="Sub-words written.")


class SentenceEvent(BaseModel):
    """A server-sent event: the next sentence. Tokens are those of the sentence, with its own characters."""

    text_index: int = Field(description="Which of the texts, from 0.")
    sentence_index: int = Field(description="Which of its sentences, from 0; they come in order.")
    n_sentences: int = Field(description="How many sentences the text has.")
    source: SpanOut = Field(description="Characters of the sentence in its text.")
    text: str
    score: float = Field(description="Mean log-probability for each target sub-word.")
    flags: list[FlagOut]
    source_tokens: list[TokenOut] | None = Field(description="null with alignment none.")
    target_tokens: list[TokenOut] | None = Field(description="null with alignment none.")
    links: list[LinkOut] | None = Field(description="null with alignment none.")
    memory: list[MemoryUseOut] = Field([], description="What translation_memory had for the sentence.")


class TranslateAnswer(BaseModel):
    """Translations in the order of the texts."""

    translations: list[TranslationOut]
    source: str = Field(description="ISO 639-1 code of the language that was translated from.")
    target: str = Field(description="ISO 639-1 code of the language that was translated to.")
    model: str


class AttentionShape(BaseModel):
    """Heads that `attention` may name."""

    layers: int
    heads: int


class LanguagePair(BaseModel):
    """A direction of translation, as ISO 639-1 codes, and its model."""

    source: str
    target: str
    model: str
    formality: bool = Field(description="Whether the model can choose how people are addressed.")
    attention: AttentionShape | None = Field(description="null: the model has no layers and heads to name.")


class LanguageName(BaseModel):
    """A language and its English name."""

    code: str
    name: str


class Limits(BaseModel):
    """The most that one request may ask for."""

    texts: int
    text_characters: int
    request_characters: int
    beam_size: int
    heads_characters: int = Field(description="Of the text, with alignment heads.")


class LanguagesAnswer(BaseModel):
    """Languages of this server, and how much at once."""

    pairs: list[LanguagePair] = Field(description="The first is what a request gets that names no language.")
    languages: list[LanguageName]
    limits: Limits
    attention: AttentionShape | None = Field(description="Of the first pair.")
    documents: DocumentRules
    translation_memories: MemoryRules
    model: str = Field(description="Of the first pair.")


class KeyOut(BaseModel):
    """A key, as its holder may see it."""

    id: str
    name: str
    expires_at: datetime | None = Field(description="null: it does not expire.")


class KeyLimitsOut(BaseModel):
    """Limits of a key; null is no limit."""

    requests_per_minute: int | None
    characters_per_minute: int | None
    characters_per_month: int | None


class DayUsageOut(BaseModel):
    """Usage on one day (UTC)."""

    day: date
    characters: int
    requests: int


class UsageAnswer(BaseModel):
    """Usage of this month."""

    key: KeyOut | None = Field(description="null when this server asks for no key.")
    month_start: date = Field(description="First day that counts.")
    month_end: date = Field(description="First day of the next month, on which the quota begins anew.")
    characters: int
    requests: int
    limits: KeyLimitsOut
    days: list[DayUsageOut] = Field(description="Days with usage, in order.")


class DocumentAnswer(BaseModel):
    """A document on its way."""

    id: str = Field(description="Opens this document, and is not told to anybody else: keep it to yourself.")
    name: str = Field(description="As it was sent; once done, as the translation is called.")
    status: Literal["queued", "translating", "done", "error"]
    progress: float | None = Field(
        description="Share that is translated, 0 to 1; null when another replica translates it."
    )
    detail: str | None = Field(description="What went wrong, or why there was nothing to do; else null.")
    characters: int = Field(description="Characters that were translated; 0 until it is done.")
    expires_at: datetime = Field(description="When the file and its translation are deleted.")


class JobOut(BaseModel):
    """A job: many texts or files that are translated in the background."""

    id: str
    kind: Literal["lines", "zip"]
    status: Literal["queued", "running", "done", "error", "cancelled"]
    progress: float = Field(description="Share of the lines or files that is done, 0 to 1.")
    items: int = Field(description="Lines, or files.")
    done: int = Field(description="Those that are translated, or have an error.")
    failed: int = Field(description="Those that have an error.")
    characters: int = Field(
        description="Counted for the key; once the job has ended, those that were translated."
    )
    source: str = Field(description="ISO 639-1 code of the language that is translated from.")
    target: str = Field(description="ISO 639-1 code of the language that is translated to.")
    detail: str | None = Field(description="Why the job failed as a whole; else null.")
    webhook: Literal["none", "waiting", "delivered", "failed"] = Field(
        description="Whether the end was told: none while it has not come, or without a webhook."
    )
    created_at: datetime
    ended_at: datetime | None = Field(description="null: it has not ended.")
    expires_at: datetime | None = Field(description="When it is deleted; null while it has not ended.")


class JobErrorOut(BaseModel):
    """Error in a line or a file."""

    line: int | None = Field(None, description="Number of the line, from 1.")
    file: str | None = Field(None, description="Name of the file in the zip.")
    error: str


class JobAnswer(JobOut):
    """A job and its first errors."""

    errors: list[JobErrorOut] = Field(
        description="The first 100 in the order of the job; the result has all."
    )


class JobsAnswer(BaseModel):
    """Jobs, newest first."""

    jobs: list[JobOut]
    next: str | None = Field(description="Give it as `after` for those that follow; null: there are none.")


class JobResultLine(BaseModel):
    """One line of a job's result."""

    line: int = Field(description="Number of the line that was sent, from 1.")
    id: str | None = Field(None, description="As it was sent; left out where there was none.")
    text: str | None = Field(None, description="The translation; left out where there is an error.")
    flags: list[FlagOut] | None = None
    confidence: float | None = None
    error: str | None = None


class DocumentRules(BaseModel):
    """Rules of `/documents`."""

    suffixes: list[str] = Field(description="Of file names, with the dot.")
    bytes: int = Field(description="Largest file.")


class MemoryRules(BaseModel):
    """Rules of the files that `/translation-memories` are made of."""

    suffixes: list[str] = Field(description="Of file names, with the dot.")
    bytes: int = Field(description="Largest file.")
    count: int = Field(description="Most translation memories of one key.")


class MemoryAnswer(BaseModel):
    """A translation memory without its units."""

    id: str
    name: str
    source: str = Field(description="ISO 639-1 code of the language that it translates from.")
    target: str = Field(description="ISO 639-1 code of the language that it translates to.")
    units: int
    created_at: datetime
    changed_at: datetime = Field(description="When units were added last.")


class MemoryImportAnswer(MemoryAnswer):
    """A translation memory that was made of a file."""

    skipped_languages: int = Field(description="Units of the file without a text in both languages.")
    skipped_unfit: int = Field(
        description="Units with a side that is blank, over 10,000 characters or not fit for XML."
    )


class MemoriesAnswer(BaseModel):
    """The translation memories of a key, oldest first."""

    memories: list[MemoryAnswer]


class UnitIn(BaseModel):
    """A segment and its translation."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    source: Text = Field(min_length=1, max_length=10_000)
    target: Text = Field(min_length=1, max_length=10_000)


class UnitsRequest(BaseModel):
    """Units to add to a translation memory; one that is there already is not added again."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    units: list[UnitIn] = Field(min_length=1, max_length=1000)


class MemorySearchRequest(BaseModel):
    """A text to look up in a translation memory."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    text: Text = Field(min_length=1, max_length=10_000, description="A segment; it is not cut.")
    threshold: float = Field(0.75, ge=0.5, le=1, allow_inf_nan=False, description="The least score.")
    limit: int = Field(5, ge=1, le=100, description="How many units at most.")


class MemorySearchAnswer(BaseModel):
    """The units most like a text, the best first."""

    matches: list[MemoryMatchOut]


class HealthAnswer(BaseModel):
    """The state of the server in one word."""

    status: Literal["ok"]


class Problem(BaseModel):
    """An error, RFC 9457: ``application/problem+json``. It never repeats what was sent."""

    type: str = Field(description="The kind of problem; stable, for programs.")
    title: str
    status: int
    detail: str = Field(description="What is wrong, the limit, and the next step.")
    request_id: str | None = Field(None, description="As in the X-Request-ID header.")
    errors: list[dict[str, str]] | None = Field(
        None, description="For invalid requests: field and message of each problem, at most ten."
    )

"""A sentence's way through the model as a generator: it asks, and whoever runs it answers.

``Translator.flow`` is written once, as if the sentence were alone. ``run_together`` runs many flows and
answers each round of questions in batches (a text offline); ``nmt.batching.continuous`` answers each question
when it can (a service, where sentences come and go). A flow may ask as often as it needs: to search again,
say, when what was found will not do.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

from nmt.alignment.alignment import Alignment, EncodedText
from nmt.alignment.attention_maps import HeadMaps
from nmt.config import AlignmentConfig, GenerationConfig
from nmt.hypothesis import Hypothesis
from nmt.tokenizer import Piece


@dataclass(frozen=True)
class Search:
    """Translate these ids; answered with the hypotheses, best first."""

    source_ids: tuple[int, ...]
    options: GenerationConfig
    required: tuple[int, ...] = ()
    """Placeholder ids that the translation must hold, each once."""
    prefix: tuple[int, ...] = ()
    """Ids that it begins with; they end with a whole word."""
    n_scored: int | None = None
    """So many of the best are to have the log-probability of each token; None: all. There may be more."""
    is_optional: bool = False
    """Whether a searcher that finds nothing finished may say so with no hypotheses."""


@dataclass(frozen=True)
class NextPieces:
    """What may follow each of these beginnings? Answered for each with ``Followers``."""

    source_ids: tuple[int, ...]
    prefixes: tuple[tuple[int, ...], ...]
    """Of one length."""
    count: int
    """How many, at most."""
    required: tuple[int, ...] = ()
    """Placeholder ids that may be among them."""


@dataclass(frozen=True)
class Continuations:
    """Translations that begin with each of these; answered with the best hypothesis of each, None: none."""

    source_ids: tuple[int, ...]
    options: GenerationConfig
    prefixes: tuple[tuple[int, ...], ...]
    """Each ends with a whole word."""
    required: tuple[int, ...] = ()
    """Placeholder ids that each translation must hold, each once."""

    def searches(self) -> list[Search]:
        """One search for each prefix."""
        return [
            Search(self.source_ids, self.options, self.required, prefix, is_optional=True)
            for prefix in self.prefixes
        ]


@dataclass(frozen=True)
class TokenScores:
    """How likely is each token of a translation, and EOS? Answered with their log-probabilities."""

    source_ids: tuple[int, ...]
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class ForcedPass:
    """Align a sentence with its translation; answered with the ``Alignment``."""

    source: EncodedText
    target: EncodedText
    attention: AlignmentConfig | None = None
    """Which layer and heads to read; None: the model folder's."""


@dataclass(frozen=True)
class EveryHead:
    """Read a sentence and its translation with all attention; answered with ``HeadMaps``; None: too large."""

    source: Sequence[Piece]
    target: Sequence[Piece]


@dataclass(frozen=True)
class ReadBack:
    """How likely is the source, given each translation? Answered with scores of the reverse model."""

    source: str
    translations: tuple[str, ...]


Followers: TypeAlias = list[tuple[int, float]]
"""Pieces that may come next, by id, with their log-probabilities; best first."""
Question: TypeAlias = Search | Continuations | TokenScores | NextPieces | ForcedPass | EveryHead | ReadBack
Answer: TypeAlias = (
    list[Hypothesis] | list[Hypothesis | None] | list[Followers] | Alignment | HeadMaps | list[float] | None
)
ResultT = TypeVar("ResultT")
Flow: TypeAlias = Generator[Question, Any, ResultT]


def search_for(
    source_ids: Sequence[int],
    options: GenerationConfig,
    required: Sequence[int] = (),
    prefix: Sequence[int] = (),
    *,
    n_scored: int | None = None,
) -> Flow[list[Hypothesis]]:
    """Ask for a search; ``yield from`` it gives the hypotheses, best first."""
    asked = Search(tuple(source_ids), options, tuple(required), tuple(prefix), n_scored)
    return cast(list[Hypothesis], (yield asked))


def pieces_after(asked: NextPieces) -> Flow[list[Followers]]:
    """Ask what may follow; ``yield from`` it gives that for each beginning."""
    return cast(list[Followers], (yield asked))


def continue_from(asked: Continuations) -> Flow[list[Hypothesis | None]]:
    """Ask for translations that begin so; ``yield from`` it gives one for each prefix."""
    return cast(list[Hypothesis | None], (yield asked))


def score_tokens(source_ids: Sequence[int], tokens: Sequence[int]) -> Flow[list[float]]:
    """Ask how likely a translation is; ``yield from`` it gives that of each token and of EOS."""
    return cast(list[float], (yield TokenScores(tuple(source_ids), tuple(tokens))))


def align_with(
    source: EncodedText, target: EncodedText, attention: AlignmentConfig | None = None
) -> Flow[Alignment]:
    """Ask for links between two texts, each with its pieces; ``yield from`` it gives the alignment."""
    return cast(Alignment, (yield ForcedPass(source, target, attention)))


def look_at(source: Sequence[Piece], target: Sequence[Piece]) -> Flow[HeadMaps | None]:
    """Ask for the attention of every head; ``yield from`` it gives the maps."""
    return cast(HeadMaps | None, (yield EveryHead(source, target)))


def read_back(source: str, translations: Sequence[str]) -> Flow[list[float]]:
    """Ask how likely the source is; ``yield from`` it gives a score for each translation, more is better."""
    return cast(list[float], (yield ReadBack(source, tuple(translations))))


def run_together(
    flows: Sequence[Flow[ResultT]], answer: Callable[[list[Question]], Sequence[Answer]]
) -> list[ResultT]:
    """Run ``flows`` to their ends, all questions of a round answered at once; their results, in order.

    Equal searches have equal answers, so each is made once, however often a text repeats a sentence.
    """
    results: dict[int, ResultT] = {}
    waiting: dict[int, Question] = {}

    def resume(index: int, reply: Answer | None) -> None:
        try:
            waiting[index] = flows[index].send(reply)
        except StopIteration as end:
            results[index] = end.value

    for index in range(len(flows)):
        resume(index, None)
    while waiting:
        asked, waiting = waiting, {}
        keys = {
            index: question if isinstance(question, Search) else index for index, question in asked.items()
        }
        distinct = {key: asked[index] for index, key in keys.items()}
        replies = dict(zip(distinct, answer(list(distinct.values())), strict=True))
        for index, key in keys.items():
            resume(index, replies[key])
    return [results[index] for index in range(len(flows))]

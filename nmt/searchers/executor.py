"""Answers to ``nmt.pipeline.requests``: searches, links, attention maps.

Torch is imported and the weights are read when a question first needs them, or by ``warm_up``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from nmt.alignment.alignment import ALIGN_TOKENS, Alignment
from nmt.alignment.attention_maps import HeadMaps
from nmt.hypothesis import Hypothesis
from nmt.model_folder.opened import AnyModel
from nmt.pipeline.requests import (
    Answer,
    Continuations,
    EveryHead,
    Followers,
    ForcedPass,
    NextPieces,
    Question,
    ReadBack,
    Search,
    TokenScores,
)
from nmt.searchers import RunningSearch, Searcher
from nmt.searchers.ctranslate2 import CTranslate2Searcher
from nmt.searchers.waiting import WaitingSearch
from nmt.text.placeholders import PLACEHOLDERS
from nmt.text.word_pieces import WordPieces

if TYPE_CHECKING:
    from nmt.alignment.aligner import Aligner
    from nmt.models.build import Model
    from nmt.models.interface import MergingDecoder
    from nmt.searchers.backward import BackwardScorer
    from nmt.searchers.step import StepSearcher

QuestionT = TypeVar("QuestionT", bound=Question)


class Answerer:
    """Answers questions, many at once.

    Args:
        loaded: the model.
        aligner: gives what links.
        device: where both are.
        ctranslate2: the model as a ``ctranslate2.Translator``, which then searches what it can; None: the
            model itself does.
        n_workers: batches that ``ctranslate2`` runs side by side.
        backward: gives what reads translations back.
    """

    def __init__(
        self,
        loaded: AnyModel,
        aligner: Callable[[], Aligner],
        device: str,
        ctranslate2: Any = None,  # noqa: ANN401 - it has no types
        n_workers: int = 1,
        backward: Callable[[], BackwardScorer] | None = None,
    ) -> None:
        self._loaded = loaded
        self._special_ids = loaded.config.special_ids
        self._aligner = aligner
        self._backward = backward
        ids = (loaded.tokenizer.piece_id(piece) for piece in PLACEHOLDERS)
        self._placeholders = tuple(id_ for id_ in ids if id_ is not None)
        self._device = device
        self._word_pieces = WordPieces(loaded.tokenizer.pieces, loaded.config.target_language)
        self.decoder: MergingDecoder[Any] | None = None if ctranslate2 is not None else loaded.model
        """Decoder of a running batch of engine eager."""
        reference = _Reference(loaded, self._placeholders, device, self._word_pieces)
        self._reference = reference
        self.searcher: Searcher = (
            reference.searcher
            if ctranslate2 is None
            else CTranslate2Searcher(ctranslate2, loaded, reference, n_workers, self._word_pieces)
        )

    @property
    def model(self) -> Model:
        """The model itself."""
        return self._loaded.model

    def warm_up(self) -> None:
        """Import and read all that any question needs."""
        import nmt.explore.maps  # noqa: F401, PLC0415

        self._aligner()
        _ = self._reference.searcher

    def answer(self, questions: Sequence[Question], *, max_batch_tokens: int) -> list[Answer]:
        """Answers in the order of the questions; arguments and errors as ``Translator.answer``."""
        answers: dict[int, Answer] = {
            **self._search(_of_kind(Search, questions), max_batch_tokens),
            **self._align(_of_kind(ForcedPass, questions), max_batch_tokens),
        }
        answers |= self._continue(_of_kind(Continuations, questions), max_batch_tokens)
        answers |= self._token_scores(_of_kind(TokenScores, questions))
        answers |= self._look(_of_kind(EveryHead, questions))
        answers |= self._read_back(_of_kind(ReadBack, questions))
        answers |= self._next_pieces(_of_kind(NextPieces, questions))
        return [answers[place] for place in range(len(questions))]

    def continuous_search(
        self, on_failure: Callable[[Exception], None] | None, is_hurried: Callable[[], bool]
    ) -> RunningSearch:
        """A search with this model that sentences join and leave, see ``Translator.continuous_search``."""
        if self.decoder is None:
            return WaitingSearch(self.searcher, on_failure, is_hurried)
        from nmt.search.continuous import ContinuousSearch  # noqa: PLC0415 - imports torch

        return ContinuousSearch(
            self.decoder,
            self._special_ids,
            self._device,
            self._placeholders,
            on_failure,
            self._word_pieces.never_after,
        )

    def _search(self, searches: Mapping[int, Search], max_batch_tokens: int) -> dict[int, list[Hypothesis]]:
        found = self.searcher.search(list(searches.values()), max_batch_tokens=max_batch_tokens)
        return dict(zip(searches, found, strict=True))

    def _continue(
        self, asked: Mapping[int, Continuations], max_batch_tokens: int
    ) -> dict[int, list[Hypothesis | None]]:
        searches = [search for one in asked.values() for search in one.searches()]
        found = iter(self.searcher.search(searches, max_batch_tokens=max_batch_tokens) if searches else ())
        return {place: [next(iter(next(found)), None) for _ in one.prefixes] for place, one in asked.items()}

    def _token_scores(self, asked: Mapping[int, TokenScores]) -> dict[int, list[float]]:
        pairs = [(one.source_ids, one.tokens) for one in asked.values()]
        return dict(zip(asked, self.searcher.token_log_probs(pairs), strict=True)) if pairs else {}

    def _next_pieces(self, asked: Mapping[int, NextPieces]) -> dict[int, list[Followers]]:
        return {place: self.searcher.next_pieces(one) for place, one in asked.items()}

    def _align(self, passes: Mapping[int, ForcedPass], max_batch_tokens: int) -> dict[int, Alignment]:
        """In batches that read the same attention."""
        found: dict[int, Alignment] = {}
        for attention in {asked.attention: None for asked in passes.values()}:  # in order of appearance
            own = {place: asked for place, asked in passes.items() if asked.attention == attention}
            aligner = self._aligner() if attention is None else self._aligner().reading(attention)
            alignments = aligner.align_encoded(
                [(asked.source, asked.target) for asked in own.values()],
                max_batch_tokens=min(max_batch_tokens, ALIGN_TOKENS),
            )
            found.update(zip(own, alignments, strict=True))
        return found

    def _look(self, asked: Mapping[int, EveryHead]) -> dict[int, HeadMaps | None]:
        """One pair at a time."""
        if not asked:
            return {}
        from nmt.explore.maps import head_maps  # noqa: PLC0415 - imports torch

        return {
            place: head_maps(self.model, one.source, one.target, self._special_ids, self._device)
            for place, one in asked.items()
        }

    def _read_back(self, asked: Mapping[int, ReadBack]) -> dict[int, list[float]]:
        if not asked:
            return {}
        assert self._backward is not None, "a plan is refused without"
        return dict(zip(asked, self._backward().scores(list(asked.values())), strict=True))


class _Reference:
    """A ``StepSearcher`` of a model whose weights are read when the first search comes."""

    def __init__(
        self, loaded: AnyModel, placeholders: tuple[int, ...], device: str, word_pieces: WordPieces
    ) -> None:
        self._loaded, self._placeholders, self._device = loaded, placeholders, device
        self._word_pieces = word_pieces

    @cached_property
    def searcher(self) -> StepSearcher:
        """Made once."""
        from nmt.searchers.step import StepSearcher  # noqa: PLC0415 - imports torch

        special = self._loaded.config.special_ids
        return StepSearcher(self._loaded.model, special, self._placeholders, self._device, self._word_pieces)

    def search(self, asked: Sequence[Search], *, max_batch_tokens: int) -> list[list[Hypothesis]]:
        """As ``Searcher.search``."""
        return self.searcher.search(asked, max_batch_tokens=max_batch_tokens)

    def token_log_probs(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[list[float]]:
        """As ``Searcher.token_log_probs``."""
        return self.searcher.token_log_probs(pairs)

    def next_pieces(self, asked: NextPieces) -> list[Followers]:
        """As ``Searcher.next_pieces``."""
        return self.searcher.next_pieces(asked)


def _of_kind(kind: type[QuestionT], questions: Sequence[Question]) -> dict[int, QuestionT]:
    """The questions of a kind, by their places."""
    return {place: asked for place, asked in enumerate(questions) if isinstance(asked, kind)}

"""What the model answers to ``nmt.pipeline.requests``: searches, links, attention maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import torch

from nmt.alignment.aligner import ALIGN_TOKENS, Aligner, Alignment
from nmt.explore.maps import head_maps
from nmt.model_folder.checkpoint import LoadedModel
from nmt.models.interface import MergingDecoder
from nmt.pipeline.requests import Answer, EveryHead, ForcedPass, Question, Search
from nmt.search import Hypothesis
from nmt.search.continuous import ContinuousSearch
from nmt.searchers import RunningSearch, Searcher
from nmt.searchers.ctranslate2 import CTranslate2Searcher
from nmt.searchers.step import StepSearcher
from nmt.searchers.waiting import WaitingSearch
from nmt.text.placeholders import PLACEHOLDERS

QuestionT = TypeVar("QuestionT", bound=Question)


class Answerer:
    """Answers questions, many at once.

    Args:
        loaded: the model.
        aligner: what links.
        device: where both are.
        ctranslate2: the model as a ``ctranslate2.Translator``, which then searches what it can; None: the
            model itself does.
        n_workers: batches that ``ctranslate2`` runs side by side.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        aligner: Aligner,
        device: torch.device,
        ctranslate2: Any = None,  # noqa: ANN401 - it has no types
        n_workers: int = 1,
    ) -> None:
        self.model = loaded.model
        self._special_ids = loaded.config.special_ids
        self._aligner = aligner
        ids = (loaded.tokenizer.piece_id(piece) for piece in PLACEHOLDERS)
        self._placeholders = tuple(id_ for id_ in ids if id_ is not None)
        self._device = device
        self.decoder: MergingDecoder[Any] = loaded.model
        """What a running batch of engine eager steps through."""
        self.searcher: Searcher = StepSearcher(self.model, self._special_ids, self._placeholders, device)
        if ctranslate2 is not None:
            self.searcher = CTranslate2Searcher(ctranslate2, loaded, self.searcher, n_workers)
        self._is_stepped = ctranslate2 is None

    def answer(self, questions: Sequence[Question], *, max_batch_tokens: int) -> list[Answer]:
        """Answers in the order of the questions; arguments and errors as ``Translator.answer``."""
        answers: dict[int, Answer] = {
            **self._search(_of_kind(Search, questions), max_batch_tokens),
            **self._align(_of_kind(ForcedPass, questions), max_batch_tokens),
        }
        for place, asked in _of_kind(EveryHead, questions).items():
            answers[place] = head_maps(
                self.model, asked.source, asked.target, self._special_ids, self._device
            )
        return [answers[place] for place in range(len(questions))]

    def continuous_search(
        self, on_failure: Callable[[Exception], None] | None, is_hurried: Callable[[], bool]
    ) -> RunningSearch:
        """A search with this model that sentences join and leave, see ``Translator.continuous_search``."""
        if not self._is_stepped:
            return WaitingSearch(self.searcher, on_failure, is_hurried)
        return ContinuousSearch(self.decoder, self._special_ids, self._device, self._placeholders, on_failure)

    def _search(self, searches: Mapping[int, Search], max_batch_tokens: int) -> dict[int, list[Hypothesis]]:
        found = self.searcher.search(list(searches.values()), max_batch_tokens=max_batch_tokens)
        return dict(zip(searches, found, strict=True))

    def _align(self, passes: Mapping[int, ForcedPass], max_batch_tokens: int) -> dict[int, Alignment]:
        """In batches that read the same attention."""
        found: dict[int, Alignment] = {}
        for attention in {asked.attention: None for asked in passes.values()}:  # in order of appearance
            own = {place: asked for place, asked in passes.items() if asked.attention == attention}
            aligner = self._aligner if attention is None else self._aligner.reading(attention)
            alignments = aligner.align_encoded(
                [(asked.source, asked.target) for asked in own.values()],
                max_batch_tokens=min(max_batch_tokens, ALIGN_TOKENS),
            )
            found.update(zip(own, alignments, strict=True))
        return found


def _of_kind(kind: type[QuestionT], questions: Sequence[Question]) -> dict[int, QuestionT]:
    """The questions of a kind, by their places."""
    return {place: asked for place, asked in enumerate(questions) if isinstance(asked, kind)}

"""Continuous batching for beam search: sentences join and leave a running batch (Yu et al. 2022).

Sentences with one beam size share a batch of the decoder, whenever they joined. Those that start together
have sources of about one length (a long one would have short ones padded in the encoder); whether the
decoder's state keeps them apart from others is its own business. Those with equal options go through one
``BeamSearch``, however much each has read, so a step is ranked at once, and a result is by construction that
of ``nmt.search.search``: which sentences are there besides changes no score but by rounding.

One sentence cannot harm another. NaN in its rows is its own error; when the decoder fails as a whole
(memory, say) the sentences it had are searched again, one at a time, and the error stays with who causes it.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, V vocabulary.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic

import torch
from torch import Tensor
from torch.nn import functional

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.errors import NumericalError
from nmt.hypothesis import Outcome, Sentence
from nmt.models.interface import MergingDecoder, StateT, Step
from nmt.search import search
from nmt.search.beam import BeamSearch
from nmt.search.prefixes import Prefixes
from nmt.search.required import Required


class ContinuousSearch(Generic[StateT]):
    """The running batch.

    Args:
        decoder: whatever predicts the next token and can merge states.
        special: ids of PAD, BOS and EOS.
        device: where the decoder is.
        placeholders: all placeholder ids of the vocabulary, see ``Required``.
        on_failure: told when the decoder fails as a whole.
        never_after: the tokens that may not follow a prefix at once.
    """

    def __init__(
        self,
        decoder: MergingDecoder[StateT],
        special: SpecialIds,
        device: torch.device | str = "cpu",
        placeholders: tuple[int, ...] = (),
        on_failure: Callable[[Exception], None] | None = None,
        never_after: Callable[[Sequence[int]], Sequence[int]] = lambda _prefix: (),
    ) -> None:
        self._never_after = never_after
        self._decoder = decoder
        self._special = special
        self._device = device
        self._placeholders = placeholders
        self._batches: dict[int, _BeamSizeGroup[StateT]] = {}
        self._alone: deque[Sentence] = deque()
        self._on_failure = on_failure

    @property
    def running(self) -> list[Sentence]:
        """All sentences that have joined and not ended."""
        together = [entry for batch in self._batches.values() for entry in batch.sentences]
        return [*together, *self._alone]

    @torch.inference_mode()
    def add(self, sentences: Sequence[Sentence]) -> None:
        """Let sentences join; they take their first step with everyone's next.

        Those with equal options that join at once are cheaper than the same one by one. Sampling cannot be
        joined: such sentences are searched one at a time.
        """
        groups: dict[tuple[str, int], list[Sentence]] = {}
        for sentence in sentences:
            if sentence.options.sampling is not None:
                self._alone.append(sentence)
            else:
                alike = (sentence.options.model_dump_json(), length_class(len(sentence.source_ids)))
                groups.setdefault(alike, []).append(sentence)
        for group in groups.values():
            beam_size = group[0].options.beam_size
            running = self._batches.setdefault(beam_size, _BeamSizeGroup())
            source, prefixes, required = self._batch(group)
            try:
                state = self._decoder.start(source, beam_size)
                searched = BeamSearch.start(source, group[0].options, self._special, prefixes, required)
                cohort = _Cohort(tuple(group), searched, source.source_BS.size(1))
                if running.state is not None:
                    state = self._decoder.merge(running.state, state)
            except Exception as error:
                self._isolate(group, error)
            else:
                running.state = state
                running.join(cohort)

    @torch.inference_mode()
    def step(self) -> list[Outcome]:
        """One token for every running sentence, and one sentence of those that run alone; who has ended."""
        outcomes: list[Outcome] = []
        for running in self._batches.values():
            if running.cohorts:
                outcomes += self._step_together(running)
        if self._alone:
            outcomes.append(self._search_alone(self._alone.popleft()))
        return outcomes

    def cancel(self, keys: Collection[Hashable]) -> None:
        """Take sentences out; the rows they have in the batch leave it with the next step."""
        self._alone = deque(sentence for sentence in self._alone if sentence.key not in keys)
        for running in self._batches.values():
            for cohort in running.cohorts:
                cohort.cancel(keys)

    def _batch(self, group: Sequence[Sentence]) -> tuple[Batch, Prefixes | None, Required]:
        source = Batch.from_ids([sentence.source_ids for sentence in group], special=self._special)
        required = Required(self._placeholders, tuple(sentence.required for sentence in group))
        prefixes = Prefixes(
            tuple(sentence.prefix for sentence in group),
            tuple(self._never_after(sentence.prefix) for sentence in group),
        )
        is_free = not any(prefixes.sentences)
        return source.to(self._device), None if is_free else prefixes, required

    def _step_together(self, running: _BeamSizeGroup[StateT]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        try:
            tokens_N = torch.cat([cohort.searched.last_tokens_N for cohort in running.cohorts])
            assert running.state is not None
            step, state = self._decoder.step(running.state, tokens_N.to(self._device))
            rows: list[Tensor] = []
            first = 0
            for cohort in running.cohorts:
                end = first + cohort.searched.last_tokens_N.numel()
                rows.append(first + cohort.advance(_rows(step, first, end, cohort), outcomes))
                first = end
            running.cohorts = [cohort for cohort in running.cohorts if cohort.searched.beams.sentences]
            rows_N = torch.cat(rows)
            running.state = self._following(state, rows_N, first) if running.cohorts else None
        except Exception as error:
            self._isolate(running.sentences, error)
            running.cohorts, running.state = [], None
        return outcomes

    def _following(self, state: StateT, rows_N: Tensor, n_rows: int) -> StateT:
        """The state for the next step; nothing is moved where every row goes on in its place."""
        if torch.equal(rows_N, torch.arange(n_rows)):
            return state
        return self._decoder.reorder(state, rows_N.to(self._device))

    def _isolate(self, sentences: Sequence[Sentence], error: Exception) -> None:
        """Search them again, each alone: the error comes again for whom it belongs to."""
        if self._on_failure is not None:
            self._on_failure(error)
        self._alone += sentences

    def _search_alone(self, sentence: Sentence) -> Outcome:
        try:
            source, prefixes, required = self._batch([sentence])
            (hypotheses,) = search(self._decoder, source, sentence.options, self._special, prefixes, required)
        except Exception as error:
            return Outcome(sentence.key, [], error)
        return Outcome(sentence.key, hypotheses)


def length_class(n_tokens: int) -> int:
    """Sources of so many tokens start together: a power of 2, at least 64."""
    return 1 << max(n_tokens.bit_length(), 6)


@dataclass
class _Cohort:
    """Sentences that are searched as one: their places in ``searched`` are those in ``sentences``."""

    sentences: tuple[Sentence, ...]
    searched: BeamSearch
    source_width: int
    left: set[int] = field(default_factory=set)
    """Places of those that are no longer wanted."""

    def cancel(self, keys: Collection[Hashable]) -> None:
        self.left |= {place for place in self.searched.beams.sentences if self.sentences[place].key in keys}

    def joined(self, other: _Cohort) -> _Cohort:
        """One of both, whose searches fit."""
        mine, others = self.searched.beams.sentences, other.searched.beams.sentences
        leaving = [place in self.left for place in mine] + [place in other.left for place in others]
        return _Cohort(
            (*(self.sentences[place] for place in mine), *(other.sentences[place] for place in others)),
            self.searched.joined(other.searched),
            max(self.source_width, other.source_width),
            {place for place, leaves in enumerate(leaving) if leaves},
        )

    def advance(self, step: Step, outcomes: list[Outcome]) -> Tensor:
        """``BeamSearch.advance`` for those that are wanted and sound; which rows the next ones extend."""
        kept_N: Tensor | None = None
        if self.left:
            kept_N = self._leave(self.left)
            step = _selected(step, kept_N)
        wanted = self.searched.beams.sentences
        if not wanted:
            return torch.empty(0, dtype=torch.long)
        try:
            rows_N = self.searched.advance(step)
        except NumericalError:
            broken = broken_sentences(step, wanted)
            if not broken:
                raise
            outcomes += [Outcome(self.sentences[place].key, [], _not_a_number()) for place in broken]
            sound_N = self._leave(broken)
            rows_N = self.advance(_selected(step, sound_N), outcomes)
            rows_N = sound_N[rows_N]
        else:
            outcomes += [
                Outcome(self.sentences[place].key, self.searched.n_best[place].hypotheses)
                for place in set(wanted).difference(self.searched.beams.sentences)
            ]
        return rows_N if kept_N is None else kept_N[rows_N]

    def _leave(self, places: Collection[int]) -> Tensor:
        rows_N = self.searched.leave(places)
        self.left = set()
        return rows_N


@dataclass
class _BeamSizeGroup(Generic[StateT]):
    """The rows of one beam size: the decoder's state, and the cohorts in the order of its rows."""

    state: StateT | None = None
    cohorts: list[_Cohort] = field(default_factory=list)

    def join(self, cohort: _Cohort) -> None:
        """Add to the cohorts one whose rows come last."""
        if self.cohorts and self.cohorts[-1].searched.fits(cohort.searched):
            self.cohorts[-1] = self.cohorts[-1].joined(cohort)
        else:
            self.cohorts.append(cohort)

    @property
    def sentences(self) -> list[Sentence]:
        return [
            cohort.sentences[place]
            for cohort in self.cohorts
            for place in cohort.searched.beams.sentences
            if place not in cohort.left
        ]


def _rows(step: Step, first: int, end: int, cohort: _Cohort) -> Step:
    """A cohort's part of a step, with attention if it keeps coverage.

    Its sources may be narrower than the batch, or wider than what is left.
    """
    attention_NS = None if cohort.searched.beams.coverage_NS is None else step.attention_NS
    if attention_NS is not None:
        attention_NS = attention_NS[first:end, : cohort.source_width]
        attention_NS = functional.pad(attention_NS, (0, cohort.source_width - attention_NS.size(1)))
    return Step(step.log_probs_NV[first:end], attention_NS)


def _selected(step: Step, rows_N: Tensor) -> Step:
    """Outputs of some rows."""
    rows_N = rows_N.to(step.log_probs_NV.device)
    return Step(step.log_probs_NV[rows_N], None if step.attention_NS is None else step.attention_NS[rows_N])


def broken_sentences(step: Step, sentences: Sequence[int]) -> set[int]:
    """Sentences, K rows each, with NaN or +inf in any of their rows."""
    sound_NV = step.log_probs_NV < torch.inf
    sound_N = sound_NV.all(dim=1)
    if step.attention_NS is not None:
        sound_N &= step.attention_NS.isfinite().all(dim=1)
    sound_B = sound_N.view(len(sentences), -1).all(dim=1)
    return {sentences[index] for index in (~sound_B).nonzero().flatten().tolist()}


def _not_a_number() -> NumericalError:
    return NumericalError(
        "NaN or +infinity in the decoder's output for this sentence: verify the model folder, or decode in "
        "float32"
    )

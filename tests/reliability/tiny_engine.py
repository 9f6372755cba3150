"""The engine TINY, ``python -m tests.reliability.tiny_engine FD``: a real model and its faults.

A sentence with a phrase of ``FAULTS`` has that fault in its decoder step, whoever shares the step. Time is
told in steps, as ``stub_engine`` does: a translation's score is minus a thousandth of the steps that its
request took.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.batching.continuous import ContinuousTranslator
from nmt.batching.events import Event, Finished
from nmt.models.interface import Step
from nmt.translator import Translator
from service.work.engine.child import OnFailure, run
from service.work.engine.messages import Ready, Start

FAULTS = {"next door": "exception", "kitchen table": "nan", "already finished": "memory"}


class _State(NamedTuple):
    state: Any
    faults_N: list[str | None]


class FaultyDecoder:
    """A decoder with the faults of its sentences."""

    def __init__(self, decoder: Any, phrases: dict[tuple[int, ...], str]) -> None:
        self._decoder = decoder
        self._phrases = phrases

    def __getattr__(self, name: str) -> Any:
        return getattr(self._decoder, name)

    def _fault(self, ids: Sequence[int]) -> str | None:
        spans = ((ids[i : i + len(phrase)], phrase) for phrase in self._phrases for i in range(len(ids)))
        return next((self._phrases[phrase] for span, phrase in spans if tuple(span) == phrase), None)

    def start(self, source: Batch, beam_size: int) -> _State:
        found = [self._fault(ids) for ids in source.source_BS.tolist() for _ in range(beam_size)]
        return _State(self._decoder.start(source, beam_size), found)

    def step(self, state: _State, tokens_N: Tensor) -> tuple[Step, _State]:
        if "exception" in state.faults_N:
            raise RuntimeError("CANARY")
        if "memory" in state.faults_N:
            raise torch.OutOfMemoryError("CANARY")
        step, following = self._decoder.step(state.state, tokens_N)
        broken_N = torch.tensor([fault == "nan" for fault in state.faults_N])
        log_probs_NV = step.log_probs_NV.masked_fill(broken_N[:, None], torch.nan)
        return Step(log_probs_NV, step.attention_NS), _State(following, state.faults_N)

    def reorder(self, state: _State, rows_N: Tensor) -> _State:
        moved = [state.faults_N[row] for row in rows_N.tolist()]
        return _State(self._decoder.reorder(state.state, rows_N), moved)

    def merge(self, first: _State, second: _State) -> _State:
        return _State(self._decoder.merge(first.state, second.state), first.faults_N + second.faults_N)


class CountingTranslator(ContinuousTranslator):
    """Tells in a translation's score how many steps its request took."""

    _n_steps = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._arrived: dict[Any, int] = {}

    def add(self, request: Any, texts: Sequence[str], *arguments: Any, **options: Any) -> None:
        self._arrived[request] = self._n_steps
        super().add(request, texts, *arguments, **options)

    def step(self) -> list[Event]:
        self._n_steps += 1
        return [self._timed(event) if isinstance(event, Finished) else event for event in super().step()]

    def _timed(self, event: Finished) -> Finished:
        score = -(self._n_steps - self._arrived.pop(event.request)) / 1000
        return replace(event, translations=[replace(found, score=score) for found in event.translations])


def load(start: Start, on_failure: OnFailure) -> list[tuple[ContinuousTranslator, Ready]]:
    translator = Translator.load(start.model, device="cpu", engine="eager")
    phrases = {tuple(translator.tokenizer.encode(phrase)): fault for phrase, fault in FAULTS.items()}
    translator.answerer.decoder = FaultyDecoder(translator.answerer.decoder, phrases)
    worker = CountingTranslator(
        translator, max_batch_tokens=start.batch_max_tokens, on_failure=partial(on_failure, 0)
    )
    ready = Ready(
        config=translator.config, generation=translator.generation, has_formality=translator.has_formality
    )
    return [(worker, ready)]


if __name__ == "__main__":
    run(socket.socket(fileno=int(sys.argv[1])), load)

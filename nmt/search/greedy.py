"""Decoding from left to right without looking back: greedy search, and the loop it shares with sampling.

Rows never change places, so the decoder's state is moved only when sentences leave, and that they do at once:
copying the rows that stay is cheaper than one finished row's steps to come. What has been written is kept in
lists, for beside a step of few rows every operation on a tensor costs more than the numbers in it.

Dimensions: B sentences still decoded, K hypotheses of each (1 in greedy search), N = B*K rows, S source
length, V vocabulary, T tokens so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import GenerationConfig, SpecialIds
from nmt.models.interface import StateT, Step, StepDecoder
from nmt.scoring import Scoring
from nmt.search.constraints import Constraints
from nmt.search.finite import check_finite, largest
from nmt.search.hypothesis import Hypothesis
from nmt.search.prefixes import Prefixes
from nmt.search.required import Required
from nmt.search.transfer import to_cpu

Choose: TypeAlias = Callable[[Step, int, Sequence[int]], tuple[Tensor, Tensor]]
"""(step, -inf where a token is not allowed; its number; sentences of the rows) -> tokens_N and their
log_probs_N."""


def greedy_search(
    decoder: StepDecoder[StateT],
    source: Batch,
    options: GenerationConfig,
    special: SpecialIds,
    prefixes: Prefixes | None = None,
    required: Required | None = None,
) -> list[list[Hypothesis]]:
    """Take the most probable token at each step: one hypothesis for each sentence.

    ``beam_size``, ``n_best`` and ``sampling`` are ignored; arguments, order of results and errors are
    otherwise those of ``beam_search``, of which this is the case K = 1.
    """

    def most_probable(step: Step, _number: int, _sentences: Sequence[int]) -> tuple[Tensor, Tensor]:
        log_probs_N, tokens_N = step.log_probs_NV.max(dim=1)
        return tokens_N, log_probs_N

    return decode(decoder, source, options, special, prefixes, required, choose=most_probable, n_rows=1)


@torch.inference_mode()
def decode(
    decoder: StepDecoder[StateT],
    source: Batch,
    options: GenerationConfig,
    special: SpecialIds,
    prefixes: Prefixes | None = None,
    required: Required | None = None,
    *,
    choose: Choose,
    n_rows: int,
) -> list[list[Hypothesis]]:
    """Extend ``n_rows`` hypotheses of each sentence by one chosen token at a time until all have ended.

    ``choose`` picks each next token; forced prefixes have left it no choice yet. The remaining arguments and
    the errors are those of ``beam_search``. Returns ``n_rows`` hypotheses of each sentence, in no particular
    order.
    """
    rules = Constraints.for_batch(source, options, special, prefixes, required)
    scoring = Scoring.from_options(options)
    device = source.source_BS.device
    ended: list[list[Hypothesis]] = [[] for _ in range(source.size)]
    rows = [Row(sentence) for sentence in range(source.size) for _ in range(n_rows)]
    coverage_NS = scoring.initial_coverage(source, n_rows)
    tokens_N = torch.full((len(rows),), special.bos, device=device)
    state = decoder.start(source, n_rows)
    n_tokens = 0
    while rows:
        sentences = [row.sentence for row in rows[::n_rows]]
        lengths = [n_tokens] * len(sentences)
        step, state = decoder.step(state, tokens_N)
        before_NS, coverage_NS = coverage_NS, scoring.add_attention(coverage_NS, step.attention_NS)
        largest_N = largest(step, coverage_NS)
        rules.apply(step.log_probs_NV, partial(history, rows), sentences, lengths)
        tokens_N, log_probs_N = choose(step, n_tokens, sentences)
        tokens, log_probs, alarms = (part.tolist() for part in to_cpu(tokens_N, log_probs_N, largest_N))
        if n_rows > 1:  # a row that has ended reads what it should not; what comes of that concerns nobody
            alarms = [alarm if row.live else 0.0 for row, alarm in zip(rows, alarms, strict=True)]
        check_finite(alarms, n_tokens, sentences)
        one_ended = False
        for place, (row, token, log_prob) in enumerate(zip(rows, tokens, log_probs, strict=True)):
            finished = log_prob > -torch.inf and token == special.eos
            stuck = log_prob == -torch.inf or n_tokens == rules.max_lengths[row.sentence]
            if row.live and stuck and not finished:
                ended[row.sentence].append(row.hypothesis(scoring, before_NS, place, finished=False))
            row.tokens.append(token)
            row.log_probs.append(log_prob)
            if row.live and finished:
                ended[row.sentence].append(row.hypothesis(scoring, coverage_NS, place, finished=True))
            if row.live and (finished or stuck):
                row.live, one_ended = False, True
        n_tokens += 1
        if one_ended:
            staying = live_sentences(rows, n_rows)
            if 0 < len(staying) < len(rows):
                staying_N = torch.tensor(staying).to(device)
                tokens_N = tokens_N.index_select(0, staying_N)
                coverage_NS = None if coverage_NS is None else coverage_NS.index_select(0, staying_N)
                state = decoder.reorder(state, staying_N)
            rows = [rows[place] for place in staying]
    return ended


@dataclass
class Row:
    """One hypothesis in the decoder, and, ended or not, what the decoder reads there."""

    sentence: int
    """Its place in the batch given to search."""
    tokens: list[int] = field(default_factory=list)
    """So far, without BOS; after its end anything."""
    log_probs: list[float] = field(default_factory=list)
    """Log-probability of each token."""
    live: bool = True
    """False: it has ended, and waits for the others of its sentence."""

    def hypothesis(
        self, scoring: Scoring, coverage_NS: Tensor | None, place: int, *, finished: bool
    ) -> Hypothesis:
        """The row at ``place`` as it stands; ``finished``: its last token is EOS, which does not show."""
        log_prob = sum(self.log_probs)
        penalty = 0.0
        if coverage_NS is not None:
            coverage_1S = coverage_NS[place : place + 1]
            penalty = float(scoring.coverage_penalties(coverage_1S, like_N=coverage_1S))
        return Hypothesis(
            tuple(self.tokens[:-1] if finished else self.tokens),
            log_prob,
            scoring.score(log_prob, len(self.tokens), penalty),
            finished,
            tuple(self.log_probs),
        )


def history(rows: Sequence[Row]) -> Tensor:
    """The tokens so far, (N, T), as ``Constraints.apply`` takes them."""
    return torch.tensor([row.tokens for row in rows], dtype=torch.long)


def live_sentences(rows: Sequence[Row], n_rows: int) -> list[int]:
    """The places of all rows of the sentences of which any row is live."""
    return [
        place
        for first in range(0, len(rows), n_rows)
        if any(row.live for row in rows[first : first + n_rows])
        for place in range(first, first + n_rows)
    ]

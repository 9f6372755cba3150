"""Decoding from left to right without looking back: greedy search, and the loop it shares with sampling.

Rows never change places, so the decoder's state is moved only when sentences leave, and that they do at once:
copying the rows that stay is cheaper than one finished row's steps to come.

Dimensions: B sentences still decoded, K hypotheses of each (1 in greedy search), N = B*K rows, V vocabulary,
T tokens so far with BOS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import GenerationConfig, SpecialIds
from nmt.models.interface import StateT, StepDecoder
from nmt.search.constraints import Constraints
from nmt.search.finite import check_finite, largest
from nmt.search.hypothesis import Hypothesis
from nmt.search.required import Required
from nmt.search.scoring import Scoring
from nmt.search.topk import blockwise_argmax
from nmt.search.transfer import to_cpu

Choose: TypeAlias = Callable[[Tensor, int, Sequence[int]], Tensor]
"""(logits_NV, -inf at what is not allowed; step; sentences of the rows) -> tokens_N."""


def greedy_search(
    decoder: StepDecoder[StateT],
    source: Batch,
    options: GenerationConfig,
    special: SpecialIds,
    prefixes: Sequence[Sequence[int]] | None = None,
    required: Required | None = None,
) -> list[list[Hypothesis]]:
    """Take the most probable token at each step: one hypothesis for each sentence.

    ``beam_size``, ``n_best`` and ``sampling`` are ignored; arguments, order of results and errors are
    otherwise those of ``beam_search``, of which this is the case K = 1.
    """

    def most_probable(logits_NV: Tensor, _step: int, _sentences: Sequence[int]) -> Tensor:
        return blockwise_argmax(logits_NV)

    return decode(decoder, source, options, special, prefixes, required, choose=most_probable, n_rows=1)


@torch.inference_mode()
def decode(
    decoder: StepDecoder[StateT],
    source: Batch,
    options: GenerationConfig,
    special: SpecialIds,
    prefixes: Sequence[Sequence[int]] | None = None,
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
    rows = Rows.start(source, n_rows, special, rules, scoring)
    state = decoder.start(source, n_rows)
    while any(rows.live):
        step, state = decoder.step(state, rows.tokens_NT[:, -1].to(device))
        coverage_NS = scoring.add_attention(rows.coverage_NS, step.attention_NS)
        largest_N = largest(step, coverage_NS)
        rules.apply(step.logits_NV, rows.tokens_NT[:, 1:], rows.sentences)
        tokens_N1 = choose(step.logits_NV, rows.n_tokens, rows.sentences).unsqueeze(1)
        log_probs_N1 = step.logits_NV.gather(1, tokens_N1)
        if step.log_totals_N is not None:
            log_probs_N1 = log_probs_N1 - step.log_totals_N.unsqueeze(1)
        tokens_N1, log_probs_N1, largest_N = to_cpu(tokens_N1, log_probs_N1, largest_N)
        if not all(rows.live):
            largest_N = largest_N.masked_fill(~torch.tensor(rows.live), 0.0)
        check_finite(largest_N, rows.n_tokens, rows.sentences)
        extended = rows.extend(tokens_N1, log_probs_N1, coverage_NS)
        leaving = set()
        for row, (token, log_prob) in enumerate(
            zip(tokens_N1.flatten().tolist(), log_probs_N1.flatten().tolist(), strict=True)
        ):
            finished = log_prob > -torch.inf and token == special.eos
            stuck = log_prob == -torch.inf or rows.n_tokens == rows.limits[row]
            if rows.live[row] and (finished or stuck):
                last = extended if finished else rows
                ended[rows.sentence_of(row)].append(last.hypothesis(row, scoring, finished=finished))
                leaving.add(row)
        rows = extended
        if leaving:
            rows = replace(rows, live=[live and row not in leaving for row, live in enumerate(rows.live)])
            staying_N = rows.of_live_sentences()
            if 0 < staying_N.numel() < len(rows.live):
                rows = rows.select(staying_N)
                state = decoder.reorder(state, staying_N.to(device))
    return ended


@dataclass(frozen=True)
class Rows:
    """The hypotheses in the decoder, K for each sentence, with those that have ended but not left yet."""

    sentences: tuple[int, ...]
    """The place of each sentence in the batch given to search."""
    tokens_NT: Tensor
    """BOS and the tokens so far; after its end a row holds anything."""
    log_probs_N: Tensor
    token_log_probs_NT: Tensor
    """Of each token so far, without BOS: the terms of ``log_probs_N``."""
    coverage_NS: Tensor | None
    """Attention so far, on the decoder's device; None without a coverage penalty."""
    limits: Sequence[int]
    """The most tokens of each row, EOS not counted."""
    live: Sequence[bool]
    """Of each row; False: ended."""

    @classmethod
    def start(
        cls, source: Batch, n_rows: int, special: SpecialIds, rules: Constraints, scoring: Scoring
    ) -> Rows:
        """Rows that hold BOS alone."""
        return cls(
            sentences=tuple(range(source.size)),
            tokens_NT=torch.full((source.size * n_rows, 1), special.bos),
            log_probs_N=torch.zeros(source.size * n_rows),
            token_log_probs_NT=torch.empty(source.size * n_rows, 0),
            coverage_NS=scoring.initial_coverage(source, n_rows),
            limits=[limit for limit in rules.max_lengths for _ in range(n_rows)],
            live=[True] * (source.size * n_rows),
        )

    @property
    def n_tokens(self) -> int:
        """Tokens so far, BOS not counted."""
        return self.tokens_NT.size(1) - 1

    def sentence_of(self, row: int) -> int:
        """The sentence that a row belongs to."""
        return self.sentences[row * len(self.sentences) // len(self.live)]

    def extend(self, tokens_N1: Tensor, log_probs_N1: Tensor, coverage_NS: Tensor | None) -> Rows:
        """Every row one token longer."""
        return replace(
            self,
            tokens_NT=torch.cat([self.tokens_NT, tokens_N1], dim=1),
            log_probs_N=self.log_probs_N + log_probs_N1.squeeze(1),
            token_log_probs_NT=torch.cat([self.token_log_probs_NT, log_probs_N1], dim=1),
            coverage_NS=coverage_NS,
        )

    def hypothesis(self, row: int, scoring: Scoring, *, finished: bool) -> Hypothesis:
        """One row as it stands; ``finished``: its last token is EOS, which a hypothesis does not show."""
        tokens = self.tokens_NT[row, 1:].tolist()
        log_prob = float(self.log_probs_N[row])
        coverage_1S = None if self.coverage_NS is None else self.coverage_NS[row : row + 1]
        penalty = float(scoring.coverage_penalties(coverage_1S, like_N=self.log_probs_N[row : row + 1]))
        score = scoring.score(log_prob, len(tokens), penalty)
        token_log_probs = tuple(self.token_log_probs_NT[row].tolist())
        return Hypothesis(
            tuple(tokens[:-1] if finished else tokens), log_prob, score, finished, token_log_probs
        )

    def of_live_sentences(self) -> Tensor:
        """All rows of the sentences of which any row is live."""
        live_BK = torch.tensor(self.live).view(len(self.sentences), -1)
        return live_BK.any(dim=1, keepdim=True).expand_as(live_BK).flatten().nonzero().squeeze(1)

    def select(self, rows_N: Tensor) -> Rows:
        """Only ``rows_N``, whole sentences of them."""
        n_rows, rows = len(self.live) // len(self.sentences), rows_N.tolist()
        coverage_NS = self.coverage_NS
        if coverage_NS is not None:
            coverage_NS = coverage_NS[rows_N.to(coverage_NS.device)]
        return Rows(
            sentences=tuple(self.sentence_of(row) for row in rows[::n_rows]),
            tokens_NT=self.tokens_NT[rows_N],
            log_probs_N=self.log_probs_N[rows_N],
            token_log_probs_NT=self.token_log_probs_NT[rows_N],
            coverage_NS=coverage_NS,
            limits=[self.limits[row] for row in rows],
            live=[self.live[row] for row in rows],
        )

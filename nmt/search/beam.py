"""Beam search, batched over sentences (Sutskever et al. 2014, section 3.2; Wu et al. 2016, section 7).

Every token continues each of the K live hypotheses of a sentence, and the 2K best continuations are looked
at. Those among the first K that end in EOS are finished; the best K that do not end live on, so finished
hypotheses never narrow the beam (K of 2K candidates at most end in EOS). A sentence is done when

- K of its hypotheses have finished,
- it has reached its maximum length: hypotheses that still lack EOS are returned unfinished, after all
  finished ones,
- or nothing that lives can reach its n best any more: ``Scoring.bound``, which is proven and changes no
  result.

With K = 1 this is greedy search. The beam is pruned by log P (its hypotheses are equally long); finished
hypotheses are ranked by ``Scoring.score``.

Sentences that started at different times may be searched together (``BeamSearch.joined``): each has a number
of tokens of its own, and the hypotheses of rows end in one column, PAD before the BOS of shorter ones.

All tensors of the search itself lie on the CPU, except the scores of all continuations and the coverage. One
transfer a step brings the candidates over.

Dimensions: B sentences still searched, K beam size, N = B*K rows, C = 2K candidates, S source length, V
vocabulary, T tokens so far of the longest row, with BOS.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import GenerationConfig, SpecialIds
from nmt.models.interface import StateT, Step, StepDecoder
from nmt.scoring import Scoring
from nmt.search.backpointers import BackPointers
from nmt.search.constraints import Constraints
from nmt.search.finite import check_finite, largest
from nmt.search.hypothesis import Hypothesis, NBestList
from nmt.search.prefixes import Prefixes
from nmt.search.required import Required
from nmt.search.topk import Continuations, best_continuations
from nmt.search.transfer import to_cpu


@torch.inference_mode()
def beam_search(
    decoder: StepDecoder[StateT],
    source: Batch,
    options: GenerationConfig,
    special: SpecialIds,
    prefixes: Prefixes | None = None,
    required: Required | None = None,
    *,
    early_stop: bool = True,
) -> list[list[Hypothesis]]:
    """Find the ``n_best`` best translations of each sentence that a beam of ``beam_size`` reaches.

    Args:
        decoder: whatever predicts the next token.
        source: the sentences, target side absent.
        options: beam size, n-best, scores and limits; ``sampling`` is ignored.
        special: ids of PAD, BOS and EOS.
        prefixes: what translations must begin with.
        required: placeholders that each translation must hold exactly once, and may not hold unasked; without
            all of them no hypothesis is finished.
        early_stop: use the bound; off only to show that it changes nothing.

    Returns:
        For each sentence, in the order given, at most ``n_best`` distinct hypotheses: finished ones first,
        then best score first.

    Raises:
        NumericalError: NaN or +inf from the decoder.
        ConfigError: a coverage penalty, and no attention to compute it from.
    """
    searched = BeamSearch.start(source, options, special, prefixes, required, early_stop=early_stop)
    state = decoder.start(source, options.beam_size)
    while searched.beams.sentences:
        tokens_N = searched.last_tokens_N.to(source.source_BS.device)
        step, state = decoder.step(state, tokens_N)
        rows_N = searched.advance(step)
        if rows_N.numel():
            state = decoder.reorder(state, rows_N.to(source.source_BS.device))
    return [entries.hypotheses for entries in searched.n_best]


@dataclass
class BeamSearch:
    """Sentences that are searched in step: what a search knows beside the decoder's state."""

    options: GenerationConfig
    special: SpecialIds
    rules: Constraints
    scoring: Scoring
    n_best: list[NBestList]
    """Results of each sentence, by its place in the batch given to search."""
    beams: Beams
    early_stop: bool = True

    @classmethod
    def start(
        cls,
        source: Batch,
        options: GenerationConfig,
        special: SpecialIds,
        prefixes: Prefixes | None = None,
        required: Required | None = None,
        *,
        early_stop: bool = True,
    ) -> BeamSearch:
        """Before the first step; arguments as ``beam_search``."""
        scoring = Scoring.from_options(options)
        return cls(
            options,
            special,
            Constraints.for_batch(source, options, special, prefixes, required),
            scoring,
            [NBestList(options.n_best) for _ in range(source.size)],
            Beams.start(source, options.beam_size, special, scoring),
            early_stop,
        )

    @property
    def last_tokens_N(self) -> Tensor:
        """Tokens that the decoder is to read next."""
        return self.beams.backpointers.tokens_N

    def advance(self, step: Step) -> Tensor:
        """Take one step, of the rows of ``beams``; sentences that are done leave ``beams``.

        Returns:
            rows_N, which of the present rows the following ones extend; empty when no sentence is left.

        Raises:
            NumericalError: NaN or +inf among the decoder's numbers; nothing has changed then.
        """
        beams, rules, scoring = self.beams, self.rules, self.scoring
        coverage_NS = scoring.add_attention(beams.coverage_NS, step.attention_NS)
        largest_N = largest(step, coverage_NS)
        rules.apply(step.log_probs_NV, beams.history, beams.sentences, beams.lengths)
        candidates = rank_candidates(beams, step, largest_N, coverage_NS, scoring, self.special.eos)
        places = [place for place in range(len(beams.sentences)) if self._goes_on(candidates, place)]
        self.beams, rows_N = extend(beams, candidates, coverage_NS, places)
        return rows_N

    def _goes_on(self, candidates: Candidates, place: int) -> bool:
        """Enter what has finished; whether any that lives on can reach the list of its sentence.

        If none can live on, those that stand get what places are free.
        """
        beams, scoring, eos = self.beams, self.scoring, self.special.eos
        sentence, tokens = beams.sentences[place], candidates.tokens[place]
        entries, limit = self.n_best[sentence], self.rules.max_lengths[sentence]
        best = 0
        if eos in tokens:
            collect_finished(entries, beams, candidates, place, scoring, eos)
            best = next(rank for rank, token in enumerate(tokens) if token != eos)
        log_prob = candidates.log_probs[place][best]
        if log_prob == -torch.inf or beams.lengths[place] >= limit:
            entries.fill(unfinished_hypotheses(beams, place, scoring))
            return False
        if not entries.n_finished:
            return True
        is_final = self.early_stop and entries.is_final(scoring.bound(log_prob, limit + 1))
        return entries.n_finished < beams.beam_size and not is_final

    def leave(self, sentences: Collection[int]) -> Tensor:
        """Give up on some sentences; returns rows_N, which rows of the others remain."""
        beams = self.beams
        staying_B = torch.tensor([sentence not in sentences for sentence in beams.sentences])
        rows_N = staying_B.repeat_interleave(beams.beam_size).nonzero().squeeze(1)
        self.beams = beams.select(rows_N)
        return rows_N

    def fits(self, other: BeamSearch) -> bool:
        """Whether the two may be one: equal options, without coverage, which is as wide as the source."""
        same = (self.options, self.early_stop) == (other.options, other.early_stop)
        return same and self.beams.coverage_NS is None and self.rules.fits(other.rules)

    def joined(self, other: BeamSearch) -> BeamSearch:
        """Union of two searches that fit; renumbered, those of ``self`` first."""
        mine, others = self.beams.sentences, other.beams.sentences
        return replace(
            self,
            rules=self.rules.joined(mine, other.rules, others),
            n_best=[
                *(self.n_best[place] for place in mine),
                *(other.n_best[place] for place in others),
            ],
            beams=self.beams.joined(other.beams, self.special),
        )


class Beams(NamedTuple):
    """The live hypotheses of the sentences still searched: K rows for each, best first."""

    beam_size: int
    """K."""
    sentences: tuple[int, ...]
    """The place of each sentence in the batch given to search."""
    lengths: tuple[int, ...]
    """Tokens so far of each sentence, BOS not counted."""
    backpointers: BackPointers
    coverage_NS: Tensor | None
    """Attention so far, on the decoder's device; None without a coverage penalty."""

    @classmethod
    def start(cls, source: Batch, beam_size: int, special: SpecialIds, scoring: Scoring) -> Beams:
        """One live hypothesis for each sentence; K equal ones would be extended K times in the same way."""
        n_rows = source.size * beam_size
        sums_N1 = torch.full((n_rows, 1), -torch.inf)
        sums_N1[::beam_size] = 0.0
        return cls(
            beam_size,
            sentences=tuple(range(source.size)),
            lengths=(0,) * source.size,
            backpointers=BackPointers.of_tables(torch.full((n_rows, 1), special.bos), sums_N1),
            coverage_NS=scoring.initial_coverage(source, beam_size),
        )

    @property
    def n_tokens(self) -> int:
        """Tokens so far of the longest row, BOS not counted."""
        return max(self.lengths, default=0)

    def history(self) -> Tensor:
        """The tokens so far without BOS, as ``Constraints.apply`` takes them: shorter rows keep theirs."""
        tokens_NT = self.backpointers.table("tokens")
        return tokens_NT[:, tokens_NT.size(1) - self.n_tokens :]

    def select(self, rows_N: Tensor) -> Beams:
        """Only ``rows_N``, whole sentences of them."""
        places = rows_N[:: self.beam_size].div(self.beam_size, rounding_mode="floor").tolist()
        coverage_NS = self.coverage_NS
        return Beams(
            self.beam_size,
            sentences=tuple(self.sentences[place] for place in places),
            lengths=tuple(self.lengths[place] for place in places),
            backpointers=self.backpointers.select(rows_N),
            coverage_NS=None if coverage_NS is None else coverage_NS[rows_N.to(coverage_NS.device)],
        )

    def joined(self, other: Beams, special: SpecialIds) -> Beams:
        """The rows of both, which keep no coverage, sentences renumbered in their order."""
        n_columns = max(self.n_tokens, other.n_tokens) + 1
        return Beams(
            self.beam_size,
            sentences=tuple(range(len(self.sentences) + len(other.sentences))),
            lengths=self.lengths + other.lengths,
            backpointers=self.backpointers.joined(other.backpointers, n_columns, special.pad),
            coverage_NS=None,
        )

    def written(self, row: int, *following: float) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """The tokens of one row, and what each added to its sum; ``following``: sums still to come."""
        tokens, sums = self.backpointers.hypothesis_of(row, self.lengths[row // self.beam_size])
        return tuple(tokens), tuple(after - before for before, after in pairwise([*sums, *following]))


class Candidates(NamedTuple):
    """The 2K best continuations of each sentence, on the CPU."""

    found: Continuations
    log_probs: list[list[float]]
    """``sums_BC`` as plain numbers, for they are few."""
    tokens: list[list[int]]
    """``tokens_BC``."""
    coverage_penalties_N: Tensor | None
    """Penalty of the rows extended; None: 0."""


def rank_candidates(
    beams: Beams,
    step: Step,
    largest_N: Tensor,
    coverage_NS: Tensor | None,
    scoring: Scoring,
    eos: int,
) -> Candidates:
    """Score every continuation of every row and bring the best of each sentence to the CPU.

    Raises:
        NumericalError: NaN or +inf among the decoder's numbers.
    """
    sums_N = beams.backpointers.sums_N.to(step.log_probs_NV.device)
    found = best_continuations(step.log_probs_NV, sums_N, len(beams.sentences), eos)
    penalties = () if coverage_NS is None else (scoring.coverage_penalties(coverage_NS, like_N=largest_N),)
    *parts, largest_N = to_cpu(*penalties, *found, largest_N)
    check_finite(largest_N.tolist(), beams.n_tokens, beams.sentences)
    found = Continuations(*parts[len(penalties) :])
    return Candidates(
        found, found.sums_BC.tolist(), found.tokens_BC.tolist(), parts[0] if penalties else None
    )


def collect_finished(
    entries: NBestList, beams: Beams, candidates: Candidates, place: int, scoring: Scoring, eos: int
) -> None:
    """Enter the possible candidates among the first K of the sentence at ``place`` that end in EOS."""
    penalties_N = candidates.coverage_penalties_N
    for rank, token in enumerate(candidates.tokens[place][: beams.beam_size]):
        log_prob = candidates.log_probs[place][rank]
        if token == eos and log_prob > -torch.inf:
            row = int(candidates.found.rows_BC[place, rank])
            penalty = 0.0 if penalties_N is None else float(penalties_N[row])
            tokens, log_probs = beams.written(row, log_prob)
            score = scoring.score(log_prob, beams.lengths[place] + 1, penalty)
            entries.add(Hypothesis(tokens, log_prob, score, finished=True, token_log_probs=log_probs))


def unfinished_hypotheses(beams: Beams, place: int, scoring: Scoring) -> Iterator[Hypothesis]:
    """The live hypotheses of the sentence at ``place`` as they stand, best score first."""
    first, length = place * beams.beam_size, beams.lengths[place]
    rows = slice(first, first + beams.beam_size)
    sums_K = beams.backpointers.sums_N[rows]
    coverage_KS = None if beams.coverage_NS is None else beams.coverage_NS[rows]
    penalties = scoring.coverage_penalties(coverage_KS, like_N=sums_K).tolist()
    scored = [
        (scoring.score(log_prob, length, penalty), log_prob, row)
        for row, (log_prob, penalty) in enumerate(zip(sums_K.tolist(), penalties, strict=True), first)
        if log_prob > -torch.inf
    ]
    for score, log_prob, row in sorted(scored, key=lambda entry: -entry[0]):
        tokens, log_probs = beams.written(row)
        yield Hypothesis(tokens, log_prob, score, finished=False, token_log_probs=log_probs)


def extend(
    beams: Beams, candidates: Candidates, coverage_NS: Tensor | None, places: list[int]
) -> tuple[Beams, Tensor]:
    """The best K candidates that do not end, of the sentences at ``places``; and the rows they extend."""
    found, beam_size = candidates.found, beams.beam_size
    sums_N, rows_N, tokens_N = found.going_sums_N, found.going_rows_N, found.going_tokens_N
    sentences, lengths = beams.sentences, beams.lengths
    if len(places) < len(sentences):
        sentences = tuple([sentences[place] for place in places])
        lengths = tuple([lengths[place] for place in places])
        first_B1 = torch.tensor(places, dtype=torch.long).unsqueeze(1) * beam_size
        staying_N = (first_B1 + torch.arange(beam_size)).flatten()
        sums_N, rows_N, tokens_N = sums_N[staying_N], rows_N[staying_N], tokens_N[staying_N]
    extended = Beams(
        beam_size,
        sentences,
        tuple([length + 1 for length in lengths]),
        beams.backpointers.extended(rows_N, tokens_N, sums_N),
        None if coverage_NS is None else coverage_NS[rows_N.to(coverage_NS.device)],
    )
    return extended, rows_N

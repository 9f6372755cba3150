"""Limits of a hypothesis: no PAD or BOS, a forced prefix, no repeated n-gram, required pieces, a length.

All of it is a function of the source sentence and the hypothesis alone, never of the batch it sits in.

Dimensions: B sentences, K rows of one sentence, N = B*K rows, V vocabulary, T tokens so far (BOS not
counted), P longest forced prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from nmt.batch import Batch, pad
from nmt.config import GenerationConfig, SpecialIds
from nmt.hypothesis import max_length
from nmt.search.loops import LoopRule
from nmt.search.prefixes import Prefixes
from nmt.search.required import NEVER, Required, RequiredPieces


@dataclass(frozen=True)
class Constraints:
    """The rules of one search; sentences are named by their place in the batch that was given to it."""

    special: SpecialIds
    no_repeat_ngram_size: int
    max_lengths: tuple[int, ...]
    """The most tokens each sentence's translation may have, EOS not counted."""
    forced_BP: Tensor
    """Forced first tokens, PAD where a sentence is free; on the CPU."""
    loops: LoopRule | None
    """A hypothesis that goes round in circles has no next token; None: it has."""
    required: RequiredPieces | None = None
    """Placeholders that must be written exactly once; None: the vocabulary has none."""
    prefixes: Prefixes | None = None
    """What was asked for, where it also says what may not follow; None: it does not."""

    @classmethod
    def for_batch(
        cls,
        source: Batch,
        options: GenerationConfig,
        special: SpecialIds,
        prefixes: Prefixes | None = None,
        required: Required | None = None,
    ) -> Constraints:
        """Work out each sentence's limits.

        A prefix longer than its sentence's maximum raises that maximum, and so do more required pieces.

        Raises:
            ValueError: as ``Prefixes.check`` and ``Required.check``.
        """
        prefixes = Prefixes.none(source.size) if prefixes is None else prefixes
        prefixes.check(source.size, special)
        source_lengths = (source.source_mask_BS.sum(dim=1) - 1).tolist()  # without EOS
        required = Required((), ((),) * source.size) if required is None else required
        required.check(source.size)
        max_lengths = tuple(
            max(
                max_length(length, options.max_length_ratio, options.max_length_offset),
                len(prefix) + len(set(ids).difference(prefix)),
            )
            for length, prefix, ids in zip(
                source_lengths, prefixes.sentences, required.sentences, strict=True
            )
        )
        return cls(
            special,
            options.no_repeat_ngram_size,
            max_lengths,
            pad(prefixes.sentences, special.pad),
            LoopRule.for_batch(source, ranked=options.sampling is None) if options.repair_loops else None,
            RequiredPieces.build(required, source_lengths, max_lengths, special.eos),
            prefixes if any(prefixes.never_next) else None,
        )

    def fits(self, other: Constraints) -> bool:
        """Whether the rules of two searches may be one: without prefixes, both or neither with pieces."""
        no_prefixes = self.forced_BP.size(1) == other.forced_BP.size(1) == 0
        return no_prefixes and (self.required is None) == (other.required is None)

    def joined(self, mine: Sequence[int], other: Constraints, others: Sequence[int]) -> Constraints:
        """The rules of sentences ``mine`` of this and ``others`` of ``other``, renumbered in this order.

        They were made with the same options, and fit.
        """
        loops = self.loops
        if loops is not None and other.loops is not None:
            loops = loops.joined(mine, other.loops, others)
        required = self.required
        if required is not None and other.required is not None:
            required = required.joined(mine, other.required, others)
        return replace(
            self,
            max_lengths=(
                *(self.max_lengths[place] for place in mine),
                *(other.max_lengths[place] for place in others),
            ),
            forced_BP=self.forced_BP.new_empty(len(mine) + len(others), 0),
            loops=loops,
            required=required,
        )

    def apply(
        self,
        scores_NV: Tensor,
        history: Callable[[], Tensor],
        sentences: Sequence[int],
        lengths: Sequence[int],
    ) -> None:
        """Put -inf, in place, on every next token that is not allowed.

        Args:
            scores_NV: scores of the next token; the others keep theirs.
            history: gives history_NT, the tokens so far, without BOS, on the CPU, where a rule reads them.
                Rows that have fewer end in the same column, after BOS, with PAD before.
            sentences: the sentences of the rows, K rows each.
            lengths: tokens so far of each of ``sentences``.
        """
        device, longest = scores_NV.device, max(lengths)
        forced_N1 = self._forced(longest, scores_NV.size(0), sentences, device)
        kept_N1 = None if forced_N1 is None else scores_NV.gather(1, forced_N1)
        required = self.required if self.required is not None and self.required.binds(sentences) else None
        never = self._never_unasked if required is None else self._markers
        scores_NV.index_fill_(1, never.to(device), NEVER)
        if 0 < self.no_repeat_ngram_size <= longest:
            repeating_NW = repeating_tokens(history(), self.no_repeat_ngram_size, none=self.special.pad)
            scores_NV.scatter_(1, repeating_NW.to(device), NEVER)
        if self.loops is not None and self.loops.is_due(lengths):
            self.loops.apply(scores_NV, history(), sentences, lengths)
        if required is not None:
            required.apply(scores_NV, history(), sentences, lengths)
        if self.prefixes is not None:
            self._keep_apart(scores_NV, self.prefixes, sentences, lengths)
        if forced_N1 is not None and kept_N1 is not None:
            free_N1 = forced_N1 == self.special.pad
            scores_NV.masked_fill_(~free_N1, NEVER)
            kept_N1 = kept_N1.masked_fill(free_N1, NEVER)  # free rows rewrite PAD's -inf
            scores_NV.scatter_(1, forced_N1, kept_N1)

    def _keep_apart(
        self, scores_NV: Tensor, prefixes: Prefixes, sentences: Sequence[int], lengths: Sequence[int]
    ) -> None:
        """Right after its prefix a sentence may not write what would go on with the last word of it."""
        n_rows = scores_NV.size(0) // len(sentences)
        for place, (sentence, length) in enumerate(zip(sentences, lengths, strict=True)):
            never = prefixes.next_to(sentence, length)
            if never:
                rows_KV = scores_NV[place * n_rows : (place + 1) * n_rows]
                rows_KV.index_fill_(1, torch.tensor(never, device=scores_NV.device), NEVER)

    @cached_property
    def _markers(self) -> Tensor:
        """Tokens that no hypothesis holds."""
        return torch.tensor([self.special.pad, self.special.bos])

    @cached_property
    def _never_unasked(self) -> Tensor:
        """And what none holds whose sentence does not require it."""
        reserved = () if self.required is None else (self.required.reserved_ids,)
        return torch.cat([self._markers, *reserved])

    def _forced(
        self, step: int, n_rows: int, sentences: Sequence[int], device: torch.device
    ) -> Tensor | None:
        """The forced next token of each row, PAD for free rows, (N, 1); None when all rows are free."""
        if step >= self.forced_BP.size(1):
            return None
        forced_B = self.forced_BP[list(sentences), step]
        return forced_B.repeat_interleave(n_rows // len(sentences)).unsqueeze(1).to(device)


def repeating_tokens(history_NT: Tensor, ngram_size: int, *, none: int) -> Tensor:
    """The tokens that would complete an n-gram which the history already holds.

    Args:
        history_NT: tokens so far, T >= ``ngram_size``.
        ngram_size: n.
        none: the id to put where there is nothing to forbid.

    Returns:
        (N, T - n + 1): for each n-gram of the history its last token if the n - 1 before it are also the
        history's own last n - 1 tokens, otherwise ``none``.
    """
    ngrams_NWn = history_NT.unfold(1, ngram_size, 1)
    suffix_N1n = history_NT[:, history_NT.size(1) - ngram_size + 1 :].unsqueeze(1)
    same_start_NW = (ngrams_NWn[..., :-1] == suffix_N1n).all(dim=-1)
    return ngrams_NWn[..., -1].masked_fill(~same_start_NW, none)

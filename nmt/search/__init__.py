"""Search over any StepDecoder: greedy, beam, sampling. Imports no model, engine or tokenizer."""

from __future__ import annotations

from nmt.batch import Batch
from nmt.config import GenerationConfig, SpecialIds
from nmt.hypothesis import Hypothesis, max_length
from nmt.models.interface import StateT, StepDecoder
from nmt.search.beam import beam_search
from nmt.search.greedy import greedy_search
from nmt.search.prefixes import Prefixes
from nmt.search.required import Required
from nmt.search.sampling import sample

__all__ = [
    "Hypothesis",
    "Prefixes",
    "Required",
    "beam_search",
    "greedy_search",
    "max_length",
    "sample",
    "search",
]


def search(
    decoder: StepDecoder[StateT],
    source: Batch,
    options: GenerationConfig,
    special: SpecialIds,
    prefixes: Prefixes | None = None,
    required: Required | None = None,
) -> list[list[Hypothesis]]:
    """Translate token ids in the way that ``options`` ask for; see ``beam_search`` for arguments and errors.

    Samples where ``options.sampling`` is set, else is greedy at beam size 1, else searches with a beam. An
    empty batch gives an empty list.
    """
    if source.size == 0:
        return []
    if options.sampling is not None:
        return sample(decoder, source, options, special, prefixes, required)
    if options.beam_size == 1:
        return greedy_search(decoder, source, options, special, prefixes, required)
    return beam_search(decoder, source, options, special, prefixes, required)

"""What comes after search: finished sentences, and how those of a text become its translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nmt.alignment.aligner import Alignment
from nmt.alignment.attention_maps import HeadMaps
from nmt.pipeline.plan import Plan
from nmt.pipeline.result import Candidate, Translation, Verdict, assemble


@dataclass(frozen=True)
class FinishedSentence:
    """What a sentence's flow ends with."""

    candidates: tuple[Candidate, ...]
    """At least one, best first."""
    alignment: Alignment | None
    """Of the best candidate; None when none was asked for."""
    verdict: Verdict
    heads: HeadMaps | None = None
    """Of the best candidate, with alignment "heads"."""


def finish(plan: Plan, sentences: Sequence[FinishedSentence]) -> Translation:
    """The translations of a text's sentences become that of the text."""
    translation = assemble(
        plan.document,
        [sentence.candidates for sentence in sentences],
        None
        if plan.options.alignment == "none"
        else [sentence.alignment for sentence in sentences if sentence.alignment is not None],
        n_source_tokens=sum(len(ids) for ids in plan.source_ids),
        n_best=plan.generation.n_best,
        soft=plan.options.alignment in ("soft", "heads"),
        verdicts=[sentence.verdict for sentence in sentences],
    )
    if plan.options.alignment != "heads":
        return translation
    with_heads = (
        replace(whole, heads=sentence.heads)
        for whole, sentence in zip(translation.sentences, sentences, strict=True)
    )
    return replace(translation, sentences=tuple(with_heads))

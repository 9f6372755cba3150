"""Paired bootstrap resampling (Koehn 2004) by sacrebleu's own implementation.

Test sentences are drawn with replacement, the same ones for both systems, ``samples`` times; the p-value is
the share of draws in which the difference, freed of its mean, is at least the one observed (two-sided, never
below 1 / (samples + 1)). Equal hypotheses get p = 1 here; sacrebleu itself would give them its smallest p,
for no draw exceeds a difference of 0. An interval is half the width of the middle 95 % of the drawn scores.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast

from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest

from training.evaluation.scoring import Scale, metrics


@dataclass(frozen=True)
class PairedResult:
    """One system against one baseline by one metric."""

    metric: str
    scale: Scale
    baseline: str
    system: str
    baseline_score: float
    system_score: float
    baseline_interval: float
    """Half the width of the 95 % interval."""
    system_interval: float
    p_value: float
    signature: str

    @property
    def difference(self) -> float:
        """System minus baseline."""
        return self.system_score - self.baseline_score

    def record(self) -> dict[str, Any]:
        """JSON values."""
        return {**dataclasses.asdict(self), "difference": round(self.difference, 4)}


def paired_bootstrap(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    metrics: Mapping[str, Metric],
    *,
    scale: Scale,
    samples: int,
    seed: int,
) -> list[PairedResult]:
    """Test each system against each one before it, by each metric.

    Args:
        systems: name -> hypotheses, line by line with ``references``; two at least.
        references: one a line.
        metrics: name -> metric; fresh ones, for sacrebleu writes the test into their signatures.
        scale: of the text given, for the label.
        samples: bootstrap samples.
        seed: above 0 (sacrebleu takes 0 as no seed).
    """
    results = []
    with sacrebleu_seed(seed):
        for baseline, system in combinations(systems, 2):
            named = [(name, systems[name]) for name in (baseline, system)]
            test = PairedTest(named, metrics, [list(references)], test_type="bs", n_samples=samples)
            signatures, outcome = test()
            equal = list(systems[baseline]) == list(systems[system])
            for name, signature in signatures.items():
                before, after = cast(list[Any], outcome[name])
                results.append(
                    PairedResult(
                        metric=name,
                        scale=scale,
                        baseline=baseline,
                        system=system,
                        baseline_score=round(before.score, 4),
                        system_score=round(after.score, 4),
                        baseline_interval=round(float(before.ci), 4),
                        system_interval=round(float(after.ci), 4),
                        p_value=1.0 if equal else round(float(after.p_value), 6),
                        signature=signature.format(),
                    )
                )
    return results


def cased_bootstrap(
    systems: Mapping[str, Sequence[str]], references: Sequence[str], *, samples: int, seed: int
) -> list[PairedResult]:
    """``paired_bootstrap`` of text as it stands, by all its metrics but TER."""
    cased = {name: metric for name, metric in metrics().items() if name != "TER"}
    return paired_bootstrap(systems, references, cased, scale="cased-detokenized", samples=samples, seed=seed)


@contextmanager
def sacrebleu_seed(seed: int) -> Iterator[None]:
    """Set the environment variable that sacrebleu takes its seed from, and put it back."""
    former = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(seed)
    try:
        yield
    finally:
        if former is None:
            del os.environ["SACREBLEU_SEED"]
        else:
            os.environ["SACREBLEU_SEED"] = former

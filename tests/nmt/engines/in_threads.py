"""Several threads may take the same compiled step at once: the service's workers do."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from nmt.engines.packages import Run


def check_in_threads(run: Run, jobs: Sequence[list[Tensor]]) -> None:
    """Each thread does one job again and again, and finds what it finds alone."""

    def again(job: list[Tensor]) -> list[Sequence[Tensor]]:
        with torch.inference_mode():
            return [run(list(job)) for _ in range(50)]

    alone = [again(job)[0] for job in jobs]
    with ThreadPoolExecutor(len(jobs)) as threads:
        for found, expected in zip(threads.map(again, jobs), alone, strict=True):
            for results in found:
                assert all(torch.equal(one, other) for one, other in zip(results, expected, strict=True))

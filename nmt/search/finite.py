"""A search over NaN finds something, and it is wrong: the check made at every step.

Dimensions: N = B*K rows, V vocabulary, S source length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.errors import NumericalError
from nmt.models.interface import Step


def largest(step: Step, coverage_NS: Tensor | None = None) -> Tensor:
    """A number of each row, (N,), that is NaN or +inf exactly where the row holds one; -inf is no harm."""
    largest_N = step.log_probs_NV.amax(dim=1)
    return largest_N if coverage_NS is None else torch.maximum(largest_N, coverage_NS.amax(dim=1))


def check_finite(largest: Sequence[float], step: int, sentences: Sequence[int]) -> None:
    """Stop a search whose decoder has gone wrong.

    Args:
        largest: the numbers of ``largest``.
        step: the decoding step, counted from 0.
        sentences: the sentences of the rows, K rows each, as their places in the batch given to search.

    Raises:
        NumericalError: naming the step and the sentences.
    """
    if sum(largest) < math.inf:  # False for NaN too, and -inf with +inf is NaN
        return
    beam_size = len(largest) // len(sentences)
    broken = sorted(
        {sentences[row // beam_size] for row, number in enumerate(largest) if not number < math.inf}
    )
    raise NumericalError(
        f"NaN or +infinity in the decoder's output at step {step} for sentence(s) "
        f"{', '.join(map(str, broken[:10]))}{' and more' if len(broken) > 10 else ''} of the batch (counted "
        "from 0): verify the model folder, or decode in float32"
    )

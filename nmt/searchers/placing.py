"""Where in a translation a missing placeholder costs the model least."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.models.build import Model


@torch.inference_mode()
def cheapest_places(
    model: Model,
    special: SpecialIds,
    sources: Sequence[Sequence[int]],
    written: Sequence[Sequence[int]],
    missing: Sequence[int],
    n_fixed: Sequence[int],
) -> list[int]:
    """How many tokens of each translation come before the missing one, by a forced pass.

    Its cost in a place is its log-probability there, less that of what was written instead.

    Args:
        model: on its device.
        special: ids of PAD, BOS and EOS.
        sources: ids without EOS.
        written: of their translations, the same.
        missing: the id that each lacks.
        n_fixed: tokens of each translation that stay before it.
    """
    device = next(model.parameters()).device
    batch = Batch.from_ids(sources, written, special=special).to(device)
    log_probs_BTV = model(batch).float().log_softmax(dim=-1).cpu()
    places: list[int] = []
    for ids, id_, n, log_probs_TV in zip(written, missing, n_fixed, log_probs_BTV, strict=True):
        following_T1 = torch.tensor([*ids, special.eos]).unsqueeze(1)
        of_missing_T = log_probs_TV[: len(ids) + 1, id_]
        cost_T = log_probs_TV[: len(ids) + 1].gather(1, following_T1).squeeze(1) - of_missing_T
        places.append(n + int(cost_T[n:].argmin()))
    return places

"""What tests of engines share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture
def threads() -> Iterator[None]:
    """Torch has as many as before when a test ends."""
    n_threads = torch.get_num_threads()
    yield
    torch.set_num_threads(n_threads)

"""For all tests, and for the processes that they start."""

import os
import tempfile

import pytest

# Tests' models are tiny: a second thread gains nothing, and on a busy machine every operation waits for it.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config: pytest.Config) -> None:
    """A cache of our own, empty at first: what the user, another run or another worker has exported must not
    decide what tests see."""
    cache = tempfile.TemporaryDirectory(prefix="passerelle-cache-")
    os.environ["PASSERELLE_CACHE"] = cache.name
    config.add_cleanup(cache.cleanup)

"""Memory that a step frees stays with the process, for the next step will ask for as much.

The C library (glibc) gives freed memory back to the system once there are some megabytes of it, and what it
asks for again comes as pages that have to be found and zeroed. The logits of a step of 200 rows are 10 MB, so
beam search of 40 sentences waited for 13,000 pages. It took 4 % less time without.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

KEPT_BYTES = 128 << 20
"""Freed memory is given back from here on."""
APART_BYTES = 32 << 20
"""Larger pieces are mapped by themselves, and given back when they are freed; glibc allows no more."""
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Names of ``mallopt``'s."""
OWN_SETTINGS = ("GLIBC_TUNABLES", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")
"""Who sets one of these has decided."""


@cache
def keep_freed_memory() -> bool:
    """Have this process keep it, once; False where another C library or the environment decides."""
    if sys.platform != "linux" or any(name in os.environ for name in OWN_SETTINGS):
        return False
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc alone
    if set_option is None:
        return False
    limits = {M_TRIM_THRESHOLD: KEPT_BYTES, M_MMAP_THRESHOLD: APART_BYTES}
    return all(set_option(option, limit) == 1 for option, limit in limits.items())

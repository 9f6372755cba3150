"""Freed memory stays with the process: glibc would hand each large block back to the kernel.

A training step frees and takes again some hundred blocks of megabytes. By default glibc maps each of them
anew, and the kernel clears every page at its first touch: a sixth of a step on a CPU (decision 013).
"""

from __future__ import annotations

import ctypes

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
"""Parameters of ``mallopt`` (malloc.h)."""
NEVER = 2**31 - 1


def keep_freed_memory() -> bool:
    """Let glibc reuse freed blocks of any size; False where the C library is another and nothing was done."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    return bool(mallopt(M_TRIM_THRESHOLD, NEVER) and mallopt(M_MMAP_MAX, 0))

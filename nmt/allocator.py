"""Memory that was freed: kept for the next step, and given back to the kernel now and then.

A training step frees and takes again some hundred blocks of megabytes. By default glibc maps each of them
anew, and the kernel clears every page at its first touch: a sixth of a step on a CPU (decision 013).

Batches of many shapes leave holes between kept blocks, more with every shape, in training and in the service.
To give them back costs the page faults of one step.
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


def give_back_free_memory() -> bool:
    """Hand the free pages between kept blocks to the kernel; False where nothing was given back."""
    try:
        malloc_trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError):
        return False
    return bool(malloc_trim(0))

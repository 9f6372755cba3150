"""The cuBLAS of CUDA 12, which CTranslate2 opens by its name when it first multiplies on a GPU.

PyTorch brings another version of CUDA along. The package ``nvidia-cublas-cu12`` (the extra ``gpu``) has the
right one, in a folder where the loader does not look.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from functools import cache
from pathlib import Path

CUBLAS = "libcublas.so.12"
PACKAGE = "nvidia.cublas"


@cache
def load_cublas() -> bool:
    """Load it into this process, from the system or from the package; False: it is in neither.

    Only Linux is looked at: elsewhere CTranslate2 finds its own.
    """
    if not sys.platform.startswith("linux"):
        return True
    return any(_is_loaded(name) for name in (CUBLAS, *_in_package()))


def _in_package() -> list[str]:
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except ModuleNotFoundError:
        return []
    folders = () if spec is None else spec.submodule_search_locations or ()
    return [str(Path(folder) / "lib" / CUBLAS) for folder in folders]


def _is_loaded(name: str) -> bool:
    try:
        ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True

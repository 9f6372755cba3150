"""cuBLAS is found in the folder of its package, where the loader of libraries does not look."""

import ctypes
import importlib
import shutil
import sys
from pathlib import Path

import pytest

from nmt.searchers import cublas

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux is looked at")


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cublas, "CUBLAS", "libcublas-of-a-test.so.12")
    cublas.load_cublas.cache_clear()
    yield
    cublas.load_cublas.cache_clear()


def test_it_is_loaded_from_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    library = next(path for path in Path(sys.prefix).rglob("*.so") if ctypes.CDLL(str(path)))
    folder = tmp_path / "vendor" / "cublas" / "lib"
    folder.mkdir(parents=True)
    shutil.copy(library, folder / "libcublas-of-a-test.so.12")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(cublas, "PACKAGE", "vendor.cublas")
    importlib.invalidate_caches()
    assert cublas.load_cublas()


@pytest.mark.parametrize("package", ["no_vendor.cublas", "nmt.searchers"])
def test_without_it_there_is_no_error(package: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cublas, "PACKAGE", package)
    assert not cublas.load_cublas()

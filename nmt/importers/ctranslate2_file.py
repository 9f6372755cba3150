"""``model.bin`` of CTranslate2, read back: what ``ctranslate2.specs.model_spec.ModelSpec`` writes.

A header (version of the format, name and revision of the architecture), variables (name, shape, type, bytes),
and names that stand for other variables. All numbers are little-endian. An integer weight has its scale
beside it, ``NAME_scale``: for int8 one for each row, for int16 one for all.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from nmt.errors import ModelFolderError

Number = int | float
VERSIONS = range(4, 7)
"""Of the format; before 4 variables had no type."""
ARCHITECTURE = "TransformerSpec"
_TYPES = (
    torch.float32,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.float16,
    torch.bfloat16,
)
"""In the order of CTranslate2's ``DataType``."""
_QUANTISED = {torch.int8: "int8", torch.int16: "int16"}
_SCALE = "_scale"


@dataclass(frozen=True)
class Variables:
    """What ``model.bin`` holds."""

    weights: dict[str, Tensor]
    """Those with a shape, integers as float32 already; what goes by two names is under each."""
    settings: dict[str, Number]
    """Those that are one number; truth values are 0 and 1."""
    quantised: str | None
    """``int8`` or ``int16``: weights were rounded when they were written; None: they were not."""


def read_variables(path: Path) -> Variables:
    """Read a whole file.

    Raises:
        ModelFolderError: it cannot be read, is cut off, or of another architecture.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFolderError(f"{path}: {error.strerror or error}") from None
    try:
        return _parsed(_Reader(content), path)
    except (struct.error, IndexError, UnicodeDecodeError, ValueError) as error:
        raise ModelFolderError(
            f"{path}: no model of CTranslate2, or half of one: {error}; half a download? fetch it again"
        ) from None


class _Reader:
    """Takes values from bytes, one after the other."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._place = 0

    def number(self, kind: str) -> int:
        (value,) = struct.unpack_from(f"<{kind}", self._content, self._place)
        self._place += struct.calcsize(kind)
        return int(value)

    def bytes(self, size: int) -> bytes:
        taken = self._content[self._place : self._place + size]
        if len(taken) < size:
            raise ValueError(f"{size} bytes expected, {len(taken)} are left")
        self._place += size
        return taken

    def text(self) -> str:
        return self.bytes(self.number("H"))[:-1].decode()  # a zero ends it

    @property
    def n_left(self) -> int:
        return len(self._content) - self._place


def _parsed(reader: _Reader, path: Path) -> Variables:
    version = reader.number("I")
    if version not in VERSIONS:
        raise ModelFolderError(
            f"{path}: version {version} of CTranslate2's format; {VERSIONS[0]} to {VERSIONS[-1]} can be read"
        )
    name = reader.text()
    if name != ARCHITECTURE:
        raise ModelFolderError(f"{path}: a model of kind {name}; only {ARCHITECTURE} can be imported")
    reader.number("I")  # the revision of the architecture; names that we do not know are refused later
    stored = dict(_variable(reader) for _ in range(reader.number("I")))
    aliases = {reader.text(): reader.text() for _ in range(reader.number("I"))}
    if reader.n_left:
        raise ValueError(f"{reader.n_left} bytes follow the end")
    quantised = next(
        (_QUANTISED[one.dtype] for one in stored.values() if one.dim() and one.dtype in _QUANTISED), None
    )
    weights = {
        key: _as_float(key, value, stored)
        for key, value in stored.items()
        if value.dim() and not key.endswith(_SCALE)
    }
    for key, of in aliases.items():
        if of not in weights:
            raise ValueError(f"{key} stands for {of}, which is not there")
        weights[key] = weights[of]
    settings: dict[str, Number] = {
        key: value.item() for key, value in stored.items() if not value.dim() and not key.endswith(_SCALE)
    }
    return Variables(weights, settings, quantised)


def _variable(reader: _Reader) -> tuple[str, Tensor]:
    name = reader.text()
    shape = [reader.number("I") for _ in range(reader.number("B"))]
    dtype = _TYPES[reader.number("B")]
    content = reader.bytes(reader.number("I"))
    array = np.frombuffer(bytearray(content), dtype=np.uint8)
    return name, torch.from_numpy(array).view(dtype).reshape(shape)


def _as_float(name: str, value: Tensor, stored: dict[str, Tensor]) -> Tensor:
    """An integer divided by its scale; what is no integer as it is."""
    if value.dtype not in _QUANTISED:
        return value
    scale = stored.get(f"{name}{_SCALE}")
    if scale is None:
        raise ValueError(f"{name} is of integers, but has no scale")
    rows = scale.float().reshape(-1, *[1] * (value.dim() - 1)) if scale.dim() else scale.float()
    return value.float() / rows

"""What this machine's CPU multiplies by itself, which decides how an engine's products are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch

Int8Inputs = Literal["int8", "uint8", "int16", "pairs"]
"""As what products with int8 weights in a compiled function read inputs that are rounded to int8.

"pairs" is as uint8, for a library that adds two products in 16 bits.
"""


@dataclass(frozen=True)
class CpuFeatures:
    """What a CPU multiplies by itself."""

    int8: bool
    """Four products of int8 at once, added in 32 bits: AVX-512 VNNI or AMX."""
    bfloat16: bool
    matrix_units: bool
    """AMX: tiles of bfloat16 and int8."""
    pairs: bool = False
    """Two products of int8 at once, added in 16 bits: AVX2, with a library that uses it."""

    @property
    def avx2(self) -> bool:
        """Whether it has AVX2 or what came after it: eight products of float32 at once, and int8 pays."""
        return self.int8 or self.pairs

    @property
    def only_pairs(self) -> bool:
        """Whether int8 is multiplied in pairs for want of better."""
        return self.pairs and not self.int8

    @property
    def int8_inputs(self) -> Int8Inputs:
        """For AMX with a sign, for AVX-512 VNNI without; AVX2 adds two products of 16 bits in 32."""
        if self.matrix_units:
            return "int8"
        return "uint8" if self.int8 else "int16"

    @classmethod
    def here(cls) -> CpuFeatures:
        """Of this machine; none where torch has nothing to use them."""
        known: dict[str, Any] = dict(torch.cpu.get_capabilities())
        has_onednn = bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
        has_fbgemm = "fbgemm" in torch.backends.quantized.supported_engines

        def has(*names: str) -> bool:
            return any(bool(known.get(name)) for name in names)

        has_units = has_onednn and has("amx_bf16") and has("amx_int8")
        return cls(
            int8=has_units or (has_fbgemm and has("avx512_vnni")),
            bfloat16=has_onednn and has("avx512_bf16", "amx_bf16"),
            matrix_units=has_units,
            pairs=has_fbgemm and has("avx2"),
        )

"""What a machine can do at most: bytes read a second and operations a second, and what follows for decoding.

Dimensions: B sentences, K beam size, S source tokens, T target tokens, D d_model, V vocabulary.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from nmt.config import TransformerConfig
from nmt.engines.cpu import CpuFeatures
from nmt.engines.kernels import FbgemmProduct

BYTES = {"float32": 4, "bfloat16": 2, "int8": 1}
SIDES = {"cpu": 2048, "cuda": 8192}
"""Of the matrices that are multiplied."""


def median_seconds(work: Callable[[], object], device: torch.device, repeats: int = 5) -> float:
    """Of some runs after one that is not counted."""
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    work()
    seconds = []
    for _ in range(repeats):
        wait()
        started = time.perf_counter()
        work()
        wait()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def measure_limits(weights_bytes: int, device: torch.device) -> dict[str, float]:
    """Bytes read and operations done in a second; a multiplication and an addition are two operations.

    Bytes are of a buffer as large as a model's weights, which caches may hold, and of one far larger;
    operations are of a large matrix product in each precision that the machine has, int8 with AVX2 alone by
    fbgemm, float32 on a CPU by the faster of torch's and oneDNN's: torch's leaves AVX-512 unused on some.
    """
    limits: dict[str, float] = {}
    for name, n_bytes in (("weights", weights_bytes), ("memory", 1 << 30)):
        buffer = torch.ones(n_bytes // 4, device=device)
        limits[f"bytes_per_s_{name}"] = n_bytes / median_seconds(buffer.sum, device)
    side = SIDES.get(device.type, SIDES["cpu"])
    operations = 2 * side**3
    features, is_cpu = CpuFeatures.here(), device.type == "cpu"
    for precision in ("float32", "bfloat16") if not is_cpu or features.bfloat16 else ("float32",):
        square = torch.randn(side, side, device=device).to(getattr(torch, precision))
        products: list[Callable[[], object]] = [partial(torch.matmul, square, square)]
        if is_cpu and precision == "float32" and torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
            onednn = torch.ops.mkldnn._linear_pointwise
            products.append(partial(onednn, square, square, None, "none", [], ""))
        seconds = min(median_seconds(product, device) for product in products)
        limits[f"operations_per_s_{precision}"] = operations / seconds
    square = torch.randint(-100, 100, (side, side), dtype=torch.int8, device=device)
    if is_cpu and features.only_pairs:  # torch's product is a plain loop there
        fbgemm, inputs = FbgemmProduct(square.float(), in_pairs=True), square.float()
        seconds = median_seconds(lambda: fbgemm(inputs), device)
    else:
        other = square.t() if device.type == "cuda" else square  # the only layout that there is a kernel for
        seconds = median_seconds(lambda: torch._int_mm(square, other), device)
    limits["operations_per_s_int8"] = operations / seconds
    return limits


def decoder_parameters(config: TransformerConfig) -> int:
    """Weights that each decoder step reads: the layers and the projection to the vocabulary."""
    layer = 6 * config.d_model**2 + 2 * config.d_model * config.d_ff  # keys and values of the source are kept
    return config.n_decoder_layers * layer + config.vocab_size * config.d_model


def encoder_parameters(config: TransformerConfig) -> int:
    """Weights that each source token is multiplied by, those for keys and values of the decoder included."""
    layer = 4 * config.d_model**2 + 2 * config.d_model * config.d_ff
    return config.n_encoder_layers * layer + config.n_decoder_layers * 2 * config.d_model**2


def bound(
    config: TransformerConfig,
    limits: dict[str, Any],
    precision: str,
    *,
    n_steps: int,
    n_source_tokens: int,
    n_row_steps: int,
) -> float:
    """The fewest seconds that the products alone can take: the larger of reading and computing.

    Args:
        config: of the model.
        limits: of the machine.
        precision: of all weights.
        n_steps: decoder steps, each of which reads all weights once.
        n_source_tokens: read by the encoder.
        n_row_steps: rows of all steps together.
    """
    weights, encoder = decoder_parameters(config), encoder_parameters(config)
    reading = n_steps * weights * BYTES[precision] / limits["bytes_per_s_weights"]
    operations = 2 * (n_row_steps * weights + n_source_tokens * encoder)
    return float(max(reading, operations / limits[f"operations_per_s_{precision}"]))

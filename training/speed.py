"""Yardsticks of training speed: operations that a model needs, those that a device can do, memory.

Model FLOP utilisation (Chowdhery et al. 2022, PaLM, appendix B) is the share of a device's matrix products
that a training step puts to use: floating-point operations of the model's own products, forward and backward,
for each second, over those of one large product on the same device. Padding and recomputation do not count.

Dimensions: B sentences, S source length, T target length.
"""

from __future__ import annotations

import time
from pathlib import Path

import torch
from torch.utils.flop_counter import FlopCounterMode

from nmt.batch import Batch
from nmt.models.build import Model
from training.loss import label_smoothed_cross_entropy

PRODUCT_SIZE = {"cpu": 1024, "cuda": 8192}
"""Rows and columns of the matrices whose product is timed."""
PRODUCTS = 4


def operations_of_a_pair(model: Model, source_tokens: int, target_tokens: int) -> int:
    """Floating-point operations of one pair's products, forward and backward: counted, not estimated.

    Args:
        model: any architecture, without gradients; it is left without.
        source_tokens: S, with EOS.
        target_tokens: T, with EOS.
    """
    device = next(model.parameters()).device
    source_BS = torch.ones(1, source_tokens, dtype=torch.long, device=device)
    target_BT = torch.ones(1, target_tokens, dtype=torch.long, device=device)
    real_BS, real_BT = source_BS.bool(), target_BT.bool()
    with FlopCounterMode(display=False) as counter:
        hidden_BTD, _ = model.decode(Batch(source_BS, real_BS, target_BT, target_BT, real_BT))
        loss = label_smoothed_cross_entropy(hidden_BTD, model.output.weight_VD, target_BT, real_BT, 0.0)
        loss.smoothed.backward()  # type: ignore[no-untyped-call]
    model.zero_grad(set_to_none=True)
    return int(counter.get_total_flops())


def has_bf16_units(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 itself: NVIDIA from Ampere on, CPUs with AMX or AVX-512 BF16."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device)[0] >= 8
    known = torch.cpu.get_capabilities()
    has_onednn = bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
    return device.type == "cpu" and has_onednn and any(map(known.get, ("avx512_bf16", "amx_bf16")))


def operations_per_second(device: torch.device, dtype: torch.dtype) -> float:
    """Operations a second of the device in one large matrix product, the fastest of several."""
    size = PRODUCT_SIZE.get(device.type, 1024)
    left, right = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    fastest_s = float("inf")
    for _ in range(PRODUCTS):
        _wait_for(device)
        began_s = time.perf_counter()
        torch.mm(left, right)
        _wait_for(device)
        fastest_s = min(fastest_s, time.perf_counter() - began_s)
    return 2.0 * size**3 / fastest_s


def peak_memory_mib(device: torch.device) -> float:
    """The most memory this process has held: the device's, on a CPU the resident set (0 where unknown)."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)

"""Which engine searches for a model, and why: chosen once, when the model is loaded.

eager     the model as it is written, in PyTorch: any device, any architecture; the reference
int8      CTranslate2 with weights and products of 8 bits; on a CPU
float32   CTranslate2, the model's own numbers but for rounding
bfloat16  CTranslate2 with weights and products of 16 bits, where the device has them
float16   the same
auto      CTranslate2 where it is installed and can run the model: int8 on a CPU, float16 on a GPU;
          otherwise eager
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch

from nmt.errors import ConfigError
from nmt.models.build import Model
from nmt.models.transformer import Transformer

EngineName = Literal["auto", "eager", "int8", "float32", "bfloat16", "float16"]
OLDEST = (4, 6)
"""CTranslate2 before this version is not tested."""


@dataclass(frozen=True)
class Choice:
    """An engine by name, and the reason for it in words."""

    name: EngineName
    why: str

    @property
    def is_ctranslate2(self) -> bool:
        """Whether CTranslate2 searches."""
        return self.name != "eager"


def choose(model: Model, device: torch.device, requested: str = "auto") -> Choice:
    """The engine for ``model`` on ``device``.

    Args:
        model: with its weights.
        device: where it is.
        requested: a name of this module's table.

    Raises:
        ConfigError: there is no such engine, or it cannot run this model here.
    """
    if requested not in get_args(EngineName):
        raise ConfigError(f"engine {requested!r} is unknown; choose one of {', '.join(get_args(EngineName))}")
    if requested == "eager":
        return Choice("eager", "asked for")
    obstacle = _obstacle(model, device)
    if obstacle is None and requested != "auto":
        usable = _compute_types(device)
        if requested in usable:
            return Choice(requested, "asked for; CTranslate2")  # type: ignore[arg-type]
        obstacle = f"CTranslate2 computes {', '.join(sorted(usable))} on this {device.type}"
    if requested == "auto":
        if obstacle is not None:
            return Choice("eager", obstacle)
        return _fastest(device)
    raise ConfigError(f"engine {requested}: {obstacle}; choose auto or eager")


def _fastest(device: torch.device) -> Choice:
    usable = _compute_types(device)
    order: tuple[EngineName, ...] = ("int8", "float32") if device.type == "cpu" else ("float16", "float32")
    name = next(name for name in order if name in usable)
    return Choice(
        name, f"CTranslate2, the fastest on a {device.type.replace('cuda', 'GPU').replace('cpu', 'CPU')}"
    )


def _obstacle(model: Model, device: torch.device) -> str | None:
    """Why CTranslate2 cannot run ``model`` on ``device``; None: it can."""
    obstacle = None
    if not isinstance(model, Transformer):
        obstacle = "the model is an RNN, and CTranslate2 runs Transformers"
    elif (dtype := model.output.weight_VD.dtype) != torch.float32:
        obstacle = f"the model's weights are {dtype}, not float32"
    elif device.type not in ("cpu", "cuda"):
        obstacle = f"the model is on {device.type}, and CTranslate2 runs on CPUs and GPUs of CUDA"
    return obstacle or _missing(device)


def _missing(device: torch.device) -> str | None:
    """What this installation of CTranslate2 lacks for ``device``; None: nothing."""
    try:
        import ctranslate2  # noqa: PLC0415 - may be missing, and takes time to load
    except (ImportError, OSError) as error:
        return f"CTranslate2 is missing ({error}): pip install ctranslate2"
    version, oldest = ctranslate2.__version__, ".".join(map(str, OLDEST))
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        return f"CTranslate2 {version} is older than {oldest}: pip install --upgrade ctranslate2"
    if device.type == "cuda" and not ctranslate2.get_cuda_device_count():
        return "this build of CTranslate2 sees no GPU"
    return None


def _compute_types(device: torch.device) -> set[str]:
    """The engines whose numbers CTranslate2 computes on ``device``."""
    import ctranslate2  # noqa: PLC0415

    found = ctranslate2.get_supported_compute_types(device.type, device.index or 0)
    return set(found) & set(get_args(EngineName))

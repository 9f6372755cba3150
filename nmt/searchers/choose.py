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
from typing import TYPE_CHECKING, get_args

from nmt.config import EngineName, RnnConfig, TransformerConfig
from nmt.device import kind_and_index
from nmt.errors import ConfigError
from nmt.model_folder.opened import AnyModel
from nmt.searchers.cublas import CUBLAS, load_cublas

if TYPE_CHECKING:
    import torch

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


def choose(loaded: AnyModel, device: torch.device | str, requested: str = "auto") -> Choice:
    """The engine for a model on ``device``.

    Args:
        loaded: the model; its weights are looked at where they are in memory.
        device: where it is.
        requested: a name of this module's table.

    Raises:
        ConfigError: there is no such engine, or it cannot run this model here.
    """
    if requested not in get_args(EngineName):
        raise ConfigError(f"engine {requested!r} is unknown; choose one of {', '.join(get_args(EngineName))}")
    if requested == "eager":
        return Choice("eager", "asked for")
    kind, index = kind_and_index(device)
    obstacle = _obstacle(loaded, kind)
    if obstacle is None and requested != "auto":
        usable = _compute_types(kind, index)
        if requested in usable:
            return Choice(requested, "asked for; CTranslate2")  # type: ignore[arg-type]
        obstacle = f"CTranslate2 computes {', '.join(sorted(usable))} on this {kind}"
    if requested == "auto":
        if obstacle is not None:
            return Choice("eager", obstacle)
        return _fastest(kind, index)
    raise ConfigError(f"engine {requested}: {obstacle}; choose auto or eager")


def _fastest(kind: str, index: int) -> Choice:
    usable = _compute_types(kind, index)
    order: tuple[EngineName, ...] = ("int8", "float32") if kind == "cpu" else ("float16", "float32")
    name = next(name for name in order if name in usable)
    return Choice(name, f"CTranslate2, the fastest on a {kind.replace('cuda', 'GPU').replace('cpu', 'CPU')}")


def _obstacle(loaded: AnyModel, kind: str) -> str | None:
    """Why CTranslate2 cannot run a model on a device of this kind; None: it can."""
    obstacle = None
    architecture = loaded.config.model
    if not isinstance(architecture, TransformerConfig):
        kind_of_model = "an RNN" if isinstance(architecture, RnnConfig) else "a decoder alone"
        obstacle = f"the model is {kind_of_model}, and CTranslate2 runs Transformers"
    elif architecture.beyond_exports is not None:
        obstacle = (
            f"the model has {architecture.beyond_exports}, which the export to CTranslate2 does not know"
        )
    elif kind not in ("cpu", "cuda"):
        obstacle = f"the model is on {kind}, and CTranslate2 runs on CPUs and GPUs of CUDA"
    elif loaded.unread_sha256 is None:  # from a file they are a Transformer's, in float32
        obstacle = _obstacle_in(loaded)
    return obstacle or _missing(kind)


def _obstacle_in(loaded: AnyModel) -> str | None:
    """Why CTranslate2 cannot run what is in memory."""
    import torch  # noqa: PLC0415 - takes a second, and is there already

    from nmt.models.transformer import Transformer  # noqa: PLC0415

    if not isinstance(loaded.model, Transformer):
        return f"the model is a {type(loaded.model).__name__}, and CTranslate2 runs Transformers"
    if (dtype := loaded.model.output.weight_VD.dtype) != torch.float32:
        return f"the model's weights are {dtype}, not float32"
    return None


def _missing(kind: str) -> str | None:
    """Lack of this installation of CTranslate2 for a device; None: nothing."""
    try:
        import ctranslate2  # noqa: PLC0415 - may be missing, and takes time to load
    except (ImportError, OSError) as error:
        return f"CTranslate2 is missing ({error}): pip install ctranslate2"
    version, oldest = ctranslate2.__version__, ".".join(map(str, OLDEST))
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        return f"CTranslate2 {version} is older than {oldest}: pip install --upgrade ctranslate2"
    if kind == "cuda" and not ctranslate2.get_cuda_device_count():
        return "this build of CTranslate2 sees no GPU"
    if kind == "cuda" and not load_cublas():
        return f"CTranslate2 finds no {CUBLAS} for the GPU: pip install nvidia-cublas-cu12"
    return None


def _compute_types(kind: str, index: int) -> set[str]:
    """The engines whose numbers CTranslate2 computes on a device."""
    import ctranslate2  # noqa: PLC0415

    found = ctranslate2.get_supported_compute_types(kind, index)
    return set(found) & set(get_args(EngineName))

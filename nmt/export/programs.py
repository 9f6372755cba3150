"""Both graphs of ``nmt.export.graphs`` as files: torch.export programs, or ONNX.

    encode.pt2, step.pt2      torch.export; read with ``torch.export.load``, or compiled by AOTInductor
    encode.onnx, step.onnx    ONNX; read with onnxruntime and others

Batch, beam, source length and past length may change; everything else is fixed. Weights are float32, in each
file its own.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch.export import ExportedProgram

from nmt.export.exportable import exportable
from nmt.export.graphs import EncodeGraph, StepGraph, dynamic_shapes, example
from nmt.model_folder.checkpoint import LoadedModel

ENCODE, STEP = "encode", "step"


Programs = dict[str, ExportedProgram]


def export_torch(loaded: LoadedModel, out: Path) -> None:
    """Write ``encode.pt2`` and ``step.pt2`` into ``out``, which must exist.

    Raises:
        ConfigError: the model is no Transformer, or has what the export does not know.
    """
    save_torch(traced(loaded), out)


def export_onnx(loaded: LoadedModel, out: Path) -> None:
    """Write ``encode.onnx`` and ``step.onnx`` into ``out``, which must exist.

    Raises:
        ConfigError: the model is no Transformer, or has what the export does not know.
        ImportError: onnx or onnxscript is not installed.
    """
    import onnxscript  # noqa: F401, PLC0415 - an optional extra, which torch's exporter needs

    save_onnx(traced(loaded, "ONNX"), out)


def save_torch(programs: Programs, out: Path) -> None:
    """As they are."""
    for name, program in programs.items():
        torch.export.save(program, out / f"{name}.pt2")


def save_onnx(programs: Programs, out: Path) -> None:
    """Converted, with inputs and outputs named after what they hold."""
    n_layers = len(programs[ENCODE].graph_signature.user_outputs) // 2
    tensors = [f"{kind}_{index}" for index in range(n_layers) for kind in ("key", "value")]
    memory, past = [f"memory_{name}" for name in tensors], [f"past_{name}" for name in tensors]
    inputs = {ENCODE: ["source", "mask"], STEP: ["tokens", "mask", *memory, *past]}
    outputs = {ENCODE: memory, STEP: ["log_probs", "attention", *(f"present_{name}" for name in tensors)]}
    for name, program in programs.items():
        with _quietly():
            converted = torch.onnx.export(
                program, input_names=inputs[name], output_names=outputs[name], dynamo=True, verbose=False
            )
        assert converted is not None
        converted.save(out / f"{name}.onnx", external_data=False)


def traced(loaded: LoadedModel, runtime: str = "torch.export") -> Programs:
    """Both graphs as programs whose sizes may change.

    Raises:
        ConfigError: ``runtime`` is not given such a model.
    """
    _, model = exportable(loaded, runtime)
    encode_inputs, step_inputs = example(model, loaded.config.special_ids.bos)
    encode_shapes, step_shapes = dynamic_shapes(model)
    with _quietly():
        return {
            ENCODE: torch.export.export(
                EncodeGraph(model).eval(), encode_inputs, dynamic_shapes=encode_shapes
            ),
            STEP: torch.export.export(StepGraph(model).eval(), step_inputs, dynamic_shapes=step_shapes),
        }


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the exporters' remarks about themselves: absent packages, names of dimensions used twice."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)

"""Our search over an exported model gives what it gives over the model: torch.export and onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.batch import Batch
from nmt.config import GenerationConfig
from nmt.export.decoder import ExportedDecoder, load_onnx, load_torch
from nmt.export.programs import Programs, save_onnx, save_torch, traced
from nmt.model_folder.checkpoint import LoadedModel
from nmt.search import search
from tests.nmt.export.conftest import BEAM, GREEDY, SENTENCES

Make = Callable[[str], LoadedModel]


def through_torch(programs: Programs, folder: Path) -> ExportedDecoder:
    save_torch(programs, folder)
    return load_torch(folder)


def through_onnx(programs: Programs, folder: Path) -> ExportedDecoder:
    for package in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    save_onnx(programs, folder)
    return load_onnx(folder, threads=1)


def check(loaded: LoadedModel, decoder: ExportedDecoder, options: GenerationConfig) -> None:
    special = loaded.config.special_ids
    for sentences in (SENTENCES, SENTENCES[:1]):  # several and one: a size of 1 is what tracers fix
        batch = Batch.from_ids(loaded.tokenizer.encode_batch(sentences), special=special)

        theirs = search(decoder, batch, options, special)

        ours = search(loaded.model, batch, options, special)
        for (our_best, *_), (their_best, *_) in zip(ours, theirs, strict=True):
            assert their_best.tokens == our_best.tokens
            assert their_best.token_log_probs == pytest.approx(our_best.token_log_probs, abs=1e-3)


@pytest.mark.exhaustive
@pytest.mark.parametrize("through", [through_torch, through_onnx])
def test_an_exported_model_gives_the_same_tokens_and_log_probabilities(
    through: Callable[[Programs, Path], ExportedDecoder], make_loaded: Make, tmp_path: Path
) -> None:
    loaded = make_loaded("one encoder layer")
    decoder = through(traced(loaded), tmp_path)

    for options in (GREEDY, BEAM.model_copy(update={"coverage_penalty": 0.2})):
        check(loaded, decoder, options)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["post-norm", "gelu, untied, learned", "deep encoder"])
@pytest.mark.parametrize("through", [through_torch, through_onnx])
def test_other_variants_do_too(
    through: Callable[[Programs, Path], ExportedDecoder], variant: str, make_loaded: Make, tmp_path: Path
) -> None:
    loaded = make_loaded(variant)

    check(loaded, through(traced(loaded), tmp_path), BEAM)

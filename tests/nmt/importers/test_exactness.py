"""An imported checkpoint computes what transformers computes with the original."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.batch import Batch
from nmt.config import GenerationConfig
from nmt.importers.read import import_checkpoint
from nmt.model_folder.checkpoint import LoadedModel, load_model_folder
from nmt.pipeline.requests import Search
from nmt.searchers.ctranslate2 import CTranslate2Searcher, load_ctranslate2
from nmt.searchers.step import StepSearcher
from tests.nmt.importers.checkpoints import make_marian, make_multilingual

KINDS = {
    "opus-mt": make_marian,
    "opus-mt relu": lambda folder: make_marian(folder, activation_function="relu", scale_embedding=False),
    "opus-mt gelu": lambda folder: make_marian(folder, activation_function="gelu"),
    "opus-mt separate": lambda folder: make_marian(folder, separate=True),
    "m2m-100": make_multilingual,
    "nllb": lambda folder: make_multilingual(folder, nllb=True),
}
MOST_TOKENS = 14
Both = tuple[Any, LoadedModel]


@pytest.fixture(scope="module", params=KINDS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """The original in transformers and the same checkpoint as our model folder."""
    folder = tmp_path_factory.mktemp("checkpoint")
    original = KINDS[request.param](folder / "theirs")
    return original, load_model_folder(import_checkpoint(str(folder / "theirs"), folder / "ours"))


def random_sources(loaded: LoadedModel, n: int) -> list[list[int]]:
    """Ids of ordinary pieces, each source 1 to 12 long, with the prefix of its language."""
    generator = torch.Generator().manual_seed(3)
    prefix = loaded.source_tokenizer.prefix
    lengths = torch.randint(1, 13, (n,), generator=generator).tolist()
    return [[*prefix, *torch.randint(4, 120, (length,), generator=generator).tolist()] for length in lengths]


def searching(loaded: LoadedModel, beam_size: int) -> GenerationConfig:
    """At most ``MOST_TOKENS``, and no repair, which theirs has not."""
    return loaded.generation.model_copy(
        update={
            "beam_size": beam_size,
            "max_length_ratio": 1e-6,
            "max_length_offset": MOST_TOKENS - 1,
            "repair_loops": False,
        }
    )


def theirs(source: list[int], loaded: LoadedModel) -> torch.Tensor:
    return torch.tensor([[*source, loaded.config.special_ids.eos]])


def started(loaded: LoadedModel) -> list[int]:
    """What their decoder reads before the translation."""
    before = getattr(loaded.model, "token_before_bos", None)
    return [*([] if before is None else [before]), loaded.config.special_ids.bos]


@torch.inference_mode()
def test_log_probabilities_are_theirs(both: Both):
    original, loaded = both
    special = loaded.config.special_ids
    sources = random_sources(loaded, 20)
    targets = [[id_ % 115 + 4 for id_ in source[::-1]] for source in sources]
    batch = Batch.from_ids(sources, targets, special=special)
    ours = loaded.model(batch).log_softmax(dim=-1)
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        read = torch.tensor([[*started(loaded), *target]])
        logits = original(input_ids=theirs(source, loaded), decoder_input_ids=read).logits[0]
        expected = logits[-len(target) - 1 :].log_softmax(dim=-1)
        torch.testing.assert_close(ours[row, : len(target) + 1], expected, atol=1e-4, rtol=5e-5)


@torch.inference_mode()
def test_the_encoder_is_theirs(both: Both):
    original, loaded = both
    for source in random_sources(loaded, 5):
        batch = Batch.from_ids([source], special=loaded.config.special_ids)
        expected = original.get_encoder()(input_ids=theirs(source, loaded)).last_hidden_state
        torch.testing.assert_close(loaded.model.encode(batch), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("beam_size", [1, 4])
@torch.inference_mode()
def test_search_finds_what_theirs_finds(both: Both, beam_size: int):
    """By mean log-probability, or where theirs counts the language's piece in the length by the sum."""
    original, loaded = both
    special = loaded.config.special_ids
    sources = random_sources(loaded, 200)
    is_named = len(started(loaded)) > 1
    normalization = "none" if is_named else "mean"
    options = searching(loaded, beam_size).model_copy(update={"length_normalization": normalization})
    searcher = StepSearcher(loaded.model, special)
    found = searcher.search([Search(tuple(source), options) for source in sources], max_batch_tokens=4096)
    batch = Batch.from_ids(sources, special=special)
    expected = original.generate(
        input_ids=batch.source_BS,
        attention_mask=batch.source_mask_BS.long(),
        num_beams=beam_size,
        length_penalty=0.0 if is_named else 1.0,
        early_stopping=beam_size > 1,
        max_length=MOST_TOKENS + 1 + len(started(loaded)),
        forced_bos_token_id=special.bos if is_named else None,
        forced_eos_token_id=None,
        suppress_tokens=[special.pad] if is_named else sorted({special.pad, special.bos}),
    )
    compared = [
        (list(best.tokens), row[: row.index(special.eos)] if special.eos in row else row[:MOST_TOKENS])
        for row, (best, *_) in zip(expected[:, len(started(loaded)) :].tolist(), found, strict=True)
        if beam_size == 1 or (best.finished and special.eos in row)  # theirs may prefer what has no end
    ]
    assert len(compared) >= 50
    assert [ours for ours, _ in compared] == [others for _, others in compared]


@pytest.mark.parametrize("beam_size", [1, 4])
def test_ctranslate2_finds_what_the_reference_finds(
    both: Both, beam_size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    _, loaded = both
    monkeypatch.setenv("PASSERELLE_CACHE", str(tmp_path))
    steps = StepSearcher(loaded.model, loaded.config.special_ids)
    fast = CTranslate2Searcher(load_ctranslate2(loaded, torch.device("cpu"), "float32", 1), loaded, steps, 1)
    options = searching(loaded, beam_size)
    asked = [Search(tuple(source), options) for source in random_sources(loaded, 40)]
    pairs = zip(
        fast.search(asked, max_batch_tokens=4096), steps.search(asked, max_batch_tokens=4096), strict=True
    )
    equal = [
        (ours[0].tokens == others[0].tokens, ours[0].score == pytest.approx(others[0].score, abs=1e-3))
        for ours, others in pairs
    ]
    # Theirs shares out the mass of what is forbidden, and counts a language's piece in the length.
    is_named = len(started(loaded)) > 1
    assert sum(tokens for tokens, _ in equal) >= (34 if is_named and beam_size > 1 else 38)
    assert all(score for tokens, score in equal if tokens)

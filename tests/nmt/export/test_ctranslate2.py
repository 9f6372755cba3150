"""What CTranslate2 makes of an exported model is what this library makes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.batch import Batch
from nmt.config import GenerationConfig
from nmt.export.ctranslate2 import export_ctranslate2
from nmt.model_folder.checkpoint import LoadedModel, load_model_folder, resolve_model
from nmt.search import search
from tests.nmt.conftest import SENTENCES as ENGLISH_AND_FRENCH
from tests.nmt.export.conftest import BEAM, GREEDY, LIMIT, SENTENCES, VARIANTS

ctranslate2 = pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")

Pieces = list[list[str]]


def exported(loaded: LoadedModel, folder: Path) -> Any:
    export_ctranslate2(loaded, folder)
    return ctranslate2.Translator(str(folder), device="cpu", intra_threads=1)


def pieces(loaded: LoadedModel, ids: list[list[int]]) -> Pieces:
    return [[loaded.tokenizer.pieces[id_] for id_ in sentence] for sentence in ids]


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_exported_model_gives_every_token_the_same_log_probability(
    variant: str, make_loaded: Callable[[str], LoadedModel], tmp_path: Path
) -> None:
    loaded = make_loaded(variant)
    source = loaded.tokenizer.encode_batch(SENTENCES)
    target = loaded.tokenizer.encode_batch(ENGLISH_AND_FRENCH[1 : 2 * len(SENTENCES) : 2])

    theirs = exported(loaded, tmp_path).score_batch(pieces(loaded, source), pieces(loaded, target))

    batch = Batch.from_ids(source, target, special=loaded.config.special_ids)
    log_probs_BTV = loaded.model(batch).log_softmax(dim=-1)
    ours_BT = log_probs_BTV.gather(2, batch.target_out_BT.unsqueeze(2)).squeeze(2)
    for log_probs_T, ids, result in zip(ours_BT, target, theirs, strict=True):
        assert log_probs_T[: len(ids) + 1].tolist() == pytest.approx(result.log_probs, abs=0.05)
        assert log_probs_T[: len(ids) + 1].std() > 1


@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_an_exported_model_writes_the_same_tokens(
    variant: str, options: GenerationConfig, make_loaded: Callable[[str], LoadedModel], tmp_path: Path
) -> None:
    loaded = make_loaded(variant)
    ids = loaded.tokenizer.encode_batch(SENTENCES)
    special = loaded.config.special_ids

    theirs = exported(loaded, tmp_path).translate_batch(
        pieces(loaded, ids),
        beam_size=options.beam_size,
        length_penalty=1,
        max_decoding_length=LIMIT,
        suppress_sequences=[[loaded.tokenizer.pieces[id_]] for id_ in (special.pad, special.bos)],
    )

    ours = search(loaded.model, Batch.from_ids(ids, special=special), options, special)
    tokens = [list(best.tokens) for best, *_ in ours]
    assert pieces(loaded, tokens) == [result.hypotheses[0] for result in theirs]
    assert {len(sentence) for sentence in tokens} == {LIMIT}
    assert len({tuple(sentence) for sentence in tokens}) > 1


@pytest.mark.slow
def test_the_shipped_model_gives_the_same_translations_there(tmp_path: Path) -> None:
    loaded = load_model_folder(resolve_model())
    ids = loaded.tokenizer.encode_batch(ENGLISH_AND_FRENCH[::2])
    options = BEAM.model_copy(update={"beam_size": 5, "max_length_offset": 100})

    theirs = exported(loaded, tmp_path).translate_batch(pieces(loaded, ids), beam_size=5, length_penalty=1)

    special = loaded.config.special_ids
    with torch.inference_mode():
        ours = search(loaded.model, Batch.from_ids(ids, special=special), options, special)
    assert pieces(loaded, [list(best.tokens) for best, *_ in ours]) == [
        result.hypotheses[0] for result in theirs
    ]

"""The best extensions of a beam, compiled: what is not compiled, for any number of anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import GenerationConfig, SpecialIds
from nmt.engines import packages
from nmt.engines.choose import build_decoder, choose, ranking_folder
from nmt.engines.packed import PackedTransformer
from nmt.engines.ranking import compile_ranking, folder_of, load_ranking
from nmt.engines.whole import n_beside
from nmt.extensions import Extensions, best_of_blocks
from nmt.search import search
from nmt.search.continuous import ContinuousSearch, Sentence
from tests.nmt.engines.in_threads import check_in_threads
from tests.nmt.engines.marks import needs_compiler
from tests.nmt.engines.random_models import random_transformer

CPU = torch.device("cpu")
SPECIAL = SpecialIds()
SOURCES = [[5, 6, 7, 8, 9, 10, 11], [12, 13], [14, 15, 16, 17]]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(packages.CACHE, str(tmp_path))


def scores(B: int, K: int, n: int, X: int) -> list[Tensor]:
    """With rows out of the running, tokens that are not allowed, and the largest close together."""
    scores_BKnX = torch.randn(B, K, n, X)
    scores_BKnX[0, 0, 1] += 10
    scores_BKnX[:, :, :, 2] = -torch.inf
    offsets_BK = torch.randn(B, K)
    offsets_BK[-1, 1:] = -torch.inf
    return [scores_BKnX, offsets_BK, scores_BKnX.amax(dim=3)]


@needs_compiler
@torch.inference_mode()
def test_what_is_compiled_computes_the_same_and_is_chosen() -> None:
    assert load_ranking(folder_of(8)) is None
    folder = compile_ranking(8)
    made = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert compile_ranking(8) == folder == folder_of(8)
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == made
    assert folder_of(16) != folder
    rank = load_ranking(folder)
    assert rank is not None
    torch.manual_seed(1)
    for size in ((1, 1, 2), (1, 5, 25), (3, 2, 40), (8, 5, 1500), (64, 5, 30), (2, 32, 9)):
        arguments = scores(*size, 8)
        before = arguments[0].clone()
        found, expected = rank(*arguments, None, 5), best_of_blocks(*arguments, None, 5)
        values_BC, rows_BC, tokens_BC = found[:3]
        assert torch.equal(values_BC, expected.sums_BC)
        assert all(map(torch.equal, found[3:], expected[3:]))
        scores_NV = (arguments[0] + arguments[1][..., None, None]).view(size[0] * size[1], -1)
        assert torch.equal(scores_NV[rows_BC, tokens_BC], values_BC)
        assert torch.equal(rows_BC // size[1], torch.arange(size[0])[:, None].expand_as(rows_BC))
        assert all(len(set(row)) == 2 * size[1] for row in (rows_BC * size[2] * 8 + tokens_BC).tolist())
        assert torch.equal(arguments[0], before)

        forbidden_nX = torch.zeros(size[2], 8)
        forbidden_nX[0, 3] = forbidden_nX[1, 4] = -torch.inf
        allowed = arguments[0] + forbidden_nX
        arguments = [arguments[0], arguments[1], allowed.amax(dim=3)]
        for function in (rank, best_of_blocks):
            found = function(*arguments, forbidden_nX, 5)
            assert torch.equal(found.sums_BC, best_of_blocks(allowed, *arguments[1:], None, 5).sums_BC)
            assert not set(found.tokens_BC[found.sums_BC > -torch.inf].tolist()) & {3, 8 + 4}
            assert not set(found.going_tokens_N[found.going_sums_N > -torch.inf].tolist()) & {3, 5, 8 + 4}
    check_in_threads(
        lambda given: rank(*given, None, 5), [scores(number, 5, 20, 8) for number in (1, 2, 3, 9)]
    )

    model = random_transformer(vocab_size=200)
    assert n_beside(200) == 8
    plain = choose(model, CPU, "float32", compiled=False)
    choice = choose(model, CPU, "float32")
    assert plain.ranking is None
    assert choice.ranking == folder == ranking_folder(model, plain)
    assert choice.why.endswith("the ranking of a beam too")
    assert choose(random_transformer(vocab_size=208), CPU, "float32").ranking is None
    assert ranking_folder(model, choose(model, CPU, "eager")) is None
    decoder = build_decoder(model, choice)
    assert isinstance(decoder, PackedTransformer)
    assert decoder.rank is not best_of_blocks
    assert build_decoder(model, plain).rank is best_of_blocks  # type: ignore[attr-defined]
    batch, options = Batch.from_ids(SOURCES, special=SPECIAL), GenerationConfig(beam_size=3, n_best=3)
    found = search(decoder, batch, options, SPECIAL)
    for ours, theirs in zip(found, search(build_decoder(model, plain), batch, options, SPECIAL), strict=True):
        assert [entry.tokens for entry in ours] == [entry.tokens for entry in theirs]


@torch.inference_mode()
def test_a_search_ranks_as_its_decoder_does() -> None:
    """In a batch, and where sentences join one that runs."""
    model, asked = random_transformer(vocab_size=512), list[tuple[int, ...]]()

    def rank(scores_BKnX: Tensor, *others: Any) -> Extensions:
        asked.append(tuple(scores_BKnX.shape[:2]))
        return best_of_blocks(scores_BKnX, *others)

    decoder = PackedTransformer(model, layers="float32", output="float32", rank=rank)
    batch, options = Batch.from_ids(SOURCES, special=SPECIAL), GenerationConfig(beam_size=3)
    found = search(decoder, batch, options, SPECIAL)
    assert asked[0] == (3, 3)
    asked.clear()
    running = ContinuousSearch(decoder, SPECIAL)
    running.add([Sentence(place, tuple(source), options) for place, source in enumerate(SOURCES)])
    outcomes = {}
    while running.running:
        outcomes.update({outcome.key: outcome.hypotheses for outcome in running.step()})
    assert asked[0] == (3, 3)
    assert [outcomes[place][0].tokens for place in range(3)] == [entry[0].tokens for entry in found]

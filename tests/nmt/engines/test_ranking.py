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
from nmt.extensions import Blocks, Extensions, best_of_blocks
from nmt.search import search
from nmt.search.continuous import ContinuousSearch, Sentence
from tests.nmt.engines.in_threads import check_in_threads
from tests.nmt.engines.marks import needs_compiler
from tests.nmt.engines.random_models import random_transformer

CPU = torch.device("cpu")
SPECIAL = SpecialIds()
SOURCES = [[5, 6, 7, 8, 9, 10, 11], [12, 13], [14, 15, 16, 17]]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all these tests: what one has compiled another takes."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(packages.CACHE, str(cache))


def scores(B: int, K: int, blocks: Blocks) -> list[Tensor]:
    """With rows out of the running, tokens that are not allowed, and the largest close together."""
    scores_BKZXG = torch.randn(B, K, *blocks)
    scores_BKZXG[0, 0, 0, :, 1] += 10
    scores_BKZXG[:, :, :, 2] = -torch.inf
    offsets_BK = torch.randn(B, K)
    offsets_BK[-1, 1:] = -torch.inf
    return [scores_BKZXG, offsets_BK, scores_BKZXG.amax(dim=3).flatten(2)]


@needs_compiler
@pytest.mark.parametrize("n_lanes", [16, 8])  # the first as the next test's model has them
@torch.inference_mode()
def test_what_is_compiled_computes_the_same(n_lanes: int) -> None:
    like = Blocks(3, 13, n_lanes)
    assert load_ranking(folder_of(like)) is None
    folder = compile_ranking(like)
    made = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert compile_ranking(like) == folder == folder_of(like._replace(n_groups=7))
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == made
    assert len({folder, folder_of(like._replace(size=20)), folder_of(like._replace(n_lanes=4))}) == 3
    rank = load_ranking(folder)
    assert rank is not None
    torch.manual_seed(1)
    for B, K, n_groups in ((1, 1, 1), (1, 5, 3), (3, 2, 5), (8, 5, 150), (64, 5, 3), (2, 32, 1)):
        blocks = like._replace(n_groups=n_groups)
        vocab_size = n_groups * blocks.size * n_lanes
        arguments = scores(B, K, blocks)
        before = arguments[0].clone()
        found, expected = rank(*arguments, None, 5), best_of_blocks(*arguments, None, 5)
        values_BC, rows_BC, tokens_BC = found[:3]
        assert torch.equal(values_BC, expected.sums_BC)
        assert all(map(torch.equal, found[3:], expected[3:]))
        scores_NV = (arguments[0] + arguments[1][..., None, None, None]).view(B * K, -1)
        assert torch.equal(scores_NV[rows_BC, tokens_BC], values_BC)
        assert torch.equal(rows_BC // K, torch.arange(B)[:, None].expand_as(rows_BC))
        assert all(len(set(row)) == 2 * K for row in (rows_BC * vocab_size + tokens_BC).tolist())
        assert torch.equal(arguments[0], before)

        forbidden_V = torch.zeros(vocab_size)
        forbidden_V[[3, 12]] = -torch.inf
        forbidden_ZXG = forbidden_V.view(*blocks)
        allowed = arguments[0] + forbidden_ZXG
        arguments = [arguments[0], arguments[1], allowed.amax(dim=3).flatten(2)]
        for function in (rank, best_of_blocks):
            found = function(*arguments, forbidden_ZXG, 5)
            assert torch.equal(found.sums_BC, best_of_blocks(allowed, *arguments[1:], None, 5).sums_BC)
            assert not set(found.tokens_BC[found.sums_BC > -torch.inf].tolist()) & {3, 12}
            assert not set(found.going_tokens_N[found.going_sums_N > -torch.inf].tolist()) & {3, 5, 12}
    check_in_threads(
        lambda given: rank(*given, None, 5),
        [scores(number, 5, like._replace(n_groups=4)) for number in (1, 2, 3, 9)],
    )


@needs_compiler
@torch.inference_mode()
def test_what_is_compiled_is_chosen() -> None:
    model = random_transformer(vocab_size=208)
    folder = compile_ranking(Blocks.of(208))
    plain = choose(model, CPU, "float32", compiled=False)
    choice = choose(model, CPU, "float32")
    assert plain.ranking is None
    assert choice.ranking == folder == ranking_folder(model, plain)
    assert choice.why.endswith("the ranking of a beam too")
    assert choose(random_transformer(vocab_size=224), CPU, "float32").ranking is None
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

    def rank(scores_BKZXG: Tensor, *others: Any) -> Extensions:
        asked.append(tuple(scores_BKZXG.shape[:2]))
        return best_of_blocks(scores_BKZXG, *others)

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

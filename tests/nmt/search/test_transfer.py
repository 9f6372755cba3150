"""Numbers that travel packed arrive as they were, and search on a GPU is search on a CPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nmt.config import GenerationConfig, SamplingConfig
from nmt.search import Prefixes, search
from nmt.search.transfer import in_one_piece, to_cpu
from tests.doubles import SPECIAL, hash_decoder
from tests.nmt.search.oracle import SOURCES, assert_same, batch_of


def test_packed_numbers_arrive_bit_for_bit() -> None:
    log_probs = torch.randn(3, 4, generator=torch.Generator().manual_seed(0)) * 1e-7 - 123.4
    log_probs[0, 0], log_probs[1, 1] = -torch.inf, torch.nan
    ids = torch.tensor([[0, 2**31 + 1], [16_777_217, 5]])
    for moved in (in_one_piece((log_probs, ids, ids[0])), to_cpu(log_probs, ids, ids[0])):
        assert torch.equal(moved[0].view(torch.int32), log_probs.view(torch.int32))
        assert torch.equal(moved[1], ids)
        assert torch.equal(moved[2], ids[0])
        assert [tensor.dtype for tensor in moved] == [torch.float32, torch.int64, torch.int64]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize(
    "way",
    [
        {"beam_size": 1, "no_repeat_ngram_size": 2},
        {"beam_size": 4, "n_best": 4, "no_repeat_ngram_size": 2},
        {"beam_size": 4, "n_best": 2, "coverage_penalty": 0.3},
        {"beam_size": 4, "n_best": 3, "sampling": SamplingConfig(top_k=9, top_p=0.9)},
    ],
    ids=str,
)
def test_search_on_a_gpu_finds_what_search_on_a_cpu_finds(way: dict[str, Any]) -> None:
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=9, **way)
    prefixes = [(4, 5), (), (6,), (), ()]
    found = [
        search(
            hash_decoder(128, eos_bias=4.0, attention=True),
            batch_of(*SOURCES).to(device),
            options,
            SPECIAL,
            Prefixes(prefixes),
        )
        for device in ("cpu", "cuda")
    ]
    for on_cpu, on_gpu in zip(*found, strict=True):
        assert_same(on_gpu, on_cpu)

"""What training speed is measured against, and ``nmt bench train``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from nmt.config import RnnConfig, TransformerConfig
from nmt.models.build import build_model
from testbed.corpora import write_toy
from training.bench import bench_training
from training.speed import has_bf16_units, operations_of_a_pair, operations_per_second, peak_memory_mib


def by_hand(config: TransformerConfig, S: int, T: int) -> int:
    """Products of the Transformer's layers, each 2 operations an element, and twice as many backward."""
    D, F, V = config.d_model, config.d_ff, config.vocab_size
    encoder = S * (4 * D * D + 2 * D * F) + 2 * S * S * D
    decoder = T * (6 * D * D + 2 * D * F) + 2 * S * D * D + 2 * T * T * D + 2 * T * S * D
    layers = config.n_encoder_layers * encoder + config.n_decoder_layers * decoder
    return 3 * 2 * (layers + T * V * D)


@pytest.mark.parametrize(("S", "T"), [(5, 7), (12, 3)])
def test_operations_are_those_of_the_products(S: int, T: int):
    config = TransformerConfig(
        vocab_size=50, d_model=16, d_ff=24, n_heads=2, n_encoder_layers=3, n_decoder_layers=2
    )
    assert operations_of_a_pair(build_model(config), S, T) == by_hand(config, S, T)


def test_counting_operations_leaves_no_gradients():
    model = build_model(RnnConfig(vocab_size=50, d_embedding=8, d_hidden=8))
    assert operations_of_a_pair(model, 4, 5) > 0
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.mark.parametrize("capabilities", [{"avx512_bf16": True}, {"amx_bf16": True, "amx_int8": True}, {}])
def test_bf16_is_for_cpus_that_multiply_it(monkeypatch: pytest.MonkeyPatch, capabilities: dict[str, bool]):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    assert has_bf16_units(torch.device("cpu")) == bool(capabilities)


def test_a_device_does_more_than_none():
    assert operations_per_second(torch.device("cpu"), torch.float32) > 1e8
    assert peak_memory_mib(torch.device("cpu")) > 10


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_bench_train_reports_speed_and_writes_nothing(tmp_path: Path, precision: str):
    recipe = write_toy(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    report = bench_training(
        str(recipe), None, 2, [f"training.precision={precision}", "training.batch_tokens=64"]
    )
    assert sorted(tmp_path.rglob("*")) == before
    assert report.target_tokens_per_update == 64
    assert report.target_tokens_per_second > 0
    assert 0 < report.utilisation < 1
    assert json.loads(report.json())["precision"] == precision
    assert "target tokens/s" in report.text()

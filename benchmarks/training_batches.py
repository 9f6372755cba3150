"""Batches for ``benchmarks/training.py``: real ones as training draws them, or a fixed one of random ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from benchmarks.training_peers import BOS, EOS, PAD
from nmt.batch import Batch
from nmt.config import TransformerConfig
from nmt.models.build import build_model
from nmt.tokenizer import Tokenizer
from training.batching import BatchStream
from training.data.shards import PreparedCorpus
from training.speed import operations_of_a_pair

FIXED_LENGTH = 32
"""Tokens of each side of each pair in the fixed batch, EOS included."""


def real_batches(
    corpus: Path, shape: dict[str, Any], batch_tokens: int, first: int, count: int
) -> list[Batch]:
    """Batches of an epoch from the ``first`` on, as training draws them."""
    prepared = PreparedCorpus.open(corpus)
    tokenizer = Tokenizer.load(prepared.tokenizer_file)
    if tokenizer.vocab_size != shape["vocab_size"]:
        raise SystemExit(f"{corpus}: {tokenizer.vocab_size} pieces; prepare it with {shape['vocab_size']}")
    stream = BatchStream(
        prepared.split("train"), tokenizer, batch_tokens=batch_tokens, seed=1, subword_sampling=0.0
    )
    return [stream.next() for _ in range(first + count)][first:]


def fixed_batch(vocab_size: int, rows: int) -> Batch:
    """Random ids without padding."""
    torch.manual_seed(1)
    ids = torch.randint(4, vocab_size, (2, rows, FIXED_LENGTH))
    ids[:, :, -1] = EOS
    real = torch.ones(rows, FIXED_LENGTH, dtype=torch.bool)
    target_in_BT = ids[1].roll(1, dims=1)
    target_in_BT[:, 0] = BOS
    return Batch(ids[0], real, target_in_BT, ids[1], real)


def write(batches: list[Batch], file: Path) -> None:
    """Batches as ``benchmarks.training_peers`` reads them."""
    tensors = {}
    for index, batch in enumerate(batches):
        assert batch.target_in_BT is not None
        assert batch.target_out_BT is not None
        assert batch.target_mask_BT is not None
        tensors |= {
            f"{index}.source": batch.source_BS.masked_fill(~batch.source_mask_BS, PAD).clone(),
            f"{index}.source_mask": batch.source_mask_BS.clone(),
            f"{index}.target_in": batch.target_in_BT.clone(),
            f"{index}.target_out": batch.target_out_BT.clone(),
            f"{index}.target_mask": batch.target_mask_BT.clone(),
        }
    save_file(tensors, file)


def target_tokens_of(batch: Batch) -> int:
    """Real target tokens, EOS counted."""
    assert batch.target_mask_BT is not None
    return int(batch.target_mask_BT.sum())


def operations_of(shape: dict[str, Any], batches: list[Batch]) -> list[int]:
    """Operations of each batch's real tokens: of a pair of its mean lengths, times its pairs."""
    names = ("vocab_size", "d_model", "d_ff", "n_heads")
    config = TransformerConfig(
        **{name: shape[name] for name in names},
        n_encoder_layers=shape["n_layers"],
        n_decoder_layers=shape["n_layers"],
    )
    model = build_model(config)
    found = []
    for batch in batches:
        assert batch.target_mask_BT is not None
        means = (round(int(mask.sum()) / batch.size) for mask in (batch.source_mask_BS, batch.target_mask_BT))
        found.append(batch.size * operations_of_a_pair(model, *means))
    return found

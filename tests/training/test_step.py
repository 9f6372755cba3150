"""One forward pass with its loss."""

from __future__ import annotations

import pytest
import torch

from nmt.batch import Batch
from nmt.config import SpecialIds, TransformerConfig
from nmt.models.build import build_model
from training.objective import Objective
from training.step import TeacherForcedLoss


def teacher_forced(dropout: float, r_drop: float) -> TeacherForcedLoss:
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=20, d_model=16, d_ff=32, n_heads=2, n_encoder_layers=1, n_decoder_layers=1, dropout=dropout
    )
    return TeacherForcedLoss(build_model(config), Objective(0.1, r_drop), bf16=False, compiled=False)


@pytest.fixture
def batch():
    return Batch.from_ids([[5, 6, 7], [8]], [[9, 10], [11, 12, 13]], special=SpecialIds())


def test_r_drop_reads_a_batch_twice_in_training_alone(batch):
    seen = []
    for r_drop in (0.0, 5.0):
        loss = teacher_forced(0.3, r_drop)
        sizes: list[int] = []
        decode = loss._decode
        loss._decode = lambda read, decode=decode, sizes=sizes: (sizes.append(read.size), decode(read))[1]
        loss.train()(batch)
        loss.eval()(batch)
        seen.append(sizes)
    assert seen == [[2, 2], [4, 2]]


def test_without_dropout_r_drop_changes_nothing(batch):
    plain, twice = (teacher_forced(0.0, r_drop).train()(batch) for r_drop in (0.0, 5.0))
    torch.testing.assert_close(plain.smoothed, twice.smoothed)
    assert plain.n_tokens == twice.n_tokens == 7


def test_with_dropout_the_two_readings_differ_and_their_divergence_costs(batch):
    torch.manual_seed(1)
    apart = teacher_forced(0.3, 0.001).train()(batch).smoothed
    torch.manual_seed(1)
    drawn_together = teacher_forced(0.3, 5.0).train()(batch).smoothed
    assert drawn_together > apart

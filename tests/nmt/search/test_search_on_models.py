"""Search over the real models: what it reports is what a forced pass says, in any company."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nmt.batch import Batch
from nmt.config import GenerationConfig, ModelConfig, RnnConfig, SamplingConfig, TransformerConfig
from nmt.models.build import build_model
from nmt.search import Prefixes, search
from tests.doubles import SPECIAL
from tests.nmt.search.oracle import SOURCES, batch_of

MODELS: dict[str, ModelConfig] = {
    "transformer": TransformerConfig(
        vocab_size=24, d_model=16, d_ff=32, n_heads=2, n_encoder_layers=2, n_decoder_layers=2
    ),
    "rnn_attention": RnnConfig(vocab_size=24, d_embedding=16, d_hidden=16),
    "rnn_plain": RnnConfig(vocab_size=24, d_embedding=16, d_hidden=16, attention="none"),
}
WAYS: list[dict[str, Any]] = [
    {"beam_size": 1},
    {"beam_size": 5, "n_best": 5},
    {"beam_size": 3, "n_best": 3, "sampling": SamplingConfig(seed=2)},
]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("way", WAYS, ids=["greedy", "beam", "sampling"])
def test_search_reports_the_log_probability_of_a_forced_pass(name: str, way: dict[str, Any]) -> None:
    torch.manual_seed(1)
    model = build_model(MODELS[name]).eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter.mul_(3)  # so that the history matters
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=6, no_repeat_ngram_size=3, **way)
    prefixes = [(4, 5), (), (6,), (), (9, 9, 9)]
    together = search(model, batch_of(*SOURCES), options, SPECIAL, Prefixes(prefixes))
    for source, prefix, found in zip(SOURCES, prefixes, together, strict=True):
        (alone,) = search(model, batch_of(source), options, SPECIAL, Prefixes([prefix]))
        assert [entry.tokens for entry in found] == [entry.tokens for entry in alone]
        for entry in found:
            batch = Batch.from_ids([source], [entry.tokens], special=SPECIAL)
            assert batch.target_out_BT is not None
            log_probs_TV = model(batch)[0].float().log_softmax(dim=-1)
            steps = log_probs_TV.gather(1, batch.target_out_BT[0].unsqueeze(1)).flatten()
            expected = steps.sum() if entry.finished else steps[:-1].sum()
            assert entry.log_prob == pytest.approx(float(expected), abs=1e-3)
            reported = torch.tensor(entry.token_log_probs)
            torch.testing.assert_close(reported, steps[: len(reported)], atol=1e-3, rtol=0)
            assert len(reported) == len(entry.tokens) + entry.finished

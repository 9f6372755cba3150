"""Candidates of a sentence: how they are drawn, scored, and how probable they are."""

from __future__ import annotations

import pytest
import torch
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from nmt.batch import Batch
from nmt.config import ModelConfig, RnnConfig, SpecialIds, TransformerConfig
from nmt.models.build import build_model
from nmt.tokenizer import Tokenizer
from testbed.corpora import PAIRS
from training.candidates import Sampler, candidate_log_probs, sequence_log_probs

SMALL = {"d_model": 16, "d_ff": 32, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1}


def batch_of(tokenizer: Tokenizer, n: int) -> Batch:
    sides = [[tokenizer.encode(pair[side]) for pair in PAIRS[:n]] for side in (0, 1)]
    return Batch.from_ids(*sides, special=tokenizer.special)


@pytest.mark.parametrize("pointer", ["none", "source"])
def test_a_sequence_is_as_probable_as_its_words_one_by_one_and_padding_changes_nothing(pointer: str):
    torch.manual_seed(1)
    special = SpecialIds()
    model = build_model(TransformerConfig(vocab_size=40, pointer=pointer, **SMALL)).eval()
    source, target = [[5, 6, 7], [8]], [[9], [10, 11, 12, 13]]
    together = sequence_log_probs(model, Batch.from_ids(source, target, special=special))
    for row in range(2):
        words = Batch.from_ids([source[row]], [target[row]], special=special)
        log_probs_TV = model(words)[0].log_softmax(-1).detach()
        by_hand = sum(float(log_probs_TV[t, id_]) for t, id_ in enumerate([*target[row], special.eos]))
        assert together[row].item() == pytest.approx(by_hand, rel=1e-5)


@pytest.mark.parametrize(("measure", "metric"), [("chrf", CHRF()), ("bleu", BLEU(effective_order=True))])
def test_samples_are_scored_by_sacrebleu_each_once_the_best_first(tokenizer, measure, metric):
    torch.manual_seed(1)
    model = build_model(TransformerConfig(vocab_size=tokenizer.vocab_size, dropout=0.5, **SMALL)).train()
    batch = batch_of(tokenizer, 4)
    sampler = Sampler(tokenizer, 6, measure=measure)
    torch.manual_seed(3)
    drawn = sampler(model, batch, with_references=True)
    assert model.training
    for found, pair in zip(drawn, PAIRS, strict=False):
        assert len({candidate.tokens for candidate in found}) == len(found) <= 7
        assert found[0] == (tuple(tokenizer.encode(pair[1])), pytest.approx(1.0))
        assert found[-1].score < 0.5
        for candidate in found:
            written = tokenizer.decode(candidate.tokens)
            assert candidate.score == pytest.approx(metric.sentence_score(written, [pair[1]]).score / 100)
        assert [candidate.score for candidate in found] == sorted((c.score for c in found), reverse=True)
    torch.manual_seed(3)
    assert sampler(model, batch, with_references=True) == drawn
    assert sampler(model, batch, with_references=True) != drawn


@pytest.mark.parametrize(
    "config",
    [
        TransformerConfig(vocab_size=40, **SMALL),
        TransformerConfig(vocab_size=40, token_before_bos=7, **SMALL),
        TransformerConfig(vocab_size=40, pointer="source", **SMALL),
        TransformerConfig(vocab_size=40, sources="hierarchical", separator=4, **SMALL),
        RnnConfig(vocab_size=40, d_embedding=8, d_hidden=8),
    ],
)
def test_candidates_are_as_probable_together_as_each_by_itself(tokenizer: Tokenizer, config: ModelConfig):
    torch.manual_seed(1)
    special = SpecialIds()
    model = build_model(config).eval()
    sides = [[5, 6, 4, 7], [8, 4, 9]]
    candidates = [[(9,), (10, 11, 12, 13), ()], [(12, 13)]]
    batch = Batch.from_ids(sides, [[9], [9]], special=special)
    found = candidate_log_probs(model, batch, candidates, tokenizer)
    assert found.shape == (2, 3)
    for row, own in enumerate(candidates):
        for k, target in enumerate(own):
            alone = sequence_log_probs(model, Batch.from_ids([sides[row]], [target], special=special))
            assert found[row, k].item() == pytest.approx(alone.item(), rel=1e-5)
    assert found[1, 1:].tolist() == [-torch.inf, -torch.inf]


def test_a_transformer_reads_a_source_once_for_all_its_candidates(tokenizer: Tokenizer):
    model = build_model(TransformerConfig(vocab_size=40, **SMALL)).eval()
    read: list[int] = []
    model.encoder_layers[0].register_forward_hook(lambda _, given, __: read.append(given[0].size(0)))
    batch = Batch.from_ids([[5, 6], [7]], [[9], [9]], special=tokenizer.special)
    candidate_log_probs(model, batch, [[(8,), (9,)], [(9,), (10,), (11,)]], tokenizer)
    assert read == [2]

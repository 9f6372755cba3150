"""Every architecture learns to copy, reverse or sort; the attention of what reverses is the anti-diagonal."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch

from nmt.batch import Batch
from nmt.config import (
    DecoderOnlyConfig,
    GenerationConfig,
    ModelConfig,
    RnnConfig,
    SpecialIds,
    TransformerConfig,
)
from nmt.models.build import Model, build_model
from nmt.search import search
from training.objective import Objective
from training.schedule import build_schedule

SPECIAL = SpecialIds()
VOCAB = 14
SMALL = {
    "d_model": 32,
    "d_ff": 64,
    "n_heads": 2,
    "n_encoder_layers": 1,
    "n_decoder_layers": 1,
    "dropout": 0.0,
}
ARCHITECTURES: dict[str, tuple[ModelConfig, int]] = {
    "transformer-pre-norm": (TransformerConfig(vocab_size=VOCAB, **SMALL), 700),
    "transformer-post-norm": (TransformerConfig(vocab_size=VOCAB, norm="post", **SMALL), 800),
    "rnn-with-attention": (RnnConfig(vocab_size=VOCAB, d_embedding=24, d_hidden=48, dropout=0.0), 250),
    "rnn-plain": (
        RnnConfig(vocab_size=VOCAB, d_embedding=24, d_hidden=64, dropout=0.0, attention="none"),
        600,
    ),
}
TASKS: dict[str, Callable[[list[int]], list[int]]] = {
    "copy": list,
    "reverse": lambda ids: ids[::-1],
    "sort": sorted,
}
RNN = {"d_embedding": 24, "d_hidden": 48, "dropout": 0.0}
VARIANTS: dict[str, tuple[ModelConfig, int, str]] = {
    "decoder only": (
        DecoderOnlyConfig(vocab_size=VOCAB, d_model=32, d_ff=64, n_heads=2, n_layers=2, dropout=0.0),
        400,
        "reverse",
    ),
    "last attention": (RnnConfig(vocab_size=VOCAB, coverage="last_attention", **RNN), 120, "copy"),
    "hard attention": (RnnConfig(vocab_size=VOCAB, attention="hard", **RNN), 200, "reverse"),
    "monotonic attention": (RnnConfig(vocab_size=VOCAB, attention="monotonic", **RNN), 200, "copy"),
    "copying": (RnnConfig(vocab_size=VOCAB, pointer="source", **RNN), 100, "reverse"),
    "pointing": (RnnConfig(vocab_size=VOCAB, pointer="written", **RNN), 200, "sort"),
    "no positions": (TransformerConfig(vocab_size=VOCAB, positions="none", **SMALL), 450, "sort"),
    "rotary": (TransformerConfig(vocab_size=VOCAB, positions="rotary", **SMALL), 450, "reverse"),
    "alibi": (TransformerConfig(vocab_size=VOCAB, positions="alibi", **SMALL), 600, "copy"),
}


Task = Callable[[random.Random, int], tuple[list[list[int]], list[list[int]]]]


def pairs(
    generator: random.Random, count: int, task: str = "reverse", vocab: int = VOCAB
) -> tuple[list[list[int]], list[list[int]]]:
    source = [[generator.randrange(4, vocab) for _ in range(generator.randint(3, 6))] for _ in range(count)]
    return source, [TASKS[task](ids) for ids in source]


def learn(config: ModelConfig, updates: int, task: str | Task = "reverse", vocab: int = VOCAB) -> Model:
    torch.manual_seed(1)
    generator = random.Random(1)
    model = build_model(config).train()
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    schedule = build_schedule("cosine", 0.005, 30, updates, d_model=1)
    for update in range(1, updates + 1):
        drawn = pairs(generator, 64, task, vocab) if isinstance(task, str) else task(generator, 64)
        batch = Batch.from_ids(*drawn, special=SPECIAL)
        loss = Objective()(model, batch)
        (loss.smoothed / loss.n_tokens).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = schedule(update)
        optimizer.step()
        optimizer.zero_grad()
    return model.eval().requires_grad_(False)


def n_right(model: Model, source: list[list[int]], target: list[list[int]]) -> int:
    found = search(model, Batch.from_ids(source, special=SPECIAL), GenerationConfig(beam_size=2), SPECIAL)
    return sum(list(best[0].tokens) == ids for best, ids in zip(found, target, strict=True))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.exhaustive) if name != "copying" else name for name in VARIANTS],
)
def test_a_variant_learns_its_task(name: str):
    config, updates, task = VARIANTS[name]
    assert n_right(learn(config, updates, task), *pairs(random.Random(2), 100, task)) >= 90


SEPARATOR = 4
MASKED = 1


def two_sources(generator: random.Random, count: int) -> tuple[list[list[int]], list[list[int]]]:
    """A sequence twice, other words masked in each."""
    target = [[generator.randrange(5, VOCAB) for _ in range(4)] for _ in range(count)]
    halves = [generator.sample(range(4), 2) for _ in target]
    source = [
        [
            *(MASKED if place in half else word for place, word in enumerate(ids)),
            SEPARATOR,
            *(word if place in half else MASKED for place, word in enumerate(ids)),
        ]
        for ids, half in zip(target, halves, strict=True)
    ]
    return source, target


def with_a_sentence_before(generator: random.Random, count: int) -> tuple[list[list[int]], list[list[int]]]:
    """Only the sentence before tells whether a sequence begins with 5 or with 6."""
    before = [[generator.randrange(5, 7), generator.randrange(7, VOCAB)] for _ in range(count)]
    own = [[generator.randrange(7, VOCAB) for _ in range(2)] for _ in range(count)]
    source = [[*first, SEPARATOR, *second] for first, second in zip(before, own, strict=True)]
    return source, [[first[0], *second] for first, second in zip(before, own, strict=True)]


@pytest.mark.parametrize(
    ("sources", "task"),
    [
        pytest.param("flat", two_sources, marks=pytest.mark.exhaustive),
        pytest.param("hierarchical", two_sources, marks=pytest.mark.exhaustive),
        pytest.param("document", with_a_sentence_before, marks=pytest.mark.exhaustive),
    ],
)
def test_what_two_sources_or_the_sentence_before_tell_is_written(sources: str, task: Task):
    config = TransformerConfig(vocab_size=VOCAB, sources=sources, **SMALL)
    assert n_right(learn(config, 500, task), *task(random.Random(2), 100)) >= 80


def test_copying_writes_words_that_training_never_showed_and_without_it_none_are_written():
    source = [[4, 5, 12, 6], [13, 7, 8], [9, 12, 10, 11, 5], [6, 7, 13]]
    right = {}
    for pointer in ("source", "none"):
        config = RnnConfig(vocab_size=VOCAB, pointer=pointer, **RNN)
        model = learn(config, 150, "copy", vocab=12)
        right[pointer] = n_right(model, source, source)
    assert right["source"] >= 3
    assert right["none"] == 0


@pytest.mark.parametrize(
    "name",
    [
        "transformer-pre-norm",
        pytest.param("transformer-post-norm", marks=pytest.mark.exhaustive),
        pytest.param("rnn-with-attention", marks=pytest.mark.exhaustive),
        pytest.param("rnn-plain", marks=pytest.mark.exhaustive),
    ],
)
def test_an_architecture_learns_to_reverse_and_its_attention_is_the_anti_diagonal(name: str):
    model = learn(*ARCHITECTURES[name])
    source, target = pairs(random.Random(2), 100)
    assert n_right(model, source, target) >= 95

    _, attention_BTS = model.forward_with_attention(Batch.from_ids(source, target, special=SPECIAL))
    if name == "rnn-plain":
        assert attention_BTS is None
        return
    looked_at = [
        (attention_BTS[b, t].argmax().item(), len(ids) - 1 - t)
        for b, ids in enumerate(source)
        for t in range(len(ids))
    ]
    assert sum(seen == wanted for seen, wanted in looked_at) >= 0.95 * len(looked_at)

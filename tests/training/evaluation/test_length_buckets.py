"""BLEU by source length: each sentence in one bucket, each bucket scored by itself."""

from __future__ import annotations

import pytest

from training.evaluation.length_buckets import bleu_by_source_length


def sentence(words: int) -> str:
    return " ".join(f"mot{n}" for n in range(words))


def test_every_sentence_is_in_exactly_one_bucket() -> None:
    lines = [sentence(n) for n in range(1, 80)]

    buckets = bleu_by_source_length(lines, lines, lines, samples=20, seed=1)

    assert sum(bucket.sentences for bucket in buckets) == len(lines)
    assert [bucket.label for bucket in buckets][:3] == ["1–5", "6–10", "11–15"]
    assert buckets[0].sentences == 5
    assert (buckets[-1].label, buckets[-1].sentences) == ("over 60", 19)


def test_a_blank_source_counts_as_the_shortest() -> None:
    buckets = bleu_by_source_length(["", sentence(3)], ["un deux", "x"], ["un deux", "x"], samples=20, seed=1)

    assert [(bucket.label, bucket.sentences) for bucket in buckets] == [("1–5", 2)]


def test_a_model_that_fails_on_long_sentences_falls_in_the_long_buckets_only() -> None:
    sources = [sentence(4)] * 10 + [sentence(28)] * 10
    hypotheses = [line if len(line.split()) < 10 else "mot0 rien" for line in sources]

    short, long = bleu_by_source_length(sources, sources, hypotheses, samples=50, seed=1)

    assert short.bleu == pytest.approx(100)
    assert long.bleu < 5
    assert (long.shortest, long.longest, long.mean_words) == (26, 30, 28.0)


def test_empty_buckets_are_left_out() -> None:
    buckets = bleu_by_source_length([sentence(2), sentence(70)], ["a", "b"], ["a", "b"], samples=20, seed=1)

    assert [bucket.label for bucket in buckets] == ["1–5", "over 60"]

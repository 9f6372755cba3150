"""What hypotheses may hold: limits, forced prefixes, n-grams, markers."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch

from nmt.config import GenerationConfig, SamplingConfig
from nmt.extensions import block_maxima
from nmt.models.interface import Step, StepDecoder
from nmt.search import search, topk
from nmt.search.constraints import Constraints, max_length, repeating_tokens
from nmt.search.required import Required
from tests.doubles import SPECIAL, ScriptedDecoder, hash_decoder, table_decoder
from tests.nmt.search.oracle import SOURCES, all_finished, assert_same, batch_of, log_prob_of

WAYS: list[dict[str, Any]] = [
    {"beam_size": 1},
    {"beam_size": 4, "n_best": 4},
    {"beam_size": 4, "n_best": 3, "sampling": SamplingConfig(temperature=1.5, seed=3)},
]
WAY_NAMES = ["greedy", "beam", "sampling"]


def test_maximum_length_is_the_source_times_ratio_rounded_up_plus_offset() -> None:
    assert max_length(3, 1.5, 2) == 7
    assert max_length(4, 1.5, 2) == 8
    assert max_length(0, 2.0, 5) == 5
    assert max_length(50, 1.1, 1) == 56  # 1.1 * 50 is 55.00000000000001 in floating point


def test_maximum_length_counts_neither_padding_nor_eos() -> None:
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=1)
    assert Constraints.for_batch(batch_of((5, 6, 7), (8,)), options, SPECIAL).max_lengths == (4, 2)


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_pad_and_bos_are_never_generated(way: dict[str, Any]) -> None:
    table = {
        (): {SPECIAL.pad: 0.5, SPECIAL.bos: 0.4, 4: 0.1},
        (4,): {SPECIAL.pad: 0.5, SPECIAL.bos: 0.4, 5: 0.1},
    }
    (found,) = search(table_decoder(6, table), batch_of((4,)), GenerationConfig(**way), SPECIAL)
    assert {entry.tokens for entry in found} == {(4, 5)}


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_translations_begin_with_their_own_forced_prefix(way: dict[str, Any]) -> None:
    decoder = hash_decoder(12, eos_bias=1.0)
    prefixes = [(4, 5, 6, 7), (), (9,), (8, 8, 8), (10, 1)]
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=6, no_repeat_ngram_size=1, **way)
    options = options.model_copy(update={"no_repeat_ngram_size": 0})
    found = search(decoder, batch_of(*SOURCES), options, SPECIAL, prefixes)
    for source, prefix, hypotheses in zip(SOURCES, prefixes, found, strict=True):
        for entry in hypotheses:
            assert entry.tokens[: len(prefix)] == prefix
            log_prob = log_prob_of(decoder, source, entry.tokens, finished=entry.finished)
            assert entry.log_prob == pytest.approx(log_prob, abs=1e-4)
    free = search(decoder, batch_of(*SOURCES), options, SPECIAL)
    assert_same(found[1], free[1])
    assert any(found[place] != free[place] for place in (0, 2, 3, 4))


def test_after_a_forced_prefix_a_wide_beam_finds_the_best_continuation() -> None:
    decoder = hash_decoder(6, sharpness=1.0)
    options = GenerationConfig(beam_size=64, n_best=4, max_length_ratio=1e-9, max_length_offset=2)
    prefixes: list[tuple[int, ...]] = [(5,), (4, 1)]
    found = search(decoder, batch_of((5, 5), (4,)), options, SPECIAL, prefixes)
    for source, prefix, hypotheses in zip(((5, 5), (4,)), prefixes, found, strict=True):
        expected = all_finished(
            decoder,
            source,
            [1, 4, 5],
            3,
            options,
            allowed=lambda tokens, prefix=prefix: tokens[: len(prefix)] == prefix,  # type: ignore[misc]
        )
        assert_same(hypotheses, expected[:4])


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_a_prefix_longer_than_the_maximum_length_is_kept_whole(way: dict[str, Any]) -> None:
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=1, **way)
    decoder = hash_decoder(12, eos_bias=-50.0)
    found = search(decoder, batch_of((4,), (5,)), options, SPECIAL, [(4, 5, 6, 7), ()])
    assert {(entry.tokens, entry.finished) for entry in found[0]} == {((4, 5, 6, 7), False)}
    assert {len(entry.tokens) for entry in found[1]} == {2}


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_a_prefix_stays_with_its_sentence_when_others_leave(way: dict[str, Any]) -> None:
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=1, **way)
    prefixes = [(), (4, 5, 6, 7, 8, 9), (), (9, 8, 7, 6, 5, 4)]
    found = search(hash_decoder(12), batch_of((4,), (5,), (6,), (7,)), options, SPECIAL, prefixes)
    for prefix, hypotheses in zip(prefixes, found, strict=True):
        assert {entry.tokens[: len(prefix)] for entry in hypotheses} == {prefix}


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_a_forced_prefix_may_repeat_what_a_translation_may_not(way: dict[str, Any]) -> None:
    options = GenerationConfig(no_repeat_ngram_size=1, max_length_ratio=1.0, max_length_offset=4, **way)
    (found,) = search(hash_decoder(12), batch_of((4,)), options, SPECIAL, [(8, 8, 8)])
    for entry in found:
        assert entry.tokens[:3] == (8, 8, 8)
        rest = entry.tokens[3:]
        assert 8 not in rest
        assert len(set(rest)) == len(rest)


def test_prefixes_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(ValueError, match="1 prefixes for 2 sentences"):
        search(hash_decoder(), batch_of((4,), (5,)), GenerationConfig(), SPECIAL, [(4,)])
    for marker in (SPECIAL.pad, SPECIAL.bos, SPECIAL.eos):
        with pytest.raises(ValueError, match="neither PAD nor BOS nor EOS"):
            search(hash_decoder(), batch_of((4,), (5,)), GenerationConfig(), SPECIAL, [(4, marker), ()])


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_no_n_gram_repeats(size: int, way: dict[str, Any]) -> None:
    # Few tokens and no end: without the rule every translation repeats itself.
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=14, **way)
    repeated = 0
    for no_repeat in (0, size):
        decoder = hash_decoder(8, eos_bias=-9.0)
        rules = options.model_copy(update={"no_repeat_ngram_size": no_repeat})
        for hypotheses in search(decoder, batch_of(*SOURCES), rules, SPECIAL):
            for entry in hypotheses:
                ngrams = [entry.tokens[at : at + size] for at in range(len(entry.tokens) - size + 1)]
                repeated += len(ngrams) - len(set(ngrams)) if no_repeat == 0 else 0
                assert no_repeat == 0 or len(ngrams) == len(set(ngrams))
    assert repeated > 0


def test_the_n_gram_rule_forbids_nothing_else() -> None:
    def has_no_repeated_bigram(tokens: tuple[int, ...]) -> bool:
        bigrams = list(itertools.pairwise(tokens))
        return len(bigrams) == len(set(bigrams))

    # Two tokens, at most 4 of them: few enough for the beam, enough for a repeated bigram.
    decoder = ScriptedDecoder(hash_decoder(5, sharpness=0.5).next_log_probs)
    options = GenerationConfig(
        beam_size=64, n_best=31, no_repeat_ngram_size=2, max_length_ratio=1e-9, max_length_offset=3
    )
    (found,) = search(decoder, batch_of((4,)), options, SPECIAL)
    expected = all_finished(decoder, (4,), [1, 4], 4, options, allowed=has_no_repeated_bigram)
    assert len(expected) < 31
    assert_same([entry for entry in found if entry.finished], expected)


def test_repeating_tokens_worked_by_hand() -> None:
    history_NT = torch.tensor([[5, 6, 7, 5, 6], [5, 5, 5, 5, 5], [4, 5, 6, 7, 8]])
    assert repeating_tokens(history_NT, 3, none=0).tolist() == [[7, 0, 0], [5, 5, 5], [0, 0, 0]]
    assert repeating_tokens(history_NT, 1, none=0).tolist() == history_NT.tolist()


@pytest.mark.parametrize("rule", ["none", "n-grams", "prefix", "loops", "required"])
def test_known_maxima_are_those_of_the_scores_or_no_longer_known(rule: str) -> None:
    options = GenerationConfig(
        no_repeat_ngram_size=2 if rule == "n-grams" else 0, repair_loops=rule == "loops"
    )
    required = Required((9, 21), ((9,), ())) if rule == "required" else Required((9, 21), ((), ()))
    prefixes = [[], [30] * 20] if rule == "prefix" else None
    rules = Constraints.for_batch(batch_of((5, 6, 7), (8,)), options, SPECIAL, prefixes, required)
    history_NT = torch.tensor([[40, 41] * 8, [42] * 16])
    scores_NV = torch.randn(2, 48, generator=torch.Generator().manual_seed(1))
    # the largest of their blocks, until they are struck out
    scores_NV[:, [SPECIAL.pad, SPECIAL.bos, 9, 21]] = 10.0
    maxima_Nn = block_maxima(scores_NV)
    known_Nn = rules.apply(scores_NV, lambda: history_NT, (0, 1), (16, 16), maxima_Nn)
    if rule == "none":
        assert known_Nn is not None
        assert torch.equal(known_Nn, block_maxima(scores_NV))
    else:
        assert known_Nn is None
    assert rules.apply(scores_NV, lambda: history_NT, (0, 1), (16, 16)) is None


@dataclasses.dataclass
class TellingMaxima:
    """A decoder that tells the largest of each block of its scores."""

    decoder: StepDecoder[Any]
    start: Any = None
    reorder: Any = None
    told: Callable[[Step], Step] = lambda step: step

    def __post_init__(self) -> None:
        self.start, self.reorder = self.decoder.start, self.decoder.reorder

    def step(self, state: object, tokens_N: torch.Tensor) -> tuple[Step, object]:
        step, state = self.decoder.step(state, tokens_N)
        return self.told(step._replace(maxima_Nn=block_maxima(step.logits_NV))), state


@pytest.mark.parametrize("way", WAYS[:2], ids=WAY_NAMES[:2])
def test_search_takes_the_maxima_that_it_is_told(
    way: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told false ones, it looks in the blocks that they lead to."""
    monkeypatch.setattr(topk, "FEW_SCORES", 0)
    told = TellingMaxima(hash_decoder(3200))

    def of_some_blocks(step: Step) -> Step:
        assert step.maxima_Nn is not None
        step.maxima_Nn[:, 16:] = -torch.inf  # of the second group
        return step

    told.told = of_some_blocks
    options = GenerationConfig(repair_loops=False, **way)
    for hypotheses in search(told, batch_of(*SOURCES), options, SPECIAL):
        assert max(token for entry in hypotheses for token in entry.tokens) < 1600


@pytest.mark.parametrize("rule", [{}, {"no_repeat_ngram_size": 2}])
@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_known_maxima_change_no_search(
    way: dict[str, Any], rule: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topk, "FEW_SCORES", 0)
    decoder = hash_decoder(400, eos_bias=3.0)
    options = GenerationConfig(**way, **rule)
    found = search(TellingMaxima(decoder), batch_of(*SOURCES), options, SPECIAL)
    for ours, theirs in zip(found, search(decoder, batch_of(*SOURCES), options, SPECIAL), strict=True):
        assert_same(ours, theirs)

"""Every engine is the model: same tokens, same log-probabilities within what its precision allows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from nmt.batch import Batch
from nmt.config import GenerationConfig, SpecialIds, TransformerConfig
from nmt.engines.cpu import CpuFeatures
from nmt.engines.kernels import Precision
from nmt.engines.packed import PackedState, PackedTransformer
from nmt.models.build import build_transformer
from nmt.models.interface import MergingDecoder, StateT
from nmt.models.transformer import Transformer
from nmt.search import Hypothesis, search
from nmt.search.continuous import ContinuousSearch, Sentence

SPECIAL = SpecialIds()
VOCAB = 192  # three blocks of 64, so that blockwise search is taken
SHAPES: dict[str, dict[str, object]] = {
    "pre-norm": {},
    "post-norm": {"norm": "post"},
    "learned positions, GELU": {"positions": "learned", "activation": "gelu", "tie_embeddings": "none"},
    "pruned": {"kept_heads": {"encoder": [1, 2], "decoder": [2, 1], "cross": [1, 2]}},
}
SOURCES = [[5, 6, 7, 8, 9, 10, 11], [12, 13], [14, 15, 16, 17], [18], [19, 20, 21, 22, 23, 24, 25, 26, 27]]
FEW = CpuFeatures.here()
KINDS: list[tuple[Precision, Precision, float]] = [("float32", "float32", 1e-5)]
if FEW.bfloat16:
    KINDS += [("bfloat16", "bfloat16", 0.25), ("bfloat16", "int8", 0.25)]
if FEW.int8:
    KINDS += [("int8", "int8", 0.25)]


def tiny(**changes: object) -> Transformer:
    """Weights tripled, so that history and source matter."""
    sizes = {"d_model": 16, "d_ff": 32, "n_heads": 2, "n_encoder_layers": 2, "n_decoder_layers": 2}
    config = TransformerConfig.model_validate({"vocab_size": VOCAB, **sizes, **changes})
    torch.manual_seed(0)
    model = build_transformer(config).eval().requires_grad_(False)
    for name, parameter in model.named_parameters():
        if "norm" not in name:
            parameter.mul_(3.0)
    return model


def kinds() -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("layers", "output", "tolerance"), KINDS, ids=["-".join(k[:2]) for k in KINDS]
    )


def probable(log_probs_NV: torch.Tensor) -> torch.Tensor:
    """Where a difference matters."""
    return log_probs_NV > -7.0


def step_side_by_side(
    model: Transformer,
    engine: MergingDecoder[StateT],
    batch: Batch,
    orders: Sequence[Sequence[int]],
    tolerance: float,
) -> StateT:
    """Both read the same, with beams of 2, and are reordered; the engine's state at the end."""
    device = batch.source_BS.device
    expected_state, state = model.start(batch, 2), engine.start(batch, 2)
    tokens = torch.full((2 * batch.size,), SPECIAL.bos, device=device)
    for number, order in enumerate(orders):
        expected, expected_state = model.step(expected_state, tokens)
        step, state = engine.step(state, tokens)
        assert step.attention_NS is None
        difference_NV = (step.log_probs_NV - expected.log_probs_NV).abs()
        assert float(difference_NV[probable(expected.log_probs_NV)].mean()) < tolerance
        rows_N = torch.tensor(order, device=device)
        expected_state, state = model.reorder(expected_state, rows_N), engine.reorder(state, rows_N)
        tokens = (rows_N * 7 + number) % (VOCAB - 4) + 4
    return state


def assert_same(mine: Sequence[Hypothesis], theirs: Sequence[Hypothesis]) -> None:
    """Equal tokens, log-probabilities equal within what float32 allows a sentence."""
    assert [hypothesis.tokens for hypothesis in mine] == [hypothesis.tokens for hypothesis in theirs]
    assert [hypothesis.log_prob for hypothesis in mine] == pytest.approx(
        [hypothesis.log_prob for hypothesis in theirs], abs=2e-4
    )


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@kinds()
def test_a_forced_pass_has_the_states_of_the_model(
    shape: dict[str, object], layers: Precision, output: Precision, tolerance: float
) -> None:
    model = tiny(**shape)
    engine = PackedTransformer(model, layers=layers, output=output)
    targets = [[31, 32, 33], [34, 35, 36, 37, 38, 39], [40], [41, 42, 43, 44], [45, 46, 47, 48, 49]]
    with torch.inference_mode():
        for sources, own in ((SOURCES, targets), (SOURCES[:1], targets[:1])):
            batch = Batch.from_ids(sources, own, special=SPECIAL)
            assert batch.target_mask_BT is not None
            masks = (batch.source_mask_BS, batch.target_mask_BT)
            for of_model, of_engine, mask in zip(
                model.states(batch), engine.states(batch), masks, strict=True
            ):
                assert of_engine.dtype == engine.dtype
                torch.testing.assert_close(
                    of_engine.float()[mask], of_model[mask], atol=tolerance * 3, rtol=tolerance
                )


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@kinds()
@torch.inference_mode()
def test_what_was_searched_is_not_encoded_again_and_its_states_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
    shape: dict[str, object],
    layers: Precision,
    output: Precision,
    tolerance: float,
) -> None:
    engine = PackedTransformer(tiny(**shape), layers=layers, output=output)
    targets = [[31, 32, 33], [34, 35, 36, 37, 38, 39], [40], [41, 42, 43, 44], [45, 46, 47, 48, 49]]
    batch = Batch.from_ids(SOURCES[::-1], targets, special=SPECIAL)
    anew = engine.states(batch)
    engine.start(Batch.from_ids(SOURCES[:2], special=SPECIAL), 2)
    engine.start(Batch.from_ids(SOURCES[2:], special=SPECIAL), 2)
    monkeypatch.setattr(engine, "_encode", lambda *_: pytest.fail("encoded again"))
    kept = engine.states(batch)
    assert batch.target_mask_BT is not None
    masks = (batch.source_mask_BS, batch.target_mask_BT)
    for one, other, mask in zip(kept, anew, masks, strict=True):
        assert one.dtype == other.dtype == engine.dtype
        torch.testing.assert_close(one.float()[mask], other.float()[mask], atol=tolerance * 3, rtol=tolerance)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@kinds()
@torch.inference_mode()
def test_an_engine_steps_and_reorders_as_the_model_does(
    shape: dict[str, object], layers: Precision, output: Precision, tolerance: float
) -> None:
    model = tiny(**shape)
    engine = PackedTransformer(model, layers=layers, output=output)
    # duplicated and exchanged rows; then the first, third and last sentence leave one after another
    orders = [[1, 0, 3, 3, 4, 5, 7, 6, 9, 8], [2, 3, 4, 5, 6, 7, 8, 9], [1, 0, 4, 4, 6, 7], [1, 1, 3, 2]]
    step_side_by_side(model, engine, Batch.from_ids(SOURCES, special=SPECIAL), orders, tolerance)


@kinds()
@torch.inference_mode()
def test_merged_states_go_on_as_if_apart(layers: Precision, output: Precision, tolerance: float) -> None:
    engine = PackedTransformer(tiny(), layers=layers, output=output)

    def read(source: list[list[int]], n_steps: int) -> PackedState:
        state = engine.start(Batch.from_ids(source, special=SPECIAL), 2)
        rows_N = torch.arange(2 * len(source))
        for number in range(n_steps):
            _, state = engine.step(state, (rows_N * 3 + number) % 100 + 4)
            state = engine.reorder(state, rows_N.view(-1, 2).flip(1).flatten())
        return state

    merged = engine.merge(engine.merge(read(SOURCES[:2], 4), read(SOURCES[2:3], 0)), read(SOURCES[3:], 2))
    merged = engine.reorder(merged, torch.tensor([3, 2, 6, 7, 9, 9]))  # the group in the middle is gone
    first = engine.reorder(read(SOURCES[:2], 4), torch.tensor([3, 2]))
    last = engine.reorder(read(SOURCES[3:], 2), torch.tensor([0, 1, 3, 3]))
    for number in range(3):
        tokens_N = torch.arange(6) * 5 + number + 4
        step, merged = engine.step(merged, tokens_N)
        own_first, first = engine.step(first, tokens_N[:2])
        own_last, last = engine.step(last, tokens_N[2:])
        expected_NV = torch.cat([own_first.log_probs_NV, own_last.log_probs_NV])
        difference_NV = (step.log_probs_NV - expected_NV).abs()
        assert float(difference_NV[probable(expected_NV)].mean()) < tolerance


@pytest.mark.parametrize("beam_size", [1, 4])
@torch.inference_mode()
def test_the_float32_engine_finds_what_the_model_finds(beam_size: int) -> None:
    model = tiny()
    engine = PackedTransformer(model, layers="float32", output="float32")
    options = GenerationConfig(beam_size=beam_size, n_best=beam_size)
    batch = Batch.from_ids(SOURCES, special=SPECIAL)
    expected = search(model, batch, options, SPECIAL)
    found = search(engine, batch, options, SPECIAL)
    for mine, theirs in zip(found, expected, strict=True):
        assert_same(mine, theirs)


@pytest.mark.parametrize("beam_size", [1, 3])
@torch.inference_mode()
def test_batched_is_alone_and_so_is_continuous(beam_size: int) -> None:
    engine = PackedTransformer(tiny(), layers="float32", output="float32")
    options = GenerationConfig(beam_size=beam_size)
    together = search(engine, Batch.from_ids(SOURCES, special=SPECIAL), options, SPECIAL)
    alone = [search(engine, Batch.from_ids([ids], special=SPECIAL), options, SPECIAL)[0] for ids in SOURCES]
    running = ContinuousSearch(engine, SPECIAL)
    continuous = {}
    for key, ids in enumerate(SOURCES):
        running.add([Sentence(key, tuple(ids), options)])
        continuous.update({outcome.key: outcome.hypotheses for outcome in running.step()})
    while running.running:
        continuous.update({outcome.key: outcome.hypotheses for outcome in running.step()})
    for key, (one, other) in enumerate(zip(together, alone, strict=True)):
        assert one[0].tokens == other[0].tokens == continuous[key][0].tokens
        assert one[0].log_prob == pytest.approx(other[0].log_prob, abs=2e-4)


@torch.inference_mode()
def test_what_the_cache_holds_follows_what_is_running() -> None:
    engine = PackedTransformer(tiny(), layers="float32", output="float32")
    state = engine.start(Batch.from_ids(SOURCES * 10, special=SPECIAL), 1)
    for number in range(40):
        _, state = engine.step(state, torch.full((50 - number,), 9))
        state = engine.reorder(state, torch.arange(1, 50 - number))
    past = state.groups[0].past
    key_NHTE, _ = past.in_order(0)
    assert (key_NHTE.size(0), key_NHTE.size(2)) == (10, 40)
    assert past.layers[0][0][0].numel() < 1.5 * key_NHTE.numel()


def test_a_position_past_the_models_last_is_refused() -> None:
    engine = PackedTransformer(tiny(max_positions=8), layers="float32", output="float32")
    with pytest.raises(ValueError, match="position 9 is past the model's 8 positions"):
        engine.start(Batch.from_ids([list(range(4, 13))], special=SPECIAL), 1)


class HalfTheVocabulary:
    """A shortlist: the special pieces, and those that are even or odd as the sentence's first piece is."""

    def _list(self, source: Sequence[int]) -> set[int]:
        return {*range(4), *range(4 + (source[0] % 2), VOCAB, 2)}

    def for_sources(self, sources: Sequence[Sequence[int]]) -> torch.Tensor:
        return torch.tensor(sorted(set().union(*map(self._list, sources))))

    def forbidden(self, sources: Sequence[Sequence[int]], ids_U: torch.Tensor) -> torch.Tensor:
        return torch.tensor([[id_ not in self._list(ids) for id_ in ids_U.tolist()] for ids in sources])


@kinds()
@torch.inference_mode()
def test_a_shortlist_leaves_each_sentence_its_own_pieces_and_their_order(
    layers: Precision, output: Precision, tolerance: float
) -> None:
    model = tiny()
    whole = PackedTransformer(model, layers=layers, output=output)
    short = PackedTransformer(model, layers=layers, output=output, shortlist=HalfTheVocabulary())
    batches = [Batch.from_ids(sources, special=SPECIAL) for sources in (SOURCES[:2], SOURCES[2:])]
    whole_state = whole.merge(*(whole.start(batch, 2) for batch in batches))
    short_state = short.merge(*(short.start(batch, 2) for batch in batches))
    sources = SOURCES
    for order in ([1, 0, 2, 3, 5, 4, 6, 7, 8, 9], [2, 3, 6, 7, 8, 8], [0, 1, 2, 3, 4, 5]):
        tokens_N = torch.arange(len(sources) * 2) + 4
        expected, whole_state = whole.step(whole_state, tokens_N)
        step, short_state = short.step(short_state, tokens_N)
        forbidden_BV = HalfTheVocabulary().forbidden(sources, torch.arange(VOCAB))
        forbidden_NV = forbidden_BV.repeat_interleave(2, dim=0)
        assert torch.equal(step.log_probs_NV == -torch.inf, forbidden_NV)
        own_NV = expected.log_probs_NV.masked_fill(forbidden_NV, -torch.inf).log_softmax(dim=1)
        difference_NV = (step.log_probs_NV - own_NV)[~forbidden_NV].abs()
        assert float(difference_NV.mean()) < tolerance
        rows_N = torch.tensor(order)
        whole_state, short_state = whole.reorder(whole_state, rows_N), short.reorder(short_state, rows_N)
        sources = [sources[row // 2] for row in order[::2]]


@torch.inference_mode()
def test_the_encoder_computes_with_tokens_only(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = PackedTransformer(tiny(), layers="float32", output="float32")
    rows: list[int] = []
    norm = engine._encoder_norm
    monkeypatch.setattr(engine, "_encoder_norm", lambda x_MD: (rows.append(x_MD.size(0)), norm(x_MD))[1])
    engine.start(Batch.from_ids(SOURCES, special=SPECIAL), 2)
    assert rows == [sum(len(source) + 1 for source in SOURCES)]


@kinds()
@torch.inference_mode()
def test_nan_of_a_sentence_stays_in_it_through_the_encoder(
    layers: Precision, output: Precision, tolerance: float
) -> None:
    model = tiny()
    model.source_embedding.weight_VD[SOURCES[1][0]] = torch.nan
    batch = Batch.from_ids(SOURCES, [[31, 32]] * len(SOURCES), special=SPECIAL)
    memory_BSD, hidden_BTD = PackedTransformer(model, layers=layers, output=output).states(batch)
    sound = [0, 2, 3, 4]
    assert memory_BSD[sound].isfinite().all()
    assert hidden_BTD[sound].isfinite().all()
    assert not hidden_BTD[1].isfinite().all()

"""What every architecture owes search, training and alignment."""

import pytest
import torch

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.errors import ConfigError
from nmt.models.build import Model, build_model
from tests.nmt.models.conftest import CONFIGS, rnn, sharpened, transformer

CLOSE = {"rtol": 1e-4, "atol": 1e-4}


def steps(model: Model, batch: Batch, beam_size: int = 1) -> torch.Tensor:
    """Log-probabilities_NTV read one token at a time, the K rows of a sentence reading the same."""
    state = model.start(batch, beam_size)
    log_probs = []
    for tokens_B in batch.target_in_BT.unbind(1):
        step, state = model.step(state, tokens_B.repeat_interleave(beam_size))
        log_probs.append(step.log_probs_NV)
    return torch.stack(log_probs, 1)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_step_by_step_equals_the_teacher_forced_pass(model: Model, batch: Batch, beam_size: int):
    expected = model(batch).log_softmax(-1).repeat_interleave(beam_size, 0)
    torch.testing.assert_close(steps(model, batch, beam_size), expected, **CLOSE)


def test_padding_does_not_change_log_probs(model: Model, batch: Batch):
    together = model(batch).log_softmax(-1)
    for index, (source, target) in enumerate(zip(batch.source_BS, batch.target_in_BT, strict=True)):
        n_source, n_target = int(batch.source_mask_BS[index].sum()), int(batch.target_mask_BT[index].sum())
        alone = Batch.from_ids(
            [source[: n_source - 1].tolist()], [target[1:n_target].tolist()], special=SpecialIds()
        )
        torch.testing.assert_close(model(alone).log_softmax(-1)[0], together[index, :n_target], **CLOSE)


def test_the_source_matters_and_so_does_the_history(model: Model, batch: Batch):
    before = model(batch).log_softmax(-1)
    target = (batch.target_in_BT, batch.target_out_BT, batch.target_mask_BT)
    other_source = Batch(batch.source_BS.flip(0), batch.source_mask_BS.flip(0), *target)
    assert (model(other_source).log_softmax(-1)[0, 0] - before[0, 0]).abs().max() > 1e-2
    history = batch.target_in_BT.clone()
    history[0, 1] = 30
    changed = Batch(batch.source_BS, batch.source_mask_BS, history, batch.target_out_BT, batch.target_mask_BT)
    after = model(changed).log_softmax(-1)
    torch.testing.assert_close(after[0, 0], before[0, 0], **CLOSE)  # the future is not seen
    assert (after[0, 2] - before[0, 2]).abs().max() > 1e-2


def test_reorder_duplicates_and_swaps_rows_within_a_sentence(model: Model, batch: Batch):
    K = 3
    state = model.start(batch, K)
    first = torch.arange(20, 20 + 3 * K)  # every row another history
    _, state = model.step(state, first)
    rows = torch.tensor([2, 2, 0, 4, 3, 3, 8, 7, 6])
    nexts = torch.arange(10, 10 + 3 * K)
    moved, _ = model.step(model.reorder(state, rows), nexts)
    for n, row in enumerate(rows.tolist()):
        alone = model.start(batch, K)
        _, alone = model.step(alone, first[row].expand(3 * K))
        expected, _ = model.step(alone, nexts[n].expand(3 * K))
        torch.testing.assert_close(moved.log_probs_NV[n], expected.log_probs_NV[n], **CLOSE)


def test_reorder_lets_a_finished_sentence_leave(model: Model, batch: Batch):
    K = 2
    _, state = model.step(model.start(batch, K), torch.arange(20, 26))
    kept = torch.tensor([1, 0, 5, 4])  # the second of three sentences leaves
    state_after = model.reorder(state, kept)
    tokens = torch.arange(30, 36)
    all_rows, _ = model.step(state, tokens)
    fewer, _ = model.step(state_after, tokens[kept])
    torch.testing.assert_close(fewer.log_probs_NV, all_rows.log_probs_NV[kept], **CLOSE)


def test_a_state_is_a_value_so_translations_may_interleave(model: Model, batch: Batch):
    start = model.start(batch, 1)
    _, left = model.step(start, torch.tensor([20, 21, 22]))
    _, right = model.step(start, torch.tensor([30, 31, 32]))
    again, _ = model.step(left, torch.tensor([5, 5, 5]))
    model.step(right, torch.tensor([6, 6, 6]))
    _, left = model.step(start, torch.tensor([20, 21, 22]))
    torch.testing.assert_close(model.step(left, torch.tensor([5, 5, 5]))[0].log_probs_NV, again.log_probs_NV)


def test_attention_is_a_distribution_over_real_source_tokens(model: Model, batch: Batch):
    logits, attention_BTS = model.forward_with_attention(batch)
    torch.testing.assert_close(logits, model(batch), **CLOSE)
    step, _ = model.step(model.start(batch, 2), torch.full((6,), 2))
    if attention_BTS is None:
        assert step.attention_NS is None
        return
    torch.testing.assert_close(attention_BTS.sum(-1), torch.ones(attention_BTS.shape[:2]))
    assert attention_BTS.masked_select(~batch.source_mask_BS[:, None]).eq(0).all()
    torch.testing.assert_close(step.attention_NS[::2], attention_BTS[:, 0], **CLOSE)
    torch.testing.assert_close(step.attention_NS[1::2], attention_BTS[:, 0], **CLOSE)


def test_only_the_model_without_attention_shows_none():
    shown = {
        name: sharpened(config).forward_with_attention(Batch.from_ids([[5]], [[6]], special=SpecialIds()))[1]
        for name, config in CONFIGS.items()
    }
    assert [name for name, attention in shown.items() if attention is None] == ["rnn-plain"]


def test_layer_and_heads_of_the_attention_can_be_chosen(batch: Batch):
    model = sharpened(transformer())
    heads = [model.forward_with_attention(batch, layer=0, heads=[head])[1] for head in (0, 1)]
    torch.testing.assert_close(model.forward_with_attention(batch, layer=0)[1], (heads[0] + heads[1]) / 2)
    assert (heads[0] - heads[1]).abs().max() > 1e-3
    top, default = model.forward_with_attention(batch, layer=-1)[1], model.forward_with_attention(batch)[1]
    torch.testing.assert_close(top, default)
    assert (top - model.forward_with_attention(batch, layer=0)[1]).abs().max() > 1e-3


@pytest.mark.parametrize(
    ("config", "layer", "heads", "message"),
    [
        (transformer(), 2, None, "layer 2: the model has decoder layers 0 to 1"),
        (transformer(), None, [2], "head 2: each layer has heads 0 to 1"),
        (rnn(), 1, None, "an RNN has one attention"),
        (rnn(), None, [1], "an RNN has one attention"),
    ],
)
def test_a_layer_or_head_that_is_not_there_is_named(batch: Batch, config, layer, heads, message):
    with pytest.raises(ConfigError, match=message):
        build_model(config).forward_with_attention(batch, layer, heads)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_transformer_equals_torchs_own_layers(norm: str, batch: Batch):
    ours = sharpened(transformer(norm=norm))
    torchs = torch.nn.Transformer(
        16, 2, 2, 2, 32, dropout=0.0, batch_first=True, norm_first=norm == "pre"
    ).eval()
    if norm == "post":
        torchs.encoder.norm, torchs.decoder.norm = None, None
    else:
        torchs.encoder.norm.load_state_dict(ours.encoder_norm.state_dict())
        torchs.decoder.norm.load_state_dict(ours.decoder_norm.state_dict())
    for theirs, layer in zip(torchs.encoder.layers, ours.encoder_layers, strict=True):
        copy_attention(layer.self_attention, theirs.self_attn)
        copy_rest(layer, theirs, [layer.around_attention, layer.around_feed_forward])
    for theirs, layer in zip(torchs.decoder.layers, ours.decoder_layers, strict=True):
        copy_attention(layer.self_attention, theirs.self_attn)
        copy_attention(layer.cross_attention, theirs.multihead_attn)
        around = [layer.around_self_attention, layer.around_cross_attention, layer.around_feed_forward]
        copy_rest(layer, theirs, around)
    T = batch.target_in_BT.size(1)
    hidden_BTD = torchs(
        ours.positions(ours.source_embedding(batch.source_BS)),
        ours.positions(ours.target_embedding(batch.target_in_BT)),
        tgt_mask=torch.nn.Transformer.generate_square_subsequent_mask(T).isinf(),
        src_key_padding_mask=~batch.source_mask_BS,
        memory_key_padding_mask=~batch.source_mask_BS,
    )
    torch.testing.assert_close(ours(batch), hidden_BTD @ ours.target_embedding.weight_VD.T, **CLOSE)


@torch.no_grad()
def copy_attention(ours: torch.nn.Module, theirs: torch.nn.MultiheadAttention) -> None:
    theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key.weight, ours.value.weight]))
    theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key.bias, ours.value.bias]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


def copy_rest(ours: torch.nn.Module, theirs: torch.nn.Module, around: list[torch.nn.Module]) -> None:
    theirs.linear1.load_state_dict(ours.feed_forward.up.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.down.state_dict())
    for number, residual in enumerate(around, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(residual.norm.state_dict())


def test_tying_shares_one_table_and_counts_it_once():
    counts = {
        tie: sum(p.numel() for p in build_model(transformer(tie_embeddings=tie)).parameters())
        for tie in ("none", "decoder", "all")
    }
    assert counts["none"] - counts["decoder"] == counts["decoder"] - counts["all"] == 40 * 16


def test_a_forced_pass_without_a_target_is_refused(model: Model):
    with pytest.raises(ValueError, match="needs the target side"):
        model(Batch.from_ids([[5, 6]], special=SpecialIds()))


def test_gradients_reach_every_parameter(batch: Batch):
    for name, config in CONFIGS.items():
        model = build_model(config)
        model(batch).square().mean().backward()
        idle = [key for key, p in model.named_parameters() if p.grad is None or not p.grad.any()]
        # adding a constant to all scores changes no softmax: keys have no use for their bias; and of the one
        # sentence before that this batch has there is none to choose
        assert all(key.endswith(("key.bias", "context.attention.source_key.weight")) for key in idle), name

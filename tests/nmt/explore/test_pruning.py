"""Masking silences a head and nothing else; removal gives the same outputs from fewer weights."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nmt.batch import Batch
from nmt.config import AlignmentConfig, GenerationConfig
from nmt.errors import ConfigError
from nmt.explore.heads import Head
from nmt.explore.maps import attention_maps
from nmt.explore.pruning import all_heads, greedy_removal, importance, masked, removed
from nmt.model_folder.checkpoint import load_model_folder, save_model_folder
from nmt.models.build import build_model
from nmt.models.transformer import Transformer
from nmt.tokenizer import Tokenizer
from tests.nmt.conftest import tiny_config

HEADS = [Head("encoder", 1, 0), Head("decoder", 0, 1), Head("cross", 1, 1)]


@pytest.fixture
def batch(tokenizer: Tokenizer) -> Batch:
    return Batch.from_ids([[5, 6, 7, 8], [9, 10]], [[20, 21, 22], [23]], special=tokenizer.special)


@pytest.mark.parametrize("head", HEADS)
def test_a_masked_head_is_as_if_its_context_were_zero(
    model: Transformer, batch: Batch, head: Head, monkeypatch: pytest.MonkeyPatch
) -> None:
    attention = {
        "encoder": lambda: model.encoder_layers[head.layer].self_attention,
        "decoder": lambda: model.decoder_layers[head.layer].self_attention,
        "cross": lambda: model.decoder_layers[head.layer].cross_attention,
    }[head.kind]()
    merge = attention._merge_heads

    def without(context_BHTE: torch.Tensor) -> torch.Tensor:
        context_BHTE = context_BHTE.clone()
        context_BHTE[:, head.head] = 0
        return merge(context_BHTE)

    before, result = model(batch), masked(model, [head])(batch)
    monkeypatch.setattr(attention, "_merge_heads", without)
    torch.testing.assert_close(result, model(batch))
    assert (result - before).abs().max() > 1e-3, "the head mattered"


def test_masking_leaves_the_model_itself_alone(model: Transformer, batch: Batch) -> None:
    before = model(batch)
    masked(model, HEADS)
    importance(model, HEADS, lambda changed: float(changed(batch).sum()))
    torch.testing.assert_close(model(batch), before, rtol=0, atol=0)


def test_removed_heads_give_what_masked_ones_do_with_fewer_weights(
    model: Transformer, tokenizer: Tokenizer, batch: Batch
) -> None:
    model = model.double()  # its large weights make much of rounding
    smaller, config = removed(model, tiny_config(tokenizer), HEADS)
    torch.testing.assert_close(smaller.double()(batch), masked(model, HEADS)(batch), rtol=1e-4, atol=1e-5)
    assert config.model.kept_heads.model_dump() == {"encoder": (2, 1), "decoder": (1, 2), "cross": (2, 1)}
    d_model, d_head = 16, 8
    saved = sum(p.numel() for p in model.parameters()) - sum(p.numel() for p in smaller.parameters())
    assert saved == len(HEADS) * (4 * d_model * d_head + 3 * d_head)
    kept = attention_maps(smaller, batch).encoder[1][:, 0]
    assert kept.shape == (2, 5, 5)


def test_a_pruned_model_is_saved_loaded_and_decodes_step_by_step(
    model: Transformer, tokenizer: Tokenizer, tokenizer_file: Path, batch: Batch, tmp_path: Path
) -> None:
    smaller, config = removed(model, tiny_config(tokenizer), HEADS)
    save_model_folder(
        tmp_path / "pruned",
        config=config,
        model=smaller,
        tokenizer_file=tokenizer_file,
        generation=GenerationConfig(),
        card="# pruned\n",
        scores={},
    )
    loaded = load_model_folder(tmp_path / "pruned")
    torch.testing.assert_close(loaded.model(batch), smaller(batch))
    assert batch.target_in_BT is not None
    state = loaded.model.start(batch, 1)
    for position, tokens_B in enumerate(batch.target_in_BT.unbind(1)):
        step, state = loaded.model.step(state, tokens_B)
        expected = smaller(batch)[:, position].log_softmax(-1)
        torch.testing.assert_close(step.log_probs_NV, expected, rtol=1e-4, atol=1e-4)


def test_heads_that_alignments_are_read_from_keep_their_names_right(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    config = tiny_config(tokenizer).model_copy(update={"alignment": AlignmentConfig(layer=1, heads=(0, 1))})
    _, left = removed(model, config, [Head("cross", 1, 0)])
    assert left.alignment.heads == (0,), "what was head 1 is head 0 now"
    only = config.model_copy(update={"alignment": AlignmentConfig(layer=1, heads=(0,))})
    _, gone = removed(model, only, [Head("cross", 1, 0)])
    assert gone.alignment.heads is None


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([Head("cross", 0, 0), Head("cross", 0, 1)], "cross attention of layer 0 would have no head left"),
        ([Head("encoder", 5, 0)], "there is no head encoder 5 0"),
        ([Head("encoder", 0, 2)], "there is no head encoder 0 2"),
    ],
)
def test_what_cannot_be_removed_is_named(
    model: Transformer, tokenizer: Tokenizer, heads: list[Head], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        removed(model, tiny_config(tokenizer), heads)


def test_greedy_removal_takes_the_least_important_and_leaves_one_in_each_attention(
    model: Transformer,
) -> None:
    worth = {head: float(number) for number, head in enumerate(all_heads(model))}

    def loss(changed: torch.nn.Module) -> float:
        return sum(
            value
            for head, value in worth.items()
            if not _columns_of(changed, head).any()  # what is masked is lost
        )

    rounds = list(greedy_removal(model, loss, n_heads=99, at_once=2))
    assert [entry.n_removed for entry in rounds] == [2, 4, 6]
    assert rounds[0].heads == (Head("encoder", 0, 0), Head("encoder", 1, 0)), "not two of one attention"
    gone = [head for entry in rounds for head in entry.heads]
    assert len(gone) == len(set(gone)) == 6
    assert {head[:2] for head in gone} == {head[:2] for head in worth}
    assert [entry.loss for entry in rounds] == [
        sum(worth[head] for head in gone[: entry.n_removed]) for entry in rounds
    ]
    known = importance(model, all_heads(model), loss)
    assert list(greedy_removal(model, loss, n_heads=99, at_once=2, first=known)) == rounds


def _columns_of(model: torch.nn.Module, head: Head) -> torch.Tensor:
    stack = "encoder_layers" if head.kind == "encoder" else "decoder_layers"
    name = "cross_attention" if head.kind == "cross" else "self_attention"
    weight = model.get_parameter(f"{stack}.{head.layer}.{name}.output.weight")
    return weight[:, head.head * 8 : (head.head + 1) * 8]


def test_no_head_is_removed_where_slopes_belong_to_heads(tokenizer: Tokenizer) -> None:
    config = tiny_config(tokenizer, positions="alibi")
    model = build_model(config.model)
    assert isinstance(model, Transformer)
    with pytest.raises(ConfigError, match="alibi gives each head a slope of its own"):
        removed(model, config, [Head("cross", 0, 0)])

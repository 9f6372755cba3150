"""All maps in one pass are those of the model itself."""

from __future__ import annotations

import pytest
import torch

from nmt.alignment.attention_maps import BEGIN, END
from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.explore.maps import attention_maps, head_maps, n_cells
from nmt.models.transformer import Transformer
from nmt.tokenizer import Tokenizer
from tests.nmt.models.conftest import CONFIGS, sharpened

TRANSFORMERS = [name for name in CONFIGS if name.startswith("transformer")]


@pytest.fixture
def batch() -> Batch:
    return Batch.from_ids(
        [[5, 6, 7, 8, 9], [10, 11], [12, 13, 14]],
        [[20, 21, 22], [23, 24, 25, 26], [28]],
        special=SpecialIds(),
    )


@pytest.mark.parametrize("name", CONFIGS)
def test_the_pass_that_keeps_everything_computes_what_the_model_does(name: str, batch: Batch) -> None:
    model = sharpened(CONFIGS[name])
    expected, _ = model.decode(batch)
    torch.testing.assert_close(attention_maps(model, batch).hidden_BTD, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_cross_maps_are_those_of_each_layer_and_head(name: str, batch: Batch) -> None:
    model = sharpened(CONFIGS[name])
    for layer, weights_BHTS in enumerate(attention_maps(model, batch).cross):
        for head in range(weights_BHTS.size(1)):
            _, expected_BTS = model.forward_with_attention(batch, layer, [head])
            torch.testing.assert_close(weights_BHTS[:, head], expected_BTS, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_every_row_of_every_map_is_a_distribution_over_what_may_be_seen(name: str, batch: Batch) -> None:
    maps = attention_maps(sharpened(CONFIGS[name]), batch)
    for weights in (*maps.encoder, *maps.decoder, *maps.cross):
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    for weights in (*maps.encoder, *maps.cross):
        assert weights.masked_select(~batch.source_mask_BS[:, None, None]).eq(0).all(), "padding is not seen"
    for weights in maps.decoder:
        assert weights.triu(1).eq(0).all(), "the future is not seen"


def test_states_begin_with_the_embedding_and_end_with_what_the_decoder_reads(batch: Batch) -> None:
    model = sharpened(CONFIGS["transformer"])
    states = attention_maps(model, batch).encoder_states
    assert len(states) == 1 + len(model.encoder_layers)
    torch.testing.assert_close(states[0], model.source_embedding(batch.source_BS))
    torch.testing.assert_close(states[-1], model.encode(batch), rtol=1e-4, atol=1e-4)


def test_an_rnn_has_one_cross_attention_and_one_without_attention_has_none(batch: Batch) -> None:
    additive = attention_maps(sharpened(CONFIGS["rnn-additive"]), batch)
    assert (additive.encoder, additive.decoder) == ((), ())
    assert [weights.shape for weights in additive.cross] == [(3, 1, 5, 6)]
    assert attention_maps(sharpened(CONFIGS["rnn-plain"]), batch).cross == ()


def test_head_maps_name_what_is_read_and_written_and_are_rounded(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    source, target = tokenizer.encode_pieces("The man"), tokenizer.encode_pieces("L'homme est")
    maps = head_maps(model, source, target, tokenizer.special)
    assert maps is not None
    n_source, n_target = len(source) + 1, len(target) + 1
    assert (maps.source[-1], maps.read[0], maps.written[-1]) == (END, BEGIN, END)
    assert maps.source[:-1] == tuple(piece.text for piece in source)
    assert maps.read[1:] == maps.written[:-1] == tuple(piece.text for piece in target)
    for heads, n_rows, n_columns in (
        (maps.encoder, n_source, n_source),
        (maps.decoder, n_target, n_target),
        (maps.cross, n_target, n_source),
    ):
        assert [len(layer) for layer in heads] == [2, 2]
        assert {(len(head), len(row)) for layer in heads for head in layer for row in head} == {
            (n_rows, n_columns)
        }
        assert all(
            share == round(share, 3) for layer in heads for head in layer for row in head for share in row
        )


def test_a_sentence_that_would_fill_too_many_cells_has_no_maps(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    source, target = tokenizer.encode_pieces("The man"), tokenizer.encode_pieces("L'homme")
    cells = n_cells(model, len(source) + 1, len(target) + 1)
    assert cells == 4 * (
        (len(source) + 1) ** 2 + (len(target) + 1) ** 2 + (len(source) + 1) * (len(target) + 1)
    )
    assert head_maps(model, source, target, tokenizer.special, most_cells=cells) is not None
    assert head_maps(model, source, target, tokenizer.special, most_cells=cells - 1) is None

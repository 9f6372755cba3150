"""What is kept of the sources: two ways to lie in, and sentences that leave without moving the others."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nmt.engines.keeping import QUARTERS, KeptIn, empty, kept, quarters, restored
from nmt.engines.memory import Layers, Memory
from nmt.engines.places import FEW
from nmt.extensions import LANES

H, E = 3, 12


def random_layers(n_sentences: int, n_source: int, dtype: torch.dtype = torch.float32) -> Layers:
    torch.manual_seed(n_source)
    size = n_sentences, H, n_source, E
    return [(torch.randn(size).to(dtype), torch.randn(size).to(dtype)) for _ in range(2)]


def padded_mask(n_sentences: int, n_source: int) -> Tensor:
    """Each sentence one token shorter than the one before."""
    short_P1 = torch.arange(n_sentences)[:, None]
    is_padding_PS = torch.arange(n_source) >= n_source - short_P1
    return torch.zeros(is_padding_PS.shape).masked_fill_(is_padding_PS, -torch.inf)[:, None, None]


@pytest.mark.parametrize("kept_in", ["bfloat16", "int8", "int8x4"])
@pytest.mark.parametrize("n_source", [1, LANES - 1, LANES, LANES + 1])
@pytest.mark.parametrize("masked", [True, False])
def test_laid_out_keys_lie_beneath_each_other_in_whole_registers(
    n_source: int, masked: bool, kept_in: KeptIn
) -> None:
    layers = random_layers(2, n_source)
    memory = Memory.of(layers, padded_mask(2, n_source) if masked else None)
    found, mask_P11L = memory.laid_out(kept_in)
    length = -(-n_source // LANES) * LANES
    for ((key_PHEL, *key_scale), value), (key, value_PHSE) in zip(found, layers, strict=True):
        assert all(part.is_contiguous() for part in (key_PHEL, *key_scale, *value))
        width = E // QUARTERS if kept_in == "int8x4" else E
        assert key_PHEL.shape == (2, H, width, length)
        assert value[0].shape == (2, H, length, width)
        in_order = restored((key_PHEL.transpose(2, 3), *key_scale))
        for part, expected in ((in_order, key), (restored(value), value_PHSE)):
            assert torch.equal(part[:, :, :n_source], restored(kept(expected, kept_in)))
            assert bool(part[:, :, n_source:].eq(0).all())
    expected_PL = torch.full((2, length), -torch.inf)
    expected_PL[:, :n_source] = 0
    if masked:
        expected_PL[1, n_source - 1] = -torch.inf
    assert torch.equal(mask_P11L, expected_PL[:, None, None])
    again, _ = memory.laid_out(kept_in)
    assert again is found


@pytest.mark.parametrize("kept_in", ["bfloat16", "int8", "int8x4"])
def test_what_was_laid_out_can_be_put_in_order_again(kept_in: KeptIn) -> None:
    layers, mask_P11S = random_layers(3, 7, torch.bfloat16), padded_mask(3, 7)
    memory = Memory.of(layers, mask_P11S.bfloat16())
    memory.laid_out(kept_in)
    found, mask_B11S = memory.in_order()
    for pair, expected in zip(found, layers, strict=True):
        for part, right in zip(pair, expected, strict=True):
            assert part.dtype == torch.bfloat16
            assert torch.equal(part, restored(kept(right.float(), kept_in)).bfloat16())
    assert mask_B11S is not None
    assert torch.equal(mask_B11S, mask_P11S.bfloat16())


def test_kept_in_int8_each_head_of_a_token_has_a_scale() -> None:
    heads = torch.randn(2, H, 7, E) * torch.logspace(-9, 9, 7)[:, None]
    numbers, scales = kept(heads, "int8")
    assert (numbers.dtype, scales.shape) == (torch.int8, (2, H, 7))
    assert numbers.abs().amax(dim=3).unique().tolist() == [127]
    error = (restored((numbers, scales)) - heads).abs() / heads.abs().amax(dim=3, keepdim=True)
    assert float(error.max()) <= 0.501 / 127
    beneath, same_scales = kept(heads.transpose(2, 3), "int8", dim=2)
    assert torch.equal(beneath, numbers.transpose(2, 3))
    assert torch.equal(same_scales, scales)


@pytest.mark.parametrize("n_sentences", [8, FEW + 2])
@pytest.mark.parametrize("is_laid_out", [True, False])
def test_sentences_leave_and_nothing_moves_until_half_of_many_is_unread(
    is_laid_out: bool, n_sentences: int
) -> None:
    layers, mask_P11S = random_layers(n_sentences, 40), padded_mask(n_sentences, 40)
    memory = Memory.of(layers, mask_P11S)
    assert memory.n_sentences == n_sentences
    if is_laid_out:
        memory.laid_out("float32")
    memory.select(torch.tensor([0, 2, 3, *range(5, n_sentences)]))
    memory.select(torch.tensor([0, 1, *range(3, n_sentences - 2)]))
    staying = [0, 2, *range(5, n_sentences)]
    assert memory.n_sentences == n_sentences - 3
    assert memory.places_B is not None
    assert memory.places_B.tolist() == staying
    if is_laid_out:
        ((key_PHEL,), _), *_ = memory.laid_out("float32")[0]
        assert len(key_PHEL) == n_sentences
        assert torch.equal(key_PHEL[memory.places_B][..., :40], layers[0][0][staying].transpose(2, 3))
    memory.select(torch.tensor([1, 3]))
    have_moved = n_sentences > FEW
    assert (memory.places_B is None) == have_moved
    assert memory.n_places == (2 if have_moved else n_sentences)
    assert memory.n_sentences == 2
    found, mask_B11S = memory.in_order()
    for pair, expected in zip(found, layers, strict=True):
        for part, right in zip(pair, expected, strict=True):
            assert torch.equal(part, right[[2, 6]])
    assert mask_B11S is not None
    assert torch.equal(mask_B11S, mask_P11S[[2, 6]])


@pytest.mark.parametrize("is_laid_out", [True, False])
def test_who_is_left_alone_gets_the_only_place(is_laid_out: bool) -> None:
    layers, mask_P11S = random_layers(3, 20), padded_mask(3, 20)
    memory = Memory.of(layers, mask_P11S)
    if is_laid_out:
        memory.laid_out("float32")
    memory.select(torch.tensor([2]))
    assert (memory.n_places, memory.n_sentences, memory.places_B) == (1, 1, None)
    ((key_PHEL,), _), *_ = memory.laid_out("float32")[0]
    assert torch.equal(key_PHEL[..., :20], layers[0][0][2:].transpose(2, 3))


@pytest.mark.parametrize("kept_in", ["float32", "int8", "int8x4"])
@pytest.mark.parametrize("lengths", [(5, 40), (40, 5), (LANES, LANES)])
def test_sources_of_any_lengths_are_joined(kept_in: KeptIn, lengths: tuple[int, int]) -> None:
    layers = [random_layers(3, length) for length in lengths]
    one, other = (Memory.of(own, padded_mask(3, length)) for own, length in zip(layers, lengths, strict=True))
    other.laid_out(kept_in)
    other.select(torch.tensor([0, 2]))
    one.join(other, kept_in)
    assert one.n_sentences == 5
    found, mask_P11L = one.laid_out(kept_in)
    places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2)]
    L = -(-max(lengths) // LANES) * LANES
    assert mask_P11L.shape[1:] == (1, 1, L)
    assert one.places_B is not None
    assert len(one.places_B) == 5
    for place, (memory, sentence) in zip(one.places_B.tolist(), places, strict=True):
        length = lengths[memory] - sentence
        expected_L = torch.full((L,), -torch.inf)
        expected_L[:length] = 0
        assert torch.equal(mask_P11L[place, 0, 0], expected_L)
        for ((key_PHEL, *key_scale), value), own in zip(found, layers[memory], strict=True):
            assert all(part.is_contiguous() for part in (key_PHEL, *key_scale, *value))
            assert {len(part) for part in (key_PHEL, *key_scale, *value)} == {len(mask_P11L)}
            in_order = restored((key_PHEL.transpose(2, 3), *key_scale)), restored(value)
            for part, expected in zip(in_order, own, strict=True):
                right = restored(kept(expected[sentence], kept_in))
                assert torch.equal(part[place, :, :length], right[:, :length])
                assert bool(part[place, :, lengths[memory] :].eq(0).all())


def test_who_joins_brings_no_more_length_than_is_read() -> None:
    """Else one long sentence would make all that follow as long as itself."""
    one, other = (Memory.of(random_layers(3, length), None) for length in (100, 10))
    short = Memory.of(random_layers(2, 60), padded_mask(2, 60))
    one.join(short, "float32")
    one.select(torch.tensor([3, 4]))
    one.join(other, "float32")
    _, mask_P11L = one.laid_out("float32")
    assert mask_P11L.shape[1:] == (1, 1, 4 * LANES)
    assert one.places_B is not None
    assert mask_P11L[one.places_B].isfinite().sum(dim=3).flatten().tolist() == [60, 59, 10, 10, 10]


def test_length_is_given_up_though_there_is_a_place() -> None:
    memory = Memory.of(random_layers(1, 100), None)
    memory.join(Memory.of(random_layers(4, 10), None), "int8")
    memory.select(torch.tensor([1, 2, 3, 4]))
    (key_PHEL, _), _ = memory.laid_out("int8")[0][0]
    assert key_PHEL.size(3) == 7 * LANES
    memory.join(Memory.of(random_layers(1, 3), None), "int8")
    (key_PHEL, _), _ = memory.laid_out("int8")[0][0]
    assert key_PHEL.size(3) == LANES


def test_who_joins_takes_the_place_of_who_has_left() -> None:
    """Nobody else moves, and nothing is seen of who was there."""
    memory = Memory.of(random_layers(4, 20), padded_mask(4, 20))
    ((key_PHEL, _), _), *_ = memory.laid_out("int8")[0]
    before = key_PHEL.data_ptr()
    memory.select(torch.tensor([0, 2, 3]))
    memory.join(Memory.of(random_layers(1, 3), None), "int8")
    assert memory.places_B is not None
    assert memory.places_B.tolist() == [0, 2, 3, 1]
    ((key_PHEL, _), (value_PHLE, _)), *_ = memory.laid_out("int8")[0]
    assert key_PHEL.data_ptr() == before
    for own_HLE in (key_PHEL[1].transpose(1, 2), value_PHLE[1]):
        assert bool(own_HLE[:, :3].ne(0).any())
        assert bool(own_HLE[:, 3:].eq(0).all())


def test_who_asks_for_order_gets_it_at_once() -> None:
    layers = random_layers(5, 4)
    memory = Memory.of(layers, None)
    memory.select(torch.tensor([0, 1, 3, 4]))
    found, mask_B11S = memory.in_order()
    assert memory.places_B is None
    assert mask_B11S is None
    assert torch.equal(found[1][1], layers[1][1][[0, 1, 3, 4]])


@pytest.mark.parametrize("dim", [2, 3])
def test_int8x4_is_int8_in_a_quarter_of_the_numbers(dim: int) -> None:
    heads = torch.randn(2, 4 * H, 8, E)
    heads.view(-1)[:3] = torch.tensor([-9.0, 9.0, 0.0])  # the least and the most that there is
    (numbers, scales), (packed, same_scales) = (kept(heads, kept_in, dim) for kept_in in ("int8", "int8x4"))
    assert packed.dtype == torch.int32
    assert packed.size(dim) == heads.size(dim) // QUARTERS
    assert torch.equal(torch.cat(quarters(packed), dim), numbers.float())
    assert {-127, 127, 0, -1} <= set(numbers.flatten().tolist())
    assert torch.equal(same_scales, scales)


def test_heads_that_have_no_quarters_are_not_kept_in_int8x4() -> None:
    with pytest.raises(AssertionError):
        empty((2, H, 7, E + 2), "int8x4")

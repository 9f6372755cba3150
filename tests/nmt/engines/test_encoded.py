"""Encoder output of sentences read lately."""

from __future__ import annotations

import torch

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.engines.encoded import EncodedSources

D = 4
BATCH_BYTES = 2 * 3 * D * 4


def batch(*sentences: list[int]) -> Batch:
    return Batch.from_ids(sentences, special=SpecialIds())


def of(source: Batch, value: int) -> torch.Tensor:
    return torch.full((*source.source_BS.shape, D), float(value))


def test_sentences_are_found_again_in_other_company_and_order_with_zeros_at_padding():
    encoded = EncodedSources()
    first, second = batch([5, 6], [7]), batch([8, 9, 10])
    memory_BSD = torch.arange(2 * 3 * D).view(2, 3, D).float()
    encoded.keep(first, memory_BSD)
    encoded.keep(second, of(second, 9))
    found_BSD = encoded.find(batch([8, 9, 10], [7]))
    assert found_BSD is not None
    assert found_BSD[0].eq(9).all()
    torch.testing.assert_close(found_BSD[1, :2], memory_BSD[1, :2])
    assert found_BSD[1, 2:].eq(0).all()


def test_unless_every_sentence_is_known_nothing_is_found():
    encoded = EncodedSources()
    known = batch([5, 6], [7])
    encoded.keep(known, of(known, 1))
    assert encoded.find(batch([5, 6], [8])) is None
    assert encoded.find(batch([5])) is None, "the beginning of a sentence is another sentence"
    assert encoded.find(batch([5, 6])) is not None


def test_the_oldest_leave_first_but_for_those_read_anew():
    encoded = EncodedSources(kept_bytes=2 * BATCH_BYTES)
    oldest, middle, newest = batch([5, 6], [7]), batch([5, 6], [8]), batch([9, 9], [10])
    for value, source in enumerate((oldest, middle, newest)):
        encoded.keep(source, of(source, value))
    assert encoded.find(batch([7])) is None
    again_BSD = encoded.find(batch([5, 6]))
    assert again_BSD is not None
    assert again_BSD.eq(1).all()
    assert encoded.find(newest) is not None


def test_a_batch_larger_than_all_that_may_be_kept_drives_nothing_out():
    encoded = EncodedSources(kept_bytes=BATCH_BYTES)
    small, large = batch([5, 6], [7]), batch([5, 6, 7], [8])
    encoded.keep(small, of(small, 1))
    encoded.keep(large, of(large, 2))
    assert encoded.find(small) is not None
    assert encoded.find(large) is None


def test_so_many_sentences_are_kept_and_no_more_however_small_they_are():
    encoded = EncodedSources(kept_sentences=4)
    first, second, third = batch([5, 6], [7]), batch([8], [9]), batch([10], [11])
    for source in (first, second, second, third):
        encoded.keep(source, of(source, 1))
    assert encoded.find(batch([7])) is None
    assert encoded.find(second) is not None, "read twice, and once lately enough"
    assert encoded.find(third) is not None
    encoded.keep(five := batch([12], [13], [14], [15], [16]), of(five, 1))
    assert encoded.find(five) is None
    assert encoded.find(third) is not None


def test_what_nobody_asks_for_leaves_as_well():
    encoded = EncodedSources(kept_sentences=3)
    batches = [batch([first, 6], [first, 7]) for first in range(5, 12)]
    for value, source in enumerate(batches):
        encoded.keep(source, of(source, value))
    assert len(encoded._unread) == 1
    found_BSD = encoded.find(batches[-1])
    assert found_BSD is not None
    assert found_BSD.eq(len(batches) - 1).all()
    assert all(encoded.find(source) is None for source in batches[:-1])
    assert encoded._n_sentences == 2
    assert encoded._bytes == BATCH_BYTES

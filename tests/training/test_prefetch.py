import threading

import pytest

from nmt.batch import Batch
from nmt.config import SpecialIds
from training.prefetch import AHEAD, PrefetchedStream


class CountingStream:
    """Batch n of epoch e holds the one token 100 e + n; three to an epoch."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.fails_at = fails_at
        self.n_made = 0
        self.seek(0, 0)

    def seek(self, epoch: int, next_batch: int) -> None:
        self.epoch, self.next_batch = epoch, next_batch

    def next(self) -> Batch:
        if self.next_batch == 3:
            self.seek(self.epoch + 1, 0)
        if self.n_made == self.fails_at:
            raise OSError("the disk is gone")
        self.n_made += 1
        batch = Batch.from_ids([[100 * self.epoch + self.next_batch]], special=SpecialIds())
        self.next_batch += 1
        return batch


def token(batch: Batch) -> int:
    return int(batch.source_BS[0, 0])


def test_batches_come_in_order_and_the_place_is_that_of_the_one_handed_out():
    stream = PrefetchedStream(CountingStream(), pin=False)
    seen = [(token(stream.next()), stream.epoch, stream.next_batch) for _ in range(5)]
    assert seen == [(0, 0, 1), (1, 0, 2), (2, 0, 3), (100, 1, 1), (101, 1, 2)]
    stream.close()


def test_seek_drops_what_was_made_ahead():
    stream = PrefetchedStream(CountingStream(), pin=False)
    stream.next()
    stream.seek(7, 1)
    assert (stream.epoch, stream.next_batch) == (7, 1)
    assert token(stream.next()) == 701
    stream.close()


def test_an_error_of_the_thread_is_raised_to_who_asks_for_that_batch():
    stream = PrefetchedStream(CountingStream(fails_at=2), pin=False)
    stream.next()
    stream.next()
    with pytest.raises(OSError, match="the disk is gone"):
        stream.next()


def test_the_thread_runs_ahead_by_a_bounded_number_and_ends():
    inner = CountingStream()
    before = threading.active_count()
    stream = PrefetchedStream(inner, pin=False)
    stream.next()
    while not stream._made.full():
        pass
    assert inner.n_made <= AHEAD + 2
    stream.close()
    assert threading.active_count() == before

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nmt.batch import Batch
from nmt.config import SpecialIds
from training.batching import BatchStream, epoch_batches
from training.data.shards import Side, SideWriter, TokenPairs

LENGTHS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=80)


def columns(lengths: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    source, target = np.array(lengths, dtype=np.int32).T
    return source, target


@given(lengths=LENGTHS, batch_tokens=st.integers(10, 200), epoch=st.integers(0, 3))
def test_every_pair_is_in_one_batch_and_no_batch_is_over_the_budget(lengths, batch_tokens, epoch):
    source, target = columns(lengths)
    batches = epoch_batches(source, target, batch_tokens, 7, epoch)
    assert sorted(np.concatenate(batches)) == list(range(len(lengths)))
    for batch in batches:
        longest = max(source[batch].max(), target[batch].max()) + 1
        assert len(batch) == 1 or len(batch) * longest <= batch_tokens


def test_batches_follow_seed_and_epoch_alone():
    random = np.random.default_rng(0)
    source, target = random.integers(1, 30, (2, 500)).astype(np.int32)

    def flat(seed: int, epoch: int) -> list[list[int]]:
        return [batch.tolist() for batch in epoch_batches(source, target, 300, seed, epoch)]

    assert flat(1, 0) == flat(1, 0)
    assert flat(1, 0) != flat(1, 1)
    assert flat(1, 0) != flat(2, 0)


def test_a_batch_holds_little_padding():
    random = np.random.default_rng(0)
    source = random.integers(3, 40, 5000).astype(np.int32)
    target = (source * random.uniform(0.9, 1.2, 5000)).astype(np.int32) + 1
    padded = sum(
        len(batch) * (target[batch].max() + 1) for batch in epoch_batches(source, target, 2000, 1, 0)
    )
    assert (target + 1).sum() / padded > 0.9


def test_batches_of_an_epoch_come_in_no_order_of_length():
    source = np.arange(1, 400, dtype=np.int32) % 50 + 1
    first_lengths = [source[batch].max() for batch in epoch_batches(source, source, 200, 1, 0)]
    assert first_lengths != sorted(first_lengths)


def test_a_pair_longer_than_the_budget_stands_alone():
    source = np.array([3, 50, 3], dtype=np.int32)
    batches = epoch_batches(source, source, 20, 1, 0)
    assert [1] in [batch.tolist() for batch in batches]
    assert len(batches) == 2


class _Special:
    special = SpecialIds()


def _pairs(folder: Path, sentences: list[tuple[list[int], list[int]]]) -> TokenPairs:
    for side, language in enumerate(("en", "fr")):
        with SideWriter(folder, f"train.{language}", np.dtype("<u2")) as writer:
            writer.write(["x"] * len(sentences), [pair[side] for pair in sentences])
    return TokenPairs(*(Side.map(folder, f"train.{language}", np.dtype("<u2")) for language in ("en", "fr")))


IDS = st.lists(st.integers(4, 60_000), max_size=12)


@given(
    sentences=st.lists(st.tuples(IDS, IDS), min_size=1, max_size=30).filter(
        lambda pairs: any(source for source, _ in pairs) and any(target for _, target in pairs)
    )
)
def test_batches_of_mapped_arrays_are_those_of_the_lists(sentences):
    with TemporaryDirectory() as folder:
        pairs = _pairs(Path(folder), sentences)
        stream = BatchStream(pairs, _Special(), batch_tokens=40, seed=3, subword_sampling=0.0)
        for indices in epoch_batches(pairs.source_lengths, pairs.target_lengths, 40, 3, 0):
            expected = Batch.from_ids(
                [sentences[index][0] for index in indices],
                [sentences[index][1] for index in indices],
                special=SpecialIds(),
            )
            batch = stream.next()
            for name in ("source_BS", "source_mask_BS", "target_in_BT", "target_out_BT", "target_mask_BT"):
                ours, theirs = getattr(batch, name), getattr(expected, name)
                assert ours.dtype == theirs.dtype
                assert ours.tolist() == theirs.tolist(), name

"""Batches side by side: the same results, the first failure, torch's threads left as they were."""

from __future__ import annotations

import threading

import pytest
import torch

from nmt.engines.workers import MOST_WORKERS, count_workers, side_by_side


@pytest.fixture
def four_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("n_workers", [1, 2, 9])
def test_results_come_in_the_order_of_jobs(n_workers) -> None:
    assert side_by_side([lambda job: job * job] * n_workers, range(7)) == [0, 1, 4, 9, 16, 25, 36]
    assert side_by_side([lambda job: job] * n_workers, []) == []


def test_two_workers_run_at_the_same_time() -> None:
    barrier = threading.Barrier(2, timeout=30)  # one worker alone would wait in vain
    assert len(side_by_side([lambda _: barrier.wait()] * 2, range(2))) == 2


@pytest.mark.parametrize(("n_workers", "threads"), [(2, 2), (4, 1), (3, 1)])
def test_the_threads_of_torch_are_divided_and_given_back(four_threads, n_workers, threads) -> None:
    barrier = threading.Barrier(n_workers, timeout=30)

    def count(_: int) -> int:
        barrier.wait()
        return torch.get_num_threads()

    assert side_by_side([count] * n_workers, range(n_workers)) == [threads] * n_workers
    assert torch.get_num_threads() == 4
    assert side_by_side([lambda _: torch.get_num_threads()] * n_workers, [0]) == [4]  # all
    later: list[int] = []
    thread = threading.Thread(target=lambda: later.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    assert later == [4]


def test_the_first_failure_is_raised_and_what_has_not_begun_is_left(four_threads) -> None:
    barrier = threading.Barrier(2, timeout=30)
    begun = []

    def fail(job: int) -> None:
        begun.append(job)
        if job < 2:
            barrier.wait()
            raise ValueError(f"job {job}")
        threading.Event().wait(0.05)

    with pytest.raises(ValueError, match="job 0"):
        side_by_side([fail] * 2, range(200))
    assert len(begun) < 200
    assert torch.get_num_threads() == 4


def test_the_first_worker_is_the_calling_thread_and_each_other_has_its_own() -> None:
    barrier = threading.Barrier(3, timeout=30)

    def where(_: int) -> int:
        barrier.wait()
        return threading.get_ident()

    idents = set(side_by_side([where] * 3, range(3)))
    assert threading.get_ident() in idents
    assert len(idents) == 3


def test_an_interrupt_of_the_caller_ends_the_others_after_their_job(four_threads) -> None:
    begun = []

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    def slow(job: int) -> None:
        begun.append(job)
        threading.Event().wait(0.05)

    with pytest.raises(KeyboardInterrupt):
        side_by_side([interrupted, slow], range(100))
    assert len(begun) < 50
    assert threading.active_count() == 1
    assert torch.get_num_threads() == 4


def test_only_a_cpu_has_several_workers(four_threads) -> None:
    assert count_workers(torch.device("cpu")) == min(4, MOST_WORKERS)
    assert count_workers(torch.device("cuda")) == 1

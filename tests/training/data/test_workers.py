"""Several processes: results in order, few jobs at once, errors told, nobody left behind."""

import os
from collections.abc import Iterator

import pytest

from nmt.errors import DataError
from training.data.workers import UNDER_WAY_FOR_EACH, Workers, available_cores


def squared(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def refuse(number: int) -> int:
    raise DataError(f"part {number} is broken")


def die(number: int) -> int:
    os._exit(number)


def test_results_come_in_the_order_of_the_jobs_and_jobs_are_made_when_needed():
    made = []

    def jobs() -> Iterator[int]:
        for number in range(40):
            made.append(number)
            yield number

    with Workers(2) as workers:
        results = workers.map(squared, jobs())
        first, process = next(results)
        assert first == 0
        assert process != os.getpid()
        assert len(made) <= 2 + UNDER_WAY_FOR_EACH * 2
        assert [result for result, _ in results] == [number * number for number in range(1, 40)]


@pytest.mark.parametrize(("n_processes", "jobs"), [(1, [1, 2, 3]), (8, [5]), (8, [])])
def test_one_process_or_a_single_job_needs_no_other(n_processes: int, jobs: list[int]):
    with Workers(n_processes) as workers:
        assert list(workers.map(squared, jobs)) == [(job * job, os.getpid()) for job in jobs]


def test_what_a_process_raises_is_raised_and_one_that_dies_is_told():
    with Workers(2) as workers:
        with pytest.raises(DataError, match="part 1 is broken"):
            list(workers.map(refuse, [1, 2]))
        with pytest.raises(DataError, match=r"one of 2 processes died.* with fewer --processes"):
            list(workers.map(die, [1, 2]))


def test_there_is_a_core_to_work_with():
    assert available_cores() >= 1

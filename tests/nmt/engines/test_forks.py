"""Forks: they answer beside this process, end with it, and leave to it what they cannot do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.engines.forks import Forks, can_fork, kind_of_workers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are made on Linux only")


@contextmanager
def forked(work: Callable[[Any], Any], n_forks: int = 1) -> Iterator[Forks]:
    forks = Forks(work, n_forks)
    try:
        yield forks
    finally:
        forks.close()


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def eventually(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)
    return is_so()


def test_each_fork_answers_with_what_this_process_knew_and_one_thread_of_torch() -> None:
    secret = torch.arange(5)
    n_threads = torch.get_num_threads()
    torch.set_num_threads(2)
    with forked(lambda job: [os.getpid(), int(secret[job]), torch.get_num_threads()], 2) as forks:
        one, other = forks.running()
        torch.set_num_threads(n_threads)
        secret = torch.zeros(5)  # too late for them
        answers = [fork.ask(3) for fork in (one, other, one)]
        assert [answer[1:] for answer in answers] == [[3, 1]] * 3
        assert answers[0] == answers[2]
        assert len({os.getpid(), answers[0][0], answers[1][0]}) == 3
        assert forks.running() == (one, other)  # made once


def test_numbers_come_back_as_they_were() -> None:
    numbers = [0.1, -1 / 3, 1e-300, float("-inf"), 7, True, None, "é"]
    with forked(lambda job: job) as forks:
        (fork,) = forks.running()
        assert fork.ask(numbers) == numbers


def test_what_fails_in_a_fork_has_no_answer_and_the_fork_goes_on() -> None:
    with forked(lambda job: 1 // job) as forks:
        (fork,) = forks.running()
        assert (fork.ask(0), fork.ask(1), fork.is_alive) == (None, 1, True)


def test_a_fork_that_was_killed_answers_nothing_and_another_takes_its_place() -> None:
    with forked(lambda job: job) as forks:
        (fork,) = forks.running()
        assert fork.pid is not None
        os.kill(fork.pid, signal.SIGKILL)
        assert fork.ask(1) is None
        assert not fork.is_alive
        (another,) = forks.running()
        assert another.ask(1) == 1


def test_closed_and_forgotten_forks_end() -> None:
    with forked(lambda job: job, 2) as forks:
        pids = [fork.pid for fork in forks.running()]
        assert all(pid is not None and is_running(pid) for pid in pids)
    assert eventually(lambda: not any(is_running(pid) for pid in pids if pid is not None))
    forgotten = Forks(lambda job: job, 1)
    pid = forgotten.running()[0].pid
    del forgotten
    assert pid is not None
    assert eventually(lambda: not is_running(pid))


def test_no_fork_is_made_while_another_thread_runs() -> None:
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    with forked(lambda job: job) as forks:
        try:
            assert not can_fork()
            assert forks.running() == ()
        finally:
            release.set()
            thread.join()
        assert len(forks.running()) == 1


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, None])
def test_forks_end_with_their_parent_however_it_ends(ending: signal.Signals | None) -> None:
    program = (
        "import signal, sys\nfrom nmt.engines.forks import Forks\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # who runs in the background ignores it
        "forks = Forks(lambda job: job, 2)\n"
        "print(*(fork.pid for fork in forks.running()), flush=True)\n"
        "sys.stdin.readline()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    with parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        if ending is None:
            parent.stdin.write("\n")
            parent.stdin.flush()
        else:
            parent.send_signal(ending)
        parent.wait(60)
        assert eventually(lambda: not any(map(is_running, pids)))


def test_what_the_workers_are_is_said_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kind_of_workers().startswith("forks")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert kind_of_workers() == "threads: forks are made on Linux, and this is darwin"
    assert not can_fork()

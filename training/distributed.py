"""The processes of a run: one, or those that ``torchrun`` started, on one machine or several.

Every process draws the same batches and trains on its own rows of each, so a run sees the same global
batches whatever its number of processes. Gradients meet by DistributedDataParallel (Li et al. 2020), or,
where a model does not fit, weights, gradients and moments are shared out (``training.sharding``). The first
process alone validates, logs and writes.

A run of one process is a world of size 1, in which everything here does nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

import torch
from torch import distributed, nn
from torch.distributed import PrefixStore, Store  # type: ignore[attr-defined]
from torch.distributed.fsdp import FSDPModule
from torch.distributed.rendezvous import rendezvous
from torch.nn.parallel import DistributedDataParallel

from nmt.batch import Batch
from nmt.errors import ConfigError
from training.sharding import shard

LONGEST_WAIT = timedelta(hours=6)
"""How long the others wait while the first process prepares a corpus or validates."""
ASKED_EVERY_S = 0.02
SEED_STRIDE = 0x9E3779B97F4A7C15
"""2^64 over the golden ratio: seeds of neighbouring processes are far apart."""

CPU = torch.device("cpu")

_ended: list[object] = []
"""Process groups, kept to the end of the process. Whoever lets go of the last reference to one waits for its
threads, and those may wait for the interpreter's lock. The Python object gives the lock up first, the reducer
of DistributedDataParallel does not: where that is the last, a process now and then never ends."""


@dataclass(frozen=True)
class World:
    """This process among those of the run.

    Attributes:
        rank: 0 is the first.
        size: number of processes.
        device: where this one computes.
        sharded: weights are shared out instead of copied.
    """

    rank: int = 0
    size: int = 1
    device: torch.device = CPU
    sharded: bool = False

    @property
    def is_first(self) -> bool:
        """Whether this process writes."""
        return self.rank == 0

    def seed(self, seed: int, update: int) -> int:
        """The seed of an update's random draws, another one in each process."""
        return ((seed << 32) + update + self.rank * SEED_STRIDE) % 2**63

    def part(self, batch: Batch) -> Batch:
        """This process's rows; one row that counts for nothing where there are fewer rows than processes."""
        first, end = (batch.size * rank // self.size for rank in (self.rank, self.rank + 1))
        if first < end:
            return batch.rows(slice(first, end))
        row = batch.rows(slice(0, 1))
        assert row.target_mask_BT is not None
        nothing_BT = torch.zeros_like(row.target_mask_BT)
        return Batch(row.source_BS, row.source_mask_BS, row.target_in_BT, row.target_out_BT, nothing_BT)

    def share(self, module: nn.Module) -> nn.Module:
        """Let gradients of ``module`` meet after each backward pass; the optimizer is built after this."""
        if self.size == 1:
            return module
        if self.sharded:
            return shard(module)
        devices = [self.device] if self.device.type == "cuda" else None
        shared = DistributedDataParallel(module, device_ids=devices)
        shared.broadcast_buffers = False  # tables of positions, the same in each process
        return shared

    @contextmanager
    def synchronised(self, module: nn.Module, *, last: bool) -> Iterator[None]:
        """A forward and backward pass after which gradients meet only if it is the ``last`` of its update."""
        if isinstance(module, FSDPModule):
            module.set_requires_gradient_sync(last)
            yield
        elif isinstance(module, DistributedDataParallel) and not last:
            with module.no_sync():
                yield
        else:
            yield

    def sums(self, *numbers: float) -> list[float]:
        """Each number summed over the processes."""
        return self._reduced(numbers, distributed.ReduceOp.SUM)

    def highest(self, *numbers: float) -> list[float]:
        """The highest of each number in any process."""
        return self._reduced(numbers, distributed.ReduceOp.MAX)

    def wait_for_all(self) -> None:
        """Until every process is here."""
        self.highest(0.0)

    def _reduced(self, numbers: tuple[float, ...], operation: distributed.ReduceOp.RedOpType) -> list[float]:
        if self.size == 1:
            return list(numbers)
        together = torch.tensor(numbers, dtype=torch.float64)
        distributed.all_reduce(together, operation)
        return [float(number) for number in together]


ALONE = World()


@contextmanager
def open_world(*, sharded: bool = False) -> Iterator[World]:
    """The world that ``torchrun`` describes in the environment, or that of one process.

    Raises:
        ConfigError: weights are to be shared out, and there is one process.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    on_gpu = torch.cuda.is_available()
    if size == 1:
        if sharded:
            raise ConfigError(
                "training.sharded shares a model out among processes, and there is one: "
                "start it with torchrun --nproc-per-node N -m -- nmt train"
            )
        yield World(device=torch.device("cuda" if on_gpu else "cpu"))
        return
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    store, rank, size = next(rendezvous("env://", timeout=LONGEST_WAIT))
    distributed.init_process_group(
        "cpu:gloo,cuda:nccl" if on_gpu else "gloo",
        store=fresh_corner(store, rank, size),
        rank=rank,
        world_size=size,
        timeout=LONGEST_WAIT,
    )
    _ended.append(distributed.group.WORLD)
    try:
        yield World(rank, size, device, sharded)
    finally:
        distributed.destroy_process_group()


def fresh_corner(store: Store, rank: int, size: int) -> Store:
    """A part of ``store`` in which nothing stands yet, the same in every process.

    ``torchrun`` keeps its store when it starts workers again: the addresses of dead ones stand in it, and who
    reads them before they are overwritten waits for nobody (pytorch issue 167288). Its counts of restarts
    differ from machine to machine. So each process asks under a name never used before, and the first answers
    each with the name that it chose, until all have taken it up.
    """
    own = uuid4().hex
    if rank:
        store.set(f"start/{rank}", own)
        chosen = store.get(f"start/{own}").decode()
        store.set(f"start/{chosen}/{rank}", "taken up")
        return PrefixStore(chosen, store)
    missing = list(range(1, size))
    while missing := [other for other in missing if not store.check([f"start/{own}/{other}"])]:
        for other in missing:
            if store.check([f"start/{other}"]):
                store.set(f"start/{store.get(f'start/{other}').decode()}", own)
        time.sleep(ASKED_EVERY_S)
    return PrefixStore(own, store)


def was_restarted() -> bool:
    """Whether ``torchrun --max-restarts`` started this process again after one had failed."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0

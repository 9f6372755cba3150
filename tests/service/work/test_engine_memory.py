"""When an engine's process gives free memory back to the kernel."""

from __future__ import annotations

from service.work.engine.child import GIVE_BACK_EVERY_S, RESTS_AFTER_S, FreeMemory


def test_once_when_the_work_is_done() -> None:
    memory = FreeMemory(0.0)
    assert memory.is_due(RESTS_AFTER_S, is_busy=False), "what loading the model left"

    assert not memory.is_due(2.0, is_busy=True)
    assert not memory.is_due(2.0 + RESTS_AFTER_S / 2, is_busy=False)
    assert memory.is_due(2.0 + RESTS_AFTER_S, is_busy=False)
    assert not memory.is_due(1000.0, is_busy=False)


def test_now_and_then_during_work_that_goes_on() -> None:
    memory = FreeMemory(0.0)

    due = [seconds for seconds in range(1, 31) if memory.is_due(float(seconds), is_busy=True)]

    assert due == [GIVE_BACK_EVERY_S, 2 * GIVE_BACK_EVERY_S, 3 * GIVE_BACK_EVERY_S]

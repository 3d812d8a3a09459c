"""Ten thousand questions with `task`, and nothing of them is left."""

from __future__ import annotations

import asyncio
import gc
import sys

import pytest

from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.session.question_handler import PendingRequest
from mcplens.session.receiver_tasks import ReceiverTaskRecord

from .scripted import until
from .task_rig import MESSAGES, SAMPLE, TaskRig

pytestmark = pytest.mark.slow

TASKS, AT_ONCE = 10_000, 500


def _kept() -> dict[str, int]:
    kinds = (ReceiverTaskRecord, PendingRequest, asyncio.Task, asyncio.Future, asyncio.TimerHandle)
    objects = gc.get_objects()
    return {kind.__name__: sum(isinstance(one, kind) for one in objects) for kind in kinds}


async def _ask_for(rig: TaskRig, count: int) -> None:
    """The server asks so many questions with `task`, and gets a task for each."""
    ids: set[str] = set()
    while len(ids) < count:
        rig.server.received.clear()
        rig.server.raw.clear()
        for _ in range(AT_ONCE):
            rig.send(SAMPLE, {**MESSAGES, "task": {"ttl": 60_000}})
        await until(lambda: len(rig.server.received) >= AT_ONCE)
        ids |= {answer["result"]["task"]["taskId"] for answer in rig.server.received}
    await rig.settle()
    assert len(rig.client.receiver_tasks.list_receiver_tasks()) == len(ids) == count


async def _run_through(rig: TaskRig, count: int) -> None:
    """So many tasks at once; of each four one is answered, refused, cancelled, and let expire."""
    await _ask_for(rig, count)
    for number, pending in enumerate(rig.client.sampling.get_pending()):
        if number % 4 == 0:
            rig.client.sampling.resolve(pending.id, "hi")
        elif number % 4 == 1:
            rig.client.sampling.reject(pending.id)
        elif number % 4 == 2:
            assert pending.request.task_id is not None
            rig.client.receiver_tasks.cancel_receiver_task(pending.request.task_id)
    await rig.settle()
    statuses = [task.status for task in rig.client.receiver_tasks.list_receiver_tasks()]
    ends = ("completed", "failed", "cancelled", "input_required")
    assert [statuses.count(end) for end in ends] == [count // 4] * 4
    await rig.advance(60)
    rig.server.received.clear()
    rig.server.raw.clear()


class HurriedClock(ManualClock):
    """Gives one turn after each of many timers, instead of twenty."""

    @staticmethod
    async def settle(rounds: int = 1) -> None:
        await ManualClock.settle(rounds)

    def forget_cancelled(self) -> None:
        """Let go of timers that were called off, as the loop does by itself."""
        self._timers = sorted(item for item in self._timers if not item[2].is_cancelled)


async def test_after_ten_thousand_tasks_memory_and_timers_are_back_where_they_were() -> None:
    clock = HurriedClock()
    async with TaskRig(clock=clock, bus=Bus(clock, max_events=100)) as rig:
        await _run_through(rig, AT_ONCE)  # what is made once and kept for good is made now
        gc.collect()
        timers, kept, blocks = clock.timer_count, _kept(), sys.getallocatedblocks()
        await _run_through(rig, TASKS)
        gc.collect()
        assert abs(sys.getallocatedblocks() - blocks) < TASKS // 10  # a leak is one for each task
        assert _kept() == kept
        assert clock.timer_count == timers
        assert repr(rig.client.receiver_tasks) == "<ReceiverTasks 0 kept, 0 waiting>"


async def test_ten_thousand_tasks_that_wait_are_gone_with_the_connection() -> None:
    clock = HurriedClock()
    async with TaskRig(clock=clock, bus=Bus(clock, max_events=100)) as rig:
        gc.collect()
        timers, kept, blocks = clock.timer_count, _kept(), sys.getallocatedblocks()
        await _ask_for(rig, TASKS)
        assert clock.timer_count >= timers + TASKS
        assert sys.getallocatedblocks() > blocks + 10 * TASKS
        refusal = (await rig.asked(SAMPLE, {**MESSAGES, "task": {}}))["error"]
        assert (refusal["code"], "10000 tasks" in refusal["message"]) == (-32603, True)
        await rig.client.disconnect()
        await rig.settle()
        clock.forget_cancelled()
        rig.server.received.clear()
        rig.server.raw.clear()
        gc.collect()
        assert clock.timer_count <= timers
        now = _kept()
        assert {name: now[name] <= kept[name] for name in kept} == dict.fromkeys(kept, True)
        assert sys.getallocatedblocks() - blocks < TASKS // 10

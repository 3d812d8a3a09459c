"""The records of tasks that we hold for a server: made, moved, waited for, dropped."""

from __future__ import annotations

import asyncio
import gc
from datetime import datetime

import pytest

from mcplens.errors import ServerError
from mcplens.events import Remark
from mcplens.protocol.tasks import IllegalTaskMove, Task, moved
from mcplens.session.receiver_tasks import ReceiverTaskRecord

from .receiver_bench import ANSWER, SAMPLE, Bench

# -- create_receiver_task (TASKS 6.1) ------------------------------------------------------------


async def test_a_task_is_stored_with_its_id_status_ttl_and_times() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(
        ttl=5_000, initial_status="input_required", status_message="wait", poll_interval=250
    )
    task = record.task
    assert bench.tasks.get_receiver_task(task.task_id) is record
    assert bench.tasks.list_receiver_tasks() == [task]
    assert (task.status, task.ttl, task.poll_interval) == ("input_required", 5_000, 250)
    assert task.status_message == "wait"
    assert task.created_at == task.last_updated_at
    assert datetime.fromisoformat(task.created_at).timestamp() == bench.clock.wall()


async def test_ids_are_long_and_never_alike() -> None:
    bench = Bench()
    ids = {bench.start() for _ in range(500)}
    assert len(ids) == 500
    assert min(map(len, ids)) >= 32
    await bench.tasks.end()


async def test_a_record_is_removed_when_its_ttl_is_over() -> None:
    bench = Bench()
    task_id = bench.tasks.create_receiver_task(ttl=5_000, initial_status="working").task.task_id
    await bench.clock.advance(4.999)
    assert bench.tasks.get_receiver_task(task_id) is not None
    await bench.clock.advance(0.001)
    assert bench.tasks.get_receiver_task(task_id) is None
    assert bench.tasks.list_receiver_tasks() == []
    assert bench.clock.timer_count == 0
    assert bench.steps() == ["working", "gone"]


async def test_timers_are_called_off_when_the_connection_ends() -> None:
    bench = Bench()
    for _ in range(3):
        bench.tasks.create_receiver_task(initial_status="working")
    assert bench.clock.timer_count == 3
    bench.tasks.clear()
    assert bench.clock.timer_count == 0
    assert bench.tasks.list_receiver_tasks() == []
    assert bench.steps() == ["working"] * 3 + ["gone"] * 3
    assert bench.notified() == []


async def test_the_server_hears_of_a_new_task_by_the_answer_and_not_twice() -> None:
    bench = Bench()
    await bench.started()
    assert bench.notified() == []
    assert bench.steps() == ["input_required"]
    await bench.tasks.end()


# -- accessors (TASKS 6.1) -----------------------------------------------------------------------


async def test_an_unknown_task_is_none_or_refused() -> None:
    bench = Bench()
    assert bench.tasks.get_receiver_task("nobody's") is None
    with pytest.raises(ServerError, match="Unknown taskId: nobody's") as refusal:
        await bench.tasks.get_receiver_task_payload("nobody's")
    assert refusal.value.rpc_code == -32602
    with pytest.raises(ServerError, match="Unknown taskId: nobody's"):
        bench.tasks.cancel_receiver_task("nobody's")


async def test_the_payload_is_waited_for_until_it_is_resolved() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    async with asyncio.TaskGroup() as group:
        waiting = [
            group.create_task(bench.tasks.get_receiver_task_payload(record.task.task_id))
            for _ in range(3)
        ]
        await bench.settle()
        assert not any(one.done() for one in waiting)
        record.resolve_payload(ANSWER)
    assert [one.result() for one in waiting] == [ANSWER] * 3


async def test_the_payload_is_waited_for_until_it_is_rejected() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    waiting = [asyncio.create_task(record.payload()) for _ in range(2)]
    await bench.settle()
    assert not any(one.done() for one in waiting)
    record.reject_payload(ServerError(-1, "no", {"why": 1}))
    first, second = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(first, ServerError)
    assert isinstance(second, ServerError)
    assert first is not second
    for error in (first, second):
        assert (error.rpc_code, error.rpc_message, error.data) == (-1, "no", {"why": 1})


async def test_whoever_no_longer_waits_for_a_payload_leaves_it_to_the_others() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    impatient, patient = (asyncio.create_task(record.payload()) for _ in range(2))
    await bench.settle()
    impatient.cancel()
    await bench.settle()
    record.resolve_payload(ANSWER)
    assert await patient == ANSWER


async def test_what_comes_first_counts() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    record.resolve_payload(ANSWER)
    record.resolve_payload({})
    record.reject_payload(ServerError(-1, "no"))
    assert await record.payload() == ANSWER


async def test_a_cancel_moves_the_task_rejects_the_payload_and_withdraws_the_question() -> None:
    bench = Bench()
    task_id = await bench.started()
    waiting = asyncio.create_task(bench.tasks.get_receiver_task_payload(task_id))
    await bench.settle()
    cancelled = bench.tasks.cancel_receiver_task(task_id)
    assert cancelled.status == "cancelled"
    assert bench.record(task_id).task == cancelled
    with pytest.raises(ServerError, match="the task was cancelled") as refusal:
        await waiting
    assert refusal.value.rpc_code == -32603
    await bench.settle()
    assert bench.answers[0].cancelled()
    assert bench.notified() == ["cancelled"]
    assert bench.steps() == ["input_required", "cancelled"]


async def test_the_ttl_of_a_cancelled_task_runs_on() -> None:
    bench = Bench()
    task_id = await bench.started(ttl=5_000)
    bench.tasks.cancel_receiver_task(task_id)
    await bench.clock.advance(4.9)
    assert bench.status(task_id) == "cancelled"
    await bench.clock.advance(0.1)
    assert bench.tasks.get_receiver_task(task_id) is None
    assert bench.clock.timer_count == 0


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
async def test_a_cancel_gives_a_task_that_is_over_as_it_is(end: str) -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    over = moved(record.task, end, "2026-01-01T00:00:00+00:00", "so it is")
    bench.tasks.upsert_receiver_task(over)
    assert bench.tasks.cancel_receiver_task(over.task_id) == over
    assert bench.notified() == [end]


# -- moving --------------------------------------------------------------------------------------


async def test_a_task_that_is_over_never_moves() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    task = record.task
    bench.tasks.upsert_receiver_task(moved(task, "completed", task.created_at))
    with pytest.raises(IllegalTaskMove):
        bench.tasks.upsert_receiver_task(moved(task, "cancelled", task.created_at))
    assert record.task.status == "completed"
    assert bench.notified() == ["completed"]


async def test_a_task_that_is_gone_stays_gone() -> None:
    bench = Bench()
    task = Task("gone", "working", "", "")
    bench.tasks.upsert_receiver_task(task)
    assert bench.tasks.list_receiver_tasks() == []
    assert bench.notified() == []


async def test_a_task_that_ends_without_a_payload_keeps_nobody_waiting() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    bench.tasks.upsert_receiver_task(moved(record.task, "failed", "", "out of luck"))
    with pytest.raises(ServerError, match="out of luck"):
        await record.payload()


async def test_a_status_goes_out_as_the_whole_task_without_related_task() -> None:
    bench = Bench()
    task_id = await bench.started(ttl=9_000)
    bench.answers[0].set_result(ANSWER)
    await bench.clock.advance(1)
    assert bench.session is not None
    ((method, params),) = bench.session.sent
    assert method == "notifications/tasks/status"
    assert params == await bench.request("tasks/get", {"taskId": task_id})
    assert sorted(params) == ["createdAt", "lastUpdatedAt", "status", "taskId", "ttl"]
    changed = bench.events()[-1]
    assert (changed.task_id, changed.method, changed.task) == (task_id, SAMPLE, params)


async def test_a_status_that_cannot_be_sent_breaks_nothing() -> None:
    bench = Bench()
    task_id = await bench.started()
    assert bench.session is not None
    bench.session.problem = OSError("the pipe is closed")
    bench.answers[0].set_result(ANSWER)
    await bench.settle()
    assert bench.status(task_id) == "completed"
    assert await bench.tasks.get_receiver_task_payload(task_id) == ANSWER
    (remark,) = bench.events(Remark)
    assert "the pipe is closed" in remark.message


async def test_a_status_is_not_sent_where_there_is_no_session() -> None:
    bench = Bench()
    task_id = await bench.started()
    bench.session = None
    bench.answers[0].set_result(ANSWER)
    await bench.settle()
    assert bench.status(task_id) == "completed"
    assert bench.events(Remark) == []


# -- nothing leaks -------------------------------------------------------------------------------


def _kept() -> int:
    gc.collect()
    return sum(isinstance(one, ReceiverTaskRecord | asyncio.Task) for one in gc.get_objects())


@pytest.mark.parametrize("how", ["answered", "refused", "cancelled", "expired", "cleared"])
async def test_however_tasks_end_nothing_of_them_is_left(how: str) -> None:
    bench = Bench()
    before = _kept()
    ids = [bench.start(ttl=10_000) for _ in range(200)]
    await bench.settle()
    for task_id, answer in zip(ids, bench.answers, strict=True):
        if how == "answered":
            answer.set_result(ANSWER)
        elif how == "refused":
            answer.set_exception(ServerError(-1, "no"))
        elif how == "cancelled":
            bench.tasks.cancel_receiver_task(task_id)
    if how == "cleared":
        await bench.tasks.end()
    await bench.clock.advance(10)
    assert repr(bench.tasks) == "<ReceiverTasks 0 kept, 0 waiting>"
    assert bench.clock.timer_count == 0
    bench.answers.clear()
    bench.asked.clear()
    del answer  # of the loop: an exception in it leads to its task
    assert _kept() == before

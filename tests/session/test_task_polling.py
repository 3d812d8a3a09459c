"""How the server is asked where a task of its own stands, and what it tells unasked."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mcplens.errors import ServerError
from mcplens.events import ClientTaskChanged

from .scripted import SILENT, Refuse, Rig, failure
from .task_servers import TaskServer, changes, task


@pytest.mark.parametrize(
    ("interval_ms", "after_s"), [(5_000, 5.0), (None, 1.0), (0, 0.1), (250, 0.25)]
)
async def test_it_polls_no_faster_than_it_may(interval_ms: int | None, after_s: float) -> None:
    server = TaskServer()
    server.task["pollInterval"] = interval_ms
    async with Rig(server) as rig:
        await rig.client.start_tool_task("slow")
        for count in range(3):
            await rig.advance(after_s * 0.9)
            assert server.polls() == count
            await rig.advance(after_s * 0.1 + 1e-9)
            assert server.polls() == count + 1


async def test_an_interval_that_the_server_changes_holds_from_then_on() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        await rig.client.start_tool_task("slow")
        server.task["pollInterval"] = 10_000
        await rig.advance(2)
        await rig.advance(9)
        assert server.polls() == 1
        await rig.advance(1)
        assert server.polls() == 2


async def test_it_polls_for_longer_than_any_request_may_take() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        await rig.advance(10_000)
        assert not call.done()
        assert server.polls() == 5_000
        server.move("completed")
        await rig.advance(2)
        assert (await call).content


async def test_a_task_that_outlives_its_time_to_live_is_remarked_once() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        await rig.call("slow", task=True)
        await rig.advance(100)
        assert [text for text in rig.remarks() if "time to live" in text] == [
            "the task t1 is working after its time to live of 60 s; it is polled on"
        ]


async def test_a_status_that_the_server_tells_on_its_own_is_taken_at_once() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        server.move("completed")
        server.notify("notifications/tasks/status", server.task)
        await rig.settle()
        assert (await call).content[0].text == "done"
        assert server.polls() == 0


async def test_a_status_of_a_task_that_is_not_ours_or_that_is_nonsense_changes_nothing() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        await rig.client.start_tool_task("slow")
        server.notify("notifications/tasks/status", task("completed", "another"))
        server.notify("notifications/tasks/status", task("no such status"))
        server.notify("notifications/tasks/status")
        server.notify("notifications/tasks", task("completed"))
        await rig.settle()
        assert changes(rig) == [("t1", "working")]
        assert any("status must be one of" in remark for remark in rig.remarks())


async def test_a_task_that_is_over_stays_as_it_ended() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        await rig.client.start_tool_task("slow")
        server.move("completed")
        await rig.advance(2)
        server.notify("notifications/tasks/status", task("working"))
        await rig.settle()
        assert rig.client.tracked_client_tasks[0].status == "completed"
        assert any("is completed, not working" in remark for remark in rig.remarks())
        assert changes(rig) == [("t1", "working"), ("t1", "completed")]
        server.move("failed")
        assert (await rig.client.get_client_task("t1")).status == "completed"


NONSENSE: list[Any] = [
    {},
    [],
    "working",
    task("no such status"),
    task(task_id="another"),
    task(ttl="long"),
    {"task": task()},
]


@pytest.mark.parametrize("nonsense", NONSENSE)
async def test_polls_that_give_nonsense_are_shown_and_tried_again(nonsense: Any) -> None:
    answers = [nonsense, nonsense, task("completed")]
    server = TaskServer({"tasks/get": lambda request: answers.pop(0)})
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        await rig.advance(4)
        shown = [remark for remark in rig.remarks() if "tasks/get" in remark]
        assert len(shown) == 2
        assert "(2 of 3)" in shown[1]
        await rig.advance(2)
        assert (await call).content[0].text == "done"


@pytest.mark.parametrize("nonsense", NONSENSE)
async def test_polls_that_give_nothing_but_nonsense_are_an_invalid_response(nonsense: Any) -> None:
    server = TaskServer({"tasks/get": lambda request: nonsense})
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        await rig.advance(4)
        assert not call.done()
        await rig.advance(2)
        error = failure(call)
        assert error.code == "INVALID_RESPONSE"
        assert error.details["task_id"] == "t1"
        assert changes(rig)[-1] == ("t1", "gone")
        await rig.advance(100)
        assert server.polls() == 3


@pytest.mark.parametrize("answer", [Refuse(-32603, "overloaded"), SILENT])
async def test_polls_that_fail_are_tried_again_and_then_told(answer: Any) -> None:
    server = TaskServer({"tasks/get": lambda request: answer})
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        await rig.advance(200)
        expected = "REQUEST_TIMEOUT" if answer is SILENT else "SERVER_ERROR"
        assert failure(call).code == expected


async def test_a_task_that_the_server_forgets_is_told_as_such() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        await rig.advance(2)
        server.answers["tasks/get"] = Refuse(-32602, "Task not found")
        await rig.advance(2)
        error = failure(call)
        assert "no longer knows the task t1" in error.message
        assert "Task not found" in error.message
        assert "60 s" in error.message
        assert isinstance(error, ServerError)
        assert (error.rpc_code, error.details["task_status"]) == (-32602, "working")
        assert rig.client.tracked_client_tasks == []


async def test_where_a_task_stands_can_be_told_and_subscribers_hear_of_it() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        started = await rig.client.start_tool_task("slow")
        told = msgspec.structs.replace(started, status_message="half way")
        assert rig.client.update_tracked_client_task(told).status_message == "half way"
        assert rig.client.get_tracked_client_tasks() == [told]
        assert rig.events(ClientTaskChanged)[-1].task["statusMessage"] == "half way"
        other = msgspec.structs.replace(started, task_id="t2")
        rig.client.update_tracked_client_task(other)
        assert [task.task_id for task in rig.client.get_tracked_client_tasks()] == ["t1", "t2"]


async def test_a_task_that_has_ended_does_not_come_back_whatever_is_told() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        started = await rig.client.start_tool_task("slow")
        server.move("completed")
        await rig.advance(2)
        assert rig.client.update_tracked_client_task(started).status == "completed"
        assert rig.events(ClientTaskChanged)[-1].status == "completed"

"""How a task of the server ends: failed, cancelled by its caller or by its id."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.errors import CancelledRequest, InspectorError, ProtocolError, ServerError

from .scripted import SILENT, Refuse, Rig, failure
from .task_servers import TaskServer, changes, result, task

# -- ends ----------------------------------------------------------------------------------------


async def test_a_task_fails_as_the_call_would_have_failed() -> None:
    server = TaskServer()
    server.move("failed")
    server.result = Refuse(-32000, "no such file", {"path": "x"})
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        await rig.advance(2)
        error = failure(call)
        assert isinstance(error, ServerError)
        assert (error.rpc_code, error.data) == (-32000, {"path": "x"})
        server.result = result() | {"isError": True}
        server.task = task("failed", "t2")
        again = await rig.call("slow", task=True)
        await rig.advance(2)
        assert (await again).is_error


async def test_a_task_that_somebody_cancelled_is_a_cancelled_call() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        server.move("cancelled", statusMessage="by the operator")
        await rig.advance(2)
        assert isinstance(failure(call), CancelledRequest)
        assert "by the operator" in failure(call).message
        assert server.sent("tasks/result") == []


async def test_cancelling_the_caller_cancels_the_task_and_sends_no_other_cancellation() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        call.cancel()
        await rig.settle()
        assert call.cancelled()
        assert [m["params"] for m in server.sent("tasks/cancel")] == [{"taskId": "t1"}]
        assert server.sent("notifications/cancelled") == []
        await rig.advance(2)
        assert changes(rig)[-1] == ("t1", "cancelled")


async def test_cancelling_the_caller_before_there_is_a_task_cancels_it_when_there_is() -> None:
    server = TaskServer({"tools/call": SILENT})
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        call.cancel()
        await rig.settle()
        assert server.sent("notifications/cancelled") == []
        server.reply(server.sent("tools/call")[0]["id"], {"task": task()})
        await rig.settle()
        assert [m["params"] for m in server.sent("tasks/cancel")] == [{"taskId": "t1"}]
        assert rig.client.tracked_client_tasks == []


async def test_a_caller_cancelled_while_the_connection_is_lost_cancels_when_it_is_back() -> None:
    server = TaskServer()
    async with Rig(server, max_retries=3) as rig:
        call = await rig.call("slow", task=True)
        server.leave()
        await rig.settle()
        call.cancel()
        await rig.settle()
        assert server.sent("tasks/cancel") == []
        await rig.advance(3)
        assert len(server.sent("tasks/cancel")) == 1
        await rig.advance(10)
        assert len(server.sent("tasks/cancel")) == 1
        assert changes(rig)[-1] == ("t1", "cancelled")


async def test_a_call_for_a_task_that_waits_in_the_queue_is_never_sent_once_cancelled() -> None:
    server = TaskServer({"tools/call": SILENT})
    async with Rig(server) as rig:
        await rig.call("plain")
        call = await rig.call("slow", task=True)
        call.cancel()
        await rig.settle()
        assert len(server.sent("tools/call")) == 1
        assert rig.client.queue.get_status().pending == 0


async def test_a_call_for_a_task_that_times_out_is_not_cancelled_by_a_notification() -> None:
    server = TaskServer({"tools/call": SILENT})
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True, timeout_s=5)
        await rig.advance(5)
        assert failure(call).code == "REQUEST_TIMEOUT"
        assert server.sent("notifications/cancelled") == []


async def test_a_server_without_cancellation_is_not_asked_for_it() -> None:
    server = TaskServer(tasks={"requests": {"tools": {"call": {}}}})
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        call.cancel()
        await rig.settle()
        assert server.sent("tasks/cancel") == []
        assert server.sent("notifications/cancelled") == []
        assert any("goes on" in remark for remark in rig.remarks())
        with pytest.raises(InspectorError, match=r"tasks\.cancel"):
            await rig.client.cancel_client_task("t1")


async def test_leaving_waits_a_moment_for_a_task_that_was_just_cancelled() -> None:
    server = TaskServer({"tasks/cancel": SILENT})
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        call.cancel()
        await rig.settle()
        leaving = await rig.started(rig.client.disconnect())
        assert rig.state == "CONNECTED"
        server.reply(server.sent("tasks/cancel")[0]["id"], task("cancelled"))
        await leaving
        assert rig.state == "DISCONNECTED"
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        call.cancel()
        await rig.settle()
        leaving = await rig.started(rig.client.disconnect())
        await rig.advance(1)
        await leaving


# -- by id ---------------------------------------------------------------------------------------


async def test_tasks_are_got_listed_and_cancelled_by_their_ids() -> None:
    pages: dict[Any, Any] = {
        None: {"tasks": [task(), {"taskId": 7}], "nextCursor": ""},
        "": {"tasks": [task("completed", "t2")], "nextCursor": "c"},
        "c": {"tasks": [task("failed", "t3")]},
    }
    server = TaskServer(
        {"tasks/list": lambda request: pages[request.get("params", {}).get("cursor")]}
    )
    async with Rig(server) as rig:
        got = await rig.client.get_client_task("t1")
        assert (got.status, got.ttl, got.poll_interval) == ("working", 60_000, 2_000)
        listed = await rig.client.list_client_tasks()
        assert [(each.task_id, each.status) for each in listed] == [
            ("t1", "working"),
            ("t2", "completed"),
            ("t3", "failed"),
        ]
        assert any("not a task" in remark for remark in rig.remarks())
        assert (await rig.client.cancel_client_task("t1")).status == "cancelled"
        server.answers["tasks/cancel"] = Refuse(-32602, "already cancelled")
        with pytest.raises(ServerError, match="already cancelled"):
            await rig.client.cancel_client_task("t1")
        server.answers["tasks/list"] = {"tasks": "none"}
        with pytest.raises(ProtocolError):
            await rig.client.list_client_tasks()
        server.answers["tasks/list"] = {"tasks": [], "nextCursor": "again"}
        assert await rig.client.list_client_tasks() == []


async def test_asking_about_a_tracked_task_tells_of_it() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        waiting = rig.go(rig.client.call_tool("slow", task=True))
        await rig.settle()
        server.move("completed")
        await rig.client.get_client_task("t1")
        assert changes(rig) == [("t1", "working"), ("t1", "completed")]
        assert (await waiting).content[0].text == "done"
        assert server.polls() == 1


async def test_cancelling_a_task_by_its_id_ends_the_call_that_waits_for_it() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        await rig.client.cancel_client_task("t1")
        await rig.settle()
        assert failure(call).code == "CANCELLED"

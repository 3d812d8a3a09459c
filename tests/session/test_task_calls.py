"""Calls that become a task of the server (2025-11-25): which do, and how each gets its result."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.errors import CancelledRequest, InspectorError, ProtocolError
from mcplens.events import ClientTaskChanged, Remark
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.session.task_poller import MAX_POLLS_AFTER

from .scripted import Refuse, Rig, failure, text
from .task_servers import RELATED, TaskServer, changes, result, task, tools

IMMEDIATE = "io.modelcontextprotocol/model-immediate-response"


# -- whether it is one ---------------------------------------------------------------------------


async def test_a_call_as_a_task_waits_for_its_end_and_gives_the_tools_result() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        call = await rig.call("slow", arguments={"a": 1}, task=30)
        (sent,) = server.sent("tools/call")
        assert sent["params"]["task"] == {"ttl": 30_000}
        assert sent["params"]["arguments"] == {"a": 1}
        server.move("completed")
        await rig.advance(2)
        given = await call
        assert given.content[0].text == "done"
        assert given.meta == {RELATED: {"taskId": "t1"}}
        (asked,) = server.sent("tasks/result")
        assert asked["params"] == {"taskId": "t1"}
        assert server.sent("tasks/get")[0]["params"] == {"taskId": "t1"}
        assert changes(rig) == [("t1", "working"), ("t1", "completed")]


async def test_a_tool_that_must_be_a_task_is_called_as_one_unasked() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        call = await rig.call("only")  # the tools are listed for it
        assert server.sent("tools/call")[0]["params"]["task"] == {"ttl": 60_000}
        server.move("completed")
        await rig.advance(2)
        assert (await call).content[0].text == "done"
        for name in ("slow", "never", "plain", "unheard-of"):
            assert (await rig.client.call_tool(name)).content[0].text == "plain"
        assert (await rig.client.call_tool("only", task=False)).content[0].text == "plain"
        assert len(server.sent("tools/list")) == 1


async def test_a_list_that_fails_keeps_no_tool_from_being_called() -> None:
    server = TaskServer({"tools/list": Refuse(-32603, "broken")})
    async with Rig(server) as rig:
        assert (await rig.client.call_tool("only")).content[0].text == "plain"


@pytest.mark.parametrize("name", ["never", "plain"])
async def test_a_tool_that_cannot_be_a_task_is_not_made_one_unless_forced(name: str) -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        with pytest.raises(InspectorError, match="taskSupport: forbidden") as problem:
            await rig.client.call_tool(name, task=True)
        assert problem.value.code == "CAPABILITY_NOT_SUPPORTED"
        assert server.sent("tools/call") == []
    async with Rig(server, enforce_capabilities=False) as rig:
        await rig.client.start_tool_task(name)
        assert "task" in server.sent("tools/call")[0]["params"]


async def test_a_server_that_declares_no_tasks_of_tools_gets_none() -> None:
    server = TaskServer(tasks={"list": {}, "requests": {"sampling": {}}})
    async with Rig(server) as rig:
        await rig.client.list_tools()
        assert (await rig.client.call_tool("only")).content[0].text == "plain"
        with pytest.raises(InspectorError, match="did not declare tasks"):
            await rig.client.call_tool("slow", task=True)
        with pytest.raises(InspectorError, match="did not declare tasks"):
            await rig.client.start_tool_task("slow")


@pytest.mark.parametrize("ttl_s", [-1, float("nan"), float("inf")])
async def test_a_time_to_live_that_is_none_is_refused(ttl_s: float) -> None:
    async with Rig(TaskServer()) as rig:
        with pytest.raises(InspectorError, match="time to live") as problem:
            await rig.client.call_tool("slow", task=ttl_s)
        assert problem.value.code == "INVALID_REQUEST"


async def test_a_server_that_ignores_the_wish_for_a_task_gives_its_result_at_once() -> None:
    async with Rig(TaskServer({"tools/call": text("at once")})) as rig:
        assert (await rig.client.call_tool("slow", task=True)).content[0].text == "at once"
        with pytest.raises(ProtocolError, match="made no task of it") as problem:
            await rig.client.start_tool_task("slow")
        assert problem.value.value == text("at once")


@pytest.mark.parametrize("broken", [{}, [], None, {"taskId": 1, "status": "working"}, task("x")])
async def test_a_created_task_that_is_none_is_an_invalid_response(broken: Any) -> None:
    async with Rig(TaskServer({"tools/call": {"task": broken}})) as rig:
        with pytest.raises(ProtocolError, match="the task: ") as problem:
            await rig.client.call_tool("slow", task=True)
        assert problem.value.code == "INVALID_RESPONSE"
        assert rig.client.tracked_client_tasks == []


# -- in the background ---------------------------------------------------------------------------


async def test_a_task_that_is_only_started_is_followed_to_its_end() -> None:
    server = TaskServer({"tools/call": {"task": task(), "_meta": {IMMEDIATE: "Working on it."}}})
    async with Rig(server) as rig:
        started = await rig.client.start_tool_task("slow", {"a": 1}, ttl_s=5)
        assert (started.task_id, started.status) == ("t1", "working")
        assert started.immediate_response == "Working on it."
        assert server.sent("tools/call")[0]["params"]["task"] == {"ttl": 5_000}
        server.move("working", statusMessage="half")
        await rig.advance(2)
        server.move("completed")
        await rig.advance(2)
        (tracked,) = rig.client.tracked_client_tasks
        assert (tracked.status, tracked.immediate_response) == ("completed", "Working on it.")
        event = rig.events(ClientTaskChanged)[1]
        assert (event.status, event.task["statusMessage"], event.method) == (
            "working",
            "half",
            "tools/call",
        )
        assert event.task["_meta"] == {IMMEDIATE: "Working on it."}
        given = await rig.client.get_client_task_result("t1")
        assert given.content[0].text == "done"
        await rig.client.get_client_task_result("t1")
        assert len(server.sent("tasks/result")) == 1


async def test_a_task_without_a_wish_for_its_life_leaves_that_to_the_server() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        await rig.client.start_tool_task("slow", ttl_s=None)
        assert server.sent("tools/call")[0]["params"]["task"] == {}


async def test_a_second_task_of_the_same_id_does_not_get_the_result_of_the_first() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        for words in ("first", "second"):
            server.task, server.result = task(), result(words)
            call = await rig.started(rig.client.call_tool("slow", task=True))
            server.move("completed")
            await rig.advance(2)
            assert (await call).content[0].text == words
        assert changes(rig)[-3:] == [("t1", "gone"), ("t1", "working"), ("t1", "completed")]
        assert "the id t1 to a second task" in rig.events(Remark)[-1].message


async def test_a_call_that_becomes_a_task_while_we_leave_keeps_nobody_waiting() -> None:
    async with Rig(TaskServer()) as rig:
        calls = [await rig.started(rig.client.call_tool("slow", task=True))]
        await rig.settle()
        end = rig.client._client_tasks.end

        async def end_and_begin_one_more() -> None:
            await end()
            if rig.client.state is ConnectionState.CONNECTED:
                calls.append(await rig.started(rig.client.call_tool("slow", task=True)))
                await rig.settle()

        rig.client._client_tasks.end = end_and_begin_one_more  # type: ignore[method-assign]
        await rig.client.disconnect()
        await rig.settle()
        assert [type(failure(call)) for call in calls] == [CancelledRequest] * 2
        assert rig.client.tracked_client_tasks == []


async def test_a_task_that_gave_its_result_and_never_ends_is_not_polled_for_ever() -> None:
    server = TaskServer()
    server.move("input_required")
    async with Rig(server) as rig:
        call = await rig.started(rig.client.call_tool("slow", task=True))
        await rig.settle()
        assert (await call).content[0].text == "done"
        for _ in range(MAX_POLLS_AFTER + 5):
            await rig.advance(2)
        assert server.polls() == MAX_POLLS_AFTER
        assert changes(rig)[-1] == ("t1", "gone")
        assert "is still input_required" in rig.events(Remark)[-1].message


async def test_a_result_breaks_its_promise_as_that_of_any_call() -> None:
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    listed = tools(slow="optional")
    listed["tools"][0]["outputSchema"] = schema
    server = TaskServer({"tools/list": listed})
    server.move("completed")
    server.result = result() | {"structuredContent": {"n": "x"}}
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        await rig.advance(2)
        assert failure(call).code == "INVALID_RESPONSE"
        with pytest.raises(ProtocolError, match="output schema"):
            await rig.client.get_client_task_result("t1")


async def test_a_task_of_which_only_the_id_is_known_can_be_waited_for() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        waiting = await rig.started(rig.client.get_client_task_result("t1"))
        server.move("completed")
        await rig.advance(2)
        assert (await waiting).content[0].text == "done"

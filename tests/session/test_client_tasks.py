"""Tasks of 2025-11-25 that the server runs for us: created, polled, answered, cancelled, lost."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from mcplens.errors import CancelledRequest, InspectorError, ProtocolError, ServerError
from mcplens.events import ClientTaskChanged, InputRoundStarted, ProgressReceived, Remark
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.session.following import MOST_POLLS_AFTER
from mcplens.session.handler import ServerRequest

from .scripted import (
    EVERYTHING,
    SILENT,
    ExchangeTransport,
    Refuse,
    Rig,
    ScriptedServer,
    failure,
    text,
)

RELATED = "io.modelcontextprotocol/related-task"
IMMEDIATE = "io.modelcontextprotocol/model-immediate-response"
CREATED = "2025-11-25T10:00:00.000Z"
TASKS = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}


def task(status: str = "working", task_id: str = "t1", **more: Any) -> dict[str, Any]:
    return {
        "taskId": task_id,
        "status": status,
        "createdAt": CREATED,
        "lastUpdatedAt": CREATED,
        "ttl": 60_000,
        "pollInterval": 2_000,
    } | more


def result(words: str = "done", task_id: str = "t1") -> dict[str, Any]:
    """What tasks/result gives."""
    return text(words) | {"_meta": {RELATED: {"taskId": task_id}}}


def tools(**support: str | None) -> dict[str, Any]:
    listed = []
    for name, kind in support.items():
        tool: dict[str, Any] = {"name": name, "inputSchema": {"type": "object"}}
        listed.append(tool if kind is None else tool | {"execution": {"taskSupport": kind}})
    return {"tools": listed}


class TaskServer(ScriptedServer):
    """Makes a task of each call that wants one; the test says where it stands."""

    def __init__(self, answers: dict[str, Any] | None = None, **capabilities: Any) -> None:
        self.task = task()
        self.finished = asyncio.Event()
        self.result: Any = result()
        super().__init__(
            {
                "tools/list": tools(
                    slow="optional", only="required", never="forbidden", plain=None
                ),
                "tools/call": self._called,
                "tasks/get": lambda request: self.task,
                "tasks/result": lambda request: self.result,
                "tasks/cancel": self._cancelled,
            }
            | (answers or {}),
            capabilities=EVERYTHING | {"tasks": TASKS} | capabilities,
        )

    def _called(self, request: dict[str, Any]) -> Any:
        if "task" not in request["params"]:
            return text("plain")
        return {"task": self.task}

    def _cancelled(self, request: dict[str, Any]) -> Any:
        self.task = self.task | {"status": "cancelled"}
        return self.task

    def move(self, status: str, **more: Any) -> None:
        self.task = self.task | {"status": status} | more

    def polls(self) -> int:
        return len(self.sent("tasks/get"))


def changes(rig: Rig) -> list[tuple[str, str]]:
    """What was told of tasks: id and status, `gone` at the end."""
    return [
        (event.task_id, "gone" if event.is_gone else event.status)
        for event in rig.events(ClientTaskChanged)
    ]


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
        for _ in range(MOST_POLLS_AFTER + 5):
            await rig.advance(2)
        assert server.polls() == MOST_POLLS_AFTER
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


# -- polling -------------------------------------------------------------------------------------


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
        call = await rig.call("slow", task=True, timeout_s=5)
        await rig.advance(10_000)
        assert not call.done()
        assert server.polls() == 5_000
        server.move("completed")
        await rig.advance(2)
        assert (await call).content


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


# -- questions -----------------------------------------------------------------------------------


async def test_a_task_that_needs_input_is_asked_for_its_result_at_once_and_polled_on() -> None:
    server = TaskServer({"tasks/result": SILENT})
    accepted = {"action": "accept", "content": {}}
    async with Rig(server, handlers={"elicitation/create": lambda request: accepted}) as rig:
        call = await rig.call("slow", task=True)
        server.move("input_required")
        await rig.advance(2)
        (asked,) = server.sent("tasks/result")
        server.ask("q1", "elicitation/create", {"message": "?", "_meta": {RELATED: {}}})
        await rig.settle()
        answer = server.answer_to("q1")
        assert answer is not None
        assert answer["result"] == accepted
        server.move("working")
        await rig.advance(400)  # longer than any request may take
        assert len(server.sent("tasks/result")) == 1
        server.move("input_required")
        await rig.advance(2)
        assert len(server.sent("tasks/result")) == 1
        server.move("completed")
        server.reply(asked["id"], result("asked and done"))
        assert (await call).content[0].text == "asked and done"
        await rig.advance(2)
        assert changes(rig)[-1] == ("t1", "completed")
        polls = server.polls()
        await rig.advance(100)
        assert server.polls() == polls


async def test_a_task_that_begins_by_asking_is_asked_for_its_result_before_any_poll() -> None:
    server = TaskServer()
    server.move("input_required")
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        assert (await call).content[0].text == "done"
        assert server.polls() == 0


async def test_a_result_that_never_comes_though_the_task_is_over_times_out() -> None:
    server = TaskServer({"tasks/result": SILENT})
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        server.move("input_required")
        await rig.advance(1_000)
        assert not call.done()
        server.move("completed")
        await rig.advance(2)
        await rig.advance(300)
        assert failure(call).code == "REQUEST_TIMEOUT"


async def test_a_task_that_expires_while_it_is_being_answered_is_told_as_such() -> None:
    asked: list[ServerRequest] = []

    async def never(request: ServerRequest) -> Any:
        asked.append(request)
        await asyncio.get_running_loop().create_future()

    server = TaskServer({"tasks/result": SILENT})
    async with Rig(server, handlers={"elicitation/create": never}) as rig:
        call = await rig.call("slow", task=True)
        server.move("input_required")
        await rig.advance(2)
        server.ask("q1", "elicitation/create", {"message": "?"})
        await rig.settle()
        assert asked
        server.answers["tasks/get"] = Refuse(-32602, "expired")
        await rig.advance(2)
        assert "no longer knows the task" in failure(call).message
        # Only the request for the result is called off, never the call that became the task.
        cancelled = [m["params"]["requestId"] for m in server.sent("notifications/cancelled")]
        assert cancelled == [server.sent("tasks/result")[0]["id"]]


async def test_a_server_whose_result_does_not_wait_is_asked_for_it_again_at_the_end() -> None:
    server = TaskServer()
    server.result = Refuse(-32603, "not finished yet")
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        server.move("input_required")
        await rig.advance(8)
        assert not call.done()
        assert len(server.sent("tasks/result")) == 1
        assert any("before the end" in remark for remark in rig.remarks())
        server.result = result()
        server.move("completed")
        await rig.advance(2)
        assert (await call).content[0].text == "done"


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
        assert any("no task" in remark for remark in rig.remarks())
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


# -- progress and errors that say how to go on -----------------------------------------------------


async def test_progress_keeps_the_token_of_the_call_for_the_tasks_whole_life() -> None:
    seen: list[Any] = []
    server = TaskServer()
    transport = ExchangeTransport(server)
    async with Rig(server, make_transport=lambda: transport) as rig:
        await rig.call("slow", task=True, on_progress=lambda report: seen.append(report.progress))
        call_id = server.sent("tools/call")[0]["id"]
        server.progress(call_id, 1, total=3)
        await rig.settle()
        assert seen == [1]
        server.answers["tasks/result"] = SILENT
        server.move("input_required")
        await rig.advance(2)
        on_result = server.sent("tasks/result")[0]["id"]
        params = {"progressToken": call_id, "progress": 2}
        transport.deliver_on(
            on_result, {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        )
        await rig.settle()
        assert seen == [1, 2]
        assert [event.request_id for event in rig.events(ProgressReceived)] == [call_id, call_id]


async def test_a_page_that_must_be_opened_first_starts_the_task_again() -> None:
    page = {"mode": "url", "url": "https://example.com", "message": "go", "elicitationId": "e"}
    server = TaskServer()
    server.move("failed")
    server.result = Refuse(-32042, "open this first", {"elicitations": [page]})

    def accept(request: ServerRequest) -> Any:
        server.task, server.result = task("completed", "t2"), result()
        return {"action": "accept"}

    async with Rig(server, handlers={"elicitation/create": accept}) as rig:
        call = await rig.call("slow", task=True)
        await rig.advance(2)
        await rig.advance(2)
        assert (await call).content[0].text == "done"
        assert len(server.sent("tools/call")) == 2
        assert len(rig.events(InputRoundStarted)) == 1


# -- the connection's life -----------------------------------------------------------------------


async def test_disconnecting_clears_the_tasks_and_fails_who_waits() -> None:
    server = TaskServer({"tasks/result": SILENT})
    server.move("input_required")
    async with Rig(server) as rig:
        call = await rig.call("slow", task=True)
        await rig.client.disconnect()
        await rig.settle()
        assert failure(call).code == "CANCELLED"
        assert rig.client.tracked_client_tasks == []
        assert changes(rig) == [("t1", "input_required"), ("t1", "gone")]
        assert rig.clock.timer_count == 0


async def test_a_lost_connection_that_is_opened_again_keeps_the_tasks_and_polls_on() -> None:
    server = TaskServer()
    async with Rig(server, max_retries=3) as rig:
        call = await rig.call("slow", task=True)
        await rig.advance(2)
        server.leave()
        await rig.settle()
        assert not call.done()
        server.move("input_required")
        server.answers["tasks/result"] = SILENT
        await rig.advance(1)
        assert rig.state == "CONNECTED"
        await rig.advance(2)
        server.leave()  # while its result is waited for
        await rig.settle()
        assert not call.done()
        await rig.advance(4)
        assert len(server.sent("tasks/result")) == 2
        server.answers["tasks/result"] = result()
        server.move("completed")
        server.reply(server.sent("tasks/result")[1]["id"], result("after all"))
        assert (await call).content[0].text == "after all"
        assert ("t1", "gone") not in changes(rig)


async def test_a_connection_that_is_lost_at_the_very_end_is_waited_for() -> None:
    server = TaskServer({"tasks/result": SILENT})
    async with Rig(server, max_retries=3) as rig:
        call = await rig.call("slow", task=True)
        server.move("completed")
        await rig.advance(2)
        assert len(server.sent("tasks/result")) == 1
        server.leave()
        await rig.settle()
        server.answers["tasks/result"] = result()
        await rig.advance(1)
        assert (await call).content[0].text == "done"


@pytest.mark.parametrize("retries", [0, 2])
async def test_a_connection_that_is_given_up_fails_who_waits(retries: int) -> None:
    server = TaskServer()
    async with Rig(server, max_retries=retries) as rig:
        call = await rig.call("slow", task=True)
        rig.client.connection.make_transport = _broken
        server.leave()
        await rig.advance(100)
        assert rig.state == "DISCONNECTED"
        assert failure(call).code == ("CONNECTION_LOST" if retries == 0 else "CONNECTION_REFUSED")
        assert rig.client.tracked_client_tasks == []
        assert changes(rig)[-1] == ("t1", "gone")


def _broken() -> Any:
    from .scripted import BrokenTransport

    return BrokenTransport(ConnectionRefusedError(111, "refused"))


async def test_tasks_that_are_over_are_not_kept_without_end() -> None:
    from mcplens.session.client_tasks import MOST_KEPT

    numbers = iter(range(10_000))
    server = TaskServer(
        {"tools/call": lambda request: {"task": task("completed", f"t{next(numbers)}")}}
    )
    async with Rig(server) as rig:
        for _ in range(MOST_KEPT + 50):
            await rig.client.call_tool("slow", task=True)
        kept = rig.client.tracked_client_tasks
        assert len(kept) == MOST_KEPT + 1  # trimmed when the next one begins
        assert kept[0].task_id == "t49"
        server.result = result("x" * 20_000_000)
        for _ in range(5):
            await rig.client.call_tool("slow", task=True)
        assert len(rig.client.tracked_client_tasks) < 10
        assert rig.clock.timer_count <= 2  # the pings' and the requests'


async def test_what_is_sent_is_json() -> None:
    server = TaskServer()
    async with Rig(server) as rig:
        await rig.client.start_tool_task("slow", meta={"example.com/x": 1})
        assert json.loads(server.raw[-1])["params"]["_meta"]["example.com/x"] == 1

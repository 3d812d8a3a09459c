"""Tasks of 2026-07-28, an extension: the server makes one of a call, and tasks/get has it all."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.errors import InspectorError, ProtocolError, ServerError

from .extension_servers import EXTENSION, Person, TaskServer, changes, extended, task
from .person import ACCEPTED, ELICIT, FORM
from .scripted import ExchangeTransport, failure, text

# -- a call that becomes a task ------------------------------------------------------------------


async def test_a_call_that_the_server_makes_a_task_of_is_followed_to_its_result() -> None:
    server = TaskServer()
    async with extended(server) as rig:
        call = await rig.call("slow", arguments={"a": 1})
        assert "task" not in server.sent("tools/call")[0]["params"]
        await rig.advance(2)
        server.move("completed", result=text("done"))
        await rig.advance(1)
        assert server.polls() == 1
        await rig.advance(1)
        assert (await call).content[0].text == "done"
        assert server.sent("tasks/result") == []
        poll = server.sent("tasks/get")[0]["params"]
        assert poll["taskId"] == "t1"
        meta = poll["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        assert meta == {"extensions": {EXTENSION: {}}}
        assert changes(rig) == ["working", "completed"]


async def test_polls_name_the_task_in_their_headers() -> None:
    server = TaskServer()
    transport = ExchangeTransport(server)
    async with extended(server, make_transport=lambda: transport) as rig:
        call = await rig.call("slow")
        await rig.advance(2)
        assert transport.headers["tasks/get"]["Mcp-Name"] == "t1"
        assert transport.headers["tasks/get"]["Mcp-Method"] == "tasks/get"
        call.cancel()
        await rig.settle()
        assert transport.headers["tasks/cancel"]["Mcp-Name"] == "t1"


async def test_a_result_is_checked_as_that_of_any_call() -> None:
    server = TaskServer()
    server.move("completed", result={"content": "none"})
    async with extended(server) as rig:
        with pytest.raises(ProtocolError) as problem:
            await rig.client.call_tool("slow")
        assert problem.value.code == "INVALID_RESPONSE"
        assert server.polls() == 0


async def test_a_tools_own_failure_completes_a_task_and_an_error_fails_it() -> None:
    server = TaskServer()
    server.move("completed", result=text("oh no") | {"isError": True})
    async with extended(server) as rig:
        assert (await rig.client.call_tool("slow")).is_error
        server.task["taskId"] = "t2"
        server.move("failed", error={"code": -32000, "message": "broken", "data": {"why": 1}})
        with pytest.raises(ServerError, match="broken") as problem:
            await rig.client.call_tool("slow")
        assert (problem.value.rpc_code, problem.value.data) == (-32000, {"why": 1})
        assert problem.value.details["task_id"] == "t2"


@pytest.mark.parametrize(
    ("end", "problem"),
    [
        (task("completed"), "has no 'result'"),
        (task("failed"), "has no 'error'"),
        (task("failed", error="x"), "not an error object"),
    ],
)
async def test_a_task_that_ends_without_what_its_end_brings_is_invalid(
    end: dict[str, Any], problem: str
) -> None:
    server = TaskServer()
    server.task = end
    async with extended(server) as rig:
        with pytest.raises(ProtocolError, match=problem):
            await rig.client.call_tool("slow")


async def test_a_task_is_invalid_where_it_was_never_said_that_we_know_tasks() -> None:
    server = TaskServer()
    async with extended(server, capabilities={}) as rig:
        with pytest.raises(ProtocolError, match="did not declare the extension"):
            await rig.client.call_tool("slow")
        assert server.polls() == 0


async def test_only_a_call_can_become_a_task() -> None:
    server = TaskServer({"resources/read": {"resultType": "task"} | task()})
    async with extended(server) as rig:
        with pytest.raises(ProtocolError, match="only tools/call"):
            await rig.client.read_resource("file:///a")


async def test_a_call_may_ask_first_and_become_a_task_then() -> None:
    asking = {"resultType": "input_required", "inputRequests": {"who": FORM}}
    server = TaskServer()
    first = [asking]
    made = server.answers["tools/call"]
    server.answers["tools/call"] = lambda request: first.pop() if first else made(request)
    server.move("completed", result=text("for Ada"))
    async with extended(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
        assert (await rig.client.call_tool("slow")).content[0].text == "for Ada"


async def test_the_server_alone_decides_what_becomes_a_task() -> None:
    server = TaskServer()
    async with extended(server) as rig:
        with pytest.raises(InspectorError, match="the server decides") as problem:
            await rig.client.call_tool("slow", task=True)
        assert problem.value.code == "CAPABILITY_NOT_SUPPORTED"
        started = await rig.client.start_tool_task("slow")
        assert (started.task_id, started.ttl, started.poll_interval) == ("t1", 60_000, 2_000)
        server.answers["tools/call"] = text("at once")
        with pytest.raises(ProtocolError, match="made no task of it"):
            await rig.client.start_tool_task("slow")
        with pytest.raises(InspectorError, match="does not exist in 2026-07-28"):
            await rig.client.list_client_tasks()


# -- cancelling ----------------------------------------------------------------------------------


async def test_cancelling_the_caller_cancels_the_task_and_withdraws_its_questions() -> None:
    person = Person()
    server = TaskServer()
    server.move("input_required", inputRequests={"who": FORM})
    async with extended(server, handlers={ELICIT: person}) as rig:
        call = await rig.call("slow")
        call.cancel()
        await rig.settle()
        assert person.withdrawn == 1
        assert len(server.sent("tasks/cancel")) == 1
        assert server.sent("notifications/cancelled") == []
        await rig.advance(2)
        assert changes(rig)[-1] == "cancelled"


async def test_a_task_is_cancelled_by_its_id_when_it_likes() -> None:
    server = TaskServer({"tasks/cancel": {"resultType": "complete"}})
    async with extended(server) as rig:
        call = await rig.call("slow")
        assert (await rig.client.cancel_client_task("t1")).status == "working"
        server.move("cancelled")
        await rig.advance(2)
        assert failure(call).code == "CANCELLED"


async def test_a_task_of_which_only_the_id_is_known_can_be_waited_for() -> None:
    server = TaskServer()
    server.move("input_required", inputRequests={"who": FORM})
    async with extended(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
        waiting = await rig.started(rig.client.get_client_task_result("t1"))
        assert server.responses == {"who": ACCEPTED}
        server.move("completed", result=text("done"))
        await rig.advance(2)
        assert (await waiting).content[0].text == "done"

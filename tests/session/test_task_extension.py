"""Tasks of 2026-07-28, an extension: the server makes one of a call, and tasks/get has it all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcplens.errors import InspectorError, ProtocolError, ServerError
from mcplens.events import ClientTaskChanged, ListRefreshed, SubscriptionChanged
from mcplens.session.handler import ServerRequest

from .scripted import (
    SILENT,
    STATELESS,
    ExchangeTransport,
    Refuse,
    Rig,
    ScriptedServer,
    failure,
    text,
)

EXTENSION = "io.modelcontextprotocol/tasks"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
LISTEN = "subscriptions/listen"
ELICIT = "elicitation/create"
CREATED = "2026-07-28T10:00:00.000Z"
FORM = {"method": ELICIT, "params": {"message": "who?", "requestedSchema": {"type": "object"}}}
ACCEPTED = {"action": "accept", "content": {"name": "Ada"}}


def task(status: str = "working", task_id: str = "t1", **more: Any) -> dict[str, Any]:
    return {
        "taskId": task_id,
        "status": status,
        "createdAt": CREATED,
        "lastUpdatedAt": CREATED,
        "ttlMs": 60_000,
        "pollIntervalMs": 2_000,
    } | more


class TaskServer(ScriptedServer):
    """Makes a task of each call; the test says where it stands."""

    def __init__(self, answers: dict[str, Any] | None = None, *, listens: bool = False) -> None:
        self.task = task()
        self.responses: dict[str, Any] = {}
        known = {
            "tools/call": lambda request: {"resultType": "task"} | self.task,
            "tasks/get": lambda request: {"resultType": "complete"} | self.task,
            "tasks/update": self._updated,
            "tasks/cancel": self._cancelled,
        }
        if listens:
            known[LISTEN] = self._acknowledge
        super().__init__(known | (answers or {}), is_stateless=True)

    def _updated(self, request: dict[str, Any]) -> Any:
        self.responses |= request["params"]["inputResponses"]
        return {"resultType": "complete"}

    def _cancelled(self, request: dict[str, Any]) -> Any:
        self.move("cancelled")
        return {"resultType": "complete"}

    def _acknowledge(self, request: dict[str, Any]) -> Any:
        self.tell("notifications/subscriptions/acknowledged", request["params"])
        return SILENT

    def tell(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Say something on the stream."""
        meta = {"_meta": {SUBSCRIPTION: self.sent(LISTEN)[-1]["id"]}}
        self.notify(method, (params or {}) | meta)

    def wanted(self) -> Any:
        return self.sent(LISTEN)[-1]["params"]["notifications"]

    def move(self, status: str, **more: Any) -> None:
        self.task = task(status, self.task["taskId"], **more)

    def polls(self) -> int:
        return len(self.sent("tasks/get"))


def extended(server: ScriptedServer, **options: Any) -> Rig:
    capabilities = {"extensions": {EXTENSION: {}}}
    options = {"capabilities": capabilities} | options
    return Rig(server, protocol_version=STATELESS, **options)


def changes(rig: Rig) -> list[str]:
    return ["gone" if e.is_gone else e.status for e in rig.events(ClientTaskChanged)]


class Person:
    """Sees what is asked, and answers when the test says so."""

    def __init__(self) -> None:
        self.asked: list[ServerRequest] = []
        self.withdrawn = 0
        self._answers: list[asyncio.Future[Any]] = []

    async def __call__(self, request: ServerRequest) -> Any:
        self.asked.append(request)
        self._answers.append(asyncio.get_running_loop().create_future())
        try:
            return await self._answers[-1]
        except asyncio.CancelledError:
            self.withdrawn += 1
            raise

    def answer(self, answer: Any, which: int = -1) -> None:
        self._answers[which].set_result(answer)


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
        (task("failed", error="x"), "no error object"),
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


# -- questions -----------------------------------------------------------------------------------


async def test_its_questions_are_answered_by_an_update_while_polling_goes_on() -> None:
    person = Person()
    server = TaskServer()
    async with extended(server, handlers={ELICIT: person}) as rig:
        call = await rig.call("slow")
        server.move("input_required", inputRequests={"who": FORM})
        await rig.advance(2)
        (asked,) = person.asked
        call_id = server.sent("tools/call")[0]["id"]
        assert (asked.id, asked.task_id, asked.caused_by) == ("t1/who", "t1", call_id)
        assert (asked.origin, asked.expires_in_s) == ("input_required", 58.0)
        await rig.advance(6)
        assert server.polls() == 4
        assert len(person.asked) == 1  # the same question is not asked at each poll
        person.answer(ACCEPTED)
        await rig.settle()
        (update,) = server.sent("tasks/update")
        assert update["params"]["taskId"] == "t1"
        assert update["params"]["inputResponses"] == {"who": ACCEPTED}
        await rig.advance(4)  # the server is slow to notice
        assert len(server.sent("tasks/update")) == 1
        server.move("completed", result=text("for Ada"))
        await rig.advance(2)
        assert (await call).content[0].text == "for Ada"


async def test_each_question_is_answered_on_its_own_and_new_ones_are_asked() -> None:
    person = Person()
    server = TaskServer()
    server.move("input_required", inputRequests={"a": FORM, "b": FORM})
    async with extended(server, handlers={ELICIT: person}) as rig:
        await rig.client.start_tool_task("slow")
        await rig.settle()
        person.answer({"action": "decline"}, 1)
        await rig.settle()
        assert server.responses == {"b": {"action": "decline"}}
        server.move("input_required", inputRequests={"a": FORM, "c": FORM})
        await rig.advance(2)
        assert [each.id for each in person.asked] == ["t1/a", "t1/b", "t1/c"]
        person.answer(ACCEPTED, 0)
        person.answer(ACCEPTED, 2)
        await rig.settle()
        assert server.responses.keys() == {"a", "b", "c"}


async def test_questions_that_the_task_no_longer_asks_are_withdrawn() -> None:
    for after in ({"inputRequests": {"b": FORM}}, None):
        person = Person()
        server = TaskServer()
        server.move("input_required", inputRequests={"a": FORM})
        async with extended(server, handlers={ELICIT: person}) as rig:
            await rig.client.start_tool_task("slow")
            await rig.settle()
            if after is None:
                server.move("completed", result=text())
            else:
                server.move("input_required", **after)
            await rig.advance(2)
            assert person.withdrawn == 1
            assert server.sent("tasks/update") == []


async def test_a_question_that_was_withdrawn_is_asked_again_when_the_task_wants_it_after_all() -> (
    None
):
    person = Person()
    server = TaskServer()
    asking = {"inputRequests": {"a": FORM}}
    server.move("input_required", **asking)
    async with extended(server, handlers={ELICIT: person}) as rig:
        await rig.client.start_tool_task("slow")
        await rig.settle()
        server.move("working")
        await rig.advance(2)
        assert person.withdrawn == 1
        server.move("input_required", **asking)
        await rig.advance(2)
        assert len(person.asked) == 2
        person.answer(ACCEPTED)
        await rig.advance(2)  # the server still lists it: an answer is given once
        assert len(person.asked) == 2
        assert server.responses == {"a": ACCEPTED}


async def test_a_status_that_leaves_the_questions_out_withdraws_none() -> None:
    person = Person()
    server = TaskServer(listens=True)
    server.move("input_required", inputRequests={"a": FORM})
    async with extended(server, handlers={ELICIT: person}) as rig:
        await rig.client.start_tool_task("slow")
        await rig.settle()
        server.tell("notifications/tasks", task("input_required"))
        await rig.settle()
        assert person.withdrawn == 0
        person.answer(ACCEPTED)
        await rig.settle()
        assert server.responses == {"a": ACCEPTED}


async def test_a_task_that_expires_while_it_is_being_answered_withdraws_the_question() -> None:
    person = Person()
    server = TaskServer()
    server.move("input_required", inputRequests={"a": FORM})
    async with extended(server, handlers={ELICIT: person}) as rig:
        call = await rig.call("slow")
        server.answers["tasks/get"] = Refuse(-32602, "no such task")
        await rig.advance(2)
        assert "no longer knows the task" in failure(call).message
        assert person.withdrawn == 1


async def test_a_refusal_that_is_no_answer_ends_the_call_and_the_task() -> None:
    server = TaskServer()
    server.move("input_required", inputRequests={"r": {"method": "roots/list"}})
    async with extended(server) as rig:
        call = await rig.call("slow")
        await rig.settle()
        error = failure(call)
        assert (error.code, error.details["task_id"]) == ("INPUT_REFUSED", "t1")
        assert len(server.sent("tasks/cancel")) == 1


async def test_questions_that_cannot_be_asked_are_an_invalid_response() -> None:
    server = TaskServer()
    async with extended(server) as rig:
        call = await rig.call("slow")
        server.move("input_required", inputRequests={"r": {"method": "tools/call"}})
        await rig.advance(2)
        assert failure(call).code == "INVALID_RESPONSE"


async def test_an_update_that_the_server_refuses_is_the_callers_error() -> None:
    server = TaskServer({"tasks/update": Refuse(-32602, "not what I asked")})
    server.move("input_required", inputRequests={"who": FORM})
    async with extended(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
        call = await rig.call("slow")
        assert "not what I asked" in failure(call).message


async def test_an_answer_is_not_lost_with_the_connection() -> None:
    person = Person()
    server = TaskServer({"tasks/update": SILENT})
    server.move("input_required", inputRequests={"who": FORM})
    async with extended(server, handlers={ELICIT: person}, max_retries=3) as rig:
        call = await rig.call("slow")
        person.answer(ACCEPTED)
        await rig.settle()
        server.leave()
        await rig.settle()
        server.answers["tasks/update"] = server._updated
        await rig.advance(1)
        assert server.responses == {"who": ACCEPTED}
        server.move("completed", result=text())
        await rig.advance(2)
        assert (await call).content


async def test_a_question_that_the_connection_took_away_is_asked_again() -> None:
    person = Person()
    server = TaskServer()
    server.move("input_required", inputRequests={"who": FORM})
    async with extended(server, handlers={ELICIT: person}, max_retries=3) as rig:
        await rig.client.start_tool_task("slow")
        await rig.settle()
        server.leave()
        await rig.settle()
        assert person.withdrawn == 1
        await rig.advance(3)
        assert len(person.asked) == 2


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


# -- the stream ----------------------------------------------------------------------------------


async def test_a_task_that_the_server_tells_of_is_not_waited_for() -> None:
    server = TaskServer(listens=True)
    async with extended(server) as rig:
        call = await rig.call("slow")
        assert server.wanted() == {"taskIds": ["t1"]}
        server.tell("notifications/tasks", task("completed", result=text("told")))
        await rig.settle()
        assert (await call).content[0].text == "told"
        assert server.polls() == 0
        await rig.settle()
        assert rig.client.connection.correlation.waiting == {}


async def test_an_end_that_is_told_without_its_result_is_asked_for_it() -> None:
    server = TaskServer(listens=True)
    async with extended(server) as rig:
        call = await rig.call("slow")
        server.move("completed", result=text("asked"))
        server.tell("notifications/tasks", task("completed"))
        await rig.settle()
        assert (await call).content[0].text == "asked"
        assert server.polls() == 1


async def test_questions_that_the_server_tells_of_are_asked_at_once() -> None:
    server = TaskServer(listens=True)
    async with extended(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
        await rig.client.start_tool_task("slow")
        await rig.settle()
        server.tell("notifications/tasks", task("input_required", inputRequests={"who": FORM}))
        await rig.settle()
        assert server.responses == {"who": ACCEPTED}


async def test_a_server_that_tells_nothing_of_tasks_still_tells_of_its_lists() -> None:
    def listen(request: dict[str, Any]) -> Any:
        if "taskIds" in request["params"]["notifications"]:
            return Refuse(-32602, "no tasks here")
        return server._acknowledge(request)

    server = TaskServer({LISTEN: listen})
    async with extended(server) as rig:
        await rig.client.list_tools()
        await rig.client.start_tool_task("slow")
        await rig.settle()
        assert server.wanted() == {"toolsListChanged": True}
        assert rig.events(SubscriptionChanged)[-1].state == "open"
        server.tell("notifications/tools/list_changed")
        await rig.settle()
        assert [event.kind for event in rig.events(ListRefreshed)] == ["tools"]
        await rig.client.start_tool_task("slow")
        await rig.settle()
        assert server.wanted() == {"toolsListChanged": True}
        await rig.advance(2)
        assert server.polls() == 1


async def test_a_task_that_ends_leaves_the_stream_of_the_others_alone() -> None:
    server = TaskServer(listens=True)
    async with extended(server) as rig:
        await rig.client.list_tools()
        call = await rig.call("slow")
        assert server.wanted() == {"toolsListChanged": True, "taskIds": ["t1"]}
        listens = len(server.sent(LISTEN))
        server.move("completed", result=text())
        await rig.advance(2)
        await call
        assert len(server.sent(LISTEN)) == listens
        await rig.client.list_prompts()
        await rig.settle()
        assert server.wanted() == {"toolsListChanged": True, "promptsListChanged": True}


async def test_after_a_reconnect_the_stream_is_opened_again_and_polls_go_on() -> None:
    server = TaskServer(listens=True)
    async with extended(server, max_retries=3) as rig:
        call = await rig.call("slow")
        server.leave()
        await rig.settle()
        server.received.clear()
        await rig.advance(1)
        assert server.wanted() == {"taskIds": ["t1"]}
        server.move("completed", result=text())
        await rig.advance(2)
        assert (await call).content


async def test_disconnecting_leaves_nothing_of_a_task_behind() -> None:
    person = Person()
    server = TaskServer(listens=True)
    server.move("input_required", inputRequests={"who": FORM})
    async with extended(server, handlers={ELICIT: person}) as rig:
        call = await rig.call("slow")
        await rig.client.disconnect()
        assert failure(call).code == "CANCELLED"
        assert person.withdrawn == 1
        assert changes(rig) == ["input_required", "gone"]
        assert rig.clock.timer_count == 0
        assert repr(rig.client.catalog.listening) == "<Listening for [], 0 resources, 0 tasks>"

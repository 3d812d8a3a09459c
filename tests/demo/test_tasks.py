"""Tasks: of 2025-11-25 in both roles, and of the extension of 2026-07-28."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import mcplens
from mcplens import ServerError
from mcplens.clock import ManualClock
from mcplens.events import NotificationReceived, ServerRequestReceived

from .doors import (
    EVERYTHING,
    EXTENSION,
    HANDSHAKE,
    STATELESS,
    House,
    Way,
    accept,
    call,
    handlers,
    heard,
    in_memory,
    say,
    text_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

RELATED = "io.modelcontextprotocol/related-task"
QUICK = {"steps": 2, "seconds": 0}
CLIENT_TASKS: dict[str, Any] = {
    "tasks": {
        "list": {},
        "cancel": {},
        "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
    }
}


async def start(
    client: mcplens.Client, name: str, arguments: Any = None, **task: Any
) -> dict[str, Any]:
    """Call a tool as a task of 2025-11-25; gives the task."""
    params = {"name": name, "arguments": arguments or {}, "task": task}
    created: dict[str, Any] = (await client.request("tools/call", params)).value["task"]
    return created


async def ask(client: mcplens.Client, method: str, task: dict[str, Any], **more: Any) -> Any:
    return (await client.request(method, {"taskId": task["taskId"], **more})).value


async def refused(client: mcplens.Client, method: str, params: dict[str, Any]) -> ServerError:
    with pytest.raises(ServerError) as caught:
        await client.request(method, params)
    return caught.value


# -- 2025-11-25: the server works ---


async def test_a_task_is_created_polled_and_fetched(house: House, way: Way) -> None:
    if way.is_stateless:
        return
    async with house.connect(way) as client:
        task = await start(client, "task-report", QUICK, ttl=30_000)
        assert (task["status"], task["ttl"]) == ("working", 30_000)
        result = await ask(client, "tasks/result", task)
        assert text_of(result) == "the report has 2 pages"
        assert result["_meta"][RELATED] == {"taskId": task["taskId"]}
        assert (await ask(client, "tasks/get", task))["status"] == "completed"
        listed = (await client.request("tasks/list")).value["tasks"]
        assert task["taskId"] in [one["taskId"] for one in listed]
        statuses = await heard(
            client,
            NotificationReceived,
            lambda e: (
                e.method == "notifications/tasks/status" and e.params["status"] == "completed"
            ),
        )
        assert "_meta" not in statuses.params


async def test_a_task_that_needs_input_asks_while_its_result_is_waited_for(
    house: House, way: Way
) -> None:
    if way.is_stateless:
        return
    answers = {"elicitation/create": lambda _: accept(name="Ada")}
    async with house.connect(
        way, capabilities=EVERYTHING, request_handlers=handlers(answers)
    ) as client:
        task = await start(client, "task-ask")
        while (await ask(client, "tasks/get", task))["status"] == "working":
            pass
        assert (await ask(client, "tasks/get", task))["status"] == "input_required"
        assert text_of(await ask(client, "tasks/result", task)) == "done for Ada"
        asked = await heard(client, ServerRequestReceived)
        assert asked.params["_meta"][RELATED] == {"taskId": task["taskId"]}


async def test_a_task_that_is_cancelled_stays_cancelled() -> None:
    async with in_memory() as (client, _):
        task = await start(client, "task-report", {"seconds": 60})
        assert (await ask(client, "tasks/cancel", task))["status"] == "cancelled"
        assert (await ask(client, "tasks/get", task))["status"] == "cancelled"
        again = await refused(client, "tasks/cancel", {"taskId": task["taskId"]})
        assert again.rpc_code == -32602
        await refused(client, "tasks/result", {"taskId": task["taskId"]})


async def test_a_task_fails_with_what_the_call_would_have_failed_with() -> None:
    async with in_memory() as (client, _):
        task = await start(client, "task-fail", {"how": "result"})
        assert (await ask(client, "tasks/result", task))["isError"] is True
        assert (await ask(client, "tasks/get", task))["status"] == "failed"
        task = await start(client, "task-fail", {"how": "error"})
        error = await refused(client, "tasks/result", {"taskId": task["taskId"]})
        assert (error.rpc_code, error.data) == (-32000, {"how": "error"})


async def test_a_tool_says_whether_it_may_be_a_task() -> None:
    async with in_memory() as (client, _):
        supports = {
            tool["name"]: tool.get("execution", {}).get("taskSupport")
            for page in range(5)
            for tool in (await page_of_tools(client, page))
        }
        assert (supports["task-only"], supports["task-report"]) == ("required", "optional")
        forbidden = await refused(
            client, "tools/call", {"name": "echo", "arguments": {"text": "x"}, "task": {}}
        )
        required = await refused(client, "tools/call", {"name": "task-only", "arguments": {}})
        assert (forbidden.rpc_code, required.rpc_code) == (-32601, -32601)


async def page_of_tools(client: mcplens.Client, number: int) -> list[Any]:
    params: dict[str, Any] = {}
    for _ in range(number):
        value = (await client.request("tools/list", params)).value
        if "nextCursor" not in value:
            return []
        params = {"cursor": value["nextCursor"]}
    tools: list[Any] = (await client.request("tools/list", params)).value["tools"]
    return tools


async def test_an_unknown_task_is_invalid_params() -> None:
    async with in_memory() as (client, _):
        for method in ("tasks/get", "tasks/result", "tasks/cancel"):
            assert (await refused(client, method, {"taskId": "none"})).rpc_code == -32602


async def test_a_task_is_forgotten_when_its_time_is_over() -> None:
    clock = ManualClock()
    async with in_memory(clock) as (client, demo):
        task = await start(client, "task-report", {"steps": 1, "seconds": 0}, ttl=5_000)
        await clock.advance(4.9)
        assert (await ask(client, "tasks/get", task))["status"] == "completed"
        await clock.advance(0.2)
        assert (await refused(client, "tasks/get", {"taskId": task["taskId"]})).rpc_code == -32602
        assert demo.tasks.known == {}


async def test_a_ttl_is_kept_within_bounds() -> None:
    async with in_memory() as (client, _):
        for wanted, given in ((1, 1_000), (10**9, 600_000), (None, 60_000)):
            assert (await start(client, "task-report", QUICK, ttl=wanted))["ttl"] == given


async def test_another_client_does_not_see_a_task(house: House) -> None:
    way = Way("ws", HANDSHAKE)
    async with house.connect(way) as owner, house.connect(way) as other:
        task = await start(owner, "task-report", QUICK)
        assert (await refused(other, "tasks/get", {"taskId": task["taskId"]})).rpc_code == -32602
        assert (await other.request("tasks/list")).value["tasks"] == []


async def test_progress_of_a_task_keeps_its_token_and_names_the_task() -> None:
    async with in_memory() as (client, _):
        params = {
            "name": "task-report",
            "arguments": QUICK,
            "task": {},
            "_meta": {"progressToken": "p"},
        }
        task = (await client.request("tools/call", params)).value["task"]
        await ask(client, "tasks/result", task)
        report = await heard(
            client, NotificationReceived, lambda e: e.method == "notifications/progress"
        )
        assert report.params["progressToken"] == "p"
        assert report.params["_meta"][RELATED] == {"taskId": task["taskId"]}


# -- 2025-11-25: the client works ---


class ClientTasks:
    """The client's side: a task at once, its result after a few polls."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.polls = 0
        self.seen: list[str] = []

    def _task(self, status: str) -> dict[str, Any]:
        stamps = {"createdAt": "2025-11-25T00:00:00Z", "lastUpdatedAt": "2025-11-25T00:00:00Z"}
        return {"taskId": "t1", "status": status, "ttl": 60_000, "pollInterval": 1, **stamps}

    def handlers(self) -> dict[str, Any]:
        return {
            "sampling/createMessage": self._create,
            "elicitation/create": self._create,
            "tasks/get": self._get,
            "tasks/result": self._result,
        }

    def _create(self, request: Any) -> Any:
        self.seen.append(request.method)
        assert request.params["task"]["ttl"] > 0
        return {"task": self._task("working")}

    def _get(self, request: Any) -> Any:
        self.polls += 1
        return self._task("working" if self.polls < 3 else "completed")

    def _result(self, request: Any) -> Any:
        assert request.params == {"taskId": "t1"}
        return self.result


@pytest.mark.parametrize(
    ("tool", "result", "expected"),
    [
        ("client-task-sample", say("work in pieces"), "parrot says: work in pieces"),
        ("client-task-elicit", accept(name="Ada"), "accept: {'name': 'Ada'}"),
    ],
)
async def test_the_client_does_the_work_and_is_polled(
    house: House, way: Way, tool: str, result: Any, expected: str
) -> None:
    if way.is_stateless:
        async with house.connect(way, capabilities=EVERYTHING) as client:
            assert "2026-07-28 has no requests" in text_of(await call(client, tool))
        return
    tasks = ClientTasks(result)
    capabilities = EVERYTHING | CLIENT_TASKS
    async with house.connect(
        way, capabilities=capabilities, request_handlers=tasks.handlers()
    ) as client:
        assert text_of(await client.call_tool(tool)) == expected
    assert tasks.polls == 3


async def test_a_client_without_tasks_is_not_asked_for_one() -> None:
    async with in_memory(capabilities=EVERYTHING) as (client, _):
        result = await client.call_tool("client-task-sample")
        assert "tasks.requests.sampling.createMessage" in text_of(result)


# -- 2026-07-28: the extension ---


async def begin(client: mcplens.Client, name: str, arguments: Any = None) -> dict[str, Any]:
    value: dict[str, Any] = await call(
        client, name, arguments, {"elicitation/create": lambda _: accept(name="Ada")}
    )
    assert value["resultType"] == "task"
    return value


async def until_over(client: mcplens.Client, task: dict[str, Any]) -> Any:
    while (now := await ask(client, "tasks/get", task))["status"] == "working":
        assert now["resultType"] == "complete"
    return now


async def test_the_server_makes_a_task_of_its_own_accord(house: House, way: Way) -> None:
    if not way.is_stateless:
        return
    async with house.connect(way, capabilities=EVERYTHING) as client:
        task = await begin(client, "task-report", QUICK)
        assert {"taskId", "status", "ttlMs", "pollIntervalMs", "createdAt"} <= task.keys()
        done = await until_over(client, task)
        assert done["status"] == "completed"
        assert text_of(done["result"]) == "the report has 2 pages"


async def test_questions_of_a_task_are_in_tasks_get_and_answered_by_tasks_update(
    house: House, way: Way
) -> None:
    if not way.is_stateless:
        return
    async with house.connect(way, capabilities=EVERYTHING) as client:
        task = await begin(client, "task-ask")
        waiting = await until_over(client, task)
        assert waiting["status"] == "input_required"
        (key, question), *_ = waiting["inputRequests"].items()
        assert question["method"] == "elicitation/create"
        answers = {key: accept(name="Ada"), "stray": accept(x=1)}
        await ask(client, "tasks/update", task, inputResponses=answers)
        assert text_of((await until_over(client, task))["result"]) == "done for Ada"


async def test_input_may_come_before_the_task() -> None:
    async with in_memory(revision=STATELESS, capabilities=EVERYTHING) as (client, _):
        task = await begin(client, "task-after-form", QUICK)
        assert "requestState" not in task
        assert text_of((await until_over(client, task))["result"]) == "2 steps were done for Ada"


async def test_cancelling_a_task_is_acknowledged_also_twice() -> None:
    async with in_memory(revision=STATELESS, capabilities=EVERYTHING) as (client, _):
        task = await begin(client, "task-report", {"seconds": 60})
        for _ in range(2):
            assert (await ask(client, "tasks/cancel", task))["resultType"] == "complete"
        assert (await ask(client, "tasks/get", task))["status"] == "cancelled"


async def test_failures_of_tool_and_request_end_a_task_differently() -> None:
    async with in_memory(revision=STATELESS, capabilities=EVERYTHING) as (client, _):
        done = await until_over(client, await begin(client, "task-fail", {"how": "result"}))
        assert (done["status"], done["result"]["isError"]) == ("completed", True)
        done = await until_over(client, await begin(client, "task-fail", {"how": "error"}))
        assert (done["status"], done["error"]["code"]) == ("failed", -32000)


async def test_a_client_without_the_extension_gets_no_task() -> None:
    async with in_memory(revision=STATELESS) as (client, _):
        assert text_of(await call(client, "task-report", QUICK)) == "the report has 2 pages"
        needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
        for method, params in (
            ("tools/call", {"name": "task-only", "arguments": {}}),
            ("tasks/get", {"taskId": "x"}),
            ("tasks/update", {"taskId": "x", "inputResponses": {}}),
            ("tasks/cancel", {"taskId": "x"}),
            ("subscriptions/listen", {"notifications": {"taskIds": ["x"]}}),
        ):
            error = await refused(client, method, params)
            assert (error.rpc_code, error.data) == (-32021, needed)


@pytest.mark.parametrize("method", ["tasks/list", "tasks/result"])
async def test_methods_of_the_older_tasks_are_gone(method: str) -> None:
    options: dict[str, Any] = {"capabilities": EVERYTHING, "enforce_capabilities": False}
    async with in_memory(revision=STATELESS, **options) as (client, _):
        assert (await refused(client, method, {"taskId": "x"})).rpc_code == -32601


async def test_a_listener_is_told_of_the_tasks_that_it_named() -> None:
    clock = ManualClock()
    async with in_memory(clock, STATELESS, capabilities=EVERYTHING) as (client, _):
        task = await begin(client, "task-report", {"steps": 1, "seconds": 1})
        filters = {"taskIds": [task["taskId"], "unknown"]}
        listening = asyncio.ensure_future(
            client.request("subscriptions/listen", {"notifications": filters}, timeout_s=60)
        )
        acknowledged = await heard(
            client, NotificationReceived, lambda e: e.method.endswith("subscriptions/acknowledged")
        )
        assert acknowledged.params["notifications"] == {"taskIds": [task["taskId"]]}
        await clock.advance(1)
        told = await heard(
            client,
            NotificationReceived,
            lambda e: e.method == "notifications/tasks" and e.params["status"] == "completed",
        )
        assert text_of(told.params["result"]) == "the report has 1 pages"
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

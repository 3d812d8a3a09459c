"""Tasks through the gateway: clients and servers of both revisions, in all four pairs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcplens.config.views import Globs, View
from mcplens.errors import ServerError
from mcplens.events import FrameSent
from mcplens.protocol.frames import Frame
from mcplens.session.client import Client
from mcplens.session.question_handler import ServerRequest
from tests.gateway.era_pairs import Pair
from tests.gateway.harness import (
    NEW,
    OLD,
    PATIENCE_S,
    STDIO_DEMO,
    RunningGateway,
    running_gateway,
)

pytestmark = [pytest.mark.timeout(40), pytest.mark.slow]

EXTENSION = "io.modelcontextprotocol/tasks"
RELATED = "io.modelcontextprotocol/related-task"
TERMINAL = ("completed", "failed", "cancelled")
QUICK = {"steps": 2, "seconds": 0}
SLOW = {"steps": 1, "seconds": 60}


ADA: dict[str, Any] = {"action": "accept", "content": {"name": "Ada"}}


def ada(request: ServerRequest) -> Any:
    return ADA


def options(version: str, **more: Any) -> dict[str, Any]:
    """Of a client that knows tasks."""
    found: dict[str, Any] = {"protocol_version": version, "concurrency": 8, **more}
    if version == NEW:
        found["capabilities"] = {"extensions": {EXTENSION: {}}}
    return found


class Tasks:
    """What a client of either revision does with tasks, in the revision's own requests."""

    def __init__(self, client: Client, version: str) -> None:
        self.client = client
        self.is_new = version == NEW

    async def ask(self, method: str, **params: Any) -> Any:
        return (await self.client.request(method, params)).value

    async def start(self, tool: str, arguments: Any = None, **task: Any) -> dict[str, Any]:
        params: dict[str, Any] = {"name": tool, "arguments": arguments or {}}
        if not self.is_new:
            params["task"] = task
        made: dict[str, Any] = await self.ask("tools/call", **params)
        if self.is_new:
            assert made["resultType"] == "task"
            return made
        created: dict[str, Any] = made["task"]
        return created

    async def get(self, task: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = await self.ask("tasks/get", taskId=task["taskId"])
        assert found["taskId"] == task["taskId"]
        return found

    async def until(self, task: dict[str, Any], *statuses: str) -> dict[str, Any]:
        while True:
            found = await self.get(task)
            if found["status"] in statuses:
                return found

    async def result(self, task: dict[str, Any]) -> dict[str, Any]:
        """What the call gave in the end."""
        if self.is_new:
            found: dict[str, Any] = (await self.until(task, "completed"))["result"]
            return found
        given: dict[str, Any] = await self.ask("tasks/result", taskId=task["taskId"])
        assert given["_meta"][RELATED] == {"taskId": task["taskId"]}
        return given


def text_of(result: dict[str, Any]) -> str:
    return "".join(item.get("text", "") for item in result["content"])


async def test_a_task_is_made_polled_and_gives_its_result(
    gateway: RunningGateway, pair: Pair
) -> None:
    async with gateway.connect(pair.path, **options(pair.client)) as client:
        tasks = Tasks(client, pair.client)
        task = await tasks.start("task-report", QUICK, ttl=30_000)
        assert task["status"] in ("working", "completed")
        assert task["createdAt"]
        lives = task["ttlMs" if tasks.is_new else "ttl"]
        assert lives > 0
        assert text_of(await tasks.result(task)) == "the report has 2 pages"
        assert (await tasks.get(task))["status"] == "completed"
        if not tasks.is_new:
            listed = (await tasks.ask("tasks/list"))["tasks"]
            assert [(one["taskId"], one["status"]) for one in listed] == [
                (task["taskId"], "completed")
            ]


async def test_a_task_that_needs_input_asks_its_client(gateway: RunningGateway, pair: Pair) -> None:
    asked: list[ServerRequest] = []

    def answer(request: ServerRequest) -> Any:
        asked.append(request)
        return ada(request)

    more = {"elicitation": answer}
    async with gateway.connect(pair.path, **options(pair.client, **more)) as client:
        tasks = Tasks(client, pair.client)
        task = await tasks.start("task-ask")
        found = await tasks.until(task, "input_required")
        if tasks.is_new:
            ((key, question),) = found["inputRequests"].items()
            assert question["method"] == "elicitation/create"
            await tasks.ask(
                "tasks/update",
                taskId=task["taskId"],
                inputResponses={key: ADA},
            )
        assert text_of(await tasks.result(task)) == "done for Ada"
        if not tasks.is_new:
            assert [one.params["_meta"][RELATED]["taskId"] for one in asked] == [task["taskId"]]


async def test_a_client_waits_for_a_task_as_for_any_call(
    gateway: RunningGateway, pair: Pair
) -> None:
    """The ways of our own client, which polls and answers by itself."""
    more = {"elicitation": ada}
    async with gateway.connect(pair.path, **options(pair.client, **more)) as client:
        wanted: dict[str, Any] = {} if pair.client == NEW else {"task": True}
        for tool, said in (("task-report", "pages"), ("task-only", "steps"), ("task-ask", "Ada")):
            arguments = {} if tool == "task-ask" else QUICK
            given = await client.call_tool(tool, arguments, **wanted)
            assert said in "".join(item.text or "" for item in given.content)


async def test_a_cancelled_task_stays_cancelled(gateway: RunningGateway, pair: Pair) -> None:
    async with gateway.connect(pair.path, **options(pair.client)) as client:
        tasks = Tasks(client, pair.client)
        task = await tasks.start("task-report", SLOW)
        given = await tasks.ask("tasks/cancel", taskId=task["taskId"])
        if not tasks.is_new:
            assert given["status"] == "cancelled"
        assert (await tasks.until(task, *TERMINAL))["status"] == "cancelled"
        if tasks.is_new:
            await tasks.ask("tasks/cancel", taskId=task["taskId"])  # acknowledged again
            return
        for method in ("tasks/cancel", "tasks/result"):
            with pytest.raises(ServerError):
                await tasks.ask(method, taskId=task["taskId"])


async def test_a_task_fails_with_what_the_call_would_have_failed_with(
    gateway: RunningGateway, pair: Pair
) -> None:
    async with gateway.connect(pair.path, **options(pair.client)) as client:
        tasks = Tasks(client, pair.client)
        task = await tasks.start("task-fail", {"how": "result"})
        if tasks.is_new:  # a tool's own failure completes the task in 2026-07-28
            assert (await tasks.result(task))["isError"] is True
        else:
            assert (await tasks.result(task))["isError"] is True
            assert (await tasks.get(task))["status"] == "failed"
        task = await tasks.start("task-fail", {"how": "error"})
        ended = await tasks.until(task, *TERMINAL)
        assert ended["status"] == "failed"
        if tasks.is_new:
            error = ended["error"]
            assert (error["code"], error["data"]) == (-32000, {"how": "error"})
        else:
            with pytest.raises(ServerError) as caught:
                await tasks.result(task)
            assert (caught.value.rpc_code, caught.value.data) == (-32000, {"how": "error"})


async def test_the_client_learns_that_a_tool_runs_as_a_task_only(
    gateway: RunningGateway, pair: Pair
) -> None:
    async with gateway.connect(pair.path, protocol_version=pair.client) as client:
        with pytest.raises(ServerError) as caught:
            await client.request("tools/call", {"name": "task-only", "arguments": QUICK})
        code = -32021 if pair.client == NEW else -32601
        assert caught.value.rpc_code == code
        assert "task" in caught.value.rpc_message
        tools = {tool.name: tool for tool in await client.list_tools()}
        if pair.client == OLD:
            execution = tools["task-report"].execution or {}
            assert execution.get("taskSupport") == "optional"
            assert client.capabilities["tasks"]["requests"] == {"tools": {"call": {}}}
        else:
            assert EXTENSION in client.capabilities["extensions"]


async def test_the_status_of_a_task_is_announced(gateway: RunningGateway, pair: Pair) -> None:
    heard: asyncio.Queue[Any] = asyncio.Queue()
    async with gateway.connect(pair.path, **options(pair.client)) as client:
        tasks = Tasks(client, pair.client)
        method = "notifications/tasks" + ("" if tasks.is_new else "/status")
        client.set_notification_handler(method, heard.put_nowait)
        task = await tasks.start("task-report", {"steps": 1, "seconds": 1})
        if tasks.is_new:
            client.raw_calls.watch_task(task["taskId"])
        async with asyncio.timeout(PATIENCE_S):
            while (found := await heard.get())["status"] != "completed":
                assert found["taskId"] == task["taskId"]
        if tasks.is_new:
            assert "pages" in text_of(found["result"])


async def test_a_task_is_watched_until_its_client_leaves() -> None:
    entry = {**STDIO_DEMO, "protocolVersion": NEW}
    async with running_gateway({"demo": entry}) as gateway, asyncio.timeout(PATIENCE_S):
        wanted: list[bool] = []

        def taken() -> list[bool]:
            return [
                b"taskIds" in event.message.raw
                for event in gateway.bus.kept()
                if isinstance(event, FrameSent)
                and event.method == "subscriptions/listen"
                and isinstance(event.message, Frame)
            ]

        async with gateway.connect(protocol_version=OLD) as client:
            await Tasks(client, OLD).start("task-report", SLOW)
            while not any(wanted := taken()):
                await client.ping()
        assert wanted[-1]
        live = gateway.gateway.servers.connections["demo"].live.client
        assert live is not None
        stream = live.catalog.subscription_stream
        while "0 tasks" not in repr(stream):
            await live.ping()
        assert repr(gateway.gateway.tasks) == "<TaskOwners 0>"


async def test_a_call_that_is_answered_at_once_is_a_task_that_is_over() -> None:
    """A 2026-07-28 server decides what becomes a task; its 2025-11-25 client asked for one."""
    entry = {**STDIO_DEMO, "protocolVersion": NEW}
    async with running_gateway({"demo": entry}) as gateway, asyncio.timeout(PATIENCE_S):
        async with gateway.connect(protocol_version=OLD) as client:
            tasks = Tasks(client, OLD)
            task = await tasks.start("echo", {"text": "at once"}, ttl=60_000)
            assert (task["status"], task["ttl"]) == ("completed", 60_000)
            assert text_of(await tasks.result(task)) == "at once"
            assert [one["taskId"] for one in (await tasks.ask("tasks/list"))["tasks"]] == [
                task["taskId"]
            ]
            with pytest.raises(ServerError, match="over already"):
                await tasks.ask("tasks/cancel", taskId=task["taskId"])
        assert gateway.gateway.tasks.kept_bytes == 0


@pytest.mark.parametrize("server", [OLD, NEW])
@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_client_reaches_its_own_tasks_only(version: str, server: str) -> None:
    entry = {**STDIO_DEMO, "protocolVersion": server}
    views = (
        View(name="all", separator="none", token="token-of-all-views"),
        View(name="few", separator="none", allow=Globs(tools=("demo:echo",)), token="token-of-few"),
    )
    async with (
        running_gateway({"demo": entry}, views=views, token="the-main-token-of-it") as gateway,
        asyncio.timeout(PATIENCE_S),
    ):

        def connect(view: str, token: str) -> Any:
            headers = {"Authorization": f"Bearer {token}"}
            return gateway.connect(f"/mcp/{view}", headers=headers, **options(version))

        async with connect("all", "token-of-all-views") as one:
            task = await Tasks(one, version).start("task-report", SLOW)
            # Another client, another view, and the same client's other view by the main token.
            for view, token in (
                ("few", "token-of-few"),
                ("few", "the-main-token-of-it"),
                ("all", "the-main-token-of-it"),
            ):
                async with connect(view, token) as other:
                    tasks = Tasks(other, version)
                    for method in ("tasks/get", "tasks/cancel"):
                        with pytest.raises(ServerError) as caught:
                            await tasks.ask(method, taskId=task["taskId"])
                        assert caught.value.rpc_code == -32602
                    if version == OLD:
                        assert (await tasks.ask("tasks/list"))["tasks"] == []
            assert (await Tasks(one, version).get(task))["status"] == "working"


async def test_questions_of_tasks_reach_their_own_clients_over_a_shared_pipe() -> None:
    """Over stdio nothing but the task's id says which of two clients a question is for."""
    entry = {**STDIO_DEMO, "protocolVersion": OLD}
    async with running_gateway({"demo": entry}) as gateway, asyncio.timeout(PATIENCE_S):

        async def use(name: str) -> None:
            def answer(request: ServerRequest) -> Any:
                return {"action": "accept", "content": {"name": name}}

            async with gateway.connect(protocol_version=OLD, elicitation=answer) as client:
                tasks = Tasks(client, OLD)
                for _ in range(3):
                    task = await tasks.start("task-ask")
                    assert text_of(await tasks.result(task)) == f"done for {name}"

        async with asyncio.TaskGroup() as group:
            for name in ("Ada", "Grace", "Edsger"):
                group.create_task(use(name))


async def test_progress_of_a_task_keeps_the_token_of_its_call() -> None:
    entry = {**STDIO_DEMO, "protocolVersion": OLD}
    heard: asyncio.Queue[Any] = asyncio.Queue()
    async with (
        asyncio.timeout(PATIENCE_S),
        running_gateway({"demo": entry}) as gateway,
        gateway.connect(protocol_version=OLD) as client,
    ):
        client.set_notification_handler("notifications/progress", heard.put_nowait)
        tasks = Tasks(client, OLD)
        made = await tasks.ask(
            "tools/call",
            name="task-report",
            arguments={"steps": 2, "seconds": 1},
            task={},
            _meta={"progressToken": "mine"},
        )
        await tasks.result(made["task"])
        assert (await heard.get())["progressToken"] == "mine"

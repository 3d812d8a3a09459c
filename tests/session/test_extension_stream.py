"""Tasks of 2026-07-28 that the server tells of on its stream, which may break and come back."""

from __future__ import annotations

from typing import Any

from mcplens.events import ListRefreshed, SubscriptionChanged

from .extension_servers import LISTEN, Person, TaskServer, changes, extended, task
from .person import ACCEPTED, ELICIT, FORM
from .scripted import Refuse, failure, text


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
        assert (
            repr(rig.client.catalog.subscription_stream)
            == "<SubscriptionStream for [], 0 resources, 0 tasks>"
        )

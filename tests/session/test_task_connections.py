"""A task of the server while its connection goes on, is lost, comes back or ends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcplens.events import InputRoundStarted, ProgressReceived
from mcplens.session.question_handler import ServerRequest

from .scripted import SILENT, ExchangeTransport, Refuse, Rig, failure
from .task_servers import TaskServer, changes, result, task

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
        rig.client.use_transport(_broken)
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
    from mcplens.session.client_tasks import MAX_KEPT

    numbers = iter(range(10_000))
    server = TaskServer(
        {"tools/call": lambda request: {"task": task("completed", f"t{next(numbers)}")}}
    )
    async with Rig(server) as rig:
        for _ in range(MAX_KEPT + 50):
            await rig.client.call_tool("slow", task=True)
        kept = rig.client.tracked_client_tasks
        assert len(kept) == MAX_KEPT + 1  # trimmed when the next one begins
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

"""A task of the server that asks something before it can go on."""

from __future__ import annotations

import asyncio
from typing import Any

from mcplens.session.question_handler import ServerRequest

from .scripted import SILENT, Refuse, Rig, failure
from .task_servers import RELATED, TaskServer, changes, result


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

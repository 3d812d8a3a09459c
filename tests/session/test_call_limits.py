"""The time that a caller gave a call: it covers tasks and rounds of questions, not the person."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.session.input_rounds import MAX_ROUNDS

from . import extension_servers, task_servers
from .extension_servers import Person, extended
from .person import ACCEPTED, ELICIT, FORM
from .scripted import SILENT, STATELESS, Rig, ScriptedServer, failure


def task_rig(era: str, **options: Any) -> Rig:
    """A server of either revision whose task works on and on."""
    if era == STATELESS:
        return extended(extension_servers.TaskServer(), **options)
    return Rig(task_servers.TaskServer(), **options)


@pytest.mark.parametrize("era", [STATELESS, "2025-11-25"])
async def test_the_time_of_a_call_bounds_the_task_that_it_became(era: str) -> None:
    async with task_rig(era) as rig:
        rig.server.task["statusMessage"] = "half way"  # type: ignore[attr-defined]
        call = await rig.call("slow", task=None if era == STATELESS else True, timeout_s=5)
        await rig.advance(4.9)
        assert not call.done()
        await rig.advance(0.1)
        error = failure(call)
        assert (error.code, error.details["phase"]) == ("REQUEST_TIMEOUT", "task")
        assert (error.details["task_id"], error.details["task_status"]) == ("t1", "working")
        assert error.details["elapsed_s"] == 5
        for words in ("t1", "within 5 s", "working (half way)", "get_client_task", "mcplens tasks"):
            assert words in error.message
        # It was not cancelled, and is still followed.
        assert rig.server.sent("tasks/cancel") == []
        assert [task.task_id for task in rig.client.tracked_client_tasks] == ["t1"]
        polls = len(rig.server.sent("tasks/get"))
        await rig.advance(2)
        assert len(rig.server.sent("tasks/get")) == polls + 1


async def test_the_result_of_a_task_is_waited_for_no_longer_than_was_said() -> None:
    async with task_rig("2025-11-25") as rig:
        await rig.client.start_tool_task("slow")
        waiting = rig.go(rig.client.get_client_task_result("t1", timeout_s=5))
        await rig.advance(5)
        assert failure(waiting).details["phase"] == "task"


async def test_a_call_without_a_time_of_its_own_waits_for_its_task() -> None:
    async with task_rig("2025-11-25", config={"ping_interval_s": 0.0}) as rig:
        call = await rig.call("slow", task=True)
        await rig.advance(1_000)
        assert not call.done()


async def test_progress_of_a_task_restarts_the_time_of_its_call() -> None:
    async with task_rig("2025-11-25") as rig:
        call = await rig.call("slow", task=True, timeout_s=5)
        await rig.advance(4)
        rig.server.progress(rig.server.sent("tools/call")[0]["id"], 1)
        await rig.advance(4)
        assert not call.done()
        await rig.advance(1)
        assert failure(call).code == "REQUEST_TIMEOUT"


async def test_the_time_of_a_call_stands_still_while_its_task_waits_for_a_person() -> None:
    person = Person()
    server = extension_servers.TaskServer()
    async with extended(server, handlers={ELICIT: person}) as rig:
        call = await rig.call("slow", timeout_s=5)
        server.move("input_required", inputRequests={"who": FORM})
        await rig.advance(2)
        await rig.advance(50)
        assert not call.done()
        person.answer(ACCEPTED)
        await rig.settle()
        await rig.advance(2.9)
        assert not call.done()
        await rig.advance(0.1)
        assert failure(call).details["phase"] == "task"


async def test_the_time_of_a_call_stands_still_while_a_legacy_task_asks() -> None:
    person = Person()
    server = task_servers.TaskServer()
    async with Rig(server, handlers={ELICIT: person}) as rig:
        call = await rig.call("slow", task=True, timeout_s=5)
        related = {task_servers.RELATED: {"taskId": "t1"}}
        server.ask("q1", ELICIT, {"message": "who?", "requestedSchema": {}, "_meta": related})
        await rig.advance(50)
        assert not call.done()
        person.answer(ACCEPTED)
        await rig.settle()
        await rig.advance(5)
        assert failure(call).details["phase"] == "task"


async def test_all_rounds_of_a_call_share_its_time() -> None:
    person = Person()
    server = ScriptedServer(is_stateless=True)
    asks = {"resultType": "input_required", "inputRequests": {"who": FORM}, "requestState": "s"}
    server.answers["tools/call"] = asks
    async with Rig(server, protocol_version=STATELESS, handlers={ELICIT: person}) as rig:
        call = await rig.call(timeout_s=5)
        await rig.advance(100)  # the person takes their time
        server.answers["tools/call"] = {"resultType": "input_required", "requestState": "later"}
        person.answer(ACCEPTED)
        await rig.advance(4.9)
        assert not call.done()
        await rig.advance(0.1)
        error = failure(call)
        assert (error.code, error.details["phase"]) == ("REQUEST_TIMEOUT", "input")


async def test_a_task_that_asks_more_often_than_a_call_may_is_stopped() -> None:
    server = extension_servers.TaskServer()
    handlers = {ELICIT: lambda request: ACCEPTED}
    async with extended(server, handlers=handlers) as rig:
        call = await rig.call("slow")
        for number in range(MAX_ROUNDS + 1):
            assert not call.done()
            server.move("input_required", inputRequests={f"q{number}": FORM})
            await rig.advance(2)
        error = failure(call)
        assert error.code == "INVALID_RESPONSE"
        assert f"asked for input {MAX_ROUNDS} times" in error.message
        assert len(server.responses) == MAX_ROUNDS
        assert server.sent("tasks/cancel")


async def test_a_call_that_ends_in_time_leaves_nothing_behind() -> None:
    async with task_rig("2025-11-25", config={"ping_interval_s": 0.0}) as rig:
        call = await rig.call("slow", task=True, timeout_s=50)
        assert "1 running" in repr(rig.client.connection.limits)
        rig.server.move("completed")  # type: ignore[attr-defined]
        await rig.advance(2)
        assert (await call).content[0].text == "done"
        assert "0 running" in repr(rig.client.connection.limits)


async def test_all_pages_of_a_list_share_the_time_of_the_call() -> None:
    server = ScriptedServer({"tools/list": SILENT})
    async with Rig(server) as rig:
        listing = await rig.started(rig.client.list_tools(timeout_s=5))
        await rig.advance(4)
        server.reply(server.sent("tools/list")[0]["id"], {"tools": [], "nextCursor": "more"})
        await rig.advance(0.9)
        assert len(server.sent("tools/list")) == 2
        assert not listing.done()
        await rig.advance(0.1)
        assert failure(listing).code == "REQUEST_TIMEOUT"

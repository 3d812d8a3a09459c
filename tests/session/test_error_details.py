"""What the details of every error have: the server, the method, and the time where it is known."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from mcplens.errors import InspectorError
from mcplens.session.client import Client

from .scripted import SILENT, BrokenTransport, Refuse, Rig, ScriptedServer, failure

Call = Callable[[Client], Coroutine[Any, Any, Any]]

FAILURES: dict[str, tuple[Any, Call, str, bool]] = {
    # name: the answer, the call, the method, and whether it was in flight
    "an error answer": (Refuse(-1), lambda c: c.call_tool("x"), "tools/call", True),
    "a broken tool result": ({"content": 5}, lambda c: c.call_tool("x"), "tools/call", False),
    "a broken resource": (
        {"contents": 5},
        lambda c: c.read_resource("a:b"),
        "resources/read",
        False,
    ),
    "a broken list": ({"tools": 5}, lambda c: c.list_tools(), "tools/list", False),
    "a timeout": (SILENT, lambda c: c.call_tool("x", timeout_s=1), "tools/call", True),
    "a refused method": (None, lambda c: c.get_prompt("x"), "prompts/get", False),
    "a task of no server": (None, lambda c: c.call_tool("x", task=True), "tools/call", False),
    "an unknown task": (Refuse(-32602), lambda c: c.get_client_task("t"), "tasks/get", True),
    "a broken task": ({"no": "task"}, lambda c: c.get_client_task("t"), "tasks/get", False),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_an_error_names_the_server_and_the_method(name: str) -> None:
    answer, call, method, was_in_flight = FAILURES[name]
    capabilities: dict[str, Any] = {"tools": {}, "resources": {}, "tasks": {}}
    server = ScriptedServer({method: answer}, capabilities=capabilities)
    async with Rig(server, server_name="Weather") as rig:
        failing = rig.go(call(rig.client))
        await rig.advance(1)
        details = failure(failing).details
        assert (details["server_id"], details["server_name"]) == ("scripted", "Weather")
        assert details["method"] == method
        assert ("elapsed_s" in details) >= was_in_flight


async def test_a_request_that_was_never_sent_has_them_too() -> None:
    async with Rig(ScriptedServer({"tools/call": SILENT})) as rig:
        await rig.call("a")
        pending = await rig.call("b")
        await rig.advance(3)
        rig.client.cancel(rig.client.queue._pending[0].id)
        await rig.settle()
        details = failure(pending).details
        assert (details["server_id"], details["server_name"]) == ("scripted", "scripted")
        assert (details["method"], details["elapsed_s"]) == ("tools/call", 3.0)
        await rig.client.disconnect()
        with pytest.raises(InspectorError) as caught:
            await rig.client.call_tool("c")
        assert caught.value.code == "NOT_CONNECTED"
        assert caught.value.details["server_name"] == "scripted"
        assert caught.value.details["method"] == "tools/call"


async def test_a_failed_connection_has_them_and_what_was_raised() -> None:
    broken = BrokenTransport(ConnectionRefusedError(111, "refused"))
    config = {"max_retries": 0}
    rig = Rig(make_transport=lambda: broken, connect=False, config=config, server_name="Weather")
    async with rig:
        with pytest.raises(InspectorError) as caught:
            await rig.client.connect()
        details = caught.value.details
        assert (details["server_id"], details["server_name"]) == ("scripted", "Weather")
        assert details["elapsed_s"] == 0.0
        assert details["original_error"].startswith("ConnectionRefusedError")


async def test_a_question_that_is_gone_names_its_server() -> None:
    async with Rig(sampling=True) as rig:
        with pytest.raises(InspectorError) as caught:
            rig.client.sampling.resolve("gone", "x")
        assert caught.value.details["server_id"] == "scripted"
        assert caught.value.details["method"] == "sampling/createMessage"

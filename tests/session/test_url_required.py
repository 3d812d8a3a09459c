"""Error -32042 of 2025-11-25: a page that must be opened before a call works."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from mcplens.errors import ServerError
from mcplens.events import InputRoundStarted
from mcplens.session.question_handler import ServerRequest

from .input_servers import OPERATIONS, stateless
from .person import ELICIT
from .scripted import Refuse, Rig, ScriptedServer, text

PAGE = {"mode": "url", "url": "https://example.com/go", "message": "go", "elicitationId": "e1"}


def required(*pages: Any) -> Refuse:
    return Refuse(-32042, "open this first", {"elicitations": list(pages)})


def legacy(*answers: Any, method: str = "tools/call") -> ScriptedServer:
    left = list(answers)
    return ScriptedServer({method: lambda request: left.pop(0)})


@pytest.mark.parametrize(("method", "operation", "result"), OPERATIONS)
async def test_a_page_that_must_be_opened_first_is_asked_about_and_the_call_tried_again(
    method: str, operation: Callable[[Any], Any], result: Any
) -> None:
    asked: list[ServerRequest] = []

    def accept(request: ServerRequest) -> Any:
        asked.append(request)
        return {"action": "accept"}

    server = legacy(required(PAGE, PAGE | {"elicitationId": "e2"}), result, method=method)
    async with Rig(server, handlers={ELICIT: accept}) as rig:
        await operation(rig.client)
        first, second = server.sent(method)
        assert first["params"].keys() == second["params"].keys()
        assert [(each.origin, each.params["elicitationId"]) for each in asked] == [
            ("error", "e1"),
            ("error", "e2"),
        ]
        assert asked[0].caused_by == first["id"]
        assert json.loads(asked[0].raw) == {"method": ELICIT, "params": PAGE}
        (event,) = rig.events(InputRoundStarted)
        assert (event.request_id, event.keys) == (first["id"], ["e1", "e2"])


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_page_that_is_not_opened_leaves_the_error(action: str) -> None:
    server = legacy(required(PAGE))
    async with Rig(server, handlers={ELICIT: lambda request: {"action": action}}) as rig:
        with pytest.raises(ServerError, match="open this first") as problem:
            await rig.client.call_tool("x")
        assert problem.value.rpc_code == -32042
        assert len(server.sent("tools/call")) == 1


async def test_a_server_may_ask_for_the_page_again_but_not_without_end() -> None:
    server = legacy(required(PAGE), required(PAGE), text())
    async with Rig(server, handlers={ELICIT: lambda request: {"action": "accept"}}) as rig:
        assert (await rig.client.call_tool("x")).content
    server = ScriptedServer({"tools/call": required(PAGE)})
    async with Rig(server, handlers={ELICIT: lambda request: {"action": "accept"}}) as rig:
        with pytest.raises(ServerError, match="open this first"):
            await rig.client.call_tool("x")
        assert len(server.sent("tools/call")) == 11


async def test_another_error_of_the_second_try_is_the_callers() -> None:
    server = legacy(required(PAGE), Refuse(-32000, "now something else"))
    async with Rig(server, handlers={ELICIT: lambda request: {"action": "accept"}}) as rig:
        with pytest.raises(ServerError, match="now something else"):
            await rig.client.call_tool("x")


@pytest.mark.parametrize(
    "data",
    [None, [], "x", {"elicitations": {}}, {"elicitations": []}, {"elicitations": [{"mode": "x"}]}],
)
async def test_an_error_that_names_no_pages_is_an_ordinary_one(data: Any) -> None:
    server = legacy(Refuse(-32042, "strange", data))
    async with Rig(server, handlers={ELICIT: lambda request: {"action": "accept"}}) as rig:
        with pytest.raises(ServerError, match="strange"):
            await rig.client.call_tool("x")
        assert rig.events(InputRoundStarted) == []


async def test_the_old_error_means_nothing_in_2026_07_28() -> None:
    server = ScriptedServer({"tools/call": required(PAGE)}, is_stateless=True)
    async with stateless(server, handlers={ELICIT: lambda request: {"action": "accept"}}) as rig:
        with pytest.raises(ServerError, match="open this first"):
            await rig.client.call_tool("x")
        assert len(server.sent("tools/call")) == 1

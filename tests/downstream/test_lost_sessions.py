"""A session that is lost is opened again; a call is repeated only where that cannot do harm."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.downstream.options import CallOptions
from mcplens.errors import HttpError
from mcplens.session.raw_calls import read_params
from mcplens.transports.base import Transport
from tests.downstream.rig import Rig, failure
from tests.session.scripted import SILENT, ExchangeTransport, ScriptedServer, text

CALL = read_params(b'{"name":"add","arguments":{}}')


def _tools(**annotations: Any) -> dict[str, Any]:
    tool = {"name": "add", "inputSchema": {"type": "object"}, "annotations": annotations}
    return {"tools/list": {"tools": [tool]}, "tools/call": SILENT}


async def test_a_call_that_the_server_may_have_seen_is_not_repeated() -> None:
    async with Rig({"one": ScriptedServer(_tools())}) as rig:
        calling = await rig.started(failure(rig.one.request("tools/call", CALL)))
        rig.server.leave()
        await rig.settle()
        error = calling.result()
        assert error.category == "transport"
        assert error.details["was_sent"] is True
        assert "was not sent again" in error.message
        rig.server.answers["tools/call"] = text()
        await rig.one.request("tools/call", CALL)
        assert len(rig.server.sent("tools/call")) == 2
        assert rig.status == "RUNNING"


@pytest.mark.parametrize("annotation", ["readOnlyHint", "idempotentHint"])
async def test_a_call_of_a_tool_that_may_be_repeated_is_sent_to_the_new_session(
    annotation: str,
) -> None:
    async with Rig({"one": ScriptedServer(_tools(**{annotation: True}))}) as rig:
        calling = await rig.started(rig.one.request("tools/call", CALL))
        rig.server.answers["tools/call"] = text("again")
        rig.server.leave()
        await rig.settle()
        assert calling.result().value() == text("again")
        assert rig.server.methods.count("initialize") == 2


async def test_reads_are_repeated_once_and_not_more() -> None:
    async with Rig({"one": ScriptedServer({"resources/read": SILENT})}) as rig:
        params = read_params(b'{"uri":"a:b"}')
        calling = await rig.started(failure(rig.one.request("resources/read", params)))
        rig.server.leave()
        await rig.settle()
        assert not calling.done()
        assert len(rig.server.sent("resources/read")) == 2
        rig.server.leave()
        await rig.settle()
        assert calling.result().category == "transport"


async def test_the_caller_may_say_that_a_call_can_be_repeated() -> None:
    async with Rig({"one": ScriptedServer(_tools())}) as rig:
        options = CallOptions(is_repeatable=True)
        calling = await rig.started(rig.one.request("tools/call", CALL, options))
        rig.server.answers["tools/call"] = text()
        rig.server.leave()
        await rig.settle()
        assert calling.done()


async def test_a_call_that_was_refused_with_its_session_is_sent_to_the_new_one() -> None:
    server = ScriptedServer(_tools())
    made: list[ExchangeTransport] = []

    def make() -> Transport:
        made.append(ExchangeTransport(server))
        return made[-1]

    async with Rig({"one": server}) as rig:
        rig.servers.makers["one"] = make
        await rig.one.disconnect()
        (await rig.one.connect()).unwrap()
        refused = await rig.started(rig.one.request("tools/call", CALL))
        begun = await rig.started(failure(rig.one.request("tools/call", CALL)))
        refused_id = server.sent("tools/call")[0]["id"]
        server.answers["tools/call"] = text("again")
        error = HttpError(
            "SESSION_EXPIRED", "unknown", status=404, details={"refused_id": refused_id}
        )
        made[-1]._receiver.session_expired(error)
        await rig.settle()
        assert refused.result().value() == text("again")
        assert begun.result().details["was_sent"] is True
        assert len(server.sent("tools/call")) == 3

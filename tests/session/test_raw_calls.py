"""Raw calls: bodies pass through undecoded; what a call causes goes to its own hooks."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from msgspec import Raw

from mcplens.errors import ServerError
from mcplens.events import FrameSent
from mcplens.protocol.frames import Frame
from mcplens.session.attribution import Link
from mcplens.session.call_hooks import CallHooks
from mcplens.session.question_handler import ServerRequest
from mcplens.session.queue import CallTag
from mcplens.session.raw_calls import error_member, read_params

from .scripted import (
    SILENT,
    STATELESS,
    ExchangeTransport,
    Refuse,
    Rig,
    ScriptedServer,
    discovered,
    failure,
    text,
)

ASK = "elicitation/create"
BODY = b'{"name":"add","arguments":{ "a" : 1.50, "b":"\\u0041" },"_meta":{"trace":[ 1 ]}}'


class Hooks:
    """Remembers what came, and answers questions with `answer`."""

    def __init__(self, answer: Any = None) -> None:
        self.notified: list[tuple[Frame, Link]] = []
        self.asked: list[ServerRequest] = []
        self.answer = answer

    @property
    def of_call(self) -> CallHooks:
        return CallHooks(self._ask, lambda frame, link: self.notified.append((frame, link)))

    async def _ask(self, request: ServerRequest) -> Any:
        self.asked.append(request)
        if isinstance(self.answer, ServerError):
            raise self.answer
        if self.answer is SILENT:
            await asyncio.get_running_loop().create_future()
        return self.answer


async def test_params_and_result_pass_byte_for_byte() -> None:
    result = b'{ "content":[], "x" : 1.0e2 }'

    def answer(request: dict[str, Any]) -> bytes:
        return b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (request["id"], result)

    async with Rig(ScriptedServer({"tools/call": answer})) as rig:
        frame = await rig.client.raw_calls.send("tools/call", read_params(BODY), tag=CallTag())
        assert bytes(frame.body) == result
        sent = rig.server.raw[-1]
        assert b'"arguments":{ "a" : 1.50, "b":"\\u0041" }' in sent
        assert b'"trace":[ 1 ]' in sent


async def test_an_error_is_raised_with_its_bytes() -> None:
    server = ScriptedServer({"tools/call": Refuse(-32602, "no such tool", {"hint": [1]})})
    async with Rig(server) as rig:
        with pytest.raises(ServerError) as caught:
            await rig.client.raw_calls.send("tools/call", read_params(BODY), tag=CallTag())
        assert json.loads(bytes(error_member(caught.value.raw))) == {
            "code": -32602,
            "message": "no such tool",
            "data": {"hint": [1]},
        }


def test_what_meta_says_of_one_hop_is_left_out() -> None:
    meta = {"progressToken": 7, "io.modelcontextprotocol/clientInfo": {}, "traceparent": "00-1"}
    params = read_params(json.dumps({"name": "add", "_meta": meta}).encode())
    assert {name: bytes(value) for name, value in params["_meta"].items()} == {
        "traceparent": b'"00-1"'
    }
    assert read_params(b'{"_meta":{"progressToken":7}}') == {}
    assert read_params(Raw(b"")) == {}
    for broken in (b"[]", b'{"_meta":3}', b"nonsense"):
        with pytest.raises(ValueError, match="must be an object"):
            read_params(broken)


async def test_progress_and_logs_of_a_call_go_to_its_hook_and_others_to_the_owner() -> None:
    hooks, owner = Hooks(), Hooks()
    async with Rig(ScriptedServer({"tools/call": SILENT})) as rig:
        rig.client.connection.on_notification = owner.of_call.on_notification
        tag = rig.client.new_tag()
        calling = await rig.started(
            rig.client.raw_calls.send("tools/call", read_params(BODY), tag=tag, hooks=hooks.of_call)
        )
        token = rig.server.sent("tools/call")[0]["params"]["_meta"]["progressToken"]
        rig.server.progress(token, 1, extra="kept")
        rig.server.notify("notifications/message", {"level": "info", "data": "x"})
        rig.server.notify("notifications/tools/list_changed")
        await rig.settle()
        assert [frame.method for frame, _ in hooks.notified] == [
            "notifications/progress",
            "notifications/message",
        ]
        assert b'"extra": "kept"' in hooks.notified[0][0].raw
        assert [link.is_inferred for _, link in hooks.notified] == [False, True]
        assert [frame.method for frame, _ in owner.notified] == ["notifications/tools/list_changed"]
        rig.server.reply(token, text())
        await calling
        assert rig.client.connection.call_hooks == {}


async def test_a_question_goes_to_the_call_that_caused_it() -> None:
    first, second = Hooks(Raw(b'{"action":"accept","content":{ }}')), Hooks()
    server = ScriptedServer({"tools/call": SILENT})
    transport = ExchangeTransport(server)
    async with Rig(
        server, make_transport=lambda: transport, elicitation=True, concurrency=2
    ) as rig:
        for hooks in (first, second):
            await rig.started(
                rig.client.raw_calls.send(
                    "tools/call",
                    read_params(BODY),
                    tag=rig.client.new_tag(),
                    hooks=hooks.of_call,
                )
            )
        mine = server.sent("tools/call")[0]["id"]
        question = {"jsonrpc": "2.0", "id": "q", "method": ASK, "params": {"message": "?"}}
        transport.deliver_on(mine, question)
        await rig.settle()
        (asked,) = first.asked
        assert (asked.caused_by, asked.is_inferred) == (mine, False)
        assert not second.asked
        assert server.answer_to("q") is not None
        assert server.raw[-1].endswith(b'"result":{"action":"accept","content":{ }}}')


async def test_a_hook_may_leave_a_question_to_the_clients_own_handler_or_refuse_it() -> None:
    hooks = Hooks(None)
    async with Rig(
        ScriptedServer({"tools/call": SILENT}), elicitation=lambda _: {"action": "decline"}
    ) as rig:
        await rig.started(
            rig.client.raw_calls.send(
                "tools/call", read_params(BODY), tag=rig.client.new_tag(), hooks=hooks.of_call
            )
        )
        rig.server.ask("q1", ASK, {"message": "?", "requestedSchema": {"type": "object"}})
        await rig.settle()
        answer = rig.server.answer_to("q1")
        assert answer is not None
        assert answer["result"] == {"action": "decline"}
        hooks.answer = ServerError(-1, "not today")
        rig.server.ask("q2", ASK, {"message": "?"})
        await rig.settle()
        answer = rig.server.answer_to("q2")
        assert answer is not None
        assert answer["error"] == {"code": -1, "message": "not today"}


async def test_cancelling_a_call_cancels_it_on_the_server_and_ends_its_question() -> None:
    hooks = Hooks(SILENT)
    async with Rig(ScriptedServer({"tools/call": SILENT}), elicitation=True) as rig:
        calling = await rig.started(
            rig.client.raw_calls.send(
                "tools/call", read_params(BODY), tag=rig.client.new_tag(), hooks=hooks.of_call
            )
        )
        rig.server.ask("q", ASK, {"message": "?"})
        await rig.settle()
        calling.cancel()
        await rig.settle()
        (cancelled,) = rig.server.sent("notifications/cancelled")
        assert cancelled["params"]["requestId"] == rig.server.sent("tools/call")[0]["id"]
        answer = rig.server.answer_to("q")
        assert answer is not None
        assert answer["result"] == {"action": "cancel"}


async def test_the_links_of_a_call_are_those_that_it_was_given() -> None:
    async with Rig() as rig:
        tag = CallTag(call_id="mine", inbound_seq=17)
        await rig.client.raw_calls.send("tools/call", read_params(BODY), tag=tag)
        sent = rig.events(FrameSent)[-1]
        assert (sent.call_id, sent.inbound_seq) == ("mine", 17)


async def test_one_deadline_covers_the_queue_and_the_call() -> None:
    async with Rig(ScriptedServer({"tools/call": SILENT})) as rig:
        now = rig.clock.monotonic()
        calls = [
            await rig.started(
                rig.client.raw_calls.send(
                    "tools/call",
                    read_params(BODY),
                    tag=rig.client.new_tag(),
                    deadline=rig.client.connection.config.deadline(now, budget_s),
                )
            )
            for budget_s in (8.0, 5.0)
        ]
        await rig.advance(5)
        assert failure(calls[1]).details["phase"] == "queue"


# -- 2026-07-28 --------------------------------------------------------------------------------

INPUT = {
    "resultType": "input_required",
    "inputRequests": {"q": {"method": ASK, "params": {"message": "?"}}},
    "requestState": "s1",
}


def _stateless(answers: list[Any]) -> ScriptedServer:
    return ScriptedServer(
        {"tools/call": lambda _: answers.pop(0), "server/discover": discovered()},
        is_stateless=True,
    )


async def test_an_input_required_result_is_returned_as_it_came() -> None:
    server = _stateless([INPUT])
    async with Rig(server, protocol_version=STATELESS, elicitation=True) as rig:
        frame = await rig.client.raw_calls.send("tools/call", read_params(BODY), tag=CallTag())
        assert frame.value() == INPUT


async def test_the_hook_answers_required_input_and_the_request_is_sent_again() -> None:
    hooks = Hooks(Raw(b'{"action":"accept","content":{}}'))
    server = _stateless([INPUT, {"resultType": "complete"} | text("done")])
    async with Rig(server, protocol_version=STATELESS, elicitation=True) as rig:
        frame = await rig.client.raw_calls.send(
            "tools/call",
            read_params(BODY),
            tag=rig.client.new_tag(),
            deadline=rig.client.connection.config.deadline(rig.clock.monotonic(), 60.0),
            hooks=hooks.of_call,
            answers_input=True,
        )
        assert frame.value()["content"][0]["text"] == "done"
        again = server.sent("tools/call")[1]["params"]
        assert again["inputResponses"] == {"q": {"action": "accept", "content": {}}}
        assert again["requestState"] == "s1"
        assert again["arguments"] == {"a": 1.5, "b": "A"}


async def test_headers_repeat_names_that_were_left_undecoded() -> None:
    tool = {
        "name": "add",
        "inputSchema": {
            "type": "object",
            "properties": {"b": {"type": "string", "x-mcp-header": "B"}},
        },
    }
    server = _stateless([{"resultType": "complete"} | text()])
    server.answers["tools/list"] = {"resultType": "complete", "tools": [tool]}
    transport = ExchangeTransport(server)
    async with Rig(server, make_transport=lambda: transport, protocol_version=STATELESS) as rig:
        await rig.client.list_tools()
        await rig.client.raw_calls.send(
            "tools/call",
            read_params(BODY),
            tag=CallTag(),
            client_capabilities={"sampling": {}},
        )
        headers = transport.headers["tools/call"]
        assert headers["Mcp-Name"] == "add"
        assert headers["Mcp-Param-B"] == "A"
        meta = server.sent("tools/call")[0]["params"]["_meta"]
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {"sampling": {}}
        assert meta["io.modelcontextprotocol/protocolVersion"] == STATELESS

"""2026-07-28: an envelope in every request, no answers written, and the listening stream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcplens.errors import InspectorError, ServerError
from mcplens.events import (
    ListRefreshed,
    LogReceived,
    RequestEnded,
    RequestStarted,
    ResourceRefreshed,
    SubscriptionChanged,
)

from .scripted import (
    EVERYTHING,
    SILENT,
    SKILLS,
    STATELESS,
    ExchangeTransport,
    Refuse,
    Rig,
    ScriptedServer,
    failure,
    text,
)

META = "io.modelcontextprotocol/"
LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class ListeningServer(ScriptedServer):
    """Acknowledges each listen at once, and can speak on the stream."""

    def __init__(self, answers: dict[str, Any] | None = None) -> None:
        super().__init__({LISTEN: self._acknowledge} | (answers or {}), is_stateless=True)

    def _acknowledge(self, request: dict[str, Any]) -> Any:
        self.tell(ACKNOWLEDGED, {"notifications": request["params"]["notifications"]})
        return SILENT

    @property
    def listen(self) -> dict[str, Any]:
        return self.sent(LISTEN)[-1]

    def wanted(self) -> dict[str, Any]:
        wanted: dict[str, Any] = self.listen["params"]["notifications"]
        return wanted

    def tell(self, method: str, params: dict[str, Any] | None = None) -> None:
        meta = {"_meta": {META + "subscriptionId": self.listen["id"]}}
        self.notify(method, (params or {}) | meta)


def stateless(server: ScriptedServer | None = None, **options: Any) -> Rig:
    server = server or ScriptedServer(is_stateless=True)
    return Rig(server, protocol_version=STATELESS, **options)


# -- the envelope --------------------------------------------------------------------------------


async def test_every_request_carries_the_envelope() -> None:
    async with stateless(client_info={"name": "me", "version": "3"}) as rig:
        await rig.client.list_tools()
        await rig.client.call_tool("add", meta={"example.com/x": 1})
        await rig.client.ping()
        for request in rig.server.received:
            if "id" not in request:
                continue
            meta = request["params"]["_meta"]
            assert meta[META + "protocolVersion"] == STATELESS
            assert meta[META + "clientCapabilities"] == SKILLS
            assert meta[META + "clientInfo"] == {"name": "me", "version": "3"}
        (call,) = rig.server.sent("tools/call")
        assert call["params"]["_meta"]["example.com/x"] == 1
        assert call["params"]["_meta"]["progressToken"] == call["id"]


async def test_the_envelope_advertises_what_has_a_handler() -> None:
    async with stateless(handlers={"roots/list": lambda request: {}}) as rig:
        (discover,) = rig.server.sent("server/discover")
        assert discover["params"]["_meta"][META + "clientCapabilities"] == {"roots": {}, **SKILLS}


async def test_a_log_level_goes_into_each_request_from_then_on() -> None:
    async with stateless() as rig:
        await rig.client.call_tool("add")
        await rig.client.set_level("debug")
        await rig.client.call_tool("add")
        before, after = (call["params"]["_meta"] for call in rig.server.sent("tools/call"))
        assert META + "logLevel" not in before
        assert after[META + "logLevel"] == "debug"
        assert rig.server.sent("logging/setLevel") == []
        rig.server.notify("notifications/message", {"level": "debug", "data": "x"})
        await rig.settle()
        assert len(rig.events(LogReceived)) == 1


async def test_over_http_a_notification_says_in_headers_what_it_is() -> None:
    server = ScriptedServer(is_stateless=True)
    transport = ExchangeTransport(server)
    async with stateless(server, make_transport=lambda: transport) as rig:
        rig.client.notify("example/said", {"name": "x"})
        headers = {"Mcp-Method": "example/said", "MCP-Protocol-Version": STATELESS}
        assert transport.headers["example/said"] == headers


async def test_a_default_log_level_is_asked_of_2026_07_28_until_another_is_chosen() -> None:
    async with stateless(default_log_level="info") as rig:
        await rig.client.call_tool("add")
        assert rig.client.catalog.level == "info"
        await rig.client.set_level("error")
        await rig.client.call_tool("add")
        levels = [
            call["params"]["_meta"][META + "logLevel"] for call in rig.server.sent("tools/call")
        ]
        assert levels == ["info", "error"]


async def test_a_default_log_level_is_not_sent_to_servers_that_log_by_default() -> None:
    async with Rig(default_log_level="info") as rig:
        await rig.client.call_tool("add")
        assert rig.server.sent("logging/setLevel") == []
        assert rig.client.catalog.level is None


async def test_a_chosen_log_level_is_sent_to_servers_of_every_revision_from_the_start() -> None:
    async with Rig(log_level="error", default_log_level="info") as rig:
        await rig.settle()
        (asked,) = rig.server.sent("logging/setLevel")
        assert asked["params"] == {"level": "error"}
    async with stateless(log_level="error", default_log_level="info") as rig:
        await rig.client.call_tool("add")
        (call,) = rig.server.sent("tools/call")
        assert call["params"]["_meta"][META + "logLevel"] == "error"


async def test_over_http_each_request_says_in_headers_what_it_is() -> None:
    schema = {"type": "object", "properties": {"r": {"type": "string", "x-mcp-header": "Region"}}}
    tools = {"tools": [{"name": "where", "inputSchema": schema}]}
    server = ScriptedServer({"tools/list": tools}, is_stateless=True)
    transport = ExchangeTransport(server)
    async with stateless(server, make_transport=lambda: transport) as rig:
        await rig.client.list_tools()
        await rig.client.call_tool("where", {"r": "Zürich"}, headers={"X-Own": "1"})
        assert transport.headers["tools/call"] == {
            "Mcp-Method": "tools/call",
            "Mcp-Name": "where",
            "Mcp-Param-Region": "=?base64?WsO8cmljaA==?=",
            "MCP-Protocol-Version": STATELESS,
            "X-Own": "1",
        }


async def test_over_http_a_raw_request_says_in_headers_what_its_bytes_say() -> None:
    server = ScriptedServer({"tools/call": text("seen")}, is_stateless=True)
    transport = ExchangeTransport(server)

    async def sent(params: Any, headers: dict[str, str] | None = None) -> dict[str, str]:
        message = {"jsonrpc": "2.0", "id": "r", "method": "tools/call", "params": params}
        await rig.client.send_raw(json.dumps(message).encode(), headers=headers)
        return transport.headers["tools/call"]

    async with stateless(server, make_transport=lambda: transport) as rig:
        usual = {"Mcp-Method": "tools/call", "MCP-Protocol-Version": STATELESS}
        assert await sent({"name": "add"}) == {**usual, "Mcp-Name": "add"}
        for odd in ({"name": ["add"]}, ["add"], {"_meta": 3}):
            assert await sent(odd) == usual
        other = {"_meta": {META + "protocolVersion": "2099-01-01"}}
        assert await sent(other) == {**usual, "MCP-Protocol-Version": "2099-01-01"}
        assert await sent({}, {"Mcp-Method": "mine"}) == {**usual, "Mcp-Method": "mine"}


async def test_over_http_a_tool_with_a_bad_header_annotation_is_left_out_and_told() -> None:
    schema = {"type": "object", "properties": {"r": {"type": "object", "x-mcp-header": "R"}}}
    tools = [{"name": "bad", "inputSchema": schema}, {"name": "good", "inputSchema": {}}]
    server = ScriptedServer({"tools/list": {"tools": tools}}, is_stateless=True)
    transport = ExchangeTransport(server)
    async with stateless(server, make_transport=lambda: transport) as rig:
        assert [tool.name for tool in await rig.client.list_tools()] == ["good"]
        assert [tool.name for tool in rig.client.catalog.dropped_tools] == ["bad"]
        assert any("bad is left out" in remark for remark in rig.remarks())
    async with stateless(server) as rig:
        listed = await rig.client.list_tools()
        assert [(tool.name, tool.problem is None) for tool in listed] == [
            ("bad", False),
            ("good", True),
        ]


async def test_a_header_mismatch_refreshes_the_tools_and_is_tried_once_more() -> None:
    answers: list[Any] = [Refuse(-32020, "headers differ"), text("second try")]
    server = ScriptedServer({"tools/call": lambda request: answers.pop(0)}, is_stateless=True)
    async with stateless(server) as rig:
        assert (await rig.client.call_tool("add")).content[0].text == "second try"
        spoken = [method for method in server.methods if method.startswith("tools/")]
        assert spoken == ["tools/call", "tools/list", "tools/call"]
        answers[:] = [Refuse(-32020, "still"), Refuse(-32020, "still")]
        with pytest.raises(ServerError, match="still"):
            await rig.client.call_tool("add")


# -- no answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["ping", "roots/list", "elicitation/create", "nonsense"])
async def test_a_request_of_the_servers_is_shown_and_no_answer_is_written(method: str) -> None:
    async with stateless(handlers={"roots/list": lambda request: {"roots": []}}) as rig:
        rig.server.ask(1, method)
        await rig.settle()
        assert rig.server.answer_to(1) is None
        assert any(method in remark for remark in rig.remarks())
        assert (await rig.client.call_tool("add")).content


async def test_a_call_that_is_called_off_is_cancelled_by_a_message_on_a_stream() -> None:
    async with stateless(ScriptedServer({"tools/call": SILENT}, is_stateless=True)) as rig:
        await rig.call()
        identity = rig.entry().id
        rig.client.abort(identity)
        await rig.settle()
        assert rig.server.sent("notifications/cancelled")[0]["params"]["requestId"] == identity


# -- listening -----------------------------------------------------------------------------------


async def test_fetching_a_list_begins_to_listen_for_its_changes() -> None:
    server = ListeningServer()
    async with stateless(server) as rig:
        await rig.client.list_tools()
        await rig.settle()
        assert server.wanted() == {"toolsListChanged": True}
        await rig.client.list_prompts()
        await rig.client.list_resource_templates()
        await rig.settle()
        assert server.wanted() == {
            "toolsListChanged": True,
            "promptsListChanged": True,
            "resourcesListChanged": True,
        }
        assert {event.state for event in rig.events(SubscriptionChanged)} == {"open"}
        server.tell("notifications/tools/list_changed")
        await rig.settle()
        assert [event.kind for event in rig.events(ListRefreshed)] == ["tools"]


async def test_changes_are_listened_for_while_the_first_list_is_on_its_way() -> None:
    server = ListeningServer({"tools/list": SILENT})
    async with stateless(server) as rig:
        fetching = await rig.started(rig.client.list_tools())
        assert server.wanted() == {"toolsListChanged": True}
        server.tell("notifications/tools/list_changed")
        await rig.settle()
        (first,) = server.sent("tools/list")
        server.answers["tools/list"] = {"resultType": "complete", "tools": []}
        server.reply(first["id"], {"resultType": "complete", "tools": []})
        await fetching
        await rig.settle()
        assert [event.kind for event in rig.events(ListRefreshed)] == ["tools"]


async def test_only_one_stream_is_open_and_the_old_one_is_cancelled() -> None:
    server = ListeningServer()
    async with stateless(server) as rig:
        await rig.client.list_tools()
        await rig.settle()
        first = server.listen["id"]
        await rig.client.list_prompts()
        await rig.settle()
        cancelled = [m["params"]["requestId"] for m in server.sent("notifications/cancelled")]
        assert cancelled == [first]
        assert list(rig.client.connection.correlation.waiting) == [server.listen["id"]]


async def test_a_server_without_list_changed_is_not_listened_to() -> None:
    server = ScriptedServer(is_stateless=True, capabilities={"tools": {}})
    async with stateless(server) as rig:
        await rig.client.list_tools()
        await rig.settle()
        assert server.sent(LISTEN) == []


async def test_subscribing_waits_for_the_acknowledgement() -> None:
    server = ListeningServer({LISTEN: SILENT})
    async with stateless(server) as rig:
        subscribing = await rig.started(rig.client.subscribe("file:///a"))
        assert server.wanted() == {"resourceSubscriptions": ["file:///a"]}
        assert not subscribing.done()
        server.tell(ACKNOWLEDGED, {"notifications": server.wanted()})
        await subscribing
        server.tell("notifications/resources/updated", {"uri": "file:///a"})
        await rig.settle()
        assert [event.uri for event in rig.events(ResourceRefreshed)] == ["file:///a"]


async def test_an_acknowledgement_of_another_stream_does_not_count() -> None:
    server = ListeningServer({LISTEN: SILENT})
    async with stateless(server) as rig:
        subscribing = await rig.started(rig.client.subscribe("file:///a"))
        server.notify(ACKNOWLEDGED, {"_meta": {META + "subscriptionId": 999}})
        await rig.settle()
        assert not subscribing.done()
        server.tell(ACKNOWLEDGED)
        await subscribing


async def test_an_acknowledgement_that_never_comes_times_out() -> None:
    async with stateless(ListeningServer({LISTEN: SILENT})) as rig:
        subscribing = await rig.started(rig.client.subscribe("file:///a"))
        await rig.advance(60)
        assert failure(subscribing).code == "REQUEST_TIMEOUT"


async def test_a_server_that_refuses_to_be_listened_to_says_so() -> None:
    async with stateless(ListeningServer({LISTEN: Refuse(-32601, "not here")})) as rig:
        with pytest.raises(ServerError, match="not here"):
            await rig.client.subscribe("file:///a")
        await rig.advance(100)
        assert len(rig.server.sent(LISTEN)) == 1


async def test_a_subscribe_that_waits_ends_with_the_connection() -> None:
    for end in ("disconnect", "leave"):
        server = ListeningServer({LISTEN: SILENT})
        async with stateless(server) as rig:
            subscribing = await rig.started(rig.client.subscribe("file:///a"))
            if end == "leave":
                server.leave()
            else:
                await rig.client.disconnect()
            await rig.settle()
            assert isinstance(failure(subscribing), InspectorError)


async def test_unsubscribing_from_the_last_resource_ends_the_stream() -> None:
    server = ListeningServer()
    async with stateless(server) as rig:
        await rig.client.subscribe("file:///a")
        await rig.client.subscribe("file:///b")
        assert server.wanted() == {"resourceSubscriptions": ["file:///a", "file:///b"]}
        await rig.client.unsubscribe("file:///a")
        assert server.wanted() == {"resourceSubscriptions": ["file:///b"]}
        await rig.client.unsubscribe("file:///b")
        await rig.settle()
        assert rig.client.connection.correlation.waiting == {}
        cancelled = [m["params"]["requestId"] for m in server.sent("notifications/cancelled")]
        assert cancelled == [message["id"] for message in server.sent(LISTEN)]
        started = {event.request_id for event in rig.events(RequestStarted)}
        ended = {event.request_id for event in rig.events(RequestEnded)}
        assert started == ended


@pytest.mark.parametrize("ending", ["result", "cancelled", "broken"])
async def test_a_stream_that_ends_is_opened_again_and_what_it_may_have_missed_is_fetched(
    ending: str,
) -> None:
    server = ListeningServer()
    async with stateless(server) as rig:
        await rig.client.list_tools()
        await rig.client.subscribe("file:///a")
        await rig.settle()
        first = server.listen["id"]
        if ending == "result":
            server.reply(first, {"_meta": {META + "subscriptionId": first}})
        elif ending == "cancelled":
            server.notify("notifications/cancelled", {"requestId": first, "reason": "restart"})
        else:
            server.send(b'{"jsonrpc":"2.0","id":%d}' % first)
        await rig.settle()
        assert rig.events(SubscriptionChanged)[-1].state == "lost"
        lists, reads = len(server.sent("tools/list")), len(server.sent("resources/read"))
        await rig.advance(1)
        assert server.listen["id"] != first
        assert server.wanted() == {
            "toolsListChanged": True,
            "resourceSubscriptions": ["file:///a"],
        }
        assert rig.events(SubscriptionChanged)[-1].state == "open"
        assert len(server.sent("tools/list")) == lists + 1
        assert len(server.sent("resources/read")) == reads + 1
        listened = server.methods.index(LISTEN, server.methods.index(LISTEN) + 1)
        assert "tools/list" in server.methods[listened:]


async def test_a_stream_that_ends_again_and_again_is_opened_more_and_more_rarely() -> None:
    server = ListeningServer({LISTEN: {}})
    async with stateless(server) as rig:
        await rig.client.list_tools()
        await rig.advance(100)
        assert 5 <= len(server.sent(LISTEN)) <= 9


async def test_after_a_reconnect_the_stream_is_opened_again_and_the_lists_are_fetched() -> None:
    server = ListeningServer()
    async with stateless(server, max_retries=3) as rig:
        await rig.client.list_tools()
        await rig.client.subscribe("file:///a")
        await rig.settle()
        server.leave()
        await rig.settle()
        server.received.clear()
        await rig.advance(1)
        assert rig.state == "CONNECTED"
        assert server.wanted() == {
            "toolsListChanged": True,
            "resourceSubscriptions": ["file:///a"],
        }
        assert len(server.sent("tools/list")) == 1
        assert len(server.sent("resources/read")) == 1


async def test_a_reply_that_cannot_be_attributed_fails_the_call_and_not_the_stream() -> None:
    server = ListeningServer({"tools/call": SILENT})
    async with stateless(server) as rig:
        await rig.client.list_tools()
        await rig.settle()
        call = await rig.call()
        server.send(b'{"jsonrpc":"2.0","result":{}}')
        await rig.advance(1)
        assert failure(call).code == "INVALID_RESPONSE"
        server.send(b'{"jsonrpc":"2.0","result":{}}')
        await rig.advance(5)
        assert {event.state for event in rig.events(SubscriptionChanged)} == {"open"}


async def test_a_call_is_not_paused_nor_the_server_kept_alive_by_the_stream() -> None:
    server = ListeningServer({"tools/call": SILENT})
    async with stateless(server) as rig:
        await rig.client.list_tools()
        await rig.settle()
        await rig.advance(100_000)
        assert list(rig.client.connection.correlation.waiting) == [server.listen["id"]]


async def test_everything_is_declared_for_these_tests() -> None:
    async with stateless() as rig:
        assert rig.client.capabilities == EVERYTHING

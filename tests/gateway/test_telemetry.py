"""OpenTelemetry: spans and durations by the conventions for MCP, as a collector receives them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from mcplens.config.telemetry_settings import TelemetrySettings
from mcplens.config.views import View
from mcplens.errors import InspectorError
from mcplens.events import FrameReceived, FrameSent, Remark
from mcplens.gateway.telemetry import Telemetry
from mcplens.protocol.frames import Frame
from tests.gateway.collector import Collector, collector
from tests.gateway.harness import NEW, OLD, PATIENCE_S, STDIO_DEMO, RunningGateway, running_gateway
from tests.gateway.test_user_sign_ins import told
from tests.ports import held_port
from tests.replicas.processes import until

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
META = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=1"}
SECRET = "a-secret-of-the-collector"


@asynccontextmanager
async def traced(
    where: Collector, name: str, servers: dict[str, Any], **options: Any
) -> AsyncIterator[RunningGateway]:
    """A gateway whose telemetry is sent when the block ends."""
    settings = TelemetrySettings(
        endpoint=where.url, headers={"x-api-key": SECRET}, service_name=name
    )
    async with running_gateway(servers, default_view=View(), **options) as running:
        telemetry = running.gateway.telemetry = Telemetry(running.gateway, settings, name)
        await running.gateway.servers.settled(PATIENCE_S)
        try:
            yield running
        finally:
            await telemetry.close()


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_one_trace_leads_from_the_client_over_two_gateways_to_the_server(
    version: str,
) -> None:
    async with collector() as seen:
        async with (
            traced(seen, "back", {"demo": STDIO_DEMO}) as back,
            traced(seen, "front", {"back": {"url": back.url()}}) as front,
            front.connect(protocol_version=version) as client,
        ):
            await client.call_tool("back__demo__echo", {"text": "a payload"}, meta=META)
            sent = [one.message for one in back.bus.kept() if isinstance(one, FrameSent)]
        spans = [
            seen.of("front", "tools/call back__demo__echo"),
            *(one for one in seen.spans if one.name == "tools/call demo__echo"),
            seen.of("back", "tools/call echo"),
        ]
        spans.sort(key=lambda one: (one.service == "back", one.kind == "CLIENT"))
        assert [(one.service, one.kind) for one in spans] == [
            ("front", "SERVER"), ("front", "CLIENT"), ("back", "SERVER"), ("back", "CLIENT"),
        ]  # fmt: skip
        assert {one.trace_id for one in spans} == {TRACE}
        ids = [PARENT, *(one.span_id for one in spans)]
        assert [one.parent_id for one in spans] == ids[:-1]
        calls = [one for one in sent if isinstance(one, Frame) and one.method == "tools/call"]
        passed = json.loads(calls[0].raw)["params"]["_meta"]
        assert passed["traceparent"] == f"00-{TRACE}-{spans[-1].span_id}-01"
        assert passed["tracestate"] == "vendor=1"
        assert spans[0].attributes == {
            "mcp.method.name": "tools/call",
            "gen_ai.tool.name": "back__demo__echo",
            "gen_ai.operation.name": "execute_tool",
            "mcp.protocol.version": version,
            "jsonrpc.request.id": spans[0].attributes["jsonrpc.request.id"],
            "network.transport": "tcp",
            "network.protocol.name": "http",
            "mcplens.path": "/mcp",
            "mcplens.server": "back",
        } | ({"mcp.session.id": spans[0].attributes["mcp.session.id"]} if version == OLD else {})
        assert spans[1].attributes["server.address"] == "127.0.0.1"
        assert spans[3].attributes["network.transport"] == "pipe"
        assert spans[3].attributes["mcplens.server"] == "demo"
        everything = b"".join(seen.bodies)
        assert b"a payload" not in everything
        assert SECRET.encode() not in everything
        assert seen.headers[0]["x-api-key"] == SECRET


async def test_notifications_have_spans_where_they_come_and_where_they_are_sent() -> None:
    """By the conventions: a server span at who receives one, a client span at who sends one."""
    async with collector() as seen:
        async with (
            traced(seen, "gateway", {"demo": STDIO_DEMO}) as running,
            running.connect(protocol_version=OLD) as client,
        ):
            steps = {"steps": 1, "seconds": 0}
            got: list[Any] = []
            await client.call_tool("demo__progress-steps", steps, meta=META, on_progress=got.append)
            await client.call_tool("demo__change-add", {"list": "tools"})
            async with asyncio.timeout(PATIENCE_S):
                await told(client, "notifications/tools/list_changed")
                waiting = asyncio.ensure_future(client.call_tool("demo__wait", {"seconds": 600}))
                await running_calls(running, 1)
                waiting.cancel()
                await running_calls(running, 0)
            sent = [one.message for one in client.kept_events() if isinstance(one, FrameReceived)]
            passed_on = [one.message for one in running.bus.kept() if isinstance(one, FrameSent)]
        spans = [one for one in seen.spans if one.name.startswith("notifications/")]
        found = {(one.name.removeprefix("notifications/"), one.kind) for one in spans}
        assert found >= {
            ("initialized", "SERVER"), ("progress", "SERVER"), ("progress", "CLIENT"),
            ("tools/list_changed", "SERVER"), ("tools/list_changed", "CLIENT"),
            ("cancelled", "SERVER"), ("cancelled", "CLIENT"),
        }  # fmt: skip
        # The progress of a call belongs to its trace: server, gateway, client.
        hop = seen.of("gateway", "tools/call progress-steps")
        heard, passed = (
            next(one for one in spans if (one.name, one.kind) == ("notifications/progress", kind))
            for kind in ("SERVER", "CLIENT")
        )
        assert (heard.trace_id, heard.parent_id) == (TRACE, hop.span_id)
        assert (passed.trace_id, passed.parent_id) == (TRACE, heard.span_id)
        assert heard.attributes["mcplens.server"] == "demo"
        assert heard.attributes["network.transport"] == "pipe"
        assert passed.attributes["mcplens.path"] == "/mcp"
        assert "jsonrpc.request.id" not in heard.attributes
        frames = [one for one in sent if isinstance(one, Frame)]
        progress = next(one for one in frames if one.method == "notifications/progress")
        context = json.loads(progress.raw)["params"]["_meta"]["traceparent"]
        assert context == f"00-{TRACE}-{passed.span_id}-01"
        wait = seen.of("gateway", "tools/call wait")
        told_server = next(
            one for one in spans if (one.name, one.kind) == ("notifications/cancelled", "CLIENT")
        )
        assert told_server.parent_id == wait.span_id
        methods = [one.method for one in passed_on if isinstance(one, Frame)]
        assert methods.count("notifications/cancelled") == 1
        counted = {
            one["mcp.method.name"] for one, _ in seen.counts["mcp.server.operation.duration"]
        }
        assert {"notifications/initialized", "notifications/progress"} <= counted


async def test_what_a_server_asks_has_spans_below_its_call() -> None:
    async def answer(request: Any) -> dict[str, Any]:
        asked.append(request.raw)
        return {"action": "accept", "content": {"name": "a payload"}}

    asked: list[bytes] = []
    async with collector() as seen:
        async with (
            traced(seen, "gateway", {"demo": {**STDIO_DEMO, "protocolVersion": OLD}}) as running,
            running.connect(protocol_version=OLD, elicitation=answer) as client,
        ):
            await client.call_tool("demo__elicit-form", {"form": "name"}, meta=META)
        hop = seen.of("gateway", "tools/call elicit-form")
        spans = [one for one in seen.spans if one.name == "elicitation/create"]
        heard, passed = sorted(spans, key=lambda one: one.kind == "CLIENT")
        assert (heard.kind, heard.parent_id) == ("SERVER", hop.span_id)
        assert (passed.kind, passed.parent_id) == ("CLIENT", heard.span_id)
        context = json.loads(asked[0])["params"]["_meta"]["traceparent"]
        assert context == f"00-{TRACE}-{passed.span_id}-01"
        assert b"a payload" not in b"".join(seen.bodies)


async def running_calls(running: RunningGateway, count: int) -> None:
    """Wait until so many calls are under way."""

    async def is_so() -> bool:
        return running.gateway.running_calls == count

    await until(is_so)


async def test_a_notification_that_nobody_knows_passes_with_its_context() -> None:
    async with collector() as seen:
        async with (
            traced(seen, "back", {"demo": STDIO_DEMO}) as back,
            traced(seen, "front", {"back": {"url": back.url()}}) as front,
            front.connect("/servers/back/mcp", protocol_version=OLD) as client,
        ):
            await client.call_tool("demo__echo", {"text": "hi"})
            client.notify("notifications/made/up", {"secret": "words", "_meta": dict(META)})
            await client.call_tool("demo__echo", {"text": "hi"})
        spans = [one for one in seen.spans if one.name == "_OTHER"]
        spans.sort(key=lambda one: (one.service == "back", one.kind == "CLIENT"))
        assert [(one.service, one.kind) for one in spans] == [
            ("front", "SERVER"), ("front", "CLIENT"), ("back", "SERVER"),
        ]  # fmt: skip
        assert [one.parent_id for one in spans] == [PARENT, *(one.span_id for one in spans[:2])]
        everything = b"".join(seen.bodies)
        assert b"made/up" not in everything
        assert b"words" not in everything


async def test_failures_have_a_type_and_nothing_of_their_words() -> None:
    async with collector() as seen:
        async with (
            traced(seen, "gateway", {"demo": STDIO_DEMO}) as running,
            running.connect(protocol_version=OLD) as client,
        ):
            assert (await client.call_tool("demo__fail-result")).is_error
            with pytest.raises(InspectorError):
                await client.call_tool("demo__fail-error", {"code": -32077, "message": "secret"})
            with pytest.raises(InspectorError):
                await client.call_tool("demo__unknown_tool_of_mine", {})
            with pytest.raises(InspectorError):
                await client.request("made/up", {})
        servers = {one.name: one for one in seen.spans if one.kind == "SERVER"}
        clients = {one.name: one for one in seen.spans if one.kind == "CLIENT"}
        for found in (
            servers["tools/call demo__fail-result"],
            clients["tools/call fail-result"],
        ):
            assert found.is_error
            assert found.attributes["error.type"] == "tool_error"
            assert "rpc.response.status_code" not in found.attributes
        for found in (servers["tools/call demo__fail-error"], clients["tools/call fail-error"]):
            assert found.is_error
            assert found.attributes["error.type"] == "-32077"
            assert found.attributes["rpc.response.status_code"] == "-32077"
        refused = servers["tools/call"]  # a name that no server has is not a name of a span
        assert refused.attributes["error.type"] == "-32602"
        assert "gen_ai.tool.name" not in refused.attributes
        assert servers["_OTHER"].attributes["error.type"] == "-32601"
        assert not servers["initialize"].is_error
        everything = b"".join(seen.bodies)
        for text in (b"unknown_tool_of_mine", b"made/up"):
            assert text not in everything


async def test_durations_are_measured_on_both_sides() -> None:
    async with collector() as seen:
        async with (
            traced(seen, "gateway", {"demo": STDIO_DEMO}) as running,
            running.connect(protocol_version=OLD) as client,
        ):
            for _ in range(3):
                await client.call_tool("demo__echo", {"text": "hi"})
            await client.get_prompt("demo__conversation", {"name": "Ada"})
            await client.read_resource("demo://note")
            await running.gateway.servers.connections["demo"].disconnect()
            await client.call_tool("demo__echo", {"text": "hi"})  # in another session
        served = {
            one["gen_ai.tool.name"]: count
            for one, count in seen.counts["mcp.server.operation.duration"]
            if "gen_ai.tool.name" in one
        }
        assert served == {"demo__echo": 4}
        methods = {
            one["mcp.method.name"]: (one, count)
            for one, count in seen.counts["mcp.client.operation.duration"]
        }
        assert methods["tools/call"][1] == 4
        ((session, count),) = seen.counts["mcp.client.session.duration"]
        assert (session["mcplens.server"], session["network.transport"], count) == (
            "demo", "pipe", 2,
        )  # fmt: skip
        assert methods["prompts/get"][0]["gen_ai.prompt.name"] == "conversation"
        assert methods["resources/read"][1] == 1
        uris = [one.attributes.get("mcp.resource.uri") for one in seen.spans]
        assert "demo://note" in uris
        assert all("mcp.resource.uri" not in one for one, _ in methods.values())


async def test_the_http_header_counts_where_meta_has_no_context() -> None:
    other = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
    async with collector() as seen:
        async with traced(seen, "gateway", {"demo": STDIO_DEMO}) as running:
            for meta in ({}, META, {"traceparent": 7}, {"traceparent": "nonsense"}):
                body = {
                    "jsonrpc": "2.0", "id": "x", "method": "tools/call",
                    "params": {"name": "demo__echo", "arguments": {"text": "hi"}, "_meta": {
                        **meta, "io.modelcontextprotocol/protocolVersion": NEW,
                        "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
                        "io.modelcontextprotocol/clientCapabilities": {},
                    }},
                }  # fmt: skip
                headers = {
                    "Accept": "application/json, text/event-stream", "traceparent": other,
                    "MCP-Protocol-Version": NEW, "Mcp-Method": "tools/call",
                    "Mcp-Name": "demo__echo",
                }  # fmt: skip
                async with (
                    aiohttp.ClientSession() as http,
                    http.post(running.url(), json=body, headers=headers) as answer,
                ):
                    assert answer.status == 200, await answer.text()
        calls = [one for one in seen.spans if one.name == "tools/call demo__echo"]
        parents = [one.parent_id for one in calls]
        assert parents[:3] == ["b" * 16, PARENT, "b" * 16]
        assert parents[3] not in ("b" * 16, PARENT)


async def test_a_collector_that_is_gone_delays_no_call_and_is_reported() -> None:
    with held_port() as port:
        seen = Collector(url=f"http://127.0.0.1:{port}")
        async with (
            traced(seen, "gateway", {"demo": STDIO_DEMO}) as running,
            running.connect() as client,
        ):
            result = await client.call_tool("demo__echo", {"text": "hi"})
            assert result.content[0].text == "hi"
        remarks = [one.message for one in running.bus.kept() if isinstance(one, Remark)]
        assert any(one.startswith("telemetry: ") for one in remarks)
        assert not any(SECRET in one for one in remarks)

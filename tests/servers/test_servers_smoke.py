"""Each test server starts, and does what it says, seen through the plainest possible clients."""

import asyncio
import json
import re
from typing import Any

import pytest

from .bad import FAULTS
from .misbehaving.faults import FRAMES
from .probes import HELLO, HttpProbe, Probe, ask, call, launch, open_request, probe, request
from .run import serve

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

TRANSPORTS = ("stdio", "http", "sse", "ws")
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def shake_hands(client: Probe) -> bytes:
    answer = await ask(client, request(1, "initialize", **HELLO))
    session = re.search(rb"(?i)^mcp-session-id: *(\S+)", answer, re.MULTILINE)
    if isinstance(client, HttpProbe) and session:
        client.headers = (f"Mcp-Session-Id: {session[1].decode()}",)
    await client.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    return answer


def text_of(answer: bytes) -> str:
    """The first text in the last JSON line of an answer."""
    line = [part for part in answer.splitlines() if b'"result"' in part][-1]
    result = json.loads(line[line.index(b"{") :])["result"]
    return str(result["content"][0]["text"])


def transport_of(client: Probe) -> str:
    return type(client).__name__.removesuffix("Probe").lower().replace("pipe", "stdio")


async def seen(client: Probe) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(text_of(await ask(client, call(99, "seen"))))
    return record


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_good_server_speaks_legacy_on_every_transport(transport: str) -> None:
    async with asyncio.timeout(10), probe("good", transport, "--broken-tools") as (client, _):
        assert b'"protocolVersion":"2025-11-25"' in await shake_hands(client)
        assert b'"nextCursor"' in await ask(client, request(2, "tools/list"))
        assert b'"structuredContent":{"sum":3}' in await ask(client, call(3, "add", a=1, b=2))
        assert b'"isError":true' in await ask(client, call(4, "fail"))
        assert b'"error":{"code":-32000' in await ask(client, call(5, "error"))
        assert (await ask(client, call(6, "burst", n=3))).count(b"notifications/message") == 3
        assert len(text_of(await ask(client, call(7, "big", bytes=100_000)))) == 100_000
        assert (await seen(client))["methods"][:3] == [
            "initialize",
            "notifications/initialized",
            "tools/list",
        ]


@pytest.mark.parametrize("transport", ["stdio", "sse", "ws"])
async def test_the_good_server_asks_reports_and_is_cancelled(transport: str) -> None:
    async with asyncio.timeout(10), probe("good", transport) as (client, _):
        await shake_hands(client)
        await client.send(call(2, "ask", method="roots/list"))
        assert b'"id":1,"method":"roots/list"' in await client.read_until(b"roots/list")
        await client.send(b'{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}')
        assert '{"result": {"roots": []}}' in text_of(await client.read_until(b'"id":2,'))
        progress = request(3, "tools/call", name="progress", _meta={"progressToken": "p"})
        assert (await ask(client, progress)).count(b'"progressToken":"p"') == 3
        await ask(client, request(4, "resources/subscribe", uri="memo://counter"))
        assert b"resources/updated" in await ask(client, call(5, "touch", uri="memo://counter"))
        assert b"prompts/list_changed" in await ask(client, call(6, "change_list", kind="prompts"))
        await client.send(call(7, "slow", seconds=60))
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": 7}}
        await client.send(json.dumps({"jsonrpc": "2.0", **cancelled}).encode())
        assert (await seen(client))["stopped"] == [7]


async def test_a_polling_answer_waits_for_a_get_with_its_event_id() -> None:
    async with asyncio.timeout(10), serve("good", "--transport", "http", "--polling", "9") as good:
        client = HttpProbe(good.port, "/mcp")
        await shake_hands(client)
        away = await ask(client, call(2, "echo", text="later"))
        assert b"retry: 9" in away
        assert b"later" not in away
        event_id = away.partition(b"id: ")[2].partition(b"\n")[0].decode()
        headers = (*client.headers, f"Last-Event-ID: {event_id}")
        reader, writer = await open_request(good.port, "GET", "/mcp", b"", *headers)
        assert b'"text":"later"' in await reader.read()
        writer.close()


async def test_a_dropped_session_gets_404_and_a_required_header_401() -> None:
    header = ("--require-header", "X-Key:secret", "--path", "/servers/a/mcp")
    async with asyncio.timeout(10), serve("good", "--transport", "http", *header) as good:
        stranger = HttpProbe(good.port, "/servers/a/mcp")
        assert b" 401 " in await ask(stranger, request(1, "initialize", **HELLO))
        client = HttpProbe(good.port, "/servers/a/mcp", ("X-Key: secret",))
        await shake_hands(client)
        client.headers = (*client.headers, "X-Key: secret")
        await ask(client, call(2, "drop_session"))
        assert b" 404 " in await ask(client, call(3, "echo", text="x"))


async def test_the_good_server_speaks_modern_on_http() -> None:
    async with asyncio.timeout(10), serve("good", "--transport", "http", "--era", "modern") as good:
        routed = ("MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: echo")
        client = HttpProbe(good.port, "/mcp", routed)
        echo = {"name": "echo", "arguments": {"text": "hi"}}
        right = request(1, "tools/call", _meta=MODERN, **echo)
        assert b'"resultType":"complete"' in await ask(client, right)
        bare = await ask(client, request(2, "tools/call", **echo))
        assert b" 400 " in bare
        assert b"-32602" in bare
        client.headers = (*routed[:2], "Mcp-Name: other")
        assert b"-32020" in await ask(client, right)
        old = {**MODERN, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}
        client.headers = ("MCP-Protocol-Version: 2030-01-01", "Mcp-Method: server/discover")
        assert b"-32022" in await ask(client, request(3, "server/discover", _meta=old))
        client.headers = (routed[0], "Mcp-Method: no/such")
        unknown = await ask(client, request(4, "no/such", _meta=MODERN))
        assert b" 404 " in unknown
        assert b"-32601" in unknown
        reader, writer = await open_request(good.port, "GET", "/mcp", b"")
        assert b" 405 " in await reader.readline()
        writer.close()


async def test_a_closed_listen_stream_is_a_cancellation_in_modern_http() -> None:
    async with asyncio.timeout(10), serve("good", "--transport", "http", "--era", "both") as good:
        version = "MCP-Protocol-Version: 2026-07-28"
        client = HttpProbe(good.port, "/mcp")

        async def use(number: int, name: str) -> bytes:
            client.headers = (version, "Mcp-Method: tools/call", f"Mcp-Name: {name}")
            return await ask(client, request(number, "tools/call", name=name, _meta=MODERN))

        wanted = {"toolsListChanged": True}
        listen = request(5, "subscriptions/listen", notifications=wanted, _meta=MODERN)
        headers = (version, "Mcp-Method: subscriptions/listen")
        reader, writer = await open_request(good.port, "POST", "/mcp", listen, *headers)
        assert b"subscriptions/acknowledged" in await reader.readuntil(b"\n\n")
        await use(6, "change_list")
        changed = await reader.readuntil(b"\n\n")
        assert b"tools/list_changed" in changed
        assert b'"io.modelcontextprotocol/subscriptionId":5' in changed
        writer.close()
        await writer.wait_closed()
        while not (record := json.loads(text_of(await use(7, "seen"))))["closed_streams"]:
            pass  # the server learns of the close in its own time; asyncio.timeout bounds us
        assert record["closed_streams"] == record["stopped"] == [5]


async def test_a_server_of_both_eras_on_stdio_stays_in_the_one_it_was_asked_in() -> None:
    async with asyncio.timeout(10), launch("good", "--era", "both") as client:
        assert b'"supportedVersions"' in await ask(
            client, request(1, "server/discover", _meta=MODERN)
        )
        assert b"-32022" in await ask(client, request(2, "initialize", **HELLO))
    async with asyncio.timeout(10), launch("good", "--discover", "silent") as client:
        await client.send(request(1, "server/discover", _meta=MODERN))
        answer = await ask(client, request(2, "initialize", **HELLO))
        assert answer.count(b"\n") == 1
    async with (
        asyncio.timeout(10),
        launch("good", "--era", "both", "--discover", "late:0.2") as client,
    ):
        await client.send(request(1, "server/discover", _meta=MODERN))
        await client.send(request(2, "initialize", **HELLO))
        assert b"-32022" in await client.read_until(b'"id":2')
        assert b'"supportedVersions"' in await client.read_until(b'"id":1')


async def test_a_crash_has_its_exit_code_and_its_last_words() -> None:
    async with asyncio.timeout(10), launch("good") as client:
        await shake_hands(client)
        await client.send(call(2, "crash"))
        assert client.process.stderr
        assert await client.process.stderr.readline() == b"crashing, as you asked\n"
        assert await client.process.wait() == 3


# Faults that are more than bytes: what must be in what comes before the next right answer.
SIGNS = {
    "stderr_50mb": b"bad, but right",
    "stray_stdout": b"DEBUG: about to do the work\n",
    "http_500_html": b"500 Internal Server Error",
    "http_200_html": b"text/html",
    "http_202_to_request": b"202 Accepted",
    "http_401": b"WWW-Authenticate: Bearer",
    "http_403": b"403 Forbidden",
    "http_404": b"404 Not Found",
    "http_429": b"Retry-After: 7",
    "http_503": b"503 Service Unavailable",
    "sse_cut_no_ids": b'"text":"b',
    "sse_cut_with_ids": b"-1\nevent: message",
    "connection_reset": b"RESET",
    "short_body": b"Content-Length: ",
    "redirect_cross_origin": b"Location: http://127.0.0.1:",
    "redirect_same_origin": b"Location: /moved/",
    "empty_body": b"Content-Length: 0",
    "wrong_content_type": b"text/plain",
    "ws_binary_frame": b"bad, but right",
    "ws_close_1011": b"the backend fell over",
    "ws_no_subprotocol": b"bad, but right",
    "half_line_exit": b'"jsonrpc":"2.0","id":2',
}
# Tested one by one below.
SPECIAL = {"exit_at_once", "silent_start", "sse_foreign_endpoint", "nothing", "dripping_headers"}
SPECIAL |= {"flood"}


async def commit(client: Probe, fault: str, number: int) -> bytes:
    """Call "bad", and return all that came up to the answer of an "ok" called next."""
    kills = transport_of(client) in FAULTS[fault].kills
    await client.send(call(number, "bad", fault=fault))
    received: bytes = getattr(client, "posts", [b""])[-1]
    if fault == "stderr_50mb":
        await client.process.stderr.readexactly(50_000_000)  # type: ignore[attr-defined]
    if kills or isinstance(client, HttpProbe):
        received += await client.read_until(b"no such marker")
    elif FAULTS[fault].outcome == "result" and fault in FRAMES:
        received += await client.read_until(b'"id":%d,"result"' % number)
    if not kills:
        answer = await ask(client, call(number + 1, "ok"))
        assert text_of(answer) == "ok"
        received += answer
    return received


def find_missing(received: bytes, fault: str, number: int) -> str | None:
    """What a fault should have sent and did not: first frame's start, last frame's end."""
    expected = FRAMES[fault](number, 1) if fault in FRAMES else [SIGNS[fault]]
    ends = (expected[0][:50_000], expected[-1][-50_000:])
    missing = [end for end in ends if end not in received]
    return f"{fault}: no {missing[0][:80]!r} in {received[:300]!r}" if missing else None


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_bad_server_commits_each_fault_and_answers_the_next_call(transport: str) -> None:
    faults = [
        name
        for name, fault in FAULTS.items()
        if transport in fault.transports - fault.kills and name not in SPECIAL
    ]
    args = ("nothing", "--delay", "0")
    async with asyncio.timeout(15), probe("bad", transport, *args) as (client, _):
        await shake_hands(client)
        numbers = range(10, 10 * len(faults) + 10, 10)
        verdicts = [
            find_missing(await commit(client, fault, number), fault, number)
            for fault, number in zip(faults, numbers, strict=True)
        ]
    assert [verdict for verdict in verdicts if verdict] == []


KILLERS = [
    (transport, name)
    for name, fault in FAULTS.items()
    for transport in sorted(fault.kills)
    if name not in SPECIAL
]


@pytest.mark.parametrize(("transport", "fault"), KILLERS)
async def test_a_bad_server_ends_the_channel(transport: str, fault: str) -> None:
    async with asyncio.timeout(10), probe("bad", transport, fault) as (client, server):
        await shake_hands(client)
        received = await commit(client, fault, 2)
        is_cut_off = transport == "ws" and fault in ("half_line_exit", "connection_reset")
        assert (b"no close frame" if is_cut_off else SIGNS[fault]) in received
        if fault == "half_line_exit":
            process = getattr(server or client, "process", None)
            assert process
            assert await process.wait() == 7


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_flood_flows_until_it_is_cancelled(transport: str) -> None:
    async with asyncio.timeout(10), probe("bad", transport, "flood") as (client, server):
        await shake_hands(client)
        cancel = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}'
        if isinstance(client, HttpProbe):
            assert server
            assert server.port
            flood = await open_request(server.port, "POST", "/mcp", call(2, "flood"))
            await flood[0].readuntil(b'"data":1000}')
            await client.send(cancel)
            assert (await flood[0].read()).endswith(b"0\r\n\r\n")
            flood[1].close()
            return
        await client.send(call(2, "flood"))
        await client.read_until(b'"data":1000}')
        await client.send(cancel)
        assert text_of(await ask(client, call(3, "ok"))) == "ok"


async def test_a_server_that_never_answers_still_answers_others_and_ends_with_its_owner() -> None:
    async with asyncio.timeout(10), launch("bad", "nothing") as client:
        await shake_hands(client)
        await client.send(call(2, "bad"))
        assert text_of(await ask(client, call(3, "ok"))) == "ok"
    async with asyncio.timeout(10), launch("bad", "silent_start") as client:
        await client.send(request(1, "initialize", **HELLO))
    assert client.process.returncode == 0
    async with asyncio.timeout(10), launch("bad", "exit_at_once") as client:
        assert await client.process.wait() == 3


async def test_headers_drip_and_a_foreign_endpoint_is_named() -> None:
    async with asyncio.timeout(10), serve("bad", "dripping_headers", "--transport", "http") as bad:
        reader, writer = await open_request(bad.port, "POST", "/mcp", call(2, "bad"))
        assert await reader.readuntil(b"xx") == b"HTTP/1.1 200 OK\r\nX-Drip: xx"
        writer.close()
    async with (
        asyncio.timeout(10),
        serve("bad", "sse_foreign_endpoint", "--transport", "sse") as bad,
    ):
        reader, writer = await open_request(bad.port, "GET", "/sse", b"")
        foreign = f"data: http://127.0.0.1:{bad.announced['foreign_port']}/messages"
        assert foreign.encode() in await reader.readuntil(b"/messages")
        writer.close()
    assert bad.process
    assert bad.process.returncode == 0


async def test_the_sdk_servers_answer_in_both_eras() -> None:
    async def check(name: str) -> None:
        async with serve(name, "--transport", "http", "--json") as server:
            headers = ("MCP-Protocol-Version: 2026-07-28", "Mcp-Method: server/discover")
            modern = HttpProbe(server.port, "/mcp", headers)
            answer = await ask(modern, request(1, "server/discover", _meta=MODERN))
            assert b'"supportedVersions":["2026-07-28"]' in answer
            legacy = HttpProbe(server.port, "/mcp")
            await shake_hands(legacy)
            assert b'"structuredContent":{"sum":3}' in await ask(legacy, call(2, "add", a=1, b=2))

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(check("sdk_mcp"))
        group.create_task(check("sdk_fastmcp"))

"""Every fault over every transport that can carry it: the caller gets the result or a clear error
within its timeout, the trace shows the bytes, and no other call is harmed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import mcplens
from mcplens.events import (
    FrameReceived,
    HttpBytesReceived,
    HttpExchangeEnded,
    HttpResponseReceived,
    ReplyUnmatched,
    StderrLine,
)
from mcplens.protocol.frames import Batch, Malformed
from tests.servers.bad import FAULTS
from tests.servers.run import serve

pytestmark = pytest.mark.slow

KIND = {"stdio": "stdio", "http": "http", "sse": "sse", "ws": "websocket"}
# Long enough for the second that an unattributable answer is given, and 40 MB on a busy machine.
SLOW = {"big_40mb": 60.0, "burst_10000": 30.0, "stderr_50mb": 60.0, "stray_stdout": 10.0}
TIMEOUT_S = 2.5

MATRIX = [
    pytest.param(name, transport, id=f"{name}-{transport}")
    for name, fault in FAULTS.items()
    for transport in sorted(fault.transports)
    if not fault.at_start and name != "flood"
]


@asynccontextmanager
async def connected(
    fault: str, transport: str, *extra: str, **options: Any
) -> AsyncIterator[mcplens.Client]:
    async with serve("bad", fault, "--transport", transport, *extra) as server:
        target: Any = server.argv if transport == "stdio" else server.url
        if transport == "stdio":
            options["cwd"] = server.cwd
        else:
            options["transport"] = KIND[transport]
        connection = mcplens.connect(
            target, protocol_version="2025-11-25", concurrency=4, ping_interval_s=0, **options
        )
        async with connection as client:
            yield client


async def call_bad(client: mcplens.Client, fault: str) -> mcplens.ToolResult:
    return await client.call_tool("bad", {}, timeout_s=SLOW.get(fault, TIMEOUT_S))


def trace(client: mcplens.Client) -> list[Any]:
    return client.bus.kept()


@pytest.mark.parametrize(("name", "transport"), MATRIX)
async def test_a_fault_harms_the_call_that_met_it_and_no_other(name: str, transport: str) -> None:
    fault = FAULTS[name]
    async with asyncio.timeout(100), connected(name, transport) as client:
        other = asyncio.ensure_future(client.call_tool("slow", {}, timeout_s=60))
        await _until_sent(client, 2)
        outcome: mcplens.ToolResult | mcplens.InspectorError
        try:
            outcome = await call_bad(client, name)
        except mcplens.InspectorError as error:
            outcome = error

        if fault.outcome == "result":
            assert isinstance(outcome, mcplens.ToolResult), outcome
            assert outcome.content[0].type == "text"
        elif fault.outcome == "error":
            assert isinstance(outcome, mcplens.InspectorError), outcome
        if isinstance(outcome, mcplens.InspectorError):
            assert outcome.details["method"] == "tools/call"
            assert outcome.message
            assert outcome.code != "INTERNAL_ERROR"
        if transport in fault.kills:
            await asyncio.gather(other, return_exceptions=True)
            _assert_shown(client, name, transport, outcome)
            return
        if (name, transport) == ("http_404", "http"):
            # 404 means that the session is over, for everything that was in flight in it.
            with pytest.raises(mcplens.HttpError, match="no longer knows our session"):
                await other
        else:
            assert (await other).content[0].text == "slow, but right"
        assert (await client.call_tool("ok", {}, timeout_s=30)).content[0].text == "ok"
        _assert_shown(client, name, transport, outcome)


async def _until_sent(client: mcplens.Client, calls: int) -> None:
    """Until the other call is on its way, so that it is in flight when the fault comes."""
    async for event in client.events():
        if (
            type(event).__name__ == "RequestStarted"
            and getattr(event, "method", "") == "tools/call"
        ):
            return
    raise AssertionError(f"{calls} calls were never started")


# What the trace must hold for a fault, beside frames: where the bytes came outside of any frame.
_AS_HTTP = {
    "http_500_html",
    "http_200_html",
    "http_202_to_request",
    "http_401",
    "http_403",
    "http_404",
    "http_429",
    "http_503",
    "redirect_cross_origin",
    "empty_body",
    "short_body",
}
_MALFORMED = {
    "invalid_json",
    "invalid_json_no_id",
    "result_and_error",
    "neither",
    "error_without_code",
    "error_string_code",
    "wrong_jsonrpc",
    "missing_jsonrpc",
    "bom",
    "nul",
    "deep_nesting",
    "deep_nesting_id_last",
    "not_json_line",
}
_UNMATCHED = {"wrong_id", "string_id", "unknown_id", "id_null_error", "duplicate_reply"}


def _assert_shown(
    client: mcplens.Client,
    name: str,
    transport: str,
    outcome: mcplens.ToolResult | mcplens.InspectorError,
) -> None:
    events = trace(client)
    messages = [event.message for event in events if isinstance(event, FrameReceived)]
    if name in _MALFORMED:
        bad = [message for message in messages if isinstance(message, Malformed)]
        # A BOM before server-sent data belongs to the stream, not to the message.
        assert bad or (name == "bom" and isinstance(outcome, mcplens.ToolResult))
        assert all(message.raw and message.reason for message in bad)
    if name == "batch":
        assert any(isinstance(message, Batch) for message in messages)
    if name in _UNMATCHED and not (name == "duplicate_reply" and transport == "http"):
        assert any(isinstance(event, ReplyUnmatched) for event in events)
    if name in _AS_HTTP:
        assert any(isinstance(event, HttpResponseReceived) for event in events)
        ended = [event for event in events if isinstance(event, HttpExchangeEnded)]
        assert ended
        assert isinstance(outcome, mcplens.HttpError)
        assert outcome.status is not None
        assert outcome.headers
    if name == "short_body":
        assert isinstance(outcome, mcplens.HttpError)
        assert outcome.body, "the body so far is kept"
    if name == "sse_cut_no_ids" and transport == "http":
        assert any(isinstance(event, HttpBytesReceived) for event in events)
    if name == "stderr_50mb":
        assert any(isinstance(event, StderrLine) for event in events)
    if name == "http_429":
        assert isinstance(outcome, mcplens.HttpError)
        assert (outcome.code, outcome.retry_after_s) == ("RATE_LIMITED", 7.0)


@pytest.mark.parametrize("name", ["invalid_json", "result_and_error", "wrong_jsonrpc", "neither"])
@pytest.mark.parametrize("transport", ["stdio", "http", "sse", "ws"])
async def test_a_malformed_reply_with_a_legible_id_fails_its_request_at_once_quoting_the_bytes(
    name: str, transport: str
) -> None:
    async with asyncio.timeout(60), connected(name, transport) as client:
        with pytest.raises(mcplens.ProtocolError) as caught:
            await client.call_tool("bad", {}, timeout_s=30)
    assert caught.value.code == "INVALID_RESPONSE"
    assert caught.value.raw
    assert caught.value.details["elapsed_s"] < 20  # it did not wait for its timeout


async def test_a_server_that_exits_at_once_is_named_with_its_exit_code_and_last_words() -> None:
    with pytest.raises(mcplens.InspectorError) as caught:
        async with asyncio.timeout(60), connected("exit_at_once", "stdio"):
            pass
    error = caught.value
    assert error.code == "SERVER_EXITED"
    assert error.details["exit_code"] == 3
    assert error.details["stderr"]
    assert "code 3" in error.message


@pytest.mark.parametrize("transport", ["stdio", "http", "sse", "ws"])
async def test_a_server_that_never_says_anything_fails_the_connect_within_its_timeout(
    transport: str,
) -> None:
    with pytest.raises(mcplens.InspectorError) as caught:
        async with (
            asyncio.timeout(60),
            connected("silent_start", transport, connection_timeout_s=1.0),
        ):
            pass
    assert caught.value.code == "CONNECTION_TIMEOUT"
    assert caught.value.details["step"]


async def test_a_foreign_endpoint_is_refused() -> None:
    with pytest.raises(mcplens.InspectorError) as caught:
        async with asyncio.timeout(60), connected("sse_foreign_endpoint", "sse"):
            pass
    assert caught.value.code == "ENDPOINT_REFUSED"


async def test_a_websocket_server_that_selects_no_subprotocol_is_connected_with_a_remark() -> None:
    async with asyncio.timeout(60), connected("ws_no_subprotocol", "ws") as client:
        assert (await client.call_tool("ok")).content[0].text == "ok"
        assert any(
            "subprotocol" in getattr(event, "message", "")
            for event in trace(client)
            if type(event).__name__ == "Remark"
        )


async def test_stray_lines_on_stdout_are_shown_and_explained_and_the_late_answer_counts() -> None:
    async with asyncio.timeout(60), connected("stray_stdout", "stdio") as client:
        result = await call_bad(client, "stray_stdout")
        assert result.content[0].text == "bad, but right"
        stray = [
            event.message
            for event in trace(client)
            if isinstance(event, FrameReceived) and isinstance(event.message, Malformed)
        ]
        assert stray
        assert all("prints to stdout" in message.reason for message in stray)


async def test_a_half_line_before_an_exit_is_in_the_trace_and_in_the_error() -> None:
    async with asyncio.timeout(60), connected("half_line_exit", "stdio") as client:
        with pytest.raises(mcplens.InspectorError) as caught:
            await call_bad(client, "half_line_exit")
        assert any(
            isinstance(event, FrameReceived) and isinstance(event.message, Malformed)
            for event in trace(client)
        )
    assert caught.value.code in ("INVALID_RESPONSE", "SERVER_EXITED")

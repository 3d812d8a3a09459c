"""What who operates a gateway sees and sets: health, status, metrics, audit log, limits."""

from __future__ import annotations

import asyncio
import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from mcplens.clock import ManualClock, SystemClock
from mcplens.config.views import GatewaySettings, Limits, View
from mcplens.errors import ServerError
from mcplens.events import Event, FrameSent, StateChanged
from mcplens.gateway.audit_log import KEPT_FILES, AuditLine, AuditLog, tail
from mcplens.inbound.limits import Limits as TransportLimits
from mcplens.known_secrets import known_secrets
from tests.gateway.harness import (
    NEW,
    OLD,
    PATIENCE_S,
    STDIO_DEMO,
    RunningGateway,
    running_gateway,
)
from tests.servers.run import ROOT

TOKEN = "gateway-token-0123456789"
VIEW_TOKEN = "view-token-0123456789"
ACCEPT = {"Accept": "application/json, text/event-stream"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "x"}},
}


async def fetch(gateway: RunningGateway, path: str, token: str | None = None) -> tuple[int, str]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        asyncio.timeout(PATIENCE_S),
        aiohttp.ClientSession() as session,
        session.get(gateway.url(path), headers=headers) as response,
    ):
        return response.status, await response.text()


async def test_anybody_learns_whether_it_is_up_and_only_its_own_token_opens_the_rest() -> None:
    view = View(name="reading", token=VIEW_TOKEN)
    async with running_gateway({"demo": STDIO_DEMO}, views=(view,), token=TOKEN) as gateway:
        assert await fetch(gateway, "/healthz") == (200, "ok\n")
        async with asyncio.timeout(PATIENCE_S):
            await gateway.gateway.settled()
        assert await fetch(gateway, "/readyz") == (200, "ok\n")
        for path in ("/status", "/metrics"):
            for wrong in (None, VIEW_TOKEN):
                status, _ = await fetch(gateway, path, wrong)
                assert status == 401, (path, wrong)
            status, text = await fetch(gateway, path, TOKEN)
            assert status == 200
            assert "demo" in text


async def test_a_gateway_that_shuts_down_is_not_ready() -> None:
    async with running_gateway({"demo": STDIO_DEMO}) as gateway:
        await gateway.gateway.ending.drain(1)
        assert await fetch(gateway, "/readyz") == (503, "shutting down\n")
        assert await fetch(gateway, "/healthz") == (200, "ok\n")


class HeldClock(SystemClock):
    """Time goes on, but a sleep ends when it is told to."""

    def __init__(self) -> None:
        self.is_over = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        await self.is_over.wait()


async def test_until_load_balancers_noticed_calls_are_served_by_a_gateway_that_shuts_down() -> None:
    async with running_gateway({"demo": STDIO_DEMO}) as gateway, gateway.connect() as client:
        clock = gateway.gateway.clock = HeldClock()
        ending = asyncio.ensure_future(gateway.gateway.ending.drain(PATIENCE_S, notice_s=5))
        await ManualClock.settle()
        assert await fetch(gateway, "/readyz") == (503, "shutting down\n")
        assert not (await client.call_tool("add", {"a": 1, "b": 2})).is_error
        clock.is_over.set()
        await ending
        with pytest.raises(ServerError, match="this call was not begun"):
            await client.call_tool("add", {"a": 1, "b": 2})
        async with (
            aiohttp.ClientSession() as session,
            session.post(gateway.url("/mcp"), json=HELLO, headers=ACCEPT) as response,
        ):
            assert (response.status, response.headers["Retry-After"]) == (503, "1")


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_call_that_a_gateway_did_not_wait_for_gets_one_error_that_says_so(
    version: str,
) -> None:
    async with (
        running_gateway({"demo": STDIO_DEMO}) as gateway,
        gateway.connect(protocol_version=version) as client,
        asyncio.timeout(PATIENCE_S),
    ):
        waiting = asyncio.ensure_future(client.call_tool("wait", {"seconds": 600}))
        await seen(gateway, lambda event: isinstance(event, FrameSent) and has_name(event, "wait"))
        await gateway.gateway.ending.drain(0)
        with pytest.raises(ServerError, match="demo may have carried it out"):
            await waiting


async def test_an_open_stream_ends_with_a_hint_when_to_come_back() -> None:
    limits = TransportLimits(retry_ms=1234)
    async with (
        running_gateway({"demo": STDIO_DEMO}, limits=limits) as gateway,
        aiohttp.ClientSession() as session,
        asyncio.timeout(PATIENCE_S),
    ):
        async with session.post(gateway.url("/mcp"), json=HELLO, headers=ACCEPT) as response:
            await response.read()  # a server that starts slowly makes it a stream
            headers = ACCEPT | {"Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
        async with session.get(gateway.url("/mcp"), headers=headers) as response:
            assert b"retry: 1234" in await response.content.readuntil(b"\n\n")
            gateway.app.close()
            assert b"retry: 1234" in await response.content.read()


async def test_a_gateway_whose_server_hangs_is_ready_after_its_startup_budget() -> None:
    silent = {"command": "cat", "args": ["/dev/zero"]}
    settings = GatewaySettings(startup_budget_s=0.05)
    async with running_gateway({"silent": silent}, settings=settings) as gateway:
        async with asyncio.timeout(PATIENCE_S):
            await gateway.gateway.settled()
        assert await fetch(gateway, "/readyz") == (200, "ok\n")


async def test_status_and_metrics_count_the_calls_of_each_server() -> None:
    async with running_gateway({"demo": STDIO_DEMO}) as gateway:
        async with gateway.connect() as client:
            await client.call_tool("add", {"a": 1, "b": 2})
            with pytest.raises(ServerError):
                await client.request("tools/call", {"name": "no-such-tool"})
            status = json.loads((await fetch(gateway, "/status"))[1])
        metrics = (await fetch(gateway, "/metrics"))[1]
    (server,) = status["servers"]
    assert (server["id"], server["status"], server["calls"]) == ("demo", "RUNNING", 1)
    assert server["lists"]["tools"]["items"] > 10
    labels = '{method="tools/call",outcome="%s",server="%s"}'
    assert f"mcplens_gateway_calls_total{labels % ('ok', 'demo')} 1.0" in metrics
    assert f"mcplens_gateway_calls_total{labels % ('refused', '')} 1.0" in metrics
    bucket = 'mcplens_gateway_call_seconds_bucket{le="+Inf",method="tools/call",server="demo"} 1.0'
    assert bucket in metrics
    assert 'mcplens_gateway_server_up{server="demo"} 1.0' in metrics
    assert "process_resident_memory_bytes" in metrics


async def test_a_method_that_only_one_client_knows_adds_no_series_of_its_own() -> None:
    async with (
        running_gateway({"demo": STDIO_DEMO}) as gateway,
        gateway.connect("/servers/demo/mcp") as client,
    ):
        for number in range(3):
            with pytest.raises(ServerError):
                await client.request(f"made/up-{number}")
        metrics = (await fetch(gateway, "/metrics"))[1]
    assert "made/up" not in metrics
    assert 'method="other"' in metrics


# -- the audit log --------------------------------------------------------------------------------


async def test_each_call_is_a_line_of_the_audit_log_without_what_was_in_it(tmp_path: Path) -> None:
    path = tmp_path / "state" / "audit.jsonl"
    async with running_gateway({"demo": STDIO_DEMO}) as gateway:
        gateway.gateway.audit_log = AuditLog(path)
        async with gateway.connect(client_info={"name": "tester", "version": "1"}) as client:
            await client.call_tool("echo", {"text": "what nobody else may read"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "nobody else" not in path.read_text()
    calls = [line for line in tail(path, 100) if line["method"] == "tools/call"]
    (line,) = calls
    assert (line["client"], line["name"], line["server"]) == ("tester", "echo", "demo")
    assert (line["outcome"], line["path"]) == ("ok", "/mcp")
    assert line["request_bytes"] > 50 < line["answer_bytes"]
    assert line["run"] == gateway.bus.run_id


async def test_of_a_long_name_the_audit_log_has_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    async with (
        running_gateway({"demo": STDIO_DEMO}) as gateway,
        gateway.connect("/servers/demo/mcp") as client,
    ):
        await client.call_tool("echo", {"text": "so that the server is connected"})
        gateway.gateway.audit_log = AuditLog(path)
        with pytest.raises(ServerError):
            await client.call_tool("x" * 100_000, {})
    (line,) = [line for line in tail(path, 100) if line["method"] == "tools/call"]
    assert line["name"] == "x" * 500


def audit_line(**changes: Any) -> AuditLine:
    given: dict[str, Any] = {
        "time": 1.0, "run": "r", "seq": 1, "client": "c", "client_id": "client-1", "path": "/mcp",
        "method": "tools/call", "name": "add", "server": "demo", "outcome": "ok", "seconds": 0.1,
        "request_bytes": 1, "answer_bytes": 1,
    }  # fmt: skip
    return AuditLine(**(given | changes))


async def test_a_secret_that_we_know_is_masked_in_the_audit_log(tmp_path: Path) -> None:
    known_secrets.learn("sk-audit-0123456789")
    log = AuditLog(tmp_path / "audit.jsonl")
    log.add(audit_line(name="x://host/sk-audit-0123456789"))
    log.close()
    assert "sk-audit" not in log.path.read_text()


async def fill(log: AuditLog, lines: int) -> None:
    for number in range(lines):
        log.add(audit_line(seq=number))
        log.flush()
    log.close()


def test_a_full_audit_log_is_set_aside_and_the_oldest_is_deleted(tmp_path: Path) -> None:
    asyncio.run(fill(AuditLog(tmp_path / "audit.jsonl", max_bytes=100), KEPT_FILES + 3))
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["audit.1.jsonl", "audit.2.jsonl", "audit.3.jsonl", "audit.4.jsonl",
                    "audit.jsonl"]  # fmt: skip
    (newest,) = tail(tmp_path / "audit.1.jsonl", 10)
    assert newest["seq"] == KEPT_FILES + 2


async def test_an_audit_log_that_cannot_be_written_stops_no_call(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)  # a folder
    assert log.problem is not None
    log.add(audit_line())
    log.close()


# -- limits ---------------------------------------------------------------------------------------


async def seen(gateway: RunningGateway, is_it: Callable[[Event], bool]) -> None:
    """Wait for an event, past or to come."""
    async for event in gateway.bus.subscribe(0):
        if is_it(event):
            return


def has_name(event: FrameSent, name: str) -> bool:
    return f'"name":"{name}"'.encode() in event.message.raw


def limited(**limits: int) -> GatewaySettings:
    return GatewaySettings(limits=Limits(**limits))


@pytest.mark.parametrize("limit", ["calls_per_client", "calls_per_server", "calls_per_view"])
async def test_a_call_beyond_the_limit_is_refused_and_one_after_it_works(limit: str) -> None:
    settings = limited(**{limit: 1}, waiting_calls=0)
    async with (
        running_gateway({"demo": STDIO_DEMO}, settings=settings) as gateway,
        gateway.connect() as client,
        asyncio.timeout(PATIENCE_S),
    ):
        waiting = asyncio.ensure_future(client.call_tool("wait", {"seconds": 600}))
        await seen(gateway, lambda event: isinstance(event, FrameSent) and has_name(event, "wait"))
        with pytest.raises(ServerError, match=r"too many calls.*limits\.callsPer"):
            await client.call_tool("add", {"a": 1, "b": 2})
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await seen(gateway, lambda event: getattr(event, "outcome", "") == "cancelled")
        await client.call_tool("add", {"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("calls_per_second", "2 calls per second (limits.callsPerSecond)"),
        (
            "calls_per_second_per_view",
            "2 calls per second at /mcp (limits.callsPerSecondPerView)",
        ),
        (
            "calls_per_second_per_server",
            "2 calls per second of demo (limits.callsPerSecondPerServer)",
        ),
    ],
)
async def test_calls_faster_than_allowed_are_refused(limit: str, told: str) -> None:
    settings = limited(**{limit: 2})
    async with running_gateway({"demo": STDIO_DEMO}, settings=settings) as gateway:
        for version in (OLD, NEW):
            async with gateway.connect(protocol_version=version) as client:
                refused = []
                for _ in range(8):  # one after the other: of 2026-07-28, each is a client
                    try:
                        await client.call_tool("add", {"a": 1, "b": 2})
                    except ServerError as error:
                        refused.append(error)
            assert refused
            assert told in refused[0].message


# -- starting -------------------------------------------------------------------------------------

# Never answers, and ends with its pipe.
SILENT: dict[str, Any] = {
    "command": sys.executable,
    "args": ["-S", "-c", "import sys; sys.stdin.read()"],
}


async def test_servers_that_hang_do_not_keep_others_from_starting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcplens.downstream.live_servers._PLACE_S", 0.05)
    hanging = {f"silent-{number}": SILENT for number in range(5)}
    async with running_gateway({**hanging, "demo": STDIO_DEMO}) as gateway:
        servers = gateway.gateway.servers
        connected = seen(
            gateway,
            lambda event: (
                isinstance(event, StateChanged)
                and (event.server_id, event.new) == ("demo", "CONNECTED")
            ),
        )
        async with asyncio.timeout(PATIENCE_S):
            await connected
        assert all(servers.connections[name].status.value == "STARTING" for name in hanging)


async def test_the_startup_budget_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = GatewaySettings(startup_budget_s=0.05)
    async with running_gateway({"silent": SILENT}, settings=settings) as gateway:
        async with asyncio.timeout(PATIENCE_S):
            await gateway.gateway.settled()

        async def waited(budget_s: float) -> None:
            raise AssertionError("it waits again")

        monkeypatch.setattr(gateway.gateway.servers, "settled", waited)
        await gateway.gateway.settled()


async def test_a_client_that_wants_logs_can_call_a_server_that_has_none() -> None:
    """A server of 2025-11-25 without logging refuses `logging/setLevel`."""
    server = {**SILENT, "args": ["-m", "bench.servers.stdio"], "cwd": str(ROOT)}
    async with (
        running_gateway({"bench": server}) as gateway,
        gateway.connect(protocol_version=NEW, log_level="info") as client,
        asyncio.timeout(PATIENCE_S),
    ):
        result = await client.call_tool("small", {"n": 1})
        assert not result.is_error

"""The owner of all live servers: starting, refreshing, and following the configuration."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from mcplens.config.model import Settings
from mcplens.downstream import live_servers
from mcplens.downstream.multi_server import MultiServerClient
from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import ConnectError
from mcplens.session.raw_calls import read_params
from mcplens.transports.base import Transport
from mcplens.transports.memory import MemoryTransport
from tests.downstream.rig import Rig, entry_of, failure
from tests.session.scripted import SILENT, BrokenTransport, ScriptedServer

CALL = read_params(b'{"name":"add","arguments":{}}')
QUIET = Settings(connection_retry_count=0)


def _tool(name: str) -> dict[str, Any]:
    return {"tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object"}}]}}


async def test_at_most_four_servers_are_started_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_servers, "_FIRST_AT_ONCE", 2)
    servers = {str(number): ScriptedServer({"tools/list": SILENT}) for number in range(5)}
    async with Rig(servers) as rig:
        assert [len(server.peers) for server in servers.values()] == [1, 1, 0, 0, 0]
        await rig.advance(live_servers._PLACE_S)  # one that hangs does not hold up the others
        assert [len(server.peers) for server in servers.values()] == [1, 1, 1, 1, 0]


def test_the_limit_of_the_first_start_is_four_or_the_number_of_processors() -> None:
    assert 1 <= live_servers._FIRST_AT_ONCE <= 4


async def test_a_server_that_fails_or_is_cancelled_does_not_touch_the_others() -> None:
    servers: dict[str, Any] = {
        "broken": lambda: BrokenTransport(ConnectError("CONNECTION_REFUSED", "refused")),
        "raises": lambda: 1 / 0,
        "one": ScriptedServer(),
    }
    async with Rig(servers) as rig:
        assert rig.status == "RUNNING"
        assert rig.servers.connections["broken"].status.value == "ERROR"
        assert rig.servers.connections["raises"].status.value == "ERROR"
        assert (await rig.one.call_tool("add")).is_success


async def test_disabled_servers_and_those_with_a_problem_are_not_started() -> None:
    problem = ConnectError("CONFIGURATION_INVALID", "no command")
    entries: dict[str, dict[str, Any]] = {"off": {"enabled": False}, "bad": {"problem": problem}}
    servers = {"off": ScriptedServer(), "bad": ScriptedServer(), "one": ScriptedServer()}
    async with Rig(servers, entries=entries) as rig:
        assert [len(server.peers) for server in servers.values()] == [0, 0, 1]
        error = await failure(rig.servers.connections["bad"].request("tools/call", CALL))
        assert error.message == "no command"


# -- the refresh loop ------------------------------------------------------------------------------


async def test_lists_are_fetched_again_at_each_interval() -> None:
    async with Rig(settings=Settings(capabilities_refresh_interval_s=40.0)) as rig:
        await rig.advance(39)
        assert len(rig.server.sent("tools/list")) == 1
        await rig.advance(1)
        assert len(rig.server.sent("tools/list")) == 2
        await rig.advance(40)
        assert len(rig.server.sent("tools/list")) == 3


async def test_an_interval_is_at_least_thirty_seconds() -> None:
    async with Rig(settings=Settings(capabilities_refresh_interval_s=1.0)) as rig:
        await rig.advance(29)
        assert len(rig.server.sent("tools/list")) == 1
        await rig.advance(1)
        assert len(rig.server.sent("tools/list")) == 2


async def test_an_interval_of_zero_switches_refreshing_off() -> None:
    async with Rig(settings=Settings(capabilities_refresh_interval_s=0.0)) as rig:
        await rig.advance(3_000)
        assert len(rig.server.sent("tools/list")) == 1


async def test_a_server_that_failed_is_tried_again_by_the_refresh() -> None:
    server = ScriptedServer()
    is_well: list[bool] = []

    def make() -> Transport:
        if is_well:
            return MemoryTransport(server.serve)
        return BrokenTransport(ConnectError("CONNECTION_REFUSED", "refused"))

    async with Rig({"one": make}, settings=QUIET) as rig:
        assert rig.status == "ERROR"
        is_well.append(True)
        await rig.advance(300)
        assert rig.status == "RUNNING"
        assert rig.names("tools") == ["add"]


# -- another configuration -------------------------------------------------------------------------


async def test_unchanged_servers_keep_their_session_when_the_configuration_changes() -> None:
    servers = {"one": ScriptedServer(), "two": ScriptedServer(), "three": ScriptedServer()}
    async with Rig(servers) as rig:
        kept = rig.one
        rig.heard.calls.clear()
        changed = msgspec.structs.replace(rig.entries[1], meta={"team": "blue"})
        rig.servers.apply([rig.entries[0], changed], rig.settings)
        rig.servers.start()
        await rig.settle()
        assert rig.one is kept
        assert [len(server.peers) for server in servers.values()] == [1, 2, 1]
        assert list(rig.servers.connections) == ["one", "two"]
        assert rig.heard.calls[0] == ("servers",)
        assert servers["two"].sent("tools/list")[-1]["params"]["_meta"]["team"] == "blue"


async def test_other_times_alone_reconnect_nothing_and_act_on_the_next_call() -> None:
    async with Rig({"one": ScriptedServer({"tools/call": SILENT})}) as rig:
        rig.heard.calls.clear()
        slower = msgspec.structs.replace(rig.settings, request_timeout_s=5.0)
        own = msgspec.structs.replace(rig.entries[0], max_retries=7, ping_interval_s=3.0)
        rig.servers.apply([own], slower)
        calling = await rig.started(failure(rig.one.request("tools/call", CALL)))
        await rig.advance(5)
        assert calling.result().details["budget_s"] == 5.0
        assert len(rig.server.peers) == 1
        assert rig.heard.calls == []


async def test_timeouts_are_changed_for_all_servers() -> None:
    servers = {"one": ScriptedServer(), "two": ScriptedServer()}
    async with Rig(servers) as rig:
        rig.servers.update_call_timeout(5.0)
        rig.servers.update_capabilities_timeout(7.0)
        for connection in rig.servers.connections.values():
            times = connection.timeouts
            assert (times.call_s, times.capabilities_s, times.connect_s) == (5.0, 7.0, 7.0)
            assert connection.live.client is not None
            assert connection.live.client.connection.config.connection_timeout_s == 7.0


async def test_an_edit_does_not_wait_for_a_server_that_hangs() -> None:
    async with Rig({"one": ScriptedServer({"tools/list": SILENT})}) as rig:
        asking = await rig.started(rig.one.get_capabilities(force_refresh=True))
        rig.servers.apply([], rig.settings)
        await rig.settle()
        assert asking.done()


# -- many servers at once --------------------------------------------------------------------------


async def test_all_capabilities_are_fetched_in_parallel_and_failures_left_out() -> None:
    servers: dict[str, Any] = {
        "a": ScriptedServer(_tool("x")),
        "slow": ScriptedServer({"tools/list": SILENT, "prompts/list": SILENT}),
        "gone": lambda: BrokenTransport(ConnectError("COMMAND_NOT_FOUND", "no such command")),
        "b": ScriptedServer(_tool("x")),
    }
    async with Rig(servers, start=False, settings=QUIET) as rig:
        client = MultiServerClient(rig.servers.connections.values())
        fetching = await rig.started(client.fetch_all_capabilities())
        await rig.advance(30)  # the slowest list alone
        found = fetching.result()
        assert list(found) == ["a", "slow", "b"]
        tools = await client.list_prefixed_tools(found)
        assert [tool.name for tool in tools] == ["a:x", "b:x"]
        assert tools[0].tool.raw == b'{"name": "x", "inputSchema": {"type": "object"}}'


async def test_connections_of_ones_own_can_be_asked_together() -> None:
    async with Rig(start=False) as rig:
        client = MultiServerClient([rig.one])
        assert [tool.name for tool in await client.list_prefixed_tools()] == ["one:add"]
        await client.close()


async def test_a_hundred_servers_can_be_closed_at_once() -> None:
    servers = {str(number): ScriptedServer() for number in range(100)}
    async with Rig(servers) as rig:
        await rig.settle()
        async with asyncio.timeout(10):
            await rig.servers.close()
        assert {each.status.value for each in rig.servers.connections.values()} == {"STOPPED"}


def test_a_connection_shows_where_it_stands() -> None:
    assert repr(ServerConnection(entry_of("one"))).startswith("<ServerConnection one STOPPED")

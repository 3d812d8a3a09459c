"""Short-lived sessions: connect, perform one operation, disconnect."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from mcplens.config.model import Settings
from mcplens.downstream.result import Failure, Success
from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import ConfigurationError, ConnectError, TimeoutExpired
from mcplens.session.raw_calls import read_params
from mcplens.transports.base import Transport
from mcplens.transports.memory import MemoryTransport
from tests.downstream.rig import Rig, entry_of
from tests.session.scripted import SILENT, BrokenTransport, Refuse, ScriptedServer, text

SETTINGS = Settings()
PER_CALL: dict[str, Any] = {"entries": {"one": {"session_mode": "per-call"}}, "start": False}


def _rig(server: Any = None, settings: Settings = SETTINGS, **options: Any) -> Rig:
    servers = {"one": ScriptedServer() if server is None else server}
    return Rig(servers, settings=settings, **PER_CALL, **options)


class Statuses:
    """The statuses that a server went through."""

    def __init__(self, rig: Rig) -> None:
        self.seen: list[str] = []
        changed = rig.heard.state_changed

        def note(server_id: str) -> None:
            changed(server_id)
            self.seen.append(rig.one.status.value)

        rig.heard.state_changed = note  # type: ignore[method-assign]


async def test_the_first_status_is_stopped() -> None:
    async with _rig() as rig:
        assert rig.status == "STOPPED"
        assert rig.one.server_id == "one"
        assert rig.one.config is rig.one.entry


async def test_each_operation_starts_runs_and_stops_with_a_client_of_its_own() -> None:
    async with _rig() as rig:
        statuses = Statuses(rig)
        result = await rig.one.call_tool("add", {"a": 1})
        assert isinstance(result, Success)
        assert result.value.content[0].text == "ok"
        assert statuses.seen == ["STARTING", "RUNNING", "STOPPED"]
        await rig.one.read_resource("a:b")
        assert len(rig.server.peers) == 2
        assert rig.server.methods.count("initialize") == 2


async def test_connect_is_a_probe_that_opens_and_closes() -> None:
    async with _rig() as rig:
        statuses = Statuses(rig)
        assert (await rig.one.connect()).is_success
        assert statuses.seen == ["STARTING", "RUNNING", "STOPPED"]
        assert rig.server.methods == ["initialize", "notifications/initialized"]


async def test_a_failed_operation_leaves_the_status_error_until_the_next_one() -> None:
    async with _rig(ScriptedServer({"tools/call": Refuse(-32000, "out of order")})) as rig:
        statuses = Statuses(rig)
        result = await rig.one.call_tool("add")
        assert isinstance(result, Failure)
        assert result.error.code == "SERVER_ERROR"
        assert statuses.seen == ["STARTING", "RUNNING", "ERROR"]
        assert "out of order" in rig.one.state.message
        assert (await rig.one.read_resource("a:b")).is_success
        assert rig.status == "STOPPED"


async def test_a_tools_own_failure_is_a_result() -> None:
    server = ScriptedServer({"tools/call": text("boom") | {"isError": True}})
    async with _rig(server) as rig:
        result = await rig.one.call_tool("add")
        assert isinstance(result, Success)
        assert result.value.is_error
        assert rig.status == "STOPPED"


async def test_a_prompt_is_got() -> None:
    async with _rig(ScriptedServer({"prompts/get": {"messages": []}})) as rig:
        assert (await rig.one.get_prompt("hello", {"a": "b"})).unwrap().messages == []


async def test_a_call_that_takes_too_long_fails_with_a_timeout_and_is_disconnected() -> None:
    async with _rig(ScriptedServer({"tools/call": SILENT})) as rig:
        calling = await rig.started(rig.one.call_tool("add"))
        await rig.advance(59)
        assert not calling.done()
        await rig.advance(1)
        error = calling.result().error
        assert isinstance(error, TimeoutExpired)
        assert error.details["budget_s"] == 60
        assert rig.status == "ERROR"


async def test_the_call_timeout_can_be_changed_for_the_next_operation() -> None:
    async with _rig(ScriptedServer({"tools/call": SILENT})) as rig:
        rig.one.update_call_timeout(3.0)
        calling = await rig.started(rig.one.call_tool("add"))
        await rig.advance(3)
        assert calling.result().error.code == "REQUEST_TIMEOUT"


async def test_a_raw_request_has_a_session_of_its_own_too() -> None:
    async with _rig() as rig:
        frame = await rig.one.request("tools/call", read_params(b'{"name":"add","arguments":{}}'))
        assert frame.value() == text()
        assert rig.status == "STOPPED"
        assert rig.one.introduction is not None


# -- connecting ----------------------------------------------------------------------------------


class Refusing:
    """Refuses so many connections, then is a server."""

    def __init__(self, times: int, error: Exception | None = None) -> None:
        self.left = times
        self.attempts = 0
        self.error = error or ConnectError("CONNECTION_REFUSED", "refused")
        self.server = ScriptedServer()

    def __call__(self) -> Transport:
        self.attempts += 1
        self.left -= 1
        if self.left >= 0:
            return BrokenTransport(self.error)
        return MemoryTransport(self.server.serve)


async def test_connecting_is_tried_three_times_with_growing_delays() -> None:
    refusing = Refusing(2)
    async with _rig(refusing) as rig:
        connecting = await rig.started(rig.one.connect())
        assert refusing.attempts == 1
        await rig.advance(0.5)
        assert refusing.attempts == 2
        await rig.advance(0.9)
        assert refusing.attempts == 2
        await rig.advance(0.1)
        assert connecting.result().is_success


async def test_the_last_error_says_how_many_attempts_there_were_and_comes_without_delay() -> None:
    refusing = Refusing(99)
    async with _rig(refusing) as rig:
        connecting = await rig.started(rig.one.connect())
        await rig.advance(1.5)
        error = connecting.result().error
        assert isinstance(error, ConnectError)
        assert error.message == "not connected after 3 attempts: refused"
        assert error.details["attempts"] == 3
        assert refusing.attempts == 3
        assert rig.one.state.message == error.message


async def test_delays_grow_up_to_eight_seconds() -> None:
    refusing = Refusing(99)
    async with _rig(refusing, Settings(connection_retry_count=8)) as rig:
        connecting = await rig.started(rig.one.connect())
        began = rig.clock.monotonic()
        at = [0.0]
        while not connecting.done():
            known = refusing.attempts
            await rig.advance(0.5)
            if refusing.attempts != known:
                at.append(rig.clock.monotonic() - began)
        delays = [later - earlier for earlier, later in itertools.pairwise(at)]
        assert delays == [0.5, 1, 2, 4, 8, 8, 8]


async def test_what_can_never_succeed_fails_at_once() -> None:
    refusing = Refusing(99, ConfigurationError("COMMAND_NOT_FOUND", "no such command"))
    async with _rig(refusing) as rig:
        result = await rig.one.connect()
        assert isinstance(result, Failure)
        assert (result.error.code, refusing.attempts) == ("COMMAND_NOT_FOUND", 1)


async def test_an_attempt_that_hangs_is_bounded_by_the_time_for_lists() -> None:
    async with _rig(lambda: BrokenTransport(), Settings(connection_retry_count=1)) as rig:
        rig.one.update_capabilities_timeout(4.0)
        connecting = await rig.started(rig.one.connect())
        await rig.advance(4)
        error = connecting.result().error
        assert isinstance(error, TimeoutExpired)
        assert error.code == "CONNECTION_TIMEOUT"
        assert error.details["phase"] == "connect"


async def test_the_time_for_lists_can_be_changed_for_the_next_operation() -> None:
    async with _rig(ScriptedServer({"tools/list": SILENT})) as rig:
        rig.one.update_capabilities_timeout(4.0)
        getting = await rig.started(rig.one.get_capabilities())
        await rig.advance(4)
        assert getting.result().unwrap().tools == ()


def test_timeouts_are_those_of_the_file_and_others_when_made_by_hand() -> None:
    by_hand = ServerConnection(entry_of("one")).timeouts
    assert (by_hand.call_s, by_hand.capabilities_s, by_hand.connect_s) == (60, 10, 10)
    of_file = ServerConnection(entry_of("one"), Settings()).timeouts
    assert (of_file.call_s, of_file.capabilities_s, of_file.connect_s) == (60, 30, 30)


# -- capabilities --------------------------------------------------------------------------------


async def test_capabilities_are_fetched_once_and_kept_for_five_minutes() -> None:
    async with _rig() as rig:
        first = (await rig.one.get_capabilities()).unwrap()
        assert [tool.name for tool in first.tools] == ["add"]
        await rig.advance(299)
        assert (await rig.one.get_capabilities()).unwrap() is first
        assert len(rig.server.peers) == 1
        await rig.advance(1)
        await rig.one.get_capabilities()
        assert len(rig.server.peers) == 2


async def test_a_forced_refresh_fetches_and_a_failed_one_falls_back_within_the_ttl() -> None:
    refusing = Refusing(0)
    async with _rig(refusing, Settings(connection_retry_count=1)) as rig:
        first = (await rig.one.get_capabilities()).unwrap()
        assert (await rig.one.get_capabilities(force_refresh=True)).unwrap() is not first
        refusing.left = 99
        again = await rig.one.get_capabilities(force_refresh=True)
        assert again.unwrap().tools == first.tools
        assert rig.status == "ERROR"
        await rig.advance(300)
        assert not (await rig.one.get_capabilities()).is_success


async def test_the_time_to_live_is_configured() -> None:
    async with _rig(settings=Settings(cache_ttl_s=5.0)) as rig:
        await rig.one.get_capabilities()
        await rig.advance(5)
        await rig.one.get_capabilities()
        assert len(rig.server.peers) == 2


async def test_callers_at_once_share_one_fetch() -> None:
    async with _rig(ScriptedServer({"tools/list": SILENT})) as rig:
        first = await rig.started(rig.one.get_capabilities())
        second = await rig.started(rig.one.get_capabilities())
        await rig.advance(30)
        assert first.result().unwrap() is second.result().unwrap()
        assert len(rig.server.peers) == 1


async def test_lists_are_fetched_in_parallel_and_one_that_hangs_is_empty() -> None:
    server = ScriptedServer({"tools/list": SILENT, "prompts/list": SILENT})
    server.answers["resources/list"] = {"resources": [{"uri": "a:b", "name": "a"}]}
    async with _rig(server) as rig:
        getting = await rig.started(rig.one.get_capabilities())
        assert {"tools/list", "resources/list", "prompts/list"} <= set(server.methods)
        await rig.advance(29)
        assert not getting.done()
        await rig.advance(1)  # not twice as long, though two of them hang
        found = getting.result().unwrap()
        assert (len(found.tools), len(found.resources)) == (0, 1)
        assert rig.one.lists["tools"].error is not None


async def test_a_list_that_fails_is_empty_and_its_last_good_items_are_kept_beside_it() -> None:
    async with _rig() as rig:
        await rig.one.get_capabilities()
        rig.server.answers["tools/list"] = Refuse(-32603, "later")
        found = (await rig.one.get_capabilities(force_refresh=True)).unwrap()
        assert found.tools == ()
        assert rig.names("tools") == ["add"]
        assert rig.one.lists["tools"].is_stale


async def test_categories_that_the_server_does_not_announce_are_skipped() -> None:
    async with _rig(ScriptedServer(capabilities={"prompts": {}})) as rig:
        await rig.one.get_capabilities()
        await rig.one.get_capabilities(force_refresh=True)
        asked = [method for method in rig.server.methods if method.endswith("/list")]
        assert asked == ["prompts/list", "prompts/list"]
        assert not rig.one.lists["tools"].is_supported


async def test_a_fetch_fails_only_without_a_connection() -> None:
    nothing = {f"{kind}/list": Refuse(-32603) for kind in ("tools", "resources", "prompts")}
    async with _rig(ScriptedServer(nothing)) as rig:
        assert (await rig.one.get_capabilities()).is_success
    async with _rig(Refusing(9), Settings(connection_retry_count=1)) as rig:
        assert not (await rig.one.get_capabilities()).is_success


@pytest.mark.parametrize("is_cancelled", [True, False])
async def test_nothing_is_left_open(is_cancelled: bool) -> None:
    async with _rig(ScriptedServer({"tools/call": SILENT})) as rig:
        calling = await rig.started(rig.one.call_tool("add"))
        if is_cancelled:
            calling.cancel()
        else:
            await rig.one.close()
        await rig.settle()
        assert calling.done()
        assert rig.status == "STOPPED"
        rig.server.send(b"nobody reads this")

"""The ping loop: what is shown, when a server counts as dead, and when it does not."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from mcplens.events import PingAnswered, PingUnanswered, StateChanged

from .scripted import SILENT, STATELESS, Refuse, Rig, ScriptedServer, failure


async def test_a_ping_leaves_every_30_seconds_and_its_latency_is_shown() -> None:
    async with Rig() as rig:
        await rig.advance(29.9)
        assert rig.server.sent("ping") == []
        await rig.advance(60.1)
        assert len(rig.server.sent("ping")) == 3
        assert len(rig.events(PingAnswered)) == 3
        assert rig.client.connection.latency_s == 0.0


async def test_an_unanswered_ping_is_shown_after_30_seconds() -> None:
    async with Rig(ScriptedServer({"ping": SILENT})) as rig:
        await rig.advance(59.9)
        assert rig.events(PingUnanswered) == []
        await rig.advance(0.1)
        (shown,) = rig.events(PingUnanswered)
        assert (shown.in_a_row, shown.timeout_s) == (1, 30.0)
        assert rig.state == "CONNECTED"


async def test_two_unanswered_pings_and_silence_mean_that_the_server_is_lost() -> None:
    async with Rig(ScriptedServer({"ping": SILENT}), max_retries=3) as rig:
        await rig.advance(119.9)
        assert rig.state == "CONNECTED"
        await rig.advance(0.1)
        assert [event.in_a_row for event in rig.events(PingUnanswered)] == [1, 2]
        assert rig.state == "ERROR"
        lost = rig.events(StateChanged)[-1]
        assert lost.transition == "connection_lost"
        assert lost.error is not None
        assert "pings in a row" in lost.error["message"]
        await rig.advance(1)
        assert rig.state == "CONNECTED"


async def test_after_a_reconnect_there_is_one_ping_loop_and_not_two() -> None:
    server = ScriptedServer({"ping": SILENT})
    async with Rig(server, max_retries=3) as rig:
        for _ in range(3):
            await rig.advance(120)
            assert rig.state == "ERROR"
            await rig.advance(1)
            assert rig.state == "CONNECTED"
        server.answers["ping"] = {}
        before = len(server.sent("ping"))
        await rig.advance(300)
        assert len(server.sent("ping")) - before == 10


async def test_a_server_that_refuses_ping_is_alive() -> None:
    async with Rig(ScriptedServer({"ping": Refuse(-32601)})) as rig:
        await rig.advance(300)
        assert rig.events(PingUnanswered) == []
        assert rig.state == "CONNECTED"


async def test_a_server_is_not_lost_while_a_call_is_in_flight() -> None:
    server = ScriptedServer({"ping": SILENT, "tools/call": SILENT})
    async with Rig(server, config={"request_timeout_s": 1_000.0}) as rig:
        await rig.call()
        await rig.advance(600)
        assert rig.state == "CONNECTED"
        assert rig.events(PingUnanswered)[-1].in_a_row >= 9
        server.reply(server.sent("tools/call")[0]["id"], {"content": []})


async def test_a_call_that_bypasses_the_queue_keeps_the_server_alive_too() -> None:
    server = ScriptedServer({"ping": SILENT, "tasks/result": SILENT, "raw": SILENT})
    raw = b'{"jsonrpc":"2.0","id":"r","method":"raw"}'
    starts: tuple[Callable[[Rig], Coroutine[Any, Any, object]], ...] = (
        lambda rig: rig.client.request("tasks/result", {"taskId": "t"}, timeout_s=1_000),
        lambda rig: rig.client.send_raw(raw, timeout_s=1_000),
    )
    for start in starts:
        async with Rig(server) as rig:
            call = await rig.started(start(rig))
            await rig.advance(600)
            assert not call.done()
            assert rig.state == "CONNECTED"


async def test_a_server_is_lost_once_no_call_is_in_flight_any_more() -> None:
    server = ScriptedServer({"ping": SILENT, "tools/call": SILENT})
    async with Rig(server) as rig:
        call = await rig.call(timeout_s=200)
        await rig.advance(199)
        assert rig.state == "CONNECTED"
        await rig.advance(60)
        assert failure(call).code == "REQUEST_TIMEOUT"
        assert rig.state == "DISCONNECTED"


async def test_a_server_is_not_lost_while_anything_comes_from_it() -> None:
    server = ScriptedServer({"ping": SILENT})
    async with Rig(server) as rig:
        for _ in range(20):
            await rig.advance(45)
            server.notify("notifications/message", {"level": "info", "data": "alive"})
        assert rig.state == "CONNECTED"
        assert rig.events(PingUnanswered)


async def test_something_that_comes_between_two_pings_counts_as_life() -> None:
    server = ScriptedServer({"ping": SILENT})
    async with Rig(server) as rig:
        await rig.advance(75)  # the first ping is over, the second has not left
        server.notify("notifications/message", {"level": "info", "data": "alive"})
        await rig.advance(45)
        assert [event.in_a_row for event in rig.events(PingUnanswered)] == [1, 2]
        assert rig.state == "CONNECTED"
        await rig.advance(60)
        assert rig.state == "DISCONNECTED"


async def test_something_that_comes_during_the_first_ping_counts_as_life() -> None:
    server = ScriptedServer({"ping": SILENT})
    async with Rig(server) as rig:
        await rig.advance(45)
        server.notify("notifications/message", {"level": "info", "data": "alive"})
        await rig.advance(75)
        assert rig.state == "CONNECTED"


async def test_an_answered_ping_starts_the_count_anew() -> None:
    server = ScriptedServer({"ping": SILENT})
    async with Rig(server) as rig:
        await rig.advance(60)
        server.answers["ping"] = {}
        await rig.advance(30)
        server.answers["ping"] = SILENT
        await rig.advance(60)
        assert [event.in_a_row for event in rig.events(PingUnanswered)] == [1, 1]
        assert rig.state == "CONNECTED"


async def test_the_interval_can_be_chosen_and_zero_switches_the_loop_off() -> None:
    async with Rig(config={"ping_interval_s": 5.0}) as rig:
        await rig.advance(60)
        assert len(rig.server.sent("ping")) == 12
    async with Rig(config={"ping_interval_s": 0.0}) as rig:
        await rig.advance(6_000)
        assert rig.server.sent("ping") == []


async def test_2026_07_28_has_no_ping_loop_and_asks_latency_by_discover() -> None:
    async with Rig(ScriptedServer(is_stateless=True), protocol_version=STATELESS) as rig:
        await rig.advance(6_000)
        assert rig.server.methods == ["server/discover"]
        assert await rig.client.ping() == 0.0
        assert rig.server.methods == ["server/discover", "server/discover"]


async def test_the_ping_loop_ends_with_the_connection() -> None:
    async with Rig() as rig:
        await rig.client.disconnect()
        await rig.advance(600)
        assert rig.server.sent("ping") == []
        assert rig.clock.timer_count == 0

"""After a reconnect, what the user had asked for is asked for again; calls are not."""

from __future__ import annotations

from mcplens.events import ResourceRefreshed

from .scripted import SKILLS, STATELESS, Refuse, Rig, ScriptedServer


async def reconnected(rig: Rig) -> None:
    rig.server.leave()
    await rig.settle()
    rig.server.received.clear()
    await rig.advance(1)
    assert rig.state == "CONNECTED"


async def test_subscriptions_and_log_level_are_restored() -> None:
    async with Rig(max_retries=3) as rig:
        for uri in ("file:///a", "file:///b", "file:///c"):
            await rig.client.subscribe(uri)
        await rig.client.unsubscribe("file:///b")
        await rig.client.set_level("warning")
        await reconnected(rig)
        uris = [message["params"]["uri"] for message in rig.server.sent("resources/subscribe")]
        assert uris == ["file:///a", "file:///c"]
        (level,) = rig.server.sent("logging/setLevel")
        assert level["params"] == {"level": "warning"}
        rig.server.notify("notifications/resources/updated", {"uri": "file:///c"})
        await rig.settle()
        assert [event.uri for event in rig.events(ResourceRefreshed)] == ["file:///c"]


async def test_without_any_nothing_is_sent() -> None:
    async with Rig(max_retries=3) as rig:
        await rig.client.list_tools()
        await reconnected(rig)
        assert rig.server.methods == ["initialize", "notifications/initialized"]


async def test_what_cannot_be_restored_is_told_and_the_rest_is_restored() -> None:
    async with Rig(max_retries=3) as rig:
        await rig.client.subscribe("file:///a")
        await rig.client.set_level("info")
        rig.server.answers["resources/subscribe"] = Refuse(-32002, "gone")
        await reconnected(rig)
        assert any("gone" in remark for remark in rig.remarks())
        assert len(rig.server.sent("logging/setLevel")) == 1


async def test_a_level_that_was_refused_is_not_restored() -> None:
    server = ScriptedServer({"logging/setLevel": Refuse(-32602, "no")})
    async with Rig(server, max_retries=1) as rig:
        task = await rig.started(rig.client.set_level("nonsense"))
        assert task.exception() is not None
        await reconnected(rig)
        assert rig.server.sent("logging/setLevel") == []


async def test_the_log_level_of_2026_07_28_is_in_the_envelope_again() -> None:
    server = ScriptedServer(is_stateless=True)
    async with Rig(server, protocol_version=STATELESS, max_retries=3) as rig:
        await rig.client.set_level("debug")
        await reconnected(rig)
        await rig.client.call_tool("add")
        (call,) = server.sent("tools/call")
        assert call["params"]["_meta"]["io.modelcontextprotocol/logLevel"] == "debug"


async def test_handlers_stay() -> None:
    async with Rig(max_retries=3, handlers={"roots/list": lambda request: {"roots": []}}) as rig:
        heard: list[object] = []
        rig.client.set_notification_handler("notifications/x", heard.append)
        await reconnected(rig)
        assert rig.server.sent("initialize")[0]["params"]["capabilities"] == {"roots": {}, **SKILLS}
        rig.server.ask("q", "roots/list")
        rig.server.notify("notifications/x", {"a": 1})
        await rig.settle()
        assert rig.server.answer_to("q") is not None
        assert heard == [{"a": 1}]


async def test_restoring_waits_for_a_person_who_disconnects_and_connects() -> None:
    async with Rig() as rig:
        await rig.client.subscribe("file:///a")
        await rig.client.disconnect()
        rig.server.received.clear()
        await rig.client.connect()
        await rig.settle()
        assert len(rig.server.sent("resources/subscribe")) == 1

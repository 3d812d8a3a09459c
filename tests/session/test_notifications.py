"""LOGIC's seven notifications, the unknown ones, and what a burst of them costs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcplens.events import (
    FrameReceived,
    ListRefreshed,
    LogReceived,
    NotificationReceived,
    ProgressReceived,
    ResourceRefreshed,
)

from .scripted import SILENT, Refuse, Rig, ScriptedServer

LISTS = [
    ("notifications/tools/list_changed", "tools/list", "list_tools"),
    ("notifications/resources/list_changed", "resources/list", "list_resources"),
    ("notifications/resources/list_changed", "resources/templates/list", "list_resource_templates"),
    ("notifications/prompts/list_changed", "prompts/list", "list_prompts"),
]


@pytest.mark.parametrize(("notification", "method", "operation"), LISTS)
async def test_a_list_that_was_fetched_is_fetched_again_when_it_changed(
    notification: str, method: str, operation: str
) -> None:
    async with Rig() as rig:
        await getattr(rig.client, operation)()
        rig.server.notify(notification)
        await rig.settle()
        assert len(rig.server.sent(method)) == 2
        assert len(rig.events(ListRefreshed)) == 1
        (shown,) = rig.events(NotificationReceived)
        assert shown.method == notification


@pytest.mark.parametrize(("notification", "method", "operation"), LISTS)
async def test_a_list_that_was_never_fetched_is_left_alone(
    notification: str, method: str, operation: str
) -> None:
    async with Rig() as rig:
        rig.server.notify(notification)
        await rig.settle()
        assert rig.server.sent(method) == []
        assert rig.events(ListRefreshed) == []


@pytest.mark.parametrize(("notification", "method", "operation"), LISTS)
async def test_a_burst_of_a_thousand_changes_costs_one_or_two_fetches(
    notification: str, method: str, operation: str
) -> None:
    async with Rig() as rig:
        await getattr(rig.client, operation)()
        for _ in range(1_000):
            rig.server.notify(notification)
        await rig.advance(1)
        assert 1 <= len(rig.server.sent(method)) - 1 <= 2
        assert len(rig.events(NotificationReceived)) == 1_000


async def test_a_change_during_the_refetch_is_not_missed() -> None:
    async with Rig() as rig:
        await rig.client.list_tools()
        rig.server.answers["tools/list"] = SILENT
        rig.server.notify("notifications/tools/list_changed")
        await rig.settle()
        old = rig.server.sent("tools/list")[-1]["id"]
        for _ in range(10):
            rig.server.notify("notifications/tools/list_changed")
        await rig.settle()
        newest = {"tools": [{"name": "newest", "inputSchema": {}}]}
        rig.server.answers["tools/list"] = newest
        rig.server.reply(old, {"tools": []})
        await rig.settle()
        assert len(rig.server.sent("tools/list")) == 3
        assert [tool.name for tool in rig.client.catalog.known("tools") or []] == ["newest"]


async def test_a_change_during_the_first_fetch_is_not_missed() -> None:
    async with Rig(ScriptedServer({"tools/list": SILENT})) as rig:
        fetching = await rig.started(rig.client.list_tools())
        rig.server.notify("notifications/tools/list_changed")
        await rig.settle()
        (first,) = rig.server.sent("tools/list")
        rig.server.answers["tools/list"] = {"tools": [{"name": "newest", "inputSchema": {}}]}
        rig.server.reply(first["id"], {"tools": []})
        assert await fetching == []
        await rig.settle()
        assert len(rig.server.sent("tools/list")) == 2
        assert [tool.name for tool in rig.client.catalog.known("tools") or []] == ["newest"]


async def test_a_refetch_takes_all_pages() -> None:
    def pages(request: dict[str, Any]) -> Any:
        if "cursor" in request.get("params", {}):
            return {"tools": [{"name": "b", "inputSchema": {}}]}
        return {"tools": [{"name": "a", "inputSchema": {}}], "nextCursor": "2"}

    async with Rig(ScriptedServer({"tools/list": pages})) as rig:
        await rig.client.list_tools()
        rig.server.notify("notifications/tools/list_changed")
        await rig.settle()
        assert [event.count for event in rig.events(ListRefreshed)] == [2]
        assert len(rig.server.sent("tools/list")) == 4


async def test_a_refetch_that_fails_is_shown_and_the_old_list_stays() -> None:
    async with Rig() as rig:
        await rig.client.list_tools()
        rig.server.answers["tools/list"] = Refuse(-32603, "broken")
        rig.server.notify("notifications/tools/list_changed")
        await rig.settle()
        (refreshed,) = rig.events(ListRefreshed)
        assert refreshed.error is not None
        assert "broken" in refreshed.error["message"]
        assert [tool.name for tool in rig.client.catalog.known("tools") or []] == ["add"]


@pytest.mark.parametrize("turns", range(4))
async def test_a_refetch_cut_off_by_a_disconnect_does_not_stop_later_ones(turns: int) -> None:
    async with Rig() as rig:
        await rig.client.list_tools()
        rig.server.notify("notifications/tools/list_changed")
        for _ in range(turns):
            await asyncio.sleep(0)
        await rig.client.disconnect()
        await rig.client.connect()
        before = len(rig.server.sent("tools/list"))
        rig.server.notify("notifications/tools/list_changed")
        await rig.settle()
        assert len(rig.server.sent("tools/list")) == before + 1


async def test_a_subscribed_resource_is_read_again_when_it_changed() -> None:
    contents = {"contents": [{"uri": "file:///a", "text": "new"}]}
    async with Rig(ScriptedServer({"resources/read": contents})) as rig:
        await rig.client.subscribe("file:///a")
        rig.server.notify("notifications/resources/updated", {"uri": "file:///a"})
        await rig.settle()
        assert [event.uri for event in rig.events(ResourceRefreshed)] == ["file:///a"]
        assert rig.client.catalog.resources["file:///a"].contents[0].text == "new"


async def test_a_resource_that_is_not_subscribed_is_not_read() -> None:
    async with Rig() as rig:
        await rig.client.subscribe("file:///a")
        await rig.client.unsubscribe("file:///a")
        rig.server.notify("notifications/resources/updated", {"uri": "file:///a"})
        rig.server.notify("notifications/resources/updated", {"uri": "file:///b"})
        rig.server.notify("notifications/resources/updated", {"uri": 5})
        rig.server.notify("notifications/resources/updated")
        await rig.settle()
        assert rig.server.sent("resources/read") == []
        assert len(rig.events(NotificationReceived)) == 4


async def test_a_part_of_a_subscribed_resource_is_read_and_its_neighbour_is_not() -> None:
    async with Rig() as rig:
        await rig.client.subscribe("file:///dir")
        rig.server.notify("notifications/resources/updated", {"uri": "file:///dir/part"})
        rig.server.notify("notifications/resources/updated", {"uri": "file:///directory"})
        await rig.settle()
        read = [message["params"]["uri"] for message in rig.server.sent("resources/read")]
        assert read == ["file:///dir/part"]


async def test_a_burst_of_updates_of_one_resource_costs_one_or_two_reads() -> None:
    async with Rig() as rig:
        await rig.client.subscribe("file:///a")
        for _ in range(1_000):
            rig.server.notify("notifications/resources/updated", {"uri": "file:///a"})
        await rig.advance(1)
        assert 1 <= len(rig.server.sent("resources/read")) <= 2


async def test_a_log_message_is_shown_with_level_logger_and_data() -> None:
    async with Rig() as rig:
        params = {"level": "warning", "logger": "db", "data": {"slow": 3}}
        rig.server.notify("notifications/message", params)
        rig.server.notify("notifications/message", {"level": 5, "logger": 5})
        await rig.settle()
        first, odd = rig.events(LogReceived)
        assert (first.level, first.logger, first.data) == ("warning", "db", {"slow": 3})
        assert (odd.level, odd.logger, odd.data) == ("5", None, None)


async def test_progress_of_a_request_is_shown_with_its_request() -> None:
    async with Rig(ScriptedServer({"tools/call": SILENT})) as rig:
        await rig.call()
        rig.server.progress(rig.entry().id, 0.5, total=1, message="half")
        await rig.settle()
        (shown,) = rig.events(ProgressReceived)
        assert (shown.request_id, shown.progress) == (rig.entry().id, 0.5)
        assert (shown.total, shown.message) == (1, "half")


async def test_a_cancellation_by_the_server_is_shown() -> None:
    async with Rig() as rig:
        rig.server.notify("notifications/cancelled", {"requestId": 5, "reason": "why"})
        await rig.settle()
        (shown,) = rig.events(NotificationReceived)
        assert shown.params == {"requestId": 5, "reason": "why"}


async def test_an_unknown_notification_is_shown() -> None:
    async with Rig() as rig:
        rig.server.notify("notifications/of/the/future", {"x": 1})
        await rig.settle()
        (shown,) = rig.events(NotificationReceived)
        assert (shown.method, shown.params) == ("notifications/of/the/future", {"x": 1})


@pytest.mark.parametrize("params", [[1, 2], "text", 5, None])
async def test_params_that_are_no_object_do_no_harm(params: Any) -> None:
    methods = {notification for notification, _, _ in LISTS} | {
        "notifications/resources/updated",
        "notifications/progress",
        "notifications/cancelled",
        "notifications/message",
        "notifications/subscriptions/acknowledged",
    }
    async with Rig() as rig:
        for method in sorted(methods):
            rig.server.send_json({"jsonrpc": "2.0", "method": method, "params": params})
        await rig.settle()
        assert (await rig.client.call_tool("add")).content


async def test_params_that_cannot_be_decoded_are_told_and_do_no_harm() -> None:
    async with Rig() as rig:
        rig.server.send(
            b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":'
            + b"9" * 5_000
            + b"}}"
        )
        await rig.settle()
        assert (await rig.client.call_tool("add")).content
        assert rig.events(LogReceived) or any("cannot be read" in r for r in rig.remarks())


async def test_a_burst_of_10000_notifications_is_taken_and_the_next_call_is_well() -> None:
    async with Rig() as rig:
        before = rig.bus.last_seq
        received = 0
        for _ in range(10):
            for _ in range(1_000):
                rig.server.notify("notifications/message", {"level": "info", "data": "x"})
            await rig.settle()
            kept = [e for e in rig.bus.kept() if e.seq > before]
            received += sum(isinstance(event, FrameReceived) for event in kept)
            before = rig.bus.last_seq
        assert received == 10_000
        assert (await rig.client.call_tool("add")).content


# -- handlers of the user's --------------------------------------------------------------------


async def test_a_handler_hears_its_notification_and_a_star_hears_the_rest() -> None:
    heard: list[tuple[str, Any]] = []

    async def hear_later(params: Any) -> None:
        heard.append(("message", params))

    async with Rig() as rig:
        rig.client.set_notification_handler("notifications/message", hear_later)
        rig.client.set_notification_handler("*", lambda params: heard.append(("*", params)))
        rig.server.notify("notifications/message", {"level": "info", "data": 1})
        rig.server.notify("notifications/other", {"x": 1})
        await rig.settle()
        assert ("message", {"level": "info", "data": 1}) in heard
        assert ("*", {"x": 1}) in heard
        rig.client.set_notification_handler("notifications/message", None)
        rig.client.set_notification_handler("*", None)
        rig.server.notify("notifications/message", {"level": "info", "data": 2})
        await rig.settle()
        assert len(heard) == 2


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_handler_that_fails_is_told_and_the_session_goes_on(is_async: bool) -> None:
    def broken(params: Any) -> None:
        raise RuntimeError("handler bug")

    async def broken_later(params: Any) -> None:
        broken(params)

    async with Rig() as rig:
        handler = broken_later if is_async else broken
        rig.client.set_notification_handler("notifications/message", handler)
        rig.server.notify("notifications/message", {"level": "info", "data": 1})
        await rig.settle()
        assert any("handler bug" in remark for remark in rig.remarks())
        assert (await rig.client.call_tool("add")).content

"""Events reach the page in order, are resumed after a break, and never wait for a slow page."""

from __future__ import annotations

import asyncio
import json

import pytest

from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.downstream.bus_reader import BusReader
from mcplens.events import LogReceived, Remark, StderrLine
from mcplens.store.database import Database
from mcplens.store.rows import Row
from mcplens.store.segments import LOST_BYTES
from mcplens.web import feed as feeds
from mcplens.web import outbox
from mcplens.web import socket as sockets
from mcplens.web.event_rows import LOG_BYTES, EventEncoder, event_view
from mcplens.web.feed import Feed
from mcplens.web.messages import CommandReply
from mcplens.web.outbox import encoded
from mcplens.web.registry import LATEST_VIEWS

from .harness import Page, Refusal, Site


async def test_events_come_in_order_and_without_a_gap(page: Page) -> None:
    await page.connected("demo")
    await page.call("CallTool", server_id="demo", name="echo", arguments={"text": "hello"})

    def is_over() -> bool:
        return any((e["kind"], e["method"]) == ("RequestEnded", "tools/call") for e in page.events)

    await page.until(is_over)
    seqs = [event["seq"] for event in page.events]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
    sent = next(e for e in page.events if e["kind"] == "FrameSent" and e["method"] == "tools/call")
    assert '"hello"' in sent["head"]
    reply = next(
        e
        for e in page.events
        if e["kind"] == "FrameReceived" and e["request_id"] == sent["request_id"]
    )
    assert (reply["method"], reply["status"]) == ("tools/call", "result")


async def test_a_page_that_comes_back_gets_what_it_has_not_seen(web: Site) -> None:
    async with web.page() as first:
        await first.connected("demo")
        await first.until(lambda: first.last_seq >= web.workspace.bus.last_seq)
        seen, run_id = first.last_seq, first.hello["run_id"]
    web.workspace.bus.publish(Remark(message="while nobody looked"), "demo")
    async with web.page({"run_id": run_id, "seq": seen}) as second:
        assert second.hello["is_resumed"]
        await second.until(lambda: second.events)
        assert second.events[0]["seq"] == seen + 1
        assert second.events[0]["detail"] == {"message": "while nobody looked"}


async def test_a_page_of_another_run_starts_afresh_with_the_newest_events(
    web: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        web.workspace.bus.publish(Remark(message=str(number)), "demo")
    monkeypatch.setattr(sockets, "BACKLOG", 10)
    async with web.page({"run_id": "another", "seq": 7}) as page:
        assert not page.hello["is_resumed"]
        await page.until(lambda: len(page.events) == 10)
        assert [event["seq"] for event in page.events] == list(range(41, 51))


async def test_two_pages_see_the_same(web: Site) -> None:
    async with web.page() as one, web.page() as other:
        await one.connected("demo")
        assert (await other.in_state("demo", "CONNECTED"))["server_info"]
        await one.until(lambda: one.last_seq >= web.workspace.bus.last_seq)
        await other.until(lambda: other.last_seq >= web.workspace.bus.last_seq)
        assert one.events == other.events


def test_a_row_whose_body_is_gone_says_so_in_its_place() -> None:
    row = Row(1, 0.0, 0.0, "s", "FrameReceived", status="result", detail={LOST_BYTES: 102_400})
    view = event_view("run", row)
    assert (view.head, view.malformed) == ("102,400 bytes are not recorded", None)


def test_a_reader_that_fell_behind_is_told_what_it_missed() -> None:
    clock = ManualClock()
    bus = Bus(clock, max_events=100)
    follower = BusReader(bus, clock)
    feed = Feed(bus, follower)
    feed.join(lambda: None, 0)
    for number in range(250):
        bus.publish(Remark(message=str(number)), "s")
    follower.catch_up()
    missed = feed.after(0)
    assert missed is not None
    assert missed.is_missed
    assert (missed.first_seq, missed.last_seq) == (1, 150)
    batch = feed.after(missed.last_seq)
    assert batch is not None
    assert (batch.first_seq, batch.last_seq) == (151, 250)
    assert feed.after(250) is None


def test_what_the_feed_keeps_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "MOST_BYTES", 8 * 1024 * 1024)
    clock = ManualClock()
    bus = Bus(clock, max_events=100_000)
    follower = BusReader(bus, clock)
    feed = Feed(bus, follower)
    feed.join(lambda: None, 0)
    for _ in range(3_000):
        bus.publish(
            LogReceived(
                level="info",
                logger=None,
                data="x" * 5_000,
                request_seq=None,
                frame_seq=None,
                call_id=None,
            ),
            "s",
        )
    follower.catch_up()
    assert feed._bytes <= feeds.MOST_BYTES
    missed = feed.after(0)
    assert missed is not None
    assert missed.is_missed
    batch = feed.after(missed.last_seq)
    assert batch is not None
    assert sum(len(bytes(event)) for event in batch.events) < feeds.BATCH_BYTES * 2


def test_while_nobody_looks_nothing_is_encoded() -> None:
    clock = ManualClock()
    bus = Bus(clock)
    follower = BusReader(bus, clock)
    feed = Feed(bus, follower)
    bus.publish(Remark(message="x"), "s")
    follower.catch_up()
    assert feed.after(0) is None


def test_an_event_of_any_size_and_text_becomes_a_short_row() -> None:
    clock = ManualClock()
    bus = Bus(clock)
    bus.publish(
        LogReceived(
            level="info",
            logger=None,
            data={"text": "x" * 1_000_000},
            request_seq=None,
            frame_seq=None,
            call_id=None,
        ),
        "s",
    )
    bus.publish(StderrLine(pid=7, data=b"\xff\xfe" * 1_000_000, request_seq=None), "s")
    bus.publish(
        LogReceived(
            level="info",
            logger="\ud800",
            data={"\ud800": "\udfff"},
            request_seq=None,
            frame_seq=None,
            call_id=None,
        ),
        "s",
    )
    encoded = EventEncoder("r").encode(bus.since(0))
    rows = [json.loads(row) for row in encoded]
    assert rows[0]["is_cut"]
    assert rows[1]["is_cut"]
    assert all(len(row) < LOG_BYTES * 4 for row in encoded)
    assert rows[1]["size_bytes"] == 2_000_000
    assert rows[2]["kind"] == "LogReceived"


def test_a_row_has_a_log_line_whole_unless_it_is_very_long() -> None:
    bus = Bus(ManualClock())
    bus.publish(
        LogReceived(
            level="info",
            logger=None,
            data={"text": "x" * 12_000},
            request_seq=None,
            frame_seq=None,
            call_id=None,
        ),
        "s",
    )
    bus.publish(StderrLine(pid=7, data=b"y" * 12_000, request_seq=None), "s")
    said, written = [json.loads(row) for row in EventEncoder("r").encode(bus.since(0))]
    assert said["detail"]["data"] == {"text": "x" * 12_000}
    assert written["head"] == "y" * 12_000
    assert (said["is_cut"], written["is_cut"]) == (False, False)


async def test_a_recording_that_fails_is_told_to_pages_that_are_open(
    web: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left")

    async with web.page() as page:
        assert page.hello["recording_problem"] is None
        monkeypatch.setattr(Database, "add", fail)
        web.workspace.bus.publish(Remark(message="not recorded"), "demo")
        told = await page.until(lambda: page.things.get(("recording", "")))
        assert told == {"problem": "not recorded: no space left"}


async def test_a_thing_that_cannot_be_shown_hides_no_other(
    web: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> object:
        raise ValueError("a bug")

    async with web.page() as page:
        monkeypatch.setitem(LATEST_VIEWS, "servers", broken)
        web.workspace.changed("servers", "demo", "demo")
        web.workspace.changed("settings", "taskTtlSeconds")
        await page.until(lambda: ("settings", "taskTtlSeconds") in page.things)
        assert not [one for one in page.changes if one["what"] == "servers"]
        assert "cannot be shown on the page" in caplog.text
    monkeypatch.setattr(sockets, "server_view", broken)
    web.workspace.new_server("other", {"command": "x"}, {})
    async with web.page() as page:
        assert page.hello["servers"] == []


async def test_a_page_that_can_no_longer_be_told_anything_is_closed_so_that_it_comes_back(
    web: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with web.socket() as socket:
        await socket.send(json.dumps({"type": "Resume", "id": 1}))
        assert json.loads(await socket.recv())["type"] == "Hello"
        with monkeypatch.context() as patch:
            patch.setattr(outbox.Outbox, "_next_events", lambda self: 1 / 0)
            web.workspace.bus.publish(Remark(message="x"), "demo")
            async with asyncio.timeout(20):
                await socket.wait_closed()
        assert socket.close_code == 1001
    async with web.page() as page:
        assert page.hello["servers"]


async def test_a_reply_that_cannot_be_written_is_a_failure(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(message: object) -> bytes:
        if isinstance(message, CommandReply):
            raise ValueError("a bug")
        return encoded(message)

    monkeypatch.setattr(outbox, "encoded", broken)
    with pytest.raises(Refusal, match="a bug"):
        await page.ask("BrowseFolder")


async def test_a_page_that_does_not_read_slows_nobody(
    web: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MOST_EVENTS", 20_000)
    async with web.socket() as stuck, web.page() as page:
        stuck.transport.pause_reading()
        await stuck.send(json.dumps({"type": "Resume", "id": 1}))
        await page.connected("demo")
        for _ in range(3):
            for number in range(15_000):
                web.workspace.bus.publish(Remark(message=f"flood {number}"), "demo")
            await page.until(lambda: page.last_seq >= web.workspace.bus.last_seq)
        call = await page.call("CallTool", server_id="demo", name="echo", arguments={"text": "x"})
        assert call["status"] == "completed"
        stuck.transport.resume_reading()
        seen, missed = 0, 0
        while seen < web.workspace.bus.last_seq:
            message = json.loads(await stuck.recv())
            missed += message["type"] == "Missed"
            seen = message.get("last_seq", seen)
        assert missed

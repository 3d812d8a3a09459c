"""Every frame says what carried it and what it belongs to, with hundreds of them in flight."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest

import mcplens
from mcplens.events import (
    Event,
    FrameReceived,
    FrameSent,
    HttpBytesReceived,
    HttpExchangeEnded,
    HttpRequestSent,
    ProgressReceived,
    RequestEnded,
    RequestStarted,
)
from mcplens.protocol.frames import Frame
from mcplens.store.filters import Filter, SeqRanges
from mcplens.store.har import export_har
from mcplens.store.history import History
from mcplens.store.trace_transfer import export_trace

from .scenario import over, text_of
from .targets import Door, Target

pytestmark = pytest.mark.asyncio(loop_scope="module")

IN_FLIGHT = 200
# So that a third of the messages are equal to another one but for their ids.
DIFFERENT = IN_FLIGHT * 2 // 3


def is_ours(target: Target) -> bool:
    return target.server == "good" and target.transport != "memory"


async def make_calls(client: mcplens.Client) -> None:
    """All at once; the answers come in another order than the requests."""

    async def call(number: int) -> None:
        if number % 4 == 0:
            delay = (IN_FLIGHT - number) / 4_000
            await client.call_tool("slow", {"seconds": delay})
        elif number % 10 == 1:
            await client.call_tool("progress", {"steps": 2, "delay": 0})
        else:
            text = f"text {number % DIFFERENT}"
            assert text_of(await client.call_tool("echo", {"text": text})) == text

    async with asyncio.TaskGroup() as group:
        for number in range(IN_FLIGHT):
            group.create_task(call(number))
            if number % 3 == 0:
                client.notify("notifications/roots/list_changed")


@over(where=is_ours)
async def test_with_hundreds_in_flight_every_link_is_right(door: Door, tmp_path: Path) -> None:
    recording = tmp_path / "recording.db"
    async with door.connect(concurrency=IN_FLIGHT, record=str(recording)) as client:
        await make_calls(client)
        # What carried the last of them may end after its answer.
        await client.ping()
        events = client.kept_events()
    assert events[0].seq == 1, "the ring holds everything"
    check_requests(events)
    check_exchanges(events, door.target)
    check_trace(events, recording)
    if door.target.transport.startswith("http") or door.target.transport == "sse":
        check_har(events, recording)


def check_requests(events: list[Event]) -> None:
    """Each reply, progress and request event names the frame of its request."""
    sent = {event.seq: event for event in events if isinstance(event, FrameSent)}
    calls = [event for event in sent.values() if event.method == "tools/call"]
    assert len(calls) == IN_FLIGHT
    assert len({event.call_id for event in calls}) == IN_FLIGHT
    assert {event.purpose for event in calls} == {"call"}
    bodies = Counter(_without_id(event) for event in calls)
    assert sum(count for count in bodies.values() if count > 1) >= IN_FLIGHT // 3
    answers = Counter[int]()
    for event in events:
        if isinstance(event, FrameReceived) and isinstance(event.message, Frame):
            if event.message.id is not None and not event.message.method:
                assert event.request_seq is not None
                request = sent[event.request_seq]
                assert isinstance(request.message, Frame)
                assert request.message.id == event.message.id
                links = (event.method, event.call_id, event.purpose)
                assert links == (request.method, request.call_id, request.purpose)
                assert not event.is_inferred
                answers[event.request_seq] += 1
        elif isinstance(event, RequestStarted | RequestEnded | ProgressReceived):
            assert event.request_seq is not None
            message = sent[event.request_seq].message
            assert isinstance(message, Frame)
            assert message.id == event.request_id
    assert all(answers[event.seq] == 1 for event in calls)


def _without_id(event: FrameSent) -> str:
    message = json.loads(event.message.raw)
    params = message["params"]
    return json.dumps([params["name"], params["arguments"]])


def check_exchanges(events: list[Event], target: Target) -> None:
    """Each frame names the exchange whose bytes it is in; none where there is no HTTP."""
    frames = [event for event in events if isinstance(event, FrameSent | FrameReceived)]
    if target.transport in ("stdio", "ws"):
        assert {event.exchange_id for event in frames} == {None}
        return
    begun = {event.exchange_id: event for event in events if isinstance(event, HttpRequestSent)}
    assert len(begun) == sum(isinstance(event, HttpRequestSent) for event in events)
    came: dict[int, bytes] = {}
    for event in events:
        if isinstance(event, HttpBytesReceived):
            came[event.exchange_id] = came.get(event.exchange_id, b"") + event.data
        elif isinstance(event, HttpExchangeEnded):
            came[event.exchange_id] = came.get(event.exchange_id, b"") + event.body
    carried_by = {event.seq: event.exchange_id for event in frames}
    for event in frames:
        assert event.exchange_id is not None
        if isinstance(event, FrameSent):
            assert begun[event.exchange_id].body == event.message.raw
        else:
            assert event.message.raw in came[event.exchange_id]
            is_answer = event.request_seq is not None and event.method == "tools/call"
            if is_answer and target.transport != "sse":
                assert carried_by[event.request_seq or 0] == event.exchange_id
    posts = [event.exchange_id for event in frames if isinstance(event, FrameSent)]
    assert len(set(posts)) == len(posts)


def check_trace(events: list[Event], path: Path) -> None:
    """The recording, exported as a trace, has the same links."""
    file = BytesIO()
    with History(path) as history:
        export_trace(history, file)
    lines = [json.loads(line) for line in file.getvalue().splitlines()]
    assert lines[0]["version"] == 2
    by_seq = {line["seq"]: line for line in lines[1:] if "seq" in line}
    fields = ("exchange_id", "request_seq", "caused_by_seq", "call_id", "purpose")
    for event in events:
        if isinstance(event, FrameSent | FrameReceived):
            line = by_seq[event.seq]
            assert [line.get(name) for name in fields] == [getattr(event, name) for name in fields]


def check_har(events: list[Event], path: Path) -> None:
    """Of chosen messages, HAR has the exchanges that carried them and no other."""
    calls = [event for event in events if isinstance(event, FrameSent) and event.call_id]
    chosen = [event for event in calls if event.method == "tools/call"][::20]
    with History(path) as history:
        (run,) = history.runs()
        for event in chosen:
            seqs = SeqRanges([event.seq, event.seq])
            file = BytesIO()
            assert export_har(history, file, Filter(run_id=run.run_id, seqs=seqs)) == 1
            (entry,) = json.loads(file.getvalue())["log"]["entries"]
            assert entry["request"]["postData"]["text"].encode() == event.message.raw
            exchange = history.request_record(run.run_id, event.seq)
            assert exchange is not None
            assert {row.exchange_id for row in exchange.http} >= {event.exchange_id}

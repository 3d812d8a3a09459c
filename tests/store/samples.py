"""What the store's tests share: one event of every kind, a bus to publish on, a recording to read.

`python -m tests.store.samples PATH SERVER COUNT [SECONDS]` is a process of its own that records
COUNT frames (0: until it is killed) and prints the seq of what it published, line by line.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, get_args

from mcplens import events
from mcplens.bus import Bus, Publisher
from mcplens.clock import SystemClock
from mcplens.events import AnyEvent, Event
from mcplens.protocol.frames import encode_notification, encode_request, encode_result, parse
from mcplens.store.history import Filter, History
from mcplens.store.recorder import Recorder

REQUEST = encode_request(1, "tools/call", {"name": "add", "arguments": {"a": 1}})
REPLY = encode_result(1, {"content": [{"type": "text", "text": "héllo"}]})
BROKEN = b'{"jsonrpc":"2.0","id":7,"result":\xff\xfe}'
ERROR = {"code": "SERVER_ERROR", "message": "no", "details": {"data": [1, 2.5, None]}}
HEADERS = [("Authorization", "‹masked, 12 characters›"), ("Accept", "application/json")]

# The own fields of one event of every kind, all of them given.
FIELDS: dict[str, tuple[Any, ...]] = {
    "FrameSent": (parse(REQUEST), len(REQUEST), 1),
    "FrameReceived": (parse(REPLY), len(REPLY), 1),
    "HttpRequestSent": (3, "POST", "http://h/mcp?key=‹masked, 3 characters›", HEADERS, REQUEST),
    "HttpResponseReceived": (3, 200, "OK", [("Content-Type", "text/event-stream")], 0.25),
    "HttpBytesReceived": (3, b"data: \xff\n\n"),
    "HttpExchangeEnded": (3, 0.5, b"the rest", "cut off"),
    "ProcessStarted": (42, ["/bin/server", "--flag"], "/tmp", ["TOKEN"]),
    "ProcessExited": (42, None, "SIGKILL"),
    "StderrLine": (42, b"warning: \xe4"),
    "Remark": ("fallback to SSE",),
    "StateChanged": ("connecting", "retrying", "failed", 1, 3, 2.0, ERROR),
    "EraDecided": ("handshake", "2025-11-25", "pinned"),
    "ServerIntroduced": ("2025-11-25", {"name": "s"}, {"tools": {}}, "be nice"),
    "PingAnswered": (0.002,),
    "PingUnanswered": (2, 5.0),
    "RequestStarted": (1, "tools/call"),
    "RequestEnded": (1, "tools/call", "error", 0.125, ERROR),
    "RequestPaused": ([1, "two"], "q"),
    "RequestResumed": ([1, "two"], "q"),
    "ProgressReceived": (1, 0.5, 2.0, "half"),
    "LateReply": (1, "tools/call", parse(REPLY)),
    "ReplyUnmatched": (parse(BROKEN), "no request waits"),
    "NotificationReceived": ("notifications/x", {"a": [1, {"b": None}]}),
    "LogReceived": ("info", "db", {"rows": 3}),
    "ServerRequestReceived": ("q", "sampling/createMessage", {"messages": []}, 1),
    "ServerRequestEnded": ("q", "sampling/createMessage", "answered"),
    "QuestionOpened": (
        "q1",
        "sampling/createMessage",
        {"messages": []},
        "r7",
        1,
        "task",
        "t1",
        30.0,
    ),
    "QuestionClosed": ("q1", "sampling/createMessage", "answered", "person"),
    "ElicitationCompleted": ("e1", True),
    "RootsChanged": ([{"uri": "file:///x", "name": "x"}],),
    "ReceiverTaskChanged": ("t1", "sampling/createMessage", "working", {"ttl": 60000}, True),
    "ClientTaskChanged": ("t2", "tools/call", "working", {"ttl": None}, True),
    "InputRoundStarted": (1, "tools/call", 2, 10, ["name"]),
    "ListRefreshed": ("tools", 5, ERROR),
    "ResourceRefreshed": ("file:///x", ERROR),
    "SubscriptionChanged": ("lost", "reset"),
    "EventsMissed": (3, 9),
}
KINDS: tuple[type[Event], ...] = get_args(AnyEvent)


def sample(kind: type[Event], seq: int = 1, run_id: str = "run") -> Event:
    """An event with every field set."""
    return kind(run_id, seq, 1700000000.25 + seq, 10.5 + seq, "server", *FIELDS[kind.__name__])


def publish_all(bus: Bus, server_id: str = "server") -> None:
    """One event of every kind."""
    publish = Publisher(bus, server_id)
    for kind in KINDS:
        publish(kind, *FIELDS[kind.__name__], size_bytes=10)


def publish_frames(bus: Bus, count: int, server_id: str = "server", text: str = "tick") -> None:
    """Notifications that carry a number each."""
    publish = Publisher(bus, server_id)
    for number in range(count):
        data = encode_notification("notifications/x", {"text": text, "n": number})
        publish(events.FrameReceived, parse(data), len(data), None, size_bytes=len(data))


def call(bus: Bus, request_id: int, text: str = "x", server_id: str = "server") -> None:
    """A tool call that is answered, as the session publishes it."""
    publish = Publisher(bus, server_id)
    asked = encode_request(request_id, "tools/call", {"name": "echo", "arguments": {"text": text}})
    answer = encode_result(request_id, {"content": [{"type": "text", "text": text}]})
    publish(events.RequestStarted, request_id, "tools/call")
    publish(events.FrameSent, parse(asked), len(asked), request_id, size_bytes=len(asked))
    publish(events.FrameReceived, parse(answer), len(answer), None, size_bytes=len(answer))
    publish(events.RequestEnded, request_id, "tools/call", "completed", 0.01, None)


def stored_events(path: str | Path, wanted: Filter | None = None) -> list[Event]:
    """Everything that was recorded, as events."""
    from mcplens.store.decoding import decode_row

    with History(path) as history:
        return [decode_row(run_id, row).event for run_id, row in history.scan(wanted)]


def main(path: str, server_id: str, count: int, seconds: float) -> None:
    bus = Bus(SystemClock())
    recorder = Recorder(bus, path, warn=lambda text: print("warning:", text, flush=True))
    print("run", bus.run_id, flush=True)
    published = 0
    while not count or published < count:
        publish_frames(bus, 50, server_id)
        published += 50
        print(bus.last_seq, time.time(), flush=True)
        time.sleep(seconds)
    recorder.close()
    print("missed", recorder.missed_count, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))

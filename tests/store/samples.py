"""What the store's tests share: one event of every kind, a bus to publish on, a recording to read.

`python -m tests.store.samples PATH SERVER COUNT SECONDS [SIZE]` is a process that records COUNT
frames (0: until it is killed) of SIZE and prints the seq of what it published, line by line.
"""

from __future__ import annotations

import sys
import time
from copy import copy
from pathlib import Path
from typing import Any, get_args

import msgspec

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

# One event of every kind, with every field given.
SAMPLES: tuple[Event, ...] = (
    events.FrameSent(
        message=parse(REQUEST), size_bytes=len(REQUEST), method="tools/call", exchange_id=3,
        request_seq=1, caused_by_seq=2, is_inferred=True, call_id="c1", purpose="call",
        inbound_seq=7,
    ),
    events.FrameReceived(
        message=parse(REPLY), size_bytes=len(REPLY), method="tools/call", exchange_id=3,
        request_seq=1, caused_by_seq=2, is_inferred=True, call_id="c1", purpose="call",
    ),
    events.HttpRequestSent(
        exchange_id=3, method="POST", url="http://h/mcp?key=‹masked, 3 characters›",
        headers=HEADERS, body=REQUEST,
    ),
    events.HttpResponseReceived(
        exchange_id=3, status=200, reason="OK", headers=[("Content-Type", "text/event-stream")],
        elapsed_s=0.25,
    ),
    events.HttpBytesReceived(exchange_id=3, data=b"data: \xff\n\n"),
    events.HttpExchangeEnded(exchange_id=3, elapsed_s=0.5, body=b"the rest", error="cut off"),
    events.ProcessStarted(
        pid=42, argv=["/bin/server", "--flag"], cwd="/tmp", env_names=["TOKEN"]
    ),
    events.ProcessExited(pid=42, exit_code=None, signal="SIGKILL", stopped_after_s=30.0),
    events.StderrLine(pid=42, data=b"warning: \xe4", request_seq=1, is_inferred=True),
    events.Remark(message="fallback to SSE"),
    events.StateChanged(
        old="connecting", new="retrying", transition="failed", retry_count=1, max_retries=3,
        retry_in_s=2.0, error=ERROR,
    ),
    events.EraDecided(era="handshake", protocol_version="2025-11-25", reason="pinned"),
    events.ServerIntroduced(
        protocol_version="2025-11-25", server_info={"name": "s"}, capabilities={"tools": {}},
        instructions="be nice",
    ),
    events.ClientIntroduced(
        protocol_version="2025-11-25", client_info={"name": "editor"}, capabilities={"roots": {}}
    ),
    events.PingAnswered(latency_s=0.002, request_seq=1),
    events.PingUnanswered(in_a_row=2, timeout_s=5.0, request_seq=1),
    events.RequestStarted(request_id=1, method="tools/call", request_seq=1),
    events.RequestEnded(
        request_id=1, method="tools/call", status="error", elapsed_s=0.125, error=ERROR,
        request_seq=1, purpose="call",
    ),
    events.RequestPaused(
        request_ids=[1, "two"],
        question_id="q",
        request_seqs=[1, 2],
        question_seq=3,
        call_ids=["c1"],
    ),
    events.RequestResumed(
        request_ids=[1, "two"],
        question_id="q",
        request_seqs=[1, 2],
        question_seq=3,
        call_ids=["c1"],
    ),
    events.ProgressReceived(
        request_id=1, progress=0.5, total=2.0, message="half", request_seq=1, frame_seq=2
    ),
    events.LateReply(
        request_id=1, method="tools/call", message=parse(REPLY), request_seq=1, frame_seq=2
    ),
    events.ReplyUnmatched(
        message=parse(BROKEN), reason="no request waits", request_seq=1, is_inferred=True,
        frame_seq=2,
    ),
    events.NotificationReceived(
        method="notifications/x", params={"a": [1, {"b": None}]}, request_seq=1, is_inferred=True,
        frame_seq=2,
    ),
    events.LogReceived(
        level="info", logger="db", data={"rows": 3}, request_seq=1, is_inferred=True, call_id="c1",
        frame_seq=2,
    ),
    events.ServerRequestReceived(
        request_id="q", method="sampling/createMessage", params={"messages": []}, request_seq=2,
        caused_by_seq=1, is_inferred=True, call_id="c1",
    ),
    events.ServerRequestEnded(
        request_id="q", method="sampling/createMessage", outcome="answered", request_seq=2
    ),
    events.QuestionOpened(
        question_id="q1", method="sampling/createMessage", params={"messages": []},
        request_id="r7", request_seq=2, caused_by_seq=1, is_inferred=True, call_id="c1",
        origin="task", task_id="t1", timeout_s=30.0,
    ),
    events.QuestionClosed(
        question_id="q1", method="sampling/createMessage", outcome="answered",
        answered_by="person", opened_seq=4,
    ),
    events.ElicitationCompleted(elicitation_id="e1", is_known=True),
    events.RootsChanged(roots=[{"uri": "file:///x", "name": "x"}]),
    events.ReceiverTaskChanged(
        task_id="t1", method="sampling/createMessage", status="working", task={"ttl": 60000},
        is_gone=True, request_seq=2, call_id="c1",
    ),
    events.ClientTaskChanged(
        task_id="t2", method="tools/call", status="working", task={"ttl": None}, is_gone=True,
        request_seq=1, call_id="c1",
    ),
    events.InputRoundStarted(
        request_id=1, method="tools/call", round=2, most_rounds=10, keys=["name"], request_seq=1,
        call_id="c1",
    ),
    events.ListRefreshed(kind="tools", count=5, error=ERROR, is_unannounced=True),
    events.ResourceRefreshed(uri="file:///x", error=ERROR, is_unannounced=True),
    events.SubscriptionChanged(state="lost", reason="reset"),
    events.SignInStarted(
        sign_in_id="s1", resource="https://example.com/mcp", reason="the server wants it",
        exchange_id=1,
    ),
    events.SignInStepChanged(
        sign_in_id="s1", step="token", state="failed", text="refused", expected="a token",
        facts={"scopes": ["notes"]}, exchange_id=2,
    ),
    events.SignInEnded(
        sign_in_id="s1", outcome="failed", issuer="https://example.com", scopes=["notes"],
        expires_at=1.5, error=ERROR,
    ),
    events.InboundConnected(
        client_id="client-1", client_info={"name": "agent"}, path="/mcp", transport="http",
        protocol_version="2025-11-25",
    ),
    events.InboundDisconnected(client_id="client-1", reason="left"),
    events.InboundReceived(
        client_id="client-1", client_name="agent", message=parse(REQUEST), size_bytes=len(REQUEST),
        method="tools/call",
    ),
    events.InboundAnswered(
        client_id="client-1", client_name="agent", request_seq=2, method="tools/call",
        target_id="server", outcome="ok", size_bytes=20, elapsed_s=0.5,
    ),
    events.AppOpened(
        app_id="app-1", tool="map", uri="ui://map/app", profile="specification",
        policy="default-src 'none'", size_bytes=900,
    ),
    events.AppMessageReceived(
        app_id="app-1", tool="map", message=parse(REQUEST), size_bytes=len(REQUEST),
        method="tools/call", request_seq=1, refusal="not for apps",
    ),
    events.AppMessageSent(
        app_id="app-1", tool="map", message=parse(REPLY), size_bytes=len(REPLY),
        method="tools/call", request_seq=2, refusal="too large",
    ),
    events.AppPolicyViolated(
        app_id="app-1", tool="map", directive="script-src", blocked="https://a.example", line=3,
        sample="eval",
    ),
    events.ConfigurationReloaded(
        added=["new"], removed=["old"], changed=["other"],
        error={"code": "CONFIGURATION_INVALID", "message": "not valid JSON"},
    ),
    events.StoreStateChanged(
        store="redis://127.0.0.1:6379", status="down", reason="connection refused"
    ),
    events.EventsMissed(first_seq=3, last_seq=9),
    events.StrayOutputDropped(
        first_seq=3, last_seq=9, stdout_lines=4, stderr_lines=3, size_bytes=700
    ),
)  # fmt: skip
BY_KIND = {type(event): event for event in SAMPLES}
KINDS: tuple[type[Event], ...] = get_args(AnyEvent)


def sample(kind: type[Event], seq: int = 1, run_id: str = "run") -> Event:
    """An event with every field set."""
    return msgspec.structs.replace(
        BY_KIND[kind],
        run_id=run_id,
        seq=seq,
        wall=1700000000.25 + seq,
        mono=10.5 + seq,
        server_id="server",
    )


def publish_all(bus: Bus, server_id: str = "server") -> None:
    """One event of every kind."""
    publish = Publisher(bus, server_id)
    for event in SAMPLES:
        publish(copy(event), size_bytes=10)


def sent(raw: bytes, **links: Any) -> events.FrameSent:
    """A message of ours, with the links that are given."""
    links = {"exchange_id": None, "request_seq": None, "method": _method(raw)} | links
    return events.FrameSent(message=parse(raw), size_bytes=len(raw), **links)


def received(raw: bytes, **links: Any) -> events.FrameReceived:
    """A message of the server's, with the links that are given."""
    links = {"exchange_id": None, "request_seq": None, "method": _method(raw)} | links
    return events.FrameReceived(message=parse(raw), size_bytes=len(raw), **links)


def _method(raw: bytes) -> str | None:
    return getattr(parse(raw), "method", None) or None


def publish_frames(bus: Bus, count: int, server_id: str = "server", text: str = "tick") -> None:
    """Notifications that carry a number each."""
    publish = Publisher(bus, server_id)
    for number in range(count):
        data = encode_notification("notifications/x", {"text": text, "n": number})
        publish(received(data), len(data))


def call(bus: Bus, request_id: int, text: str = "x", server_id: str = "server") -> int:
    """A tool call that is answered, as the session publishes it; gives the seq of its request."""
    publish = Publisher(bus, server_id)
    asked = encode_request(request_id, "tools/call", {"name": "echo", "arguments": {"text": text}})
    answer = encode_result(request_id, {"content": [{"type": "text", "text": text}]})
    links = {"method": "tools/call", "call_id": f"c{request_id}", "purpose": "call"}
    seq = publish(sent(asked, **links), len(asked))
    publish(events.RequestStarted(request_id=request_id, method="tools/call", request_seq=seq))
    publish(received(answer, request_seq=seq, **links), len(answer))
    publish(
        events.RequestEnded(
            request_id=request_id,
            method="tools/call",
            status="completed",
            elapsed_s=0.01,
            request_seq=seq,
            purpose="call",
        )
    )
    return seq


def stored_events(path: str | Path, wanted: Filter | None = None) -> list[Event]:
    """Everything that was recorded, as events."""
    from mcplens.store.row_decoding import decode_row

    with History(path) as history:
        return [decode_row(run_id, row).event for run_id, row in history.scan(wanted)]


def main(path: str, server_id: str, count: int, seconds: float, size: int = 4) -> None:
    bus = Bus(SystemClock())
    recorder = Recorder(bus, path, warn=lambda text: print("warning:", text, flush=True))
    print("run", bus.run_id, flush=True)
    published = 0
    while not count or published < count:
        publish_frames(bus, 50, server_id, text="x" * size)
        published += 50
        print(bus.last_seq, time.time(), flush=True)
        time.sleep(seconds)
    recorder.close()
    print("missed", recorder.missed_count, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), *map(int, sys.argv[5:]))

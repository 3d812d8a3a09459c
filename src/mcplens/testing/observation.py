"""What was observed while a test ran: its answer, and the events of its server meanwhile.

Read from the bus between two positions; a server that floods may have pushed some of them out of
the ring, and then `is_cut` says so. Called by steps.py and expectations.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from mcplens.bus import Bus
from mcplens.collections.shown_values import ValueMasker, without_envelope
from mcplens.errors import InspectorError
from mcplens.events import (
    Event,
    FrameReceived,
    FrameSent,
    LogReceived,
    ProcessExited,
    ProgressReceived,
    QuestionOpened,
    ReplyUnmatched,
    StderrLine,
)
from mcplens.protocol.frames import Frame, Kind, Malformed

# The evidence of a failure: enough to see what happened; the trace has all of it.
_MOST_FRAMES: Final = 12
_MOST_LINES: Final = 20
_LONGEST: Final = 1_000
# Messages that the client sends on its own account; an answer to the handshake may come late.
_OWN: Final = frozenset({"handshake", "catalog", "heartbeat", "listening"})


class Said(msgspec.Struct, frozen=True):
    """A message of the server's own: a notification or a request."""

    method: str
    params: Any = None


class Observation:
    """The answer to a step, and what happened while it was waited for."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.result: Any = None
        self.has_result = False
        self.error: InspectorError | None = None
        self.findings: list[str] = []
        self.elapsed_s: float | None = None
        self.events: list[Event] = []
        self.is_cut = False

    def __repr__(self) -> str:
        return f"<Observation of {self.kind}, {len(self.events)} events, error {self.error!r}>"

    def take(self, bus: Bus, server_id: str, after_seq: int) -> None:
        """Take over what the bus has of this server since a position."""
        found = bus.since(after_seq)
        self.is_cut = bool(found) and found[0].seq > after_seq + 1
        self.events = [event for event in found if event.server_id == server_id]

    @property
    def value(self) -> dict[str, Any]:
        return self.result if isinstance(self.result, dict) else {}

    @property
    def is_error(self) -> bool:
        """Whether the tool says that it failed."""
        return self.value.get("isError") is True

    def notifications(self) -> list[Said]:
        return [
            Said(event.message.method, _value(event.message))
            for event in self.events
            if isinstance(event, FrameReceived)
            and isinstance(event.message, Frame)
            and event.message.kind is Kind.NOTIFICATION
        ]

    def questions(self) -> list[Said]:
        """What the server asked: as a request, or (2026-07-28) within an answer."""
        return [
            Said(event.method, event.params)
            for event in self.events
            if isinstance(event, QuestionOpened)
        ]

    def progress(self) -> list[dict[str, Any]]:
        return [
            {"progress": event.progress, "total": event.total, "message": event.message}
            for event in self.events
            if isinstance(event, ProgressReceived)
        ]

    def logs(self) -> list[LogReceived]:
        return [event for event in self.events if isinstance(event, LogReceived)]

    def protocol_findings(self) -> list[str]:
        """What on the wire was not MCP: stray output, replies that answer nothing."""
        found = list(self.findings)
        for event in self.events:
            if isinstance(event, FrameReceived) and isinstance(event.message, Malformed):
                found.append(f"a line that is not a message: {event.message.reason}")
            elif isinstance(event, ReplyUnmatched) and not isinstance(event.message, Malformed):
                found.append(f"a reply that answers nothing: {event.reason}")
        return list(dict.fromkeys(found))

    def text(self) -> str:
        """All texts of the result, one after the other."""
        return "\n".join(_texts(self.value))

    # -- evidence ------------------------------------------------------------------------------

    def frames(self, masker: ValueMasker) -> list[str]:
        """The messages of the step, without secrets, the middle left out if there are many.

        Stray output is one line, however much there is: it must not hide the messages.
        """
        lines, stray = [], []
        for event in self.events:
            if not isinstance(event, FrameSent | FrameReceived) or self._is_own(event):
                continue
            is_stray = isinstance(event.message, Malformed) and not event.message.is_reply_like
            arrow = "->" if isinstance(event, FrameSent) else "<-"
            if not is_stray:
                lines.append(f"{arrow} {_shown(event, masker)}")
            else:
                stray.append(event)
        lines = _cut(lines, _MOST_FRAMES)
        if stray:
            told = "1 line that is" if len(stray) == 1 else f"{len(stray)} lines that are"
            lines.append(f"<- {told} not MCP; the first: {_shown(stray[0], masker)}")
        return lines

    def _is_own(self, event: FrameSent | FrameReceived) -> bool:
        """Whether the client sent it on its own account; a call looks its tool up first."""
        is_lookup = self.kind == "call" and event.method == "tools/list"
        return event.purpose in _OWN or is_lookup

    def stderr(self, masker: ValueMasker) -> list[str]:
        """The last lines of stderr, and how the process ended if it did."""
        lines = [
            masker.text(event.text)[:_LONGEST]
            for event in self.events
            if isinstance(event, StderrLine)
        ]
        shown = lines[-_MOST_LINES:]
        if len(lines) > len(shown):
            shown.insert(0, f"… {len(lines) - len(shown)} lines before")
        for event in self.events:
            if isinstance(event, ProcessExited) and event.stopped_after_s is None:
                how = event.signal or f"code {event.exit_code}"
                shown.append(f"(the server's process ended: {how})")
        return shown


def text_of_log(event: LogReceived) -> str:
    return event.data if isinstance(event.data, str) else _encoded(event.data)


def _value(frame: Frame) -> Any:
    try:
        return frame.value()
    except ValueError:
        return None


def _shown(event: FrameSent | FrameReceived, masker: ValueMasker) -> str:
    raw = bytes(event.message.raw)
    try:
        shortened = without_envelope(msgspec.json.decode(raw), is_marked=True)
        text = _encoded(masker.masked(shortened))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        text = masker.text(raw[: 4 * _LONGEST].decode("utf-8", "backslashreplace"))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(raw):,} bytes)"


def _encoded(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, UnicodeError, RecursionError):
        return repr(value)


def _cut(lines: list[str], most: int) -> list[str]:
    if len(lines) <= most:
        return lines
    half = most // 2
    return [*lines[:half], f"… {len(lines) - 2 * half} more messages …", *lines[-half:]]


def _texts(value: dict[str, Any]) -> Iterator[str]:
    for key in ("content", "contents", "messages"):
        found = value.get(key)
        for block in found if isinstance(found, list) else ():
            inner = block.get("content") if isinstance(block, dict) else None
            for one in inner if isinstance(inner, list) else (inner, block):
                holder = one.get("resource") if isinstance(one, dict) else None
                for each in (one, holder):
                    if isinstance(each, dict) and isinstance(each.get("text"), str):
                        yield each["text"]

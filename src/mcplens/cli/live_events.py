"""Prints to stderr while a command runs: the server's logs and stderr, and frames with `-v`.

Reads events from the bus; never delays the command.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from mcplens.bus import Bus
from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions
from mcplens.clock import SystemClock
from mcplens.events import (
    ClientTaskChanged,
    Event,
    EventsMissed,
    FrameReceived,
    FrameSent,
    LogReceived,
    QuestionClosed,
    Remark,
    StateChanged,
    StderrLine,
)
from mcplens.protocol.frames import Frame, Malformed

# Of a frame, on one line.
_SHOWN_BYTES = 2_000
# Stray lines that are shown; a server that prints to stdout may do so without end.
_SHOWN_STRAYS = 3
# Of the event loop, to let the reader of the bus finish.
_MOST_ROUNDS = 1_000
# Their count is told on the way, ever more rarely.
_TOLD_COUNTS = frozenset(10**power for power in range(1, 12))
# How the Python SDK before version 2 begins its page of stderr on a request that it does not know.
_COMPLAINT = "Failed to validate request"


class LiveEvents:
    """Prints events until the command is done, and then what is left of them."""

    def __init__(
        self, bus: Bus, flags: CommandOptions, watch: Callable[[Event], None] | None = None
    ) -> None:
        self._events = bus.subscribe(0)
        self._bus = bus
        self._watch = watch
        self._is_quiet = bool(flags.is_quiet)
        self._is_verbose = bool(flags.is_verbose)
        # Probing for the revision is not the server's fault: what an older server logs about it on
        # stderr becomes one line, unless the handshake fails afterwards.
        self._is_probing = False
        self._complaint: list[str] = []
        self._stray_count = 0
        self._tasks: dict[str, str] = {}  # the last printed status of each
        self._task: asyncio.Task[None] | None = None
        self._shown_seq = 0

    async def __aenter__(self) -> Self:
        if not self._is_quiet:
            self._task = asyncio.get_running_loop().create_task(self._follow(), name="live")
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._task is None:
            return
        self._bus.close()  # ends the reader after what is already there
        await asyncio.gather(self._task, return_exceptions=True)

    async def catch_up(self) -> None:
        """Wait until what has happened is printed; not for ever, since more may be happening."""
        for _ in range(_MOST_ROUNDS):
            if self._task is None or self._task.done() or self._shown_seq >= self._bus.last_seq:
                return
            await SystemClock().sleep(0)

    async def _follow(self) -> None:
        async for event in self._events:
            (self._watch or self._show)(event)
            self._shown_seq = event.seq
        for line in self._complaint:
            self._show_stderr(line)
        if self._stray_count > _SHOWN_STRAYS:
            self._note_strays()

    def _show(self, event: Event) -> None:
        if isinstance(event, StderrLine):
            if self._is_probing and (self._complaint or _COMPLAINT in event.text):
                self._complaint.append(event.text)
            else:
                self._show_stderr(event.text)
        elif isinstance(event, LogReceived):
            where = f" {event.logger}" if event.logger else ""
            text = event.data if isinstance(event.data, str) else output.pretty(event.data)
            # Indented, so that no line of it can pass for one of ours.
            text = output.without_colours(text).replace("\n", "\n  ")
            output.note(output.style(output.one_line(f"[{event.level}{where}] "), dim=True) + text)
        elif isinstance(event, FrameReceived) and isinstance(event.message, Malformed):
            self._show_malformed(event.message)
        elif isinstance(event, ClientTaskChanged) and not event.is_gone:
            self._show_task(event)
        elif isinstance(event, QuestionClosed):
            self._show_unanswered(event)
        elif isinstance(event, EventsMissed):
            output.note(f"[{event.last_seq - event.first_seq + 1} events not shown]")
        elif self._is_verbose:
            self._show_more(event)
        elif isinstance(event, FrameSent) and isinstance(event.message, Frame):
            self._follow_handshake(event.message.method)

    def _show_malformed(self, message: Malformed) -> None:
        """What is not a message; lines that a server prints to stdout are counted from then on."""
        if not message.is_reply_like and not self._is_verbose:
            self._stray_count += 1
            if self._stray_count > _SHOWN_STRAYS:
                if self._stray_count in _TOLD_COUNTS:
                    self._note_strays()
                return
        self._frame("<-", message.raw, f"malformed: {message.reason}")

    def _note_strays(self) -> None:
        count = self._stray_count
        output.note(f"mcplens: {count:,} lines on stdout are not messages; -v shows all of them")

    def _show_task(self, event: ClientTaskChanged) -> None:
        """The status of a task; servers often report it twice."""
        message = event.task.get("statusMessage")
        text = f"{event.status}: {message}" if message else event.status
        if self._tasks.get(event.task_id) != text:
            self._tasks[event.task_id] = text
            task = output.style(output.one_line(f"[task {event.task_id}] "), dim=True)
            output.note(task + text.replace("\n", "\n  "))

    def _show_unanswered(self, event: QuestionClosed) -> None:
        """Why a server got no answer, unless the person refused or was already told."""
        is_known = event.answered_by in ("person", "nobody")
        if event.outcome == "timed out" or (event.outcome.startswith("rejected") and not is_known):
            output.note(f"mcplens: {event.method} {event.outcome}", fg="yellow")

    def _show_stderr(self, line: str) -> None:
        output.note(output.style("[stderr] ", dim=True) + output.without_colours(line))

    def _follow_handshake(self, method: str) -> None:
        if method == "server/discover":
            self._is_probing = True
        elif method == "notifications/initialized":
            self._is_probing = False
            if self._complaint:
                count = len(self._complaint)
                self._show_stderr(f"({count} lines about server/discover; -v shows them)")
            self._complaint = []

    def _show_more(self, event: Event) -> None:
        if isinstance(event, FrameSent):
            self._frame("->", event.message.raw)
        elif isinstance(event, FrameReceived):
            self._frame("<-", event.message.raw)
        elif isinstance(event, StateChanged):
            output.note(output.style(f"-- {event.old} -> {event.new}", dim=True))
        elif isinstance(event, Remark):
            output.note(output.style(f"-- {event.message}", dim=True))

    def _frame(self, arrow: str, raw: bytes, remark: str = "") -> None:
        text = raw[:_SHOWN_BYTES].decode("utf-8", "backslashreplace")
        more = f"… ({len(raw)} bytes)" if len(raw) > _SHOWN_BYTES else ""
        tail = output.style(f"  [{remark}]" if remark else "", fg="yellow")
        output.note(f"{arrow} {output.one_line(text)}{more}" + tail)

"""What happens while a command runs, on stderr: the server's logs and stderr, frames with `-v`.

Reads events from the bus; never holds up the command.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from mcplens.bus import Bus
from mcplens.cli import output
from mcplens.cli.state import State
from mcplens.events import (
    Event,
    EventsMissed,
    FrameReceived,
    FrameSent,
    LogReceived,
    Remark,
    StateChanged,
    StderrLine,
)
from mcplens.protocol.frames import Malformed

# Of a frame, on one line.
_SHOWN_BYTES = 2_000


class Live:
    """Prints events until the command is done, and then what is left of them."""

    def __init__(self, bus: Bus, state: State) -> None:
        self._events = bus.subscribe(0)
        self._bus = bus
        self._is_quiet = bool(state.is_quiet)
        self._is_verbose = bool(state.is_verbose)
        self._task: asyncio.Task[None] | None = None

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

    async def _follow(self) -> None:
        async for event in self._events:
            self._show(event)

    def _show(self, event: Event) -> None:
        if isinstance(event, StderrLine):
            output.note(output.style("[stderr] ", dim=True) + event.text)
        elif isinstance(event, LogReceived):
            where = f" {event.logger}" if event.logger else ""
            text = event.data if isinstance(event.data, str) else output.pretty(event.data)
            output.note(output.style(f"[{event.level}{where}] ", dim=True) + text)
        elif isinstance(event, FrameReceived) and isinstance(event.message, Malformed):
            self._frame("<-", event.message.raw, f"malformed: {event.message.reason}")
        elif isinstance(event, EventsMissed):
            output.note(f"[{event.last_seq - event.first_seq + 1} events not shown]")
        elif self._is_verbose:
            self._show_more(event)

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
        tail = output.style(f"  [{remark}]", fg="yellow") if remark else ""
        output.note(f"{arrow} {text}{more}{tail}")

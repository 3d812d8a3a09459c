"""Bounds on connections that uvicorn has none for: how many there are, and how long one is idle.

A connection costs a descriptor, and whoever is on this computer can open one. So one that sends no
whole request head is closed; between two requests uvicorn's own time for that counts. Called by
server.py.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

# Any client that wants something says so at once; a browser opens connections in advance.
REQUEST_WITHIN_S: Final = 10.0


def bounded(protocol: Any, most: int | None) -> Any:
    """A protocol class of uvicorn's (that of h11 or of httptools) with these bounds."""

    class Bounded(protocol):  # type: ignore[misc]  # whichever is installed
        due: asyncio.TimerHandle | None = None

        def __repr__(self) -> str:
            return f"<Bounded connection of {self.client}, {'idle' if self.due else 'in use'}>"

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            if most is not None and len(self.connections) > most:
                transport.abort()
            else:
                self.expect()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            is_ours = self.transport.get_protocol() is self  # or it became a WebSocket
            if is_ours and self.is_waiting and not self.transport.is_closing():
                self.expect()
            else:
                self.expect_no_more()

        def connection_lost(self, problem: Exception | None) -> None:
            self.expect_no_more()
            super().connection_lost(problem)

        @property
        def is_waiting(self) -> bool:
            """No request is under way, and this is not the pause after one."""
            is_free = self.cycle is None or self.cycle.response_complete
            return is_free and self.timeout_keep_alive_task is None

        def expect(self) -> None:
            if self.due is None:
                self.due = self.loop.call_later(REQUEST_WITHIN_S, self.give_up)

        def expect_no_more(self) -> None:
            due, self.due = self.due, None
            if due is not None:
                due.cancel()

        def give_up(self) -> None:
            self.due = None
            if self.is_waiting:
                self.transport.abort()

    return Bounded

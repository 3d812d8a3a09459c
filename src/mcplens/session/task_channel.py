"""Requests about tasks that the server runs for us: polls, results, updates, cancellation.

They bypass the queue. What must not get lost waits for a connection that is being opened again.
Shared by client_tasks.py and its pollers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from mcplens.clock import Clock, within
from mcplens.errors import InspectorError
from mcplens.protocol.frames import Frame
from mcplens.session.connection import Connection
from mcplens.session.queue import CallTag, QueueEntry
from mcplens.session.request_sender import RequestSender

# How long disconnecting waits for the answers to cancellations that were just sent.
_CANCEL_S: Final = 1.0


class TaskChannel:
    """Sends what pollers need to ask."""

    def __init__(self, connection: Connection, requests: RequestSender) -> None:
        self._connection = connection
        self._requests = requests
        self._cancels: set[QueueEntry] = set()
        self._back = asyncio.Event()

    def __repr__(self) -> str:
        return f"<TaskChannel of {self._connection!r}, {len(self._cancels)} cancelling>"

    @property
    def clock(self) -> Clock:
        return self._connection.clock

    @property
    def is_connected(self) -> bool:
        return self._connection.is_connected

    def remark(self, text: str) -> None:
        self._connection.remark(text)

    def describe(self, error: InspectorError) -> None:
        """Add the server to the details of an error."""
        self._connection.describe(error, "tools/call")

    def start(
        self, method: str, params: Any, tag: CallTag, timeout_s: float | None = None
    ) -> QueueEntry | None:
        """Send a request; None while that is not possible."""
        try:
            return self._requests.start(method, params, tag=tag, timeout_s=timeout_s)
        except InspectorError:
            return None

    async def request(self, method: str, params: Any, tag: CallTag) -> Frame:
        """Send a request and wait for its answer."""
        frame: Frame = await self._requests.start(method, params, tag=tag)
        return frame

    async def request_surely(self, method: str, params: Any, tag: CallTag) -> Frame:
        """The same, again after each loss of the connection."""
        while True:
            try:
                return await self.request(method, params, tag)
            except InspectorError:
                if self.is_connected:
                    raise
                await self.until_connected()

    def apply_limits(self, entry: QueueEntry) -> None:
        """The task has ended: its result has the timeout of any request from now on."""
        session = self._connection.session
        if session is not None:
            session.in_flight.apply_limits(entry)

    def give_up(self, entry: QueueEntry, reason: str) -> None:
        self._connection.cancel(entry, reason)

    def call_off(self, tag: CallTag) -> None:
        """Cancel the questions that an abandoned task caused."""
        self._connection.call_off(tag)

    def cancel_task(self, task_id: str, tag: CallTag) -> bool:
        """Ask the server to cancel an abandoned task; False if that is not possible now."""
        connection = self._connection
        if not connection.is_connected:
            return False
        can_cancel = has(connection.server_capabilities, "tasks", "cancel")
        if not connection.is_stateless and not can_cancel:
            self.remark(f"the task {task_id} goes on: the server did not declare tasks.cancel")
            return True
        entry = self.start("tasks/cancel", {"taskId": task_id}, tag)
        if entry is not None:
            self._cancels.add(entry)
            entry.future.add_done_callback(lambda _: self._cancels.discard(entry))
        return entry is not None

    # -- the connection's life -------------------------------------------------------------------

    def connected(self) -> None:
        """The connection is open, perhaps again: pollers that waited for it go on."""
        self._back.set()

    async def until_connected(self) -> None:
        """Wait for a connection that is being opened again; giving up ends the poller."""
        while not self.is_connected:
            self._back.clear()
            await self._back.wait()

    async def end(self) -> None:
        """Let cancellations that were just sent be answered, for a moment."""
        cancels = [entry.future for entry in self._cancels]
        if cancels and self.is_connected:
            try:
                await within(self.clock, _CANCEL_S, _until_done(cancels))
            except TimeoutError:
                self.remark("the server did not confirm that the cancelled tasks have ended")


async def _until_done(futures: list[asyncio.Future[Any]]) -> None:
    await asyncio.wait(futures)


def has(capabilities: Any, *path: str) -> bool:
    """Whether capabilities have something at this path."""
    for key in path:
        capabilities = capabilities.get(key) if isinstance(capabilities, Mapping) else None
    return capabilities is not None and capabilities is not False

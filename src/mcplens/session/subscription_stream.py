"""The stream of subscriptions/listen (2026-07-28): changes of lists, resources and tasks.

Opened when something is wanted, opened again when the wants change or the stream is lost; since
nothing is replayed, everything wanted is fetched again after a loss.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

from mcplens.clock import within
from mcplens.errors import InspectorError, TimeoutExpired, TransportError
from mcplens.events import SubscriptionChanged
from mcplens.protocol.deadlines import NEVER
from mcplens.protocol.eras import SUBSCRIPTION_ID
from mcplens.protocol.frames import Frame
from mcplens.session.connection import Connection
from mcplens.session.queue import CallTag, QueueEntry

# Waits between attempts to listen again; the last one is used on and on.
_BACKOFF_S: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"

_FILTER_OF: Final = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}


class SubscriptionStream:
    """What we subscribe to, and the request that is open for it."""

    def __init__(self, connection: Connection, refetch: Callable[[str | None], None]) -> None:
        self._connection = connection
        self._refetch = refetch  # a list kind, or None for every subscribed resource
        self._kinds: set[str] = set()
        self._uris: set[str] = set()
        self._task_ids: set[str] = set()  # of the extension of 2026-07-28
        self._refuses_tasks = False
        self._entry: QueueEntry | None = None
        self._acknowledged: asyncio.Future[dict[str, Any]] | None = None
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def __repr__(self) -> str:
        counts = f"{len(self._uris)} resources, {len(self._task_ids)} tasks"
        return f"<SubscriptionStream for {sorted(self._kinds)}, {counts}>"

    @property
    def uris(self) -> frozenset[str]:
        return frozenset(self._uris)

    def want_list(self, kind: str) -> None:
        """Subscribe to changes of a list, if the server offers that."""
        capability = self._connection.introduction
        declared = capability.capabilities.get(kind) if capability is not None else None
        if kind in self._kinds or not isinstance(declared, dict) or not declared.get("listChanged"):
            return
        self._kinds.add(kind)
        self._wants_changed()

    def want_resources(self, uris: Iterable[str]) -> None:
        """The resources to subscribe to when the stream is opened."""
        self._uris = set(uris)

    def want_task(self, task_id: str) -> None:
        """Subscribe to the changes of a task; a server that refuses is polled anyway."""
        if not self._refuses_tasks:
            self._task_ids.add(task_id)
            self._wants_changed()

    def drop_task(self, task_id: str) -> None:
        """The stream goes on as it is, unless this was all that it was for."""
        if task_id in self._task_ids:
            self._task_ids.discard(task_id)
            if not self.has_wants:
                self._close(self._entry)
                self.drop()

    @property
    def has_wants(self) -> bool:
        return bool(self._kinds or self._uris or self._task_ids)

    async def add(self, uri: str) -> dict[str, Any]:
        """Subscribe to updates of a resource; returns what the server acknowledged."""
        self._uris.add(uri)
        try:
            return await self._acknowledgement()
        except InspectorError:
            self._uris.discard(uri)
            if self.has_wants:
                self._wants_changed()
            raise

    async def remove(self, uri: str) -> None:
        self._uris.discard(uri)
        if self.has_wants:
            await self._acknowledgement()
            return
        self._close(self._entry)
        await self.end()

    async def _acknowledgement(self) -> dict[str, Any]:
        """What the server says to the new wants; it has as long as any request."""
        connection, acknowledged = self._connection, self._wants_changed()
        timeout_s = connection.config.request_timeout_s
        try:
            await within(connection.clock, timeout_s, _until_done(acknowledged))
        except TimeoutError:
            message = f"no acknowledgement of subscriptions/listen within {timeout_s:g} s"
            raise TimeoutExpired("REQUEST_TIMEOUT", message) from None
        return acknowledged.result()

    def notified(self, frame: Frame, fields: dict[str, Any]) -> None:
        """A notification came; only the acknowledgement and the end of the stream matter here."""
        if self._entry is None:
            return
        if frame.method == "notifications/cancelled" and fields.get("requestId") == self._entry.id:
            self._ended_by_server(self._entry, fields.get("reason"))
        if frame.method != ACKNOWLEDGED:
            return
        if self._changed.is_set():
            return  # this acknowledges an earlier subscription
        meta = fields.get("_meta")
        if isinstance(meta, dict) and meta.get(SUBSCRIPTION_ID) not in (None, self._entry.id):
            return
        if self._acknowledged is not None and not self._acknowledged.done():
            honoured = fields.get("notifications")
            self._acknowledged.set_result(honoured if isinstance(honoured, dict) else {})
        self._connection.publish(SubscriptionChanged(state="open"))

    def _ended_by_server(self, entry: QueueEntry, reason: object) -> None:
        """One page of the specification ends the stream like this, another with a result."""
        session = self._connection.session
        if session is not None:
            why = f": {reason}" if isinstance(reason, str) else ""
            error = TransportError("CONNECTION_LOST", f"the server ended the stream{why}")
            session.receiver.request_failed(entry.id, error)

    def resume(self) -> None:
        """After a reconnect: the wants are the same, the stream is new."""
        self._entry = None
        self._refuses_tasks = False
        if self.has_wants:
            self._wants_changed()
            self._refetch_all()

    def drop(self, error: InspectorError | None = None) -> None:
        """The connection is gone, and the stream with it; what is wanted stays."""
        if error is not None:
            self._refused(error.copy())
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def end(self) -> None:
        task = self._task
        self.drop()
        if task is not None:
            await asyncio.gather(task, return_exceptions=True)

    def _wants_changed(self) -> asyncio.Future[dict[str, Any]]:
        if self._acknowledged is None or self._acknowledged.done():
            self._acknowledged = asyncio.get_running_loop().create_future()
        self._changed.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._loop(), name="listen")
        return self._acknowledged

    async def _loop(self) -> None:
        failures = 0
        while self.has_wants:
            self._changed.clear()
            entry = self._listen()
            if entry is None:
                return
            reason = await self._until_over(entry)
            if self._changed.is_set():
                failures = 0
                continue
            self._connection.publish(SubscriptionChanged(state="lost", reason=reason))
            if entry.error is not None and entry.error.category == "server":
                if self._task_ids:  # the rest may be welcome without them
                    self._task_ids.clear()
                    self._refuses_tasks = True
                    continue
                self._refused(entry.error)
                return
            await self._connection.clock.sleep(_BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)])
            failures += 1
            self._refetch_all()
        self._close(self._entry)

    def _listen(self) -> QueueEntry | None:
        session = self._connection.session
        if session is None or session.is_lost:
            return None
        wanted: dict[str, Any] = {_FILTER_OF[kind]: True for kind in sorted(self._kinds)}
        if self._uris:
            wanted["resourceSubscriptions"] = sorted(self._uris)
        if self._task_ids:
            wanted["taskIds"] = sorted(self._task_ids)
        params = {"notifications": wanted}
        old = self._entry
        self._entry = session.sender.start_now(
            "subscriptions/listen", params, tag=CallTag(purpose="listening"), timeout_s=NEVER
        )
        self._close(old)
        return self._entry

    async def _until_over(self, entry: QueueEntry) -> str:
        """Until the stream ends or the wants change; why it ended."""
        changed = asyncio.get_running_loop().create_task(self._changed.wait())
        try:
            await asyncio.wait([entry.future, changed], return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()
        if entry.error is not None:
            return entry.error.message
        return "the server ended it" if entry.is_settled else ""

    def _close(self, entry: QueueEntry | None) -> None:
        session = self._connection.session
        if entry is not None and not entry.is_settled and session is not None:
            session.cancel(entry, "listening to something else")

    def _refused(self, error: InspectorError) -> None:
        if self._acknowledged is not None and not self._acknowledged.done():
            self._acknowledged.set_exception(error)
            self._acknowledged.exception()

    def _refetch_all(self) -> None:
        for kind in sorted(self._kinds):
            self._refetch(kind)
        if self._uris:
            self._refetch(None)


async def _until_done(future: asyncio.Future[Any]) -> None:
    await asyncio.wait([future])

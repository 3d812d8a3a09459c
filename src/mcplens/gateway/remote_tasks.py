"""Tasks that other replicas have, followed for a client that listens here.

A subscriptions/listen (2026-07-28) stays where it came in, whichever tasks it names. Each other
replica that has any of them is asked for a stream of its own, signed and for the same caller, and
what it says of its tasks goes into the client's one stream. Used by own_methods.py.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from mcplens.background import Background
from mcplens.clock import within
from mcplens.gateway.fan_out import ListenStream, wanted_of
from mcplens.gateway.wire import encoded, members, request_message, text_of
from mcplens.inbound.exchange import EVENT_STREAM, JSON
from mcplens.inbound.peer import LISTEN
from mcplens.protocol.eras import PROTOCOL_VERSION
from mcplens.protocol.frames import ABSENT, Frame, Kind, parse
from mcplens.protocol.sse import SseParser
from mcplens.replicas.forwarder import Forwarder, NotOwner, OwnerGone, StreamBroken
from mcplens.replicas.replica import Presence
from mcplens.session.subscription_stream import ACKNOWLEDGED
from mcplens.transports.base import DEFAULT_MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway

# A client waits so long for replicas that are slow; one that is gone is noticed sooner.
_ACKNOWLEDGED_WITHIN_S: Final = 10.0
_OF_TASKS: Final = "notifications/tasks"


class RemoteTasks:
    """The streams of other replicas for one subscriptions/listen."""

    def __init__(self, gateway: Gateway, stream: ListenStream, on_end: Callable[[], None]) -> None:
        self._gateway = gateway
        self._stream = stream
        self._on_end = on_end  # a replica tells no more of its tasks: the client must ask again
        self._feeds: dict[_TaskFeed, asyncio.Task[None]] = {}
        self._may_pass_on = asyncio.Event()
        self._work = Background()

    def __repr__(self) -> str:
        return f"<RemoteTasks of {len(self._feeds)} replicas for {self._stream!r}>"

    async def follow(self, task_ids: Iterable[str]) -> set[str]:
        """Ask the replicas that have these tasks; those that they will tell about."""
        shared = self._gateway.shared_sessions
        if shared is None:
            return set()
        for owner_id, ids in shared.tasks_elsewhere(task_ids).items():
            owner = self._gateway.replica.owner(owner_id)
            if owner is not None:
                feed = _TaskFeed(self._stream, ids, self._may_pass_on)
                work = self._read(shared.forwarder, owner, feed)
                self._feeds[feed] = self._work.start(work, f"tasks at {owner.name}")
        with contextlib.suppress(TimeoutError):
            await within(self._gateway.clock, _ACKNOWLEDGED_WITHIN_S, self._acknowledged())
        for feed, task in self._feeds.items():
            if not feed.acknowledged.is_set():
                task.cancel()
        return {one for feed in self._feeds for one in feed.honoured}

    async def _acknowledged(self) -> None:
        for feed in self._feeds:
            await feed.acknowledged.wait()

    def pass_on(self) -> None:
        """The client has its acknowledgement: from now on it is told what the replicas say."""
        self._may_pass_on.set()

    async def close(self) -> None:
        await self._work.end()

    async def _read(self, forwarder: Forwarder, owner: Presence, feed: _TaskFeed) -> None:
        """Read a replica's stream to its end."""
        try:
            await forwarder.forward(owner, feed, feed.body, is_work=False)
        except (NotOwner, OwnerGone, StreamBroken):
            pass  # its tasks are not followed: the client is told so, now or when it asks again
        finally:
            feed.settle([])
        if feed.honoured:
            self._on_end()


class _TaskFeed:
    """A subscriptions/listen for the tasks of one replica (`ForwardedExchange`)."""

    method = "POST"

    def __init__(
        self, stream: ListenStream, task_ids: list[str], may_pass_on: asyncio.Event
    ) -> None:
        call = stream.call
        meta = members(call.body).get("_meta", ABSENT)
        wanted = {"notifications": {"taskIds": task_ids}, "_meta": meta}
        self.body = request_message(call.id, LISTEN, encoded(wanted))
        self.target = call.client.path
        self.headers = {
            "accept": f"{JSON}, {EVENT_STREAM}",
            "content-type": JSON,
            "mcp-method": LISTEN,
            "mcp-protocol-version": text_of(members(meta).get(PROTOCOL_VERSION)) or "",
        }
        self.caller = call.client.peer.caller
        self.has_begun = False
        self.acknowledged = asyncio.Event()
        self.honoured: list[str] = []
        self._task_ids = frozenset(task_ids)
        self._stream = stream
        self._may_pass_on = may_pass_on
        self._events = SseParser(DEFAULT_MAX_MESSAGE_BYTES)

    def __repr__(self) -> str:
        return f"<_TaskFeed of {len(self.honoured)} tasks>"

    def settle(self, honoured: list[str]) -> None:
        """The replica will tell about these tasks."""
        if not self.acknowledged.is_set():
            self.honoured = honoured
            self.acknowledged.set()

    async def respond(
        self, status: int, body: bytes, content_type: str, headers: Mapping[str, str]
    ) -> None:
        """No stream: the replica refused."""

    async def open_events(self, headers: Mapping[str, str]) -> None:
        self.has_begun = True

    async def write(self, chunk: bytes) -> None:
        for event in self._events.feed(chunk):
            message = None if event.is_too_long or not event.data else parse(event.data)
            if isinstance(message, Frame) and message.kind is Kind.NOTIFICATION:
                await self._take(message)

    async def _take(self, frame: Frame) -> None:
        params = members(frame.body)
        if frame.method == ACKNOWLEDGED:
            ids = wanted_of(params).get("taskIds")
            found = ids if isinstance(ids, list) else []
            self.settle([one for one in found if one in self._task_ids])
        elif frame.method == _OF_TASKS and text_of(params.get("taskId")) in self._task_ids:
            await self._may_pass_on.wait()
            self._stream.notify(frame.method, dict(params))

    async def end(self) -> None:
        """The replica ended its stream."""

"""The outbox of one page: replies, changed objects, and its position in the stream of events.

Always bounded: an object that changes a thousand times is sent once, in its latest state; events
are a position in the ring of the feed; there are no more replies than running commands. A slow
browser delays nothing else.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, Final, TypeVar

import msgspec

from mcplens.errors import classify
from mcplens.store.lenient_json import to_json
from mcplens.web.api.errors import error_view
from mcplens.web.feed import Feed
from mcplens.web.messages import Changed, CommandReply, Events, Failure, Missed
from mcplens.web.registry import LATEST_VIEWS
from mcplens.web.safe_json import json_safe
from mcplens.workspace.workspace import ObjectKind, Workspace

T = TypeVar("T")
V = TypeVar("V")

_log: Final = logging.getLogger("mcplens.web")
_encode: Final = msgspec.json.Encoder(enc_hook=str).encode
# Time between two batches of changes: a person sees faster ones as one.
GATHER_S: Final = 0.03


class Outbox:
    """The messages to one page, encoded when they can be sent."""

    def __init__(self, workspace: Workspace, feed: Feed) -> None:
        self._workspace = workspace
        self._feed = feed
        self._replies: deque[Any] = deque()
        self._dirty: dict[tuple[ObjectKind, str], str] = {}
        self._seq: int | None = None  # None before Resume: no events, no changes
        self._is_more = asyncio.Event()
        self._flushed_at = 0.0
        self._stop = workspace.listen(self._changed)

    def __repr__(self) -> str:
        return f"<Outbox at {self._seq}, {len(self._replies)} replies, {len(self._dirty)} changes>"

    @property
    def reply_count(self) -> int:
        """Replies that are still to be sent."""
        return len(self._replies)

    def reply(self, message: Any) -> None:
        """Send this as soon as possible."""
        self._replies.append(message)
        self._is_more.set()

    def follow(self, after_seq: int) -> None:
        """Send events after this position, and changes from now on."""
        if self._seq is None:
            self._feed.join(self._is_more.set, after_seq)
        self._seq = after_seq
        self._dirty.clear()
        self._is_more.set()

    def close(self) -> None:
        self._stop()
        if self._seq is not None:
            self._feed.leave(self._is_more.set)

    def _changed(self, what: ObjectKind, key: str, server_id: str) -> None:
        if self._seq is not None:
            self._dirty[what, key] = server_id
            self._is_more.set()

    async def messages(self) -> AsyncIterator[bytes]:
        """Messages as JSON, for as long as they are asked for."""
        while True:
            await self._is_more.wait()
            self._is_more.clear()
            while self._replies:
                yield self._next_reply()
            if self._seq is None:
                continue
            await self._gather()
            for change in self._take_changes():
                yield change
            while (events := self._next_events()) is not None:
                yield encoded(events)
                while self._replies:  # a browser that catches up is answered all the same
                    yield self._next_reply()

    def _next_reply(self) -> bytes:
        """The next reply; a Failure if it cannot be encoded, so that the page stops waiting."""
        reply = self._replies.popleft()
        try:
            return encoded(reply)
        except Exception as problem:
            if not isinstance(reply, CommandReply):
                raise
            _log.exception("a reply cannot be sent to the page")
            view = error_view(json_safe(classify(problem, "sending the answer").to_dict()))
            assert view is not None
            return encoded(Failure(reply.id, view))

    async def _gather(self) -> None:
        """Wait for more changes, unless nothing was sent for a while."""
        clock = self._workspace.clock
        if clock.monotonic() - self._flushed_at < GATHER_S and not self._replies:
            await clock.sleep(GATHER_S)
        self._flushed_at = clock.monotonic()

    def _take_changes(self) -> list[bytes]:
        dirty, self._dirty = self._dirty, {}

        def message(change: tuple[tuple[ObjectKind, str], str]) -> bytes:
            (what, key), server_id = change
            view = LATEST_VIEWS[what](self._workspace, key)
            return encoded(Changed(what, key, server_id, view))

        return shown(message, dirty.items())

    def _next_events(self) -> Events | Missed | None:
        assert self._seq is not None
        batch = self._feed.after(self._seq)
        if batch is None:
            return None
        self._seq = batch.last_seq
        if batch.is_missed:
            return Missed(batch.first_seq, batch.last_seq)
        return Events(batch.first_seq, batch.last_seq, batch.events)


def shown(view: Callable[[T], V], objects: Iterable[T]) -> list[V]:
    """The views of objects; one that cannot be made is logged and left out."""
    found = []
    for one in objects:
        try:
            found.append(view(one))
        except Exception:
            _log.exception("%r cannot be shown on the page", one)
    return found


def encoded(message: Any) -> bytes:
    """A message as JSON, also with text that is not valid Unicode."""
    try:
        return _encode(message)
    except UnicodeEncodeError:  # a lone surrogate in a name or an error
        return to_json(msgspec.to_builtins(message, enc_hook=_jsonable))


def _jsonable(value: Any) -> Any:
    if isinstance(value, msgspec.Raw):
        return msgspec.json.decode(value)
    return str(value)

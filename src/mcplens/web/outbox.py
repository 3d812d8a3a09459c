"""What is to be sent to one page: replies, things that changed, and its place in the events.

Bounded whatever happens: a thing that changes a thousand times is sent once, as it is then; events
are a place in the feed's ring; replies are as many as the page has commands under way. The browser
takes its time, and nobody waits for it.
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
# Between two looks at what changed: what comes faster is one change to a person.
GATHER_S: Final = 0.03


class Outbox:
    """One page's messages, made when they can be sent."""

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
        """Send events from after this place on, and what changes from now on."""
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
        """A reply that cannot be written is a failure, so that nobody waits for it for ever."""
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
        """Wait for company, unless nothing was sent for a while."""
        clock = self._workspace.clock
        if clock.monotonic() - self._flushed_at < GATHER_S and not self._replies:
            await clock.sleep(GATHER_S)
        self._flushed_at = clock.monotonic()

    def _take_changes(self) -> list[bytes]:
        dirty, self._dirty = self._dirty, {}

        def message(thing: tuple[tuple[ObjectKind, str], str]) -> bytes:
            (what, key), server_id = thing
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


def shown(view: Callable[[T], V], things: Iterable[T]) -> list[V]:
    """The views of things; one that cannot be made is left out, and the others are shown."""
    found = []
    for thing in things:
        try:
            found.append(view(thing))
        except Exception:
            _log.exception("%r cannot be shown on the page", thing)
    return found


def encoded(message: Any) -> bytes:
    """A message as JSON, whatever text a server put into it."""
    try:
        return _encode(message)
    except UnicodeEncodeError:  # a lone surrogate in a name or an error
        return to_json(msgspec.to_builtins(message, enc_hook=_jsonable))


def _jsonable(value: Any) -> Any:
    if isinstance(value, msgspec.Raw):
        return msgspec.json.decode(value)
    return str(value)

"""The state of one client of a mock: capabilities, place in the recording, questions to it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

import msgspec

from mcplens.inbound.peer import Peer
from mcplens.protocol.frames import Frame, RequestId, encode_notification, encode_request


class Positions:
    """How often each call was made, and how many calls in all (for the strict order)."""

    def __init__(self) -> None:
        self.counts: dict[bytes, int] = {}
        self.number = 0

    def __repr__(self) -> str:
        return f"<Positions {len(self.counts)} calls, {self.number} in order>"

    def choose(self, key: bytes, places: Sequence[int]) -> int:
        """The place of the call that is next among equal ones; the last one is repeated."""
        count = self.counts.get(key, 0)
        self.counts[key] = count + 1
        return places[min(count, len(places) - 1)]


class MockClient:
    """One client."""

    def __init__(self, peer: Peer, positions: Positions) -> None:
        self.peer = peer
        self.positions = positions
        self.capabilities: dict[str, Any] = {}
        self.running: dict[RequestId, asyncio.Task[None]] = {}
        self._asked: dict[RequestId, asyncio.Future[Any]] = {}
        self._ids = itertools.count(1)

    def __repr__(self) -> str:
        return f"<MockClient {self.peer!r}, {len(self.running)} running, {len(self._asked)} asked>"

    def notify(self, method: str, params: Any, during: RequestId | None) -> None:
        self.peer.send(encode_notification(method, params), during=during)

    async def ask(self, method: str, params: Any, during: RequestId | None) -> Any:
        """Send the client a request; returns its answer as a message."""
        identity = next(self._ids)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[identity] = answer
        self.peer.send(encode_request(identity, method, params or None), during=during)
        try:
            return await answer
        finally:
            del self._asked[identity]

    def answered(self, frame: Frame) -> None:
        """The client answered a question."""
        answer = self._asked.get(frame.id) if frame.id is not None else None
        if answer is None or answer.done():
            return
        if frame.error is not None:
            answer.set_result({"error": msgspec.to_builtins(frame.error)})
        else:
            answer.set_result({"result": frame.value()})

    def leave(self) -> None:
        """The client is gone: end what runs for it."""
        for task in list(self.running.values()):
            task.cancel()

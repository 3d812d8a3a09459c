"""The state of one client: its capabilities, its running requests, and our questions to it.

In 2026-07-28 over HTTP a client lasts for one request; elsewhere as long as its connection.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from mcplens.demo.registry import Json, ToolFailure
from mcplens.inbound.peer import Peer
from mcplens.protocol.frames import Frame, RequestId, encode_notification, encode_request


class DemoClient:
    """One client."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.capabilities: Json = {}  # of the handshake; 2026-07-28 has them in each request
        self.log_level = "debug"  # everything, until logging/setLevel says less
        self.subscriptions: set[str] = set()
        self.running: dict[RequestId, asyncio.Task[None]] = {}
        self._asked: dict[RequestId, asyncio.Future[Json]] = {}
        self._ids = itertools.count(1)

    def __repr__(self) -> str:
        return f"<DemoClient {self.peer!r}, {len(self.running)} running, {len(self._asked)} asked>"

    @property
    def has_shaken_hands(self) -> bool:
        return self.peer.protocol_version is not None

    def notify(self, method: str, params: Any = None, during: RequestId | None = None) -> None:
        self.peer.send(encode_notification(method, params), during=during)

    async def ask(self, method: str, params: Json, during: RequestId | None = None) -> Json:
        """Send the client a request and wait for its answer.

        Raises:
            ToolFailure: the client answered with an error.
        """
        identity = next(self._ids)
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._asked[identity] = answer
        self.peer.send(encode_request(identity, method, params), during=during)
        try:
            return await answer
        except asyncio.CancelledError:
            # We no longer want to know; the specification lets us say so.
            self.notify("notifications/cancelled", {"requestId": identity}, during)
            raise
        finally:
            del self._asked[identity]

    def answered(self, frame: Frame) -> None:
        """The client answered a question of ours."""
        answer = self._asked.get(frame.id) if frame.id is not None else None
        if answer is None or answer.done():
            return
        if frame.error is not None:
            text = f"the client refused: {frame.error.message} ({frame.error.code})"
            answer.set_exception(ToolFailure(text))
            return
        value = frame.value()
        answer.set_result(value if isinstance(value, dict) else {})

    def leave(self) -> None:
        """The client is gone, and answers nothing any more."""
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(ToolFailure("the client left"))

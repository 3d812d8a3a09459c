"""One client of the gateway: what it declared, its calls under way, and our questions to it.

In 2026-07-28 over HTTP a client lasts for one request; elsewhere as long as its connection or
session. Made by gateway.py; used by the handlers and by the calls.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Raw

from mcplens.errors import ServerError
from mcplens.gateway.client_use import ClientUse
from mcplens.gateway.wire import encoded, notification_message, object_of, request_message
from mcplens.inbound.peer import Peer
from mcplens.inbound.refusal import INTERNAL_ERROR
from mcplens.protocol.frames import Frame, RequestId
from mcplens.session.capabilities import for_stateless

if TYPE_CHECKING:
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.gateway.notification_spans import NotificationSpans

# Questions of servers that wait for one client; beyond it servers are refused.
MAX_QUESTIONS: Final = 100


class InboundClient:
    """A client that is connected to the gateway."""

    spans: NotificationSpans | None = None  # of what it is notified of, if telemetry is on

    def __init__(self, peer: Peer, client_id: str, *, path: str, use: ClientUse) -> None:
        self.peer = peer
        self.id = client_id
        self.path = path  # where it is connected: the path of a view or of a server
        self.use = use
        self.info: dict[str, Any] = {}
        self.name = "?"  # how the client calls itself; for people only
        self.capabilities: dict[str, Any] = {}
        self.log_level: str | None = None
        self.subscriptions: set[str] = set()  # URIs of resources, of a client with a session
        self.is_stateless = False
        self.is_adopted = False  # its session was taken over from another replica
        self.is_ready = False  # it has finished its handshake, so it can be notified
        self.calls: dict[RequestId, InboundCall] = {}
        self._questions: dict[RequestId, asyncio.Future[Raw]] = {}
        self._numbers = itertools.count(1)
        self._envelope: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"<InboundClient {self.id} {self.name} at {self.path}, {len(self.calls)} calls>"

    @property
    def version(self) -> str | None:
        """The version that the client says it has; for people only."""
        version = self.info.get("version")
        return version[:100] if isinstance(version, str) else None

    @property
    def key(self) -> str:
        """Who owns tasks and suspended calls: the session, or in 2026-07-28 the caller."""
        return f"caller:{self.peer.caller}" if self.is_stateless else self.id

    @property
    def turn_key(self) -> str:
        """Who waits in turn with others: callers of 2026-07-28 may share a token."""
        return f"{self.key} {self.name}" if self.is_stateless else self.id

    def introduce(self, info: Any, capabilities: Any) -> None:
        """The client said who it is and what it can do."""
        self.info = info if isinstance(info, dict) else {}
        name = self.info.get("name")
        self.name = name[:100] if isinstance(name, str) else "?"
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        self._envelope = None

    def introduce_by(self, params: Mapping[str, Raw]) -> None:
        """What the client says about itself in its handshake."""
        self.introduce(object_of(params.get("clientInfo")), object_of(params.get("capabilities")))

    @property
    def stateless_capabilities(self) -> dict[str, Any]:
        """What a 2026-07-28 server is told that this client can do."""
        if self._envelope is None:
            self._envelope = for_stateless(self.capabilities)
        return self._envelope

    # -- sending ---------------------------------------------------------------------------------

    def notify(
        self, method: str, params: Raw | bytes | Mapping[str, Any], during: RequestId | None = None
    ) -> None:
        if self.spans is not None:
            params = self.spans.to_client(self, method, params, during)
        self.peer.send(notification_message(method, params), during=during)

    def pass_on(self, frame: Frame, during: RequestId | None = None) -> None:
        """Notify the client by what a server sent, as it is unless telemetry adds its context."""
        if self.spans is None:
            self.peer.send(frame.raw, during=during)
        else:
            self.notify(frame.method, frame.body, during)

    async def ask(self, method: str, params: Raw, during: RequestId | None) -> Raw:
        """Pass a server's question on and wait for the answer (2025-11-25 clients).

        Raises:
            ServerError: the client refused, or is gone.
        """
        if not self.peer.is_open or len(self._questions) >= MAX_QUESTIONS:
            why = "too many questions wait" if self.peer.is_open else "the client is gone"
            raise ServerError(INTERNAL_ERROR, f"{method} cannot be asked: {why}")
        number = next(self._numbers)
        answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
        self._questions[number] = answer
        self.peer.send(request_message(number, method, params), during=during)
        try:
            return await answer
        except asyncio.CancelledError:
            withdrawn = {"requestId": number, "reason": "the server withdrew its question"}
            self.notify("notifications/cancelled", withdrawn, during)
            raise
        finally:
            self._questions.pop(number, None)

    def answered(self, frame: Frame) -> None:
        """The client answered a question; an answer to nothing is ignored."""
        waiting = self._questions.get(frame.id) if frame.id is not None else None
        if waiting is None or waiting.done():
            return
        if frame.error is not None:
            error = frame.error
            waiting.set_exception(ServerError(error.code, error.message, error.data))
        else:
            waiting.set_result(frame.body if bytes(frame.body) else Raw(encoded({})))

    def leave(self) -> None:
        """The client is gone: its questions have no answer."""
        for waiting in self._questions.values():
            if not waiting.done():
                waiting.set_exception(ServerError(INTERNAL_ERROR, "the client is gone"))
                waiting.exception()  # marks it as retrieved

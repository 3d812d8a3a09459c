"""One connected client and its handler: Peer and PeerHandler, the core of every transport here.

A peer is a pipe, a socket, an HTTP session, or in 2026-07-28 over HTTP one single request. It
tracks pending requests, and validates each message before the handler gets it. Sends never block
and never raise: a client that does not read is disconnected.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from mcplens.inbound.exchange import NO_HEADERS
from mcplens.inbound.limits import Limits
from mcplens.inbound.refusal import HTTP_REFUSAL, INTERNAL_ERROR, INVALID_REQUEST, Refusal
from mcplens.inbound.request_validation import (
    HeaderParameters,
    Headers,
    Incoming,
    check_envelope,
    era_of_message,
    malformed,
    tool_of,
)
from mcplens.protocol.eras import BATCH_VERSION, Era
from mcplens.protocol.frames import (
    Batch,
    Frame,
    Kind,
    Malformed,
    Message,
    RequestId,
    encode_error,
    parse,
)

_log = logging.getLogger("mcplens.inbound")

# An open stream is not pending work.
LISTEN: Final = "subscriptions/listen"


class PeerHandler(Protocol):
    """Serves clients: the demo server, the gateway. Called on the event loop; must not block."""

    def received(self, peer: Peer, incoming: Incoming) -> None:
        """Called for each message. A request is answered by `peer.answer`, now or later."""

    def disconnected(self, peer: Peer, reason: str) -> None:
        """The client disconnected and gets no more answers; in 2026-07-28 this cancels."""

    def header_parameters(self, tool: str) -> HeaderParameters:
        """The arguments of a tool that HTTP headers repeat (`x-mcp-header`)."""


class Peer(ABC):
    """A connected client."""

    kind: str = "?"
    has_headers = False  # whether its requests are HTTP requests of their own

    def __init__(self, handler: PeerHandler, limits: Limits, *, caller: str = "") -> None:
        self.handler = handler
        self.limits = limits
        self.caller = caller  # an id of the caller, from access control
        self.protocol_version: str | None = None  # set by the handler that answers initialize
        self.is_open = True
        self._waiting: dict[RequestId, str] = {}  # id -> method of pending requests

    def __repr__(self) -> str:
        state = "open" if self.is_open else "gone"
        version = self.protocol_version or "no version"
        return f"<{type(self).__name__} {state}, {version}, {len(self._waiting)} requests wait>"

    @property
    def is_working(self) -> bool:
        """Whether a request is still pending."""
        return any(method != LISTEN for method in self._waiting.values())

    @property
    def is_backed_up(self) -> bool:
        """Whether much is still unsent: a handler with a lot to say waits until it is not."""
        return False

    # -- what a handler does -------------------------------------------------------------------

    def send(self, data: bytes, *, during: RequestId | None = None) -> None:
        """Send a notification, a request or any bytes; `during` names the request it belongs to."""
        if self.is_open:
            self._put(data, during)

    def answer(self, request_id: RequestId, data: bytes, *, error_code: int | None = None) -> None:
        """Send the answer to a request; `error_code` is the code in it, if it is an error."""
        if self._waiting.pop(request_id, None) is not None and self.is_open:
            self._put_answer(request_id, data, error_code)

    def refuse(self, request_id: RequestId, code: int, message: str, data: Any = None) -> None:
        """Answer a request with an error."""
        body = encode_error(request_id, code, message, data)
        self.answer(request_id, body, error_code=code)

    def drop(self, request_id: RequestId) -> None:
        """End a cancelled request without an answer."""
        if self._waiting.pop(request_id, None) is not None and self.is_open:
            self._put_nothing(request_id)

    def reject(
        self,
        request_id: RequestId,
        status: int,
        content_type: str,
        body: bytes,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> bool:
        """Answer by HTTP itself, as a proxy would; False where there is no HTTP."""
        return False

    def hang_up(self, request_id: RequestId, retry_ms: int) -> bool:
        """End the connection that carries a request's stream; the client resumes it later.

        False where streams cannot be resumed (2025-11-25 over streamable HTTP alone can).
        """
        return False

    def close(self, reason: str = "closed by the server") -> None:
        """Disconnect the client."""
        if self.is_open:
            self.is_open = False
            self._waiting.clear()
            self._shut(reason)
            try:
                self.handler.disconnected(self, reason)
            except Exception:  # it is foreign code, and we are shutting down
                _log.exception("the handler failed")

    # -- what a transport does -----------------------------------------------------------------

    @abstractmethod
    def _put(self, data: bytes, during: RequestId | None) -> None:
        """Queue a message, bounded and without blocking."""

    def _put_answer(self, request_id: RequestId, data: bytes, error_code: int | None) -> None:
        """Queue the answer to a request."""
        self._put(data, request_id)

    def _put_nothing(self, request_id: RequestId) -> None:  # noqa: B027 (most have nothing to do)
        """A request has ended without an answer."""

    @abstractmethod
    def _shut(self, reason: str) -> None:
        """Close the channel; queued messages may still be sent."""

    def take(self, data: bytes | Malformed, headers: Headers | None = None) -> None:
        """Handle a message on a channel where refusals are messages too."""
        message = parse(data) if isinstance(data, bytes) else data
        for member in self.members(message):
            try:
                incoming = self.admit(member, headers or {})
            except Refusal as refusal:
                self.send(refusal.body)
            else:
                self.hand_over(incoming)

    def members(self, message: Message) -> Iterator[Frame | Malformed]:
        """A single message, or the members of a batch where the revision allows batches."""
        if not isinstance(message, Batch):
            yield message
        elif self.protocol_version == BATCH_VERSION:
            yield from message.members
        else:
            reason = f"a batch, which {self.protocol_version or 'this revision'} does not have"
            yield Malformed(message.raw, reason)

    def admit(
        self, message: Frame | Malformed, headers: Headers, era: Era | None = None
    ) -> Incoming:
        """Validate a message before the handler gets it; detects the era if it is not given.

        Raises:
            Refusal: the error to answer with.
        """
        if isinstance(message, Malformed):
            self.hand_over(Incoming(message, headers=headers))
            raise malformed(message)
        era = era or era_of_message(message, headers)
        if message.kind is Kind.REQUEST:
            assert message.id is not None
            self._check_room(message.id)
            if era is Era.STATELESS:
                tool = tool_of(message)
                parameters = self.handler.header_parameters(tool) if tool is not None else {}
                check_envelope(message, headers if self.has_headers else None, parameters)
            self._waiting[message.id] = message.method
        return Incoming(message, era, headers)

    def _check_room(self, request_id: RequestId) -> None:
        if request_id in self._waiting:
            text = f"the id {request_id!r} belongs to a request that has no answer yet"
            raise Refusal(400, INVALID_REQUEST, text, request_id=request_id)
        if len(self._waiting) >= self.limits.max_requests:
            text = f"{len(self._waiting)} requests wait for an answer, which is the limit"
            raise Refusal(429, HTTP_REFUSAL, text, request_id=request_id)

    def withdraw(self, request_ids: Iterable[RequestId]) -> None:
        """Forget requests that were refused after registration."""
        for request_id in request_ids:
            self._waiting.pop(request_id, None)

    def hand_over(self, incoming: Incoming) -> None:
        """Call the handler; it is foreign code, and its failure becomes an error reply."""
        try:
            self.handler.received(self, incoming)
        except Exception as problem:  # as above
            _log.exception("the handler failed")
            request_id = getattr(incoming.message, "id", None)
            if request_id is not None:
                self.refuse(request_id, INTERNAL_ERROR, f"the server failed: {problem}")

"""Requests of other replicas to the endpoint of a server that runs here (`/servers/<id>/mcp`).

They are signed (replicas/request_signing.py) and carry no token of a client. Nothing but these
endpoints is open to them. Called by http_app.py for requests that have the signature's header.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.gateway import callers
from mcplens.inbound.asgi import AsgiExchange, Receive, Scope, Send
from mcplens.inbound.refusal import HTTP_REFUSAL, Refusal
from mcplens.inbound.request_validation import Headers
from mcplens.replicas.request_signing import (
    HEADER,
    InvalidSignature,
    RequestSigner,
    RequestVerifier,
)
from mcplens.transports.authorization import Refusal as RefusedRequest

HEADER_NAME: Final = HEADER.lower()


class ReplicaAccess:
    """Admits requests of other replicas."""

    def __init__(self, verifier: RequestVerifier, address: Callable[[], str | None]) -> None:
        self._verifier = verifier
        self._address = address  # ours, as other replicas know it

    def __repr__(self) -> str:
        return f"<ReplicaAccess at {self._address()}>"

    async def admit(
        self, scope: Scope, receive: Receive, send: Send, headers: Headers, limit_bytes: int
    ) -> AsgiExchange:
        """The request of a replica, with its caller; its body was read and is there again.

        Raises:
            Refusal: it is not one.
        """
        exchange = AsgiExchange(scope, receive, send, headers)
        body = await exchange.body(limit_bytes)
        path = scope.get("raw_path", b"").decode("latin-1") or scope["path"]
        try:
            name = self._verifier.verify(
                headers[HEADER_NAME], self._address() or "", exchange.method, path, body
            )
        except InvalidSignature as problem:
            text = f"not the request of a replica: {problem}"
            raise Refusal(401, HTTP_REFUSAL, text) from None
        again = AsgiExchange(scope, _replayed(body, receive), send, headers)
        again.caller = callers.of_replica(name)
        return again


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives the body once more, and then what comes after it."""
    is_given = False

    async def again() -> dict[str, object]:
        nonlocal is_given
        if is_given:
            return dict(await receive())
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


class ReplicaAuthorizer:
    """Signs the requests of a connection to another replica."""

    def __init__(self, signer: RequestSigner, receiver: str) -> None:
        self.on_person: Callable[[bool], None] | None = None
        self._signer = signer
        self._receiver = receiver

    def __repr__(self) -> str:
        return f"<ReplicaAuthorizer for {self._receiver}>"

    def attach(self, publish: Publisher, clock: Clock) -> None:
        """Nothing is published."""

    async def make_ready(self) -> None:
        """Nobody signs in."""

    def headers(self, method: str, url: object, body: bytes | None = None) -> Mapping[str, str]:
        path = urlsplit(str(url)).path
        return {HEADER: self._signer.sign(self._receiver, method, path, body or b"")}

    async def refused(self, refusal: RefusedRequest) -> bool:
        """A signature that was refused stays refused."""
        return False

"""Requests of other replicas: checked, and served for whom they name as the caller.

Most are requests of clients that another replica passed on; who the caller is was decided where
the request came in, and the proof says so. Those of a replica's own are for one server that runs
here (`/servers/<id>/mcp`), and nothing else is open to them. What has no valid proof is refused,
with an audit line. Called by http_app.py.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from mcplens.gateway import callers
from mcplens.gateway.access import SERVERS_PATH
from mcplens.inbound.asgi import AsgiExchange
from mcplens.inbound.asgi_app import Endpoint
from mcplens.inbound.exchange import DirectExchange, DirectRoute, Exchange, RouteTerm
from mcplens.inbound.refusal import HTTP_REFUSAL, Refusal
from mcplens.inbound.request_validation import Headers
from mcplens.inbound.streamable_http import StreamableHttp, check_post
from mcplens.replicas.request_proofs import (
    NOT_OWNER_HEADER,
    PROOF_HEADER,
    ForAnotherReplica,
    ProofChecker,
    ProofRefused,
    caller_in,
)

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway


class ReceivedForwards:
    """Checks requests of other replicas."""

    def __init__(self, gateway: Gateway) -> None:
        replica = gateway.replica
        self._gateway = gateway
        self._checker = ProofChecker(replica.keys, replica.id) if replica.is_shared else None

    def __repr__(self) -> str:
        return f"<ReceivedForwards {self._checker!r}>"

    def route(
        self, path: str, headers: Headers, endpoint: StreamableHttp, term: RouteTerm
    ) -> DirectRoute | None:
        """Where a POST of another replica goes; None: `serve` says what is wrong."""
        try:
            caller = self._named_caller(headers)
            check_post(headers)
        except (ProofRefused, Refusal):
            return None

        def take(exchange: DirectExchange, body: bytes) -> None:
            self._check(exchange, path, body)
            endpoint.post_now(exchange, body)

        return DirectRoute(path, headers, caller, take, term, inf)

    async def serve(
        self, exchange: AsgiExchange, endpoint: Endpoint | None, limit_bytes: int
    ) -> None:
        """Serve a request of another replica.

        Raises:
            Refusal: the error to answer with.
        """
        try:
            self._named_caller(exchange.headers)  # before anything of the body is kept
        except ProofRefused as refused:
            raise self._refusal(exchange, refused) from None
        body = await exchange.body(limit_bytes) if exchange.method == "POST" else b""
        self._check(exchange, exchange.target, body)
        if not isinstance(endpoint, StreamableHttp):
            if exchange.is_forwarded:
                raise not_owner()
            raise Refusal(404, HTTP_REFUSAL, "this server is not served here")
        if exchange.method == "POST":
            check_post(exchange.headers)
        await endpoint.serve(exchange, body)

    def _named_caller(self, headers: Headers) -> str:
        """Whom a request names as its caller; raises ProofRefused if it cannot be valid."""
        if self._checker is None:
            raise ProofRefused("a request between replicas, and this gateway has no others")
        return caller_in(headers[PROOF_HEADER])

    def _refusal(self, exchange: Exchange, refused: ProofRefused) -> Refusal:
        log = self._gateway.refused_requests
        log.count += 1
        log.write(exchange.method, exchange.path, str(refused), "")
        return Refusal(403, HTTP_REFUSAL, "this request between replicas is refused")

    def _check(self, exchange: Exchange, target: str, body: bytes) -> None:
        try:
            assert self._checker is not None
            claims = self._checker.check(
                exchange.headers[PROOF_HEADER],
                exchange.method,
                target,
                exchange.headers,
                body,
                self._gateway.clock.wall(),
                self._gateway.replica.address,
            )
            if claims.is_own and not target.startswith(SERVERS_PATH):
                raise ProofRefused("a request between replicas is for a path not open to them")
        except ForAnotherReplica:
            raise not_owner() from None
        except ProofRefused as refused:
            raise self._refusal(exchange, refused) from None
        exchange.is_forwarded = not claims.is_own
        exchange.caller = callers.of_replica(claims.caller) if claims.is_own else claims.caller


def not_owner() -> Refusal:
    """What a replica says that was asked for something that it does not have."""
    headers = {NOT_OWNER_HEADER: "1"}
    return Refusal(421, HTTP_REFUSAL, "another replica has this", headers=headers)

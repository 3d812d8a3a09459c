"""Requests of other replicas: checked, and served for whom they name as the caller.

Most are requests of clients that another replica passed on; who the caller is was decided where
the request came in, and the proof says so. Those of a replica's own are for one server that runs
here (`/servers/<id>/mcp`), and nothing else is open to them. What has no valid proof is refused
before its body is read, with an audit line. Called by http_app.py.
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
    Claims,
    ForAnotherReplica,
    ProofChecker,
    ProofRefused,
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
            claims = self._read("POST", path, headers)
            check_post(headers)
        except (ProofRefused, Refusal):
            return None

        def take(exchange: DirectExchange, body: bytes) -> None:
            self._take(exchange, claims, body)
            endpoint.post_now(exchange, body)

        return DirectRoute(path, headers, _caller_of(claims), take, term, inf)

    async def serve(
        self, exchange: AsgiExchange, endpoint: Endpoint | None, limit_bytes: int
    ) -> None:
        """Serve a request of another replica.

        Raises:
            Refusal: the error to answer with.
        """
        try:
            claims = self._read(exchange.method, exchange.target, exchange.headers)
        except ProofRefused as refused:
            raise self._refusal(exchange, refused) from None
        body = await exchange.body(limit_bytes) if exchange.method == "POST" else b""
        self._take(exchange, claims, body)
        if not isinstance(endpoint, StreamableHttp):
            if exchange.is_forwarded:
                raise not_owner()
            raise Refusal(404, HTTP_REFUSAL, "this server is not served here")
        if exchange.method == "POST":
            check_post(exchange.headers)
        await endpoint.serve(exchange, body)

    def _read(self, method: str, target: str, headers: Headers) -> Claims:
        """What the proof of a request says, before anything of its body is kept.

        Raises:
            ProofRefused: it is not valid.
        """
        if self._checker is None:
            raise ProofRefused("a request between replicas, and this gateway has no others")
        now, address = self._gateway.clock.wall(), self._gateway.replica.address
        claims = self._checker.read(headers[PROOF_HEADER], method, target, headers, now, address)
        if claims.is_own and not target.startswith(SERVERS_PATH):
            raise ProofRefused("a request between replicas is for a path not open to them")
        return claims

    def _refusal(self, exchange: Exchange, refused: ProofRefused) -> Refusal:
        log = self._gateway.refused_requests
        log.count += 1
        log.write(exchange.method, exchange.path, str(refused), "")
        return Refusal(403, HTTP_REFUSAL, "this request between replicas is refused")

    def _take(self, exchange: Exchange, claims: Claims, body: bytes) -> None:
        """Serve a request for whom its proof names, once; raises Refusal."""
        try:
            assert self._checker is not None
            self._checker.take(claims, body, self._gateway.clock.wall())
        except ForAnotherReplica:
            raise not_owner() from None
        except ProofRefused as refused:
            raise self._refusal(exchange, refused) from None
        exchange.is_forwarded = not claims.is_own
        exchange.caller = _caller_of(claims)


def _caller_of(claims: Claims) -> str:
    return callers.of_replica(claims.caller) if claims.is_own else claims.caller


def not_owner() -> Refusal:
    """What a replica says that was asked for something that it does not have."""
    headers = {NOT_OWNER_HEADER: "1"}
    return Refusal(421, HTTP_REFUSAL, "another replica has this", headers=headers)

"""Requests that another replica passed on to this one: checked, and served for the caller it names.

Who the caller is was decided where the request came in; the proof of the other replica says so.
What has no valid proof is refused, with an audit line. Called by http_app.py.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from mcplens.inbound.asgi import AsgiExchange
from mcplens.inbound.asgi_app import Endpoint
from mcplens.inbound.exchange import DirectExchange, DirectRoute, Exchange, RouteTerm
from mcplens.inbound.refusal import HTTP_REFUSAL, Refusal
from mcplens.inbound.request_validation import Headers
from mcplens.inbound.streamable_http import StreamableHttp, check_post
from mcplens.replicas.forward_proofs import (
    NOT_OWNER_HEADER,
    PROOF_HEADER,
    ForAnotherReplica,
    ForwardRefused,
    ProofChecker,
    caller_in,
)

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway


class ReceivedForwards:
    """Checks what other replicas pass on."""

    def __init__(self, gateway: Gateway) -> None:
        replica = gateway.replica
        self._gateway = gateway
        self._checker = ProofChecker(replica.keys, replica.id) if replica.is_shared else None

    def __repr__(self) -> str:
        return f"<ReceivedForwards {self._checker!r}>"

    def route(
        self, path: str, headers: Headers, endpoint: StreamableHttp, term: RouteTerm
    ) -> DirectRoute | None:
        """Where a POST goes that another replica passed on; None: `serve` says what is wrong."""
        try:
            caller = caller_in(headers[PROOF_HEADER])
            check_post(headers)
        except (ForwardRefused, Refusal):
            return None

        def take(exchange: DirectExchange, body: bytes) -> None:
            self._check(exchange, path, body)
            endpoint.post_now(exchange, body)

        return DirectRoute(path, headers, caller, take, term, inf)

    async def serve(
        self, exchange: AsgiExchange, endpoint: Endpoint | None, limit_bytes: int
    ) -> None:
        """Serve a request that another replica passed on.

        Raises:
            Refusal: the error to answer with.
        """
        body = await exchange.body(limit_bytes) if exchange.method == "POST" else b""
        self._check(exchange, exchange.target, body)
        if not isinstance(endpoint, StreamableHttp):
            raise not_owner()
        if exchange.method == "POST":
            check_post(exchange.headers)
        await endpoint.serve(exchange, body)

    def _check(self, exchange: Exchange, target: str, body: bytes) -> None:
        try:
            if self._checker is None:
                raise ForwardRefused("a forward between replicas, and this gateway has no others")
            claims = self._checker.check(
                exchange.headers[PROOF_HEADER],
                exchange.method,
                target,
                exchange.headers,
                body,
                self._gateway.clock.wall(),
            )
        except ForAnotherReplica:
            raise not_owner() from None
        except ForwardRefused as refused:
            log = self._gateway.refused_requests
            log.count += 1
            log.write(exchange.method, exchange.path, str(refused), "")
            raise Refusal(403, HTTP_REFUSAL, "this forward between replicas is refused") from None
        exchange.caller, exchange.is_forwarded = claims.caller, True


def not_owner() -> Refusal:
    """What a replica says that was asked for something that it does not have."""
    headers = {NOT_OWNER_HEADER: "1"}
    return Refusal(421, HTTP_REFUSAL, "another replica has this", headers=headers)

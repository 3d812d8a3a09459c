"""Signs what a replica sends to the endpoint of a server that runs at another one.

Such a request has a proof (replicas/request_proofs.py) and carries no token of a client;
received_forwards.py checks it. Made by shared_state.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.replicas.replica import Replica
from mcplens.replicas.request_proofs import PROOF_HEADER
from mcplens.transports.authorization import Refusal


class ReplicaAuthorizer:
    """Signs the requests of a connection to another replica."""

    def __init__(self, replica: Replica, clock: Clock, receiver: str) -> None:
        self.on_person: Callable[[bool], None] | None = None
        self._replica = replica
        self._clock = clock
        self._receiver = receiver  # its address

    def __repr__(self) -> str:
        return f"<ReplicaAuthorizer for {self._receiver}>"

    def attach(self, publish: Publisher, clock: Clock) -> None:
        """Nothing is published."""

    async def make_ready(self) -> None:
        """Nobody signs in."""

    def headers(self, method: str, url: object, body: bytes | None = None) -> Mapping[str, str]:
        proof = self._replica.proofs.make_own(
            self._receiver,
            method,
            urlsplit(str(url)).path,
            body or b"",
            name=self._replica.name,
            now=self._clock.wall(),
        )
        return {PROOF_HEADER: proof}

    async def refused(self, refusal: Refusal) -> bool:
        """A proof that was refused stays refused."""
        return False

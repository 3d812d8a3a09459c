"""What a gateway and its other replicas do together, by the store that they share.

Puts together the leases of servers that may run once, the limits and the breakers. Without
`gateway.store` there is none of this. Owned by service.py; the store is the replica's
(replicas/replica.py).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcplens.config.model import ServerEntry
from mcplens.config.views import GatewaySettings
from mcplens.downstream.live_server import Detour
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.gateway_breakers import GatewayBreakers
from mcplens.gateway.replica_authorizer import ReplicaAuthorizer
from mcplens.gateway.singletons import Singletons, detour_entry
from mcplens.replicas.leases import Holder
from mcplens.replicas.shared_limits import SharedLimits


class SharedState:
    """The parts of one replica that use the store."""

    def __init__(self, gateway: Gateway, settings: GatewaySettings) -> None:
        clock, replica = gateway.clock, gateway.replica
        self._replica = replica
        self._clock = clock
        self.limits = SharedLimits(replica.store, clock, replica.id)
        gateway.call_limits.share(self.limits)
        self.singletons = Singletons(
            gateway.servers,
            replica.store,
            clock,
            replica=replica.name,
            address=replica.address,
            lease_s=settings.lease_s,
            detour=self._detour,
        )
        self.breakers = GatewayBreakers(gateway.servers, replica.store, replica.name)

    def __repr__(self) -> str:
        return f"<SharedState {self.singletons!r}, {self.limits!r}>"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Use the store for as long as the block lasts; the servers are closed within it."""
        self.limits.start()
        self.singletons.follow()
        try:
            yield
        finally:
            await self.singletons.close()
            await self.breakers.close()
            await self.limits.close()

    def _detour(self, entry: ServerEntry, holder: Holder) -> Detour | None:
        """How a singleton is reached at the replica that runs it."""
        if holder.address is None:
            return None
        authorizer = ReplicaAuthorizer(self._replica, self._clock, holder.address)
        return Detour(detour_entry(entry, holder.address), authorizer)

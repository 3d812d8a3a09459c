"""Servers that may run once (`singleton`): on the replica that holds their lease, and only there.

Follows which servers are configured, keeps a lease for each, and lets downstream/ connect while it
is held. When a lease is lost the server's processes are killed at once; should this process be
stopped then, transports/lease_guard.py kills them in time. Owned by service.py.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import msgspec

from mcplens.background import Background
from mcplens.clock import Clock, since_boot
from mcplens.config.model import ServerEntry
from mcplens.downstream.listener import ServerListener
from mcplens.downstream.live_server import Detour
from mcplens.downstream.live_servers import LiveServers
from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError
from mcplens.gateway.server_handler import path_of
from mcplens.replicas.leases import LEASE_S, Holder, Lease
from mcplens.replicas.state_store import StateStore
from mcplens.transports.lease_guard import LeaseGuard

_log = logging.getLogger("mcplens.gateway")

# How a server is reached at another replica; None if it cannot be.
FindDetour = Callable[[ServerEntry, Holder], Detour | None]


def _no_detour(_entry: ServerEntry, _holder: Holder) -> Detour | None:
    return None


def detour_entry(entry: ServerEntry, address: str) -> ServerEntry:
    """The entry of a server at the replica that runs it: its endpoint there, by HTTP."""
    return msgspec.structs.replace(
        entry,
        transport="http",
        url=address + path_of(entry.name),
        command=None,
        args=(),
        env={},
        cwd=None,
        headers={},
        auth={},
        max_concurrency=None,  # the store counts the calls of all replicas
    )


class Singleton:
    """One server that may run once."""

    def __init__(self, owner: Singletons, connection: ServerConnection) -> None:
        self.connection = connection
        self.guard = LeaseGuard(owner.now)
        self.lease = Lease(
            connection.server_id,
            owner.store,
            owner.clock,
            replica=owner.replica,
            address=owner.address,
            lease_s=owner.lease_s,
            now=owner.now,
            on_held=lambda: owner.held(self),
            on_renewed=self.guard.hold_until,
            on_lost=lambda why: owner.lost(self, why),
            on_holder=lambda holder: owner.moved(self, holder),
        )

    def __repr__(self) -> str:
        return f"<Singleton {self.lease!r}>"


class Singletons(ServerListener):
    """The leases of a replica, by server."""

    def __init__(
        self,
        servers: LiveServers,
        store: StateStore,
        clock: Clock,
        *,
        replica: str,
        address: str | None = None,
        lease_s: float = LEASE_S,
        detour: FindDetour = _no_detour,
        now: Callable[[], float] = since_boot,
    ) -> None:
        self.store = store
        self.clock = clock
        self.replica = replica
        self.address = address
        self.lease_s = lease_s
        self.now = now
        self._servers = servers
        self._detour = detour
        self._known: dict[str, Singleton] = {}
        self._work = Background()
        self._is_stopping = False
        servers.gate = self._check
        self._unlisten = servers.listen(self)

    def __repr__(self) -> str:
        return f"<Singletons {list(self._known.values())}>"

    def holder_of(self, server_id: str) -> str | None:
        """The replica on which a singleton runs; None if it is no singleton, or runs nowhere."""
        known = self._known.get(server_id)
        if known is None:
            return None
        if known.lease.is_held:
            return self.replica
        return None if known.lease.holder is None else known.lease.holder.name

    def status(self) -> dict[str, Any]:
        """The replica of each singleton, for people."""
        return {name: self.holder_of(name) for name in self._known}

    def use_address(self, address: str) -> None:
        """Other replicas reach this one there, unless the configuration said where."""
        if self.address is None:
            self.address = address
            for known in self._known.values():
                known.lease.use_address(address)

    # -- the configuration -------------------------------------------------------------------------

    def servers_changed(self) -> None:
        self.follow()

    def follow(self) -> None:
        """Have a lease for each singleton that is configured now, and for no other."""
        wanted = {
            name: connection
            for name, connection in self._servers.connections.items()
            if connection.entry.singleton and self._servers.may_start(connection)
        }
        for name, known in list(self._known.items()):
            if wanted.get(name) is not known.connection:
                del self._known[name]
                self._work.start(self._give_up(known), f"give up {name}")
        for name, connection in wanted.items():
            if name not in self._known and not self._is_stopping:
                known = self._known[name] = Singleton(self, connection)
                connection.live.guard = known.guard
                known.lease.start()

    async def _give_up(self, known: Singleton) -> None:
        known.lease.stop_taking()
        if known.lease.is_held:
            await known.connection.halt()
        known.connection.live.guard = known.connection.live.detour = None
        await known.lease.close()

    # -- what becomes of a lease -------------------------------------------------------------------

    def _check(self, entry: ServerEntry) -> None:
        """Raises InspectorError if a server must not be connected to by this replica now."""
        if not entry.singleton:
            return
        known = self._known.get(entry.name)
        if known is None:  # the configuration has just made it one
            self.follow()
            known = self._known.get(entry.name)
        if known is not None and (known.lease.is_held or known.connection.live.detour is not None):
            return
        raise _elsewhere(entry.name, None if known is None else known.lease.holder)

    def held(self, known: Singleton) -> None:
        """This replica runs the server from now on."""
        _log.info("%s runs on this replica from now on", known.connection.server_id)
        self._use(known, None)

    def lost(self, known: Singleton, why: str) -> None:
        """Kill the server: another replica may start it soon."""
        known.guard.kill()
        name = known.connection.server_id
        _log.warning("%s was killed: %s", name, why)
        self._work.start(known.connection.halt(), f"halt {name}")

    def moved(self, known: Singleton, holder: Holder | None) -> None:
        """Another replica runs the server, or none does."""
        if known.lease.is_held:
            return
        detour = None if holder is None else self._detour(known.connection.entry, holder)
        if detour is not None or known.connection.live.detour is not None:
            self._use(known, detour)

    def _use(self, known: Singleton, detour: Detour | None) -> None:
        """Reach the server so from now on."""
        self._work.start(self._switch(known, detour), f"switch {known.connection.server_id}")

    async def _switch(self, known: Singleton, detour: Detour | None) -> None:
        connection = known.connection
        connection.live.detour = detour
        await connection.disconnect()
        if self._known.get(connection.server_id) is known and not self._is_stopping:
            connection.start()

    # -- the end -----------------------------------------------------------------------------------

    def stop_taking(self) -> None:
        """This replica stops soon: leases that it does not hold are for others."""
        self._is_stopping = True
        for known in self._known.values():
            known.lease.stop_taking()

    async def close(self) -> None:
        """Release all leases, and end what still runs under them."""
        self._is_stopping = True
        self._unlisten()
        await self._work.ended()
        for known in [*self._known.values()]:  # a change of the configuration may take one out
            await self._give_up(known)
        await self._work.ended()  # what such a change began
        self._known.clear()
        self._servers.gate = lambda _: None


def _elsewhere(name: str, holder: Holder | None) -> InspectorError:
    if holder is None:
        text = f"{name} may run once, and no replica has its lease yet; try again in a few seconds"
    else:
        text = f"{name} may run once, and runs on the replica {holder.name}"
    details = {"server_id": name, "replica": None if holder is None else holder.name}
    return InspectorError("NOT_CONNECTED", text, details=details)

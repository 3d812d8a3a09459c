"""The breakers of a gateway's servers, shared with other replicas (replicas/shared_breakers.py).

A failure here counts on all replicas; when they saw enough together, the server is paused on each
that has no working session with it, and one of them tries it again after the pause. Servers that
are commands are left alone. Owned by shared_state.py.
"""

from __future__ import annotations

from typing import Any

from mcplens.background import Background
from mcplens.downstream.breaker import MOST_FAILURES, PAUSE_S, WINDOW_S
from mcplens.downstream.listener import ServerListener
from mcplens.downstream.live_servers import LiveServers
from mcplens.replicas.shared_breakers import BreakerMessage, SharedBreakers
from mcplens.replicas.state_store import StateStore


class GatewayBreakers(ServerListener):
    """Tells other replicas about failures, and hears of theirs."""

    def __init__(self, servers: LiveServers, store: StateStore, replica: str) -> None:
        self._servers = servers
        self._shared = SharedBreakers(store, replica, self._heard)
        self._work = Background()
        self._unlisten = servers.listen(self)
        self.servers_changed()

    def __repr__(self) -> str:
        return f"<GatewayBreakers {self._shared!r}>"

    def servers_changed(self) -> None:
        for connection in self._servers.connections.values():
            is_remote = connection.entry.transport != "stdio"
            connection.share_breaker(self if is_remote else None)

    # -- BreakerPeers ------------------------------------------------------------------------------

    def failed(self, server_id: str, error: dict[str, Any]) -> None:
        self._work.start(self._count(server_id, error), f"count a failure of {server_id}")

    def opened(self, server_id: str, error: dict[str, Any]) -> None:
        reason = str(error.get("message", ""))[:500]
        self._work.start(self._shared.tell(server_id, "open", reason), f"pause {server_id}")

    def closed(self, server_id: str) -> None:
        self._work.start(self._shared.tell(server_id, "closed"), f"resume {server_id}")

    async def may_probe(self, server_id: str) -> bool:
        return await self._shared.may_probe(server_id, PAUSE_S)

    async def _count(self, server_id: str, error: dict[str, Any]) -> None:
        connection = self._servers.get(server_id)
        if await self._shared.count_failure(server_id, WINDOW_S) < MOST_FAILURES:
            return
        if connection is not None and connection.pause(error):
            self.opened(server_id, error)

    # -- what others tell --------------------------------------------------------------------------

    def _heard(self, message: BreakerMessage) -> None:
        connection = self._servers.get(message.server_id)
        if connection is None or connection.entry.transport == "stdio":
            return
        if message.news == "closed":
            connection.resume()
        elif not connection.is_connected:  # a session that works is better evidence
            told = f"as the replica {message.replica} saw: {message.reason}"
            connection.pause({"code": "NOT_CONNECTED", "message": told})

    async def close(self) -> None:
        self._unlisten()
        self._shared.close()
        for connection in self._servers.connections.values():
            connection.share_breaker(None)
        await self._work.ended()

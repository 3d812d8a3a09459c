"""A second session with servers that speak both eras, so that most calls need no translation.

The shared session with such a server is of 2026-07-28. Clients of 2025-11-25 get a session of their
own era, shared by all of them and opened when the first one calls. It is tried for servers reached
by HTTP only: a second session with a stdio server would be a second process. Owned by gateway.py.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from mcplens.config.model import ServerEntry
from mcplens.downstream.listener import ServerListener
from mcplens.downstream.result import Failure
from mcplens.downstream.server_connection import ServerConnection
from mcplens.gateway.inbound_call import is_stateless_server
from mcplens.protocol.eras import HANDSHAKE_VERSIONS
from mcplens.protocol.frames import Frame
from mcplens.session.attribution import Link

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway


class _Twin:
    """The second session with one server; `connection` is None if the server has no such era."""

    def __init__(self, entry: ServerEntry) -> None:
        self.entry = entry
        self.connection: ServerConnection | None = None
        self.is_open = asyncio.Event()  # opened, or known not to work

    def __repr__(self) -> str:
        return f"<_Twin of {self.entry.name}: {self.connection!r}>"


class EraSessions(ServerListener):
    """Second sessions by server."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._twins: dict[str, _Twin] = {}

    def __repr__(self) -> str:
        return f"<EraSessions {list(self._twins)}>"

    @property
    def connections(self) -> list[ServerConnection]:
        twins = self._twins.values()
        return [twin.connection for twin in twins if twin.connection is not None]

    def twin_of(self, server_id: str) -> ServerConnection | None:
        """The session that clients of 2025-11-25 have with a server, if it is open."""
        twin = self._twins.get(server_id)
        return None if twin is None else twin.connection

    async def matching(
        self, connection: ServerConnection, *, is_stateless: bool
    ) -> ServerConnection:
        """The session for a client of this era; the shared one where there is no better."""
        if is_stateless or not _may_have_both(connection):
            return connection
        twin = self._twins.get(connection.server_id)
        if twin is None or twin.entry is not connection.entry:
            await self._close(connection.server_id)
            twin = self._twins[connection.server_id] = _Twin(connection.entry)
            self._gateway.spawn(self._open(twin), f"second session of {connection.server_id}")
        await twin.is_open.wait()
        return twin.connection or connection

    async def _open(self, twin: _Twin) -> None:
        servers = self._gateway.servers
        entry = msgspec.structs.replace(
            twin.entry, protocol_version=HANDSHAKE_VERSIONS[0], max_retries=0
        )
        connection = ServerConnection(
            entry,
            servers.settings,
            bus=servers.bus,
            clock=servers.clock,
            options=servers.options,
            listener=self,
        )
        try:
            result = await connection.connect()
            if isinstance(result, Failure):
                await connection.close()
            else:
                twin.connection = connection
        finally:
            twin.is_open.set()

    def notified(self, server_id: str, frame: Frame, link: Link) -> None:
        self._gateway.fan_out.notified(server_id, frame, link)

    def list_changed(self, server_id: str, kind: str) -> None:
        if kind == "tools":  # it says which of them may run as tasks
            self._gateway.list_changed(server_id, kind)

    async def _close(self, server_id: str) -> None:
        twin = self._twins.pop(server_id, None)
        if twin is not None and twin.connection is not None:
            await twin.connection.close()

    async def drop_gone(self) -> None:
        """Close the sessions of servers that are not configured any more, or otherwise."""
        for server_id, twin in list(self._twins.items()):
            connection = self._gateway.servers.get(server_id)
            if connection is None or connection.entry is not twin.entry:
                await self._close(server_id)

    async def close(self) -> None:
        for server_id in list(self._twins):
            await self._close(server_id)


def _may_have_both(connection: ServerConnection) -> bool:
    entry = connection.entry
    is_free = entry.protocol_version == "auto" and entry.url is not None
    return is_free and is_stateless_server(connection)

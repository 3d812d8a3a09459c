"""The requests that an endpoint answers itself: handshakes, log levels, subscriptions, listening.

What clients share of a server (its log level, its subscriptions) is asked of it once for all of
them. Owned by handler.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final

from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError
from mcplens.gateway.fan_out import LIST_FILTERS, ListenStream, wanted_of
from mcplens.gateway.gateway import GATEWAY_MARK
from mcplens.gateway.inbound_call import InboundCall, has_logging
from mcplens.gateway.inbound_client import InboundClient
from mcplens.gateway.refused import Refused
from mcplens.gateway.remote_tasks import RemoteTasks
from mcplens.gateway.wire import encoded, members, text_of
from mcplens.inbound.refusal import INVALID_PARAMS, INVALID_REQUEST
from mcplens.protocol.eras import (
    HANDSHAKE_VERSIONS,
    LOG_LEVELS,
    SERVER_INFO,
    SUBSCRIPTION_ID,
    VERSIONS,
)
from mcplens.session.subscription_stream import ACKNOWLEDGED

if TYPE_CHECKING:
    from mcplens.gateway.handler import InboundHandler

_EMPTY: Final = b"{}"


def _settle(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)


class Description:
    """How an endpoint introduces itself to its clients."""

    def __init__(
        self, server_info: dict[str, Any], capabilities: dict[str, Any], instructions: str | None
    ) -> None:
        self.server_info = server_info
        self.capabilities = capabilities
        self.instructions = instructions

    def __repr__(self) -> str:
        return f"<Description of {self.server_info.get('name')}: {sorted(self.capabilities)}>"


class OwnMethods:
    """Answers to the requests that are not passed on, by method."""

    def __init__(self, handler: InboundHandler) -> None:
        self._handler = handler
        self.by_name: dict[str, Callable[[InboundCall], Awaitable[bytes]]] = {
            "initialize": self._initialize,
            "server/discover": self._discover,
            "ping": self._ping,
            "logging/setLevel": self._set_level,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
            "subscriptions/listen": self._listen,
        }

    def __repr__(self) -> str:
        return f"<OwnMethods of {self._handler!r}>"

    # -- handshakes --------------------------------------------------------------------------------

    async def _initialize(self, call: InboundCall) -> bytes:
        params = members(call.body)
        client, peer = call.client, call.client.peer
        if peer.protocol_version is not None:
            raise Refused(INVALID_REQUEST, "initialize was sent before")
        offered = text_of(params.get("protocolVersion"))
        version = offered if offered in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0]
        client.introduce_by(params)
        description = await self._handler.describe(client)
        peer.protocol_version = version
        client.is_ready = True
        self._handler.gateway.connected(client)
        result: dict[str, Any] = {
            "protocolVersion": version,
            "capabilities": self._marked(description.capabilities),
            "serverInfo": description.server_info,
        }
        if description.instructions is not None:
            result["instructions"] = description.instructions
        return encoded(result)

    async def _discover(self, call: InboundCall) -> bytes:
        description = await self._handler.describe(call.client)
        result: dict[str, Any] = {
            "resultType": "complete",
            "supportedVersions": list(VERSIONS),
            "capabilities": self._marked(description.capabilities),
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {SERVER_INFO: description.server_info},
        }
        if description.instructions is not None:
            result["instructions"] = description.instructions
        return encoded(result)

    def _marked(self, capabilities: dict[str, Any]) -> dict[str, Any]:
        """With our mark, by which a gateway notices that it would connect to itself."""
        experimental = capabilities.get("experimental")
        own = experimental if isinstance(experimental, dict) else {}
        mark = {GATEWAY_MARK: {"ids": self._handler.gateway.reached_gateways()}}
        return {**capabilities, "experimental": {**own, **mark}}

    async def _ping(self, call: InboundCall) -> bytes:
        return _EMPTY

    # -- what clients share ------------------------------------------------------------------------

    async def _set_level(self, call: InboundCall) -> bytes:
        level = text_of(members(call.body).get("level"))
        if level not in LOG_LEVELS:
            raise Refused(INVALID_PARAMS, f"level must be one of {', '.join(LOG_LEVELS)}")
        call.client.log_level = level
        self._handler.gateway.client_changed(call.client)
        await self.set_level(call.client, level)
        return _EMPTY

    async def set_level(self, client: InboundClient, level: str) -> None:
        """Ask the servers that a client can see for its log level."""
        for connection in self._handler.gateway.usable():
            if connection.entry.is_per_user:
                continue  # a user's session logs as its server likes; clients filter by level
            if has_logging(connection) and self._handler.shows(connection.server_id):
                session = await self._handler.gateway.session_for(connection, client)
                await session.shared.set_level(level, client)

    async def _subscribe(self, call: InboundCall) -> bytes:
        uri = self._uri(call)
        call.server_id = await self.subscribe(call.client, uri)
        return _EMPTY

    async def subscribe(self, client: InboundClient, uri: str) -> str:
        """Subscribe a client to a resource; the server that has it.

        Raises:
            Refused: there is no such resource.
        """
        session = await self._subscribed_session(client, uri)
        await session.shared.subscribe(uri, client)
        client.subscriptions.add(uri)
        self._handler.gateway.client_changed(client)
        return session.server_id

    async def _unsubscribe(self, call: InboundCall) -> bytes:
        uri = self._uri(call)
        session = await self._subscribed_session(call.client, uri)
        call.server_id = session.server_id
        await session.shared.unsubscribe(uri, call.client)
        call.client.subscriptions.discard(uri)
        self._handler.gateway.client_changed(call.client)
        return _EMPTY

    def _uri(self, call: InboundCall) -> str:
        uri = text_of(members(call.body).get("uri"))
        if uri is None:
            raise Refused(INVALID_PARAMS, "uri is missing")
        return uri

    async def _subscribed_session(self, client: InboundClient, uri: str) -> ServerConnection:
        """The session in which a client subscribes: its own, or the one that all share."""
        server_id = self._handler.server_of_uri(uri, client.peer.caller)
        connection = None if server_id is None else self._handler.gateway.servers.get(server_id)
        if connection is None:
            raise Refused(INVALID_PARAMS, f"there is no resource {uri}")
        if connection.mode == "per-client" or connection.entry.is_per_user:
            return await self._handler.gateway.session_for(connection, client)
        return connection

    async def _listen(self, call: InboundCall) -> bytes:
        """Acknowledge what will be sent, then stay until the client ends it."""
        gateway = self._handler.gateway
        filters = wanted_of(members(call.body))
        wanted: dict[str, Any] = {name: True for name in LIST_FILTERS if filters.get(name) is True}
        stream = ListenStream(call, wanted)
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        remote = RemoteTasks(gateway, stream, partial(_settle, over))
        timer = None
        try:
            uris = filters.get("resourceSubscriptions")
            if isinstance(uris, list):
                wanted["resourceSubscriptions"] = await self._subscribe_all(uris, stream)
            named = filters.get("taskIds")
            if isinstance(named, list):
                ids = [one for one in named if isinstance(one, str)]
                honoured = {*await self._watch_all(ids, stream), *await remote.follow(ids)}
                wanted["taskIds"] = [one for one in ids if one in honoured]
            stream.notify(ACKNOWLEDGED, {"notifications": wanted})
            gateway.fan_out.streams.append(stream)
            remote.pass_on()
            expires_at = gateway.token_expiry(call.client.path, call.headers)
            if expires_at != inf:  # the client comes again, with another token
                timer = gateway.clock.call_at(expires_at, partial(_settle, over))
            await over
        finally:
            if timer is not None:
                timer.cancel()
            if stream in gateway.fan_out.streams:
                gateway.fan_out.streams.remove(stream)
            gateway.drop(stream)
            await remote.close()
        return encoded({"resultType": "complete", "_meta": {SUBSCRIPTION_ID: call.id}})

    async def _watch_all(self, ids: list[str], stream: ListenStream) -> list[str]:
        """The tasks that the client may be told about; a 2026-07-28 server is asked to do so."""
        client, honoured = stream.call.client, []
        for one in ids:
            task = self._handler.gateway.tasks.get(client, one)
            connection = None if task is None else self._handler.gateway.server(task.server_id)
            if task is None or connection is None or not self._handler.shows(task.server_id):
                continue
            try:
                session = await self._handler.gateway.session_for(connection, client)
            except (InspectorError, Refused):
                continue
            session.shared.watch_task(task.original, stream)
            honoured.append(task.id)
        return honoured

    async def _subscribe_all(self, uris: list[Any], stream: ListenStream) -> list[str]:
        """The resources that could be subscribed to."""
        gateway, client = self._handler.gateway, stream.call.client
        honoured = []
        for uri in uris:
            if not isinstance(uri, str):
                continue
            server_id = self._handler.server_of_uri(uri, client.peer.caller)
            connection = None if server_id is None else gateway.servers.get(server_id)
            if connection is None:
                continue
            try:
                if connection.entry.is_per_user:
                    connection = await gateway.session_for(connection, client)
                await connection.shared.subscribe(uri, stream)
            except (InspectorError, Refused):
                continue
            honoured.append(uri)
        return honoured

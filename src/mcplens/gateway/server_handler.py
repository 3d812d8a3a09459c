"""One server untouched, at `/servers/<id>/mcp`: our transports and our trace, no aggregation.

Methods that we do not know pass. What the clients of the shared session have in common (log level,
subscriptions, tasks, questions) is kept apart as in every endpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

from mcplens.config.views import View
from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError
from mcplens.gateway.catalog import ChangedList, Kind
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.handler import InboundHandler
from mcplens.gateway.inbound_call import InboundCall, opened
from mcplens.gateway.inbound_client import InboundClient
from mcplens.gateway.own_methods import Description
from mcplens.gateway.refused import Refused
from mcplens.gateway.task_shapes import capabilities_for
from mcplens.inbound.refusal import INTERNAL_ERROR
from mcplens.inbound.request_validation import HeaderParameters
from mcplens.protocol.frames import Frame
from mcplens.session.raw_calls import read_params
from mcplens.version import VERSION

_UNTOUCHED = View(separator="none")
# Of a server that a user has not signed in to yet.
_EXPECTED: Final = {"tools": {"listChanged": True}, "prompts": {}, "resources": {}}


def path_of(server_id: str) -> str:
    return f"/servers/{quote(server_id, safe='')}/mcp"


class ServerHandler(InboundHandler):
    """Publishes one server as it is."""

    def __init__(self, gateway: Gateway, server_id: str) -> None:
        super().__init__(gateway, path_of(server_id))
        self.server_id = server_id
        self._parameters: dict[str, HeaderParameters] | None = None

    @property
    def connection(self) -> ServerConnection:
        connection = self.gateway.server(self.server_id)
        if connection is None:
            raise Refused(INTERNAL_ERROR, f"the server {self.server_id} is no longer configured")
        if self.gateway.is_loop(connection):
            raise Refused(INTERNAL_ERROR, f"{self.server_id} leads back to this gateway")
        return connection

    async def describe(self, client: InboundClient) -> Description:
        connection = self.connection
        if connection.entry.is_per_user:
            found = await self.gateway.users.find_session(connection, client)
            if found is None:
                return Description({"name": self.server_id, "version": VERSION}, _EXPECTED, None)
            connection = found
        elif connection.mode != "per-client":  # its own session is opened by its first call
            connection = await self.gateway.session_for(connection, client)
        elif connection.introduction is None:
            await opened(connection)
        introduction = connection.introduction
        if introduction is None:
            raise InspectorError("NOT_CONNECTED", f"{self.server_id} is not connected")
        is_stateless = client.is_stateless
        capabilities = capabilities_for(introduction.capabilities, is_stateless=is_stateless)
        return Description(introduction.server_info, capabilities, introduction.instructions)

    async def passed_on(self, call: InboundCall, params: dict[str, Any]) -> bytes:
        connection = self.connection
        if call.method.startswith("tasks/"):
            return await self.tasks.answer(call, params, [connection])
        return await self.tasks.relay(call, connection, params)

    def find_tool(self, name: str) -> tuple[ServerConnection, str] | None:
        connection = self.gateway.server(self.server_id)
        if connection is None or self.gateway.is_loop(connection):
            return None
        return connection, name

    def server_of_uri(self, uri: str, caller: str) -> str | None:
        return self.server_id

    def shows(self, server_id: str) -> bool:
        return server_id == self.server_id

    def is_untouched_for(self, server_id: str) -> bool:
        return server_id == self.server_id

    def published_changes(self, changed: Iterable[ChangedList]) -> set[Kind]:
        self._parameters = None
        return {one.kind for one in changed if one.server_id == self.server_id}

    def header_parameters(self, tool: str) -> HeaderParameters:
        if self._parameters is None:
            self._parameters = {}
        if tool not in self._parameters:
            connection = self.gateway.servers.get(self.server_id)
            merged = None if connection is None else self.gateway.catalog_of(_UNTOUCHED, connection)
            self._parameters[tool] = {} if merged is None else merged.header_parameters(tool)
            if len(self._parameters) > 1_000:
                self._parameters.clear()
        return self._parameters.get(tool, {})

    def client_notified(self, client: InboundClient, frame: Frame) -> None:
        if self.connection.entry.is_per_user:
            return  # no session is for all
        try:
            params: Mapping[str, Any] = read_params(frame.body)
            if client.spans is not None:
                params = client.spans.to_server(self.connection, frame.method, params)
            self.connection.notify(frame.method, params)
        except (InspectorError, Refused, ValueError):
            return  # the server is not there; a notification has no answer

"""Requests about tasks, and calls that become tasks, kept apart by client.

A client asks about its own tasks only. Used by both kinds of endpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw

from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.inbound_call import InboundCall
from mcplens.gateway.refused import Refused
from mcplens.gateway.wire import UNREADABLE, encoded, members, text_of
from mcplens.inbound.refusal import INVALID_PARAMS
from mcplens.session.capabilities import TASKS_EXTENSION

_decode_items = msgspec.json.Decoder(list[Raw]).decode
_EXTENSION = TASKS_EXTENSION.encode()
# Pages of tasks/list that are read from one server.
_MAX_PAGES = 100


class TaskRequests:
    """Sends requests on, and remembers which tasks they made."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def __repr__(self) -> str:
        return f"<TaskRequests of {self._gateway!r}>"

    async def relay(
        self,
        call: InboundCall,
        connection: ServerConnection,
        params: dict[str, Any],
    ) -> bytes:
        """Pass a request on to a server; a task that it becomes is the client's."""
        may_be_task = call.method == "tools/call" and (
            "task" in params or _EXTENSION in bytes(call.hop.capabilities)
        )
        body = await call.relay(connection, call.method, params)
        if may_be_task:
            self._gateway.tasks.created(call.client, connection.server_id, body)
        return body

    async def answer(
        self, call: InboundCall, params: dict[str, Any], connections: Sequence[ServerConnection]
    ) -> bytes:
        """Answer tasks/*.

        Raises:
            Refused: the client has no such task.
        """
        if call.method == "tasks/list":
            return await self._list(call, connections)
        task_id = text_of(params.get("taskId"))
        if task_id is None:
            raise Refused(INVALID_PARAMS, "taskId is missing")
        server_id = self._gateway.tasks.server_of(call.client, task_id)
        connection = next((one for one in connections if one.server_id == server_id), None)
        if connection is None:
            raise Refused(INVALID_PARAMS, f"there is no task {task_id}")
        return await call.relay(connection, call.method, params)

    async def _list(self, call: InboundCall, connections: Sequence[ServerConnection]) -> bytes:
        """The client's own tasks, of all servers that run any; in one page."""
        found: list[Raw] = []
        owning = self._gateway.tasks.servers_of(call.client)
        for connection in connections:
            if connection.server_id in owning:
                try:
                    found += await self._tasks_of(call, connection)
                except InspectorError:
                    if len(connections) == 1:
                        raise
        return encoded({"tasks": found})

    async def _tasks_of(self, call: InboundCall, connection: ServerConnection) -> list[Raw]:
        found: list[Raw] = []
        cursor: Raw | None = None
        for _ in range(_MAX_PAGES):
            params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
            page = members(await call.relay(connection, "tasks/list", params))
            try:
                items = _decode_items(page.get("tasks", Raw(b"[]")))
            except UNREADABLE:
                break
            for item in items:
                name = text_of(members(item).get("taskId"))
                owned = self._gateway.tasks
                if name is not None and owned.owns(call.client, connection.server_id, name):
                    found.append(item)
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        return found

"""Requests about tasks, and calls that become tasks, kept apart by client.

A client asks about its own tasks only. Between peers of one revision tasks pass as they are; where
the revisions differ, extension_tasks.py and core_tasks.py translate. Used by both kinds of
endpoints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError, ServerError
from mcplens.gateway.core_tasks import CoreTasks, extension_required, task_support
from mcplens.gateway.extension_tasks import ExtensionTasks, is_task_only
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.inbound_call import InboundCall, is_stateless_server
from mcplens.gateway.live_lists import lacks_execution
from mcplens.gateway.refused import Refused, lost_with_replica
from mcplens.gateway.task_owners import OwnedTask
from mcplens.gateway.task_shapes import MAY_BE_TASK, renamed
from mcplens.gateway.wire import UNREADABLE, decoded, encoded, members, text_of
from mcplens.inbound.refusal import INVALID_PARAMS, METHOD_NOT_FOUND
from mcplens.protocol.frames import ABSENT
from mcplens.session.capabilities import TASKS_EXTENSION

_decode_items = msgspec.json.Decoder(list[Raw]).decode
_EXTENSION = TASKS_EXTENSION.encode()
# Pages of tasks/list that are read from one server.
_MAX_PAGES = 100


class TaskRequests:
    """Sends requests on, and remembers which tasks they made."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._extension = ExtensionTasks(gateway)
        self._core = CoreTasks(gateway)

    def __repr__(self) -> str:
        return f"<TaskRequests of {self._gateway!r}>"

    async def relay(
        self,
        call: InboundCall,
        connection: ServerConnection,
        params: dict[str, Any],
    ) -> bytes:
        """Pass a request on to a server; a task that it becomes is the client's."""
        if call.method == "tools/call":
            if may_become_task(call, params):
                return await self._call_tool(call, await call.session_with(connection), params)
            try:
                return await call.relay(connection, call.method, params)
            except ServerError as error:
                raise self._explained(call, connection, params, error) from None
        body = await call.relay(connection, call.method, params)
        return self._listed(call, connection, body) if call.method == "tools/list" else body

    async def finish(
        self, call: InboundCall, session: ServerConnection, params: dict[str, Any]
    ) -> bytes:
        """Go on with a plain call of a tool that was sent already (plain_calls.py)."""
        try:
            return await call.send(session, call.method, params)
        except ServerError as error:
            raise self._explained(call, session, params, error) from None

    async def _call_tool(
        self, call: InboundCall, session: ServerConnection, params: dict[str, Any]
    ) -> bytes:
        """Call a tool that may become a task."""
        if not call.is_stateless and is_stateless_server(session):
            return await self._extension.call_tool(call, session, params)
        if call.is_stateless and not is_stateless_server(session):
            return await self._core.call_tool(call, session, params)
        body = await call.send(session, call.method, params)
        found = members(body)
        task = (
            found
            if text_of(found.get("resultType")) == "task"
            else members(found.get("task", b"{}"))
        )
        original = text_of(task.get("taskId"))
        if original is None:
            return body
        ttl = decoded(task.get("ttlMs", task.get("ttl")))
        owned = self._gateway.tasks.add(call.client, session.server_id, original, ttl)
        token = call.hop.progress_token
        if token is not ABSENT and not call.is_stateless and call.answered_id is not None:
            self._gateway.tasks.expect_progress(owned, call.answered_id, token)
        return body if owned.id == original else renamed(body, owned.id)

    def _explained(
        self,
        call: InboundCall,
        connection: ServerConnection,
        params: Mapping[str, Any],
        error: ServerError,
    ) -> Exception:
        """The refusal of a plain call of a tool that runs as a task only, in the client's words."""
        if not call.is_stateless and is_task_only(error):
            text = f"{call.name} runs as a task only; call it with `task` in the params"
            return Refused(METHOD_NOT_FOUND, text)
        if call.is_stateless and error.rpc_code == METHOD_NOT_FOUND:
            is_core = not is_stateless_server(connection)
            if is_core and task_support(connection, params.get("name")) == "required":
                return extension_required(call.name)
        return error

    def _listed(self, call: InboundCall, connection: ServerConnection, body: bytes) -> bytes:
        """The tools of one server, with what 2025-11-25 clients must know of tasks."""
        if call.is_stateless or not lacks_execution(connection):
            return body
        if self._gateway.era_sessions.twin_of(connection.server_id) is not None:
            return body  # the list came in the client's own revision
        found: dict[str, Any] = dict(members(body))
        try:
            tools = [members(each) for each in _decode_items(found["tools"])]
        except (KeyError, *UNREADABLE):
            return body
        found["tools"] = [{"execution": MAY_BE_TASK, **tool} for tool in tools]
        return encoded(found)

    async def answer(
        self, call: InboundCall, params: dict[str, Any], connections: Sequence[ServerConnection]
    ) -> bytes:
        """Answer tasks/*.

        Raises:
            Refused: the client has no such task.
        """
        if call.is_stateless and not _knows_tasks(call):
            raise extension_required(call.method)
        if call.method == "tasks/list":
            return await self._list(call, connections)
        task_id = text_of(params.get("taskId"))
        if task_id is None:
            raise Refused(INVALID_PARAMS, "taskId is missing")
        task = self._gateway.tasks.get(call.client, task_id)
        connection = None if task is None else _of_task(task, connections)
        if task is None and (call.client.is_adopted or self._gateway.tasks.is_of_another(task_id)):
            raise lost_with_replica("task")
        if task is None or connection is None:
            raise Refused(INVALID_PARAMS, f"there is no task {task_id[:200]} of yours here")
        session = await call.session_with(connection)
        if call.is_stateless == is_stateless_server(session):
            body = await call.send(session, call.method, {**params, **task.params})
            return body if task.id == task.original else renamed(body, task.id)
        if call.is_stateless:
            return await self._core.answer(call, session, task, params)
        return await self._extension.answer(call, session, task)

    # -- tasks/list ------------------------------------------------------------------------------

    async def _list(self, call: InboundCall, connections: Sequence[ServerConnection]) -> bytes:
        """The client's own tasks, of all servers that run any; in one page."""
        found: list[Any] = []
        by_server: dict[str, list[OwnedTask]] = {}
        for task in self._gateway.tasks.of(call.client):
            by_server.setdefault(task.server_id, []).append(task)
        for connection in connections:
            owned = by_server.get(connection.server_id)
            if not owned:
                continue
            try:
                session = await call.session_with(connection)
                if is_stateless_server(session):
                    found += await self._looked_up(call, session, owned)
                else:
                    found += await self._tasks_of(call, session, owned)
            except InspectorError:
                if len(connections) == 1:
                    raise
        return encoded({"tasks": found})

    async def _looked_up(
        self, call: InboundCall, session: ServerConnection, owned: Sequence[OwnedTask]
    ) -> list[Any]:
        """Tasks of a 2026-07-28 server, which has no list of them."""
        found: list[Any] = []
        for task in owned:
            try:
                found.append(await self._extension.summary(call, session, task))
            except ServerError as error:
                if error.rpc_code != INVALID_PARAMS:
                    raise
                self._gateway.tasks.forget(task)  # the server does not know it any more
        return found

    async def _tasks_of(
        self, call: InboundCall, session: ServerConnection, owned: Sequence[OwnedTask]
    ) -> list[Any]:
        by_original = {task.original: task for task in owned}
        found: list[Any] = []
        cursor: Raw | None = None
        for _ in range(_MAX_PAGES):
            params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
            page = members(await call.send(session, "tasks/list", params))
            try:
                items = _decode_items(page.get("tasks", Raw(b"[]")))
            except UNREADABLE:
                break
            for item in items:
                task = by_original.get(text_of(members(item).get("taskId")) or "")
                if task is not None:
                    found.append({**members(item), "taskId": task.id})
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        return found


def may_become_task(call: InboundCall, params: Mapping[str, Any]) -> bool:
    """Whether the client of a call of a tool allows the server to answer with a task."""
    return _knows_tasks(call) if call.is_stateless else "task" in params


def _knows_tasks(call: InboundCall) -> bool:
    """Whether a 2026-07-28 client declares the extension with this request."""
    return _EXTENSION in bytes(call.hop.capabilities)


def _of_task(task: OwnedTask, connections: Sequence[ServerConnection]) -> ServerConnection | None:
    return next((one for one in connections if one.server_id == task.server_id), None)

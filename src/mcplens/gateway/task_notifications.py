"""What servers say about tasks on their own: status and progress, to the clients they are for.

Called by fan_out.py, and by client_sessions.py for a client's own sessions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcplens.errors import InspectorError
from mcplens.gateway.inbound_client import InboundClient
from mcplens.gateway.task_owners import OwnedTask
from mcplens.gateway.task_shapes import is_over, renamed, status_of, to_core
from mcplens.gateway.wire import decoded, members, text_of
from mcplens.protocol.frames import Frame

if TYPE_CHECKING:
    from mcplens.gateway.fan_out import ListenStream
    from mcplens.gateway.gateway import Gateway

# As 2025-11-25 and the extension of 2026-07-28 name it.
_CORE = "notifications/tasks/status"
_EXTENSION = "notifications/tasks"


def pass_status_on(
    gateway: Gateway, server_id: str, frame: Frame, owner: str | None = None
) -> None:
    """A server said where a task stands; `owner` is the client whose own session said it."""
    name = text_of(members(frame.body).get("taskId"))
    if name is None or frame.method not in (_CORE, _EXTENSION):
        return
    for task in gateway.tasks.at(server_id, name):
        if owner is not None and task.owner != owner:
            continue
        for stream in list(gateway.fan_out.streams):
            ids = stream.wanted.get("taskIds") or ()
            if task.is_of(stream.call.client) and task.id in ids:
                _tell_stream(gateway, stream, task, frame)
        for client in list(gateway.clients.values()):
            if task.is_of(client) and not client.is_stateless:
                _tell_client(client, task, frame)


def _tell_stream(gateway: Gateway, stream: ListenStream, task: OwnedTask, frame: Frame) -> None:
    if frame.method == _EXTENSION:
        stream.notify(_EXTENSION, {**members(frame.body), "taskId": task.id})
    else:
        gateway.spawn(_tell_details(gateway, stream, task), f"status of {task.id}")


async def _tell_details(gateway: Gateway, stream: ListenStream, task: OwnedTask) -> None:
    """2026-07-28 wants the whole task, with its questions and its result."""
    from mcplens.gateway.core_tasks import CoreTasks

    connection = gateway.server(task.server_id)
    if connection is None:
        return
    try:
        session = await gateway.session_for(connection, stream.call.client)
        params = await CoreTasks(gateway).detailed(stream.call, session, task)
    except InspectorError:
        return  # the client polls, and finds out for itself
    stream.notify(_EXTENSION, params)


def _tell_client(client: InboundClient, task: OwnedTask, frame: Frame) -> None:
    if frame.method == _CORE:
        params: Any = frame.body if task.id == task.original else renamed(frame.body, task.id)
        client.notify(_CORE, params)
        return
    found = members(frame.body)
    status = "cancelled" if task.is_cancelled else None
    client.notify(_CORE, to_core(found, task.id, status=status))
    if is_over(status_of(found)):
        task.unwatch()


def pass_progress_on(
    gateway: Gateway, server_id: str, frame: Frame, owner: str | None = None
) -> None:
    """Progress of a task, under the token of the call that became it."""
    token = decoded(members(frame.body).get("progressToken"))
    if not isinstance(token, int | str) or isinstance(token, bool):
        return
    for task in gateway.tasks.with_token(server_id, token):
        if owner is not None and task.owner != owner:
            continue
        for client in list(gateway.clients.values()):
            if task.is_of(client) and not client.is_stateless:
                params = {**members(frame.body), "progressToken": task.client_token}
                client.notify(frame.method, params)

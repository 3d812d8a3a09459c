"""Which client and which server a task belongs to.

Servers name tasks, and clients name them again to ask about them. A client reaches only tasks that
its own calls became, and a server cannot take over another's. Owned by gateway.py.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from mcplens.gateway.inbound_client import InboundClient
from mcplens.gateway.wire import UNREADABLE, members, text_of
from mcplens.protocol.frames import Frame

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway

# Tasks that are remembered; the oldest is forgotten first.
MAX_TASKS: Final = 10_000


class OwnedTask(NamedTuple):
    """A task of a server's, made for a client."""

    owner: str
    server_id: str


class _CreatedTask(msgspec.Struct, gc=False):
    taskId: str = ""


class _Created(msgspec.Struct, gc=False):
    """A result that may be a task, in the way of either revision."""

    resultType: str = ""
    taskId: str = ""
    task: _CreatedTask | None = None


_decode_created = msgspec.json.Decoder(_Created).decode


class TaskOwners:
    """Tasks by their ids."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._tasks: OrderedDict[str, OwnedTask] = OrderedDict()

    def __repr__(self) -> str:
        return f"<TaskOwners {len(self._tasks)}>"

    def created(self, client: InboundClient, server_id: str, body: bytes) -> None:
        """A result came that may have made a task."""
        try:
            found = _decode_created(body)
        except UNREADABLE:
            return
        name = found.task.taskId if found.task is not None else ""
        if found.resultType == "task":
            name = found.taskId
        if name and name not in self._tasks:
            self._tasks[name] = OwnedTask(client.key, server_id)
            if len(self._tasks) > MAX_TASKS:
                self._tasks.popitem(last=False)

    def server_of(self, client: InboundClient, task_id: str) -> str | None:
        """The server that runs a task of this client's; None if it has no such task."""
        found = self._tasks.get(task_id)
        return found.server_id if found is not None and found.owner == client.key else None

    def owns(self, client: InboundClient, server_id: str, task_id: str) -> bool:
        return self.server_of(client, task_id) == server_id

    def servers_of(self, client: InboundClient) -> list[str]:
        """The servers that run tasks of this client's."""
        owner = client.key
        found = [one.server_id for one in self._tasks.values() if one.owner == owner]
        return list(dict.fromkeys(found))

    def notified(self, server_id: str, frame: Frame) -> None:
        """A server told where a task stands: so is the client that the task is for."""
        name = text_of(members(frame.body).get("taskId"))
        task = self._tasks.get(name) if name is not None else None
        if task is None or task.server_id != server_id:
            return
        for stream in list(self._gateway.fan_out.streams):
            ids = stream.wanted.get("taskIds") or ()
            if stream.call.client.key == task.owner and name in ids:
                stream.notify(frame.method, dict(members(frame.body)))
        for client in list(self._gateway.clients.values()):
            if client.key == task.owner and not client.is_stateless:
                client.peer.send(frame.raw)

    def left(self, client: InboundClient) -> None:
        """A session is over, and nobody can ask for its tasks any more."""
        if not client.is_stateless:
            for name in [name for name, one in self._tasks.items() if one.owner == client.id]:
                del self._tasks[name]

"""Session strategy `per-call`: connect, perform one operation, disconnect.

Nothing stays open between operations, and the status tells of the last one. The time that
connecting takes has its own limits and does not count against that of the operation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from mcplens.clock import Clock
from mcplens.downstream.live_server import LiveServer
from mcplens.downstream.sessions import Operation
from mcplens.downstream.status import ServerState, ServerStatus
from mcplens.errors import InspectorError
from mcplens.events import StateChanged
from mcplens.protocol.deadlines import Deadline
from mcplens.session.client import Client
from mcplens.session.queue import CallTag
from mcplens.transports.base import Closing

T = TypeVar("T")


class PerCallSessions:
    """A new client for each operation."""

    def __init__(
        self,
        live: LiveServer,
        clock: Clock,
        changed: Callable[[], None],
        equip: Callable[[Client], None],
    ) -> None:
        self._live = live
        self._clock = clock
        self._changed = changed
        self._equip = equip
        self._clients: set[Client] = set()
        self._state = ServerState(status=ServerStatus.STOPPED, since=clock.wall())

    def __repr__(self) -> str:
        return f"<PerCallSessions {self._state.status.value}, {len(self._clients)} open>"

    @property
    def state(self) -> ServerState:
        return self._state

    @property
    def ready_client(self) -> Client | None:
        return None  # each operation has its own

    def start(self) -> None:
        """Nothing stays open."""

    def moved(self, event: StateChanged) -> None:
        """There is no long-lived connection."""

    async def run(
        self,
        operation: Operation[T],
        deadline: Deadline,
        tag: CallTag,
        is_repeatable: bool,
        begun_by: Client | None = None,
    ) -> T:
        self._move(ServerStatus.STARTING)
        try:
            client = self._live.new_client()
        except InspectorError as error:
            self.failed(error)
            raise
        self._equip(client)
        self._clients.add(client)
        try:
            await self._connect(client, deadline)
            self._move(ServerStatus.RUNNING)
            result = await operation(client)
        except InspectorError as error:
            await self._leave(client)
            if error.category == "cancelled":
                self._move(ServerStatus.STOPPED)
            else:
                self.failed(error)
            raise
        except BaseException:
            await self._leave(client)
            self._move(ServerStatus.STOPPED)
            raise
        await self._leave(client)
        self._move(ServerStatus.STOPPED)
        return result

    async def _connect(self, client: Client, deadline: Deadline) -> None:
        deadline.pause(self._clock.monotonic())
        try:
            await client.connect()
        except InspectorError as error:
            raise _with_attempts(error) from None
        finally:
            deadline.resume(self._clock.monotonic())

    async def _leave(self, client: Client) -> None:
        """Disconnect completely, even if the caller is cancelled meanwhile."""
        self._clients.discard(client)
        await asyncio.shield(client.disconnect())

    def failed(self, error: InspectorError) -> None:
        self._move(ServerStatus.ERROR, error.message, error.shortened().to_dict())

    def _move(
        self, status: ServerStatus, message: str = "", error: dict[str, Any] | None = None
    ) -> None:
        self._state = ServerState(
            status=status, since=self._clock.wall(), message=message, error=error
        )
        self._changed()

    async def close(self, closing: Closing = Closing.GRACEFUL) -> None:
        clients, self._clients = self._clients, set()
        await asyncio.gather(*(client.disconnect(closing) for client in clients))
        if self._state.status is not ServerStatus.ERROR:
            self._move(ServerStatus.STOPPED)


def _with_attempts(error: InspectorError) -> InspectorError:
    """The error of the last attempt, which says how many there were."""
    attempts = error.details.get("attempts")
    if not attempts:
        return error
    twin = error.copy()
    twin.message = f"not connected after {attempts} attempts: {error.message}"
    twin.args = (twin.message,)
    return twin

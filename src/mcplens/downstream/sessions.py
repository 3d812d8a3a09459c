"""Interface of the session strategies: how an operation gets a connected client.

`persistent_session.py` keeps one session open, `per_call_sessions.py` opens one for each operation;
nothing else depends on which it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from mcplens.downstream.status import ServerState
from mcplens.errors import InspectorError
from mcplens.events import StateChanged
from mcplens.protocol.deadlines import Deadline
from mcplens.session.client import Client
from mcplens.session.queue import CallTag
from mcplens.transports.base import Closing

T = TypeVar("T")
Operation = Callable[[Client], Awaitable[T]]


class Sessions(Protocol):
    """Where a server stands, and operations on it."""

    @property
    def state(self) -> ServerState: ...

    @property
    def ready_client(self) -> Client | None:
        """The client of a session that is open and stays so."""

    def start(self) -> None:
        """Open what stays open. Raises InspectorError if the entry cannot be used."""

    async def run(
        self,
        operation: Operation[T],
        deadline: Deadline,
        tag: CallTag,
        is_repeatable: bool,
        begun_by: Client | None = None,
    ) -> T:
        """Run an operation on a connected client; `begun_by` has begun it already.

        Raises:
            InspectorError: it failed, or there is no connection.
        """

    def moved(self, event: StateChanged) -> None:
        """The long-lived connection changed its state."""

    def failed(self, error: InspectorError) -> None:
        """An operation could not even begin."""

    async def close(self, closing: Closing = Closing.GRACEFUL) -> None: ...

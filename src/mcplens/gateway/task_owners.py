"""Which client and which server a task belongs to, and by which id the client knows it.

Servers name tasks, and clients name them again to ask about them. A client reaches only tasks that
its own calls became, at the path where it made them, and a server cannot take over another's. An
id that another task has already, or that could be guessed, is replaced. Owned by gateway.py.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec import Raw

from mcplens.clock import Clock, Timer
from mcplens.gateway.inbound_client import InboundClient
from mcplens.protocol.frames import RequestId
from mcplens.protocol.tasks import is_milliseconds

if TYPE_CHECKING:
    from mcplens.downstream.server_connection import ServerConnection
    from mcplens.gateway.core_tasks import FollowedTask
    from mcplens.gateway.extension_tasks import FinishedTask

K = TypeVar("K")

# Tasks that are remembered; the oldest is forgotten first.
MAX_TASKS: Final = 10_000
# Shorter ids are replaced: clients of 2026-07-28 with the same token are told apart by ids alone.
_UNGUESSABLE: Final = 16
# A task is remembered for its time to live and a little longer, but never for longer than a day.
_LONGEST_S: Final = 86_400.0
_GRACE_S: Final = 5.0


class OwnedTask:
    """A task of a server's, made for a client."""

    def __init__(self, task_id: str, client: InboundClient, server_id: str, original: str) -> None:
        self.id = task_id  # as its client knows it
        self.original = original  # as its server does
        self.owner = client.key
        self.path = client.path
        self.server_id = server_id
        self.token: RequestId | None = None  # by which the server reports progress
        self.client_token: Raw | None = None  # by which the client expects it
        # Where client and server are of different revisions:
        self.is_cancelled = False
        self.answered: set[str] = set()  # keys of questions that the client has answered
        self.asking = asyncio.Lock()
        self.followed: FollowedTask | None = None
        self.finished: FinishedTask | None = None
        self.watched_in: ServerConnection | None = None  # the session whose reports it gets
        self.timer: Timer | None = None

    def __repr__(self) -> str:
        return f"<OwnedTask {self.id} of {self.owner}, {self.original} at {self.server_id}>"

    @property
    def params(self) -> dict[str, Any]:
        """What names it to its server."""
        return {"taskId": self.original}

    def is_of(self, client: InboundClient) -> bool:
        return self.owner == client.key and self.path == client.path

    def watch(self, session: ServerConnection) -> None:
        """Have a 2026-07-28 server report on it, until it is over or forgotten."""
        self.watched_in = session
        session.shared.watch_task(self.original, self)

    def unwatch(self) -> None:
        session, self.watched_in = self.watched_in, None
        if session is not None:
            session.shared.unwatch_task(self.original, self)

    def drop(self) -> None:
        """Nobody asks about it any more."""
        if self.timer is not None:
            self.timer.cancel()
        self.unwatch()
        if self.followed is not None:
            self.followed.cancel()


class TaskOwners:
    """Tasks by the ids that clients know."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.kept_bytes = 0  # of results that are kept here
        self.new_id: Callable[[], str] | None = None  # where ids name the replica that has them
        self.is_of_another: Callable[[str], bool] = lambda _task_id: False  # by that name
        self._tasks: OrderedDict[str, OwnedTask] = OrderedDict()
        # By what servers call them: ids and progress tokens, several where a server gives one twice
        # or has a session for each client.
        self._originals: dict[tuple[str, str], list[OwnedTask]] = {}
        self._tokens: dict[tuple[str, RequestId], list[OwnedTask]] = {}

    def __repr__(self) -> str:
        return f"<TaskOwners {len(self._tasks)}>"

    def add(
        self, client: InboundClient, server_id: str, original: str, ttl_ms: Any = None
    ) -> OwnedTask:
        """A call of this client's became a task, which the server keeps for so long."""
        is_free = len(original) >= _UNGUESSABLE and original not in self._tasks
        task_id = original if is_free else secrets.token_hex(18)
        if self.new_id is not None and client.is_stateless:
            task_id = self.new_id()
        task = self._tasks[task_id] = OwnedTask(task_id, client, server_id, original)
        self._originals.setdefault((server_id, original), []).append(task)
        ttl_s = min(ttl_ms / 1000, _LONGEST_S) if is_milliseconds(ttl_ms) else _LONGEST_S
        due = self._clock.monotonic() + ttl_s + _GRACE_S
        task.timer = self._clock.call_at(due, lambda: self.forget(task))
        if len(self._tasks) > MAX_TASKS:
            self.forget(next(iter(self._tasks.values())))
        return task

    def keep(self, task: OwnedTask, finished: FinishedTask) -> None:
        """Keep the result of a task here until it is forgotten."""
        task.finished = finished
        self.kept_bytes += len(finished.result)

    def expect_progress(self, task: OwnedTask, token: RequestId, client_token: Raw) -> None:
        """A task keeps the progress token of the call that became it (2025-11-25)."""
        task.token, task.client_token = token, client_token
        self._tokens.setdefault((task.server_id, token), []).append(task)

    def get(self, client: InboundClient, task_id: str) -> OwnedTask | None:
        """A task of this client's; None if it has no such task."""
        found = self._tasks.get(task_id)
        return found if found is not None and found.is_of(client) else None

    def of(self, client: InboundClient) -> list[OwnedTask]:
        """All tasks of this client's."""
        return [task for task in self._tasks.values() if task.is_of(client)]

    def at(self, server_id: str, original: str) -> list[OwnedTask]:
        """The tasks that a server means by an id."""
        return list(self._originals.get((server_id, original), ()))

    def with_token(self, server_id: str, token: RequestId) -> list[OwnedTask]:
        """The tasks whose progress a server reports by this token."""
        return list(self._tokens.get((server_id, token), ()))

    def forget(self, task: OwnedTask) -> None:
        """Nobody can ask about it any more."""
        if self._tasks.get(task.id) is not task:
            return
        del self._tasks[task.id]
        _take_out(self._originals, (task.server_id, task.original), task)
        if task.token is not None:
            _take_out(self._tokens, (task.server_id, task.token), task)
        if task.finished is not None:
            self.kept_bytes -= len(task.finished.result)
        task.drop()

    def close(self) -> None:
        for task in list(self._tasks.values()):
            self.forget(task)

    def left(self, client: InboundClient) -> None:
        """A session is over, and with it its tasks."""
        if not client.is_stateless:
            for task in [one for one in self._tasks.values() if one.owner == client.id]:
                self.forget(task)


def _take_out(lists: dict[K, list[OwnedTask]], key: K, task: OwnedTask) -> None:
    found = lists.get(key, [])
    if task in found:
        found.remove(task)
        if not found:
            del lists[key]

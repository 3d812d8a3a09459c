"""The tasks that the server runs for us: which there are, where they stand, and their results.

Owns their pollers (task_poller.py, extension_task_poller.py) and publishes their changes. Tasks
outlive a connection that is opened again, and end with `disconnect()`. Called by the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcplens.clock import Clock, within
from mcplens.errors import CancelledRequest, InspectorError
from mcplens.events import ClientTaskChanged, FrameSent, ProgressReceived, Remark
from mcplens.protocol.frames import Frame, RequestId
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.protocol.result_types import Page
from mcplens.protocol.tasks import (
    IMMEDIATE_RESPONSE,
    Task,
    TaskProblem,
    can_move,
    read_task,
    to_wire,
)
from mcplens.session.input_rounds import InputRounds
from mcplens.session.notifications import report_progress
from mcplens.session.paging import each_page, read_page
from mcplens.session.queue import CallTag, Progress, QueueEntry
from mcplens.session.task_poller import CoreTaskPoller, Origin, TaskPoller, read_polled

if TYPE_CHECKING:
    from mcplens.session.client import Client
    from mcplens.session.subscription_stream import SubscriptionStream

# Tasks that are over and still shown; their results are kept with them.
MAX_KEPT: Final = 200
MAX_KEPT_BYTES: Final = 32 * 1024 * 1024
# How long leaving waits for tasks that were just cancelled to be heard of.
_CANCEL_S: Final = 1.0
_CONNECTED: Final = ConnectionState.CONNECTED


class ClientTasks:
    """What the server works on in the background."""

    def __init__(self, client: Client, rounds: InputRounds) -> None:
        self.rounds = rounds
        self._client = client
        self._pollers: dict[str, TaskPoller] = {}
        self._cancels: set[QueueEntry] = set()
        self._back = asyncio.Event()

    def __repr__(self) -> str:
        return f"<ClientTasks {len(self._pollers)} tracked>"

    def tracked(self) -> list[Task]:
        """The tasks that are followed, and those that are over, oldest first."""
        return [poller.task for poller in self._pollers.values()]

    def request_of(self, task_id: str) -> FrameSent | None:
        """The request that became this task, while it is tracked."""
        poller = self._pollers.get(task_id)
        return None if poller is None else poller.origin.sent

    def request_with_token(self, token: RequestId) -> FrameSent | None:
        """The request that became a task and has this progress token."""
        poller = self._with_token(token)
        return None if poller is None else poller.origin.sent

    def _with_token(self, token: object) -> TaskPoller | None:
        for poller in self._pollers.values():
            origin = poller.origin
            if origin.request_id is not None and origin.progress_token == token:
                return poller
        return None

    def follow(self, poller: TaskPoller) -> TaskPoller:
        """Begin to follow a task; one that is followed already has its poller."""
        known = self._pollers.get(poller.id)
        if known is not None and not self._is_another(known, poller):
            return known
        self._pollers[poller.id] = poller
        self._publish_change(poller)
        poller.start()
        self._forget_old()
        return poller

    def _is_another(self, known: TaskPoller, poller: TaskPoller) -> bool:
        """A call was given the id of a task that is over: what that gave is not its result."""
        asked = poller.origin.request_id
        if asked is None or asked == known.origin.request_id:
            return False
        self.remark(f"the server gave the id {known.id} to a second task")
        if not known.task.is_terminal or not known.outcome.done():
            return False
        self.drop(known)
        return True

    async def result_of(self, poller: TaskPoller) -> Frame:
        """The result of a call that became a task; if the caller is cancelled, so is the task."""
        try:
            return await asyncio.shield(poller.outcome)
        except asyncio.CancelledError:
            poller.abandon()
            raise

    # -- tasks by their ids ----------------------------------------------------------------------

    async def get(self, task_id: str, tag: CallTag | None = None) -> Task:
        frame, task = await self._get(task_id, tag or self._client.new_tag())
        poller = self._pollers.get(task_id)
        if poller is not None:
            poller.heard(task, frame)
            return poller.task
        return task

    async def result(self, task_id: str, tag: CallTag) -> tuple[Frame, str]:
        """The result of a call that became a task, and the tool, where it is known."""
        from mcplens.session.extension_task_poller import (
            ExtensionTaskPoller,
        )  # most servers have no tasks

        poller = self._pollers.get(task_id)
        if poller is None:
            frame, task = await self._get(task_id, tag)
            origin = Origin(tag=tag.for_polling())
            poller = self.follow(
                ExtensionTaskPoller(self, task, origin, frame)
                if self.is_stateless
                else CoreTaskPoller(self, task, origin)
            )
        return await asyncio.shield(poller.outcome), poller.origin.tool

    async def list(self) -> list[Task]:
        """All tasks that the server knows, page by page."""
        found: list[Task] = []
        fetch = partial(self._fetch_page, tag=self._client.new_tag())
        async for page in each_page("tasks", fetch, self.remark):
            for raw in page.items:
                try:
                    found.append(read_task(msgspec.json.decode(raw)))
                except (TaskProblem, msgspec.DecodeError) as problem:
                    self.remark(f"tasks/list: left out an item that is not a task: {problem}")
        return found

    async def _fetch_page(self, cursor: str | None, tag: CallTag) -> Page:
        params = {} if cursor is None else {"cursor": cursor}
        frame = await self._client._send("tasks/list", params, tag=tag)
        return read_page("tasks", "tasks/list", "tasks", frame, self.remark)

    async def cancel(self, task_id: str) -> Task:
        """Cancel a task; gives where it stands then."""
        tag = self._client.new_tag()
        frame = await self._client._send("tasks/cancel", {"taskId": task_id}, tag=tag)
        if self.is_stateless:  # an empty acknowledgement; the task ends when it likes
            return await self.get(task_id, tag)
        task = read_polled(frame, task_id, "tasks/cancel")
        poller = self._pollers.get(task_id)
        if poller is not None:
            poller.heard(task, frame)
        return task

    async def _get(self, task_id: str, tag: CallTag) -> tuple[Frame, Task]:
        frame = await self._client._send("tasks/get", {"taskId": task_id}, tag=tag)
        return frame, read_polled(frame, task_id)

    # -- what the server says on its own ---------------------------------------------------------

    def notified(self, frame: Frame, fields: Mapping[str, Any]) -> None:
        """A notification came; only the status of a task that is followed matters here."""
        wanted = "notifications/tasks" if self.is_stateless else "notifications/tasks/status"
        if frame.method != wanted:
            return
        try:
            task = read_task(fields)
        except TaskProblem as problem:
            self.remark(f"{frame.method}: {problem}")
            return
        poller = self._pollers.get(task.task_id)
        if poller is not None:
            poller.heard(task, frame)

    def progressed(self, token: Any, report: Progress, frame_seq: int) -> bool:
        """Progress of a call that became a task keeps its token (TASK-13); False: no task's."""
        poller = self._with_token(token)
        if poller is None or poller.origin.request_id is None:
            return False
        origin = poller.origin
        progressed = ProgressReceived(
            request_id=poller.origin.request_id,
            progress=report.progress,
            total=report.total,
            message=report.message,
            request_seq=origin.request_seq,
            frame_seq=frame_seq,
        )
        report_progress(self._client.connection.publish, progressed, origin.on_progress)
        return True

    # -- what pollers need ---------------------------------------------------------------------

    @property
    def clock(self) -> Clock:
        return self._client.connection.clock

    @property
    def subscription_stream(self) -> SubscriptionStream:
        return self._client.catalog.subscription_stream

    @property
    def is_connected(self) -> bool:
        return self._client.connection.state is _CONNECTED

    @property
    def is_stateless(self) -> bool:
        return self._client.connection.is_stateless

    async def until_connected(self) -> None:
        """Wait for a connection that is being opened again; giving up ends the poller."""
        while not self.is_connected:
            self._back.clear()
            await self._back.wait()

    def send(
        self, method: str, params: Any, tag: CallTag, timeout_s: float | None = None
    ) -> QueueEntry | None:
        """Send a request past the queue; None while that cannot be."""
        try:
            return self._client._start(method, params, tag=tag, timeout_s=timeout_s)
        except InspectorError:
            return None

    async def request(self, method: str, params: Any, tag: CallTag) -> Frame:
        frame: Frame = await self._client._start(method, params, tag=tag)
        return frame

    async def request_surely(self, method: str, params: Any, tag: CallTag) -> Frame:
        """The same; a connection that is lost meanwhile is waited for."""
        while True:
            try:
                return await self.request(method, params, tag)
            except InspectorError:
                if self.is_connected:
                    raise
                await self.until_connected()

    def limit(self, entry: QueueEntry) -> None:
        """The task is over: its result has as long as any request from now on."""
        session = self._client.connection.session
        if session is not None:
            session.in_flight.apply_limits(entry)

    def give_up(self, entry: QueueEntry, reason: str) -> None:
        self._client.connection.cancel(entry, reason)

    def move(self, poller: TaskPoller, task: Task) -> bool:
        """Take over where a task stands; False: it cannot stand there any more."""
        old = poller.task
        if not can_move(old.status, task.status):
            self.remark(f"ignored: the task {old.task_id} is {old.status}, not {task.status}")
            return False
        task = msgspec.structs.replace(task, immediate_response=old.immediate_response)
        if task != old:
            poller.task = task
            self._publish_change(poller)
        return True

    def drop(self, poller: TaskPoller) -> None:
        """Stop tracking a task."""
        if self._pollers.get(poller.id) is poller:
            del self._pollers[poller.id]
            self._publish_change(poller, is_gone=True)

    def cancel_quietly(self, task_id: str, tag: CallTag) -> bool:
        """Ask the server to cancel an abandoned task; False if that is not possible now."""
        if not self.is_connected:
            return False
        if not self.is_stateless and not has(self._client.capabilities, "tasks", "cancel"):
            self.remark(f"the task {task_id} goes on: the server did not declare tasks.cancel")
            return True
        entry = self.send("tasks/cancel", {"taskId": task_id}, tag)
        if entry is not None:
            self._cancels.add(entry)
            entry.future.add_done_callback(lambda _: self._cancels.discard(entry))
        return entry is not None

    def remark(self, text: str) -> None:
        self._client.connection.publish(Remark(message=text))

    def _forget_old(self) -> None:
        """Keep the newest of those that are over, as long as there is room for their results."""
        count = size_bytes = 0
        for poller in reversed(list(self._pollers.values())):
            if poller.task.is_terminal and poller.outcome.done():
                count += 1
                size_bytes += poller.size_bytes
                if count > MAX_KEPT or size_bytes > MAX_KEPT_BYTES:
                    self.drop(poller)

    def _publish_change(self, poller: TaskPoller, *, is_gone: bool = False) -> None:
        task, origin = poller.task, poller.origin
        wire = to_wire(task)
        if task.immediate_response is not None:
            wire["_meta"] = {IMMEDIATE_RESPONSE: task.immediate_response}
        self._client.connection.publish(
            ClientTaskChanged(
                task_id=task.task_id,
                method="tools/call",
                status=task.status,
                task=wire,
                is_gone=is_gone,
                request_seq=origin.request_seq,
                call_id=origin.tag.call_id,
            )
        )

    # -- the connection's life -------------------------------------------------------------------

    def connected(self) -> None:
        """The connection is open, perhaps again: pollers that waited for it go on."""
        self._back.set()

    def disconnected(self, error: InspectorError) -> None:
        """The connection ended; only when it is not opened again does anybody hear of it."""
        if self._client.state is ConnectionState.DISCONNECTED:
            for poller in list(self._pollers.values()):
                if not poller.task.is_terminal or not poller.outcome.done():
                    poller.give_up(error.copy())
                    self.drop(poller)

    async def end(self) -> None:
        """The connection is left: nothing is followed any more."""
        cancels = [entry.future for entry in self._cancels]
        if cancels and self.is_connected:
            try:
                await within(self.clock, _CANCEL_S, _until_done(cancels))
            except TimeoutError:
                self.remark("the server did not confirm that the cancelled tasks have ended")
        running = []
        for poller in list(self._pollers.values()):
            running.append(poller.give_up(CancelledRequest("disconnected")))
            self.drop(poller)
        await asyncio.gather(*filter(None, running), return_exceptions=True)


async def _until_done(futures: list[asyncio.Future[Any]]) -> None:
    await asyncio.wait(futures)


def has(capabilities: Any, *path: str) -> bool:
    """Whether capabilities have something at this place."""
    for key in path:
        capabilities = capabilities.get(key) if isinstance(capabilities, Mapping) else None
    return capabilities is not None and capabilities is not False

"""The tasks that the server runs for us: which there are, where they stand, and their results.

Owns their pollers (task_poller.py, extension_task_poller.py) and publishes their changes. Tasks
outlive a connection that is opened again, and end with `disconnect()`. Called by the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import msgspec

from mcplens.errors import CancelledRequest, InspectorError
from mcplens.events import ClientTaskChanged, FrameSent, ProgressReceived
from mcplens.protocol.frames import Frame, Kind, RequestId
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
from mcplens.session.call_limit import CallLimit
from mcplens.session.connection import Connection
from mcplens.session.input_rounds import InputRounds
from mcplens.session.notifications import report_progress
from mcplens.session.paging import each_page, read_page
from mcplens.session.queue import CallTag, Progress
from mcplens.session.request_sender import RequestSender
from mcplens.session.subscription_stream import SubscriptionStream
from mcplens.session.task_channel import TaskChannel
from mcplens.session.task_poller import CoreTaskPoller, Origin, TaskPoller, read_polled

# Tasks that are over and still shown; their results are kept with them.
MAX_KEPT: Final = 200
MAX_KEPT_BYTES: Final = 32 * 1024 * 1024


class ClientTasks:
    """What the server works on in the background."""

    def __init__(
        self,
        connection: Connection,
        requests: RequestSender,
        rounds: InputRounds,
        subscription_stream: SubscriptionStream,
    ) -> None:
        self.channel = TaskChannel(connection, requests)
        self._connection = connection
        self._requests = requests
        self._rounds = rounds
        self._subscription_stream = subscription_stream
        self._pollers: dict[str, TaskPoller] = {}

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

    def follow(self, task: Task, origin: Origin, frame: Frame) -> TaskPoller:
        """Begin to poll a task, which this frame describes; a known one has its poller already."""
        poller = self._make_poller(task, origin, frame)
        known = self._pollers.get(poller.id)
        if known is not None and not self._is_another(known, poller):
            return known
        self._pollers[poller.id] = poller
        self._publish_change(poller)
        poller.start()
        self._forget_old()
        return poller

    def _make_poller(self, task: Task, origin: Origin, frame: Frame) -> TaskPoller:
        if not self._connection.is_stateless:
            return CoreTaskPoller(self.channel, self, task, origin)
        # Loaded when needed: most servers have no tasks.
        from mcplens.session.extension_task_poller import ExtensionTaskPoller

        return ExtensionTaskPoller(
            self.channel,
            self,
            task,
            origin,
            frame=frame,
            rounds=self._rounds,
            subscription_stream=self._subscription_stream,
        )

    def _is_another(self, known: TaskPoller, poller: TaskPoller) -> bool:
        """A call was given the id of a task that is over: what that gave is not its result."""
        asked = poller.origin.request_id
        if asked is None or asked == known.origin.request_id:
            return False
        self._connection.remark(f"the server gave the id {known.id} to a second task")
        if not known.task.is_terminal or not known.outcome.done():
            return False
        self.drop(known)
        return True

    async def result_of(self, poller: TaskPoller, limit: CallLimit | None) -> Frame:
        """The result of a call that became a task; if the caller is cancelled, so is the task.

        When the time of the call is up, the task goes on and stays tracked.
        """
        try:
            return await self._outcome(poller, limit)
        except asyncio.CancelledError:
            poller.abandon()
            raise

    async def _outcome(self, poller: TaskPoller, limit: CallLimit | None) -> Frame:
        if limit is None:
            return await asyncio.shield(poller.outcome)
        poller.limits.add(limit)
        try:
            if await limit.reached_before(poller.outcome):
                raise poller.timed_out(limit.elapsed_s)
        finally:
            poller.limits.discard(limit)
        return poller.outcome.result()

    # -- tasks by their ids ----------------------------------------------------------------------

    async def get(self, task_id: str, tag: CallTag | None = None) -> Task:
        frame, task = await self._get(task_id, tag or self._connection.new_tag())
        poller = self._pollers.get(task_id)
        if poller is not None:
            poller.heard(task, frame)
            return poller.task
        return task

    async def result(
        self, task_id: str, tag: CallTag, timeout_s: float | None = None
    ) -> tuple[Frame, str]:
        """The result of a call that became a task, and the tool, where it is known."""
        limit = None if timeout_s is None else self._connection.limits.start(tag, timeout_s)
        try:
            poller = self._pollers.get(task_id)
            if poller is None:
                frame, task = await self._get(task_id, tag, timeout_s)
                origin = Origin(tag=tag.for_polling())
                poller = self.follow(task, origin, frame)
            return await self._outcome(poller, limit), poller.origin.tool
        finally:
            if limit is not None:
                limit.end()

    async def list(self) -> list[Task]:
        """All tasks that the server knows, page by page."""
        found: list[Task] = []
        fetch = partial(self._fetch_page, tag=self._connection.new_tag())
        async for page in each_page("tasks", fetch, self._connection.remark):
            for raw in page.items:
                try:
                    found.append(read_task(msgspec.json.decode(raw)))
                except (TaskProblem, msgspec.DecodeError) as problem:
                    self._connection.remark(
                        f"tasks/list: left out an item that is not a task: {problem}"
                    )
        return found

    async def _fetch_page(self, cursor: str | None, tag: CallTag) -> Page:
        params = {} if cursor is None else {"cursor": cursor}
        frame = await self._requests.send("tasks/list", params, tag=tag)
        return read_page("tasks", "tasks/list", "tasks", frame, self._connection)

    async def cancel(self, task_id: str) -> Task:
        """Cancel a task; gives where it stands then."""
        tag = self._connection.new_tag()
        frame = await self._requests.send("tasks/cancel", {"taskId": task_id}, tag=tag)
        if self._connection.is_stateless:  # an empty acknowledgement; the task ends when it likes
            return await self.get(task_id, tag)
        task = self._read(frame, task_id, "tasks/cancel")
        poller = self._pollers.get(task_id)
        if poller is not None:
            poller.heard(task, frame)
        return task

    def update(self, task: Task) -> Task:
        """Take over where a task stands; one that has ended stays as it is."""
        body = msgspec.json.encode(to_wire(task))
        frame = Frame(body, Kind.RESULT, None, "", msgspec.Raw(body))
        poller = self._pollers.get(task.task_id)
        if poller is None:
            origin = Origin(tag=self._connection.new_tag("task_polling"))
            return self.follow(task, origin, frame).task
        poller.heard(task, frame)
        return poller.task

    async def _get(
        self, task_id: str, tag: CallTag, timeout_s: float | None = None
    ) -> tuple[Frame, Task]:
        params = {"taskId": task_id}
        frame = await self._requests.send("tasks/get", params, tag=tag, timeout_s=timeout_s)
        return frame, self._read(frame, task_id, "tasks/get")

    def _read(self, frame: Frame, task_id: str, method: str) -> Task:
        try:
            return read_polled(frame, task_id, method)
        except InspectorError as error:
            self._connection.describe(error, method)
            raise

    # -- what the server says on its own ---------------------------------------------------------

    def notified(self, frame: Frame, fields: Mapping[str, Any]) -> None:
        """A notification came; only the status of a task that is followed matters here."""
        wanted = (
            "notifications/tasks" if self._connection.is_stateless else "notifications/tasks/status"
        )
        if frame.method != wanted:
            return
        try:
            task = read_task(fields)
        except TaskProblem as problem:
            self._connection.remark(f"{frame.method}: {problem}")
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
        for limit in poller.limits:
            limit.progress()
        progressed = ProgressReceived(
            request_id=poller.origin.request_id,
            progress=report.progress,
            total=report.total,
            message=report.message,
            request_seq=origin.request_seq,
            frame_seq=frame_seq,
        )
        report_progress(self._connection.publish, progressed, origin.on_progress)
        return True

    # -- what pollers report ---------------------------------------------------------------------

    def move(self, poller: TaskPoller, task: Task) -> bool:
        """Take over where a task stands; False: it cannot stand there any more."""
        old = poller.task
        if not can_move(old.status, task.status):
            self._connection.remark(
                f"ignored: the task {old.task_id} is {old.status}, not {task.status}"
            )
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
        self._connection.publish(
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

    def disconnected(self, error: InspectorError) -> None:
        """The connection ended; only when it is not opened again does anybody hear of it."""
        if self._connection.state is ConnectionState.DISCONNECTED:
            for poller in list(self._pollers.values()):
                if not poller.task.is_terminal or not poller.outcome.done():
                    poller.give_up(error.copy())
                    self.drop(poller)

    async def end(self) -> None:
        """The connection is left: nothing is followed any more."""
        await self.channel.end()
        running = []
        for poller in list(self._pollers.values()):
            running.append(poller.give_up(CancelledRequest("disconnected")))
            self.drop(poller)
        await asyncio.gather(*filter(None, running), return_exceptions=True)

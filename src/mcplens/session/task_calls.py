"""Calls that become tasks: whether one may, how it is asked for, and the task that comes of it.

2025-11-25: we ask for a task, as the tool's `taskSupport` allows. 2026-07-28: the server makes one
as it likes. From there on client_tasks.py has it. Called by operations.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcplens.errors import InspectorError
from mcplens.protocol.frames import Frame, RequestId
from mcplens.protocol.tasks import IMMEDIATE_RESPONSE, TaskProblem, is_milliseconds, read_task
from mcplens.session.capabilities import TASKS_EXTENSION
from mcplens.session.client_tasks import ClientTasks, has
from mcplens.session.queue import CallTag, Progress, QueueEntry
from mcplens.session.results import invalid
from mcplens.session.task_poller import CoreTaskPoller, Origin, TaskPoller

if TYPE_CHECKING:
    from mcplens.session.client import Client

DEFAULT_TTL_S: Final = 60.0

OnProgress = Callable[[Progress], None]


class TaskCalls:
    """How calls become tasks with one server."""

    def __init__(self, client: Client, tasks: ClientTasks) -> None:
        self._client = client
        self._tasks = tasks

    def __repr__(self) -> str:
        return f"<TaskCalls into {self._tasks!r}>"

    # -- 2025-11-25 ----------------------------------------------------------------------------

    async def augmentation(
        self, name: str, task: bool | float | None, tag: CallTag
    ) -> dict[str, Any] | None:
        """The `task` member that a call of this tool gets; None: it is an ordinary call.

        Raises:
            InspectorError: CAPABILITY_NOT_SUPPORTED; a task is wanted and cannot be had.
        """
        if task is False:
            return None
        why_not = await self._why_not(name, tag, is_wanted=task is not None)
        if why_not is not None:
            if task is None:
                return None
            self._refuse(why_not)
        return {"ttl": _milliseconds(DEFAULT_TTL_S if task is None or task is True else task)}

    async def _why_not(self, name: str, tag: CallTag, *, is_wanted: bool) -> str | None:
        """Why a call is not made as a task; None if it is."""
        if self._tasks.is_stateless:
            return "in 2026-07-28 the server decides which calls become tasks"
        if not has(self._client.capabilities, "tasks", "requests", "tools", "call"):
            return "the server did not declare tasks.requests.tools.call"
        support = await self._support_of(name, tag)
        if support == "required" or (is_wanted and support in ("optional", "unknown")):
            return None
        return f"the tool {name} cannot be called as a task (taskSupport: {support})"

    async def _support_of(self, name: str, tag: CallTag) -> str:
        """A tool's `taskSupport`; the tools are listed for it if they never were."""
        catalog = self._client.catalog
        if catalog.tool(name) is None and catalog.known("tools") is None:
            try:
                await self._client.list_tools(tag=tag)
            except InspectorError as error:  # a broken list keeps no tool from being called
                self._tasks.remark(f"the tools could not be listed: {error.message}")
        tool = catalog.tool(name)
        if tool is None:
            return "unknown"
        return str((tool.execution or {}).get("taskSupport", "forbidden"))

    def _refuse(self, why: str) -> None:
        if self._client.connection.options.enforce_capabilities:
            text = f"{why}; enforce_capabilities=False asks for a task all the same"
            details = {"server_id": self._client.server_id, "method": "tools/call"}
            raise InspectorError("CAPABILITY_NOT_SUPPORTED", text, details=details)

    async def create(
        self,
        params: Mapping[str, Any],
        *,
        tag: CallTag,
        timeout_s: float | None,
        on_progress: OnProgress | None,
        headers: Mapping[str, str] | None,
    ) -> TaskPoller | Frame:
        """Call a tool as a task; a server that ignores `task` gives a result at once."""
        entry = self._client._start(
            "tools/call",
            params,
            tag=tag,
            timeout_s=timeout_s,
            on_progress=on_progress,
            headers=headers,
        )
        try:
            frame: Frame = await asyncio.shield(entry.future)
        except asyncio.CancelledError:
            # Once it is sent there is a task, or will be: it is cancelled as such, when known.
            if not self._client.queue.cancel(entry.id) and not entry.is_settled:
                entry.future.add_done_callback(lambda _: self._created_too_late(entry))
            raise
        value = _fields(frame)
        if "task" not in value:
            return frame
        try:
            task = read_task(value["task"])
        except TaskProblem as problem:
            raise invalid("tools/call", f"the task: {problem}", frame) from None
        meta = value.get("_meta")
        immediate = meta.get(IMMEDIATE_RESPONSE) if isinstance(meta, dict) else None
        if isinstance(immediate, str):
            task = msgspec.structs.replace(task, immediate_response=immediate)
        origin = _origin(params, entry.id, tag, on_progress)
        return self._tasks.follow(CoreTaskPoller(self._tasks, task, origin))

    def _created_too_late(self, entry: QueueEntry) -> None:
        if entry.error is None:
            value = _fields(entry.result).get("task")
            task_id = value.get("taskId") if isinstance(value, dict) else None
            if isinstance(task_id, str):
                self._tasks.cancel_quietly(task_id, entry.tag)

    # -- 2026-07-28 ----------------------------------------------------------------------------

    def adopt(
        self,
        frame: Frame,
        params: Mapping[str, Any],
        on_progress: OnProgress | None,
        tag: CallTag,
    ) -> TaskPoller:
        """Follow the task that the server made of a call.

        Raises:
            ProtocolError: INVALID_RESPONSE; it is none, or we never said that we know tasks.
        """
        session = self._client.connection.session
        declared = session.client_capabilities if session is not None else {}
        if not has(declared, "extensions", TASKS_EXTENSION):
            text = f"a task, though we did not declare the extension {TASKS_EXTENSION}"
            raise invalid("tools/call", text, frame)
        try:
            task = read_task(_fields(frame))
        except TaskProblem as problem:
            raise invalid("tools/call", f"the task: {problem}", frame) from None
        from mcplens.session.extension_task_poller import (
            ExtensionTaskPoller,
        )  # most servers have no tasks

        origin = _origin(params, frame.id, tag, on_progress)
        return self._tasks.follow(ExtensionTaskPoller(self._tasks, task, origin, frame))


def _milliseconds(seconds: float) -> int:
    if not is_milliseconds(seconds):
        raise InspectorError("INVALID_REQUEST", f"not a valid time to live: {seconds!r} seconds")
    return round(seconds * 1000)


def _fields(frame: Frame) -> dict[str, Any]:
    """A result as an object; empty if it is not one, which decoding it will report."""
    try:
        value = frame.value()
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _origin(
    params: Mapping[str, Any],
    request_id: RequestId | None,
    tag: CallTag,
    on_progress: OnProgress | None,
) -> Origin:
    meta = params.get("_meta")
    own = meta.get("progressToken") if isinstance(meta, Mapping) else None
    token = request_id if own is None else own
    name = str(params.get("name", ""))
    return Origin(name, request_id, tag.last_sent, tag.for_polling(), token, on_progress)

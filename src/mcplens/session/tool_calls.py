"""Tool calls: plain ones, and those that run as tasks.

2025-11-25: we ask for a task, as the tool's `taskSupport` allows. 2026-07-28: the server makes one
as it likes. From there on client_tasks.py has it. Called by the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from mcplens.errors import InspectorError, ServerError
from mcplens.protocol.frames import Frame, RequestId
from mcplens.protocol.result_types import Tool, ToolResult
from mcplens.protocol.tasks import IMMEDIATE_RESPONSE, Task, TaskProblem, is_milliseconds, read_task
from mcplens.session.call_limit import CallLimit
from mcplens.session.capabilities import TASKS_EXTENSION
from mcplens.session.catalog import Catalog
from mcplens.session.client_tasks import ClientTasks
from mcplens.session.connection import Connection
from mcplens.session.input_rounds import URL_ELICITATION_REQUIRED, InputRounds
from mcplens.session.queue import CallTag, QueueEntry
from mcplens.session.request_sender import OnProgress, RequestSender
from mcplens.session.results import invalid, typed_tool_result
from mcplens.session.task_channel import has
from mcplens.session.task_poller import Origin, TaskPoller

DEFAULT_TTL_S: Final = 60.0


class ToolCalls:
    """Calls the tools of one server."""

    def __init__(
        self,
        connection: Connection,
        requests: RequestSender,
        rounds: InputRounds,
        catalog: Catalog,
        tasks: ClientTasks,
    ) -> None:
        self._connection = connection
        self._requests = requests
        self._rounds = rounds
        self._catalog = catalog
        self._tasks = tasks

    def __repr__(self) -> str:
        return f"<ToolCalls of {self._connection!r}>"

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        *,
        tag: CallTag,
        timeout_s: float | None,
        on_progress: OnProgress | None,
        meta: Mapping[str, Any] | None,
        headers: Mapping[str, str] | None,
        task: bool | float | None,
    ) -> ToolResult:
        """Call a tool, as a task where that is asked for or required, and wait for its result."""
        params = _params(name, arguments, meta)
        limit = None if timeout_s is None else self._connection.limits.start(tag, timeout_s)
        try:
            if task is not None or "tasks" in self._connection.server_capabilities:
                lifetime = await self._augmentation(name, task, tag, limit)
                if lifetime is not None:
                    params["task"] = lifetime
            if "task" in params and not self._connection.is_stateless:
                frame = await self._call_as_task(params, tag, limit, on_progress, headers)
            else:
                kind, frame = await self._rounds.interact(
                    "tools/call", params, tag, limit, on_progress, headers, self._refresh_headers
                )
                if kind == "task":
                    poller = self._adopt(frame, params, on_progress, tag)
                    frame = await self._tasks.result_of(poller, limit)
            return typed_tool_result(frame, self._catalog.tool(name), self._catalog.output_schemas)
        except InspectorError as error:
            self._connection.describe(error, "tools/call")
            raise
        finally:
            if limit is not None:
                limit.end()

    async def start_task(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        ttl_s: float | None,
        *,
        tag: CallTag,
        timeout_s: float | None,
        on_progress: OnProgress | None,
        meta: Mapping[str, Any] | None,
        headers: Mapping[str, str] | None,
    ) -> Task:
        """Call a tool as a task, and return as soon as there is one; it is polled from then on."""
        params = _params(name, arguments, meta)
        limit = None if timeout_s is None else self._connection.limits.start(tag, timeout_s)
        frame: Frame
        try:
            if self._connection.is_stateless:
                kind, frame = await self._rounds.interact(
                    "tools/call", params, tag, limit, on_progress, headers, self._refresh_headers
                )
                if kind == "task":
                    return self._adopt(frame, params, on_progress, tag).task
            else:
                wanted = True if ttl_s is None else ttl_s
                lifetime = await self._augmentation(name, wanted, tag, limit)
                params["task"] = {} if ttl_s is None else lifetime
                made = await self._create(params, tag, limit, on_progress, headers)
                if not isinstance(made, Frame):
                    return made.task
                frame = made
            text = "the server answered at once and made no task of it"
            raise invalid("tools/call", text, frame)
        except InspectorError as error:
            self._connection.describe(error, "tools/call")
            raise
        finally:
            if limit is not None:
                limit.end()

    async def _refresh_headers(self, tag: CallTag) -> None:
        """Our view of which arguments a tool mirrors in headers is outdated: list the tools."""
        await self._catalog.fetch("tools", Tool, tag=tag)

    # -- 2025-11-25 ----------------------------------------------------------------------------

    async def _call_as_task(
        self,
        params: Mapping[str, Any],
        tag: CallTag,
        limit: CallLimit | None,
        on_progress: OnProgress | None,
        headers: Mapping[str, str] | None,
    ) -> Frame:
        """Call a tool as a task, and wait for its end."""

        async def call() -> Frame:
            made = await self._create(params, tag, limit, on_progress, headers)
            return made if isinstance(made, Frame) else await self._tasks.result_of(made, limit)

        try:
            return await call()
        except ServerError as error:
            if error.rpc_code != URL_ELICITATION_REQUIRED:
                raise
            return await self._rounds.open_urls("tools/call", error, call, tag)

    async def _augmentation(
        self, name: str, task: bool | float | None, tag: CallTag, limit: CallLimit | None
    ) -> dict[str, Any] | None:
        """The `task` member that a call of this tool gets; None: it is an ordinary call.

        Raises:
            InspectorError: CAPABILITY_NOT_SUPPORTED; a task is wanted and cannot be had.
        """
        if task is False:
            return None
        why_not = await self._why_not(name, tag, limit, is_wanted=task is not None)
        if why_not is not None:
            if task is None:
                return None
            self._refuse(why_not)
        return {"ttl": _milliseconds(DEFAULT_TTL_S if task is None or task is True else task)}

    async def _why_not(
        self, name: str, tag: CallTag, limit: CallLimit | None, *, is_wanted: bool
    ) -> str | None:
        """Why a call is not made as a task; None if it is."""
        if self._connection.is_stateless:
            return "in 2026-07-28 the server decides which calls become tasks"
        if not has(self._connection.server_capabilities, "tasks", "requests", "tools", "call"):
            return "the server did not declare tasks.requests.tools.call"
        support = await self._support_of(name, tag, limit)
        if support == "required" or (is_wanted and support in ("optional", "unknown")):
            return None
        return f"the tool {name} cannot be called as a task (taskSupport: {support})"

    async def _support_of(self, name: str, tag: CallTag, limit: CallLimit | None) -> str:
        """A tool's `taskSupport`; the tools are listed for it if they never were."""
        catalog = self._catalog
        if catalog.tool(name) is None and catalog.known("tools") is None:
            left_s = None if limit is None else limit.left_s
            try:
                await catalog.fetch("tools", Tool, tag=tag, timeout_s=left_s)
            except InspectorError as error:  # a broken list keeps no tool from being called
                self._connection.remark(f"the tools could not be listed: {error.message}")
        tool = catalog.tool(name)
        if tool is None:
            return "unknown"
        return str((tool.execution or {}).get("taskSupport", "forbidden"))

    def _refuse(self, why: str) -> None:
        if self._connection.options.enforce_capabilities:
            text = f"{why}; enforce_capabilities=False asks for a task all the same"
            raise InspectorError("CAPABILITY_NOT_SUPPORTED", text)

    async def _create(
        self,
        params: Mapping[str, Any],
        tag: CallTag,
        limit: CallLimit | None,
        on_progress: OnProgress | None,
        headers: Mapping[str, str] | None,
    ) -> TaskPoller | Frame:
        """Call a tool as a task; a server that ignores `task` gives a result at once."""
        entry = self._requests.start(
            "tools/call",
            params,
            tag=tag,
            deadline=None if limit is None else limit.deadline,
            on_progress=on_progress,
            headers=headers,
        )
        try:
            frame: Frame = await asyncio.shield(entry.future)
        except asyncio.CancelledError:
            # Once it is sent there is a task, or will be: it is cancelled as such, when known.
            if not self._requests.cancel(entry.id) and not entry.is_settled:
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
        return self._tasks.follow(task, origin, frame)

    def _created_too_late(self, entry: QueueEntry) -> None:
        if entry.error is None:
            value = _fields(entry.result).get("task")
            task_id = value.get("taskId") if isinstance(value, dict) else None
            if isinstance(task_id, str):
                self._tasks.channel.cancel_task(task_id, entry.tag)

    # -- 2026-07-28 ----------------------------------------------------------------------------

    def _adopt(
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
        if not has(self._connection.declared_capabilities, "extensions", TASKS_EXTENSION):
            text = f"a task, though we did not declare the extension {TASKS_EXTENSION}"
            raise invalid("tools/call", text, frame)
        try:
            task = read_task(_fields(frame))
        except TaskProblem as problem:
            raise invalid("tools/call", f"the task: {problem}", frame) from None

        origin = _origin(params, frame.id, tag, on_progress)
        return self._tasks.follow(task, origin, frame)


def _params(
    name: str, arguments: Mapping[str, Any] | None, meta: Mapping[str, Any] | None
) -> dict[str, Any]:
    params: dict[str, Any] = {"name": name, "arguments": arguments or {}}
    if meta:
        params["_meta"] = dict(meta)
    return params


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

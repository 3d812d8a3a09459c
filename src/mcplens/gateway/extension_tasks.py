"""Tasks of 2026-07-28 servers, for clients of 2025-11-25.

Such a server decides alone what becomes a task; a call that its client wants as a task and that is
answered at once becomes a task of ours, which is over. tasks/get has the task's questions and its
result, so tasks/result looks until it is over, and puts the questions to the client meanwhile.
Called by tasks.py.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError, ServerError
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.inbound_call import InboundCall
from mcplens.gateway.refused import Refused
from mcplens.gateway.task_owners import OwnedTask
from mcplens.gateway.task_shapes import (
    is_error_result,
    is_over,
    offers_extension,
    poll_interval_s,
    status_of,
    to_core,
    with_related,
)
from mcplens.gateway.wire import decoded, encoded, members, object_of, text_of
from mcplens.inbound.refusal import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from mcplens.protocol.eras import MISSING_CAPABILITY
from mcplens.protocol.input_required import InputProblem, InputRequest, read_input_requests
from mcplens.protocol.tasks import is_milliseconds, iso_time
from mcplens.session.question_handler import ServerRequest

# How long the result of a call that was answered at once is kept for its client.
KEPT_FOR_S: Final = 300.0
# What is kept of such results for all clients; a larger one is an error.
MAX_KEPT_BYTES: Final = 64 * 1024 * 1024


class FinishedTask(msgspec.Struct, frozen=True):
    """A call that was answered at once: the task that we make of it, and its result."""

    task: dict[str, Any]
    result: bytes


class ExtensionTasks:
    """Carries tasks of 2026-07-28 servers to clients of 2025-11-25."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def __repr__(self) -> str:
        return f"<ExtensionTasks of {self._gateway!r}>"

    async def call_tool(
        self, call: InboundCall, session: ServerConnection, params: dict[str, Any]
    ) -> bytes:
        """Call a tool that the client wants to run as a task.

        Raises:
            Refused: the server has no tasks.
        """
        wanted = object_of(params.pop("task", None))
        introduction = session.introduction
        if introduction is None or not offers_extension(introduction.capabilities):
            text = f"{call.name} cannot be called as a task: {session.server_id} has no tasks"
            raise Refused(METHOD_NOT_FOUND, f"{text}; call it without `task`")
        call.declares_tasks = True
        body = await call.send(session, "tools/call", params)
        found = members(body)
        original = text_of(found.get("taskId"))
        if text_of(found.get("resultType")) == "task" and original is not None:
            ttl = decoded(found.get("ttlMs"))
            owned = self._gateway.tasks.add(call.client, session.server_id, original, ttl)
            owned.watch(session)
            return encoded({"task": to_core(found, owned.id)})
        return encoded({"task": self._finished(call, session.server_id, body, wanted)})

    def _finished(
        self, call: InboundCall, server_id: str, body: bytes, wanted: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The task that a call is which the server answered at once."""
        gateway = self._gateway
        if gateway.tasks.kept_bytes + len(body) > MAX_KEPT_BYTES:
            text = f"the result of {call.name} cannot be kept: {MAX_KEPT_BYTES} bytes wait already"
            raise Refused(INTERNAL_ERROR, f"{text}; call it without `task`")
        ttl_ms: Any = wanted.get("ttl")
        limit_ms = round(KEPT_FOR_S * 1000)
        kept_ms = min(int(ttl_ms), limit_ms) if is_milliseconds(ttl_ms) else limit_ms
        owned = gateway.tasks.add(call.client, server_id, secrets.token_hex(18), kept_ms)
        now = iso_time(gateway.clock.wall())
        task = {
            "taskId": owned.id,
            "status": "failed" if is_error_result(body) else "completed",
            "statusMessage": "The server answered at once.",
            "createdAt": now,
            "lastUpdatedAt": now,
            "ttl": kept_ms,
        }
        gateway.tasks.keep(owned, FinishedTask(task, with_related(body, owned.id)))
        return task

    async def answer(self, call: InboundCall, session: ServerConnection, task: OwnedTask) -> bytes:
        """Answer tasks/get, tasks/result and tasks/cancel.

        Raises:
            Refused, ServerError: the task's own error, or it cannot be cancelled.
        """
        call.declares_tasks = True
        if call.method == "tasks/result":
            return await self._result(call, session, task)
        if call.method == "tasks/cancel":
            return encoded(await self._cancel(call, session, task))
        return encoded(await self.summary(call, session, task))

    async def summary(
        self, call: InboundCall, session: ServerConnection, task: OwnedTask
    ) -> dict[str, Any]:
        """Where a task stands."""
        if task.finished is not None:
            return task.finished.task
        return self.described(task, await self._get(call, session, task))

    def described(self, task: OwnedTask, found: Mapping[str, Raw]) -> dict[str, Any]:
        """A task as its client sees it: one that it cancelled stays cancelled."""
        return to_core(found, task.id, status="cancelled" if task.is_cancelled else None)

    async def _get(
        self, call: InboundCall, session: ServerConnection, task: OwnedTask
    ) -> dict[str, Raw]:
        call.declares_tasks = True
        found = members(await call.send(session, "tasks/get", task.params))
        if is_over(status_of(found)):
            task.unwatch()
        return found

    async def _cancel(
        self, call: InboundCall, session: ServerConnection, task: OwnedTask
    ) -> dict[str, Any]:
        found = await self.summary(call, session, task)
        if is_over(found["status"]):
            raise Refused(INVALID_PARAMS, f"the task is over already: {found['status']}")
        await call.send(session, "tasks/cancel", task.params)
        task.is_cancelled = True  # a 2026-07-28 server may finish it all the same
        return {**found, "status": "cancelled"}

    # -- the result ------------------------------------------------------------------------------

    async def _result(self, call: InboundCall, session: ServerConnection, task: OwnedTask) -> bytes:
        """Wait until the task is over; meanwhile its questions go to the client."""
        if task.finished is not None:
            return task.finished.result
        while True:
            found = await self._get(call, session, task)
            status = "cancelled" if task.is_cancelled else status_of(found)
            if is_over(status):
                return _outcome(found, status, task.id)
            if status == "input_required":
                await self._ask(call, session, task, found)
            await self._gateway.clock.sleep(poll_interval_s(found))

    async def _ask(
        self,
        call: InboundCall,
        session: ServerConnection,
        task: OwnedTask,
        found: Mapping[str, Raw],
    ) -> None:
        """Put the task's new questions to the client, one after the other."""
        try:
            questions = read_input_requests(found.get("inputRequests"))
        except InputProblem as problem:
            raise Refused(INTERNAL_ERROR, f"{session.server_id}: tasks/get: {problem}") from None
        async with task.asking:  # of several tasks/result one asks
            for question in questions:
                if question.key in task.answered:
                    continue
                answer = await self._answered(call, session, task, question)
                task.answered.add(question.key)
                params = {**task.params, "inputResponses": {question.key: answer}}
                await call.send(session, "tasks/update", params)

    async def _answered(
        self, call: InboundCall, session: ServerConnection, task: OwnedTask, question: InputRequest
    ) -> Any:
        """The client's answer to a question, or that of the server's profile.

        Raises:
            ServerError: it was refused; then the task cannot go on, and is cancelled.
        """
        params = with_related(encoded(question.params), task.id)
        request = ServerRequest(
            f"{task.id}/{question.key}",
            question.method,
            question.params,
            encoded({"method": question.method, "params": Raw(params)}),
            origin="input_required",
            task_id=task.id,
        )
        try:
            answer = await call.on_question(request)
            return await session.answer(request) if answer is None else answer
        except InspectorError:
            task.is_cancelled = True
            await call.send(session, "tasks/cancel", task.params)
            raise


def _outcome(found: Mapping[str, Raw], status: str, task_id: str) -> bytes:
    """The result of the call that became a task.

    Raises:
        ServerError: its error.
    """
    if status == "completed" and "result" in found:
        return with_related(found["result"], task_id)
    if status == "cancelled":
        raise ServerError(INTERNAL_ERROR, "the task was cancelled", {"taskId": task_id})
    error = object_of(found.get("error"))
    code, message = error.get("code"), error.get("message")
    raise ServerError(
        code if isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else f"the task is {status} and has no result",
        error.get("data"),
    )


def is_task_only(error: ServerError) -> bool:
    """Whether a 2026-07-28 server refused a call because it runs it as a task only."""
    if error.rpc_code != MISSING_CAPABILITY or not isinstance(error.data, dict):
        return False
    required = error.data.get("requiredCapabilities")
    return isinstance(required, dict) and offers_extension(required)

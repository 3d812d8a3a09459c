"""Tasks of 2025-11-25 servers, for clients of 2026-07-28.

A client that declares the extension gets a task for every tool that may run as one, since in its
revision the server decides. Such a server asks its questions and gives its result in tasks/result,
which stays open from the first sight of a question (or of the end) until the task is over; the
client finds both in tasks/get, and answers by tasks/update. Called by tasks.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Raw

from mcplens.clock import within
from mcplens.downstream.options import CallOptions
from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import ServerError
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.inbound_call import InboundCall, question_params
from mcplens.gateway.refused import Refused
from mcplens.gateway.task_owners import OwnedTask
from mcplens.gateway.task_shapes import is_over, status_of, to_extension, without_related
from mcplens.gateway.wire import completed, decoded, encoded, members, text_of
from mcplens.inbound.refusal import INVALID_PARAMS
from mcplens.protocol.eras import MISSING_CAPABILITY
from mcplens.protocol.frames import Frame
from mcplens.session.call_hooks import CallHooks
from mcplens.session.capabilities import TASKS_EXTENSION
from mcplens.session.question_handler import ServerRequest
from mcplens.session.raw_calls import error_member

Support = Literal["required", "optional", "forbidden"]

# The client knows nothing of a time to live; long enough for work that a person has to attend to.
TTL_S: Final = 3600.0
# A task that asks has its question there at once; a client that polls is not held up for long.
_QUESTION_WITHIN_S: Final = 2.0


class _Question:
    def __init__(self, request: ServerRequest) -> None:
        self.method = request.method
        self.params = question_params(request)
        self.answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()


class FollowedTask:
    """A task whose tasks/result is open: its questions, and in the end its result."""

    def __init__(self, call: InboundCall) -> None:
        self.call = call  # the latest request about it: what its client can answer
        self.questions: dict[str, _Question] = {}
        self.changed = asyncio.Event()
        self.waiting: asyncio.Task[Frame] | None = None
        self._count = 0

    def __repr__(self) -> str:
        return f"<FollowedTask {len(self.questions)} questions>"

    @property
    def is_lost(self) -> bool:
        """Whether its tasks/result ended with no answer of the server's."""
        waiting = self.waiting
        if waiting is None or not waiting.done():
            return False
        return waiting.cancelled() or not isinstance(waiting.exception(), ServerError | None)

    async def on_question(self, request: ServerRequest) -> Any:
        if not self.call.gateway.may_ask(self.call, request):
            return None
        self._count += 1
        key = f"q{self._count}"
        question = self.questions[key] = _Question(request)
        self.changed.set()
        try:
            return await question.answer
        finally:
            self.questions.pop(key, None)

    async def until_changed(self) -> None:
        """Wait for a question, or for the end."""
        await self.changed.wait()

    def answer(self, responses: Mapping[str, Raw]) -> None:
        """Pass the client's answers on; what nobody asked is ignored."""
        for key, response in responses.items():
            question = self.questions.pop(key, None)
            if question is not None and not question.answer.done():
                question.answer.set_result(response)
        if not self.questions:
            self.changed.clear()

    def cancel(self) -> None:
        if self.waiting is not None:
            self.waiting.cancel()


class CoreTasks:
    """Carries tasks of 2025-11-25 servers to clients of 2026-07-28."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def __repr__(self) -> str:
        return f"<CoreTasks of {self._gateway!r}>"

    async def call_tool(
        self, call: InboundCall, session: ServerConnection, params: dict[str, Any]
    ) -> bytes:
        """Call a tool as a task, if it may run as one."""
        params.pop("task", None)  # of the client's own: in its revision the server decides
        if task_support(session, params.get("name")) != "forbidden":
            params["task"] = {"ttl": round(TTL_S * 1000)}
        body = await call.send(session, "tools/call", params)
        task = members(members(body).get("task", b"{}"))
        original = text_of(task.get("taskId"))
        if original is None:  # input_required, or no task
            return body
        ttl = decoded(task.get("ttl"))
        owned = self._gateway.tasks.add(call.client, session.server_id, original, ttl)
        return encoded({"resultType": "task", **to_extension(task, owned.id, status_of(task))})

    async def answer(
        self, call: InboundCall, session: ServerConnection, task: OwnedTask, params: dict[str, Any]
    ) -> bytes:
        """Answer tasks/get, tasks/update and tasks/cancel."""
        if call.method == "tasks/update":
            responses = members(params.get("inputResponses", b""))
            if not responses:
                raise Refused(INVALID_PARAMS, "inputResponses must be an object with answers")
            if task.followed is not None:
                task.followed.call = call
                task.followed.answer(responses)
            return completed(b"{}")
        if call.method == "tasks/cancel":
            await self._cancel(call, session, task)
            return completed(b"{}")
        return completed(encoded(await self.detailed(call, session, task)))

    async def _cancel(self, call: InboundCall, session: ServerConnection, task: OwnedTask) -> None:
        try:
            await session.request("tasks/cancel", task.params, call.options())
        except ServerError as error:
            # 2025-11-25 refuses to cancel what is over; 2026-07-28 acknowledges it.
            found = await self._get(call, session, task)
            if error.rpc_code != INVALID_PARAMS or not is_over(status_of(found)):
                raise

    async def detailed(
        self, call: InboundCall, session: ServerConnection, task: OwnedTask
    ) -> dict[str, Any]:
        """The task with what its status brings: questions, a result or an error."""
        found = await self._get(call, session, task)
        status = status_of(found)
        if status == "cancelled":
            return to_extension(found, task.id, status)
        if status == "input_required" or is_over(status):
            self._follow(call, session, task)
        followed = task.followed
        if followed is None:
            return to_extension(found, task.id, status)
        if is_over(status):
            return await self._with_outcome(call, session, task, found)
        if status == "input_required" and not followed.questions:
            await self._until_asked(followed)
        return _with_questions(found, task.id, followed)

    async def _get(
        self, call: InboundCall, session: ServerConnection, task: OwnedTask
    ) -> dict[str, Raw]:
        return members((await session.request("tasks/get", task.params, call.options())).body)

    def _follow(self, call: InboundCall, session: ServerConnection, task: OwnedTask) -> None:
        """Keep tasks/result open, where questions come, and the result in the end."""
        if task.followed is None or task.followed.is_lost:
            followed = task.followed = FollowedTask(call)
            options = CallOptions(
                inbound_seq=call.seq,
                hooks=CallHooks(followed.on_question, call.on_notification),
                timeout_s=TTL_S,
            )
            waiting = session.request("tasks/result", task.params, options)
            followed.waiting = self._gateway.spawn(waiting, f"result of {task.id}")
            followed.waiting.add_done_callback(lambda _: followed.changed.set())
        task.followed.call = call

    async def _until_asked(self, followed: FollowedTask) -> None:
        try:
            await within(self._gateway.clock, _QUESTION_WITHIN_S, followed.until_changed())
        except TimeoutError:
            return

    async def _with_outcome(
        self,
        call: InboundCall,
        session: ServerConnection,
        task: OwnedTask,
        found: Mapping[str, Raw],
    ) -> dict[str, Any]:
        """A task that is over, with its result or its error; a failed tool has a result too."""
        followed, task.followed = task.followed, None  # a later look asks for the result again
        assert followed is not None
        assert followed.waiting is not None
        try:
            frame = await asyncio.shield(followed.waiting)
        except ServerError as error:
            member = bytes(error_member(error.raw)) if error.raw else b""
            given = {"code": error.rpc_code, "message": error.rpc_message}
            written = to_extension(found, task.id, "failed")
            return {**written, "error": Raw(member or encoded(given))}
        result = Raw(without_related(frame.body))
        return {**to_extension(found, task.id, "completed"), "result": result}


def _with_questions(
    found: Mapping[str, Raw], task_id: str, followed: FollowedTask
) -> dict[str, Any]:
    """A task that goes on: it requires input while a question of its is open."""
    if not followed.questions:
        return to_extension(found, task_id, "working")
    requests = {
        key: {"method": question.method, "params": question.params}
        for key, question in followed.questions.items()
    }
    return {**to_extension(found, task_id, "input_required"), "inputRequests": requests}


def task_support(session: ServerConnection, name: str | Raw | None) -> Support:
    """Whether a 2025-11-25 server runs a tool as a task; `name` is the server's own."""
    named = name if isinstance(name, str) else text_of(name)
    tool = None if named is None else session.lists.tool(named)
    found = (None if tool is None else tool.execution) or {}
    support = found.get("taskSupport")
    return support if support in ("required", "optional") else "forbidden"


def extension_required(what: str | None) -> Refused:
    """The refusal of what needs tasks, to a client that does not declare them."""
    needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}
    text = f"{what} needs tasks: declare the extension {TASKS_EXTENSION}"
    return Refused(MISSING_CAPABILITY, text, needed)

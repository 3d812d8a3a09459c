"""Follows a task of the extension io.modelcontextprotocol/tasks (2026-07-28).

tasks/get has everything: status, questions, result or error. Each question is asked once, as soon
as it is seen, and its answer sent by tasks/update while polling goes on.
"""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import Raw

from mcplens.errors import InspectorError, ProtocolError, ServerError
from mcplens.protocol.frames import Frame, Kind, RpcError
from mcplens.protocol.input_required import (
    InputProblem,
    InputRequest,
    members,
    read_input_requests,
)
from mcplens.protocol.tasks import Task
from mcplens.session.input_rounds import InputRounds
from mcplens.session.question_handler import ServerRequest
from mcplens.session.results import invalid
from mcplens.session.subscription_stream import SubscriptionStream
from mcplens.session.task_channel import TaskChannel
from mcplens.session.task_poller import Origin, TaskPoller, TaskTracker


class ExtensionTaskPoller(TaskPoller):
    """A task that the server made of a call on its own account."""

    def __init__(
        self,
        channel: TaskChannel,
        tracker: TaskTracker,
        task: Task,
        origin: Origin,
        *,
        frame: Frame,
        rounds: InputRounds,
        subscription_stream: SubscriptionStream,
    ) -> None:
        super().__init__(channel, tracker, task, origin)
        self._rounds = rounds
        self._subscription_stream = subscription_stream
        self._frame = frame  # the latest that describes the task
        self._asked: set[str] = set()  # keys are unique for the task's whole life: none twice
        self._seen: set[str] = set()  # keys of all rounds
        self._round_count = 0
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._problem: InspectorError | None = None

    def start(self) -> None:
        self._moved(self._frame)
        super().start()
        self._subscription_stream.want_task(self.id)

    def abandon(self) -> None:
        super().abandon()
        self._withdraw(set())

    # -- its questions -------------------------------------------------------------------------

    def _moved(self, frame: Frame) -> None:
        self._frame = frame
        try:
            wanted = self._questions(frame) if self.task.status == "input_required" else ()
        except InputProblem as problem:
            self._problem = invalid("tasks/get", str(problem), frame)
            return
        if wanted is None:
            return
        self._withdraw({each.key for each in wanted})
        if self._is_one_round_too_many(wanted):
            text = f"the task asked for input {self._round_count - 1} times and wants still more"
            self._problem = invalid("tasks/get", text, frame)
            return
        for each in wanted:
            if each.key not in self._asked and not self.is_abandoned:
                self._asked.add(each.key)
                work = self._answer(each)
                name = f"answer {each.key} of {self.id}"
                task = asyncio.get_running_loop().create_task(work, name=name)
                self._asking[each.key] = task

    def _is_one_round_too_many(self, wanted: tuple[InputRequest, ...]) -> bool:
        """Whether the server asks more often than a plain call may; new keys are a new round."""
        new = {each.key for each in wanted} - self._seen
        self._seen |= new
        self._round_count += bool(new)
        return bool(new) and self._round_count > self._rounds.most_rounds

    def _questions(self, frame: Frame) -> tuple[InputRequest, ...] | None:
        """What it asks; None where that is left out, and the questions stay as they were."""
        asked = members(frame.body, "the task").get("inputRequests")
        return None if asked is None else read_input_requests(asked)

    async def _answer(self, request: InputRequest) -> None:
        question = ServerRequest(
            f"{self.id}/{request.key}",
            request.method,
            request.params,
            request.raw,
            self.origin.request_id,
            origin="input_required",
            task_id=self.id,
            expires_in_s=self.left_s,
            caused_by_seq=self.origin.request_seq,
            call_id=self.origin.tag.call_id,
        )
        is_answered = False
        try:
            answer = await self._rounds.response(request.key, question)
            is_answered = True
            # What somebody has answered is not lost with the connection.
            responses = {**self.params, "inputResponses": {request.key: answer}}
            await self._channel.request_surely("tasks/update", responses, self.origin.tag)
        except InspectorError as error:
            if self._channel.is_connected:
                self._problem = error
            else:
                self._asked.discard(request.key)  # it is asked again once we are back
        except asyncio.CancelledError:
            if not is_answered:
                self._asked.discard(request.key)  # if the server wants it after all
            raise
        finally:
            if self._asking.get(request.key) is asyncio.current_task():
                del self._asking[request.key]
            self._wake.set()

    def _withdraw(self, wanted: set[str]) -> None:
        """The server no longer wants an answer to any other question."""
        for key in self._asking.keys() - wanted:
            self._asking[key].cancel()

    def _check(self) -> None:
        problem, self._problem = self._problem, None
        if problem is None or self.task.is_terminal:
            return
        # The task can never go on without this answer.
        self.cancel()
        raise problem

    # -- its end -------------------------------------------------------------------------------

    async def _result(self) -> Frame:
        status = self.task.status
        if status == "cancelled":
            raise self._cancelled()
        member = "result" if status == "completed" else "error"
        found = self._member(member)
        if found is None:  # a notification may leave it out
            self._frame = await self._channel.request_surely(
                "tasks/get", self.params, self.origin.tag
            )
            found = self._member(member)
        if found is None:
            raise self._invalid(f"the task is {status} but has no {member!r}")
        if member == "result":
            return Frame(self._frame.raw, Kind.RESULT, self._frame.id, "", found)
        try:
            error = msgspec.json.decode(found, type=RpcError)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            raise self._invalid(f"its error is not an error object: {problem}") from None
        raise ServerError(error.code, error.message, error.data, raw=self._frame.raw)

    def _member(self, name: str) -> Raw | None:
        try:
            return members(self._frame.body, "the task").get(name)
        except InputProblem as problem:
            raise self._invalid(str(problem)) from None

    def _invalid(self, problem: str) -> ProtocolError:
        return invalid("tasks/get", problem, self._frame)

    async def _end(self) -> None:
        self._subscription_stream.drop_task(self.id)
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

"""Answers what the server wants to know before it answers a request, and sends the request again.

2026-07-28: a result that is `input_required`. 2025-11-25: the error -32042, which names URLs that a
person has to open first. The questions go to the handlers of the server's requests; while
they wait, no request is in flight and no clock runs. Called by the catalog, tool_calls.py and the
client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from mcplens.errors import CancelledRequest, InspectorError, ServerError
from mcplens.events import InputRoundStarted
from mcplens.protocol.eras import HEADER_MISMATCH
from mcplens.protocol.frames import Frame, RequestId, parse
from mcplens.protocol.input_required import MAY_ASK, InputProblem, InputRequest, read_input_required
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.session.call_limit import CallLimit
from mcplens.session.connection import Connection
from mcplens.session.question_handler import ServerRequest
from mcplens.session.queue import CallTag
from mcplens.session.request_sender import OnProgress, RequestOptions, RequestSender
from mcplens.session.results import invalid, result_type

T = TypeVar("T")
Ask = Callable[[ServerRequest], Awaitable[Any]]
Send = Callable[[Mapping[str, Any]], Awaitable[Frame]]

# A server that asks more often is stopped; the SDKs draw the line here too.
MAX_ROUNDS: Final = 10
# Waits before a request is sent again that asked nothing; the last one is used on and on.
_BACKOFF_S: Final = (0.25, 0.5, 1.0, 2.0, 4.0)

URL_ELICITATION_REQUIRED: Final = -32042


class InputRounds:
    """The rounds of questions that stand between requests and their answers."""

    def __init__(
        self,
        connection: Connection,
        requests: RequestSender,
        ask: Ask,
        most_rounds: int = MAX_ROUNDS,
    ) -> None:
        self._connection = connection
        self._requests = requests
        self._ask = ask
        self.most_rounds = most_rounds

    def __repr__(self) -> str:
        return f"<InputRounds at most {self.most_rounds}>"

    async def send(self, method: str, params: dict[str, Any], options: RequestOptions) -> Frame:
        """Send a request that is never answered with a task, and give what it requires first.

        Raises:
            TypeError: an option that no request has.
            InspectorError: no answer, an error answer, or a required input was refused.
        """
        if unknown := options.keys() - RequestOptions.__annotations__.keys():
            raise TypeError(f"{method}: unknown option {', '.join(sorted(unknown))}")
        meta = options.get("meta")
        if meta:
            params["_meta"] = dict(meta)
        tag = options.get("tag") or self._connection.new_tag()
        timeout_s = options.get("timeout_s")
        limit = None if timeout_s is None else self._connection.limits.start(tag, timeout_s)
        try:
            kind, frame = await self.interact(
                method, params, tag, limit, options.get("on_progress"), options.get("headers")
            )
        except InspectorError as error:
            self._connection.describe(error, method)
            raise
        finally:
            if limit is not None:
                limit.end()
        if kind == "task":
            raise invalid(method, "only tools/call can be answered with a task", frame)
        return frame

    async def interact(
        self,
        method: str,
        params: Mapping[str, Any],
        tag: CallTag,
        limit: CallLimit | None,
        on_progress: OnProgress | None,
        headers: Mapping[str, str] | None,
        refresh_headers: Callable[[CallTag], Awaitable[object]] | None = None,
    ) -> tuple[str, Frame]:
        """Send a request, and answer what its server requires before it answers.

        Returns the kind of the result (`complete` or `task`) and the result. `refresh_headers` is
        called where the server says that the headers do not match the body; then it is sent again.
        """
        connection, requests = self._connection, self._requests
        deadline = None if limit is None else limit.deadline
        entry = requests.start(method, params, tag, None, on_progress, headers, deadline)
        try:
            frame: Frame = await entry.future
        except asyncio.CancelledError:
            requests.withdraw(entry)
            raise
        except ServerError as error:
            again = self._again(method, tag, limit, on_progress, headers)
            if not connection.is_stateless:
                if error.rpc_code != URL_ELICITATION_REQUIRED:
                    raise
                frame = await self.open_urls(method, error, partial(again, params), tag)
            elif error.rpc_code == HEADER_MISMATCH and refresh_headers is not None:
                await refresh_headers(tag)
                frame = await again(params)
            else:
                raise
        if not connection.is_stateless:
            return "complete", frame
        kind = result_type(frame, method)
        if kind == "input_required":
            if method not in MAY_ASK:
                raise invalid(method, "input_required is not for this method", frame)
            again = self._again(method, tag, limit, on_progress, headers)
            frame = await self.answer(method, params, frame, again, tag, limit)
            kind = result_type(frame, method)
        return kind, frame

    def _again(
        self,
        method: str,
        tag: CallTag,
        limit: CallLimit | None,
        on_progress: OnProgress | None,
        headers: Mapping[str, str] | None,
    ) -> Send:
        """The function that sends the request again, with the params that it is given."""

        def again(params: Mapping[str, Any]) -> Awaitable[Frame]:
            if limit is not None:
                limit.check(method)
            return self._requests.send(
                method,
                params,
                tag=tag,
                deadline=None if limit is None else limit.deadline,
                on_progress=on_progress,
                headers=headers,
            )

        return again

    # -- 2026-07-28 ----------------------------------------------------------------------------

    async def answer(
        self,
        method: str,
        params: Mapping[str, Any],
        frame: Frame,
        send: Send,
        tag: CallTag,
        limit: CallLimit | None,
    ) -> Frame:
        """From the first `input_required` to the result that is none.

        Raises:
            InspectorError: a question cannot be asked, was refused, or there are too many.
        """
        bare_rounds = 0
        for number in range(1, self.most_rounds + 1):
            try:
                wanted = read_input_required(frame.body)
            except InputProblem as problem:
                raise invalid(method, str(problem), frame) from None
            keys = [each.key for each in wanted.requests]
            self._publish_round(frame.id, method, number, keys, tag)
            again: dict[str, Any] = dict(params)
            if wanted.requests:
                bare_rounds = 0
                again["inputResponses"] = await self._answers(wanted.requests, frame.id, tag)
            else:
                delay_s = _BACKOFF_S[min(bare_rounds, len(_BACKOFF_S) - 1)]
                bare_rounds += 1
                left_s = None if limit is None else limit.left_s
                await self._connection.clock.sleep(
                    delay_s if left_s is None else min(delay_s, left_s)
                )
            if wanted.state is not None:
                again["requestState"] = wanted.state
            frame = await send(again)
            if result_type(frame, method) != "input_required":
                return frame
        problem_text = f"the server asked for input {self.most_rounds} times and wants still more"
        raise invalid(method, problem_text, frame)

    async def _answers(
        self, requests: Sequence[InputRequest], request_id: RequestId | None, tag: CallTag
    ) -> dict[str, Any]:
        """Ask all at once; the first that is refused withdraws the others."""
        asked: dict[str, asyncio.Task[Any]] = {}
        try:
            async with asyncio.TaskGroup() as group:
                for each in requests:
                    question = ServerRequest(
                        f"{request_id}/{each.key}",
                        each.method,
                        each.params,
                        each.raw,
                        request_id,
                        origin="input_required",
                        caused_by_seq=tag.last_seq,
                        call_id=tag.call_id,
                    )
                    asked[each.key] = group.create_task(self.response(each.key, question))
        except ExceptionGroup as problems:
            raise problems.exceptions[0] from None
        return {key: task.result() for key, task in asked.items()}

    async def response(self, key: str, question: ServerRequest) -> Any:
        """The bare result that answers a question of 2026-07-28.

        Raises:
            InspectorError: INPUT_REFUSED, or the connection ended.
        """
        try:
            answer = await self._ask(question)
        except ServerError as refusal:
            if question.method == "elicitation/create":
                return {"action": "cancel"}  # the way to say that there will be no answer
            raise self._refused(key, question, refusal.rpc_message) from None
        except CancelledRequest as ended:
            raise self._connection_error(ended) from None
        except InspectorError:
            raise
        except Exception as problem:  # a handler is foreign code
            text = f"the client's handler failed: {type(problem).__name__}: {problem}"
            raise self._refused(key, question, text) from None
        return {} if answer is None else answer

    def _refused(self, key: str, question: ServerRequest, why: str) -> InspectorError:
        return InspectorError(
            "INPUT_REFUSED",
            f"the server's question {key!r} ({question.method}) was refused: {why}",
            details={
                **self._connection.names,
                "key": key,
                "method": question.method,
                "reason": why,
            },
        )

    def _connection_error(self, ended: CancelledRequest) -> InspectorError:
        """Why the connection ended, if it was lost and not left."""
        lifecycle = self._connection.lifecycle
        if lifecycle.state is not ConnectionState.CONNECTED and isinstance(
            lifecycle.last_error, InspectorError
        ):
            return lifecycle.last_error.copy()
        return ended

    # -- 2025-11-25 ----------------------------------------------------------------------------

    async def open_urls(
        self, method: str, error: ServerError, again: Callable[[], Awaitable[T]], tag: CallTag
    ) -> T:
        """Run the elicitations of error -32042; if all are accepted, try again.

        Raises:
            InspectorError: the error, if one was not accepted; or what trying again gave.
        """
        for number in range(1, self.most_rounds + 1):
            if not await self._accepted(method, error, number, tag):
                raise error
            try:
                return await again()
            except ServerError as next_error:
                if next_error.rpc_code != URL_ELICITATION_REQUIRED:
                    raise
                error = next_error
        raise error

    async def _accepted(self, method: str, error: ServerError, number: int, tag: CallTag) -> bool:
        elicitations = _elicitations(error)
        if not elicitations:
            return False
        message = parse(error.raw)
        request_id = message.id if isinstance(message, Frame) else None
        keys = [str(each.get("elicitationId", index)) for index, each in enumerate(elicitations)]
        self._publish_round(request_id, method, number, keys, tag)
        for key, params in zip(keys, elicitations, strict=True):
            raw = msgspec.json.encode({"method": "elicitation/create", "params": params})
            question = ServerRequest(
                f"{request_id}/{key}",
                "elicitation/create",
                params,
                raw,
                request_id,
                origin="error",
                caused_by_seq=tag.last_seq,
                call_id=tag.call_id,
            )
            answer = await self.response(key, question)
            if not isinstance(answer, dict) or answer.get("action") != "accept":
                return False
        return True

    def _publish_round(
        self,
        request_id: RequestId | None,
        method: str,
        number: int,
        keys: list[str],
        tag: CallTag,
    ) -> None:
        self._connection.publish(
            InputRoundStarted(
                request_id="" if request_id is None else request_id,
                method=method,
                round=number,
                most_rounds=self.most_rounds,
                keys=keys,
                request_seq=tag.last_seq,
                call_id=tag.call_id,
            )
        )


def _elicitations(error: ServerError) -> list[dict[str, Any]]:
    """The URLs that the error names; none if it is not as the specification has it."""
    data = error.data
    found = data.get("elicitations") if isinstance(data, dict) else None
    if not isinstance(found, list):
        return []
    if not all(isinstance(each, dict) and each.get("mode") == "url" for each in found):
        return []
    return found

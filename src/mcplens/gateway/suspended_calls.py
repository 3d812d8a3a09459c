"""Calls of 2026-07-28 clients to 2025-11-25 servers, which ask their questions by requests.

The server's question becomes an `input_required` result for the client, while the call stays open
at the server. The client comes again with the answers and the `requestState` that names the call;
then the server gets its answers, and this request waits for the result or for the next question.
A call that its client does not come back to is cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from msgspec import Raw

from mcplens.background import Background
from mcplens.clock import Clock, Timer
from mcplens.errors import InspectorError, ServerError
from mcplens.gateway.inbound_call import (
    InboundCall,
    has_logging,
    input_required,
    question_params,
)
from mcplens.gateway.refused import Refused, lost_with_replica
from mcplens.gateway.wire import encoded, members, text_of
from mcplens.inbound.refusal import INTERNAL_ERROR, INVALID_PARAMS
from mcplens.protocol.frames import Frame
from mcplens.protocol.input_required import MAY_ASK
from mcplens.session.attribution import Link
from mcplens.session.call_hooks import CallHooks
from mcplens.session.input_rounds import URL_ELICITATION_REQUIRED
from mcplens.session.question_handler import ServerRequest

if TYPE_CHECKING:
    from mcplens.downstream.server_connection import ServerConnection

# How long a call waits for its client to come back with the answers.
RETURN_WITHIN_S: Final = 300.0
# Calls that wait for their clients at once; beyond it the oldest is cancelled.
MAX_SUSPENDED: Final = 1_000
# A state that names no call: the client was asked to open URLs, and the call starts anew.
_ANEW: Final = "anew"


class _Question:
    def __init__(self, request: ServerRequest) -> None:
        self.method = request.method
        self.params = question_params(request)
        self.answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
        self.was_sent = False  # the client has it


class SuspendedCall:
    """A call that is open at a server, and the request of its client that waits now, if any."""

    def __init__(self, call: InboundCall, connection: ServerConnection, fingerprint: bytes) -> None:
        self.call = call
        self.owner = call.client.key
        self.connection = connection
        self.fingerprint = fingerprint
        self.questions: dict[str, _Question] = {}
        self.asked = asyncio.Event()
        self.task: asyncio.Task[Frame] | None = None
        self.timer: Timer | None = None
        self._count = 0

    def __repr__(self) -> str:
        return f"<SuspendedCall {self.call!r}, {len(self.questions)} questions>"

    async def on_question(self, request: ServerRequest) -> Any:
        call = self.call
        if call.method not in MAY_ASK or not call.gateway.may_ask(call, request):
            return None
        self._count += 1
        key = f"q{self._count}"
        question = self.questions[key] = _Question(request)
        self.asked.set()
        try:
            return await question.answer
        finally:
            self.questions.pop(key, None)

    def on_notification(self, frame: Frame, link: Link) -> None:
        self.call.on_notification(frame, link)

    def waiting(self) -> dict[str, tuple[str, Raw]]:
        """The questions that the client has not been asked yet; now it is."""
        found = {}
        for key, question in self.questions.items():
            if not question.was_sent:
                question.was_sent = True
                found[key] = (question.method, question.params)
        self.asked.clear()
        return found

    def answer(self, responses: dict[str, Raw]) -> None:
        """Pass the client's answers on."""
        for key, response in responses.items():
            question = self.questions.get(key)
            if question is not None and not question.answer.done():
                question.answer.set_result(response)

    def cancel(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if self.task is not None:
            self.task.cancel()


class SuspendedCalls:
    """The calls that wait for their clients, by their state."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._calls: dict[str, SuspendedCall] = {}
        self.new_state: Callable[[], str] = lambda: secrets.token_urlsafe(24)
        self.is_of_another: Callable[[str], bool] = lambda _state: False  # of another replica
        self._work = Background()

    def __repr__(self) -> str:
        return f"<SuspendedCalls {len(self._calls)}>"

    async def close(self) -> None:
        for suspended in self._calls.values():
            suspended.cancel()
        self._calls.clear()
        await self._work.end()

    async def run(
        self,
        call: InboundCall,
        connection: ServerConnection,
        method: str,
        params: dict[str, Any],
    ) -> bytes:
        """Start a call or go on with one; a result, or `input_required`.

        Raises:
            Refused: its `requestState` is not valid.
            ServerError, InspectorError: as for any call.
        """
        responses = params.pop("inputResponses", None)
        state = params.pop("requestState", None)
        fingerprint = _fingerprint(method, params)
        named = None if state is None else text_of(state)
        if state is None or named == _ANEW:
            suspended = self._start(call, connection, method, params, fingerprint)
        else:
            suspended = self._resume(call, named, fingerprint)
            suspended.answer(members(responses) if responses is not None else {})
        return await self._wait(suspended)

    def _start(
        self,
        call: InboundCall,
        connection: ServerConnection,
        method: str,
        params: dict[str, Any],
        fingerprint: bytes,
    ) -> SuspendedCall:
        suspended = SuspendedCall(call, connection, fingerprint)
        hooks = CallHooks(suspended.on_question, suspended.on_notification)
        work = self._request(suspended, method, params, call.options(hooks=hooks))
        suspended.task = self._work.start(work, f"{method} to {connection.server_id}")
        return suspended

    async def _request(
        self, suspended: SuspendedCall, method: str, params: dict[str, Any], options: Any
    ) -> Frame:
        level = suspended.call.log_level
        connection = suspended.connection
        if level is None or not has_logging(connection):
            return await connection.request(method, params, options)
        with contextlib.suppress(InspectorError):  # the call counts more than its logs
            await connection.shared.set_level(level, suspended)
        try:
            return await connection.request(method, params, options)
        finally:
            with contextlib.suppress(InspectorError):
                await connection.shared.drop(suspended)

    def _resume(self, call: InboundCall, state: str | None, fingerprint: bytes) -> SuspendedCall:
        suspended = self._calls.get(state) if state is not None else None
        if suspended is None and state is not None and self.is_of_another(state):
            raise lost_with_replica("call")
        if suspended is None or state is None or suspended.owner != call.client.key:
            raise Refused(INVALID_PARAMS, "requestState is unknown, or the call has been given up")
        if suspended.fingerprint != fingerprint:
            raise Refused(INVALID_PARAMS, "requestState belongs to a request with other params")
        del self._calls[state]
        if suspended.timer is not None:
            suspended.timer.cancel()
        suspended.call = call
        return suspended

    async def _wait(self, suspended: SuspendedCall) -> bytes:
        task = suspended.task
        assert task is not None
        asked = self._work.start(suspended.asked.wait(), "questions")
        try:
            await asyncio.wait([task, asked], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            suspended.cancel()
            raise
        finally:
            asked.cancel()
        if task.done():
            return self._ended(task)
        return input_required(suspended.waiting(), self._suspend(suspended))

    def _ended(self, task: asyncio.Task[Frame]) -> bytes:
        if task.cancelled():
            raise ServerError(INTERNAL_ERROR, "the call was cancelled")
        try:
            return bytes(task.result().body)
        except ServerError as error:
            urls = _urls(error)
            if not urls:
                raise
            return input_required(urls, _ANEW)

    def _suspend(self, suspended: SuspendedCall) -> str:
        if len(self._calls) >= MAX_SUSPENDED:
            self._calls.pop(next(iter(self._calls))).cancel()
        state = self.new_state()
        self._calls[state] = suspended
        due = self._clock.monotonic() + RETURN_WITHIN_S
        suspended.timer = self._clock.call_at(due, lambda: self._give_up(state))
        return state

    def _give_up(self, state: str) -> None:
        suspended = self._calls.pop(state, None)
        if suspended is not None:
            suspended.cancel()


def _urls(error: ServerError) -> dict[str, tuple[str, Raw]]:
    """The URLs that a 2025-11-25 server wants opened first (-32042), as questions."""
    data = error.data if error.rpc_code == URL_ELICITATION_REQUIRED else None
    listed = data.get("elicitations") if isinstance(data, dict) else None
    if not isinstance(listed, list):
        return {}
    return {
        f"u{number}": ("elicitation/create", Raw(encoded(each)))
        for number, each in enumerate(listed, 1)
        if isinstance(each, dict)
    }


def _fingerprint(method: str, params: dict[str, Any]) -> bytes:
    """What a request is about; the client must come back with the very same one."""
    about = {key: value for key, value in sorted(params.items()) if key != "_meta"}
    return hashlib.sha256(encoded([method, about])).digest()

"""Requests whose params and results pass through undecoded, for a gateway.

They share queue, deadlines, links and events with all other requests. What the server asks or
notifies because of such a call goes to the call's own hooks. Called by downstream/, and by
web/api/apps.py for what apps ask.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from mcplens.errors import InspectorError
from mcplens.protocol.deadlines import Deadline
from mcplens.protocol.eras import CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION
from mcplens.protocol.frames import ABSENT, Frame
from mcplens.protocol.input_required import MAY_ASK
from mcplens.protocol.json_recovery import top_level_spans
from mcplens.session.call_hooks import Hooks, WaitingHooks
from mcplens.session.connection import Connection
from mcplens.session.envelope import with_meta
from mcplens.session.input_rounds import Ask, InputRounds
from mcplens.session.question_handler import ServerRequest
from mcplens.session.queue import CallTag, Progress, QueueEntry
from mcplens.session.request_sender import RequestSender
from mcplens.session.results import result_type
from mcplens.session.subscription_stream import SubscriptionStream

# What `_meta` says about one hop only: each hop has its own.
_OF_THE_HOP: Final = (
    "progressToken",
    PROTOCOL_VERSION,
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LOG_LEVEL,
)


class _ErrorReply(msgspec.Struct, gc=False):
    error: Raw = ABSENT


_read_members = msgspec.json.Decoder(dict[str, Raw]).decode
_read_error = msgspec.json.Decoder(_ErrorReply).decode


class RawCalls:
    """Sends requests whose bodies nobody decodes."""

    def __init__(
        self,
        connection: Connection,
        requests: RequestSender,
        rounds: InputRounds,
        *,
        ask: Ask,
        subscription_stream: SubscriptionStream,
    ) -> None:
        self._connection = connection
        self._requests = requests
        self._rounds = rounds
        self._ask = ask
        self._subscription_stream = subscription_stream

    def __repr__(self) -> str:
        return f"<RawCalls of {self._connection!r}>"

    async def send(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        tag: CallTag,
        deadline: Deadline | None = None,
        hooks: Hooks | None = None,
        wants_progress: bool = False,
        headers: Mapping[str, str] | None = None,
        client_capabilities: Mapping[str, Any] | None = None,
        answers_input: bool = False,
    ) -> Frame:
        """Send a request; its result is returned as it came.

        Values in `params` may be Raw, `_meta` is a mapping. `client_capabilities` are declared with
        this request, where the revision does so. With `answers_input` the questions of an
        `input_required` result go to the hooks; else it is returned like any other.

        Raises:
            InspectorError: no answer, or an error answer (ServerError; `raw` has its bytes).
        """
        connection = self._connection
        if client_capabilities is not None and connection.is_stateless:
            params = with_meta(params, {CLIENT_CAPABILITIES: client_capabilities})
        on_progress = _nowhere if wants_progress else None  # the hooks get it raw

        def send(params: Mapping[str, Any] | None) -> Awaitable[Frame]:
            return self._requests.send(
                method, params, tag=tag, deadline=deadline, on_progress=on_progress, headers=headers
            )

        call_id = tag.call_id
        if hooks is not None and call_id is not None:
            connection.call_hooks[call_id] = hooks
        try:
            frame = await send(params)
            if answers_input and self._wants_input(method, frame):
                return await self._answer(method, params or {}, frame, send, tag, deadline)
            return frame
        except InspectorError as error:
            connection.describe(error, method)
            raise
        finally:
            if call_id is not None:
                connection.call_hooks.pop(call_id, None)

    def start(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        tag: CallTag,
        deadline: Deadline | None,
        hooks: WaitingHooks,
        wants_progress: bool,
        headers: Mapping[str, str] | None,
    ) -> QueueEntry:
        """Send a request as `send` does, for a caller that does not wait.

        `hooks.on_answered` is called when the entry is settled, unless it is when this returns.

        Raises:
            InspectorError: NOT_CONNECTED, or CAPABILITY_NOT_SUPPORTED.
        """
        on_progress = _nowhere if wants_progress else None
        entry = self._requests.start(method, params, tag, None, on_progress, headers, deadline)
        if tag.call_id is not None and not entry.is_settled:
            self._connection.call_hooks[tag.call_id] = hooks
            entry.on_answered = self._settled
        return entry

    def _settled(self, entry: QueueEntry) -> None:
        call_id = entry.tag.call_id
        hooks: Any = None if call_id is None else self._connection.call_hooks.pop(call_id, None)
        if hooks is not None:
            hooks.on_answered(entry)

    async def answer_of(self, entry: QueueEntry, method: str) -> Frame:
        """Wait for a request that `start` sent.

        Raises:
            InspectorError: as `send`.
        """
        try:
            return await self._requests.answer_of(entry)
        except InspectorError as error:
            self._connection.describe(error, method)
            raise

    def withdraw(self, entry: QueueEntry) -> None:
        """Cancel a request that `start` sent, on the server too; its hooks hear no more of it."""
        entry.on_answered = None
        if entry.tag.call_id is not None:
            self._connection.call_hooks.pop(entry.tag.call_id, None)
        self._requests.withdraw(entry)

    async def answer_question(self, question: ServerRequest) -> Any:
        """Answer a question of a task's, or of an app's, by the client's own handlers.

        Raises:
            ServerError: there is no handler for it, or it refuses.
            CancelledRequest: the connection ended meanwhile.
        """
        return await self._ask(question)

    def watch_task(self, task_id: str) -> None:
        """Have a 2026-07-28 server report on a task; its reports are notifications."""
        if self._connection.is_stateless:
            self._subscription_stream.want_task(task_id)

    def unwatch_task(self, task_id: str) -> None:
        """No reports on a task any more."""
        self._subscription_stream.drop_task(task_id)

    def _wants_input(self, method: str, frame: Frame) -> bool:
        if not self._connection.is_stateless or method not in MAY_ASK:
            return False
        return result_type(frame, method) == "input_required"

    async def _answer(
        self,
        method: str,
        params: Mapping[str, Any],
        frame: Frame,
        send: Callable[[Mapping[str, Any] | None], Awaitable[Frame]],
        tag: CallTag,
        deadline: Deadline | None,
    ) -> Frame:
        limit = None if deadline is None else self._connection.limits.adopt(tag, deadline)

        def again(params: Mapping[str, Any]) -> Awaitable[Frame]:
            if limit is not None:
                limit.check(method)
            return send(params)

        try:
            return await self._rounds.answer(method, params, frame, again, tag, limit)
        finally:
            if limit is not None:
                limit.end()


def read_params(body: Raw | bytes) -> dict[str, Any]:
    """The params of a request of another hop, to be sent on: values Raw, `_meta` a dict of Raw.

    What `_meta` says about that hop alone (progress token, revision, client) is left out.

    Raises:
        ValueError: they are not an object, or `_meta` is not.
    """
    if not bytes(body):
        return {}
    params: dict[str, Any] = {}
    try:
        params.update(_read_members(body))
        if "_meta" in params:
            meta = _read_members(params["_meta"])
            for name in _OF_THE_HOP:
                meta.pop(name, None)
            params["_meta"] = meta
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise ValueError(f"params must be an object, and so must their _meta: {problem}") from None
    if not params.get("_meta", True):
        del params["_meta"]
    return params


def error_member(raw: bytes) -> Raw:
    """The `error` member of an error reply, as it came; empty if there is none."""
    try:
        return _read_error(raw).error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # only msgspec refuses it
        span = top_level_spans(raw).get("error")
        return ABSENT if span is None else Raw(raw[slice(*span)].strip())


def _nowhere(_: Progress) -> None:
    """Makes a request ask for progress."""

"""Sends requests to the server: checked against its capabilities, queued, awaited, cancelled.

Also sends raw bytes exactly as they are. Knows how requests travel, not what they mean; used by
every part of the client that asks the server something.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, TypedDict, TypeGuard

from mcplens.errors import InspectorError
from mcplens.known_secrets import known_secrets
from mcplens.protocol.deadlines import Deadline
from mcplens.protocol.eras import why_not_allowed
from mcplens.protocol.frames import Frame, Kind, Message, RequestId, parse, request_ids
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.session.attribution import Link
from mcplens.session.connection import Connection
from mcplens.session.queue import CallTag, Progress, QueueEntry, RequestStatus

OnProgress = Callable[[Progress], None]

_CONNECTED: Final = ConnectionState.CONNECTED  # every call asks for it


class RequestOptions(TypedDict, total=False):
    """What a caller may say about any operation."""

    timeout_s: float | None
    on_progress: OnProgress | None
    headers: Mapping[str, str] | None
    meta: Mapping[str, Any] | None
    tag: CallTag | None


class RequestSender:
    """What can be sent to a server, whatever it means."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._queue = connection.queue
        self._meta = connection.options.meta
        self._enforces_capabilities = connection.options.enforce_capabilities

    def __repr__(self) -> str:
        return f"<RequestSender of {self._connection!r}>"

    def send(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        tag: CallTag,
        timeout_s: float | None = None,
        deadline: Deadline | None = None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Coroutine[Any, Any, Frame]:
        """Send a request or put it into the queue; await what this returns for the answer."""
        return self.answer_of(
            self.start(method, params, tag, timeout_s, on_progress, headers, deadline)
        )

    def start(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        tag: CallTag,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: Deadline | None = None,
    ) -> QueueEntry:
        """Send a request or put it into the queue; pings and polls of tasks bypass the queue.

        `deadline` is that of the whole call, `timeout_s` is for a call of one request.

        Raises:
            InspectorError: NOT_CONNECTED, or CAPABILITY_NOT_SUPPORTED.
        """
        self._check_allowed(method)
        if self._meta:
            params = _with_meta(params or {}, self._meta)
        extra = _learned(headers) if headers else None
        if method == "ping" or method.startswith("tasks/"):
            sender = self._connection.ready_session().sender
            return sender.start_now(method, params, tag=tag, timeout_s=timeout_s, headers=extra)
        if timeout_s is not None:
            connection = self._connection
            deadline = connection.config.deadline(connection.clock.monotonic(), timeout_s)
        return self._queue.enqueue(
            method,
            params,
            timeout_s=timeout_s,
            on_progress=on_progress,
            headers=extra,
            tag=tag,
            deadline=deadline,
        )

    async def answer_of(self, entry: QueueEntry) -> Frame:
        """Wait for the answer; if the caller is cancelled, so is the request, on the server too."""
        try:
            frame: Frame = await entry.future
            return frame
        except asyncio.CancelledError:
            self.withdraw(entry)
            raise

    def withdraw(self, entry: QueueEntry) -> None:
        """Cancel a request whose caller was cancelled, on the server too."""
        reason = "cancelled by the caller"
        if not entry.is_settled and not self._queue.abort(entry.id, reason):
            self._connection.cancel(entry, reason)

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        link = Link(call_id=self._connection.new_tag().call_id, purpose="call")
        self._connection.ready_session().sender.notify(method, params, link)

    async def send_raw(
        self,
        data: bytes,
        *,
        tag: CallTag,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
        force: bool = False,
    ) -> Frame | None:
        """Send bytes exactly as they are. If they are a request, wait for its answer."""
        session = self._connection.ready_session()
        message = parse(data)
        extra = _learned(headers) if headers else None
        for used in request_ids(message):
            self._connection.correlation.reserve(used)
        if not self._may_wait_for(message, force):
            session.sender.send_bytes(data, extra, tag=tag)
            return None
        assert message.id is not None
        entry = QueueEntry(
            message.id,
            message.method,
            _params_of(message),
            created_at=session.clock.wall(),
            tag=tag,
            timeout_s=timeout_s,
            on_progress=on_progress,
        )
        entry.status = RequestStatus.IN_PROGRESS
        if tag.on_request is not None:
            tag.on_request(entry)
        session.sender.start_raw(entry, message, extra)
        return await self.answer_of(entry)

    def _may_wait_for(self, message: Message, force: bool) -> TypeGuard[Frame]:
        """Whether it is a request whose answer can be told apart from others."""
        if not isinstance(message, Frame) or message.kind is not Kind.REQUEST:
            return False
        if message.id not in self._connection.correlation.waiting:
            return True
        if not force:
            text = f"the id {message.id!r} is in flight; use another, or force it"
            error = InspectorError("INVALID_REQUEST", text)
            raise self._connection.describe(error, message.method)
        return False

    def cancel(self, request_id: RequestId) -> bool:
        """Cancel a request that has not been sent."""
        return self._queue.cancel(request_id)

    def abort(self, request_id: RequestId, reason: str) -> bool:
        """Cancel a request; one in progress is cancelled on the server too."""
        return self._queue.abort(request_id, reason)

    def _check_allowed(self, method: str) -> None:
        connection = self._connection
        introduction = connection.introduction
        if connection.lifecycle.state is not _CONNECTED or introduction is None:
            if not connection.is_reopening:
                raise connection.not_connected().with_details(method=method)
            return
        if method in introduction.allowed:
            return
        if not self._enforces_capabilities or not introduction.is_complete:
            return
        why = why_not_allowed(method, introduction.version, introduction.capabilities)
        if why is not None:
            text = f"{why}; enforce_capabilities=False sends it all the same"
            error = InspectorError("CAPABILITY_NOT_SUPPORTED", text)
            raise connection.describe(error, method)
        introduction.allowed.add(method)


def _learned(headers: Mapping[str, str]) -> dict[str, str]:
    """A copy of the headers of one call; their secrets are masked wherever they come back."""
    known_secrets.learn_headers(headers)
    return dict(headers)


def _with_meta(params: Mapping[str, Any], meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """Params with the configured `_meta` beneath their own, if that is an object."""
    own = params.get("_meta", {})
    return {**params, "_meta": {**meta, **own}} if isinstance(own, Mapping) else params


def _params_of(message: Frame) -> Any:
    """The params of a raw request, which may name a progress token; None if they are not JSON."""
    try:
        return message.value()
    except ValueError:
        return None

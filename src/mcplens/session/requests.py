"""Any request to the server, checked, queued and waited for; and bytes exactly as they are.

The part of the client that knows how requests travel; operations.py knows what they mean.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from mcplens.errors import InspectorError, ProtocolError
from mcplens.events import Purpose
from mcplens.protocol.eras import why_not_allowed
from mcplens.protocol.frames import (
    Frame,
    Kind,
    Message,
    RequestId,
    decode_value,
    parse,
    request_ids,
)
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.session.attribution import Link
from mcplens.session.catalog import Catalog
from mcplens.session.config import ClientOptions
from mcplens.session.queue import CallTag, Progress, QueueEntry, RequestStatus
from mcplens.session.results import Reply, check_reply

if TYPE_CHECKING:
    from mcplens.session.connection import Connection

OnProgress = Callable[[Progress], None]

_CONNECTED: Final = ConnectionState.CONNECTED  # every call asks for it


class Requests:
    """What can be sent to a server, whatever it means."""

    server_id: str
    _catalog: Catalog
    _connection: Connection
    _options: ClientOptions

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
        tag: CallTag | None = None,
    ) -> Reply:
        """Any method; a result that breaks its shape is returned with the findings.

        Raises:
            InspectorError: no answer, an error answer, or one that is not JSON.
        """
        frame = await self._send(
            method,
            params,
            tag=tag or self.new_tag(),
            timeout_s=timeout_s,
            on_progress=on_progress,
            headers=headers,
        )
        try:
            value, findings = decode_value(frame.body)
        except ValueError as problem:
            message = f"the answer to {method} cannot be decoded: {problem}"
            raise ProtocolError("INVALID_RESPONSE", message, raw=frame.raw) from None
        findings += check_reply(
            method,
            frame,
            value,
            is_stateless=self._connection.is_stateless,
            tool=self._catalog.tool(str((params or {}).get("name"))),
            schemas=self._catalog.output_schemas,
        )
        return Reply(value, bytes(frame.body), tuple(dict.fromkeys(findings)))

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        link = Link(call_id=self.new_tag().call_id, purpose="call")
        self._connection.ready_session().sender.notify(method, params, link)

    def new_tag(self, purpose: Purpose = "call") -> CallTag:
        """What the requests of a new operation have in common."""
        return CallTag(call_id=self._connection.publish.next_call_id(), purpose=purpose)

    async def send_raw(
        self,
        data: bytes,
        *,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
        force: bool = False,
        tag: CallTag | None = None,
    ) -> Frame | None:
        """Send bytes exactly as they are. If they are a request, its answer is waited for.

        Raises:
            InspectorError: the id is in flight (unless forced), or as for `request`.
        """
        session = self._connection.ready_session()
        message = parse(data)
        extra = dict(headers) if headers else None
        for used in request_ids(message):
            self._connection.correlation.reserve(used)
        tag = tag or self.new_tag("raw")
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
        frame: Frame = await self._settled(entry)
        return frame

    def _may_wait_for(self, message: Message, force: bool) -> TypeGuard[Frame]:
        """Whether it is a request whose answer can be told apart from others."""
        if not isinstance(message, Frame) or message.kind is not Kind.REQUEST:
            return False
        if message.id not in self._connection.correlation.waiting:
            return True
        if not force:
            text = f"the id {message.id!r} is in flight; use another, or force it"
            raise InspectorError("INVALID_REQUEST", text)
        return False

    def cancel(self, request_id: RequestId) -> bool:
        """Cancel a request that has not been sent."""
        return self._connection.queue.cancel(request_id)

    def abort(self, request_id: RequestId, reason: str = "cancelled by the user") -> bool:
        """Cancel a request; one in progress is cancelled on the server too."""
        return self._connection.queue.abort(request_id, reason)

    # -- beneath -------------------------------------------------------------------------------

    def _send(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        tag: CallTag,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Coroutine[Any, Any, Frame]:
        """Send it or put it into the queue; await what this gives for the answer."""
        return self._settled(
            self._start(
                method,
                params,
                tag=tag,
                timeout_s=timeout_s,
                on_progress=on_progress,
                headers=headers,
            )
        )

    def _start(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        tag: CallTag,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> QueueEntry:
        self._check_allowed(method)
        if self._options.meta:
            params = _with_meta(params or {}, self._options.meta)
        extra = dict(headers) if headers else None
        if method == "ping" or method.startswith("tasks/"):
            session = self._connection.ready_session()
            return session.sender.start_now(
                method, params, tag=tag, timeout_s=timeout_s, headers=extra
            )
        return self._connection.queue.enqueue(
            method, params, timeout_s=timeout_s, on_progress=on_progress, headers=extra, tag=tag
        )

    async def _settled(self, entry: QueueEntry) -> Any:
        """The answer; if the caller is cancelled, so is the request, on the server too."""
        try:
            return await entry.future
        except asyncio.CancelledError:
            connection, reason = self._connection, "cancelled by the caller"
            if not entry.is_settled and not connection.queue.abort(entry.id, reason):
                connection.cancel(entry, reason)
            raise

    def _check_allowed(self, method: str) -> None:
        connection = self._connection
        introduction = connection.introduction
        if connection.lifecycle.state is not _CONNECTED or introduction is None:
            if not connection.is_reopening:
                raise connection.not_connected()
            return
        if method in introduction.allowed:
            return
        if not self._options.enforce_capabilities or not introduction.is_complete:
            return
        why = why_not_allowed(method, introduction.version, introduction.capabilities)
        if why is not None:
            raise InspectorError(
                "CAPABILITY_NOT_SUPPORTED",
                f"{why}; enforce_capabilities=False sends it all the same",
                details={"server_id": self.server_id, "method": method},
            )
        introduction.allowed.add(method)


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

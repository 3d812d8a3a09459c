"""Legacy HTTP+SSE: a stream brings everything, and names the endpoint that takes our POSTs.

The answer to a request comes on the stream, not to its POST; when the stream is gone, so is the
connection. Used on request, and as the fallback of streamable HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mcplens.clock import within
from mcplens.errors import ConnectError, InspectorError, TransportError
from mcplens.protocol.frames import Malformed, RequestId, parse
from mcplens.protocol.secret_masking import mask_url
from mcplens.protocol.sse import SseEvent
from mcplens.transports.authorization import Authorizer
from mcplens.transports.base import DEFAULT_MAX_MESSAGE_BYTES, Closing, Outgoing, Transport
from mcplens.transports.event_stream import EventStream
from mcplens.transports.http_client import HeaderSet, HttpClient
from mcplens.transports.network import (
    DEFAULT_CONNECT_TIMEOUT_S,
    NetworkOptions,
    one_line,
)

if TYPE_CHECKING:
    from yarl import URL

_GET: Final = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
_POST: Final = {"Accept": "*/*", "Content-Type": "application/json"}
# As much as one header; servers take far less of a URL.
_MAX_ENDPOINT_CHARACTERS: Final = 64 * 1024
# As much of what a server calls its endpoint is quoted.
_QUOTED_CHARACTERS: Final = 200
# How long what was sent last may take to get out when we leave.
_GOODBYE_S: Final = {Closing.GRACEFUL: 2.0, Closing.HANDOVER: 0.3}


class SseTransport(Transport):
    """A server that speaks on one long GET and listens on another URL."""

    kind = "sse"
    can_be_stateless = False

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        ca_file: str | None = None,
        insecure: bool = False,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        connect_timeout_s: float = DEFAULT_CONNECT_TIMEOUT_S,
        authorizer: Authorizer | None = None,
    ) -> None:
        super().__init__(max_message_bytes=max_message_bytes)
        self._url = url
        options = NetworkOptions(
            headers=headers,
            ca_file=ca_file,
            insecure=insecure,
            connect_timeout_s=connect_timeout_s,
            authorizer=authorizer,
        )
        self.authorizer = authorizer
        self._client = HttpClient(url, options, max_message_bytes)
        self._stream = EventStream(max_message_bytes)
        self._endpoint: asyncio.Future[URL] | None = None
        self._exchange_id: int | None = None  # of the stream
        self._has_remarked_second = False
        self._version = ""
        self._posts: set[asyncio.Task[None]] = set()
        self._is_open = False
        self._post_headers: HeaderSet

    def __repr__(self) -> str:
        return f"<SseTransport {self._client.shown_url} {'open' if self._is_open else 'closed'}>"

    @property
    def identity(self) -> str:
        return self._url

    def unfinished(self, request_id: RequestId | None = None) -> bytes:
        return self._stream.unfinished

    @property
    def lack(self) -> str:
        endpoint = self._endpoint
        is_named = endpoint is not None and endpoint.done() and not endpoint.cancelled()
        is_lacking = self._stream.has_begun and not is_named
        return "its stream is open, but the endpoint event has not come" if is_lacking else ""

    async def _open(self) -> None:
        self._client.open(self._publish, self._clock)
        self._is_open = True
        self._build_headers()
        if self.authorizer is not None:
            await self.authorizer.make_ready()
        self._endpoint = asyncio.get_running_loop().create_future()
        self._work.start(self._read(self._endpoint), "GET")
        try:
            await self._endpoint
        except BaseException:
            await self._close(Closing.KILL)
            raise

    async def _close(self, how: Closing) -> None:
        if not self._is_open:
            return
        self._is_open = False
        try:
            limit_s = _GOODBYE_S.get(how)
            if limit_s is not None and self._posts:
                with contextlib.suppress(TimeoutError):
                    await within(self._clock, limit_s, self._finish_posts())
        finally:
            await self._work.end()
            await self._client.close()

    async def _finish_posts(self) -> None:
        await asyncio.gather(*self._posts, return_exceptions=True)

    def write(self, out: Outgoing) -> None:
        task = self._work.start(self._post(out), "POST")
        self._posts.add(task)
        task.add_done_callback(self._posts.discard)

    def next_exchange_id(self) -> int | None:
        return self._publish.next_exchange_id()

    def negotiated(self, protocol_version: str, *, is_stateless: bool = False) -> None:
        self._version = protocol_version
        self._build_headers()

    def describe(self) -> dict[str, Any]:
        endpoint = self._endpoint
        is_known = self._is_open and endpoint is not None and endpoint.done()
        return {
            "transport": self.kind,
            "url": self._client.shown_url,
            "endpoint": mask_url(str(endpoint.result())) if endpoint and is_known else None,
            "protocol_version": self._version or None,
        }

    def _build_headers(self) -> None:
        state = {"MCP-Protocol-Version": self._version} if self._version else {}
        self._post_headers = self._client.headers(_POST, state)

    # -- the stream ----------------------------------------------------------------------------

    async def _read(self, endpoint: asyncio.Future[URL]) -> None:
        """Everything that the server says, until the stream ends."""
        try:
            async with self._client.exchange("GET", self._client.headers(_GET)) as exchange:
                self._exchange_id = exchange.id
                if exchange.status < 300 and exchange.is_event_stream:
                    await self._stream.follow(exchange, self._take_event)
                    problem: InspectorError = ConnectError(
                        "CONNECTION_FAILED",
                        f"{exchange.doing}: the stream ended before its endpoint event",
                    )
                else:
                    body = await exchange.read()
                    what = exchange.content_type or "no content type"
                    problem = exchange.status_error(body)
                    if exchange.status < 300:
                        quoted = one_line(body) or "no body"
                        wrong = f"answered with {exchange.status} and {what} instead of an event"
                        problem = exchange.error(
                            "INVALID_RESPONSE", f"{wrong} stream: {quoted}", body
                        )
        except InspectorError as error:
            problem = error
        if not endpoint.done():
            endpoint.set_exception(problem)
        elif self._is_open:
            self._lose(self._stream.ending())

    def _lose(self, error: InspectorError) -> None:
        message = f"the server's stream is gone: {error.message}"
        lost = TransportError("CONNECTION_LOST", message, details=error.details)
        self._receiver.connection_lost(lost)

    def _take_event(self, event: SseEvent) -> None:
        if event.event == "endpoint":
            self._take_endpoint(event.data.decode("utf-8", "replace").strip())
            return
        message = self._stream.message_in(event)
        if message is None:
            self._remark(self._stream.oddity(event))
        else:
            self._receiver.message_received(message, len(event.data), self._exchange_id)

    def _take_endpoint(self, text: str) -> None:
        from yarl import URL

        assert self._endpoint is not None
        if self._endpoint.done():
            if not self._has_remarked_second:  # a server may send them without end
                self._has_remarked_second = True
                self._remark(f"a second endpoint event is ignored: {_quoted(text)}")
            return
        if len(text) > _MAX_ENDPOINT_CHARACTERS:
            message = f"the server names an endpoint too long for a URL: {_quoted(text)}…"
            self._endpoint.set_exception(ConnectError("ENDPOINT_REFUSED", message))
            return
        ours = self._client.url
        try:
            target = ours.join(URL(text))
            theirs = target.origin()
        except ValueError as problem:
            quoted, reason = text[:_QUOTED_CHARACTERS], str(problem)[:_QUOTED_CHARACTERS]
            message = f"the server names an endpoint that is not a URL: {quoted!r} ({reason})"
            self._endpoint.set_exception(ConnectError("ENDPOINT_REFUSED", message))
            return
        if theirs != ours.origin():
            message = (
                f"the server at {ours.origin()} wants our messages sent to {theirs}, another "
                "origin; they may hold secrets, so they are not"
            )
            details = {"origin": str(ours.origin()), "endpoint": _quoted(str(target))}
            error = ConnectError("ENDPOINT_REFUSED", message, details=details)
            self._endpoint.set_exception(error)
            return
        self._endpoint.set_result(target)

    # -- messages out --------------------------------------------------------------------------

    async def _post(self, out: Outgoing) -> None:
        assert self._endpoint is not None
        headers = self._post_headers.with_extra(out.headers)
        try:
            url = self._endpoint.result()
            posted = self._client.exchange(
                "POST",
                headers,
                out.data,
                url,
                exchange_id=out.exchange_id,
                on_resent=partial(self._receiver.message_resent, out),
            )
            async with posted as exchange:
                body = await exchange.read()
            if exchange.status >= 300:
                raise exchange.status_error(body)
        except InspectorError as error:
            if out.is_request and out.id is not None:
                self._receiver.request_failed(out.id, error)
            else:
                self._remark(f"{out.method or 'a message'} was not delivered: {error.message}")
            return
        message = parse(body)
        if not isinstance(message, Malformed):
            self._remark(
                "the server answered a POST itself, though the answer belongs on its stream"
            )
            self._receiver.message_received(message, len(body), exchange.id, out)


def _quoted(url: str) -> str:
    return mask_url(url[:_QUOTED_CHARACTERS])

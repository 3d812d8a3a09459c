"""Streamable HTTP: one POST per message, answered by JSON or by a stream of events.

Each POST is a task of its own, so nothing waits for anything else and a failure stays where it
happened. Owns resumption of broken streams and the server's own stream (GET).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import msgspec

from mcplens.clock import Timer, within
from mcplens.errors import HttpError, InspectorError
from mcplens.logs import get_logger
from mcplens.protocol.frames import Frame, Malformed, Message, RequestId, parse
from mcplens.protocol.secret_masking import mask
from mcplens.protocol.sse import SseEvent
from mcplens.transports.authorization import Authorizer
from mcplens.transports.base import DEFAULT_MAX_MESSAGE_BYTES, Closing, Outgoing, Transport
from mcplens.transports.event_stream import AnswerStream, EventStream, may_answer
from mcplens.transports.http_client import HttpClient
from mcplens.transports.http_exchange import HttpExchange
from mcplens.transports.http_session import HttpSession
from mcplens.transports.network import (
    DEFAULT_CONNECT_TIMEOUT_S,
    NetworkOptions,
    one_line,
)
from mcplens.transports.sse import SseTransport

_STATUS_FIRST: Final = (401, 403, 429)

_MAX_BACKOFF_S: Final = 30.0
# With the delays above: half a minute of trying.
_MAX_FAILURES: Final = 5
# A stream that ends sooner than this with nothing on it counts as a failure to open it.
_SHORT_STREAM_S: Final = 5.0
# Room for a stream's end to come after the answer, so that its connection can be used again.
_DRAIN_S: Final = 5.0
# How long the server may take to hear that we leave.
_GOODBYE_S: Final = {Closing.GRACEFUL: 2.0, Closing.HANDOVER: 0.3}


_log: Final = get_logger("mcplens.transports.http")


class StreamableHttpTransport(Transport):
    """A server behind one URL that takes POSTs."""

    kind = "http"
    exchange_per_request = True

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
        sse_fallback: bool = True,
    ) -> None:
        super().__init__(max_message_bytes=max_message_bytes)
        self._url = url
        self._options = NetworkOptions(
            headers=headers,
            ca_file=ca_file,
            insecure=insecure,
            connect_timeout_s=connect_timeout_s,
            authorizer=authorizer,
        )
        self.authorizer = authorizer
        self._sse_fallback = sse_fallback
        self._client = HttpClient(url, self._options, max_message_bytes)
        self._session = HttpSession(self._client)
        self._calls: dict[RequestId, asyncio.Task[None]] = {}
        self._answers: dict[RequestId, AnswerStream] = {}  # those that are under way
        self._asides: set[asyncio.Task[None]] = set()  # POSTs without a waiting caller
        self._listener: asyncio.Task[None] | None = None
        self._is_open = False

    def __repr__(self) -> str:
        state = "open" if self._is_open else "closed"
        calls = len(self._calls)
        return f"<StreamableHttpTransport {self._client.shown_url} {state}, {calls} calls>"

    @property
    def identity(self) -> str:
        return self._url

    async def _open(self) -> None:
        self._client.open(self._publish, self._clock)
        self._is_open = True
        self._session.begin()
        if self.authorizer is not None:
            await self.authorizer.make_ready()

    async def _close(self, how: Closing) -> None:
        if not self._is_open:
            return
        self._is_open = False
        try:
            limit_s = _GOODBYE_S.get(how)
            if limit_s is not None and (self._asides or self._session.id is not None):
                with contextlib.suppress(TimeoutError):
                    await within(self._clock, limit_s, self._say_goodbye())
        finally:
            await self._work.end()
            await self._client.close()

    def write(self, out: Outgoing) -> None:
        task = self._work.start(self._converse(out), "POST")
        if out.is_request and out.id is not None:
            self._calls[out.id] = task
        else:
            self._asides.add(task)
            task.add_done_callback(self._asides.discard)

    def unfinished(self, request_id: RequestId | None = None) -> bytes:
        answers = [*self._answers.values()]
        if request_id is not None:
            answers = [answer for key, answer in self._answers.items() if key == request_id]
        return next(filter(None, (answer.unfinished for answer in answers)), b"")

    def abandon(self, request_id: RequestId) -> None:
        task = self._calls.pop(request_id, None)
        if task is not None:
            task.cancel()

    def next_exchange_id(self) -> int | None:
        return self._publish.next_exchange_id()

    def negotiated(self, protocol_version: str, *, is_stateless: bool = False) -> None:
        self._session.negotiated(protocol_version, is_stateless=is_stateless)
        if not is_stateless and self._listener is None and self._is_open:
            self._listener = self._work.start(self._listen(), "GET")

    def fallback(self) -> Transport | None:
        if not self._sse_fallback:
            return None
        options = self._options
        return SseTransport(
            self._url,
            headers=options.headers,
            ca_file=options.ca_file,
            insecure=options.insecure,
            max_message_bytes=self.max_message_bytes,
            connect_timeout_s=options.connect_timeout_s,
            authorizer=options.authorizer,
        )

    def describe(self) -> dict[str, Any]:
        session = self._session
        return {
            "transport": self.kind,
            "url": self._client.shown_url,
            "session_id": None if session.id is None else mask(session.id),
            "protocol_version": session.version or None,
        }

    # -- a message and its answer --------------------------------------------------------------

    async def _converse(self, out: Outgoing) -> None:
        answer = AnswerStream(self.max_message_bytes)
        if out.is_request and out.id is not None:
            self._answers[out.id] = answer
        try:
            try:
                await self._post(out, answer)
            except InspectorError:
                if not answer.has_begun:
                    raise
            if out.is_request and answer.has_begun and not answer.is_given:
                await self._resume(out, answer)
        except InspectorError as error:
            # Errors are kept, and a traceback would keep all that came with them.
            self._failed(out, error.with_traceback(None))
        finally:
            if out.is_request and out.id is not None:
                self._calls.pop(out.id, None)
                self._answers.pop(out.id, None)

    async def _post(self, out: Outgoing, answer: AnswerStream) -> None:
        is_first = out.method == "initialize"
        carried = None if is_first else self._session.id
        headers = self._session.first_headers if is_first else self._session.post_headers
        headers = headers.with_extra(out.headers)
        posted = self._client.exchange(
            "POST",
            headers,
            out.data,
            exchange_id=out.exchange_id,
            on_resent=partial(self._receiver.message_resent, out),
        )
        async with posted as exchange:
            answer.exchange = exchange
            is_success = exchange.status < 300
            if is_first and is_success:
                self._session.take(exchange.header("Mcp-Session-Id"))
            if exchange.is_event_stream and is_success:
                await self._follow(exchange, answer, out)
                return
            body = await exchange.read()
        if is_success:
            self._answered(out, exchange, body)
        else:
            self._refused(out, exchange, body, carried)

    def _answered(self, out: Outgoing, exchange: HttpExchange, body: bytes) -> None:
        """A success other than a stream: the body is the answer."""
        message = parse(body)
        what = exchange.content_type or "no content type"
        if not out.is_request:
            self._answered_unasked(out, exchange, message)
            return
        if isinstance(message, Malformed):
            if exchange.status != 200 or not body.strip():
                problem = f"answered with {exchange.status} and {one_line(body) or 'no body'}"
                raise exchange.error("NO_RESPONSE", f"{problem}, which is not an answer", body)
            if not exchange.is_json:
                problem = (
                    f"answered with 200 and {what}, which is not an MCP answer: {one_line(body)}"
                )
                raise exchange.error("INVALID_RESPONSE", problem, body)
        elif not exchange.is_json:
            self._remark(f"the answer is a JSON-RPC message that came with {what}")
        self._receiver.message_received(message, len(body), exchange.id, out)
        if not may_answer(message):
            raise exchange.error("NO_RESPONSE", "another message came instead of the answer", body)

    def _answered_unasked(self, out: Outgoing, exchange: HttpExchange, message: Message) -> None:
        """The response to a POST that needs no answer, or to raw bytes without a waiting caller."""
        if not isinstance(message, Malformed) or (out.is_raw and exchange.is_json):
            self._receiver.message_received(message, len(message.raw), exchange.id, out)
        elif exchange.status == 200 and message.raw.strip():
            quoted = one_line(message.raw)
            self._remark(f"{out.name} was answered with something that is not a message: {quoted}")

    def _refused(
        self, out: Outgoing, exchange: HttpExchange, body: bytes, carried: str | None
    ) -> None:
        """An error status: a JSON-RPC answer in its body stands, else the status itself does."""
        error = exchange.status_error(body)
        message = parse(body)
        if isinstance(message, Frame) and message.error is not None:
            error.details["rpc_error"] = msgspec.structs.asdict(message.error)
        if exchange.status == 404 and carried is not None:
            self._expire(out, error, carried)
            return
        if isinstance(message, Frame):
            is_own = out.is_request and message.id == out.id
            # Who answers a challenge or waits out a limit needs the headers: HTTP errors stay so.
            if not (is_own and exchange.status in _STATUS_FIRST):
                self._receiver.message_received(message, len(body), exchange.id, out)
                if is_own:
                    return
        raise error

    def _expire(self, out: Outgoing, refusal: HttpError, carried: str) -> None:
        """404 to a request that carried a session id: the server forgot the session."""
        error = HttpError(
            "SESSION_EXPIRED",
            f"the server no longer knows our session: {refusal.message}",
            status=refusal.status,
            headers=refusal.headers,
            body=refusal.body,
            # This request was refused, so that it can be sent again; others may have been begun.
            details={**refusal.details, "refused_id": out.id},
        )
        if self._session.id == carried:
            self._session.take(None)
            _log.debug("%s: the session expired", self._client.shown_url)
            self._stop_listening()
            # First, so that what waits behind this request waits for the new session.
            self._receiver.session_expired(error)
        self._failed(out, error)

    def _failed(self, out: Outgoing, error: InspectorError) -> None:
        if out.is_request and out.id is not None:
            self._receiver.request_failed(out.id, error)
        else:
            self._remark(f"{out.name} was not delivered: {error.message}")

    # -- streams of events ---------------------------------------------------------------------

    async def _follow(self, exchange: HttpExchange, answer: AnswerStream, out: Outgoing) -> None:
        """Deliver what comes until the stream ends; after the answer its end may not take long."""
        request_id = out.id if out.is_request else None
        task = asyncio.current_task()
        assert task is not None
        timers: list[Timer] = []

        def take(event: SseEvent) -> None:
            message = self._deliver_event(event, answer, exchange, out)
            if message is None or request_id is None or not answer.settles(message, request_id):
                return
            if not exchange.has_come_whole:  # nearly always it has, and needs no timer
                due = self._clock.monotonic() + _DRAIN_S
                timers.append(self._clock.call_at(due, lambda: _cancel(task)))

        try:
            await answer.follow(exchange, take)
        finally:
            for timer in timers:
                timer.cancel()

    async def _resume(self, out: Outgoing, answer: AnswerStream) -> None:
        """Ask for the rest of a stream until the answer has come."""
        failures = 0
        while not answer.is_given:
            # 2026-07-28 has no resumption: a lost stream is a lost request.
            is_stateless = self._session.is_stateless or out.method == "server/discover"
            if is_stateless or not answer.last_event_id:
                if answer.has_doubtful:
                    return  # the session fails the request, quoting what came
                raise answer.ending()
            _log.debug("%s: resuming the stream of %s", self._client.shown_url, out.name)
            await self._wait_for(answer, failures)
            try:
                async with self._get(answer) as exchange:
                    if exchange.status >= 300 or not exchange.is_event_stream:
                        body = await exchange.read()
                    else:
                        failures = 0
                        await self._follow(exchange, answer, out)
                        continue
            except InspectorError:
                failures += 1
                continue
            if not _is_passing(exchange.status):
                refusal = exchange.status_error(body).message
                problem = f"{answer.ending().message}; it could not be resumed: {refusal}"
                raise exchange.error("NO_RESPONSE", problem, body)
            failures += 1

    async def _listen(self) -> None:
        """Keep the server's own stream open for what belongs to no request."""
        stream = EventStream(self.max_message_bytes)
        failures = 0
        while True:
            opened, count = self._clock.monotonic(), stream.event_count
            try:
                async with self._get(stream) as exchange:
                    if exchange.status >= 300 or not exchange.is_event_stream:
                        await exchange.read()
                        problem = f"{exchange.status} {exchange.reason}".strip()
                        if not _is_passing(exchange.status):
                            self._remark(f"the server offers no stream of its own ({problem})")
                            return
                    else:
                        await stream.follow(exchange, partial(self._overheard, stream, exchange))
                        problem = "it ended"
            except InspectorError as error:
                problem = error.message
            is_short = self._clock.monotonic() - opened < _SHORT_STREAM_S
            failures = failures + 1 if is_short and stream.event_count == count else 0
            if failures == _MAX_FAILURES:
                self._remark(f"the server's stream is given up after {failures} tries: {problem}")
                return
            await self._wait_for(stream, failures)

    async def _wait_for(self, stream: EventStream, failures: int) -> None:
        """Wait as long as the server wants before its stream is asked for again."""
        if stream.retry_s > _MAX_BACKOFF_S:
            wish = f"{stream.retry_s:,.0f} s, as the server asks (retry)"
            self._remark(f"the stream has ended; it is asked for again in {wish}")
        await self._clock.sleep(max(stream.retry_s, _backoff_s(failures)))

    def _get(self, stream: EventStream) -> HttpExchange:
        headers = self._session.get_headers
        if stream.last_event_id:
            headers = headers.with_extra({"Last-Event-ID": stream.last_event_id})
        return self._client.exchange("GET", headers)

    def _overheard(self, stream: EventStream, exchange: HttpExchange, event: SseEvent) -> None:
        self._deliver_event(event, stream, exchange, None)

    def _deliver_event(
        self, event: SseEvent, stream: EventStream, exchange: HttpExchange, carrier: Outgoing | None
    ) -> Message | None:
        message = stream.message_in(event)
        if message is None:
            self._remark(stream.oddity(event))
        else:
            self._receiver.message_received(message, len(event.data), exchange.id, carrier)
        return message

    # -- leaving -------------------------------------------------------------------------------

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.cancel()
            self._listener = None

    async def _say_goodbye(self) -> None:
        """End the session, and let what was sent last get out."""
        self._stop_listening()
        if self._session.id is not None:
            headers = self._session.get_headers.with_extra({"Accept": "*/*"})
            with contextlib.suppress(InspectorError):  # any answer will do, and so will none
                async with self._client.exchange("DELETE", headers) as exchange:
                    await exchange.read()
        await asyncio.gather(*self._asides, return_exceptions=True)


def _is_passing(status: int) -> bool:
    return status == 429 or status >= 500


def _backoff_s(failures: int) -> float:
    return min(2.0 ** (failures - 1), _MAX_BACKOFF_S) if failures else 0.0


def _cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()

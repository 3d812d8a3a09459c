"""One HTTP request and its answer, which publish themselves.

Owns redirects, size limits, and the one mapping of what aiohttp raises and of HTTP statuses to our
errors. It knows nothing of JSON-RPC. Made by http_client.py for both HTTP transports.
"""

from __future__ import annotations

from collections.abc import Callable
from logging import DEBUG
from typing import TYPE_CHECKING, Any, Final, Self

from mcplens.errors import (
    ConfigurationError,
    HttpError,
    InspectorError,
    ProtocolError,
    TimeoutExpired,
    TransportError,
)
from mcplens.events import (
    HttpBytesReceived,
    HttpExchangeEnded,
    HttpRequestSent,
    HttpResponseReceived,
)
from mcplens.logs import get_logger
from mcplens.protocol.secret_masking import mask_headers, mask_url
from mcplens.transports.authorization import MAX_TRIES, REFUSED_STATUSES, Refusal
from mcplens.transports.base import give_way
from mcplens.transports.network import KEPT_BYTES, status_error, unreachable

if TYPE_CHECKING:
    from aiohttp import ClientResponse, StreamReader
    from yarl import URL

    from mcplens.transports.http_client import HeaderSet, HttpClient

# More hops than any sane server needs; fewer than a loop makes.
MAX_REDIRECTS: Final = 5
# After so much at once others get their turn, if there is more already: of a compressed body the
# library has the next piece ready without a turn of the loop, for gigabytes on end.
_FLOOD_BYTES: Final = 32 * 1024
# Enough to recognise where a redirect points.
_QUOTED_CHARACTERS: Final = 200
_REDIRECTS: Final = (301, 302, 303, 307, 308)


_log: Final = get_logger("mcplens.transports.http")


class HttpExchange:
    """One HTTP request and its answer; enter it to send it, then read the answer.

    Whatever breaks inside is raised as an InspectorError that has all that came of the answer.
    """

    __slots__ = (
        "_body", "_chunks", "_client", "_failure", "_headers", "_is_flooded", "_is_over",
        "_on_resent", "_read_ahead", "_response", "_sent_authorization", "_started", "_tries",
        "_url", "content_type", "id", "method", "reason", "shown_headers", "shown_url", "status",
    )  # fmt: skip

    def __init__(
        self,
        client: HttpClient,
        method: str,
        headers: HeaderSet,
        body: bytes | None,
        url: URL | None,
        exchange_id: int | None = None,
        on_resent: Callable[[int], None] | None = None,
    ) -> None:
        self.id = exchange_id if exchange_id is not None else client.publish.next_exchange_id()
        self.method = method
        self.shown_url = client.shown_url if url is None else mask_url(str(url))
        self.status: int = 0
        self.reason = ""
        self.content_type = ""
        self.shown_headers: list[tuple[str, str]] = []
        self._client = client
        self._url = client.url if url is None else url
        self._headers = headers
        self._body = body
        self._response: ClientResponse | None = None
        self._chunks: list[bytes] = []
        self._failure: Exception | None = None
        self._is_flooded = False
        self._is_over = False
        self._on_resent = on_resent
        self._started = 0.0
        self._tries = 0  # how often it was sent again after a sign-in
        self._sent_authorization: str | None = None
        self._read_ahead: bytes | None = None

    def __repr__(self) -> str:
        return f"<HttpExchange {self.id} {self.doing} {self.status or 'unanswered'}>"

    @property
    def doing(self) -> str:
        return f"{self.method} {self.shown_url}"

    @property
    def is_event_stream(self) -> bool:
        return self.content_type == "text/event-stream"

    @property
    def is_json(self) -> bool:
        return self.content_type == "application/json" or self.content_type.endswith("+json")

    @property
    def has_come_whole(self) -> bool:
        """Whether the end of the body is here, read or not."""
        return self._response is not None and self._response.content.is_eof()

    @property
    def so_far(self) -> bytes:
        """What was read of a body that is read whole."""
        return b"".join(self._chunks)

    def header(self, name: str) -> str | None:
        """A header of the answer, as it came."""
        return None if self._response is None else self._response.headers.get(name)

    async def __aenter__(self) -> Self:
        try:
            await self._send()
            hops = 0
            while True:
                if self.status in _REDIRECTS and self.header("Location") is not None:
                    hops += 1
                    await self._follow(hops)
                elif self.status not in REFUSED_STATUSES or not await self._is_let_in():
                    break
        except BaseException as problem:
            error = self._broken(problem)
            if error is problem:
                raise
            raise error from problem
        return self

    async def __aexit__(self, kind: object, problem: BaseException | None, _: object) -> None:
        if problem is not None:
            error = self._broken(problem)
            if error is not problem:
                raise error from problem
        elif not self._is_over:
            self._close()
            self._end(None)

    async def read(self) -> bytes:
        """The whole body, which ends the exchange."""
        if self._read_ahead is not None:
            return self._read_ahead
        size, limit = 0, self._client.max_message_bytes
        chunks = self._chunks
        while chunk := await self._next_chunk():
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                raise self.error(
                    "MESSAGE_TOO_LARGE", f"the body is over the limit of {limit} bytes"
                )
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        self._end(None, body)
        return body

    async def read_some(self) -> bytes:
        """The next piece of a streamed body; empty at its end, which ends the exchange."""
        chunk = await self._next_chunk()
        if chunk:
            piece = HttpBytesReceived(exchange_id=self.id, data=chunk)
            self._client.publish(piece, len(chunk))
        else:
            self._end(None)
        return chunk

    def error(
        self, code: str, problem: str, body: bytes | None = None, **details: Any
    ) -> HttpError:
        """An error that carries what came of the answer."""
        if body is None:
            body = self.so_far
        return HttpError(
            code,
            f"{self.doing}: {problem}",
            status=self.status,
            headers=dict(self.shown_headers),
            body=body[:KEPT_BYTES],
            details=details,
        )

    def status_error(self, body: bytes) -> HttpError:
        """The error that this answer's status means."""
        wall = self._client.clock.wall()
        return status_error(
            self.doing, self.status, self.reason, self.shown_headers, body, wall=wall
        )

    async def _send(self) -> None:
        client, body = self._client, self._body
        self._is_over = False
        self._chunks = []
        self._response = None
        self._started = client.clock.monotonic()
        headers = self._headers
        if client.authorizer is not None:
            extra = client.authorizer.headers(self.method, self._url, body)
            self._sent_authorization = None if extra is None else extra.get("Authorization")
            headers = headers.with_extra(extra)
        shown = headers.shown
        if body is not None:
            shown = [*shown, ("Content-Length", str(len(body)))]
        client.publish(
            HttpRequestSent(
                exchange_id=self.id,
                method=self.method,
                url=self.shown_url,
                headers=shown,
                body=self._shown_body(body or b""),
            )
        )
        response = self._response = await client.session.request(
            self.method, self._url, data=body, headers=headers.sent, allow_redirects=False
        )
        self.status = response.status
        self.reason = _legible(response.reason or "")
        declared = response.headers.get("Content-Type", "")
        self.content_type = _legible(declared).partition(";")[0].strip().lower()
        self.shown_headers = mask_headers(
            [
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in response.raw_headers
            ]
        )
        elapsed_s = client.clock.monotonic() - self._started
        if _log.isEnabledFor(DEBUG):
            _log.debug("%s: HTTP %d after %.3f s", self.doing, self.status, elapsed_s)
        client.publish(
            HttpResponseReceived(
                exchange_id=self.id,
                status=self.status,
                reason=self.reason,
                headers=self.shown_headers,
                elapsed_s=elapsed_s,
            )
        )

    async def _follow(self, hops: int) -> None:
        """Go where a redirect points, if that is the same origin."""
        from yarl import URL

        location = self.header("Location") or ""
        body = await self.read()
        try:
            target = self._url.join(URL(location))
            is_same = target.origin() == self._url.origin()
        except ValueError:
            shown = mask_url(_legible(location))[:_QUOTED_CHARACTERS]
            where = (
                f"redirected ({self.status}) to something that is not an HTTP address: {shown!r}"
            )
            raise self.error("REDIRECT_REFUSED", where, body) from None
        if not is_same:
            theirs, ours = target.origin(), self._url.origin()
            raise self.error(
                "REDIRECT_REFUSED",
                f"redirected ({self.status}) from {ours} to {theirs}, another origin, which is not "
                f"followed; connect to {mask_url(str(target))} if you trust it",
                body,
                origin=str(ours),
                redirected_to=str(theirs),
            )
        if self.status == 303:  # it asks for a GET, and the message would be lost
            raise self.error("REDIRECT_REFUSED", "redirected with 303, which drops the body", body)
        if hops > MAX_REDIRECTS:
            raise self.error(
                "REDIRECT_REFUSED", f"redirected more than {MAX_REDIRECTS} times", body
            )
        self._url = target
        self.shown_url = mask_url(str(target))
        await self._send_again()

    async def _is_let_in(self) -> bool:
        """Refused: sent again if somebody signs in, and else left as it is."""
        authorizer = self._client.authorizer
        # Nobody is asked to sign in for a goodbye.
        if authorizer is None or self._tries == MAX_TRIES or self.method == "DELETE":
            return False
        assert self._response is not None
        challenges = self._response.headers.getall("WWW-Authenticate", [])
        self._read_ahead = await self.read()
        refusal = Refusal(
            self.status,
            challenges,
            self.id,
            self._sent_authorization,
            self._tries,
            self.header("DPoP-Nonce"),
        )
        if not await authorizer.refused(refusal):
            return False
        self._tries += 1
        self._read_ahead = None
        await self._send_again()
        return True

    async def _send_again(self) -> None:
        """The same, as another exchange."""
        self.id = self._client.publish.next_exchange_id()
        if self._on_resent is not None:
            self._on_resent(self.id)
        await self._send()

    def _shown_body(self, body: bytes) -> bytes:
        mask_body = self._client.mask_body
        return body if mask_body is None else mask_body(body)

    async def _next_chunk(self) -> bytes:
        if self._failure is not None:
            raise self._failure
        assert self._response is not None
        content = self._response.content
        if self._is_flooded and content._buffer:
            await give_way()
        try:
            chunk = await content.readany()
            self._is_flooded = len(chunk) >= _FLOOD_BYTES
            return chunk
        except Exception as problem:  # raised at the next read, after what had already come
            rest = _unread(content)
            if not rest:
                raise
            self._failure = problem
            return rest

    def _close(self) -> None:
        if self._response is not None:
            self._response.close()

    def _end(self, error: str | None, body: bytes = b"") -> None:
        if self._is_over:
            return
        self._is_over = True
        elapsed_s = self._client.clock.monotonic() - self._started
        # The bytes of a JSON answer are those of the frame that they become: they weigh once.
        size_bytes = 0 if self.is_json and self.status == 200 else len(body)
        self._client.publish(
            HttpExchangeEnded(
                exchange_id=self.id,
                elapsed_s=elapsed_s,
                body=self._shown_body(body),
                error=error,
            ),
            size_bytes,
        )

    def _broken(self, problem: BaseException) -> BaseException:
        """End the exchange and its connection; gives what is to be raised."""
        self._close()
        so_far = self.so_far[:KEPT_BYTES]
        if not isinstance(problem, Exception):  # cancelled
            self._end("closed by us before its end", so_far)
            return problem
        error = problem if isinstance(problem, InspectorError) else self._explain(problem)
        _log.debug("%s failed: %s", self.doing, error.code)
        self._end(error.message, so_far)
        self._chunks.clear()  # the traceback of a stored error keeps us alive
        return error

    def _explain(self, problem: Exception) -> InspectorError:
        import aiohttp

        from mcplens.transports.http_connection import plain, undecodable, what_broke

        text = str(problem) or type(problem).__name__
        if wrong := undecodable(problem):
            return self.error("INVALID_RESPONSE", wrong)
        if self._response is not None:
            code = "CONNECTION_RESET" if isinstance(problem, OSError) else "NO_RESPONSE"
            size = sum(map(len, self._chunks))
            text = f"the answer broke off after {size} bytes of its body: {what_broke(problem)}"
            return self.error(code, text)
        match problem:
            case aiohttp.ConnectionTimeoutError():
                limit_s = self._client.options.connect_timeout_s
                message = f"{self.doing}: no connection within {limit_s:g} s"
                return TimeoutExpired("CONNECTION_TIMEOUT", message)
            case aiohttp.ServerDisconnectedError():
                message = f"{self.doing}: the server closed the connection without an answer"
                return TransportError("CONNECTION_RESET", message)
            case aiohttp.ClientHttpProxyError():
                headers = mask_headers((problem.headers or {}).items())
                message = f"the proxy refused: {problem.message}"
                return status_error(self.doing, problem.status, message, headers, b"", wall=0.0)
            case aiohttp.ClientResponseError():  # its status is aiohttp's, not the server's
                message = f"{self.doing}: the answer is not valid HTTP: {plain(problem.message)}"
                return ProtocolError("INVALID_RESPONSE", message)
            case ValueError() if not isinstance(problem, OSError):  # a URL or a header
                return ConfigurationError("CONFIGURATION_INVALID", f"{self.doing}: {text}")
        # Where a proxy is in between, it may be this that was not reached.
        host = getattr(problem, "host", None) or self._url.host or ""
        port = getattr(problem, "port", None) or self._url.port
        return unreachable(problem, self.doing, host, port)


def _legible(text: str) -> str:
    """Text of a head without the surrogates that the library makes of bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _unread(content: StreamReader) -> bytes:
    """What came before a break: aiohttp raises at once and keeps it to itself."""
    rest = b"".join(content._buffer)[content._buffer_offset :]
    content._buffer.clear()
    return rest

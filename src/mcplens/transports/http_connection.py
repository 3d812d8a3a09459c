"""The library's HTTP connection as our transports need it, and its errors in plain words.

Imported by http_client.py and http_exchange.py when they connect, so that importing those loads no
HTTP library.
"""

from __future__ import annotations

import asyncio
import ssl
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from aiohttp import ClientPayloadError, TCPConnector
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import ContentEncodingError, HttpProcessingError

if TYPE_CHECKING:
    from aiohttp.client_reqrep import ConnectionKey

    from mcplens.transports.private_networks import PublicNetworkGuard

_BREAKS: Final = {
    "ContentLengthError": "the connection ended before all came that Content-Length announced",
    "TransferEncodingError": "the connection ended before the last chunk",
}


class HttpConnection(ResponseHandler):
    """A connection that fails the reader of a body when invalid HTTP follows.

    The library fails only a reader that waits for the head of an answer; a stream would hang.
    """

    def set_exception(self, exc: BaseException, *cause: Any) -> None:
        super().set_exception(exc, *cause)
        body = self._payload
        if isinstance(exc, HttpProcessingError) and body is not None and not body.is_eof():
            body.set_exception(ClientPayloadError(f"what follows is not valid HTTP: {exc.message}"))


class IdleBoundConnector(TCPConnector):
    """Keeps so many idle connections to one address at most, and closes the others at once.

    The library takes the connection that is idle longest, so that steady traffic uses all of them
    in turn, and as many as a burst needed would stay open for ever.
    """

    def __init__(self, *, most_idle: int, **options: Any) -> None:
        super().__init__(**options)
        self._most_idle = most_idle

    def _release(
        self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False
    ) -> None:
        is_enough = len(self._conns.get(key, ())) >= self._most_idle
        super()._release(key, protocol, should_close=should_close or is_enough)


def connector(tls: ssl.SSLContext | None, guard: PublicNetworkGuard | None = None) -> TCPConnector:
    """What makes such connections, and keeps them for the next request."""
    make_socket = None if guard is None else guard.make_socket
    # No limit: streams that stay open must not starve the requests beside them.
    made = TCPConnector(limit=0, ssl=tls or True, socket_factory=make_socket)
    make = partial(HttpConnection, loop=asyncio.get_running_loop())
    made._factory = make  # type: ignore[assignment]
    return made


def what_broke(problem: BaseException) -> str:
    """Why a body is incomplete; the library's own text names statuses that were never sent."""
    cause = type(problem.__cause__).__name__
    return _BREAKS.get(cause) or plain(str(problem)) or type(problem).__name__


def undecodable(problem: BaseException) -> str | None:
    """What is wrong with an answer that is not encoded as it says; None if that is not it."""
    cause: BaseException | None = problem
    while cause is not None and not isinstance(cause, ContentEncodingError):
        cause = cause.__cause__
    if cause is None:
        return None
    encoding = cause.message.rpartition("content-encoding: ")[2].partition(". Please install")[0]
    return f"its body cannot be decoded as {encoding}, which its Content-Encoding names"


def plain(text: str) -> str:
    """The parser's words on one line, without the mark that it sets below a line that it quotes."""
    return " ".join(text.split()).removesuffix(" ^")

"""HTTP client of one transport: address, headers, and the connections that it reuses.

http_exchange.py sends. aiohttp is imported when a client is opened, so that importing this module
loads no HTTP library. Used by both HTTP transports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.errors import TransportError
from mcplens.protocol.secret_masking import mask_headers, mask_url
from mcplens.transports.http_exchange import HttpExchange
from mcplens.transports.network import USER_AGENT, NetworkOptions, check_url, proxy_for

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from multidict import CIMultiDict
    from yarl import URL

    from mcplens.transports.authorization import Authorizer

# Real servers send headers (cookies, policies) beyond aiohttp's 8 KiB.
_MAX_HEADER_BYTES: Final = 64 * 1024


class HeaderSet:
    """Headers of one kind of request: as they are sent, and as they may be shown."""

    __slots__ = ("sent", "shown")

    def __init__(self, sent: CIMultiDict[str]) -> None:
        self.sent = sent
        self.shown = mask_headers(sent.items())

    def __repr__(self) -> str:
        return f"<HeaderSet {self.shown}>"

    def with_extra(self, extra: Mapping[str, str] | None) -> HeaderSet:
        """These headers, and others that win over them whatever their case."""
        if not extra:
            return self
        sent = self.sent.copy()
        for name, value in extra.items():
            sent[name] = value
        return HeaderSet(sent)


class HttpClient:
    """One server's address and the connections to it."""

    def __init__(
        self,
        url: str,
        options: NetworkOptions,
        max_message_bytes: int,
        *,
        mask_body: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self.text = check_url(url, ("http", "https"))
        self.shown_url = mask_url(url)
        self.options = options
        self.max_message_bytes = max_message_bytes
        self.authorizer: Authorizer | None = options.authorizer
        self.mask_body = mask_body  # for bodies that hold secrets of ours
        self.url: URL
        self.publish: Publisher
        self.clock: Clock
        self._session: ClientSession | None = None
        self._own_headers: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<HttpClient {self.shown_url} {'open' if self._session else 'closed'}>"

    @property
    def session(self) -> ClientSession:
        if self._session is None:
            raise TransportError("CONNECTION_LOST", f"the connection to {self.shown_url} is closed")
        return self._session

    def open(self, publish: Publisher, clock: Clock) -> None:
        """Make ready; nothing is sent yet.

        Raises:
            ConfigurationError: the options cannot work.
        """
        import aiohttp
        from yarl import URL

        from mcplens.transports.http_connection import connector

        url = URL(self.text)
        self.url = url.with_user(None)
        self.publish = publish
        self.clock = clock
        options = self.options
        self._own_headers = {
            "Host": self.url.host_port_subcomponent or "",
            "User-Agent": USER_AGENT,
            "Accept-Encoding": "gzip, deflate",
        }
        if url.user is not None:
            credentials = aiohttp.encode_basic_auth(url.user, url.password or "")
            self._own_headers["Authorization"] = credentials
        tls = options.tls_context() if url.scheme == "https" else None
        # Not trust_env, which would also read ~/.netrc.
        proxy = proxy_for(url.scheme, url.host or "", url.port)
        # A proxy resolves names itself, and its own address is the user's choice.
        guard = options.guard if proxy is None else None
        self._session = aiohttp.ClientSession(
            connector=connector(tls, guard),
            # A cookie that the user did not configure would be sent without being shown.
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=options.connect_timeout_s),
            proxy=proxy,
            max_line_size=_MAX_HEADER_BYTES,
            max_field_size=_MAX_HEADER_BYTES,
        )
        # It would repeat a GET whose connection broke, unseen; repeating is for us to decide.
        self._session._retry_connection = False
        if self.authorizer is not None:
            self.authorizer.attach(publish, clock)

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def headers(self, *parts: Mapping[str, str]) -> HeaderSet:
        """Our own headers, then these, then the user's, which win."""
        from multidict import CIMultiDict

        sent: CIMultiDict[str] = CIMultiDict()
        for part in (self._own_headers, *parts, self.options.headers):
            for name, value in part.items():
                sent[name] = value
        return HeaderSet(sent)

    def exchange(
        self,
        method: str,
        headers: HeaderSet,
        body: bytes | None = None,
        url: URL | None = None,
        *,
        exchange_id: int | None = None,
        on_resent: Callable[[int], None] | None = None,
    ) -> HttpExchange:
        """A request to be entered; `url` if it does not go to the server's own address.

        `on_resent` is called with the id of each further exchange that redirects lead to.
        """
        return HttpExchange(self, method, headers, body, url, exchange_id, on_resent)

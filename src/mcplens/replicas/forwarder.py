"""Passes a whole HTTP exchange on to the replica that owns what it is about, and the answer back.

One pooled HTTP client for all replicas. Whether the owner may have acted on a request that has no
answer is what callers need to know: `OwnerGone.was_sent`. Called by gateway/shared_sessions.py and
gateway/remote_tasks.py.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from typing import Final, Protocol
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from mcplens.clock import Clock
from mcplens.inbound.exchange import EVENT_STREAM
from mcplens.replicas.replica import Presence, Replica
from mcplens.replicas.request_proofs import (
    NOT_OWNER_HEADER,
    PROOF_HEADER,
    passed_headers,
)
from mcplens.transports.http_connection import IdleBoundConnector

# Replicas are near each other.
_CONNECT_S: Final = 3.0
# Well below the time for which our own server keeps idle connections.
_KEEPALIVE_S: Final = 30.0
# To one replica. A call that begins takes the connection of one that has ended: few are ever idle
# while there is much to do, and each costs a file on both sides.
_MOST_IDLE: Final = 32
# To all replicas: a call or stream that is passed on has one to itself, and as many are served.
_CONNECTIONS: Final = 10_000
# Headers of an answer that are passed back, beside its type.
_ANSWER_HEADERS: Final = ("Mcp-Session-Id", "Retry-After", "Allow", "WWW-Authenticate")
_NEVER_SENT: Final = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)


class OwnerGone(Exception):
    """The owner did not answer; `was_sent`: it may have acted on the request."""

    def __init__(self, reason: str, *, was_sent: bool) -> None:
        super().__init__(reason)
        self.was_sent = was_sent


class NotOwner(Exception):
    """The replica does not own what it was asked for."""


class StreamBroken(Exception):
    """The answer broke off after it had begun."""


class ForwardedExchange(Protocol):
    """A request to pass on, and where the owner's answer goes: mostly a client's own exchange."""

    @property
    def method(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def caller(self) -> str: ...
    @property
    def has_begun(self) -> bool:
        """Whether any of the answer has come."""

    async def respond(
        self, status: int, body: bytes, content_type: str, headers: Mapping[str, str]
    ) -> None:
        """The whole answer."""

    async def open_events(self, headers: Mapping[str, str]) -> None:
        """The answer is a stream."""

    async def write(self, chunk: bytes) -> None:
        """A part of the stream."""

    async def end(self) -> None:
        """The end of the stream."""


class Forwarder:
    """Passes exchanges on."""

    def __init__(self, replica: Replica, clock: Clock) -> None:
        self._replica = replica
        self._clock = clock
        self._session: aiohttp.ClientSession | None = None
        self._under_way: dict[str, set[asyncio.Timeout]] = {}  # by owner
        self.count = 0
        self.posts = 0  # under way
        self.idle = asyncio.Event()  # no POST is under way
        self.idle.set()
        replica.on_gone.append(self._gone)

    def __repr__(self) -> str:
        return f"<Forwarder of {self._replica!r}, {self.count} passed on>"

    async def close(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = IdleBoundConnector(
                most_idle=_MOST_IDLE, limit=_CONNECTIONS, keepalive_timeout=_KEEPALIVE_S
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                # `connect` also limits the wait for a connection while none is free.
                timeout=aiohttp.ClientTimeout(
                    total=None, connect=_CONNECT_S, sock_connect=_CONNECT_S
                ),
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent", "Accept-Encoding"),
            )
        return self._session

    async def forward(
        self, owner: Presence, exchange: ForwardedExchange, body: bytes, *, is_work: bool = True
    ) -> None:
        """Have the owner answer; `is_work`: a replica that ends waits for the answer of a POST.

        Raises:
            OwnerGone: it did not answer; nothing was sent to the client.
            NotOwner: it is not the owner; nothing was sent to the client.
            StreamBroken: the answer broke off.
        """
        target = exchange.target
        headers = passed_headers(exchange.headers)
        headers[PROOF_HEADER] = self._replica.proofs.make(
            owner.id,
            exchange.method,
            target,
            headers,
            body,
            caller=exchange.caller,
            now=self._clock.wall(),
        )
        self.count += 1
        is_awaited = is_work and exchange.method == "POST"
        self._began(is_awaited)
        try:
            with self._watched(owner.id) as limit:
                async with limit:
                    await self._exchange(owner, exchange, target, headers, body)
        except _NEVER_SENT as problem:
            raise OwnerGone(str(problem), was_sent=False) from None
        except (aiohttp.ClientError, TimeoutError, ConnectionError) as problem:
            if exchange.has_begun:
                raise StreamBroken(str(problem)) from None
            raise OwnerGone(str(problem) or "it is gone", was_sent=True) from None
        finally:
            self._ended(is_awaited)

    def _began(self, is_awaited: bool) -> None:
        if is_awaited:
            self.posts += 1
            self.idle.clear()

    def _ended(self, is_awaited: bool) -> None:
        if is_awaited:
            self.posts -= 1
            if self.posts == 0:
                self.idle.set()

    async def _exchange(
        self,
        owner: Presence,
        exchange: ForwardedExchange,
        target: str,
        headers: dict[str, str],
        body: bytes,
    ) -> None:
        url = URL(owner.address + target, encoded=True)
        sent = self._client().request(
            exchange.method, url, headers=headers, data=body or None, allow_redirects=False
        )
        async with sent as answer:
            if NOT_OWNER_HEADER in answer.headers:
                raise NotOwner
            kept = {
                name: answer.headers[name] for name in _ANSWER_HEADERS if name in answer.headers
            }
            kind = answer.headers.get("Content-Type", "")
            if not kind.startswith(EVENT_STREAM):
                whole = await answer.read()
                await exchange.respond(answer.status, whole, kind, kept)
                return
            await exchange.open_events(kept)
            async for chunk in answer.content.iter_any():
                await exchange.write(chunk)
            await exchange.end()

    @contextlib.contextmanager
    def _watched(self, owner_id: str) -> Iterator[asyncio.Timeout]:
        """A limit that is over when the owner is known to be gone."""
        limit = asyncio.timeout(None)
        forwards = self._under_way.setdefault(owner_id, set())
        forwards.add(limit)
        try:
            yield limit
        finally:
            forwards.discard(limit)
            if not forwards:
                self._under_way.pop(owner_id, None)

    def _gone(self, owner_id: str) -> None:
        now = asyncio.get_running_loop().time()
        for limit in self._under_way.get(owner_id, ()):
            limit.reschedule(now)

    async def is_refused(self, owner: Presence) -> bool:
        """Whether nobody listens at the address of a replica."""
        parts = urlsplit(owner.address)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        try:
            async with asyncio.timeout(_CONNECT_S):
                _, writer = await asyncio.open_connection(parts.hostname, port)
        except ConnectionRefusedError:
            return True
        except (OSError, TimeoutError):
            return False
        writer.close()
        return False

"""The way to a server, step by step: DNS, TCP, proxy and TLS.

Each step opens a connection of its own and closes it without sending anything beyond CONNECT (to a
proxy) and the TLS handshake. Called by examination.py for a URL.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
from collections.abc import AsyncIterator
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from mcplens.clock import Clock
from mcplens.doctor.certificates import chain_lines, days_left, described, presented_chain
from mcplens.doctor.checks import Check, OnCheck, State
from mcplens.errors import InspectorError, TransportError
from mcplens.protocol.secret_masking import mask_url
from mcplens.transports.network import (
    USER_AGENT,
    NetworkOptions,
    proxy_for,
    unreachable,
    usual_context,
)

# Longer than a slow network needs; an attempt to connect may take as long.
_TIMEOUT_S: Final = 10.0
# A certificate that ends sooner than this is worth a warning.
_SOON_DAYS: Final = 14
# The head of a proxy's answer to CONNECT.
_MOST_HEAD_BYTES: Final = 64 * 1024
_PORTS: Final = {"http": 80, "ws": 80, "https": 443, "wss": 443}


class NetworkChecks:
    """The checks of the way to one URL."""

    def __init__(self, url: str, network: NetworkOptions, clock: Clock, on_check: OnCheck) -> None:
        self._url = urlsplit(url)
        self._scheme = self._url.scheme.lower()
        self._network = network
        self._clock = clock
        self._on_check = on_check

    def __repr__(self) -> str:
        return f"<NetworkChecks {self._url.hostname}>"

    async def run(self) -> None:
        """Run the checks.

        Raises:
            InspectorError: one failed, which was told.
        """
        host, port = self._url.hostname or "", self._url.port or _PORTS[self._scheme]
        proxy = self._proxy(host, port)
        is_secret = self._scheme in ("https", "wss")
        if proxy is not None:
            way = urlsplit(proxy)
            await self._dns(way.hostname or "")
            await self._tcp(way.hostname or "", way.port or _PORTS[way.scheme])
            if is_secret:
                await self._tunnel(proxy, host, port)
            else:
                self._tell("proxy", f"the way to {host}", f"goes through {mask_url(proxy)}")
        else:
            await self._dns(host)
            await self._tcp(host, port)
        if is_secret:
            await self._tls(proxy, host, port)

    def _proxy(self, host: str, port: int) -> str | None:
        try:
            return proxy_for(self._scheme, host, port)
        except InspectorError as error:
            self._fail("proxy", f"the way to {host}", error)
            raise

    async def _dns(self, host: str) -> None:
        with contextlib.suppress(ValueError):
            ip_address(host)
            return  # an address needs no looking up
        tried, started = f"looking up {host}", self._clock.monotonic()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                found = await loop.getaddrinfo(host, None, type=1)
        except (OSError, UnicodeError) as problem:
            raise self._failed("dns", tried, problem, host, None) from problem
        addresses = dict.fromkeys(str(each[4][0]) for each in found)
        self._tell("dns", tried, ", ".join(addresses), started)

    async def _tcp(self, host: str, port: int) -> None:
        tried, started = f"connecting to {host}:{port}", self._clock.monotonic()
        try:
            writer = await self._open(host, port)
        except OSError as problem:
            raise self._failed("tcp", tried, problem, host, port) from problem
        address = writer.get_extra_info("peername")
        await _close(writer)
        came = f"{address[0]} accepted" if address else "accepted"
        self._tell("tcp", tried, came, started)

    async def _tunnel(self, proxy: str, host: str, port: int) -> None:
        """What a proxy says to CONNECT, which it needs for TLS."""
        tried, started = f"CONNECT {host}:{port} at {mask_url(proxy)}", self._clock.monotonic()
        try:
            async with self._way(proxy, host, port):
                pass
        except TransportError as error:
            self._fail("proxy", tried, error)
            raise
        except (OSError, EOFError, asyncio.LimitOverrunError) as problem:
            way = urlsplit(proxy)
            where = way.port or _PORTS[way.scheme]
            raise self._failed("proxy", tried, problem, way.hostname or "", where) from problem
        self._tell("proxy", tried, "the way is open", started)

    async def _tls(self, proxy: str | None, host: str, port: int) -> None:
        tried, started = f"a TLS handshake with {host}:{port}", self._clock.monotonic()
        context = self._network.tls_context() or usual_context()
        try:
            async with self._secured(proxy, host, port, context) as connection:
                version, certificate = connection.version(), connection.getpeercert() or {}
                chain = presented_chain(connection)
        except OSError as problem:
            lines = await self._presented(proxy, host, port, problem)
            raise self._failed("tls", tried, problem, host, port, lines) from problem
        lines = tuple(chain_lines(chain, self._clock.wall()))
        if not certificate:
            came = f"{version}; the certificate is not checked (--insecure)"
            self._tell("tls", tried, came, started, is_warning=True, lines=lines)
            return
        left = days_left(certificate, self._clock.wall())
        came = f"{version}; {described(certificate)}; {left:.0f} days left"
        self._tell("tls", tried, came, started, is_warning=left < _SOON_DAYS, lines=lines)

    async def _presented(
        self, proxy: str | None, host: str, port: int, problem: OSError
    ) -> tuple[str, ...]:
        """The certificates that cannot be trusted, fetched once more without checking them."""
        if not isinstance(problem, ssl.SSLCertVerificationError):
            return ()
        context = NetworkOptions(insecure=True).tls_context()
        assert context is not None
        with contextlib.suppress(OSError, InspectorError, EOFError):
            async with self._secured(proxy, host, port, context) as connection:
                return tuple(chain_lines(presented_chain(connection), self._clock.wall()))
        return ()

    @contextlib.asynccontextmanager
    async def _secured(
        self, proxy: str | None, host: str, port: int, context: ssl.SSLContext
    ) -> AsyncIterator[Any]:
        """A TLS connection to the server, through the proxy if there is one."""
        if proxy is None:
            writer = await self._open(host, port, ssl=context, server_hostname=host)
            try:
                yield writer.get_extra_info("ssl_object")
            finally:
                await _close(writer)
            return
        async with self._way(proxy, host, port) as tunnel:
            async with asyncio.timeout(_TIMEOUT_S):
                await tunnel.start_tls(context, server_hostname=host)
            yield tunnel.get_extra_info("ssl_object")

    @contextlib.asynccontextmanager
    async def _way(self, proxy: str, host: str, port: int) -> AsyncIterator[asyncio.StreamWriter]:
        """A connection through a proxy.

        Raises:
            TransportError: the proxy refused.
        """
        way = urlsplit(proxy)
        secured = usual_context() if way.scheme == "https" else None
        async with asyncio.timeout(_TIMEOUT_S):
            reader, writer = await asyncio.open_connection(
                way.hostname, way.port or _PORTS[way.scheme], limit=_MOST_HEAD_BYTES, ssl=secured
            )
        try:
            writer.write(_connect_request(way, host, port))
            async with asyncio.timeout(_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
            status, reason = _status(head)
            if status != 200:
                raise _refused(proxy, host, status, reason)
            yield writer
        finally:
            await _close(writer)

    async def _open(self, host: str, port: int, **options: Any) -> asyncio.StreamWriter:
        async with asyncio.timeout(_TIMEOUT_S):
            _, writer = await asyncio.open_connection(host, port, **options)
        return writer

    def _tell(
        self,
        name: str,
        tried: str,
        came: str,
        started: float | None = None,
        *,
        is_warning: bool = False,
        lines: tuple[str, ...] = (),
    ) -> None:
        elapsed_s = None if started is None else self._clock.monotonic() - started
        state: State = "warning" if is_warning else "ok"
        self._on_check(Check(name, state, tried, came, elapsed_s, lines))

    def _failed(
        self,
        name: str,
        tried: str,
        problem: Exception,
        host: str,
        port: int | None,
        lines: tuple[str, ...] = (),
    ) -> InspectorError:
        error = unreachable(problem, tried, host, port)
        self._fail(name, tried, error, lines)
        return error

    def _fail(
        self, name: str, tried: str, error: InspectorError, lines: tuple[str, ...] = ()
    ) -> None:
        came = error.message.removeprefix(f"{tried}: ")
        self._on_check(Check(name, "failed", tried, came, None, lines))


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(1):
            await writer.wait_closed()


def _connect_request(proxy: SplitResult, host: str, port: int) -> bytes:
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {where} HTTP/1.1", f"Host: {where}", f"User-Agent: {USER_AGENT}"]
    if proxy.username is not None:
        pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(pair).decode()}")
    return "\r\n".join([*lines, "", ""]).encode()


def _status(head: bytes) -> tuple[int, str]:
    first = head.partition(b"\r\n")[0].decode("latin-1").split(" ", 2)
    number = first[1] if len(first) > 1 and first[0].startswith("HTTP/") else ""
    return int(number) if number.isdecimal() else 0, first[2] if len(first) > 2 else ""


def _refused(proxy: str, host: str, status: int, reason: str) -> TransportError:
    said = f"{status} {reason}".strip() if status else "what is not HTTP"
    hint = f"check the proxy in HTTPS_PROXY and its credentials, or go to {host} without it"
    message = f"the proxy {mask_url(proxy)} answered CONNECT with {said}"
    return TransportError(
        "CONNECTION_FAILED", message, details={"hint": hint, "without_proxy": host}
    )

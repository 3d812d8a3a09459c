"""The way to a server, step by step: DNS, TCP, TLS and proxy.

Each step opens a connection of its own and closes it without sending anything beyond the TLS
handshake. Called by examination.py for a URL.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from mcplens.clock import Clock
from mcplens.doctor.checks import Check, OnCheck
from mcplens.errors import InspectorError
from mcplens.protocol.secret_masking import mask_url
from mcplens.transports.network import NetworkOptions, proxy_for, unreachable, usual_context

# Longer than a slow network needs; an attempt to connect may take as long.
_TIMEOUT_S: Final = 10.0
# A certificate that ends sooner than this is worth a warning.
_SOON_DAYS: Final = 14
_DAY_S: Final = 86_400
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
        if proxy is not None:
            way = urlsplit(proxy)
            await self._dns(way.hostname or "")
            await self._tcp(way.hostname or "", way.port or _PORTS[way.scheme])
            self._tell("proxy", f"the way to {host}", f"goes through {mask_url(proxy)}")
            return
        await self._dns(host)
        await self._tcp(host, port)
        if self._scheme in ("https", "wss"):
            await self._tls(host, port)

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

    async def _tls(self, host: str, port: int) -> None:
        tried, started = f"a TLS handshake with {host}:{port}", self._clock.monotonic()
        try:
            context = self._network.tls_context() or usual_context()
            writer = await self._open(host, port, ssl=context, server_hostname=host)
        except OSError as problem:
            raise self._failed("tls", tried, problem, host, port) from problem
        version = writer.get_extra_info("ssl_object").version()
        certificate = writer.get_extra_info("peercert") or {}
        await _close(writer)
        if not certificate:
            came = f"{version}; the certificate is not checked (--insecure)"
            self._tell("tls", tried, came, started, is_warning=True)
            return
        left = (ssl.cert_time_to_seconds(certificate["notAfter"]) - self._clock.wall()) / _DAY_S
        came = f"{version}; {_described(certificate)}; {left:.0f} days left"
        self._tell("tls", tried, came, started, is_warning=left < _SOON_DAYS)

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
    ) -> None:
        elapsed_s = None if started is None else self._clock.monotonic() - started
        self._on_check(Check(name, "warning" if is_warning else "ok", tried, came, elapsed_s))

    def _failed(
        self, name: str, tried: str, problem: Exception, host: str, port: int | None
    ) -> InspectorError:
        error = unreachable(problem, tried, host, port)
        self._fail(name, tried, error)
        return error

    def _fail(self, name: str, tried: str, error: InspectorError) -> None:
        self._on_check(Check(name, "failed", tried, error.message.removeprefix(f"{tried}: ")))


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(1):
            await writer.wait_closed()


def _described(certificate: dict[str, Any]) -> str:
    """The names that a certificate is for, and who issued it."""
    names = [value for kind, value in certificate.get("subjectAltName", ()) if kind != "URI"]
    issuer = dict(pair for part in certificate.get("issuer", ()) for pair in part)
    by = issuer.get("organizationName") or issuer.get("commonName") or "an unnamed issuer"
    return f"{', '.join(names[:3]) or 'no names'} by {by}"

"""What reaching a server over the network needs before HTTP or WebSocket begins.

Owns the checks of a URL, TLS trust, the choice of a proxy, our name on the wire, and what an HTTP
status means (a WebSocket begins with one too). Called by the HTTP and the WebSocket transports;
loads no HTTP library. Owns also why a server cannot be reached, in words.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from mcplens.errors import ConfigurationError, HttpError, InspectorError, classify
from mcplens.known_secrets import known_secrets
from mcplens.protocol.secret_masking import mask_url
from mcplens.version import VERSION

if TYPE_CHECKING:
    from mcplens.transports.authorization import Authorizer
    from mcplens.transports.private_networks import PublicNetworkGuard

USER_AGENT: Final = f"mcplens/{VERSION}"

# As long as a whole connection may take by default.
DEFAULT_CONNECT_TIMEOUT_S: Final = 30.0
# What an error keeps of a body: a stack trace or an error page, not a download.
KEPT_BYTES: Final = 64 * 1024
# Enough of a body to recognise it in one line.
_QUOTED_CHARACTERS: Final = 200
# A year: a larger value is not meant seriously.
_MAX_RETRY_AFTER_S: Final = 366 * 24 * 3600.0
_QUOTED_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
# Schemes that a sign-in has an answer to, in a list of challenges.
_TOKEN_CHALLENGE: Final = re.compile(r"(?:^|,)\s*(?:bearer|dpop)(?=\s|,|$)", re.IGNORECASE)


class NetworkOptions:
    """What a user may say about the way to a server."""

    __slots__ = ("authorizer", "ca_file", "connect_timeout_s", "guard", "headers", "insecure")

    def __init__(
        self,
        *,
        headers: Mapping[str, str] | None = None,
        ca_file: str | None = None,
        insecure: bool = False,
        connect_timeout_s: float = DEFAULT_CONNECT_TIMEOUT_S,
        authorizer: Authorizer | None = None,
        guard: PublicNetworkGuard | None = None,
    ) -> None:
        self.headers = {name: str(value) for name, value in (headers or {}).items()}
        self.ca_file = ca_file
        self.insecure = insecure
        self.connect_timeout_s = connect_timeout_s
        self.authorizer = authorizer
        self.guard = guard  # None: any address may be connected to

    def __repr__(self) -> str:
        trust = "insecure" if self.insecure else self.ca_file or "usual trust"
        return f"<NetworkOptions {trust}, {len(self.headers)} headers>"

    def tls_context(self) -> ssl.SSLContext | None:
        """How to trust the server; None for the usual way.

        Raises:
            ConfigurationError: the CA file cannot be read.
        """
        if self.insecure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            return context
        if self.ca_file is None:
            return None
        context = ssl.create_default_context()
        try:
            if os.path.exists(self.ca_file) and not os.path.isfile(self.ca_file):
                raise OSError("it is not a file")  # to open a pipe would hold up everything
            context.load_verify_locations(self.ca_file)
        except OSError as problem:  # ssl.SSLError is one too
            message = f"the CA file {self.ca_file} cannot be used: {problem}"
            raise ConfigurationError("CONFIGURATION_INVALID", message) from problem
        return context


@cache
def usual_context() -> ssl.SSLContext:
    """The system's trust, loaded once in this process."""
    return ssl.create_default_context()


def check_url(url: str, schemes: tuple[str, ...]) -> str:
    """The URL if a transport can go there; raises ConfigurationError with the reason if not."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        problem = None if parts.hostname else "it names no host"
        if parts.port == 0:
            problem = "port 0 is not a valid port"
        if parts.scheme.lower() not in schemes:
            problem = f"it must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}"
    except ValueError as bad:
        problem = str(bad)
    if problem is not None:
        message = f"{mask_url(url)!r} is not a usable URL: {problem}"
        raise ConfigurationError("CONFIGURATION_INVALID", message)
    return url


def proxy_for(scheme: str, host: str, port: int | None) -> str | None:
    """The proxy that the environment names for this server; never one for this machine itself."""
    from urllib import request

    if is_loopback(host):
        return None
    proxies = request.getproxies_environment()
    proxy = proxies.get({"ws": "http", "wss": "https"}.get(scheme, scheme)) or proxies.get("all")
    where = f"{host}:{port}" if port else host
    if not proxy or request.proxy_bypass_environment(where, proxies):  # type: ignore[attr-defined]
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    known_secrets.learn_url(proxy)
    if not proxy.lower().startswith(("http://", "https://")):
        message = (
            f"the proxy {mask_url(proxy)} is not an HTTP proxy, and no other kind is supported"
        )
        raise ConfigurationError("CONFIGURATION_INVALID", f"{message}; name {host} in NO_PROXY")
    return proxy


@lru_cache(maxsize=256)  # servers ask it for each request
def is_loopback(host: str) -> bool:
    """Whether a name means this machine alone."""
    from ipaddress import ip_address

    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def unreachable(problem: Exception, doing: str, host: str, port: int | None) -> InspectorError:
    """The error of a server that was not reached, in plain words; its details keep the original."""
    error = classify(problem, doing)
    where = f"{host}:{port}" if port else host
    plain = {
        "CONNECTION_REFUSED": f"{where} refused the connection; nothing listens there",
        "HOST_NOT_FOUND": f"the host {host} was not found",
        "CONNECTION_TIMEOUT": f"{where} did not answer in time",
        "CONNECTION_RESET": f"{where} closed the connection without an answer",
        "TLS_FAILED": _tls_words(problem, where),
    }.get(error.code)
    if error.code == "CONNECTION_FAILED" and (reason := _system_words(problem)):
        plain = f"{where} cannot be reached: {reason}"
    if isinstance(_tls_cause(problem), ssl.SSLCertVerificationError):
        error.details["is_untrusted"] = True
    if plain is not None:
        error.message = f"{doing}: {plain}"
        error.args = (error.message,)
    return error


def _system_words(problem: Exception) -> str | None:
    """What the system says of it, without where: "No route to host"."""
    cause = getattr(problem, "os_error", problem)
    number = getattr(cause, "errno", None)
    return os.strerror(number) if isinstance(number, int) and number > 0 else None


def _tls_cause(problem: Exception) -> Exception:
    """What TLS raised, which aiohttp wraps in one way or another."""
    for name in ("os_error", "certificate_error"):
        problem = getattr(problem, name, problem)
    return problem


def _tls_words(problem: Exception, where: str) -> str:
    problem = _tls_cause(problem)
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"the certificate of {where} cannot be trusted: {problem.verify_message}"
    reason = problem.reason if isinstance(problem, ssl.SSLError) else None
    if reason == "WRONG_VERSION_NUMBER":
        return f"{where} does not speak TLS"
    words = reason.lower().replace("_", " ") if reason else str(problem) or type(problem).__name__
    return f"TLS with {where} failed: {words}"


def status_error(
    doing: str,
    status: int,
    reason: str,
    headers: Iterable[tuple[str, str]],
    body: bytes,
    *,
    wall: float,
) -> HttpError:
    """The error that an HTTP status means; `headers` are masked already."""
    headers = list(headers)
    shown = dict(headers)
    by_name = {name.lower(): value for name, value in shown.items()}
    message = f"{doing} was answered with {status} {reason}".rstrip()
    code, retry_after_s = "HTTP_ERROR", None
    if status == 401 or (status == 403 and _wants_a_token(headers)):
        code = "AUTHENTICATION_FAILED"
        if "www-authenticate" in by_name:
            message += f" (WWW-Authenticate: {by_name['www-authenticate']})"
    elif status in (429, 503):
        code = "RATE_LIMITED" if status == 429 else code
        retry_after_s = _retry_after_s(by_name.get("retry-after", ""), wall)
        if retry_after_s is not None:
            message += f" (try again in {retry_after_s:g} s)"
    elif 300 <= status < 400 and "location" in by_name:
        message += f" (Location: {by_name['location']})"
    if quoted := one_line(body):
        message += f": {quoted}"
    return HttpError(
        code,
        message,
        status=status,
        headers=shown,
        body=body[:KEPT_BYTES],
        retry_after_s=retry_after_s,
    )


def _wants_a_token(headers: Iterable[tuple[str, str]]) -> bool:
    """Whether a challenge is among the headers that a sign-in can answer (RFC 6750, 3)."""
    values = (value for name, value in headers if name.lower() == "www-authenticate")
    return any(_TOKEN_CHALLENGE.search(_QUOTED_STRING.sub('""', value)) for value in values)


def one_line(body: bytes) -> str:
    """The start of a body as it may stand in a message."""
    return " ".join(body[:1000].decode("utf-8", "replace").split())[:_QUOTED_CHARACTERS]


def _retry_after_s(value: str, wall: float) -> float | None:
    """Retry-After in seconds from now; it may be a number or a date (RFC 9110, 10.2.3)."""
    from email.utils import parsedate_to_datetime

    value = value.strip()
    try:
        if value.isdecimal():
            seconds = float(value)
        else:
            seconds = max(0.0, round(parsedate_to_datetime(value).timestamp() - wall, 3))
    except (ValueError, OverflowError):
        return None
    return seconds if seconds <= _MAX_RETRY_AFTER_S else None

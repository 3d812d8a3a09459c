"""Checks a URL that a server wants a person to open: its real host, and what is suspicious.

Parses the URL as a browser does, so that the host shown is the host visited. Nothing is fetched or
opened. Called, through `elicitation.py`, by the surfaces that ask for consent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any, Final, NamedTuple

# Longer than browsers and servers reliably support, and than a person reads.
_LONGEST: Final = 2_048
_USUAL_PORTS: Final = {"http": "80", "https": "443"}
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
# Browsers treat the first of these as a slash, and numbers in any base as an IPv4 address.
_SLASHES: Final = re.compile(r"[/\\]*")
_END_OF_HOST: Final = re.compile(r"[/\\?#]")
_NUMERIC: Final = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+))*\.?")
_INVISIBLE: Final = re.compile(
    r"[\x00-\x20\x7f-\x9f\u00a0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]"
)


class _Parts(NamedTuple):
    scheme: str
    user_info: str
    host: str
    port: str


def host_of(url: Any) -> str:
    """The host that a browser would visit, in lower case; empty if there is none."""
    return _split(url).host


def is_openable(url: Any) -> bool:
    """Whether the URL may be opened in a browser: http or https, a host, no hidden characters."""
    parts = _split(url)
    return parts.scheme in _USUAL_PORTS and parts.host != "" and not _INVISIBLE.search(url)


def url_warnings(url: Any) -> tuple[str, ...]:
    """What a person should know before opening the URL, as sentences that every surface shows.

    Empty for https, and for http on loopback.
    """
    if not isinstance(url, str) or not url:
        return ("It is not a valid URL.",)
    return tuple(_warnings(url, _split(url)))


def _warnings(url: str, parts: _Parts) -> Iterator[str]:
    if _INVISIBLE.search(url):
        yield "It contains spaces, control characters or other invisible ones."
    if len(url) > _LONGEST:
        yield f"It is very long: {len(url)} characters."
    if not parts.scheme:
        yield "It is not a valid URL."
        return
    if parts.scheme not in _USUAL_PORTS:
        yield f"Its scheme is {parts.scheme}, not https."
        return
    if not parts.host:
        yield "It has no host."
        return
    is_local = _is_loopback(parts.host)
    if parts.scheme == "http" and not is_local:
        yield "It is http: others can read what you type there."
    if parts.user_info:
        yield f"It hides a user name before the host; the real host is {parts.host}."
    if "\\" in url:
        yield "It contains a backslash, which browsers treat as a slash."
    yield from _host_warnings(parts.host, is_local)
    if parts.port not in ("", _USUAL_PORTS[parts.scheme]) and not is_local:
        yield f"Its port is unusual: {parts.port[:10]}."


def _host_warnings(host: str, is_local: bool) -> Iterator[str]:
    labels = host.split(".")
    if not host.isascii():
        yield "Its host has non-ASCII letters, which can look like other letters."
    if any(label.startswith("xn--") for label in labels):
        yield "Its host is punycode (xn--): it can look like another name."
    if "%" in host:
        yield "Its host is percent-encoded."
    if is_local:
        return
    if _NUMERIC.fullmatch(host) or _is_address(host):
        yield "Its host is an IP address, not a name."
    elif "." not in host.rstrip("."):
        yield "Its host has no dot: it is in your own network."


def _split(url: Any) -> _Parts:
    """Splits the URL as the WHATWG URL standard does for http and https."""
    if not isinstance(url, str):
        return _Parts("", "", "", "")
    text = re.sub(r"[\t\r\n]", "", url).strip("".join(map(chr, range(0x21))))
    match = _SCHEME.match(text)
    if match is None:
        return _Parts("", "", "", "")
    scheme, rest = match[1].lower(), text[match.end() :]
    if scheme in _USUAL_PORTS:
        rest = _SLASHES.sub("", rest, count=1)
    elif rest.startswith("//"):
        rest = rest[2:]
    else:
        return _Parts(scheme, "", "", "")
    authority = _END_OF_HOST.split(rest, maxsplit=1)[0]
    user_info, _, address = authority.rpartition("@")
    host, port = address, ""
    if address.startswith("["):
        host, _, port = address.partition("]")
        host, port = f"{host}]", port.removeprefix(":")
    elif ":" in address:
        host, _, port = address.rpartition(":")
    return _Parts(scheme, user_info, host.lower(), port)


def _is_loopback(host: str) -> bool:
    name = host.removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return host.startswith("[")
    return True

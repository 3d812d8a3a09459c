"""The head of an HTTP/1.1 message as it came, and what the tap has to know of it.

Clients and servers send the same heads again and again, so those that were read are kept. A head is
never refused here: what is wrong with it is only noted. Pure. Used by http_framing.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar

from mcplens.protocol.secret_masking import mask_headers, mask_url

Headers = list[tuple[str, str]]

_HOST: Final = re.compile(rb"(?im)^(host[ \t]*:[ \t]*)[^\r\n]*")
_LINE_END: Final = re.compile(r"\r?\n")
# Heads that are kept: a client uses a few at a time, and dates change with each second.
_KEPT_HEADS: Final = 128
_KEPT_BYTES: Final = 8 * 1024


class Head:
    """The first line and the headers of a message."""

    __slots__ = (
        "_shown", "first", "headers", "is_chunked", "is_json", "is_learnt", "length", "passed",
        "problem", "raw",
    )  # fmt: skip

    def __init__(self, raw: bytes, host: bytes | None = None) -> None:
        self.raw = raw
        # As the other side gets it: `host` is written over that of the client.
        self.passed = raw if host is None else _HOST.sub(lambda found: found[1] + host, raw)
        self.problem: str | None = None
        text = self.passed.decode("latin-1")
        first, *lines = _LINE_END.split(text.rstrip("\r\n"))
        self.first: list[str] = first.split(" ", 2)
        self.headers: Headers = []
        for line in lines:
            self._add(line)
        self.length, self.is_chunked = self._framing()
        self.is_json = "json" in self.value("content-type").lower()
        self._shown: Headers | None = None
        self.is_learnt = False  # whether its secrets are

    def __repr__(self) -> str:
        return f"<Head {' '.join(self.first)}>"

    def _add(self, line: str) -> None:
        if line[:1] in (" ", "\t") and self.headers:  # RFC 9112, 5.2: a line of the one before
            name, value = self.headers[-1]
            self.headers[-1] = name, f"{value} {line.strip()}"
            return
        name, colon, value = line.partition(":")
        if not colon:
            self.problem = f"a header without a colon: {line[:100]!r}"
        else:
            self.headers.append((name, value.strip(" \t")))

    def _framing(self) -> tuple[int | None, bool]:
        """The length of the body if it is given, and whether it comes in chunks."""
        coding = self.value("transfer-encoding").lower()
        if coding:
            return None, coding.rpartition(",")[2].strip() == "chunked"
        lengths = {value.strip() for value in self.value("content-length").split(",")} - {""}
        if not lengths:
            return None, False
        length = lengths.pop()
        if lengths or not (length.isascii() and length.isdecimal()):
            self.problem = f"a Content-Length that is not a number: {length[:100]!r}"
            return None, False
        return int(length), False

    def value(self, name: str) -> str:
        """The values of a header, with commas between; empty if there is none."""
        return ",".join([value for each, value in self.headers if each.strip().lower() == name])

    @property
    def is_malformed(self) -> bool:
        """Where the body ends cannot be told."""
        coding = self.value("transfer-encoding")
        return bool(coding or self.value("content-length")) and (
            self.length is None and not self.is_chunked
        )

    @property
    def shown(self) -> Headers:
        """The headers without secrets."""
        if self._shown is None:
            self._shown = mask_headers(self.headers)
        return self._shown


class RequestHead(Head):
    """The head of a request; `host` is that of the server."""

    __slots__ = (
        "_shown_url", "hosts", "is_post_of_json", "is_upgrade", "is_websocket", "method",
        "refused_host", "target",
    )  # fmt: skip

    def __init__(self, raw: bytes, host: bytes, is_allowed: Callable[[str], bool]) -> None:
        super().__init__(raw, host)
        self.hosts = [
            found[0].partition(b":")[2].strip().decode("latin-1") for found in _HOST.finditer(raw)
        ]
        refused = [each for each in self.hosts or [""] if not is_allowed(each)]
        self.refused_host = refused[0] if refused else None
        self.method = self.first[0]
        self.target = self.first[1] if len(self.first) > 1 else ""
        if len(self.first) < 3 or not self.first[2].startswith("HTTP/1."):
            self.problem = f"not the first line of an HTTP request: {' '.join(self.first)[:100]!r}"
        self.is_upgrade = bool(self.value("upgrade")) or self.method == "CONNECT"
        self.is_websocket = self.value("upgrade").lower() == "websocket"
        self.is_post_of_json = self.is_json and self.method == "POST"
        self._shown_url: str | None = None

    def shown_url(self, origin: str) -> str:
        """The address without secrets; the origin is that of the server."""
        if self._shown_url is None:
            self._shown_url = mask_url(origin + self.target)
        return self._shown_url


class ResponseHead(Head):
    """The head of a response."""

    __slots__ = ("encoding", "is_stream", "reason", "status")

    def __init__(self, raw: bytes) -> None:
        super().__init__(raw)
        number = self.first[1] if len(self.first) > 1 else ""
        is_status = len(number) == 3 and number.isascii() and number.isdecimal()
        self.status = int(number) if is_status else 0
        self.reason = self.first[2] if len(self.first) > 2 else ""
        kind = self.value("content-type").partition(";")[0].strip().lower()
        self.is_json = kind == "application/json" or kind.endswith("+json")
        self.is_stream = kind == "text/event-stream"
        self.encoding = self.value("content-encoding").strip().lower()
        if not is_status or not self.first[0].startswith("HTTP/1."):
            self.problem = f"not the first line of an HTTP response: {' '.join(self.first)[:100]!r}"

    @property
    def about(self) -> tuple[Headers, int, str]:
        """What the recording says of it: the headers without secrets, status and reason."""
        return self.shown, self.status, self.reason


H = TypeVar("H", bound=Head)


class Heads:
    """The heads of a tap, read once."""

    def __init__(self, host: bytes, is_allowed: Callable[[str], bool]) -> None:
        self._host = host
        self._is_allowed = is_allowed
        self._requests: dict[bytes, RequestHead] = {}
        self._responses: dict[bytes, ResponseHead] = {}

    def __repr__(self) -> str:
        return f"<Heads {len(self._requests)} of requests, {len(self._responses)} of responses>"

    def request(self, raw: bytes) -> RequestHead:
        head = self._requests.get(raw)
        if head is None:
            head = RequestHead(raw, self._host, self._is_allowed)
            _keep(self._requests, head)
        return head

    def response(self, raw: bytes) -> ResponseHead:
        head = self._responses.get(raw)
        if head is None:
            head = ResponseHead(raw)
            _keep(self._responses, head)
        return head


def _keep(kept: dict[bytes, H], head: H) -> None:
    if len(head.raw) <= _KEPT_BYTES:
        if len(kept) >= _KEPT_HEADS:
            kept.clear()
        kept[head.raw] = head

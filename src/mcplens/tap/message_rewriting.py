"""The messages of one connection with the addresses of a sign-in rewritten (`--rewrite-auth`).

Heads are changed line by line; forms that a client sends and metadata that a server sends are held
until they are whole. All else passes as it is. Pure. Used by http_relay.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from mcplens.tap.auth_rewriting import AuthRewriting
from mcplens.tap.http_framing import Kind, Part
from mcplens.tap.http_head import Head, Heads, RequestHead

_FORM: Final = "application/x-www-form-urlencoded"
# More than any metadata or form of a sign-in; longer ones pass as they are.
_MOST_BYTES: Final = 1024 * 1024
_FRAMING: Final = (b"content-length", b"transfer-encoding")

Change = Callable[[bytes], bytes]


class MessageRewriting:
    """Both directions of one connection."""

    def __init__(self, heads: Heads, server_origin: str) -> None:
        self._heads = heads
        self._origin = server_origin
        self._asked: deque[AuthRewriting] = deque()  # for each request that waits for its answer
        self._request_body = _HeldBody(heads.request)
        self._response_body = _HeldBody(heads.response)

    def __repr__(self) -> str:
        return f"<MessageRewriting of {self._origin}, {len(self._asked)} requests>"

    def request(self, parts: list[Part]) -> list[Part]:
        """What a client sent, as the server gets it."""
        out: list[Part] = []
        for part in _taken_apart(parts):
            if part.kind is Kind.HEAD:
                out += self._request_head(part.value)
            else:
                out += self._request_body.take(part)
        return out

    def _request_head(self, head: RequestHead) -> list[Part]:
        own = f"http://{head.hosts[0]}" if head.hosts else ""
        rewriting = AuthRewriting(self._origin, own, head.target)
        self._asked.append(rewriting)
        target = rewriting.request_target(head.target.encode("latin-1"))
        first, *lines = head.passed.split(b"\n")
        method, _, rest = first.partition(b" ")
        version = rest.rpartition(b" ")[2]
        first = b"%b %b %b" % (method, target, version)
        if rewriting.is_metadata:  # what is compressed cannot be changed
            lines = [line for line in lines if _name(line) != b"accept-encoding"]
        changed = self._heads.request(b"\n".join([first, *lines]))
        is_form = head.value("content-type").strip().lower().startswith(_FORM)
        return self._request_body.begin(changed, rewriting.form if is_form else None)

    def response(self, parts: list[Part]) -> list[Part]:
        """What a server sent, as the client gets it."""
        out: list[Part] = []
        for part in _taken_apart(parts):
            if part.kind is Kind.HEAD and self._asked:
                out += self._response_head(part.value, self._asked.popleft())
            else:
                out += self._response_body.take(part)
        return out

    def rest(self) -> list[Part]:
        """What is held of a response that nothing more comes of."""
        return self._response_body.give_up()

    def _response_head(self, head: Head, rewriting: AuthRewriting) -> list[Part]:
        lines = [_rewritten(line, rewriting) for line in head.raw.split(b"\n")]
        changed = self._heads.response(b"\n".join(lines))
        is_plain = head.value("content-encoding") in ("", "identity")
        is_changed = rewriting.is_metadata and is_plain
        return self._response_body.begin(changed, rewriting.metadata if is_changed else None)


class _HeldBody:
    """A message of one direction, held while its body may have to be changed."""

    def __init__(self, read_head: Callable[[bytes], Head]) -> None:
        self._read_head = read_head
        self._change: Change | None = None
        self._held: list[Part] = []

    def __repr__(self) -> str:
        return f"<_HeldBody {len(self._held)} parts>"

    def begin(self, head: Head, change: Change | None) -> list[Part]:
        part = Part(Kind.HEAD, head, head.raw)
        if change is None:
            return [part]
        self._change, self._held = change, [part]
        return []

    def take(self, part: Part) -> list[Part]:
        if self._change is None:
            return [part]
        self._held.append(part)
        if part.kind is Kind.END:
            return self._changed(self._change)
        size = sum(len(one.raw) for one in self._held)
        return self.give_up() if part.kind is not Kind.DATA or size > _MOST_BYTES else []

    def give_up(self) -> list[Part]:
        held, self._held, self._change = self._held, [], None
        return held

    def _changed(self, change: Change) -> list[Part]:
        head, *rest = self.give_up()
        body = change(b"".join([part.value for part in rest if part.kind is Kind.DATA]))
        lines = [line for line in head.raw.split(b"\n") if _name(line) not in _FRAMING]
        while lines and not lines[-1].strip():
            lines.pop()
        lines += [b"Content-Length: %d\r" % len(body), b"\r", b""]
        changed = self._read_head(b"\n".join(lines))
        return [
            Part(Kind.HEAD, changed, changed.raw),
            Part(Kind.DATA, body, body),
            Part(Kind.END, None, b""),
        ]


def _taken_apart(parts: list[Part]) -> list[Part]:
    """The parts, with a whole message as its head, body and end."""
    out = []
    for part in parts:
        if part.kind is Kind.WHOLE:
            head, body = part.value
            out += [Part(Kind.HEAD, head, head.passed), Part(Kind.DATA, body, body)]
            out.append(Part(Kind.END, None, b""))
        else:
            out.append(part)
    return out


def _name(line: bytes) -> bytes:
    return line.partition(b":")[0].strip().lower()


def _rewritten(line: bytes, rewriting: AuthRewriting) -> bytes:
    name, colon, value = line.partition(b":")
    stripped = value.strip()
    if not colon or not stripped:
        return line
    ((_, changed),) = rewriting.response_headers([(name.strip(), stripped)])
    return line if changed == stripped else b"%b: %b\r" % (name, changed)

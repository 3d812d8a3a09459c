"""Messages put together and taken apart without decoding what they carry. Pure.

A body is passed on as the bytes that came; only ids, names, tokens and `_meta` are written anew.
Used by every part of the gateway that reads or writes a message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from mcplens.protocol.eras import CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL
from mcplens.protocol.frames import ABSENT, RequestId

_encode = msgspec.json.Encoder().encode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_META: Final = b'"_meta"'
COMPLETE: Final = b'"resultType":"complete"'


class RequestHead(msgspec.Struct, gc=False):
    """The parts of params that the gateway itself looks at."""

    meta: Raw = msgspec.field(default=ABSENT, name="_meta")
    task: Raw = ABSENT


class HopMeta(msgspec.Struct, gc=False):
    """What `_meta` says about the hop between a client and us."""

    progress_token: Raw = msgspec.field(default=ABSENT, name="progressToken")
    capabilities: Raw = msgspec.field(default=ABSENT, name=CLIENT_CAPABILITIES)
    client_info: Raw = msgspec.field(default=ABSENT, name=CLIENT_INFO)
    log_level: Raw = msgspec.field(default=ABSENT, name=LOG_LEVEL)


_decode_head = msgspec.json.Decoder(RequestHead).decode
_decode_hop = msgspec.json.Decoder(HopMeta).decode
NO_HOP: Final = HopMeta()


def hop_meta(body: Raw) -> HopMeta:
    """The hop's `_meta` in the params of a request; nothing if they cannot be read."""
    if body is ABSENT or _META not in bytes(body):
        return NO_HOP
    try:
        head = _decode_head(body)
        return NO_HOP if head.meta is ABSENT else _decode_hop(head.meta)
    except UNREADABLE:
        return NO_HOP


def members(raw: Raw | bytes) -> dict[str, Raw]:
    """The members of an object, undecoded; none if it is not an object."""
    try:
        return _decode_members(raw)
    except UNREADABLE:
        return {}


def decoded(raw: Raw | bytes | None) -> Any:
    """A value decoded; None if it is absent or cannot be read."""
    if raw is None or raw is ABSENT:
        return None
    try:
        return msgspec.json.decode(raw)
    except UNREADABLE:
        return None


def text_of(raw: Raw | bytes | None) -> str | None:
    """A value that is a string; None for any other."""
    value = decoded(raw)
    return value if isinstance(value, str) else None


def object_of(raw: Raw | bytes | None) -> dict[str, Any]:
    """A value that is an object; empty for any other."""
    value = decoded(raw)
    return value if isinstance(value, dict) else {}


# -- writing -----------------------------------------------------------------------------------


def result_message(request_id: RequestId, body: Raw | bytes) -> bytes:
    """The answer to a request, its result as it came."""
    # Not formatted: that would copy a long result twice.
    return b"".join((b'{"jsonrpc":"2.0","id":', _encode(request_id), b',"result":', body, b"}"))


def error_message(request_id: RequestId, error: Raw | bytes) -> bytes:
    """An error answer, its error as it came."""
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (_encode(request_id), bytes(error))


def request_message(request_id: RequestId, method: str, params: Raw | bytes) -> bytes:
    """A request to a client, its params as they came."""
    if not bytes(params):
        return b'{"jsonrpc":"2.0","id":%b,"method":%b}' % (_encode(request_id), _encode(method))
    return b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}' % (
        _encode(request_id),
        _encode(method),
        bytes(params),
    )


def notification_message(method: str, params: Raw | bytes | Mapping[str, Any]) -> bytes:
    """A notification, its params as they came or a mapping."""
    body = _encode(params) if isinstance(params, Mapping) else bytes(params)
    if not body:
        return b'{"jsonrpc":"2.0","method":%b}' % _encode(method)
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (_encode(method), body)


def completed(body: Raw | bytes, *, extra: bytes = b"") -> bytes:
    """A result of a 2025-11-25 server as 2026-07-28 has it: with its type."""
    data = bytes(body).strip()
    start = b"{" + COMPLETE + extra
    if data[:1] != b"{":
        return data
    rest = data[1:].lstrip()
    return start + (rest if rest[:1] == b"}" else b"," + rest)


def with_member(body: Raw | bytes, name: str, value: Any) -> bytes:
    """An object with one member replaced or added."""
    return _encode({**members(body), name: value})


def encoded(value: Any) -> bytes:
    """A value as JSON; Raw members are written as they are."""
    return _encode(value)

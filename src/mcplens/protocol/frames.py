"""JSON-RPC frames: parse bytes into values, serialise values as bytes; Malformed is a value too.

A frame keeps its bytes as they came; only the envelope is decoded, params and results stay raw.
Owns no ids and no state. Called by the transports (in) and the session (out).
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcplens.protocol.json_recovery import RequestId, readable_ids, top_level_spans

__all__ = [
    "ABSENT",
    "Batch",
    "Frame",
    "Kind",
    "Malformed",
    "Message",
    "RequestId",
    "RpcError",
    "decode_value",
    "encode_error",
    "encode_notification",
    "encode_request",
    "encode_result",
    "parse",
    "request_ids",
    "too_long",
]

# The body of a frame that has none; compared by identity.
ABSENT: Final = Raw(b"")


class Kind(Enum):
    """What a well-formed frame is."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"


class RpcError(msgspec.Struct, frozen=True):
    """The `error` member of a reply."""

    code: int
    message: str = ""
    data: Any = None


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One well-formed JSON-RPC message; `raw` is what was on the wire, byte for byte."""

    raw: bytes
    kind: Kind
    id: RequestId | None = None
    method: str = ""
    body: Raw = ABSENT  # params of a request or notification, result of a result
    error: RpcError | None = None

    def value(self) -> Any:
        """The body decoded; None if absent. Raises ValueError if it is not valid JSON."""
        return None if self.body is ABSENT else decode_value(self.body)[0]


class Malformed(msgspec.Struct, frozen=True, gc=False):
    """Bytes that are not a JSON-RPC message, with the reason and any readable request ids."""

    raw: bytes
    reason: str
    ids: tuple[RequestId, ...] = ()
    is_reply_like: bool = False  # it may be the answer to a request, unlike a stray log line


class Batch(msgspec.Struct, frozen=True):
    """A JSON array of messages, legal only in 2025-03-26."""

    raw: bytes
    members: tuple[Frame | Malformed, ...]


Message = Frame | Malformed | Batch


class _Envelope(msgspec.Struct, gc=False):
    jsonrpc: str = ""
    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw = ABSENT
    result: Raw = ABSENT
    error: Raw = ABSENT


_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_error = msgspec.json.Decoder(RpcError).decode
_decode_members = msgspec.json.Decoder(list[Raw]).decode
_encode = msgspec.json.Encoder().encode

# Members as globals: looking one up in its class costs a third of decoding a small frame.
_RESULT, _REQUEST, _NOTIFICATION = Kind.RESULT, Kind.REQUEST, Kind.NOTIFICATION

# Everything that msgspec raises for bytes that it cannot decode.
_UNDECODABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def parse(data: bytes) -> Message:
    """Parse one message; malformed input is returned as a value too."""
    try:
        envelope = _decode_envelope(data)
    except _UNDECODABLE as problem:
        return _diagnose(data, problem)
    if envelope.jsonrpc == "2.0":
        if envelope.method is UNSET:
            if envelope.error is ABSENT and envelope.result is not ABSENT:
                identity = envelope.id
                if identity is not UNSET and identity is not None:
                    return Frame(data, _RESULT, identity, "", envelope.result)
        elif envelope.result is ABSENT and envelope.error is ABSENT:
            if envelope.id is UNSET:
                return Frame(data, _NOTIFICATION, None, envelope.method, envelope.params)
            if envelope.id is not None:
                return Frame(data, _REQUEST, envelope.id, envelope.method, envelope.params)
    return _judge(data, envelope)


def _judge(data: bytes, envelope: _Envelope) -> Message:
    """An envelope that is not a request, notification or result: an error reply, or malformed."""
    identity = None if envelope.id is UNSET else envelope.id
    has_result, has_error = envelope.result is not ABSENT, envelope.error is not ABSENT
    is_reply = envelope.method is UNSET
    ids = (identity,) if is_reply and identity is not None else ()

    def malformed(reason: str) -> Malformed:
        return Malformed(data, reason, ids, is_reply_like=has_result or has_error or bool(ids))

    if envelope.jsonrpc != "2.0":
        if not (has_result or has_error or ids or not is_reply):
            return Malformed(data, "a JSON object that is not a JSON-RPC message")
        shown = f'"{envelope.jsonrpc}"' if envelope.jsonrpc else "missing"
        return malformed(f'"jsonrpc" is {shown} instead of "2.0"')
    if not is_reply:
        if has_result or has_error:
            return malformed('"method" together with "result" or "error"')
        return malformed('a request whose "id" is null')
    if has_result and has_error:
        return malformed('both "result" and "error" in one reply')
    if not has_result and not has_error:
        return malformed('neither "method" nor "result" nor "error"')
    if has_result:
        return malformed('a result without an "id"' if envelope.id is UNSET else 'the "id" is null')
    try:
        error = _decode_error(envelope.error)
    except _UNDECODABLE as problem:
        return malformed(f'"error" is not an error object: {_shorten(problem)}')
    return Frame(data, Kind.ERROR, identity, "", ABSENT, error)


def _diagnose(data: bytes, problem: Exception) -> Message:
    """Diagnose bytes that do not decode, and recover what can be read of them."""
    text = data.strip(b" \t\r\n")
    if not text:
        return Malformed(data, "an empty message")
    if text[:1] == b"[":
        return _diagnose_array(data, problem)
    ids = readable_ids(data)
    if isinstance(problem, RecursionError):
        return Malformed(data, "nested too deeply to be decoded", ids, is_reply_like=True)
    if isinstance(problem, msgspec.ValidationError):
        reason = f"wrong type in the envelope: {_shorten(problem)}"
        return Malformed(data, reason, ids, _looks_like_reply(data))
    if text[:1] != b"{" and not text.startswith((b"\xef\xbb\xbf", b"\0")):
        return Malformed(data, "not a JSON object", ids, is_reply_like=False)
    tolerant = _with_lone_surrogates(data)
    if tolerant is not None:
        return tolerant
    return Malformed(data, _reason(text, problem), ids, _looks_like_reply(data))


def _diagnose_array(data: bytes, problem: Exception) -> Message:
    try:
        members = _decode_members(data)
    except _UNDECODABLE:
        reason = f"an array that is not valid JSON: {_shorten(problem)}"
        return Malformed(data, reason, readable_ids(data), _looks_like_reply(data))
    if not members:
        return Malformed(data, "an empty array")
    # Looked at before they are parsed, so that arrays in arrays cost no recursion.
    if any(bytes(member).lstrip()[:1] == b"[" for member in members):
        ids = readable_ids(data)
        return Malformed(data, "an array inside a batch", ids, is_reply_like=bool(ids))
    parsed = (parse(bytes(member)) for member in members)
    return Batch(data, tuple(member for member in parsed if not isinstance(member, Batch)))


def _with_lone_surrogates(data: bytes) -> Frame | None:
    """A frame that only msgspec refuses: JSON's grammar allows a lone surrogate escape."""
    if b"\\u" not in data:
        return None
    import json  # only broken frames pay for it

    try:
        value = json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return None
    identity, method = value.get("id"), value.get("method")
    spans = top_level_spans(data)
    body_key = "params" if isinstance(method, str) else "result"
    body = Raw(data[slice(*spans[body_key])].strip()) if body_key in spans else ABSENT
    is_id = isinstance(identity, int | str) and not isinstance(identity, bool)
    if isinstance(method, str):
        if "id" not in value:
            return Frame(data, _NOTIFICATION, None, method, body)
        return Frame(data, Kind.REQUEST, identity, method, body) if is_id else None
    if is_id and "result" in value and "error" not in value:
        return Frame(data, Kind.RESULT, identity, "", body)
    return None


def _refuse(constant: str) -> Any:
    """NaN and Infinity, which Python accepts but JSON does not allow."""
    raise ValueError(f"{constant} is not valid JSON")


def _reason(text: bytes, problem: Exception) -> str:
    if text.startswith(b"\xef\xbb\xbf"):
        return "a byte order mark before the JSON"
    if b"\0" in text:
        return f"a NUL byte in the JSON: {_shorten(problem)}"
    if isinstance(problem, UnicodeDecodeError):
        return f"not UTF-8: byte 0x{problem.object[problem.start]:02x}"
    return f"not valid JSON: {_shorten(problem)}"


def _looks_like_reply(data: bytes) -> bool:
    """Broken, but its keys say it is a reply: a broken notification must not fail any request."""
    head = data[:4096]
    if b'"method"' in head and "method" in top_level_spans(head):
        return False
    return b'"jsonrpc"' in head or b'"result"' in head or b'"error"' in head


def _shorten(problem: Exception) -> str:
    return str(problem).removeprefix("JSON is malformed: ")[:200]


def too_long(head: bytes, limit_bytes: int) -> Malformed:
    """A message that is over the size limit, of which only the start was kept."""
    reason = f"longer than the limit of {limit_bytes} bytes; the rest was not kept"
    return Malformed(head, reason, readable_ids(head), is_reply_like=_looks_like_reply(head))


def decode_value(raw: Raw | bytes) -> tuple[Any, tuple[str, ...]]:
    """Decode a JSON value leniently; the second item says what is wrong with it.

    Raises:
        ValueError: it is not valid JSON, or nested too deeply.
    """
    try:
        return msgspec.json.decode(raw), ()
    except RecursionError:
        raise ValueError("nested too deeply to be decoded") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        return _decode_leniently(bytes(raw), problem)


def _decode_leniently(data: bytes, problem: Exception) -> tuple[Any, tuple[str, ...]]:
    import json  # only broken values pay for it

    findings = []
    try:
        text = data.decode()
    except UnicodeDecodeError as bad:
        text = data.decode("utf-8", "replace")
        findings.append(f"not UTF-8: byte 0x{data[bad.start]:02x} at {bad.start}")
    try:
        value = json.loads(text, strict=True, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply to be decoded") from None
    if not findings:
        findings.append(f"unusual JSON: {_shorten(problem)}")
    return value, tuple(findings)


def request_ids(message: Message) -> list[RequestId]:
    """The ids of the requests that a message is or holds."""
    members = message.members if isinstance(message, Batch) else (message,)
    return [
        member.id
        for member in members
        if isinstance(member, Frame) and member.kind is Kind.REQUEST and member.id is not None
    ]


def encode_request(identity: RequestId, method: str, params: Any = None) -> bytes:
    """A request; `params` None means that the member is left out."""
    if params is None:
        return _encode({"jsonrpc": "2.0", "id": identity, "method": method})
    return _encode({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})


def encode_notification(method: str, params: Any = None) -> bytes:
    """A notification; `params` None means that the member is left out."""
    if params is None:
        return _encode({"jsonrpc": "2.0", "method": method})
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def encode_result(identity: RequestId, result: Any) -> bytes:
    """A result for a request of the server."""
    return _encode({"jsonrpc": "2.0", "id": identity, "result": result})


def encode_error(identity: RequestId | None, code: int, message: str, data: Any = None) -> bytes:
    """An error reply to a request of the server."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return _encode({"jsonrpc": "2.0", "id": identity, "error": error})

"""Validates a client's messages, in either era, before a handler gets them. Pure.

2026-07-28 requires an envelope in every request, and over HTTP headers that match the body.
Called by the peers (every transport) and by the streamable HTTP endpoint.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from mcplens.inbound.refusal import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, Refusal
from mcplens.protocol.eras import (
    HEADER_MISMATCH,
    STATELESS_VERSIONS,
    UNSUPPORTED_VERSION,
    VERSIONS,
    Era,
    HeaderPath,
    parameter_headers,
    standard_headers,
)
from mcplens.protocol.frames import ABSENT, Frame, Kind, Malformed, decode_value

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
VERSION_HEADER: Final = "mcp-protocol-version"
_VERSION_KEY: Final = VERSION_KEY.encode()

Headers = Mapping[str, str]  # names in lower case; a repeated header's values joined by ", "
HeaderParameters = Mapping[str, HeaderPath]


class Incoming(msgspec.Struct, frozen=True):
    """A client's message as passed to a handler, with its era."""

    message: Frame | Malformed
    era: Era = Era.HANDSHAKE
    headers: Headers = {}


def era_of_message(frame: Frame, headers: Headers) -> Era:
    """2026-07-28 announces itself by its envelope, its header or its first method."""
    is_named = headers.get(VERSION_HEADER) in STATELESS_VERSIONS
    if frame.method == "server/discover" or (is_named and frame.method != "initialize"):
        return Era.STATELESS
    # The bytes are searched first: most messages of the other era end here.
    if frame.kind is Kind.REQUEST and _VERSION_KEY in frame.raw:
        meta = _params(frame).get("_meta")
        if isinstance(meta, dict) and VERSION_KEY in meta:
            return Era.STATELESS
    return Era.HANDSHAKE


def check_envelope(frame: Frame, headers: Headers | None, parameters: HeaderParameters) -> None:
    """Check a request of 2026-07-28; `headers` None means a transport without any.

    Raises:
        Refusal: the envelope, headers or version are invalid.
    """
    params = _params(frame)
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise _refuse(frame, INVALID_PARAMS, f"params._meta has no {', '.join(missing)}")
    version = meta[VERSION_KEY]
    # First, so that an inconsistent client gets that error, not an unknown version.
    if headers is not None:
        _check_headers(frame, params, version, headers, parameters)
    if not isinstance(version, str):
        raise _refuse(frame, INVALID_PARAMS, f"{VERSION_KEY} is not a string")
    if version not in STATELESS_VERSIONS:
        raise unsupported(version, frame)
    if not isinstance(meta[CAPABILITIES_KEY], dict):
        raise _refuse(frame, INVALID_PARAMS, f"{CAPABILITIES_KEY} is not an object")


def unsupported(version: str, frame: Frame | None = None) -> Refusal:
    """The client asks for a revision that we do not speak."""
    data = {"supported": list(VERSIONS), "requested": version}
    text = f"protocol version {version} is not supported"
    identity = frame.id if frame is not None else None
    return Refusal(400, UNSUPPORTED_VERSION, text, data, request_id=identity)


def version_offered(frame: Frame) -> Any:
    """The revision that an initialize asks for."""
    params = frame.value()
    return params.get("protocolVersion") if isinstance(params, dict) else None


def tool_of(frame: Frame) -> str | None:
    """The tool that a request calls."""
    if frame.method != "tools/call":
        return None
    name = _params(frame).get("name")
    return name if isinstance(name, str) else None


def malformed(message: Malformed) -> Refusal:
    """The refusal for malformed bytes."""
    try:
        decode_value(message.raw)
        code = INVALID_REQUEST
    except ValueError:
        code = PARSE_ERROR
    return Refusal(400, code, f"not a valid message: {message.reason}")


class _Head(msgspec.Struct, gc=False):
    """The params that the checks look at; a megabyte of arguments is not decoded for them."""

    _meta: Raw = ABSENT
    name: Raw = ABSENT
    uri: Raw = ABSENT
    taskId: Raw = ABSENT


_decode_head = msgspec.json.Decoder(_Head).decode


def _params(frame: Frame) -> dict[str, Any]:
    """Envelope and names of a request, as far as they can be read."""
    try:
        head = _decode_head(frame.body)
        fields = {field: getattr(head, field) for field in _Head.__struct_fields__}
        return {key: decode_value(raw)[0] for key, raw in fields.items() if raw is not ABSENT}
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}


def _arguments(frame: Frame) -> dict[str, Any]:
    value = frame.value()
    arguments = value.get("arguments") if isinstance(value, dict) else None
    return arguments if isinstance(arguments, dict) else {}


def _refuse(frame: Frame, code: int, text: str) -> Refusal:
    return Refusal(400, code, text, request_id=frame.id)


# -- headers that repeat the body ----------------------------------------------------------------

_SENTINEL: Final = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
_WHOLE_NUMBER: Final = re.compile(r"(-?\d+)(?:\.0+)?")


def _check_headers(
    frame: Frame,
    params: dict[str, Any],
    version: Any,
    headers: Headers,
    parameters: HeaderParameters,
) -> None:
    if headers.get(VERSION_HEADER) != version:
        raise _mismatch(frame, "MCP-Protocol-Version", headers.get(VERSION_HEADER), version)
    for name, value in standard_headers(frame.method, params).items():
        given, wanted = decode_header(headers.get(name.lower())), decode_header(value)
        if given != wanted:
            raise _mismatch(frame, name, given, wanted)
    if frame.method != "tools/call" or not parameters:
        return
    expected = parameter_headers(parameters, _arguments(frame))
    for token in parameters:
        name = f"Mcp-Param-{token}"
        raw = headers.get(name.lower())
        given, wanted = decode_header(raw), decode_header(expected.get(name))
        if (raw is None) != (wanted is None) or not _is_same(given, wanted):
            raise _mismatch(frame, name, given, wanted)


def decode_header(value: str | None) -> str | None:
    """The decoded text of a header; None if it is missing or unreadable."""
    if value is None or not value.isascii():
        return None
    sentinel = _SENTINEL.fullmatch(value)
    if sentinel is None:
        return value
    try:
        data = base64.b64decode(sentinel.group(1), validate=True)
        # What only decodes by leniency (loose trailing bits) was not written by the encoder.
        is_canonical = base64.b64encode(data).decode() == sentinel.group(1)
        return data.decode() if is_canonical else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _is_same(given: str | None, wanted: str | None) -> bool:
    """Equal, where "42.0" and "42" are (the specification compares integers as numbers)."""
    if given == wanted or given is None or wanted is None:
        return given == wanted
    left, right = _WHOLE_NUMBER.fullmatch(given), _WHOLE_NUMBER.fullmatch(wanted)
    return left is not None and right is not None and left.group(1) == right.group(1)


def _mismatch(frame: Frame, name: str, given: Any, wanted: Any) -> Refusal:
    shown = "missing or unreadable" if given is None else repr(given)
    return _refuse(
        frame, HEADER_MISMATCH, f"the header {name} is {shown}, the body says {wanted!r}"
    )

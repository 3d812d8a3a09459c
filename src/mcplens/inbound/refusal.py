"""Rejection of a message or an HTTP request before it reaches a handler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcplens.protocol.eras import HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION
from mcplens.protocol.frames import RequestId, encode_error

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
# JSON-RPC leaves this range to servers; the status says what is meant.
HTTP_REFUSAL: Final = -32000

_STATUS_OF: Final = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}


def status_of(code: int | None) -> int:
    """The HTTP status that goes with an answer in 2026-07-28; None is an answer without error."""
    return 200 if code is None else _STATUS_OF.get(code, 200)


def full(what: str) -> Refusal:
    """The refusal at a limit."""
    text = f"{what}, which is the limit"
    return Refusal(503, HTTP_REFUSAL, text, headers={"Retry-After": "30"})


def too_large(limit_bytes: int) -> Refusal:
    """The refusal of a body over the limit; the rest is not read, so the connection is over."""
    text = f"the message is longer than the limit of {limit_bytes} bytes"
    return Refusal(413, HTTP_REFUSAL, text, headers={"Connection": "close"})


class Refusal(Exception):
    """An HTTP status, and the JSON-RPC error that is its body (or the whole answer elsewhere)."""

    def __init__(
        self,
        status: int,
        code: int,
        message: str,
        data: Any = None,
        *,
        request_id: RequestId | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.data = data
        self.request_id = request_id
        self.headers = dict(headers or {})

    @property
    def body(self) -> bytes:
        return encode_error(self.request_id, self.code, str(self), self.data)

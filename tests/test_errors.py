"""Any exception as an error that can be shown to a person as it is."""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import ssl
from typing import Any

import pytest

from mcplens.errors import (
    CODES,
    CancelledRequest,
    ConnectError,
    HttpError,
    InspectorError,
    ProtocolError,
    ServerError,
    TransportError,
    classify,
    help_slug,
    is_retryable,
)


class Wrapped(OSError):
    """As aiohttp wraps what the socket raised."""

    def __init__(self, os_error: OSError) -> None:
        super().__init__("cannot connect")
        self.os_error = os_error


@pytest.mark.parametrize(
    ("exception", "code", "category", "system_code"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "CONNECTION_REFUSED", "connection",
         "ECONNREFUSED"),
        (ConnectionResetError(errno.ECONNRESET, "x"), "CONNECTION_RESET", "transport",
         "ECONNRESET"),
        (BrokenPipeError(errno.EPIPE, "x"), "CONNECTION_RESET", "transport", "EPIPE"),
        (OSError(errno.ETIMEDOUT, "x"), "CONNECTION_TIMEOUT", "timeout", "ETIMEDOUT"),
        (TimeoutError(), "REQUEST_TIMEOUT", "timeout", "ETIMEDOUT"),
        (socket.gaierror(socket.EAI_NONAME, "x"), "HOST_NOT_FOUND", "connection", "ENOTFOUND"),
        (ssl.SSLError("bad certificate"), "TLS_FAILED", "connection", None),
        (FileNotFoundError(errno.ENOENT, "x"), "COMMAND_NOT_FOUND", "connection", "ENOENT"),
        (OSError(errno.ENETUNREACH, "x"), "CONNECTION_FAILED", "connection", "ENETUNREACH"),
        (OSError("no number"), "CONNECTION_FAILED", "connection", None),
        (Wrapped(ConnectionRefusedError(errno.ECONNREFUSED, "x")), "CONNECTION_REFUSED",
         "connection", "ECONNREFUSED"),
        (Wrapped(socket.gaierror(socket.EAI_NONAME, "x")), "HOST_NOT_FOUND", "connection",
         "ENOTFOUND"),
        (asyncio.CancelledError(), "CANCELLED", "cancelled", None),
        (ZeroDivisionError("a bug"), "INTERNAL_ERROR", "protocol", None),
    ],
)  # fmt: skip
def test_what_python_raises_has_its_code_and_category(
    exception: BaseException, code: str, category: str, system_code: str | None
) -> None:
    error = classify(exception, "connecting", server_id="s")
    assert (error.code, error.category) == (code, category)
    assert error.details.get("system_code") == system_code
    assert error.details["server_id"] == "s"
    assert error.message.startswith("connecting")
    assert type(exception).__name__ in error.details["original_error"]


def test_an_error_of_ours_stays_itself_and_learns_what_it_did_not_know() -> None:
    error = TransportError("CONNECTION_LOST", "gone", details={"server_id": "mine"})
    assert classify(error, server_id="other", method="ping") is error
    assert error.details == {"server_id": "mine", "method": "ping"}


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_category_and_a_help_url(code: str) -> None:
    error = InspectorError(code, "words")
    assert (error.category, error.retryable) == CODES[code]
    assert error.help_url == f"/docs/errors/{help_slug(code)}"


def test_the_six_codes_of_the_specification_have_its_slugs() -> None:
    assert {code: help_slug(code) for code in list(CODES)[:6]} == {
        "CONNECTION_TIMEOUT": "connection-timeout",
        "CONNECTION_REFUSED": "connection-refused",
        "INVALID_RESPONSE": "invalid-response",
        "PROTOCOL_VERSION_MISMATCH": "protocol-version",
        "AUTHENTICATION_FAILED": "authentication",
        "RATE_LIMITED": "rate-limited",
    }


@pytest.mark.parametrize(
    "error",
    [
        ConnectError("CONNECTION_REFUSED", "no", details={"cause": OSError("x")}),
        HttpError("HTTP_ERROR", "no", status=500, headers={"a": "b"}, body=b"<html>\xff"),
        ProtocolError("INVALID_RESPONSE", "no", raw=b"\xff", value=1, findings=("x",)),
        ServerError(-1, "no", {"deep": [b"bytes"]}),
        CancelledRequest("no"),
    ],
)
def test_every_error_can_be_written_as_json(error: InspectorError) -> None:
    shown = error.to_dict()
    assert json.loads(json.dumps(shown)) == shown
    assert set(shown) == {"code", "message", "category", "retryable", "details"}


@pytest.mark.parametrize(
    "error",
    [
        HttpError("RATE_LIMITED", "slow down", status=429, retry_after_s=7.0, body=b"x"),
        ProtocolError("INVALID_RESPONSE", "no", raw=b"x", value=[1]),
        ServerError(-32000, "no", {"a": 1}, raw=b"x"),
        CancelledRequest("no"),
    ],
)
def test_a_copy_is_the_same_error_with_details_of_its_own(error: Any) -> None:
    twin = error.copy()
    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert vars(twin) == vars(error)
    twin.with_details(method="ping")
    assert "method" not in error.details


@pytest.mark.parametrize(
    ("error", "codes", "verdict"),
    [
        (ConnectError("CONNECTION_REFUSED", ""), None, True),
        (ConnectError("CONNECTION_REFUSED", ""), (), False),
        (ConnectError("CONNECTION_REFUSED", ""), ("TLS_FAILED",), False),
        (ConnectError("TLS_FAILED", ""), None, False),
        (ConnectError("TLS_FAILED", ""), ("TLS_FAILED",), True),
        (ConnectError("COMMAND_NOT_FOUND", "", details={"system_code": "ENOENT"}), ("ENOENT",),
         True),
        (HttpError("HTTP_ERROR", "", status=503), None, True),
        (HttpError("HTTP_ERROR", "", status=404), None, False),
        (HttpError("RATE_LIMITED", "", status=429), None, True),
    ],
)  # fmt: skip
def test_whether_trying_again_may_help(
    error: InspectorError, codes: tuple[str, ...] | None, verdict: bool
) -> None:
    assert is_retryable(error, codes) is verdict

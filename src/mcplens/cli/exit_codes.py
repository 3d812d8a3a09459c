"""Exit codes, and the exit code of each error."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

import click

from mcplens.errors import HttpError, InspectorError, ServerError

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
SIGN_IN: Final = 3
NOT_CONNECTED: Final = 4
REFUSED: Final = 5
BROKEN_PROTOCOL: Final = 6
TIMED_OUT: Final = 7
INTERRUPTED: Final = 130

MEANINGS: Final = {
    DONE: "success",
    FAILED: "the command ran and found failures, or any other error",
    USAGE: "the command line or the configuration is wrong",
    SIGN_IN: "sign-in needed or failed",
    NOT_CONNECTED: "could not connect, or the connection was lost",
    REFUSED: "the tool or the server answered with an error, or there is no such tool",
    BROKEN_PROTOCOL: "the answer broke the protocol",
    TIMED_OUT: "timed out",
    INTERRUPTED: "interrupted; the request was cancelled on the server first",
}

_OF_CODE: Final = {
    "AUTHENTICATION_FAILED": SIGN_IN,
    "SIGN_IN_FAILED": SIGN_IN,
    "CONFIGURATION_INVALID": USAGE,
    "INVALID_REQUEST": USAGE,
    "CAPABILITY_NOT_SUPPORTED": REFUSED,
    "CONNECTION_TIMEOUT": NOT_CONNECTED,
    "REQUEST_TIMEOUT": TIMED_OUT,
    "SERVER_ERROR": REFUSED,
    "CANCELLED": INTERRUPTED,
    "NO_RESPONSE": BROKEN_PROTOCOL,
    "INVALID_RESPONSE": BROKEN_PROTOCOL,
    "PROTOCOL_VERSION_MISMATCH": BROKEN_PROTOCOL,
    "MESSAGE_TOO_LARGE": BROKEN_PROTOCOL,
    "SKILL_MISMATCH": FAILED,
    "INPUT_REFUSED": FAILED,
    "INTERNAL_ERROR": FAILED,
}


def exit_code(error: InspectorError, *, is_connected: bool) -> int:
    """The code that a command ends with after this error."""
    if not is_connected and isinstance(error, ServerError):
        return NOT_CONNECTED  # the handshake was refused
    if error.code == "CANCELLED" and "task_id" in error.details:
        return REFUSED  # the task was cancelled on the server; nobody interrupted us
    if error.code in _OF_CODE:
        return _OF_CODE[error.code]
    if is_connected and isinstance(error, HttpError) and error.status is not None:
        return REFUSED  # the server is reachable and refused
    return NOT_CONNECTED


class CommandError(click.ClickException):
    """The command cannot be done; reported without the usage text."""

    exit_code = USAGE


@contextlib.contextmanager
def as_command_error() -> Iterator[None]:
    """Report an error of a file in one line, since no server is involved."""
    try:
        yield
    except InspectorError as error:
        raise CommandError(error.message) from None

"""The one error tree, and the one place that turns any exception into it.

    InspectorError            code, category, retryable, details, help_url
    ├── ConfigurationError    the input can never work (command, URL, placeholder)
    ├── ConnectError          the connection was not established
    │   └── StoreUnavailable  the store that replicas of a gateway share cannot be used
    ├── TransportError        the connection was lost, or one exchange on it broke
    │   └── HttpError         an HTTP response without an MCP message: status, headers, body
    ├── TimeoutExpired        a connection or a request took too long
    ├── ProtocolError         not valid MCP: raw bytes, decoded value, findings
    │   └── SkillMismatch     a file of a skill is not what was promised: check, cause, data
    ├── ServerError           the server answered with a JSON-RPC error: rpc_code, data
    └── CancelledRequest      a person or the system cancelled it

Every error can be shown to a person unchanged: known secrets are masked in its message and in what
`to_dict` gives of its details, which themselves are as they came. Each code has a help page,
docs/errors/<slug>.md.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Mapping
from typing import Any, Final, Literal, Self

from mcplens.known_secrets import known_secrets

Category = Literal["connection", "transport", "timeout", "protocol", "server", "cancelled"]

# code -> (category, retryable).
CODES: Final[dict[str, tuple[Category, bool]]] = {
    "CONNECTION_TIMEOUT": ("timeout", True),
    "CONNECTION_REFUSED": ("connection", True),
    "INVALID_RESPONSE": ("protocol", False),
    "PROTOCOL_VERSION_MISMATCH": ("protocol", False),
    "AUTHENTICATION_FAILED": ("connection", False),
    "RATE_LIMITED": ("server", True),
    "SIGN_IN_FAILED": ("connection", False),
    "CONNECTION_FAILED": ("connection", True),
    "CONNECTION_LOST": ("transport", True),
    "CONNECTION_RESET": ("transport", True),
    "HOST_NOT_FOUND": ("connection", True),
    "TLS_FAILED": ("connection", False),
    "COMMAND_NOT_FOUND": ("connection", False),
    "CONFIGURATION_INVALID": ("connection", False),
    "SERVER_EXITED": ("transport", True),
    "SESSION_EXPIRED": ("transport", True),
    "HTTP_ERROR": ("transport", False),
    "NO_RESPONSE": ("transport", True),
    "REDIRECT_REFUSED": ("connection", False),
    "ENDPOINT_REFUSED": ("connection", False),
    "MESSAGE_TOO_LARGE": ("protocol", False),
    "SKILL_MISMATCH": ("protocol", False),
    "REQUEST_TIMEOUT": ("timeout", True),
    "INVALID_REQUEST": ("protocol", False),
    "CAPABILITY_NOT_SUPPORTED": ("protocol", False),
    "ILLEGAL_TRANSITION": ("protocol", False),
    "NOT_CONNECTED": ("connection", True),
    "STORE_UNAVAILABLE": ("connection", True),
    "INVALID_ANSWER": ("protocol", False),
    "QUESTION_GONE": ("cancelled", False),
    "INPUT_REFUSED": ("cancelled", False),
    "SERVER_ERROR": ("server", False),
    "CANCELLED": ("cancelled", False),
    "INTERNAL_ERROR": ("protocol", False),
}

# Published help URLs that differ from their codes.
_SLUGS: Final = {
    "PROTOCOL_VERSION_MISMATCH": "protocol-version",
    "AUTHENTICATION_FAILED": "authentication",
}


def help_slug(code: str) -> str:
    """The name of a code's help page: the code in kebab case, with two exceptions."""
    return _SLUGS.get(code, code.lower().replace("_", "-"))


class InspectorError(Exception):
    """What happened, to which server, and what to do next; base of every error that we raise."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        category: Category | None = None,
        retryable: bool | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        message = known_secrets.mask_text(message)
        super().__init__(message)
        default_category, default_retryable = CODES[code]
        self.code = code
        self.message = message
        self.category: Category = category or default_category
        self.retryable = default_retryable if retryable is None else retryable
        self.details: dict[str, Any] = dict(details or {})

    @property
    def help_url(self) -> str:
        """The address of its help page within the web UI; `mcplens help CODE` prints the same."""
        return f"/docs/errors/{help_slug(self.code)}"

    def to_dict(self) -> dict[str, Any]:
        """The error as an object for JSON, as every surface shows it."""
        return {
            "code": self.code,
            "message": self.message,
            "category": self.category,
            "retryable": self.retryable,
            "details": {key: _plain(value) for key, value in self.details.items()},
        }

    def with_details(self, **details: Any) -> InspectorError:
        """Add context that the raiser lacked (server, method, elapsed time); replaces nothing."""
        for key, value in details.items():
            self.details.setdefault(key, value)
        return self

    def copy(self) -> Self:
        """A copy for another request, with its own details."""
        twin = type(self).__new__(type(self), *self.args)
        twin.__dict__.update(self.__dict__)
        twin.details = dict(self.details)
        return twin

    @property
    def size_bytes(self) -> int:
        """Approximate size in memory, without the message."""
        return size_of(list(self.__dict__.values()))

    def shortened(self) -> InspectorError:
        """A copy with large details shortened, for callers that keep many."""
        if self.size_bytes <= MOST_SHOWN_BYTES:
            return self
        twin = self.copy()
        twin.message = short_text(self.message)
        twin.args = (twin.message,)
        twin.details = short_details(self.details)
        for name, value in vars(self).items():
            if name not in ("message", "details") and size_of(value) > MOST_FIELD_BYTES:
                is_text = isinstance(value, str | bytes)
                setattr(twin, name, value[:MOST_FIELD_BYTES] if is_text else None)
        return twin

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.code} {self.message!r}>"


class ConfigurationError(InspectorError):
    """The input can never work, so it is not retried."""


class ConnectError(InspectorError):
    """The connection was not established."""


class StoreUnavailable(ConnectError):
    """The store that replicas of a gateway share is down, full or too slow."""

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__("STORE_UNAVAILABLE", message, details=details)


class TransportError(InspectorError):
    """The connection was lost, or one exchange on it broke."""


class HttpError(TransportError):
    """An HTTP response without an MCP message, with everything received of it."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        retry_after_s: float | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(code, message, details=details)
        self.status = status
        self.headers = dict(headers or {})
        self.body = body
        self.retry_after_s = retry_after_s
        self.details |= {"status": status, "headers": self.headers, "body": body}
        if retry_after_s is not None:
            self.details["retry_after_s"] = retry_after_s
        if code == "HTTP_ERROR" and status is not None:
            self.retryable = status >= 500


class TimeoutExpired(InspectorError):
    """A connection or a request timed out."""


class ProtocolError(InspectorError):
    """The data violates the protocol; `raw` has the bytes, `value` what could be decoded."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        raw: bytes = b"",
        value: Any = None,
        findings: tuple[str, ...] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(code, message, details=details)
        self.raw = raw
        self.value = value
        self.findings = findings
        if raw:
            self.details["raw"] = raw
        if findings:
            self.details["findings"] = list(findings)


class SkillMismatch(ProtocolError):
    """A file of a skill is not what its manifest or entry says, so it must not be used."""

    def __init__(
        self,
        message: str,
        *,
        check: str,
        cause: str = "",
        data: bytes = b"",
        findings: tuple[str, ...] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__("SKILL_MISMATCH", message, findings=findings, details=details)
        self.check = check  # size, digest, frontmatter or manifest
        self.cause = cause  # where it can be told: line-ends, yaml-1.1, truncated, …
        self.data = data  # what was read, for people to look at
        self.details |= {"check": check, "cause": cause} if cause else {"check": check}


class ServerError(InspectorError):
    """The server answered with a JSON-RPC error."""

    def __init__(self, rpc_code: int, message: str, data: Any = None, *, raw: bytes = b"") -> None:
        super().__init__(
            "SERVER_ERROR",
            f"the server answered with error {rpc_code}: {message}",
            details={"rpc_code": rpc_code, "rpc_message": message},
        )
        self.rpc_code = rpc_code
        self.rpc_message = message
        self.data = data
        self.raw = raw
        if data is not None:
            self.details["data"] = data


class CancelledRequest(InspectorError):
    """A person or the system cancelled the request."""

    def __init__(self, message: str, *, details: Mapping[str, Any] | None = None) -> None:
        super().__init__("CANCELLED", message, details=details)


# -- errors that are large ---------------------------------------------------------------------

# Size limits of one error where many are kept or shown, and of one of its details.
MOST_SHOWN_BYTES: Final = 64 * 1024
MOST_FIELD_BYTES: Final = 16 * 1024
MOST_MESSAGE: Final = 4 * 1024


def size_of(value: Any) -> int:
    """Approximate size of a value in bytes, however deeply nested."""
    total, rest = 0, [value]
    while rest:
        one = rest.pop()
        total += 8
        if isinstance(one, str | bytes):
            total += len(one)
        elif isinstance(one, Mapping):
            rest += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            rest += one
    return total


def short_text(text: str) -> str:
    """An error message, truncated if it is too long."""
    return text if len(text) <= MOST_MESSAGE else f"{text[:MOST_MESSAGE]}…"


def short_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """The details with large values shortened; `left_out` says so."""
    if size_of(details) <= MOST_SHOWN_BYTES:
        return dict(details)
    shown = {key: _beginning(value) for key, value in details.items()}
    count = size_of(details) - size_of(shown)
    return {**shown, "left_out": f"about {count:,} bytes; Traffic shows all of it"}


def _beginning(value: Any) -> Any:
    if size_of(value) <= MOST_FIELD_BYTES:
        return value
    if not isinstance(value, str | bytes):
        import json

        try:
            value = json.dumps(_plain(value), ensure_ascii=False, default=str)
        except (RecursionError, ValueError):
            return "…"
    return value[:MOST_FIELD_BYTES]


_ERRNO_CODES: Final = {
    errno.ECONNREFUSED: "CONNECTION_REFUSED",
    errno.ECONNRESET: "CONNECTION_RESET",
    errno.ECONNABORTED: "CONNECTION_RESET",
    errno.EPIPE: "CONNECTION_RESET",
    errno.ETIMEDOUT: "CONNECTION_TIMEOUT",
    errno.ENOENT: "COMMAND_NOT_FOUND",
    errno.EACCES: "COMMAND_NOT_FOUND",
}

_CLASS_OF_CATEGORY: Final[dict[Category, type[InspectorError]]] = {
    "connection": ConnectError,
    "transport": TransportError,
    "timeout": TimeoutExpired,
}


def classify(exception: BaseException, doing: str = "", **details: Any) -> InspectorError:
    """Turn any exception into an InspectorError; `doing` says what was being done."""
    if isinstance(exception, InspectorError):
        return exception.with_details(**details)
    code, system_name = _code_of(exception)
    text = str(exception) or type(exception).__name__
    message = f"{doing}: {text}" if doing else text
    details |= {"original_error": f"{type(exception).__name__}: {text}"}
    if system_name:
        details["system_code"] = system_name
    if code == "CANCELLED":
        return CancelledRequest(message, details=details)
    kind = _CLASS_OF_CATEGORY.get(CODES[code][0], InspectorError)
    return kind(code, message, details=details)


def _code_of(exception: BaseException) -> tuple[str, str | None]:
    """Our error code and the system's (ECONNREFUSED, ENOTFOUND)."""
    cause = getattr(exception, "os_error", None)  # aiohttp wraps what the socket raised
    if isinstance(cause, OSError) and cause is not exception:
        return _code_of(cause)
    if isinstance(exception, socket.gaierror):
        return "HOST_NOT_FOUND", "ENOTFOUND"
    if any(base.__module__ == "ssl" for base in type(exception).__mro__):
        return "TLS_FAILED", None
    if isinstance(exception, TimeoutError) and not getattr(exception, "errno", None):
        return "REQUEST_TIMEOUT", "ETIMEDOUT"
    if isinstance(exception, OSError):
        number = exception.errno
        if number is None:
            if isinstance(exception, ConnectionResetError | ConnectionAbortedError):
                return "CONNECTION_RESET", "ECONNRESET"  # asyncio and aiohttp raise them bare
            inner = exception.__cause__ or exception.__context__
            return _code_of(inner) if isinstance(inner, OSError) else ("CONNECTION_FAILED", None)
        return _ERRNO_CODES.get(number, "CONNECTION_FAILED"), errno.errorcode.get(number)
    if type(exception).__name__ == "CancelledError":
        return "CANCELLED", None
    return "INTERNAL_ERROR", None


# System errors that may be temporary.
DEFAULT_RETRYABLE_ERRORS: Final = ("ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENOTFOUND")


def is_retryable(error: InspectorError, codes: tuple[str, ...] | None = None) -> bool:
    """Whether connecting is tried again: for exactly these codes, or by the error itself."""
    system_code = str(error.details.get("system_code", ""))
    if codes is None:
        return error.retryable or system_code in DEFAULT_RETRYABLE_ERRORS
    return error.code in codes or system_code in codes


# Values nested deeper than this are reported as such: each level uses stack frames.
_DEEPEST: Final = 100


def _plain(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return known_secrets.mask_text(value)
    if isinstance(value, bytes):
        return known_secrets.mask_text(value.decode("utf-8", "backslashreplace"))
    if isinstance(value, BaseException):
        return known_secrets.mask_text(f"{type(value).__name__}: {value}")
    if isinstance(value, Mapping | list | tuple):
        return _items(value, depth)
    return value


def _items(value: Any, depth: int) -> Any:
    if depth == _DEEPEST:
        return "nested too deeply to be shown"
    if isinstance(value, Mapping):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    return [_plain(item, depth + 1) for item in value]

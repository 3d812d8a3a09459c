"""What each protocol revision allows, and the envelope and headers of 2026-07-28.

Two eras: the handshake era (2024-11-05 … 2025-11-25, `initialize`) and the stateless one
(2026-07-28, `server/discover` and an envelope in every request). Called by the session.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

HANDSHAKE_VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
STATELESS_VERSIONS: Final = ("2026-07-28",)
VERSIONS: Final = STATELESS_VERSIONS + HANDSHAKE_VERSIONS
BATCH_VERSION: Final = "2025-03-26"  # the only revision with JSON-RPC batches


class Era(Enum):
    """How a session is opened and kept."""

    HANDSHAKE = "handshake"
    STATELESS = "stateless"


def era_of(version: str) -> Era:
    return Era.STATELESS if version in STATELESS_VERSIONS else Era.HANDSHAKE


# JSON-RPC error codes of 2026-07-28.
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022
STATELESS_ERRORS: Final = (HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION)

_META: Final = "io.modelcontextprotocol/"
SUBSCRIPTION_ID: Final = _META + "subscriptionId"
SERVER_INFO: Final = _META + "serverInfo"

SKILLS_EXTENSION: Final = _META + "skills"

# The server capability that a method needs: path of keys in the capabilities object.
_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "tools/list": ("tools",),
    "tools/call": ("tools",),
    "resources/list": ("resources",),
    "resources/templates/list": ("resources",),
    "resources/read": ("resources",),
    "resources/subscribe": ("resources", "subscribe"),
    "resources/unsubscribe": ("resources", "subscribe"),
    "prompts/list": ("prompts",),
    "prompts/get": ("prompts",),
    "completion/complete": ("completions",),
    "logging/setLevel": ("logging",),
    "tasks/list": ("tasks", "list"),
    "tasks/cancel": ("tasks", "cancel"),
    "tasks/get": ("tasks",),
    "tasks/result": ("tasks",),
    "skills/list": ("extensions", SKILLS_EXTENSION),
    "skills/get": ("extensions", SKILLS_EXTENSION),
    "resources/directory/read": ("extensions", SKILLS_EXTENSION, "directoryRead"),
}

# Methods that exist in only one era, with what to use instead.
_HANDSHAKE_ONLY: Final = {
    "initialize": "server/discover",
    "ping": "server/discover",
    "logging/setLevel": "a log level in the request's _meta",
    "resources/subscribe": "subscriptions/listen",
    "resources/unsubscribe": "subscriptions/listen",
    "tasks/list": "tasks/get, with the ids that you were given",
    "tasks/result": "tasks/get",
}
_STATELESS_ONLY: Final = {
    "server/discover": "initialize",
    "subscriptions/listen": "resources/subscribe",
    "tasks/update": "the answer to the server's own request",
}


def why_not_allowed(method: str, version: str, capabilities: Mapping[str, Any]) -> str | None:
    """Why this server cannot be sent this method; None if it can."""
    absent = _HANDSHAKE_ONLY if era_of(version) is Era.STATELESS else _STATELESS_ONLY
    if method in absent:
        return f"{method} does not exist in {version}; use {absent[method]}"
    # Revisions before 2025-03-26 had completion without a capability for it.
    if method == "completion/complete" and version == "2024-11-05":
        return None
    needed = _NEEDS.get(method)
    if needed is None or (era_of(version) is Era.STATELESS and needed[0] == "tasks"):
        return None
    have: Any = capabilities
    for depth, key in enumerate(needed):
        have = have.get(key) if isinstance(have, Mapping) else None
        if have is None or have is False:
            missing = ".".join(needed[: depth + 1])
            return f"{method} needs the capability {missing}, which the server did not declare"
    return None


def choose_version(supported: object) -> str | None:
    """The newest stateless revision that both sides speak."""
    if not isinstance(supported, list | tuple):
        return None
    return next((version for version in STATELESS_VERSIONS if version in supported), None)


PROTOCOL_VERSION: Final = _META + "protocolVersion"
CLIENT_CAPABILITIES: Final = _META + "clientCapabilities"
CLIENT_INFO: Final = _META + "clientInfo"


def envelope_meta(
    version: str, capabilities: Mapping[str, Any], client_info: Mapping[str, Any]
) -> dict[str, Any]:
    """The `_meta` members that every request of 2026-07-28 carries."""
    return {
        PROTOCOL_VERSION: version,
        CLIENT_CAPABILITIES: capabilities,
        CLIENT_INFO: client_info,
    }


LOG_LEVEL: Final = _META + "logLevel"

# From the least to the most important.
LOG_LEVELS: Final = (
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency",
)  # fmt: skip


# The parameter that names the subject of a request, for the Mcp-Name header.
_NAMED_BY: Final = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}


def standard_headers(method: str, params: Mapping[str, Any] | None) -> dict[str, str]:
    """`Mcp-Method` and `Mcp-Name` of a 2026-07-28 request."""
    headers = {"Mcp-Method": header_value(method)}
    name = (params or {}).get(_NAMED_BY.get(method, ""))
    if isinstance(name, str):
        headers["Mcp-Name"] = header_value(name)
    return headers


_PLAIN_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?", re.ASCII)
_SENTINEL: Final = re.compile(r"=\?base64\?.*\?=", re.ASCII | re.DOTALL)


def header_value(text: str) -> str:
    """A value as a header can hold it: plain ASCII unchanged, anything else as base64."""
    if _PLAIN_VALUE.fullmatch(text) and not _SENTINEL.fullmatch(text):
        return text
    encoded = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
    return f"=?base64?{encoded}?="


_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_MAX_SAFE_INTEGER: Final = 2**53 - 1

HeaderPath = tuple[str, ...]


class InvalidHeaderAnnotation(ValueError):
    """An invalid `x-mcp-header` annotation; the tool must not be offered."""


def header_parameters(input_schema: object) -> dict[str, HeaderPath]:
    """Header name -> path of the argument that it mirrors, from `x-mcp-header` annotations.

    Raises:
        InvalidHeaderAnnotation: an annotation breaks the rules of 2026-07-28.
    """
    found: dict[str, HeaderPath] = {}
    _collect_headers(input_schema, (), found, is_reachable=True)
    names = [name.lower() for name in found]
    if len(set(names)) != len(names):
        raise InvalidHeaderAnnotation("two parameters use the same header")
    return found


def _collect_headers(
    schema: object, path: HeaderPath, found: dict[str, HeaderPath], is_reachable: bool
) -> None:
    if isinstance(schema, list | tuple):
        for item in schema:
            _collect_headers(item, path, found, is_reachable=False)
        return
    if not isinstance(schema, Mapping) or len(path) > 32:
        return
    if "x-mcp-header" in schema:
        _add_header(schema, path, found, is_reachable)
    for key, value in schema.items():
        if key == "properties" and isinstance(value, Mapping):
            for name, sub in value.items():
                _collect_headers(sub, (*path, str(name)), found, is_reachable)
        elif key not in ("default", "const", "enum", "examples", "x-mcp-header"):
            _collect_headers(value, path, found, is_reachable=False)


def _add_header(
    schema: Mapping[str, Any], path: HeaderPath, found: dict[str, HeaderPath], is_reachable: bool
) -> None:
    name, kind = schema["x-mcp-header"], schema.get("type")
    where = ".".join(path) or "the schema itself"
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise InvalidHeaderAnnotation(
            f"x-mcp-header of {where} is not a valid header name: {name!r}"
        )
    if not is_reachable or not path:
        raise InvalidHeaderAnnotation(f"x-mcp-header of {where} is not on a plain property")
    if kind not in ("string", "integer", "boolean"):
        raise InvalidHeaderAnnotation(f"x-mcp-header of {where} is on type {kind!r}")
    if any(name.lower() == other.lower() for other in found):
        raise InvalidHeaderAnnotation(f"the header {name} is used twice")
    found[name] = path


def parameter_headers(
    parameters: Mapping[str, HeaderPath], arguments: Mapping[str, Any]
) -> dict[str, str]:
    """The `Mcp-Param-*` headers of one call; null and absent arguments have none."""
    headers = {}
    for name, path in parameters.items():
        value: Any = arguments
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, bool):
            headers[f"Mcp-Param-{name}"] = "true" if value else "false"
        elif isinstance(value, int) and abs(value) <= _MAX_SAFE_INTEGER:
            headers[f"Mcp-Param-{name}"] = str(value)
        elif isinstance(value, str):
            headers[f"Mcp-Param-{name}"] = header_value(value)
    return headers

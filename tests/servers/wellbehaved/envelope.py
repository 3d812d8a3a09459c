"""The stateless envelope of 2026-07-28: what a request must carry, what a result carries. Pure."""

import base64
from collections.abc import Mapping
from typing import Any

from .protocol import (
    CAPABILITIES_KEY,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    MODERN_VERSION,
    SERVER_INFO_KEY,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    Message,
    RpcError,
    meta_of,
    params_of,
)

CACHEABLE = {
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
}
# Which parameter the Mcp-Name header repeats.
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
# The transport says 400 or 404 for these; every other error travels with 200.
HTTP_STATUS = {
    -32700: 400,
    -32600: 400,
    -32601: 404,
    -32602: 400,
    -32020: 400,
    -32021: 400,
    -32022: 400,
}


def require_envelope(params: Message) -> None:
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta_of(params)]
    if missing:
        raise RpcError(
            INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}", {"missing": missing}
        )


def require_version(params: Message, supported: tuple[str, ...]) -> None:
    requested = meta_of(params)[VERSION_KEY]
    if requested != MODERN_VERSION:
        raise unsupported_version(requested, supported)


def unsupported_version(requested: Any, supported: tuple[str, ...]) -> RpcError:
    data = {"supported": list(supported), "requested": requested}
    return RpcError(UNSUPPORTED_VERSION, f"Unsupported protocol version: {requested}", data)


def require_headers(
    message: Message, headers: Mapping[str, str], tools: Mapping[str, Message]
) -> None:
    """Compare the routing headers with the body; `headers` is case-insensitive."""
    params = params_of(message)
    method = message["method"]
    _match(headers, "MCP-Protocol-Version", meta_of(params)[VERSION_KEY])
    _match(headers, "Mcp-Method", method)
    if method in NAMED_BY:
        _match(headers, "Mcp-Name", params.get(NAMED_BY[method]))
    if method == "tools/call":
        schema = tools.get(params.get("name", ""), {}).get("inputSchema", {})
        properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
        for name, prop in properties.items():
            if "x-mcp-header" in prop:
                _match(
                    headers,
                    "Mcp-Param-" + prop["x-mcp-header"],
                    params.get("arguments", {}).get(name),
                )


def _match(headers: Mapping[str, str], name: str, value: Any) -> None:
    found = _decode_header(headers.get(name))
    expected = value if value is None or isinstance(value, str) else str(value).lower()
    if found != expected:
        raise RpcError(HEADER_MISMATCH, f"{name} is {found!r}, the body says {expected!r}")


def _decode_header(value: str | None) -> str | None:
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except ValueError:
        raise RpcError(HEADER_MISMATCH, f"undecodable header value {value!r}") from None


def complete(method: str, value: Message, server_info: Message) -> Message:
    """A result as this revision wants it."""
    whole = {"resultType": "complete", **value}
    if method in CACHEABLE:
        whole = {"ttlMs": 0, "cacheScope": "private", **whole}
    whole["_meta"] = {SERVER_INFO_KEY: server_info, **value.get("_meta", {})}
    return whole

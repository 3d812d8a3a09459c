"""The words of MCP that the test servers speak: versions, codes, message shapes. Pure."""

import json
from typing import Any

Message = dict[str, Any]

LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN_VERSION = "2026-07-28"

PREFIX = "io.modelcontextprotocol/"
VERSION_KEY = PREFIX + "protocolVersion"
CAPABILITIES_KEY = PREFIX + "clientCapabilities"
LOG_LEVEL_KEY = PREFIX + "logLevel"
SUBSCRIPTION_KEY = PREFIX + "subscriptionId"
SERVER_INFO_KEY = PREFIX + "serverInfo"

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
NOT_INITIALIZED = -32000  # what legacy HTTP servers in the field say before a session exists
RESOURCE_NOT_FOUND = -32002


class RpcError(Exception):
    """A JSON-RPC error on its way to the client."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.body: Message = {"code": code, "message": message}
        if data is not None:
            self.body["data"] = data


def encode(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def request(request_id: Any, method: str, params: Message | None = None) -> Message:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}


def notification(method: str, params: Message | None = None) -> Message:
    return {
        "jsonrpc": "2.0",
        "method": method,
        **({"params": params} if params is not None else {}),
    }


def result(request_id: Any, value: Any) -> Message:
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def error(request_id: Any, cause: RpcError) -> Message:
    return {"jsonrpc": "2.0", "id": request_id, "error": cause.body}


def is_request(message: Any) -> bool:
    return isinstance(message, dict) and "method" in message and "id" in message


def is_response(message: Any) -> bool:
    return isinstance(message, dict) and "method" not in message


def params_of(message: Any) -> Message:
    params = message.get("params") if isinstance(message, dict) else None
    return params if isinstance(params, dict) else {}


def meta_of(params: Message) -> Message:
    meta = params.get("_meta")
    return meta if isinstance(meta, dict) else {}

"""Pure: the attributes of spans and metrics, by the semantic conventions for MCP.

None has a payload or a secret. Used by telemetry.py and notification_spans.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from mcplens.protocol.eras import STATELESS_VERSIONS

if TYPE_CHECKING:
    from mcplens.downstream.server_connection import ServerConnection
    from mcplens.gateway.inbound_client import InboundClient

# Attributes that both the span and the metric of an operation have.
_OF_METRICS: Final = frozenset({
    "mcp.method.name", "mcp.protocol.version", "gen_ai.tool.name", "gen_ai.prompt.name",
    "gen_ai.operation.name", "network.transport", "network.protocol.name", "error.type",
    "rpc.response.status_code", "server.address", "server.port", "mcplens.server",
})  # fmt: skip

Attributes = dict[str, str | int]


def transport_attributes(kind: str) -> Attributes:
    """How a message travels."""
    if kind == "stdio":
        return {"network.transport": "pipe"}
    name = "websocket" if kind == "websocket" else "http"
    return {"network.transport": "tcp", "network.protocol.name": name}


def client_attributes(client: InboundClient, headers: Mapping[str, str]) -> Attributes:
    """What is said of a message between a client and us."""
    attributes = transport_attributes(client.peer.kind)
    attributes["mcplens.path"] = client.path
    version = _version_of(client, headers)
    if version is not None:
        attributes["mcp.protocol.version"] = version
    session = headers.get("mcp-session-id")
    if session is not None:  # it opens the session, so only its digest is told
        attributes["mcp.session.id"] = hashlib.sha256(session.encode()).hexdigest()[:16]
    return attributes


def server_attributes(session: ServerConnection) -> Attributes:
    """What is said of a message between us and a server."""
    entry = session.entry
    attributes = transport_attributes(entry.transport or "http")
    attributes["mcplens.server"] = session.server_id
    if session.introduction is not None:
        attributes["mcp.protocol.version"] = session.introduction.version
    if entry.url is not None:
        parts = urlsplit(entry.url)
        port = parts.port or {"https": 443, "wss": 443}.get(parts.scheme, 80)
        attributes |= {"server.address": parts.hostname or "", "server.port": port}
    return attributes


def _version_of(client: InboundClient, headers: Mapping[str, str]) -> str | None:
    given = client.peer.protocol_version
    if given is None and client.is_stateless:
        given = headers.get("mcp-protocol-version")
        return given if given in STATELESS_VERSIONS else next(iter(STATELESS_VERSIONS))
    return given


def metric_attributes(attributes: Attributes) -> Attributes:
    """Those that the metric of an operation has."""
    return {key: value for key, value in attributes.items() if key in _OF_METRICS}

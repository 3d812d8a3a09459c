"""What was recorded in one era, in the words of the other. Pure; called by the mock.

The eras share tools, resources, prompts and their results; they differ in the introduction, in what
a result carries beside its content, and in how a server asks its client.
"""

from __future__ import annotations

from typing import Any, Final

from mcplens.protocol.eras import SERVER_INFO, VERSIONS, Era

Json = dict[str, Any]

# Results that 2026-07-28 lets a client keep. What was recorded may be kept for no time.
_CACHEABLE: Final = frozenset(
    {
        "server/discover", "tools/list", "prompts/list", "resources/list",
        "resources/templates/list", "resources/read",
    }
)  # fmt: skip
# Members of a result that only 2026-07-28 has.
_STATELESS_ONLY: Final = ("resultType", "ttlMs", "cacheScope")
# Capabilities that mean something else in the other era, or do not exist there.
_NOT_SHARED: Final = ("tasks", "extensions")


def convert_result(result: Any, method: str, to: Era, server_info: Json) -> Any:
    """A result as a server of the era `to` gives it, recorded in the other one."""
    if not isinstance(result, dict):
        return result
    meta = result.get("_meta")
    meta = dict(meta) if isinstance(meta, dict) else {}
    found = {name: item for name, item in result.items() if name != "_meta"}
    if to is Era.HANDSHAKE:
        meta.pop(SERVER_INFO, None)
        found = {name: item for name, item in found.items() if name not in _STATELESS_ONLY}
        return found | ({"_meta": meta} if meta else {})
    if method in _CACHEABLE:
        found = {"ttlMs": 0, "cacheScope": "private"} | found
    return {"resultType": "complete", **found, "_meta": {SERVER_INFO: server_info, **meta}}


def initialize_result(introduction: Json, version: str) -> Json:
    """The result of initialize from what a server said of itself in either era."""
    found: Json = {
        "protocolVersion": version,
        "capabilities": introduction.get("capabilities") or {},
        "serverInfo": introduction.get("server_info") or {"name": "unknown", "version": "0"},
    }
    if introduction.get("instructions"):
        found["instructions"] = introduction["instructions"]
    return found


def discover_result(introduction: Json) -> Json:
    """The result of server/discover from what a server said of itself in either era."""
    found: Json = {
        "supportedVersions": list(VERSIONS),
        "capabilities": introduction.get("capabilities") or {},
    }
    if introduction.get("instructions"):
        found["instructions"] = introduction["instructions"]
    info = introduction.get("server_info") or {"name": "unknown", "version": "0"}
    converted: Json = convert_result(found, "server/discover", Era.STATELESS, info)
    return converted


def shared_introduction(introduction: Json) -> Json:
    """An introduction without the capabilities that only its own era has."""
    capabilities = introduction.get("capabilities")
    if not isinstance(capabilities, dict):
        return introduction
    kept = {name: item for name, item in capabilities.items() if name not in _NOT_SHARED}
    return introduction | {"capabilities": kept}


def read_introduction(method: str, result: Any) -> Json:
    """What a server says of itself in the result of initialize or server/discover."""
    if not isinstance(result, dict):
        return {}
    if method == "initialize":
        info, version = result.get("serverInfo"), result.get("protocolVersion")
    else:
        meta = result.get("_meta")
        info = meta.get(SERVER_INFO) if isinstance(meta, dict) else None
        version = next(
            (one for one in VERSIONS if one in result.get("supportedVersions", ())), None
        )
    return {
        "protocol_version": version,
        "server_info": info,
        "capabilities": result.get("capabilities"),
        "instructions": result.get("instructions"),
    }

"""Getting to know each other: initialize (2025-11-25), server/discover (2026-07-28), ping."""

from __future__ import annotations

from typing import Final

from mcplens.demo.apps import UI
from mcplens.demo.experimental import EXPERIMENTAL
from mcplens.demo.media import ICON
from mcplens.demo.registry import Json, method
from mcplens.demo.request_context import RequestContext
from mcplens.demo.skills import SKILLS
from mcplens.demo.tasks import EXTENSION
from mcplens.protocol.eras import HANDSHAKE_VERSIONS, SERVER_INFO, VERSIONS, Era
from mcplens.version import VERSION

INSTRUCTIONS: Final = (
    "A server to try an MCP client on. Each tool shows one feature and says in its description "
    "what to look at. The tools whose names begin with broken- break the protocol on purpose."
)

_CAPABILITIES: Final[Json] = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
    "experimental": EXPERIMENTAL,
}

_SERVER: Final[Json] = {
    "name": "mcplens-demo",
    "title": "mcplens demo",
    "version": VERSION,
    "icons": [{"src": ICON, "mimeType": "image/png", "sizes": ["16x16"]}],
}


@method("initialize", Era.HANDSHAKE)
async def initialize(context: RequestContext) -> Json:
    offered = context.params.get("protocolVersion")
    version = offered if offered in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0]
    context.client.peer.protocol_version = version
    declared = context.params.get("capabilities")
    context.client.capabilities = declared if isinstance(declared, dict) else {}
    tasks: Json = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    return {
        "protocolVersion": version,
        "capabilities": {**_CAPABILITIES, "extensions": {**UI, **SKILLS}, "tasks": tasks},
        "serverInfo": _SERVER,
        "instructions": INSTRUCTIONS,
    }


@method("server/discover", Era.STATELESS)
async def discover(context: RequestContext) -> Json:
    return {
        "supportedVersions": list(VERSIONS),
        "capabilities": {**_CAPABILITIES, "extensions": {EXTENSION: {}, **UI, **SKILLS}},
        "instructions": INSTRUCTIONS,
    }


@method("ping", Era.HANDSHAKE)
async def ping(context: RequestContext) -> Json:
    return {}


# What 2026-07-28 lets a client keep, and for how long; a change is announced before.
_TTL_MS: Final = {
    "server/discover": 60_000,
    "tools/list": 10_000,
    "prompts/list": 10_000,
    "resources/list": 10_000,
    "resources/templates/list": 10_000,
    "resources/read": 0,
    "skills/list": 10_000,
    "skills/get": 10_000,
    "resources/directory/read": 10_000,
}


def complete(method: str, result: Json) -> Json:
    """A result with what 2026-07-28 wants in every one."""
    whole = {"resultType": "complete", **result}
    if method in _TTL_MS and whole["resultType"] == "complete":
        scope = "private" if method == "resources/read" else "public"
        whole = {**whole, "ttlMs": _TTL_MS[method], "cacheScope": scope}
    info = _SERVER
    if method != "server/discover":  # the icon is sent once
        info = {"name": info["name"], "version": info["version"]}
    whole["_meta"] = {SERVER_INFO: info, **result.get("_meta", {})}
    return whole

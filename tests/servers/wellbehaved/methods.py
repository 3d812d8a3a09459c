"""Every method of the well-behaved server except the tools themselves. Pure; called by `Peer`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import tools
from .protocol import (
    INVALID_PARAMS,
    LEGACY_VERSIONS,
    LOG_LEVELS,
    RESOURCE_NOT_FOUND,
    SUBSCRIPTION_KEY,
    Message,
    RpcError,
)

if TYPE_CHECKING:
    from .brain import Call

Handler = Callable[["Call"], Awaitable[Message]]


@dataclass(frozen=True)
class Method:
    handler: Handler
    eras: tuple[str, ...]
    capability: str | None


METHODS: dict[str, Method] = {}


def method(
    name: str, capability: str | None = None, *, eras: tuple[str, ...] = ("legacy", "modern")
) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        METHODS[name] = Method(handler, eras, capability)
        return handler

    return register


@method("initialize", eras=("legacy",))
async def initialize(call: Call) -> Message:
    from .brain import SERVER_INFO

    offered = call.params.get("protocolVersion")
    call.peer.version = offered if offered in LEGACY_VERSIONS else LEGACY_VERSIONS[0]
    call.peer.client = {
        key: call.params.get(key) for key in ("protocolVersion", "capabilities", "clientInfo")
    }
    if call.peer not in call.brain.peers:
        call.brain.peers.append(call.peer)
    return {
        "protocolVersion": call.peer.version,
        "capabilities": call.brain.capabilities,
        "serverInfo": SERVER_INFO,
        "instructions": "A server for tests.",
    }


@method("server/discover", eras=("modern",))
async def discover(call: Call) -> Message:
    capabilities = {
        name: value for name, value in call.brain.capabilities.items() if name != "logging"
    }
    return {
        "supportedVersions": list(call.brain.supported_versions),
        "capabilities": capabilities,
        "instructions": "A server for tests.",
    }


@method("ping", eras=("legacy",))
async def ping(call: Call) -> Message:
    return {}


@method("tools/list", "tools")
async def list_tools(call: Call) -> Message:
    return call.brain.catalog.page("tools", call.params)


@method("tools/call", "tools")
async def call_tool(call: Call) -> Message:
    return await tools.run(call)


@method("resources/list", "resources")
async def list_resources(call: Call) -> Message:
    return call.brain.catalog.page("resources", call.params)


@method("resources/templates/list", "resources")
async def list_templates(call: Call) -> Message:
    return call.brain.catalog.page("resourceTemplates", call.params)


@method("resources/read", "resources")
async def read_resource(call: Call) -> Message:
    uri = call.params.get("uri")
    contents = call.brain.catalog.read(uri) if isinstance(uri, str) else None
    if contents is None:
        # -32002 left the protocol with 2026-07-28.
        code = INVALID_PARAMS if call.is_modern else RESOURCE_NOT_FOUND
        raise RpcError(code, "Resource not found", {"uri": uri})
    return {"contents": [contents]}


@method("resources/subscribe", "resources", eras=("legacy",))
async def subscribe(call: Call) -> Message:
    call.peer.subscriptions.add(call.params["uri"])
    return {}


@method("resources/unsubscribe", "resources", eras=("legacy",))
async def unsubscribe(call: Call) -> Message:
    call.peer.subscriptions.discard(call.params["uri"])
    return {}


@method("prompts/list", "prompts")
async def list_prompts(call: Call) -> Message:
    return call.brain.catalog.page("prompts", call.params)


@method("prompts/get", "prompts")
async def get_prompt(call: Call) -> Message:
    name = call.params.get("name")
    if name not in [prompt["name"] for prompt in call.brain.catalog.items["prompts"]]:
        raise RpcError(INVALID_PARAMS, f"unknown prompt {name!r}")
    if name == "greet" and "name" not in call.arguments:
        raise RpcError(INVALID_PARAMS, "missing argument 'name'")
    words = (
        f"{call.arguments.get('style', 'Hello')}, {call.arguments['name']}!"
        if name == "greet"
        else "Plain."
    )
    return {
        "description": name,
        "messages": [{"role": "user", "content": {"type": "text", "text": words}}],
    }


@method("completion/complete", "completions")
async def complete_argument(call: Call) -> Message:
    argument = call.params.get("argument", {})
    choices = {"name": ["Ada", "Alan", "Grace"], "style": ["Dear", "Hello"], "left": ["l1", "l2"]}
    if call.params.get("context", {}).get("arguments", {}).get("name") == "Ada":
        choices["style"] = ["Countess"]  # an earlier argument narrows a later one
    typed = argument.get("value", "").lower()
    values = [
        value for value in choices.get(argument.get("name"), []) if value.lower().startswith(typed)
    ]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


@method("logging/setLevel", "logging", eras=("legacy",))
async def set_level(call: Call) -> Message:
    if call.params.get("level") not in LOG_LEVELS:
        raise RpcError(INVALID_PARAMS, f"unknown level {call.params.get('level')!r}")
    call.peer.log_level = call.params["level"]
    return {}


@method("subscriptions/listen", eras=("modern",))
async def listen(call: Call) -> Message:
    """Acknowledge, then stay until the client goes or the tool end_listen ends it."""
    from .brain import EndedSilently, Listener

    wanted = {key: value for key, value in call.params.get("notifications", {}).items() if value}
    listener = Listener(call, wanted)
    listener.notify("notifications/subscriptions/acknowledged", {"notifications": wanted})
    call.brain.listeners.append(listener)
    try:
        how = await listener.ended
    finally:
        call.brain.listeners.remove(listener)
    if how == "cancelled":
        call.notify(
            "notifications/cancelled",
            {"requestId": call.request_id, "reason": "ended by the server"},
        )
    if how != "result":
        raise EndedSilently
    return {"_meta": {SUBSCRIPTION_KEY: call.request_id}}

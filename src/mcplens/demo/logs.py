"""Log messages at all levels, and the level that a client wants to hear from (up)."""

from __future__ import annotations

from mcplens.demo.registry import Fault, Json, method, text, tool
from mcplens.demo.request_context import RequestContext
from mcplens.inbound.refusal import INVALID_PARAMS
from mcplens.protocol.eras import LOG_LEVELS, Era


@tool(
    "log-levels",
    "Sends one log message at each of the eight levels; the client's level decides which arrive.",
)
async def levels(context: RequestContext) -> Json:
    for level in LOG_LEVELS:
        context.log(level, f"this is a message at level {level}")
    return text(f"{len(LOG_LEVELS)} messages were written")


@tool(
    "log-message",
    "Sends one log message: any level, any logger, any JSON as its data.",
    {
        "level": {"type": "string", "enum": list(LOG_LEVELS), "default": "info"},
        "logger": {"type": "string", "default": "demo"},
        "data": {"description": "Any JSON value.", "default": {"who": "demo", "what": "logs"}},
    },
)
async def message(context: RequestContext) -> Json:
    given = context.arguments
    data = given.get("data", {"who": "demo", "what": "logs"})
    context.log(given.get("level", "info"), data, given.get("logger", "demo"))
    return text("written")


@method("logging/setLevel", Era.HANDSHAKE)
async def set_level(context: RequestContext) -> Json:
    level = context.params.get("level")
    if level not in LOG_LEVELS:
        raise Fault(INVALID_PARAMS, f"{level!r} is not a level: use {', '.join(LOG_LEVELS)}")
    context.client.log_level = level
    return {}

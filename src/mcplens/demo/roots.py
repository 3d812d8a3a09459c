"""Roots: the server asks for the client's folders, and is notified when they change."""

from __future__ import annotations

import msgspec

from mcplens.demo.client import DemoClient
from mcplens.demo.client_questions import ask
from mcplens.demo.registry import Json, ToolFailure, text, tool
from mcplens.demo.request_context import RequestContext


@tool("list-roots", "Asks the client for its roots (roots/list) and shows them.")
async def list_roots(context: RequestContext) -> Json:
    answer = await ask(context, "roots", "roots/list", {})
    roots = answer.get("roots")
    return text(msgspec.json.encode(roots).decode(), structuredContent={"roots": roots})


async def ask_again(client: DemoClient) -> None:
    """2025-11-25: the roots changed, so they are asked for again; a log message says what came."""
    try:
        roots = (await client.ask("roots/list", {})).get("roots")
    except ToolFailure as problem:
        roots = str(problem)
    data = {"what": "the roots changed", "roots": roots}
    client.notify("notifications/message", {"level": "info", "logger": "roots", "data": data})

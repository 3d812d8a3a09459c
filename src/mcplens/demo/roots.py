"""Roots: the server asks which folders it may know of, and hears when they change."""

from __future__ import annotations

import msgspec

from mcplens.demo.asking import ask
from mcplens.demo.call import Call
from mcplens.demo.client import Client
from mcplens.demo.registry import Failure, Json, text, tool


@tool("list-roots", "Asks the client for its roots (roots/list) and shows them.")
async def list_roots(call: Call) -> Json:
    answer = await ask(call, "roots", "roots/list", {})
    roots = answer.get("roots")
    return text(msgspec.json.encode(roots).decode(), structuredContent={"roots": roots})


async def ask_again(client: Client) -> None:
    """2025-11-25: the roots changed, so they are asked for again; a log message says what came."""
    try:
        roots = (await client.ask("roots/list", {})).get("roots")
    except Failure as problem:
        roots = str(problem)
    data = {"what": "the roots changed", "roots": roots}
    client.notify("notifications/message", {"level": "info", "logger": "roots", "data": data})

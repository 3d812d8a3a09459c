"""Servers that want to know something before they answer, and what is called on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .scripted import STATELESS, Rig, ScriptedServer, text

SAMPLE = "sampling/createMessage"
ROOTS = "roots/list"


def asks(state: Any = None, **requests: Any) -> dict[str, Any]:
    """A result that wants input first."""
    result: dict[str, Any] = {"resultType": "input_required"}
    if requests:
        result["inputRequests"] = requests
    if state is not None:
        result["requestState"] = state
    return result


def scripted(*answers: Any, method: str = "tools/call") -> ScriptedServer:
    """A server that answers one call after the other like this."""
    left = list(answers)
    return ScriptedServer({method: lambda request: left.pop(0)}, is_stateless=True)


def stateless(server: ScriptedServer, **options: Any) -> Rig:
    return Rig(server, protocol_version=STATELESS, **options)


OPERATIONS: list[tuple[str, Callable[[Any], Any], Any]] = [
    ("tools/call", lambda client: client.call_tool("x", {"a": 1}), text("done")),
    ("resources/read", lambda client: client.read_resource("file:///a"), {"contents": []}),
    ("prompts/get", lambda client: client.get_prompt("p", {"a": "b"}), {"messages": []}),
]

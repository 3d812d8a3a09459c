"""The tools of the demo server: each a definition and a function of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Arguments = dict[str, Any]


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def echo(arguments: Arguments) -> dict[str, Any]:
    return _text(str(arguments.get("text", "")))


def add(arguments: Arguments) -> dict[str, Any]:
    a, b = arguments.get("a"), arguments.get("b")
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return _text("a and b must be numbers") | {"isError": True}
    return _text(f"{a + b:g}") | {"structuredContent": {"sum": a + b}}


_NUMBER = {"type": "number"}

TOOLS: dict[str, tuple[dict[str, Any], Callable[[Arguments], dict[str, Any]]]] = {
    "echo": (
        {
            "name": "echo",
            "description": "Gives back the text that it is given.",
            "inputSchema": {
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
            },
        },
        echo,
    ),
    "add": (
        {
            "name": "add",
            "description": "Adds two numbers.",
            "inputSchema": {
                "type": "object",
                "properties": {"a": _NUMBER, "b": _NUMBER},
                "required": ["a", "b"],
            },
            "outputSchema": {
                "type": "object",
                "properties": {"sum": _NUMBER},
                "required": ["sum"],
            },
        },
        add,
    ),
}

"""A server on stdio whose forms, questions, results and names are more than a page can draw."""

from __future__ import annotations

import json
import sys
from typing import Any


def fields(count: int) -> dict[str, Any]:
    return {"type": "object", "properties": {f"f{n}": {"type": "string"} for n in range(count)}}


def bomb() -> dict[str, Any]:
    """Eleven levels, each of which has the next one ten times."""
    levels: dict[str, Any] = {"d0": {"type": "string"}}
    for level in range(1, 12):
        levels[f"d{level}"] = {"allOf": [{"$ref": f"#/$defs/d{level - 1}"}] * 10}
    return {"type": "object", "$defs": levels, "properties": {"x": {"$ref": "#/$defs/d11"}}}


def patterns() -> dict[str, Any]:
    """Patterns that a browser needs hours for; the second is too slow for any engine."""
    texts = {"linear": "^(a+)+$", "endless": "^(?:(?=a)a|aa)+$"}
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "pattern": pattern, "default": f"{'a' * 60}!"}
            for name, pattern in texts.items()
        },
    }


NONE = {"type": "object", "properties": {}}
TOOLS = [
    {"name": "fields", "inputSchema": fields(10_000)},
    {"name": "bomb", "inputSchema": bomb()},
    {"name": "slow", "inputSchema": patterns()},
    *({"name": name, "inputSchema": NONE} for name in ("..", ".", " ", "elicit", "sample", "rows")),
]
FORM = {"message": "How many?", "requestedSchema": fields(1)}
LONG_FORM = {"message": "How many?", "requestedSchema": fields(1000)}
MESSAGE = {"role": "user", "content": {"type": "text", "text": "again"}}
SAMPLING = {"messages": [MESSAGE] * 3000, "maxTokens": 10}


def say(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(identity: str, method: str, params: dict[str, Any]) -> None:
    say({"id": identity, "method": method, "params": params})


def call(identity: Any, name: str) -> None:
    if name == "elicit":
        ask("e0", "elicitation/create", LONG_FORM)
        for n in range(1, 1000):
            ask(f"e{n}", "elicitation/create", FORM)
    elif name == "slow":
        ask("slow", "elicitation/create", {"message": "Again?", "requestedSchema": patterns()})
    elif name == "sample":
        ask("s", "sampling/createMessage", SAMPLING)
    elif name == "rows":
        rows = [{"n": n, "name": f"row {n}"} for n in range(200_000)]
        say({"id": identity, "result": {"content": [], "structuredContent": {"rows": rows}}})
    else:
        text = f"called {name!r}"
        say({"id": identity, "result": {"content": [{"type": "text", "text": text}]}})


for line in sys.stdin:
    message = json.loads(line)
    identity = message.get("id")
    method = message.get("method")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        about = {"protocolVersion": version, "serverInfo": {"name": "huge", "version": "1"}}
        say({"id": identity, "result": {**about, "capabilities": {"tools": {}}}})
    elif method == "tools/list":
        say({"id": identity, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        call(identity, message["params"]["name"])
    elif identity is not None and method is not None:
        say({"id": identity, "error": {"code": -32601, "message": "no such method"}})

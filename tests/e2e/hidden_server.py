"""A server on stdio whose every word hides something: in what it offers, asks and answers."""

from __future__ import annotations

import json
import sys
from typing import Any

TURNED = "\u202e"  # what follows reads backwards
UNSEEN = "\u200b"
TAG = "\U000e0041"
HIDING = f"hi{UNSEEN}ding"
FIELD = {"type": "string", "title": f"field {HIDING}", "description": f"about {HIDING}"}
SCHEMA = {"type": "object", "properties": {"word": FIELD}}
TOOLS = [
    {
        "name": "ask", "title": f"title {HIDING}", "inputSchema": SCHEMA,
        "description": f"plain {HIDING}{TAG}",
    },
    {"name": "marked", "description": f"**bold {HIDING}** and `code {HIDING}`", "inputSchema": {}},
]  # fmt: skip
ASKED = {"message": f"Delete {TURNED}gnp.exe?", "requestedSchema": SCHEMA}
BLOCK = {"type": "text", "text": f"said {HIDING}"}


def say(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


RESULTS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "hidden", "version": "1"},
    },
    "tools/list": {"tools": TOOLS},
}
called: Any = None
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "tools/call":
        called = message["id"]
        say(id="q", method="elicitation/create", params=ASKED)
    elif method is None and message["id"] == "q":
        say(id=called, result={"content": [BLOCK]})
    elif "id" in message:
        say(id=message["id"], result=RESULTS.get(method, {}))

"""A server on stdio that takes requests and never answers them, but for the handshake and its
lists. It says on stderr what is cancelled."""

from __future__ import annotations

import json
import sys
from typing import Any

ANSWERS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"logging": {}, "resources": {"subscribe": True}, "tasks": {"list": {}}},
        "serverInfo": {"name": "silent", "version": "1"},
    },
    "resources/list": {"resources": [{"uri": "silent://news", "name": "news"}]},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": [{"uri": "silent://news", "text": "none"}]},
}
asked: dict[Any, str] = {}

for line in sys.stdin:
    message = json.loads(line)
    method, identity = message.get("method", ""), message.get("id")
    if method in ANSWERS:
        answer = {"jsonrpc": "2.0", "id": identity, "result": ANSWERS[method]}
        print(json.dumps(answer), flush=True)
    elif method == "notifications/cancelled":
        name = asked.get(message["params"]["requestId"])
        print(f"cancelled {name}", file=sys.stderr, flush=True)
    elif identity is not None:
        asked[identity] = method

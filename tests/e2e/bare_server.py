"""A server on stdio that offers nothing at all."""

from __future__ import annotations

import json
import sys

HELLO = {
    "protocolVersion": "2025-11-25", "capabilities": {},
    "serverInfo": {"name": "bare", "version": "1"},
}  # fmt: skip

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        is_hello = message.get("method") == "initialize"
        answer = {"result": HELLO} if is_hello else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)

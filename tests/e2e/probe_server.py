"""A server on stdio that tells what it was started and called with; all that a server may say of
itself is there too."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from mcplens.demo.media import ICON

OFFERED: list[str] = []


def answer(identity: Any, result: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", "id": identity, "result": result}), flush=True)


def introduce(params: dict[str, Any]) -> dict[str, Any]:
    OFFERED.append(params["protocolVersion"])
    return {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {
            "name": "probe", "version": "7", "websiteUrl": "https://example.com/probe",
            "icons": [{"src": ICON, "mimeType": "image/png"}],
        },
        "instructions": "Call **seen** first.",
    }  # fmt: skip


def seen(params: dict[str, Any]) -> dict[str, Any]:
    meta = {key: value for key, value in params.get("_meta", {}).items() if key != "progressToken"}
    told = [f"in {os.getcwd()}", f"MARK is {os.environ.get('MARK')}", OFFERED[-1], json.dumps(meta)]
    return {"content": [{"type": "text", "text": "; ".join(told)}]}


for line in sys.stdin:
    message = json.loads(line)
    identity, method = message.get("id"), message.get("method")
    if method == "initialize":
        answer(identity, introduce(message["params"]))
    elif method == "tools/list":
        answer(identity, {"tools": [{"name": "seen", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        answer(identity, seen(message["params"]))
    elif identity is not None and method is not None:
        error = {"code": -32601, "message": "no such method"}
        print(json.dumps({"jsonrpc": "2.0", "id": identity, "error": error}), flush=True)

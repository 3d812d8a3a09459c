"""A server whose definitions are in a file, read anew for each request: it can reword its tools."""

import json
import sys
from pathlib import Path
from typing import Any

LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


def answer(method: str, params: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "serverInfo": {"name": "reworded", "version": "1"},
            "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
            "instructions": given.get("instructions", ""),
        }
    if method in LISTS:
        return {LISTS[method]: given.get(LISTS[method], [])}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": "secret"}]}
    if method == "prompts/get":
        return {"messages": []}
    return {"content": [{"type": "text", "text": "ran"}]}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            given = json.loads(Path(sys.argv[1]).read_text())
            result = answer(message["method"], message.get("params", {}), given)
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()

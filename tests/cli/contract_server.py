"""A server whose definitions are in a file that a test writes, and its entry in the configuration.

`{SECRET}` in the file stands for the variable of that name. `mode` makes `tools/list` misbehave:
hang, die, endless pages, or a flood before the answer.
"""

import json
import sys
from pathlib import Path
from typing import Any

from tests.cli.shell import Shell

SERVER = """
import json, os, sys
text = open(sys.argv[1]).read().replace("{SECRET}", os.environ.get("SECRET", "none"))
given = json.loads(text)
lists = {"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources",
         "resources/templates/list": "resourceTemplates"}
pages = 0
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if number is None:
        continue
    answer = {"error": {"code": -32601, "message": "Method not found"}}
    if method == "initialize":
        capabilities = {name: {} for name in ("tools", "prompts", "resources") if name in given}
        capabilities |= given.get("capabilities", {})
        answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": capabilities,
                  "serverInfo": {"name": "contract", "version": "1.0.0", **given.get("info", {})},
                  "instructions": given.get("instructions", "none")}}
    elif method == "ping":
        answer = {"result": {}}
    elif method == "tools/call":
        answer = {"result": {"content": [{"type": "text", "text": "x" * 400}]}}
    elif lists.get(method) in given:
        mode, key = given.get("mode"), lists[method]
        items, result = given[key], {}
        if mode == "hang":
            continue
        if mode == "die":
            print("out of memory", file=sys.stderr, flush=True)
            os._exit(3)
        if mode == "flood":
            log = {"level": "info", "data": "x" * 200}
            line = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": log})
            sys.stdout.write((line + "\\n") * 20000 + "stray output\\n" * 1000)
        if mode == "endless":
            pages += 1
            result = {"nextCursor": str(pages % 3)}
        elif mode == "pages":
            at = int(message.get("params", {}).get("cursor", 0))
            items, result = items[at:at + 1], {"nextCursor": str(at + 1)}
            result = result if at + 1 < len(given[key]) else {}
        answer = {"result": {key: items, **result}}
    print(json.dumps({"jsonrpc": "2.0", "id": number, **answer}), flush=True)
"""

ADD: dict[str, Any] = {
    "name": "add",
    "description": "Adds two whole numbers.",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a"],
    },
}


def configure(shell: Shell, *names: str, **env: str) -> None:
    """Put servers into the user's configuration; each reads its definitions from NAME.json."""
    script = shell.home / "server.py"
    script.write_text(SERVER)
    entries = {
        name: {
            "command": sys.executable,
            "args": [str(script), str(definitions(shell, name))],
            "protocolVersion": "2025-11-25",
            "env": env,
        }
        for name in names
    }
    shell.config.parent.mkdir(parents=True, exist_ok=True)
    shell.config.write_text(json.dumps({"mcpServers": entries}, indent=2))


def definitions(shell: Shell, name: str) -> Path:
    return shell.home / f"{name}.json"


def define(shell: Shell, name: str, *tools: dict[str, Any], **others: Any) -> None:
    """Write what a server promises."""
    definitions(shell, name).write_text(json.dumps({"tools": tools, **others}))

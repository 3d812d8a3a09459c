"""A server on stdio that has many tasks already: `python many_tasks.py COUNT`."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Any

_NOW = datetime.now(UTC).isoformat(timespec="milliseconds")


def task(number: int) -> dict[str, Any]:
    return {
        "taskId": f"task-{number}", "status": "working", "statusMessage": f"part {number}",
        "createdAt": _NOW, "lastUpdatedAt": _NOW, "ttl": 600_000, "pollInterval": 60_000,
    }  # fmt: skip


def answer(method: str, count: int) -> dict[str, Any]:
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25", "capabilities": {"tasks": {"list": {}, "cancel": {}}},
            "serverInfo": {"name": "many-tasks", "version": "1"},
        }  # fmt: skip
    if method == "tasks/list":
        return {"tasks": [task(number) for number in range(count)]}
    return {}


def main(count: int) -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked and "method" in asked:
            result = answer(asked["method"], count)
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))

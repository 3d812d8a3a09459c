"""A small MCP server over stdio that may run once: it writes to a file that it lives, all the time.

`python single_server.py FILE`. Each line is its pid and the time (CLOCK_MONOTONIC, of all
processes of the machine), so that a test can tell whether two ever ran at once, also after SIGKILL.
Its tool `whoami` answers with its pid.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BEAT_S = 0.02


def intervals(path: Path) -> list[tuple[float, float, int]]:
    """When each process ran: begin, end and pid, in the order of their beginnings."""
    seen: dict[int, list[float]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        pid, at = line.split()
        seen.setdefault(int(pid), []).append(float(at))
    return sorted((min(times), max(times), pid) for pid, times in seen.items())


def overlapping(runs: Sequence[tuple[float, float, int]]) -> bool:
    return any(first[1] > second[0] for first, second in itertools.pairwise(runs))


def _write(path: str) -> None:
    with open(path, "ab", buffering=0) as file:
        file.write(f"{os.getpid()} {time.monotonic()}\n".encode())


def _beat(path: str) -> None:
    while True:
        time.sleep(BEAT_S)
        _write(path)


def _answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        info = {"name": "single", "version": "1"}
        version = params.get("protocolVersion", "2025-11-25")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        schema = {"type": "object"}
        return {"tools": [{"name": "whoami", "inputSchema": schema}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": str(os.getpid())}]}
    return {} if method == "ping" else None


def main() -> None:
    _write(sys.argv[1])  # before it answers anybody, however late the thread begins
    threading.Thread(target=_beat, args=(sys.argv[1],), daemon=True).start()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = _answer(message["method"], message.get("params") or {})
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": "unknown method"}
        else:
            reply["result"] = result
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()

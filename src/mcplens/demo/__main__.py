"""`python -m mcplens.demo`: the demo server on stdio, for the handshake revisions of MCP."""

from __future__ import annotations

import sys
from typing import Any

from mcplens.demo.tools import TOOLS
from mcplens.protocol.eras import HANDSHAKE_VERSIONS
from mcplens.protocol.frames import Frame, Kind, encode_error, encode_result, parse
from mcplens.session.config import VERSION


class _Refusal(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def _result(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            offered = params.get("protocolVersion")
            return {
                "protocolVersion": offered if offered in HANDSHAKE_VERSIONS else "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "mcplens-demo", "version": VERSION},
            }
        case "ping":
            return {}
        case "tools/list":
            return {"tools": [definition for definition, _ in TOOLS.values()]}
        case "tools/call":
            name = params.get("name")
            if name not in TOOLS:
                raise _Refusal(-32602, f"there is no tool called {name!r}")
            return TOOLS[name][1](params.get("arguments") or {})
    raise _Refusal(-32601, f"{method} is not offered")


def _answer(line: bytes) -> bytes | None:
    frame = parse(line)
    if not isinstance(frame, Frame):
        return encode_error(None, -32700, f"not understood: {getattr(frame, 'reason', 'a batch')}")
    if frame.kind is not Kind.REQUEST or frame.id is None:
        return None
    try:
        params = frame.value()
        return encode_result(
            frame.id, _result(frame.method, params if isinstance(params, dict) else {})
        )
    except _Refusal as refusal:
        return encode_error(frame.id, refusal.code, str(refusal))
    except ValueError as problem:
        return encode_error(frame.id, -32602, f"params cannot be read: {problem}")


def serve() -> None:
    """Answer each line until stdin ends."""
    for line in sys.stdin.buffer:
        answer = _answer(line.rstrip(b"\r\n"))
        if answer is not None:
            sys.stdout.buffer.write(answer + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve()

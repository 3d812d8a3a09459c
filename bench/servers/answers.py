"""What the servers answer, encoded once. Shared by the stdio and the HTTP server."""

from __future__ import annotations

import json
from typing import Final

import msgspec

VERSION: Final = "2025-11-25"
RESULT_BYTES: Final = {"small": 200, "large": 100_000, "huge": 20_000_000}
# A tool that never answers.
WAITING: Final = "wait"

# As most tools answer: JSON or logs inside a JSON string, so with quotes and line ends to escape.
_LINE: Final = (
    '{"time": "2026-01-31T12:00:00Z", "level": "info", "path": "/items/1234", "ms": 12}\n'
)


class Request(msgspec.Struct):
    """As much of a request as an answer depends on."""

    method: str = ""
    id: msgspec.Raw = msgspec.Raw(b"")
    params: msgspec.Raw = msgspec.Raw(b"{}")


class _CallParams(msgspec.Struct):
    name: str


read_request: Final = msgspec.json.Decoder(Request).decode
_read_call: Final = msgspec.json.Decoder(_CallParams).decode


def result_text(size_bytes: int) -> str:
    """A text whose whole result takes this many bytes on the wire."""
    room = size_bytes - len(_result(""))
    lines, rest = divmod(room, len(json.dumps(_LINE)) - 2)
    return _LINE * lines + "." * rest


def _result(text: str) -> bytes:
    return json.dumps({"content": [{"type": "text", "text": text}], "isError": False}).encode()


class Answers:
    """Bytes for every request that a client of 2025-11-25 sends."""

    def __init__(self) -> None:
        tools = [
            {"name": name, "inputSchema": {"type": "object"}} for name in (*RESULT_BYTES, WAITING)
        ]
        hello = {
            "protocolVersion": VERSION,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "bench", "version": "1"},
        }
        self._tails = {
            "initialize": _tail(json.dumps(hello).encode()),
            "tools/list": _tail(json.dumps({"tools": tools}).encode()),
            "ping": _tail(b"{}"),
        }
        self._call_tails: dict[str, bytes] = {}
        for name in ("small", "large"):
            self._call_tail(name)

    def to(self, request: Request) -> bytes | None:
        """The answer; None to a notification, and to a call that waits."""
        identity = bytes(request.id)
        if not identity:
            return None
        head = b'{"jsonrpc":"2.0","id":' + identity
        if request.method == "tools/call":
            name = _read_call(request.params).name
            return None if name == WAITING else head + self._call_tail(name)
        tail = self._tails.get(request.method)
        if tail is None:
            return head + b',"error":{"code":-32601,"message":"Method not found"}}'
        return head + tail

    def _call_tail(self, name: str) -> bytes:
        tail = self._call_tails.get(name)
        if tail is None:
            tail = self._call_tails[name] = _tail(_result(result_text(RESULT_BYTES[name])))
        return tail


def _tail(result: bytes) -> bytes:
    return b',"result":' + result + b"}"


def is_unknown(answer: bytes) -> bool:
    """Whether this answer says that the method is unknown, which HTTP answers with 400."""
    return b'"code":-32601' in answer[:200]

"""A server on stdio that gives any result or error as it is told, also later, and asks with
pictures."""

from __future__ import annotations

import base64
import json
import struct
import sys
import zlib
from typing import Any


def png() -> str:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    parts = (
        chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")
    )
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + parts).decode()


def wav() -> str:
    """A tenth of a second of silence."""
    data = bytes(800)
    form = struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVEfmt " + form + b"data" + struct.pack("<I", len(data)) + data
    return base64.b64encode(b"RIFF" + struct.pack("<I", len(body)) + body).decode()


QUESTION = {
    "messages": [
        {"role": "user", "content": {"type": "image", "data": png(), "mimeType": "image/png"}},
        {"role": "user", "content": [{"type": "audio", "data": wav(), "mimeType": "audio/wav"}]},
    ],
    "maxTokens": 10,
}
TOOLS = [
    {"name": "give", "inputSchema": {"type": "object", "properties": {"json": {"type": "string"}}}},
    {"name": "fail", "inputSchema": {"type": "object", "properties": {"json": {"type": "string"}}}},
    {"name": "long", "inputSchema": {"type": "object"}},
    {"name": "hold", "inputSchema": {"type": "object"}},
    {"name": "drop", "inputSchema": {"type": "object"}},
    {"name": "ask", "inputSchema": {"type": "object"}},
]
# The calls that fail as soon as another one says so.
HELD: list[Any] = []


def say(text: str) -> None:
    print(text, flush=True)


def answer(identity: Any, result: str) -> None:
    say(f'{{"jsonrpc":"2.0","id":{json.dumps(identity)},"result":{result}}}')


def drop() -> None:
    for identity in HELD:
        error = {"code": -32000, "message": "dropped"}
        say(json.dumps({"jsonrpc": "2.0", "id": identity, "error": error}))
    HELD.clear()


def call(identity: Any, params: dict[str, Any]) -> None:
    if params["name"] == "give":
        answer(identity, params["arguments"]["json"])
    elif params["name"] == "fail":
        error = params["arguments"]["json"]
        say(f'{{"jsonrpc":"2.0","id":{json.dumps(identity)},"error":{error}}}')
    elif params["name"] == "long":
        lines = [f"line {n}{' Needle' if n % 20_000 == 7 else ''}" for n in range(60_000)]
        answer(identity, json.dumps({"content": [{"type": "text", "text": "\n".join(lines)}]}))
    elif params["name"] == "hold":
        HELD.append(identity)
    elif params["name"] == "drop":
        drop()
        answer(identity, '{"content": []}')
    else:
        asked = {"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage"}
        say(json.dumps({**asked, "params": QUESTION}))


for line in sys.stdin:
    message = json.loads(line)
    identity = message.get("id")
    if message.get("method") == "initialize":
        info = {"name": "odd", "version": "1"}
        version = message["params"]["protocolVersion"]
        about = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        answer(identity, json.dumps(about))
    elif message.get("method") == "tools/list":
        answer(identity, json.dumps({"tools": TOOLS}))
    elif message.get("method") == "tools/call":
        call(identity, message["params"])
    elif identity is not None and "method" in message:
        error = {"code": -32601, "message": "no such method"}
        say(json.dumps({"jsonrpc": "2.0", "id": identity, "error": error}))

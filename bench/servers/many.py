"""A stdio server that has much of everything: thousands of tools, frames, long results, log lines.

`python -m bench.servers.many [--tools N] [--page N] [--frames N]`: tools are listed page by page;
frames are log messages that it sends by itself as soon as the handshake is over. Everything is
encoded before it is asked for, so that what is measured is whoever shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any, Final

from bench.servers.answers import VERSION, Request, read_request, result_text

JSON_BYTES: Final = 5_000_000
TEXT_BYTES: Final = 20_000_000
LOG_SECONDS: Final = 8
LOGS_PER_SECOND: Final = 1_000
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        "deep": {"type": "boolean"},
    },
    "required": ["query"],
}


def _tool(number: int) -> dict[str, Any]:
    return {
        "name": f"tool_{number:05}",
        "title": f"Tool number {number}",
        "description": f"Looks for things of kind {number % 97} in place {number % 31}.",
        "inputSchema": _SCHEMA,
        "annotations": {"readOnlyHint": number % 2 == 0},
    }


def _structured() -> dict[str, Any]:
    item = {"id": 1234567, "name": "an item of many", "tags": ["one", "two"], "at": {"x": 1.5}}
    return {"items": [item] * (JSON_BYTES // len(json.dumps(item)))}


class Many:
    """Answers as bytes, made when first asked for."""

    def __init__(self, tools: int, page: int, frames: int) -> None:
        self._page = page
        self._frames = frames
        named = [{"name": name, "inputSchema": {"type": "object"}} for name in _RESULTS]
        listed = [*named, *map(_tool, range(tools - len(named)))]
        starts = range(0, len(listed), page)
        self._pages = {start: self._page_of(listed, start) for start in starts}
        self._kept: dict[str, bytes] = {}

    def _page_of(self, listed: list[dict[str, Any]], start: int) -> bytes:
        end = start + self._page
        more = {"nextCursor": str(end)} if end < len(listed) else {}
        return json.dumps({"tools": listed[start:end], **more}).encode()

    def result_of(self, request: Request) -> bytes | None:
        params = json.loads(bytes(request.params) or b"{}")
        if request.method == "tools/list":
            return self._pages[int(params.get("cursor") or 0)]
        if request.method == "tools/call":
            return self._called(params["name"])
        return _FIXED.get(request.method)

    def _called(self, name: str) -> bytes:
        if name == "log":
            _log()
        if name not in self._kept:
            made = _RESULTS.get(name, lambda: _text("done"))()
            self._kept[name] = json.dumps(made).encode()
        return self._kept[name]

    def after(self, request: Request) -> None:
        if request.method == "notifications/initialized" and self._frames:
            send = sys.stdout.buffer.write
            for number in range(self._frames):
                send(_logged(number))
            sys.stdout.buffer.flush()


def _logged(number: int) -> bytes:
    return (
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info",'
        b'"logger":"many","data":"line %d of what a busy server has to say about itself"}}\n'
        % number
    )


def _log() -> None:
    """Lines at an even pace, in pieces of 20 ms."""
    began, sent = time.monotonic(), 0
    while (spent := time.monotonic() - began) < LOG_SECONDS:
        due = int(spent * LOGS_PER_SECOND)
        sys.stdout.buffer.write(b"".join(map(_logged, range(sent, due))))
        sys.stdout.buffer.flush()
        sent = due
        time.sleep(0.02)


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


_RESULTS: Final = {
    "json": lambda: {**_text("see the structured content"), "structuredContent": _structured()},
    "text": lambda: _text(result_text(TEXT_BYTES)),
    "log": lambda: _text("done"),
}
_FIXED: Final = {
    "initialize": json.dumps(
        {
            "protocolVersion": VERSION,
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "many", "version": "1"},
        }
    ).encode(),
    "ping": b"{}",
    "logging/setLevel": b"{}",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", type=int, default=5_000)
    parser.add_argument("--page", type=int, default=500)
    parser.add_argument("--frames", type=int, default=0)
    options = parser.parse_args()
    many = Many(options.tools, options.page, options.frames)
    write, flush = sys.stdout.buffer.write, sys.stdout.buffer.flush
    for line in sys.stdin.buffer:
        request = read_request(line)
        if identity := bytes(request.id):
            head = b'{"jsonrpc":"2.0","id":' + identity
            result = many.result_of(request)
            if result is None:
                write(head + b',"error":{"code":-32601,"message":"Method not found"}}\n')
            else:
                write(head + b',"result":' + result + b"}\n")
            flush()
        many.after(request)
    os._exit(0)


if __name__ == "__main__":
    main()

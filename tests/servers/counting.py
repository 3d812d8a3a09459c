"""A server that writes down what it executes: python -S tests/servers/counting.py LOG [PORT].

Each call of a tool appends its key to LOG before anything else, so that LOG tells how often a call
was executed, even if the server was killed before it could answer. Speaks 2025-11-25 over stdio,
or over streamable HTTP at PORT; calls run in parallel. Needs nothing but the standard library.
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {
        "key": {"type": "string"},
        "seconds": {"type": "number"},
        "characters": {"type": "integer"},
    },
    "required": ["key"],
}
TOOLS = [
    {"name": "write", "inputSchema": SCHEMA},
    {"name": "set", "inputSchema": SCHEMA, "annotations": {"idempotentHint": True}},
    {"name": "read", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
]
INTRODUCTION = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "counting", "version": "1"},
}


class Counting:
    """Answers requests; LOG is shared by all servers of a test."""

    def __init__(self, log: str) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def __repr__(self) -> str:
        return "<Counting>"

    def reply(self, message: dict[str, Any]) -> bytes | None:
        if "id" not in message:
            return None
        method = message.get("method")
        body: dict[str, Any]
        if method == "initialize":
            body = {"result": INTRODUCTION}
        elif method == "tools/list":
            body = {"result": {"tools": TOOLS}}
        elif method == "tools/call":
            body = {"result": self._execute(message["params"]["arguments"])}
        elif method == "ping":
            body = {"result": {}}
        else:
            body = {"error": {"code": -32601, "message": f"there is no {method}"}}
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}).encode()

    def _execute(self, arguments: dict[str, Any]) -> dict[str, Any]:
        os.write(self._log, f"{arguments['key']}\n".encode())
        time.sleep(arguments.get("seconds", 0))
        text = arguments["key"] + "." * arguments.get("characters", 0)
        return {"content": [{"type": "text", "text": text}]}


def serve_stdio(counting: Counting) -> None:
    lock = threading.Lock()

    def work(message: dict[str, Any]) -> None:
        reply = counting.reply(message)
        if reply is not None:
            with lock:
                os.write(1, reply + b"\n")

    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "tools/call":
            threading.Thread(target=work, args=(message,), daemon=True).start()
        else:
            work(message)


def serve_http(counting: Counting, port: int) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            reply = counting.reply(json.loads(self.rfile.read(length)))
            self.send_response(202 if reply is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply or b"")))
            self.end_headers()
            self.wfile.write(reply or b"")

        def do_GET(self) -> None:
            self.send_response(405)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_DELETE = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        serve_http(Counting(sys.argv[1]), int(sys.argv[2]))
    else:
        serve_stdio(Counting(sys.argv[1]))

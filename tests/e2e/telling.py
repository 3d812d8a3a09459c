"""A small server by HTTP that tells the headers of each request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Telling(BaseHTTPRequestHandler):
    """Streamable HTTP that answers every request with the headers it came with."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result: dict[str, Any] = {"headers": dict(self.headers)}
        if asked.get("method") == "initialize":
            result = {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "serverInfo": {"name": "telling", "version": "1"},
            }  # fmt: skip
        body = json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": result}).encode()
        if "id" not in asked:
            body = b""
        self.send_response(200 if body else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(405)

    do_DELETE = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


@contextmanager
def telling() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Telling)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

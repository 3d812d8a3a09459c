"""A client that is not ours and its server, with `mcplens tap` between them, for the browser."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import wheel


class TappedClient:
    """Sends messages to the demo server through the tap, and reads the answers."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._id = 0

    def __repr__(self) -> str:
        return f"<TappedClient {self.process.pid}>"

    def introduce(self, name: str) -> None:
        about = {"name": name, "version": "1.4.2"}
        self.ask(
            "initialize", protocolVersion="2025-11-25", clientInfo=about,
            capabilities={"roots": {"listChanged": True}, "elicitation": {}},
        )  # fmt: skip
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request, and wait for its answer."""
        self._id += 1
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self._id and "method" not in message:
                return message
        raise AssertionError("the server has closed its output")

    def start(self, method: str, **params: Any) -> None:
        """Send a request, and do not wait."""
        self._id += 1
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})

    def send(self, message: dict[str, Any]) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()


@contextmanager
def tapped_client(home: Path, name: str) -> Iterator[TappedClient]:
    """A session that is recorded in the same file as the site's, until the block ends."""
    server = [sys.executable, "-m", "mcplens.demo"]
    process = subprocess.Popen(
        [str(wheel.COMMAND), "tap", "--name", name, "--", *server],
        cwd=home, env=wheel.surroundings(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield TappedClient(process)
    finally:
        process.kill()
        process.communicate()

